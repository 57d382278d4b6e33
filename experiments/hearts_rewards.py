"""Which limit of the reward at the end of a round teaches Hearts best: the paper's choice of 10 points beside others.

A network that plays for few points learns from (limit - points) / limit, or 0 from the limit on, as the paper's does
with 10. All networks of a repeat share their seed and the games of hand-written players that the first of each learns
from; then each goes on in generations, from games that it plays itself. Student's interval over repeats covers the
chance in training, in the games that were learned from and in those that were played.

The games have no passing and no moon, as those of the paper's first row. In the benchmark three `careful` play beside a
network.

Source: Demirdover, Baykal and Alpaslan 2022, section 4.2 and Table 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardai.experiments.hearts import SCALES as PAPER
from cardai.experiments.hearts import PaperRow, played
from cardai.experiments.hearts_networks import BEGINNERS, BESIDE, PLAY, SEATS, plays
from cardai.experiments.machinery.findings import Claim, Finding, Findings, direction, over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import generation_names
from cardai.registry import load

SEED = 20261127
VARIANT = "paper_plain"
REWARDS: Mapping[str, str] = {
    f"limit {limit}": "normal" if limit == 10 else f"normal_{limit}" for limit in (*range(5, 14), 26)
}
"""{reward: the label that networks learn}."""
CHOSEN = "limit 10"
"""The paper's choice."""
FIRST, LAST = "first network", "last network"
"""A network that learned from games of hand-written players alone, and the one after all generations."""


@dataclass(frozen=True)
class Scale:
    """`repeats`: networks of each limit. `games`: of each generation. `generations`: after the first network.
    `benchmark`: rounds that a network plays. `learning`: fields of every `TrainConfig`.
    """

    repeats: int
    games: int
    generations: int
    benchmark: int
    learning: Mapping[str, Any]


SCALES = {
    "smoke": Scale(2, 60, 1, 40, PAPER["smoke"].learning),
    "small": Scale(5, 20_000, 3, 20_000, PAPER["small"].learning),
}

SHARE = "Share of the win against three careful, %, mean over networks"
POINTS = "Points a round against three careful, mean over networks"
GAIN = "Share of the win less that with another limit of the same repeat, percentage points"
SAVED = "Points a round less those with another limit of the same repeat"

LOWER = "plays better"
"""What the paper says of limits below 13."""
PAIRS: Mapping[tuple[str, str], str] = {
    ("limit 13", "limit 26"): "converges better",
    **{(f"limit {lower}", "limit 13"): LOWER for lower in range(5, 13)},
    **{(CHOSEN, f"limit {other}"): "best" for other in (5, 6, 7, 8, 9, 11, 12)},
}
"""{(limit, another): what the paper says of it beside the other}; it gives no figures, and no measure."""


def run(lab: Lab) -> Findings:
    return RewardComparison(lab, REWARDS, SEED).findings(PAIRS, GAIN, SAVED)


@dataclass(frozen=True)
class RewardComparison:
    """Networks that learn Hearts from different rewards, `repeats` of each: {reward: the label of training data}.

    `seed`: that of the deals on which the networks of the first repeat play; the next repeat has the next seed.
    """

    lab: Lab
    labels: Mapping[str, str]
    seed: int

    def findings(self, pairs: Mapping[tuple[str, str], str], gain: str, saved: str) -> Findings:
        """Train all networks and let them play. `pairs`: {(reward, another): what is claimed of it beside the other}.

        `gain` and `saved`: the tables of the differences, in the share of the win and in points.
        """
        repeats = range(self.lab.size.repeats)
        for repeat in repeats:
            for name in self.labels:
                self._learned(name, repeat)
        figures = {(name, which): [self._played(name, which, repeat) for repeat in repeats]
                  for name in self.labels for which in (FIRST, LAST)}  # fmt: skip
        seeds = f"{self.seed}-{self.seed + len(repeats) - 1}"

        def finding(
            table: str, names: list[str], which: str, values: list[float], claim: Claim | None = None
        ) -> Finding:
            key = " ".join(f"played-{_folder(name, repeat)}-{which.split()[0]}" for name in names for repeat in repeats)
            measured = over_seeds(values, "repeats" if len(names) > 1 else "networks")
            return Finding(table, " less ".join(names), which, measured, claim, key, seeds, places=2)

        rows = [
            finding(table, [name], which, [one[kind] for one in figures[name, which]])
            for table, kind in ((SHARE, "share"), (POINTS, "points"))
            for name in self.labels
            for which in (FIRST, LAST)
        ]
        for table, kind, better in ((gain, "share", "higher"), (saved, "points", "lower")):
            for (name, other), words in pairs.items():
                for which in (FIRST, LAST):
                    both = zip(figures[name, which], figures[other, which], strict=True)
                    less = [ours[kind] - theirs[kind] for ours, theirs in both]
                    claim = direction(better, words) if which == LAST else None
                    rows.append(finding(table, [name, other], which, less, claim))
        return Findings(rows)

    def _learned(self, name: str, repeat: int) -> None:
        lab = self.lab

        def measure() -> dict[str, Any]:
            size, seed, game = lab.size, 1 + 100 * repeat, load("hearts")
            games = lab.store(game, "", VARIANT, SEATS).games(f"games-{repeat}", BEGINNERS, size.games, seed)
            store = lab.store(game, _folder(name, repeat), VARIANT, SEATS)
            fields = {"label": self.labels[name], **PLAY}
            store.generations((games,), games=[size.games] * size.generations, opponents=BESIDE, seed=seed, **fields)
            names = generation_names(size.generations)
            return {"seconds": sum(store.test_figures(stage)["seconds"] for stage in names)}

        lab.piece(f"network-{_folder(name, repeat)}", measure, repeats=False)

    def _played(self, name: str, which: str, repeat: int) -> dict[str, float]:
        """A network's share of the win, in percent, and its points a round; all of a repeat play the same deals."""
        lab = self.lab

        def measure() -> dict[str, float]:
            stage = generation_names(lab.size.generations)[0 if which == FIRST else -1]
            spec = plays(str(lab.folder / _folder(name, repeat) / stage))
            contest = PaperRow(f"{name}, {which}", "3 careful", VARIANT, spec, "careful")
            told = played(lab, contest, lab.benchmark, self.seed + repeat)
            return {"share": told["own share"]["point"], "points": told["own points"]["point"]}

        return lab.piece(f"played-{_folder(name, repeat)}-{which.split()[0]}", measure)


def _folder(name: str, repeat: int) -> str:
    return f"{name.split()[-1]}-{repeat}"
