"""The figures that a training run reports at its end, for its test states: whole, reweighted, and by phase."""

import math
from typing import Any

import numpy as np

from cardai.evaluators.training import metrics
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.job import TrainingJob
from cardai.evaluators.training.metrics import Reliability, measure
from cardai.game import Game, Payoff, Phase
from cardai.records.dataset import Dataset
from cardai.records.phase import phase_of, phases_in

_CHUNK = 16384  # states whose rows are read at once


def populations(config: TrainConfig, game: Game, seats: int) -> dict[str, float | None]:
    """Return the populations that a test is reported for: name -> the share of label 1 in it, None for the test as is.

    "split": the test states as they are.
    "balanced": both labels alike often.
    "natural": as often as in the game, if the recipe draws states otherwise and the game fixes the sum of its scores.
    """
    named: dict[str, float | None] = {"split": None, "balanced": 0.5}
    total = game.total_score(seats)
    if config.balance != "natural" and config.label == "score" and total:
        named["natural"] = total / seats
    return named


def figures_of_test(job: TrainingJob, logits: np.ndarray) -> dict[str, Any]:
    """Return the figures of the test states, given their logits, f[n], as plain JSON types.

    `test`: population -> metrics.
    `intervals`: 95 % intervals for the test states as they are.
    `phases`: phase -> part -> population -> metrics. Each part is reweighted as the whole test is, not by itself.
    """
    dataset, test = job.dataset, job.test
    labels = dataset.labels[test]
    share, named = float(np.mean(labels)), populations(job.config, job.game, dataset.seats)

    def figures(chosen: Any) -> dict[str, Any]:
        return {name: measure(logits[chosen], labels[chosen], prior, share).as_json() for name, prior in named.items()}

    phases: dict[str, Any] = {}
    for name, phase in phases_in(job.game, dataset.layout).items():
        numbers = _part_numbers(dataset, test, phase)
        phases[name] = {phase.name(int(number)): figures(numbers == number) for number in np.unique(numbers)}
    bounds = metrics.intervals(logits, labels, dataset.game_of[test], job.config.seed)
    intervals = {name: list(pair) if math.isfinite(pair[0]) else None for name, pair in bounds.items()}
    return {"test": figures(slice(None)), "intervals": intervals, "phases": phases} | _regression(job, logits)


def labels_of(job: TrainingJob) -> dict[str, Any]:
    """Return how a run standardised its labels, for a model's metadata: mean and deviation in `unit`. Else nothing."""
    if job.scale is None:
        return {}
    payoff = job.game.payoff if job.dataset.recipe.label == "score" else Payoff()
    mean, span = float(payoff.of(job.scale.mean)), payoff.high - payoff.low
    unit = "of the label, 0 to 1" if payoff.is_share else payoff.unit
    return {"standardised": {"mean": mean, "deviation": span * job.scale.deviation, "unit": unit}}


def _regression(job: TrainingJob, logits: np.ndarray) -> dict[str, Any]:
    """Return what a network explains of standardised labels, if it was trained on such: `regression`.

    R2, the correlation of predictions and labels, and the root of the mean squared error in the unit, each with a 95 %
    interval by a bootstrap over games.
    """
    if job.scale is None:
        return {}
    about = labels_of(job)["standardised"]
    factor = about["deviation"] / job.scale.deviation
    games = job.dataset.game_of[job.test]
    figures = metrics.regression(metrics.sigmoid(logits), job.dataset.labels[job.test], games, factor, job.config.seed)
    return {"regression": {"states": len(games), "games": len(np.unique(games)), "unit": about["unit"], **figures}}


def calibration(job: TrainingJob, logits: np.ndarray) -> dict[str, Reliability]:
    """Return the calibration on the test states, given their logits, f[n]: population -> bins, none without states."""
    labels = job.dataset.labels[job.test]
    if not len(labels):
        return {}
    named = populations(job.config, job.game, job.dataset.seats)
    return {name: metrics.reliability(logits, labels, prior) for name, prior in named.items()}


def _part_numbers(dataset: Dataset, states: np.ndarray, phase: Phase) -> np.ndarray:
    """Return which part of a phase each state is in, i[n]."""
    chunks = (states[first : first + _CHUNK] for first in range(0, len(states), _CHUNK))
    return np.concatenate([phase_of(phase, dataset.layout, dataset.take(chunk)) for chunk in chunks])
