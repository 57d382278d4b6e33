"""What a training run reports at its end: figures of its test states, as JSON, as a table, and drawn."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cardai.data.dataset import Dataset
from cardai.data.phase import phase_of, phases_in
from cardai.game import Game, Phase
from evaluators.training import metrics
from evaluators.training.config import TrainConfig
from evaluators.training.metrics import Metrics, measure

LOSSES, RELIABILITY = "losses.png", "reliability.png"

_CHUNK = 16384  # states whose rows are looked at in one go


def priors(config: TrainConfig, game: Game, seats: int) -> dict[str, float | None]:
    """The populations that a test is reported for, by the share of label 1 in them; None: the split as it is.

    "natural" is there when the recipe is not: the mean score of a seat, where the game promises one.
    """
    named: dict[str, float | None] = {"split": None, "balanced": 0.5}
    total = game.score_sum(seats)
    if config.balance != "natural" and config.label == "score" and total:
        named["natural"] = total / seats
    return named


def judged(config: TrainConfig, game: Game, dataset: Dataset, test: np.ndarray, logits: np.ndarray) -> dict[str, Any]:
    """The figures of the test states, i[n], that got these logits, f[n]; whole and by phases of the game.

    `test`: population -> figures, see `priors`. `intervals`: 95 % intervals of the split as it is. `phases`: phase ->
    part -> population -> figures; the populations are still those of the whole test, not balanced part by part.
    """
    labels = dataset.labels[test]
    share, populations = float(np.mean(labels)), priors(config, game, dataset.seats)

    def figures(chosen: Any) -> dict[str, Any]:
        return {
            name: measure(logits[chosen], labels[chosen], prior, share).as_json() for name, prior in populations.items()
        }

    phases: dict[str, Any] = {}
    for name, phase in phases_in(game, dataset.layout).items():
        numbers = _numbers(dataset, test, phase)
        phases[name] = {phase.name(int(number)): figures(numbers == number) for number in np.unique(numbers)}
    found = metrics.intervals(logits, labels, dataset.game_of[test], config.seed)
    intervals = {name: list(bounds) if math.isfinite(bounds[0]) else None for name, bounds in found.items()}
    return {"test": figures(slice(None)), "intervals": intervals, "phases": phases}


def table(report: Mapping[str, Any], title: str) -> Any:
    """A report for a terminal: a rich renderable."""
    from rich.table import Table

    drawn = Table("states", "number", "BCE", "floor", "accuracy %", "Brier", "ECE", title=title, title_justify="left")
    for column in drawn.columns[1:]:
        column.justify = "right"
    for name, found in _told(report):
        drawn.add_row(name, f"{found.n:,}", *_written(found))
    return drawn


def draw(
    folder: Path,
    title: str,
    history: Sequence[Mapping[str, Any]],
    logits: np.ndarray,
    labels: np.ndarray,
    populations: Mapping[str, float | None],
) -> None:
    """Draw the run's figures into its folder: losses by epoch, and calibration on the test states if there are any."""
    checked = [line for line in history if line["validation"]]
    lines = {"training": ([line["epoch"] for line in history], [line["loss"] for line in history])}
    if checked:
        lines["validation"] = ([line["epoch"] for line in checked], [line["validation"]["bce"] for line in checked])
    floor = checked[-1]["validation"]["floor"] if checked else None
    metrics.draw_losses(lines, title, folder / LOSSES, floor)
    if len(labels):
        curves = {name: metrics.reliability(logits, labels, prior) for name, prior in populations.items()}
        metrics.draw_reliability(curves, title, folder / RELIABILITY)


def _numbers(dataset: Dataset, states: np.ndarray, phase: Phase) -> np.ndarray:
    """Which part of a phase each state is in, i[n]."""
    parts = (states[first : first + _CHUNK] for first in range(0, len(states), _CHUNK))
    return np.concatenate([phase_of(phase, dataset.layout, dataset.take(part)) for part in parts])


def _told(report: Mapping[str, Any]) -> Iterator[tuple[str, Metrics]]:
    """The figures of a report, each with the states it is for."""
    if report["validation"]:
        yield "validation", Metrics.from_json(report["validation"])
    for name, found in report.get("test", {}).items():
        yield ("test" if name == "split" else f"test, {name}"), Metrics.from_json(found)
    for phase, parts in report.get("phases", {}).items():
        for part, found in parts.items():
            yield f"test, {phase} {part}", Metrics.from_json(found["split"])


def _written(found: Metrics) -> list[str]:
    figures, digits = (found.bce, found.floor, 100 * found.accuracy, found.brier, found.ece), (4, 4, 1, 4, 4)
    return [f"{one:.{places}f}" if math.isfinite(one) else "-" for one, places in zip(figures, digits, strict=True)]
