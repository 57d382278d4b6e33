"""Tic-Tac-Toe from random weights: by the thesis' protocol, and by one that ends in perfect play. All graded exactly.

    print(reproduce(Path("runs/tictactoe")).table())

A grade comes from walking the whole tree, so no figure here has a sampling error; what differs from seed to seed is the
networks. The goal of our protocol: no line of the opponent's wins, and at least 95.0 % of games against evenly random
moves are won (a player who never loses can win 95.56 % of them at most).

Source: Vahteristo 2023, section 2.4 and Figure 4.
"""

import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any

from cardai.bench import plain, with_notes
from cardai.exact import Grade, Solution, best_against_uniform, grade, grade_strategy, solve, uniform
from cardai.game import CardaiError
from cardai.machine import machine
from cardai.registry import load
from evaluators.checkpoint import write_whole
from evaluators.model import SHIPPED
from evaluators.model import load as load_model
from evaluators.selftaught import Generation, Protocol, School
from experiments.workshop import size_of

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what is being done)."""

RESULT, FIGURE = "result.json", "curves.svg"
COMMAND = "cardai reproduce tictactoe"

BODIES: Mapping[str, Mapping[str, Any]] = {
    "mlp": {"hidden": [128, 128, 64]},
    "cnn": {"channels": [16, 16], "kernel": [3, 3], "dense": [64]},
}
"""Four dense layers, and two convolutions with two dense layers, the output counted; sizes are ours."""

PROTOCOLS = {
    "thesis": Protocol(
        iterations=10,
        games=5000,
        opponent="random",
        epsilon=0.2,
        kept=1,
        steps=300,
        learning={"batch": 256, "learning_rate": 1e-3, "schedule": "constant"},
    ),
    "ours": Protocol(
        iterations=6,
        games=40_000,
        first="random",
        epsilon=0.1,
        temperature=0.2,
        kept=4,
        steps=1000,
        merged=True,
        emphasis=0.5,
        learning={"batch": 256, "learning_rate": 3e-3, "schedule": "cosine", "final_rate": 0.02, "ema": 0.99},
    ),
}
"""The thesis gives the games, the opponent, the 20 % and "the most recent iteration"; batches, steps (two passes) and
the learning rate are ours.

