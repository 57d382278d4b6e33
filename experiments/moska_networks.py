"""The thesis' two generations of networks for Moska, and one that needs no sampling; with its Table 1 for all of them.

Each stage writes a folder and is resumed where it was stopped: games by hand-written players, NN1 from them, games with
NN1 among the players, and NN2, which begins with NN1's weights, from both. Then, beyond the thesis, a network that
judges the after-state of a move, before any card is drawn, by an encoder in which seats and suits have no names. It
goes on for some generations, each of which plays, well and less well, and learns on from all games so far; the last one
is "best".

Source: Vahteristo 2023, sections 2.2, 2.3 and 3.1; Figure 5 and Table 1.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cardai.game import Game, Suite
from cardai.game import Row as SuiteRow
from cardai.registry import load
from evaluators.model import SHIPPED
from experiments.machinery.findings import Claim, Finding, Findings, Measurement, of_estimate
from experiments.machinery.lab import Lab
from experiments.machinery.networks import NetworkStore, generation_names, ship_network

HAND_WRITTEN = {
    "bot3": 3.0,
    "bot3?randomised": 4.0,
    "bot2": 1.0,
    "bot2?randomised": 1.5,
    "bot1": 0.5,
    "bot1?randomised": 0.7,
    "random": 0.5,
    "random_simple": 0.3,
    "greedy:hand_value": 1.5,
    "greedy:hand_value?epsilon=0.15": 1.0,
}
"""From random play to the best there is without a network (2.2)."""

OPPONENTS = {
    "bot3": 3.0,
    "bot3?randomised": 3.0,
    "bot2?randomised": 0.7,
    "greedy:hand_value?epsilon=0.15": 0.7,
    "random": 0.3,
}
"""Those among them whom NN1 meets: in most games a network or two sit among them."""

LATER_OPPONENTS = {"bot3": 0.7, "bot3?randomised": 0.7, "bot2?randomised": 0.2, "random": 0.1}
"""Those whom the later generations meet."""

_SMALL_NETWORK = {
    "encoder": "relative",
    "moment": "before_draw",
    "balance": "loser",
    "per_game": 40,
    "epochs": 0,
    "learning_rate": 1e-3,
    "optimiser": "adamw",
    "weight_decay": 0.01,
}
SMALL_NETWORKS: dict[str, dict[str, Any]] = {
    "smoke": _SMALL_NETWORK | {"options": {"hidden": [16], "dropout": [0.0]}, "batch": 64, "steps": 20},
    "small": _SMALL_NETWORK
    | {"options": {"hidden": [128, 64], "dropout": [0.0, 0.0]}, "batch": 2048, "check_steps": 500, "warm_up": 100},
    "full": _SMALL_NETWORK
    | {
        "options": {"hidden": [256, 256, 128], "dropout": [0.1, 0.1, 0.1]},
        "batch": 4096,
        "steps": 8000,
        "check_steps": 500,
        "warm_up": 100,
    },
}
"""Fields of `TrainConfig` for the networks of `players` and `rule-changes`, which score after-states, by scale."""


def against_bot3(opponents: int = 3, variant: str | None = None) -> Game:
    """Moska with one suite, "table", of one row: Bot3 in all other seats."""
    rows = {"table": SuiteRow(("bot3",) * opponents)}
    suite = Suite(about="against Bot3 alone", measure="loss", rows=rows, agents=(), variant=variant)
    return replace(load("moska"), suites={"table": suite})


@dataclass(frozen=True)
class Scale:
    """How much is played and learned. `games`: the hand-written players', twice NN1's and each later generation's.

    `generations`: how often the network that judges after-states plays and learns on. `benchmark`: games a row of
    Table 1. `learning`: fields of every `TrainConfig`; `each`: those of one network, "after" of all that judge
    after-states.
    """

    games: Mapping[str, int]
    generations: int
    benchmark: int
    learning: Mapping[str, Any]
    each: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


SCALES = {
    "smoke": Scale(
        games={"games1": 300, "games2": 300, "later": 200},
        generations=2,
        benchmark=8,
        learning={
            "options": {"hidden": [16], "dropout": [0.0]}, "batch": 64, "epochs": 0, "steps": 40, "check_steps": 20,
            "per_game": 20,
        },
    ),
    "small": Scale(
        games={"games1": 400_000, "games2": 300_000, "later": 200_000},
        generations=4,
        benchmark=2000,
        learning={
            "options": {"hidden": [256, 256, 128], "dropout": [0.1, 0.1, 0.1]},
            "batch": 4096,
            "epochs": 0,
            "check_steps": 500,
            "learning_rate": 1e-3,
            "warm_up": 100,
            "optimiser": "adamw",
            "weight_decay": 0.01,
            "per_game": 30,
            "checkpoint_minutes": 2.0,
        },
        each={
            "nn1": {"steps": 3600, "per_game": 50},
            "nn2-first": {"steps": 36_000, "per_game": 50},
            "nn2": {"steps": 12_000, "per_game": 50, "learning_rate": 6e-4},
            "after": {"steps": 8000, "per_game": 40, "learning_rate": 7e-4},
            "by-game": {"steps": 800, "limit": 800_000},
            "by-state": {"steps": 800, "limit": 800_000},
        },
    ),
    "full": Scale(
        games={"games1": 1_000_000, "games2": 1_000_000, "later": 1_000_000},
        generations=4,
        benchmark=20_000,
        learning={"batch": 16384, "epochs": 70, "learning_rate": 1e-4, "schedule": "constant", "patience": 5},
    ),
}  # fmt: skip


def networks(lab: Lab) -> dict[str, Any]:
    """Make all networks, each in a folder of its own, or go on making them; {name: its report and its losses}."""
    size = lab.size
    place = NetworkStore(load("moska"), lab.folder, size.learning, lab.progress, lab.device)

    def network(name: str, *data: str, seed: int, **fields: Any) -> str:
        own = dict(size.each.get(name, {}))
        return place.network(name, data, seed=seed, encoder="bitmap", moment="drawn", balance="loser", **own, **fields)

    first = place.games("games1", HAND_WRITTEN, size.games["games1"], seed=1)
    nn1 = network("nn1", first, seed=1)
    pool = OPPONENTS | {f"peeking:{nn1}": 3.0, f"peeking:{nn1}?epsilon=0.1": 1.5}
    second = place.games("games2", pool, size.games["games2"], seed=2)
    third = place.games("games3", pool, size.games["games2"], seed=3)
    half_way = network("nn2-first", first, second, third, seed=2, start_from=nn1)
    network("nn2", first, second, third, seed=20, start_from=half_way)
    place.generations(
        (first, second),
        size.generations,
        games=size.games["later"],
        opponents=LATER_OPPONENTS,
        seed=30,
        encoder="relative",
        moment="before_draw",
        balance="loser",
        **size.each.get("after", {}),
    )
    for split_by in ("game", "state"):
        network(f"by-{split_by}", second, seed=2, split_by=split_by)
    names = ("nn1", "nn2", *generation_names(size.generations), "by-game", "by-state")
    return {name: _learned(lab.folder / name) for name in names}


def _learned(folder: Path) -> dict[str, Any]:
    """What is kept of a network's training: test figures, states, seconds, and losses by epoch."""
    report = json.loads((folder / "report.json").read_text("utf-8"))
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text("utf-8").splitlines()]
    losses = [[line["epoch"], line["loss"], line["validation"]["bce"]] for line in lines]
    return {"test": report["test"], "states": report["states"], "seconds": report["seconds"], "losses": losses}


