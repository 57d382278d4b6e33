"""Tic-Tac-Toe from random weights: by the thesis' protocol, and by one that ends in perfect play. All graded exactly.

A grade comes from walking the whole tree, so no figure here has a sampling error; what differs from seed to seed is the
networks. The goal of our protocol: no line of the opponent's wins, and at least 95.0 % of games against evenly random
moves are won (a player who never loses can win 95.56 % of them at most).

Source: Vahteristo 2023, section 2.4 and Figure 4.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from cardai.measure.grade import Grade, grade, grade_strategy
from cardai.measure.solution import Solution, solve
from cardai.measure.strategy import best_against_uniform, uniform
from cardai.registry import load
from cardai.stats.jsonable import plain
from evaluators.model import SHIPPED
from evaluators.model import load as load_model
from evaluators.training.selfplay_in_memory import SelfPlayGeneration, SelfPlayProtocol, SelfPlayTraining
from experiments.machinery.findings import Claim, Finding, Findings, Measurement, over_seeds
from experiments.machinery.lab import Lab

COMMAND = "cardai reproduce tictactoe"

BODIES: Mapping[str, Mapping[str, Any]] = {
    "mlp": {"hidden": [128, 128, 64]},
    "cnn": {"channels": [16, 16], "kernel": [3, 3], "dense": [64]},
}
"""Four dense layers, and two convolutions with two dense layers, the output counted; sizes are ours."""

PROTOCOLS = {
    "thesis": SelfPlayProtocol(
        iterations=10,
        games=5000,
        opponent="random",
        epsilon=0.2,
        window=1,
        steps=300,
        training={"batch": 256, "learning_rate": 1e-3, "schedule": "constant"},
    ),
    "ours": SelfPlayProtocol(
        iterations=6,
        games=40_000,
        first_players="random",
        epsilon=0.1,
        temperature=0.2,
        window=4,
        steps=1000,
        merge_rows=True,
        count_power=0.5,
        training={"batch": 256, "learning_rate": 3e-3, "schedule": "cosine", "final_rate": 0.02, "ema": 0.99},
    ),
}
"""The thesis gives the games, the opponent, the 20 % and "the most recent iteration"; batches, steps (two passes) and
the learning rate are ours.

Ours plays itself. Drawing moves by softmax of their worth tries the nearly best ones most, and they are what must be
told apart; evenly random ones (10 %) keep blunders known. Both seats explore alike: if one kind of player made most of
the rare moves, their worth would be his, not that of the move.
"""

TITLES = {"thesis": "thesis'", "ours": "our"}

CLAIMS = {"mlp": 65.0, "cnn": 92.0}
"""Section 2.4: the highest percentage of games won against random play; how many games it played is not told."""
GOAL = 0.95


@dataclass(frozen=True)
class Scale:
    """How much is done. `seeds`: networks of each body by each protocol; the rest replaces fields of the protocols."""

    seeds: int
    fields: Mapping[str, int] = field(default_factory=dict)


SCALES = {"smoke": Scale(1, {"iterations": 2, "games": 200, "steps": 20}), "small": Scale(3), "full": Scale(10)}


@dataclass(frozen=True)
class GradedIteration:
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
class GradedRun:
    """One network's way. `grade`: that of its last iteration, in full; `seconds`: of play and learning, compilation
    among them for the first seed.
    """

    protocol: str
    body: str
    seed: int
    curve: tuple[GradedIteration, ...]
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


WON = "Games won against evenly random moves, %"
LOST = "Losing lines: sequences of the opponent's moves that beat the network"


def run(lab: Lab) -> Findings:
    """Teach networks by both protocols."""
    solution = solve(load("tictactoe"))
    protocols = {name: replace(one, **lab.size.fields) for name, one in PROTOCOLS.items()}
    rows, curves = [], {}
    for name, protocol in protocols.items():
        for body, options in BODIES.items():
            training = SelfPlayTraining(solution.game, protocol, body, options)
            keys = [f"{name}-{body}-{seed}" for seed in range(lab.size.seeds)]
            runs = [
                lab.piece(
                    key, lambda training=training, name=name, seed=seed: _taught(lab, training, solution, name, seed)
                )
                for seed, key in enumerate(keys)
            ]
            curves |= dict(zip(keys, [run["curve"] for run in runs], strict=True))
            rows += _rows(name, body, runs, " ".join(keys))
    rows += [row for name, told in lab.piece("bounds", lambda: _bounds(solution)).items() for row in _bound(name, told)]
    return Findings(rows, {"curves": curves})


def _taught(lab: Lab, training: SelfPlayTraining, solution: Solution, protocol: str, seed: int) -> dict[str, Any]:
    """One network's way; the first of each body by our protocol is saved as a model."""
    run, last = _run(lab, training, solution, protocol, seed)
    if protocol == "ours" and seed == 0:
        _save(lab.folder, run, last)
    return asdict(run)


