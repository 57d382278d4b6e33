"""The thesis' two generations of networks for Moska, and a network that needs no sampling; all measured as in Table 1.

Each stage writes a folder, and a stopped stage is resumed. The stages of the thesis: games of hand-written players;
NN1, trained on them; games with NN1 among the players; NN2, which starts from NN1's weights and trains on both. Beyond
the thesis, another network scores the after-state of a move, before any card is drawn; its encoder does not tell apart
the names of seats and suits. It has several generations. Each one plays games, some of them with random or weaker
moves, and the next trains on all games so far. The last generation is called "best".

Source: Vahteristo 2023, sections 2.2, 2.3 and 3.1; Figure 5 and Table 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cardai.evaluators.model import SHIPPED
from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import generation_names, ship_network
from cardai.files.reading import parse_json, read_json, read_text
from cardai.game import Game, Suite
from cardai.game import Row as SuiteRow
from cardai.registry import load

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
"""{spec: weight}, from random play to the best players without a network (2.2)."""

OPPONENTS = {
    "bot3": 3.0,
    "bot3?randomised": 3.0,
    "bot2?randomised": 0.7,
    "greedy:hand_value?epsilon=0.15": 0.7,
    "random": 0.3,
}
"""{spec: weight} of the hand-written players that NN1 plays with; most games have one or two networks among them."""

LATER_OPPONENTS = {"bot3": 0.7, "bot3?randomised": 0.7, "bot2?randomised": 0.2, "random": 0.1}
"""{spec: weight} of the hand-written players that the later generations play with."""

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
}
"""Fields of `TrainConfig` for the networks of `players` and `rule-changes`, which score after-states, by scale."""


def against_bot3(opponents: int = 3, variant: str | None = None) -> Game:
    """Moska with one suite, "table", of one row: Bot3 in all other seats."""
    rows = {"table": SuiteRow(("bot3",) * opponents)}
    suite = Suite(about="against Bot3 alone", measure="loss", rows=rows, agents=(), variant=variant)
    return load("moska").changed(suites={"table": suite})


@dataclass(frozen=True)
class Scale:
    """How much is played and trained.

    `games`: "games1" of hand-written players; "games2", played twice with NN1; "later" of each later generation.
    `generations`: generations after the first of the network that scores after-states. `benchmark`: games in each row
    of Table 1. `learning`: fields of every `TrainConfig`. `each`: {network: further fields}, where "after" stands for
    all networks that score after-states.
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
}  # fmt: skip


def networks(lab: Lab) -> dict[str, Any]:
    """Train all networks, each in a folder of its own, or resume; {name: what `_learned` returns}."""
    size, place = lab.size, lab.store(load("moska"))

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
        games=[size.games["later"]] * size.generations,
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
    """A summary of a network's training: test figures, numbers of states, seconds, and losses by epoch."""
    report = read_json(folder / "report.json")
    lines = [parse_json(line) for line in read_text(folder / "metrics.jsonl").splitlines()]
    losses = [[line["epoch"], line["loss"], line["validation"]["bce"]] for line in lines]
    return {"test": report["test"], "states": report["states"], "seconds": report["seconds"], "losses": losses}


KINDS = {"HIF": "sampled", "MIF": "peeking", "before draw": "greedy"}
"""{way to handle the cards to be drawn: our agent for it}; HIF and MIF are the thesis' names."""

LOST = "Games lost, %"
BENCHMARKS = ("B1", "B2", "B3", "B4")
CLAIMS = {
    "nn2 MIF": (13.65, 15.35, 12.65, 0.0),
    "nn2 HIF": (14.25, 18.45, 15.65, 0.05),
    "nn1 HIF": (23.8, 26.3, 21.15, 0.25),
    "best before draw": (13.65, 15.35, 12.65, 0.0),
}
"""Table 1: loss in percent on B1, B2, B3 and B4, of 2000 games each. `best` is compared with the thesis' best, NN2-MIF.
"""
TEST_CLAIM = {"bce": 0.504, "accuracy": 0.735}
"""3.1: NN2 on its test states, balanced, divided by state."""
COMMAND = "cardai reproduce moska-networks"


def run(lab: Lab) -> Findings:
    training = lab.piece("networks", lambda: networks(lab), repeats=False)
    rows = [row for name, kind in asked_of(lab.size.generations) for row in _losses(lab, name, kind)]
    rows += [row for name, summary in training.items() for row in _tests(name, summary)]
    drawn = {name: training[name]["losses"] for name in ("nn1", "nn2")}
    return Findings(rows, {"losses": drawn})


def asked_of(generations: int) -> list[tuple[str, str]]:
    """(network, kind of `KINDS`) for all that is measured; `generations`: those after the first."""
    thesis = [(name, kind) for name in ("nn1", "nn2") for kind in KINDS]
    return thesis + [(name, "before draw") for name in generation_names(generations)]


def _losses(lab: Lab, name: str, kind: str) -> list[Finding]:
    game = with_table_1(load("moska"), str(lab.folder / "nn1"))
    key, spec = f"table1-{name}-{KINDS[kind]}", f"{KINDS[kind]}:{lab.folder / name}"
    report = lab.bench(key, game, "table1", spec)
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


def _tests(name: str, summary: Mapping[str, Any]) -> list[Finding]:
    return [
        Finding(
            "Test states (thesis, NN2, on other states, divided by state: BCE 0.504, accuracy 73.5 %)",
            f"{name}, {kind}",
            column,
            Measurement(factor * figures[key], n=summary["states"]["test"], counted="states"),
            piece="networks",
            places=places,
        )
        for kind in ("balanced", "natural")
        if (figures := summary["test"].get(kind))
        for key, column, factor, places in (
            ("bce", "BCE", 1, 4),
            ("accuracy", "accuracy, %", 100, 1),
            ("ece", "ECE", 1, 4),
        )
    ]


def with_table_1(game: Game, nn1: str) -> Game:
    """The game with a suite "table1" of the thesis' four benchmarks, where NN1 is the model file or folder `nn1`."""
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
    return game.changed(suites={"table1": suite})


def ship(folder: Path) -> list[Path]:
    """Copy the networks in a folder to the models that come with cardai; their new paths."""
    about = {
        "nn1": "the thesis' first generation: from games of hand-written players",
        "nn2": "the thesis' second generation: from games with NN1 among the players, too",
        "best": "judges before any card is drawn; sees seats and suits without names",
    }
    return [
        ship_network(folder, name, SHIPPED / "moska" / f"{name}.safetensors", line, COMMAND)
        for name, line in about.items()
    ]