Ours plays itself. Drawing moves by softmax of their worth tries the nearly best ones most, and they are what must be
told apart; evenly random ones (10 %) keep blunders known. Both seats explore alike: if one kind of player made most of
the rare moves, their worth would be his, not that of the move.
"""

TITLES = {"thesis": "thesis'", "ours": "our"}

CLAIMS = {"mlp": 0.65, "cnn": 0.92}
"""Section 2.4: the highest share of games won against random play."""
GOAL = 0.95


@dataclass(frozen=True)
class Scale:
    """How much is done. `seeds`: networks of each body by each protocol; the rest replaces fields of the protocols."""

    seeds: int
    fields: Mapping[str, int] = field(default_factory=dict)


SCALES = {"smoke": Scale(1, {"iterations": 2, "games": 200, "steps": 20}), "small": Scale(3), "thesis": Scale(10)}


@dataclass(frozen=True)
class Point:
    """A network after an iteration: its shares of games won, drawn and lost, both seats taken together, against random.

    `losing_lines`: in how many lines of the opponent's it loses. `loss`: cross-entropy in the iteration, None in the
    first point, which is of random weights.
    """

    iteration: int
    win: float
    draw: float
    loss: float
    losing_lines: int
    cross_entropy: float | None


@dataclass(frozen=True)
class Run:
    """One network's way. `grade`: that of its last iteration, in full; `seconds`: of play and learning, compilation
    among them for the first seed.
    """

    protocol: str
    body: str
    seed: int
    curve: tuple[Point, ...]
    grade: Mapping[str, Any]
    seconds: float

    @property
    def is_perfect(self) -> bool:
        """Whether the goal is reached."""
        return self.curve[-1].losing_lines == 0 and self.curve[-1].win >= GOAL

    @property
    def best(self) -> float:
        """The highest share of games won after any iteration, as the thesis reports it."""
        return max(point.win for point in self.curve[1:])


@dataclass(frozen=True)
class Reproduction:
    """What came out. `bounds`: exact grades of reference strategies; `models`: those saved from our protocol."""

    scale: str
    protocols: Mapping[str, Protocol]
    runs: tuple[Run, ...]
    bounds: Mapping[str, Mapping[str, Any]]
    models: Mapping[str, Mapping[str, Any]]
    seconds: float

    def of(self, protocol: str, body: str) -> list[Run]:
        """The runs of one kind, by seed."""
        return [run for run in self.runs if (run.protocol, run.body) == (protocol, body)]

    def as_json(self) -> dict[str, Any]:
        """Everything in it, the bodies and the machine, as plain JSON types."""
        more = {"claims": CLAIMS, "goal": GOAL, "bodies": BODIES, "command": COMMAND, "machine": machine()}
        return plain(asdict(self) | more)

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        from rich import box
        from rich.table import Table

        table = Table(
            title="Tic-Tac-Toe: games won, percent", title_justify="left", box=box.HORIZONTALS, padding=(0, 1, 0, 0)
        )
        table.add_column("protocol, network", overflow="fold", max_width=17)
        for heading in ("thesis", "best iteration", "last iteration", "losing lines", "s"):
            table.add_column(heading, justify="right")
        for protocol in PROTOCOLS:
            for body in BODIES:
                runs = self.of(protocol, body)
                ends = [run.curve[-1] for run in runs]
                table.add_row(
                    f"{protocol}, {body}",
                    f"{100 * CLAIMS[body]:.0f}" if protocol == "thesis" else "",
                    _spread([100 * run.best for run in runs]),
                    _spread([100 * end.win for end in ends]),
                    _spread([end.losing_lines for end in ends], 0),
                    f"{max(run.seconds for run in runs):.0f}",
                )
        for name, bound in self.bounds.items():
            lines = bound["first"]["losing_lines"] + bound["second"]["losing_lines"]
            table.add_row(name, "", "", f"{100 * bound['averaged']['win']['value']:.2f}", f"{lines}", "")
        return with_notes(self._notes(), table)

    def _notes(self) -> list[str]:
        ours = [run for run in self.runs if run.protocol == "ours"]
        reached = sum(run.is_perfect for run in ours)
        seeds = len(ours) // len(BODIES)
        return [
            "games won against evenly random moves, both seats taken together; every figure is exact",
            f"{seeds} networks a row: mean (lowest-highest)" if seeds > 1 else "1 network a row",
            "losing lines: sequences of the opponent's moves that beat the network; 0 is perfect safety",
            "s: seconds of the slowest network's play and learning, compilation among them",
            f"our goal, no losing line and {100 * GOAL:.1f} % won: reached by {reached} of {len(ours)} networks",
            f"scale {self.scale}, {self.seconds:.0f} s in all",
        ]


def reproduce(folder: Path, scale: str = "small", *, progress: Progress | None = None) -> Reproduction:
    """Teach networks by both protocols; leave the result, a figure and our protocol's models in a folder."""
    size, began = size_of(SCALES, scale), time.perf_counter()
    _make(folder)
    protocols = {name: replace(one, **size.fields) for name, one in PROTOCOLS.items()}
    total = size.seeds * len(BODIES) * sum(1 + one.iterations for one in protocols.values())
    solution = solve(load("tictactoe"))
    runs: list[Run] = []
    models: dict[str, Mapping[str, Any]] = {}
    done = 0

    def show(what: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total, what)

    for name, protocol in protocols.items():
        for body, options in BODIES.items():
            school = School(solution.game, protocol, body, options)
            for seed in range(size.seeds):
                run, last = _run(school, solution, name, seed, show)
                runs.append(run)
                if name == "ours" and body not in models:
                    models[body] = _kept(folder, solution, run, last)
    bounds = {
        "most wins, never losing": grade_strategy(solution, "safe", best_against_uniform(solution)),
        "most wins": grade_strategy(solution, "bold", best_against_uniform(solution, safe=False)),
        "random": grade_strategy(solution, "random", uniform(solution)),
    }
    result = Reproduction(
        scale,
        protocols,
        tuple(runs),
        {name: one.as_json() for name, one in bounds.items()},
        models,
        time.perf_counter() - began,
    )
    draw(result, folder / FIGURE)
    _write(folder / RESULT, (json.dumps(result.as_json(), indent=2) + "\n").encode())
    return result


