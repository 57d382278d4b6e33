"""The thesis' two generations of networks for Moska, and one that needs no sampling; with its Table 1 for all of them.

    print(reproduce(Path("runs/moska-networks"), "small").table())

Each stage writes a folder and is resumed where it was stopped: games by hand-written players, NN1 from them, games with
NN1 among the players, and NN2, which begins with NN1's weights, from both. Then, beyond the thesis, a network that
judges the after-state of a move, before any card is drawn, by an encoder in which seats and suits have no names. It
goes on for some generations, each of which plays, well and less well, and learns on from all games so far; the last one
is "best".

Source: Vahteristo 2023, sections 2.2, 2.3 and 3.1; Figure 5 and Table 1.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cardai.bench import plain, with_notes
from cardai.game import Game, Row, Suite
from cardai.machine import machine
from cardai.registry import load
from evaluators.model import SHIPPED
from experiments import workshop
from experiments.workshop import Progress, Workshop, generation_names, measured, shown, size_of

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
    "thesis": Scale(
        games={"games1": 1_000_000, "games2": 1_000_000, "later": 1_000_000},
        generations=4,
        benchmark=20_000,
        learning={"batch": 16384, "epochs": 70, "learning_rate": 1e-4, "schedule": "constant", "patience": 5},
    ),
}  # fmt: skip


def networks(folder: Path, scale: str, progress: Progress | None = None, device: str = "auto") -> None:
    """Make all networks in a folder, each in one of its own, or go on making them."""
    size = size_of(SCALES, scale)
    place = Workshop(load("moska"), folder, size.learning, progress, device)

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


KINDS = {"HIF": "sampled", "MIF": "peeking", "before draw": "greedy"}
"""The thesis' names for how a network is asked, and ours."""

CLAIMS = {
    ("nn2", "MIF"): (13.65, 15.35, 12.65, 0.0),
    ("nn2", "HIF"): (14.25, 18.45, 15.65, 0.05),
    ("nn1", "HIF"): (23.8, 26.3, 21.15, 0.25),
}
"""Table 1: loss in percent on B1, B2, B3 and B4, of 2000 games each."""
TEST_CLAIM = {"bce": 0.504, "accuracy": 0.735}
"""3.1: NN2 on its test states, balanced, divided by state."""