def _rows(protocol: str, body: str, runs: list[dict[str, Any]], piece: str) -> list[Finding]:
    """The figures of one body by one protocol, over its networks."""
    wins = [[100 * point["win"] for point in run["curve"]] for run in runs]
    lines = [float(run["curve"][-1]["losing_lines"]) for run in runs]
    claim = Claim(CLAIMS[body], better="higher", within=3.0) if protocol == "thesis" else None
    name = f"{TITLES[protocol]} protocol, {body}"
    seeds = f"0-{len(runs) - 1}"
    told: dict[str, Any] = {"piece": piece, "seed": seeds}
    best = [max(one[1:]) for one in wins]
    return [
        Finding(WON, name, "best iteration", over_seeds(best), claim, places=2, **told),
        Finding(WON, name, "last iteration", over_seeds([one[-1] for one in wins]), places=2, **told),
        Finding(LOST, name, "mean", over_seeds(lines), places=1, **told),
        Finding(LOST, name, "fewest", Measurement(min(lines), n=len(lines), counted="networks"), places=0, **told),
        Finding(LOST, name, "most", Measurement(max(lines), n=len(lines), counted="networks"), places=0, **told),
        Finding("Seconds", name, "slowest network", _one(max(run["seconds"] for run in runs)), places=0, **told),
    ]


def _one(value: float) -> Measurement:
    return Measurement(value, n=1, counted="networks")


def _bounds(solution: Solution) -> dict[str, Any]:
    """Exact grades of reference strategies."""
    bounds = {
        "most wins, never losing": grade_strategy(solution, "safe", best_against_uniform(solution)),
        "most wins": grade_strategy(solution, "bold", best_against_uniform(solution, safe=False)),
        "random": grade_strategy(solution, "random", uniform(solution)),
    }
    return {name: one.as_json() for name, one in bounds.items()}


def _bound(name: str, told: Mapping[str, Any]) -> list[Finding]:
    lines = sum(told[side]["losing_lines"] for side in ("first", "second"))
    exact: dict[str, Any] = {"piece": "bounds", "seed": ""}
    win = Measurement(100 * told["averaged"]["win"]["value"], n=1, counted="tree")
    return [
        Finding(WON, name, "last iteration", win, places=2, **exact),
        Finding(LOST, name, "mean", Measurement(lines, n=1, counted="tree"), places=0, **exact),
    ]


def _run(
    lab: Lab, training: SelfPlayTraining, solution: Solution, protocol: str, seed: int
) -> tuple[GradedRun, SelfPlayGeneration]:
    """Teach one network and grade it after each iteration; its last generation."""
    curve: list[GradedIteration] = []
    generations, seconds, graded, last = training.generations(seed), 0.0, None, None
    while True:
        began = time.perf_counter()
        generation = next(generations, None)
        seconds += time.perf_counter() - began
        if generation is None:
            break
        last, graded = generation, grade(solution, generation.agent())
        curve.append(_point(generation, graded))
        won = f"{100 * curve[-1].win:.1f} % won"
        what = f"{TITLES[protocol]} protocol, {training.config.body}, seed {seed}: {won}"
        lab.tell(len(curve), 1 + training.protocol.iterations, what)
    assert last is not None
    assert graded is not None
    return GradedRun(protocol, training.config.body, seed, tuple(curve), graded.as_json(), round(seconds, 2)), last


def _point(generation: SelfPlayGeneration, graded: Grade) -> GradedIteration:
    win, drawn, lost = map(float, graded.averaged)
    entropy = generation.loss if generation.number else None
    return GradedIteration(generation.number, win, drawn, lost, graded.losing_lines, entropy)


def _save(folder: Path, run: GradedRun, generation: SelfPlayGeneration) -> None:
    """Save a network as a model."""
    generation.model(
        about="never loses" if run.is_perfect else "",
        training=plain(asdict(generation.training.protocol)),
        data={"games": "its own", "seed": run.seed},
        metrics=plain(asdict(run.curve[-1])),
        seconds=run.seconds,
        command=COMMAND,
    ).save(folder / f"{run.body}.safetensors")


def ship(folder: Path) -> list[Path]:
    """Put the models of a folder among those that come with cardai; where they lie now."""
    shipped = []
    for body in BODIES:
        shipped.append(SHIPPED / "tictactoe" / f"{body}.safetensors")
        shipped[-1].parent.mkdir(exist_ok=True)
        load_model(folder / f"{body}.safetensors").save(shipped[-1])
    return shipped