KINDS = {"HIF": "sampled", "MIF": "peeking", "before draw": "greedy"}
"""The thesis' names for how a network is asked, and ours."""

LOST = "Games lost, %"
BENCHMARKS = ("B1", "B2", "B3", "B4")
CLAIMS = {
    "nn2 MIF": (13.65, 15.35, 12.65, 0.0),
    "nn2 HIF": (14.25, 18.45, 15.65, 0.05),
    "nn1 HIF": (23.8, 26.3, 21.15, 0.25),
    "best before draw": (13.65, 15.35, 12.65, 0.0),
}
"""Table 1: loss in percent on B1, B2, B3 and B4, of 2000 games each; `best` stands beside the best there, NN2-MIF."""
TEST_CLAIM = {"bce": 0.504, "accuracy": 0.735}
"""3.1: NN2 on its test states, balanced, divided by state."""
COMMAND = "cardai reproduce moska-networks"


def run(lab: Lab) -> Findings:
    """Make the networks and measure them in the rows of Table 1."""
    training = lab.piece("networks", lambda: networks(lab), repeats=False)
    rows = [row for asked in asked_of(lab.size.generations) for row in _losses(lab, *asked)]
    rows += [row for name, told in training.items() for row in _tests(name, told)]
    drawn = {name: training[name]["losses"] for name in ("nn1", "nn2")}
    return Findings(rows, {"losses": drawn})


