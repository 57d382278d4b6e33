"""Networks trained under one set of rules of Moska and playing under another.

There are two variants of the game: the rules that the thesis simulated, and the rules that its appendix describes. They
differ in when the target may play to themselves, and in whether an attacker decides again after their own play
(RULES.md, "Variants"). Each network is trained by one recipe on games of hand-written players under one variant. All
networks then play under both variants against three Bot3.

A pair is two networks, one trained under each variant, both with the seed of the pair. Both networks of a pair play the
same deals; other pairs play other deals. So Student's interval over pairs covers the chance in training, in the games
that were learned from, and in the games that were played.

Source: Vahteristo 2023, section 4.2, which gives no figure. It says that a method which evaluates positions tolerates
some changes of the rules, but that a network assumes that the others play by the rules it learned from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement, direction, over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.moska_networks import HAND_WRITTEN, SMALL_NETWORKS, against_bot3
from cardai.measure.bench import run_suite
from cardai.playing.progress import Progress
from cardai.registry import load

SEED = 20261123
VARIANTS = ("thesis", "appendix")
SHARE = 25.0
"""The percentage of games that a player as good as the three others loses."""


@dataclass(frozen=True)
class Scale:
    """`pairs`: pairs of networks, one of each variant. `games`: games that each network learns from. `benchmark`: games
    that it plays under each variant. `learning`: fields of every `TrainConfig`.
    """

    pairs: int
    games: int
    benchmark: int
    learning: Mapping[str, Any] = field(default_factory=dict)


SCALES = {
    "smoke": Scale(
        pairs=2,
        games=200,
        benchmark=40,
        learning=SMALL_NETWORKS["smoke"],
    ),
    "small": Scale(
        pairs=5,
        games=80_000,
        benchmark=8000,
        learning=SMALL_NETWORKS["small"] | {"steps": 2000},
    ),
}

LOST = "Games lost against three Bot3, %, mean over networks"
COST = "Trained under the other rules less trained under these, percentage points"
TESTS = "Cross-entropy on test states of its own rules, balanced, divided by game"


def run(lab: Lab) -> Findings:
    pairs = range(lab.size.pairs)
    learned = {(rules, pair): _learned(lab, rules, pair) for pair in pairs for rules in VARIANTS}
    played = {(rules, pair): _played(lab, rules, pair) for pair in pairs for rules in VARIANTS}
    seeds = f"{SEED}-{SEED + len(pairs) - 1}"
    rows: list[Finding] = []
    for rules in VARIANTS:
        key = " ".join(f"played-{rules}-{pair}" for pair in pairs)
        for trained in VARIANTS:
            figure = over_seeds([played[rules, pair][trained] for pair in pairs])
            claim = Claim(SHARE, better="lower", words=f"below {SHARE:g}: robust", is_direction=True)
            moved = claim if trained != rules else None
            rows.append(Finding(LOST, trained_under(trained), under(rules), figure, moved, key, seeds, places=2))
    for rules in VARIANTS:
        key = " ".join(f"played-{rules}-{pair}" for pair in pairs)
        costs = over_seeds([cost_of(played[rules, pair], rules) for pair in pairs], "pairs")
        rows.append(
            Finding(COST, under(rules), "all pairs", costs, direction("higher", "above 0"), key, seeds, places=2)
        )
        rows += [
            Finding(
                COST, under(rules), f"pair {1 + pair}", Measurement(**played[rules, pair]["difference"]),
                piece=f"played-{rules}-{pair}", seed=SEED + pair, places=2,
            )
            for pair in pairs
        ]  # fmt: skip
    for trained in VARIANTS:
        figure = over_seeds([learned[trained, pair]["bce"] for pair in pairs])
        key = " ".join(f"network-{trained}-{pair}" for pair in pairs)
        rows.append(Finding(TESTS, trained_under(trained), "BCE", figure, piece=key, seed=f"1-{len(pairs)}", places=4))
    return Findings(rows)


def trained_under(rules: str) -> str:
    """What a network is called in the tables."""
    return f"trained under {rules} rules"


def under(rules: str) -> str:
    """What the rules played are called in the tables."""
    return f"playing {rules} rules"


def _folder(rules: str, pair: int) -> str:
    return f"{rules}-{pair}"


def _learned(lab: Lab, rules: str, pair: int) -> dict[str, Any]:
    """Train one network of a pair under a variant's rules, or resume its training; its figures on test states."""

    def measure() -> dict[str, Any]:
        store = lab.store(load("moska"), _folder(rules, pair), rules)
        games = store.games("games", HAND_WRITTEN, lab.size.games, seed=1 + pair)
        store.network("network", (games,), seed=1 + pair)
        return store.test_figures("network")

    return lab.piece(f"network-{rules}-{pair}", measure, repeats=False)


def _played(lab: Lab, rules: str, pair: int) -> dict[str, Any]:
    specs = {trained: f"greedy:{lab.folder / _folder(trained, pair) / 'network'}" for trained in VARIANTS}
    specs[other_rules(rules)] += "?any_variant"
    key, seed = f"played-{rules}-{pair}", SEED + pair
    return lab.piece(key, lambda: compared(specs, rules, lab.benchmark, seed, lab.progress))


def compared(
    specs: Mapping[str, str], rules: str, games: int, seed: int, progress: Progress | None = None
) -> dict[str, Any]:
    """Let two agents play under the rules of the variant `rules` against three Bot3.

    `specs`: {variant that an agent was trained under: its spec}. Returns {variant: games in percent that its agent
    lost}, and under "difference" the loss of the other variant's agent less the loss of this variant's agent, with the
    interval from the same deals.
    """
    game, agents = against_bot3(), [specs[trained] for trained in VARIANTS]
    report = run_suite(game, "table", agents, games, seed=seed, variant=rules, progress=progress)
    if report.interrupted:
        raise KeyboardInterrupt
    losses: dict[str, Any] = {trained: row.figure.point for trained, row in zip(VARIANTS, report.rows, strict=True)}
    wanted = specs[other_rules(rules)], specs[rules]
    difference = next(verdict.difference for verdict in report.verdicts if (verdict.one, verdict.other) == wanted)
    interval = {"point": difference.point, "low": difference.low, "high": difference.high, "n": difference.n}
    return losses | {"difference": interval}


def other_rules(rules: str) -> str:
    """The other one of `VARIANTS`."""
    return next(variant for variant in VARIANTS if variant != rules)


def cost_of(losses: Mapping[str, Any], rules: str) -> float:
    """What it costs to be trained under the other variant, in percentage points, when both play under `rules`.

    It is the loss of the network trained under the other variant less that of the network trained under `rules`.
    """
    return losses[other_rules(rules)] - losses[rules]