@dataclass(frozen=True)
class Reproduction:
    """What came out. `training`: each network's report; `table`: the benchmark's, by network and way of asking."""

    scale: str
    training: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, Mapping[str, Any]]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Everything in it and the machine, as plain JSON types."""
        return plain(asdict(self) | {"machine": machine()})

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        return with_notes(self._notes(), self._losses(), self._tests())

    def _losses(self) -> Any:
        from rich import box
        from rich.table import Table

        table = Table(title="Games lost, percent (thesis)", title_justify="left", box=box.HORIZONTALS)
        table.add_column("agent")
        for row in BENCHMARKS:
            table.add_column(row, justify="right")
        for name, report in self.rows.items():
            network, _, kind = name.partition(" ")
            claims = CLAIMS.get((network, kind), (None,) * len(BENCHMARKS))
            figures = {row["row"]: row["figure"] for row in report["rows"]}
            cells = [_cell(figures.get(row), claim) for row, claim in zip(BENCHMARKS, claims, strict=True)]
            table.add_row(name + (" (peeks)" if kind == "MIF" else ""), *cells)
        return table

    def _tests(self) -> Any:
        from rich import box
        from rich.table import Table

        table = Table(title="Test states (thesis, NN2: 0.504, 73.5 %)", title_justify="left", box=box.HORIZONTALS)
        for heading in ("network", "states", "BCE", "accuracy %", "ECE"):
            table.add_column(heading, justify="left" if heading == "network" else "right")
        for name, report in self.training.items():
            for kind in ("balanced", "natural"):
                found = report["test"].get(kind)
                if found:
                    figures = f"{found['bce']:.4f}", f"{100 * found['accuracy']:.1f}", f"{found['ece']:.4f}"
                    table.add_row(f"{name}, {kind}", f"{report['states']['test']:,}", *figures)
        return table

    def _notes(self) -> list[str]:
        games = {report["asked"] for report in self.rows.values()}
        return [
            f"scale {self.scale}: {' or '.join(f'{n:,}' for n in sorted(games))} games a figure, the same deals for"
            " all, seats rotated; 95 % intervals",
            "B1: three Bot3; B2: three NN1-MIF; B3: Bot3, NN1-MIF and a heuristic that peeks; B4: three random players",
            "HIF: 100 worlds a move that reveals a card; MIF: sees its own draws; before draw: judges the after-state",
            "after0 and on: generations of the network that judges after-states; the last one is best",
            "by-game, by-state: one network twice; the latter has states of one game in both training and test",
        ]


BENCHMARKS = ("B1", "B2", "B3", "B4")


def _cell(figure: Mapping[str, Any] | None, claim: float | None) -> str:
    return shown(figure) + (f" [{claim:g}]" if claim is not None and figure else "")


def with_table_1(game: Game, nn1: str) -> Game:
    """The game with the thesis' four benchmarks as a suite, for one's own NN1."""
    suite = Suite(
        about="the thesis' Table 1",
        measure="loss",
        rows={
            "B1": Row(("bot3",) * 3),
            "B2": Row((f"peeking:{nn1}",) * 3),
            "B3": Row(("bot3", f"peeking:{nn1}", "peeking:hand_value")),
            "B4": Row(("random",) * 3),
        },
        agents=(),
        variant="thesis",
    )
    return replace(game, suites={"table1": suite})


def reproduce(
    folder: Path, scale: str, *, games: int | None = None, device: str = "auto", progress: Progress | None = None
) -> Reproduction:
    """Make the networks and measure them, or go on; each finished piece is kept in the folder."""
    networks(folder, scale, progress, device)
    generations = generation_names(SCALES[scale].generations)
    names = ("nn1", "nn2", *generations, "by-game", "by-state")
    training = {name: json.loads((folder / name / "report.json").read_text("utf-8")) for name in names}
    asked = games or SCALES[scale].benchmark
    rows = {
        f"{name} {kind}": row_of(folder, name, kind, asked, progress)
        for name in ("nn1", "nn2", *generations)
        for kind in KINDS
        if name not in generations or kind == "before draw"
    }
    seconds = sum(report["seconds"] for report in training.values()) + sum(row["seconds"] for row in rows.values())
    return Reproduction(scale, training, rows, seconds)


def row_of(folder: Path, name: str, kind: str, games: int, progress: Progress | None = None) -> dict[str, Any]:
    """A network's row of Table 1, asked in one of `KINDS`, as JSON; kept in the folder."""
    kept = folder / f"table1-{name}-{KINDS[kind]}-{games}.json"
    game = with_table_1(load("moska"), str(folder / "nn1"))
    return measured(game, "table1", f"{KINDS[kind]}:{folder / name}", games, kept, progress)


def ship(folder: Path) -> list[Path]:
    """Put the networks of a folder among the models that come with cardai; where they lie now."""
    about = {
        "nn1": "the thesis' first generation: from games of hand-written players",
        "nn2": "the thesis' second generation: from games with NN1 among the players, too",
        "best": "judges before any card is drawn; sees seats and suits without names",
    }
    command = "cardai reproduce moska-networks"
    return [
        workshop.ship(folder, name, SHIPPED / "moska" / f"{name}.safetensors", line, command)
        for name, line in about.items()
    ]


def draw(folder: Path, result: Reproduction) -> Path:
    """The losses of NN1 and NN2 over their epochs, beside the thesis' Figure 5; the image file, in the folder."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name in [name for name in ("nn1", "nn2") if name in result.training]:
        lines = [json.loads(line) for line in (folder / name / "metrics.jsonl").read_text("utf-8").splitlines()]
        epochs = [line["epoch"] for line in lines]
        (drawn,) = axes.plot(epochs, [line["validation"]["bce"] for line in lines], label=f"{name}, validation")
        axes.plot(epochs, [line["loss"] for line in lines], "--", color=drawn.get_color(), label=f"{name}, training")
    axes.axhline(TEST_CLAIM["bce"], color="grey", linewidth=1)
    axes.annotate("thesis, NN2 after 70 epochs: 0.504", (0.02, TEST_CLAIM["bce"]), va="bottom", color="grey")
    axes.set_xlabel("epochs")
    axes.set_ylabel("binary cross-entropy, balanced states")
    axes.legend(frameon=False)
    figure.savefig(folder / "losses.png")
    return folder / "losses.png"