def asked_of(generations: int) -> list[tuple[str, str]]:
    """Each network with each of the `KINDS` it is asked in."""
    thesis = [(name, kind) for name in ("nn1", "nn2") for kind in KINDS]
    return thesis + [(name, "before draw") for name in generation_names(generations)]


def _losses(lab: Lab, name: str, kind: str) -> list[Finding]:
    """A network's row of Table 1."""
    game = with_table_1(load("moska"), str(lab.folder / "nn1"))
    key, spec = f"table1-{name}-{KINDS[kind]}", f"{KINDS[kind]}:{lab.folder / name}"
    report = lab.bench(key, game, "table1", spec, lab.games or lab.size.benchmark)
    claims = CLAIMS.get(f"{name} {kind}", (None,) * len(BENCHMARKS))
    return [
        Finding(
            LOST,
            f"{name} {kind}" + (" (peeks)" if kind == "MIF" else ""),
            row["row"],
            of_estimate(row["figure"]),
            None if claim is None else Claim(claim, games=2000),
            key,
            places=2 if row["row"] == "B4" else 1,
        )
        for row, claim in zip(report["rows"], claims, strict=True)
    ]


def _tests(name: str, told: Mapping[str, Any]) -> list[Finding]:
    """What a network reached on its test states."""
    return [
        Finding(
            "Test states (thesis, NN2, on other states, divided by state: BCE 0.504, accuracy 73.5 %)",
            f"{name}, {kind}",
            column,
            Measurement(factor * found[key], n=told["states"]["test"], counted="states"),
            piece="networks",
            places=places,
        )
        for kind in ("balanced", "natural")
        if (found := told["test"].get(kind))
        for key, column, factor, places in (
            ("bce", "BCE", 1, 4),
            ("accuracy", "accuracy, %", 100, 1),
            ("ece", "ECE", 1, 4),
        )
    ]


def with_table_1(game: Game, nn1: str) -> Game:
    """The game with the thesis' four benchmarks as a suite, for one's own NN1."""
    suite = Suite(
        about="the thesis' Table 1",
        measure="loss",
        rows={
            "B1": SuiteRow(("bot3",) * 3),
            "B2": SuiteRow((f"peeking:{nn1}",) * 3),
            "B3": SuiteRow(("bot3", f"peeking:{nn1}", "peeking:hand_value")),
            "B4": SuiteRow(("random",) * 3),
        },
        agents=(),
        variant="thesis",
    )
    return replace(game, suites={"table1": suite})


def ship(folder: Path) -> list[Path]:
    """Put the networks of a folder among the models that come with cardai; where they lie now."""
    about = {
        "nn1": "the thesis' first generation: from games of hand-written players",
        "nn2": "the thesis' second generation: from games with NN1 among the players, too",
        "best": "judges before any card is drawn; sees seats and suits without names",
    }
    return [
        ship_network(folder, name, SHIPPED / "moska" / f"{name}.safetensors", line, COMMAND)
        for name, line in about.items()
    ]