def _run(
    school: School, solution: Solution, protocol: str, seed: int, show: Callable[[str], None]
) -> tuple[Run, Generation]:
    """Teach one network and grade it after each iteration; its last generation."""
    curve: list[Point] = []
    generations, seconds, graded, last = school.generations(seed), 0.0, None, None
    while True:
        began = time.perf_counter()
        generation = next(generations, None)
        seconds += time.perf_counter() - began
        if generation is None:
            break
        last, graded = generation, grade(solution, generation.agent())
        curve.append(_point(generation, graded))
        show(f"{TITLES[protocol]} protocol, {school.config.body}, seed {seed}: {100 * curve[-1].win:.1f} % won")
    assert last is not None
    assert graded is not None
    return Run(protocol, school.config.body, seed, tuple(curve), graded.as_json(), round(seconds, 2)), last


def _point(generation: Generation, graded: Grade) -> Point:
    win, drawn, lost = map(float, graded.averaged)
    entropy = generation.loss if generation.number else None
    return Point(generation.number, win, drawn, lost, graded.losing_lines, entropy)


def _kept(folder: Path, solution: Solution, run: Run, generation: Generation) -> Mapping[str, Any]:
    """Save a network as a model, and grade what was saved."""
    place = folder / f"{run.body}.safetensors"
    generation.model(
        about="never loses" if run.is_perfect else "",
        training=plain(asdict(generation.school.protocol)),
        data={"games": "its own", "seed": run.seed},
        metrics=plain(asdict(run.curve[-1])),
        seconds=run.seconds,
        command=COMMAND,
    ).save(place)
    return {"file": place.name, "seed": run.seed} | grade(solution, f"greedy:{place}").as_json()


def ship(folder: Path) -> list[Path]:
    """Put the models of a folder among those that come with cardai; where they lie now."""
    shipped = []
    for body in BODIES:
        shipped.append(SHIPPED / "tictactoe" / f"{body}.safetensors")
        shipped[-1].parent.mkdir(exist_ok=True)
        load_model(folder / f"{body}.safetensors").save(shipped[-1])
    return shipped


def draw(result: Reproduction, path: Path) -> None:
    """Games won and lines lost after each iteration, beside the thesis' Figure 4, into an image file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    panels = figure.subplots(2, 2, sharex="col")
    colours = {"mlp": "#1f77b4", "cnn": "#d95f02"}
    for column, protocol in enumerate(PROTOCOLS):
        upper, lower = panels[0][column], panels[1][column]
        for body in BODIES:
            for run in result.of(protocol, body):
                label = body if run.seed == 0 else None
                places = [point.iteration for point in run.curve]
                style: dict[str, Any] = {"color": colours[body], "alpha": 0.8, "linewidth": 1.2, "label": label}
                upper.plot(places, [100 * point.win for point in run.curve], marker=".", **style)
                lower.plot(places, [point.losing_lines for point in run.curve], marker=".", **style)
        if protocol == "thesis":
            for body, claim in CLAIMS.items():
                upper.axhline(100 * claim, color=colours[body], linestyle="--", linewidth=1)
                said = f"thesis, {body}: {100 * claim:.0f} %"
                upper.annotate(said, (1, 100 * claim), ha="right", va="top", xycoords=("axes fraction", "data"))
        best = 100 * result.bounds["most wins, never losing"]["averaged"]["win"]["value"]
        upper.axhline(best, color="grey", linewidth=0.8)
        upper.set_ylim(30, 100)
        upper.set_title(f"{TITLES[protocol]} protocol")
        upper.legend(frameon=False, loc="lower right")
        lower.set_yscale("symlog", linthresh=10)
        lower.set_ylim(bottom=0)
        lower.set_xlabel("iterations")
    panels[0][0].set_ylabel("games won against random, %")
    panels[1][0].set_ylabel("losing lines")
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
    _write(path, image.getvalue())


def _spread(figures: Sequence[float], digits: int = 2) -> str:
    low, high = min(figures), max(figures)
    if f"{low:.{digits}f}" == f"{high:.{digits}f}":
        return f"{low:.{digits}f}"
    return f"{mean(figures):.{max(digits, 1)}f} ({low:.{digits}f}-{high:.{digits}f})"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CardaiError(f"cannot make {folder}: {error.strerror or error}") from None


def _write(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except OSError as error:
        raise CardaiError(f"cannot write {path}: {error.strerror or error}") from None
