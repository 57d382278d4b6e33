"""Networks trained under one set of rules of Moska and playing under another.

Two variants of the game: what the thesis simulated, and what its appendix describes (RULES.md, "Variants": when the
target may play to himself, and whether an attacker is asked again after his own play). Networks of one recipe learn
from games of hand-written players under one of them, and all play under both, against three Bot3.

A pair is two networks, one of each variant, with a seed of their own; it plays deals of its own, the same for both. So
Student's interval over pairs holds the errors of play and of training, games learned from included.

Source: Vahteristo 2023, section 4.2, which gives no figure: a method that judges positions stands some changes of the
rules; but a network takes it that others play by the rules it learned from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cardai.measure.bench import run_suite
from cardai.progress import Progress
from cardai.registry import load
from experiments.machinery.findings import Claim, Finding, Findings, Measurement, direction, over_seeds
from experiments.machinery.lab import Lab
from experiments.machinery.networks import NetworkStore
from experiments.moska_networks import HAND_WRITTEN, SMALL_NETWORKS, against_bot3

SEED = 20261123
VARIANTS = ("thesis", "appendix")
SHARE = 25.0
"""Games in percent that a player as good as the three others loses."""


@dataclass(frozen=True)
class Scale:
    """`pairs`: of networks, one of each variant. `games`: those that each one learns from; `benchmark`: those that it
    plays under each variant; `learning`: fields of every `TrainConfig`.
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
    "full": Scale(
        pairs=10,
        games=400_000,
        benchmark=40_000,
        learning=SMALL_NETWORKS["full"],
    ),
}

LOST = "Games lost against three Bot3, %, mean over networks"
COST = "Trained under the other rules less trained under these, percentage points"
TESTS = "Cross-entropy on test states of its own rules, balanced, divided by game"


def run(lab: Lab) -> Findings:
    """Train the pairs, let them play under both variants, and compare."""
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
    """Train one network of a pair under some rules, or go on training it; its figures on test states."""

    def measure() -> dict[str, Any]:
        place = lab.folder / _folder(rules, pair)
        store = NetworkStore(load("moska"), place, lab.size.learning, lab.progress, lab.device, rules)
        games = store.games("games", HAND_WRITTEN, lab.size.games, seed=1 + pair)
        store.network("network", (games,), seed=1 + pair)
        return store.test_figures("network")

    return lab.piece(f"network-{rules}-{pair}", measure, repeats=False)


def _played(lab: Lab, rules: str, pair: int) -> dict[str, Any]:
    """Both networks of a pair under some rules: {trained under: loss in percent}, and the difference, see `cost_of`."""

    specs = {trained: f"greedy:{lab.folder / _folder(trained, pair) / 'network'}" for trained in VARIANTS}
    specs[other_rules(rules)] += "?any_variant"
    games, seed = lab.games or lab.size.benchmark, SEED + pair
    return lab.piece(f"played-{rules}-{pair}", lambda: compared(specs, rules, games, seed, lab.progress))


def compared(
    specs: Mapping[str, str], rules: str, games: int, seed: int, progress: Progress | None = None
) -> dict[str, Any]:
    """Two agents under some rules against three Bot3: {variant: loss of that variant's agent in percent}.

    `difference`: the other variant's agent less the one of these rules, with its interval on the same deals.
    """
    game, asked = against_bot3(), [specs[trained] for trained in VARIANTS]
    report = run_suite(game, "table", asked, games, seed=seed, variant=rules, progress=progress)
    if report.interrupted:
        raise KeyboardInterrupt
    found: dict[str, Any] = {trained: one.figure.point for trained, one in zip(VARIANTS, report.rows, strict=True)}
    wanted = specs[other_rules(rules)], specs[rules]
    difference = next(one.difference for one in report.verdicts if (one.one, one.other) == wanted)
    told = {"point": difference.point, "low": difference.low, "high": difference.high, "n": difference.n}
    return found | {"difference": told}


def other_rules(rules: str) -> str:
    """The other one of `VARIANTS`."""
    return next(one for one in VARIANTS if one != rules)


def cost_of(losses: Mapping[str, Any], rules: str) -> float:
    """How much more the network trained under the other rules loses than the one trained under these, playing these."""
    return losses[other_rules(rules)] - losses[rules]
