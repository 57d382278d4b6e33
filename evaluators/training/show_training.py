"""Shows a training run: its result as a table, its losses and its calibration as figures."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cardai.cli.show.figure import save_figure
from cardai.cli.show.grid import with_notes
from cardai.evaluators.training.metrics import Metrics, Reliability
from cardai.evaluators.training.outcome import TrainingResult
from cardai.evaluators.training.run_folder import LOSSES, RELIABILITY


def table(result: TrainingResult) -> Any:
    """Return the metrics of the validation and test states as a rich table."""
    from rich.table import Table

    speed = f"{result.states_per_second:,.0f} states/s"
    if devices := result.report.get("devices"):
        speed += f" on {_devices(devices)}"
    chosen = ", which validated best" if result.best_step < result.steps else ", the last"
    title = f"{result.model}: weights of step {result.best_step}{chosen}; {result.steps} steps, stopped by"
    title += f" {result.stopped}, {speed}"
    body = dict(result.report["body"])
    layers = f"{body.pop('name')} {body.get('hidden', '')}".strip()
    title += f"; {layers}, {result.report['batch']:,} states a step"
    headings = "states", "number", "BCE", "floor", "accuracy %", "Brier", "ECE"
    grid = Table(*headings, title=title, title_justify="left")
    for column in grid.columns[1:]:
        column.justify = "right"
    for name, metrics in _rows(result.report):
        grid.add_row(name, f"{metrics.n:,}", *_cells(metrics))
    explained = result.report.get("regression")
    return with_notes([_regression_words(explained)], grid) if explained else grid


def _regression_words(explained: Mapping[str, Any]) -> str:
    """Return what a network explains of standardised labels, in words."""

    def words(name: str, digits: int) -> str:
        point, low, high = (math.nan if one is None else one for one in explained[name])
        return f"{point:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"

    return (
        f"the network explains R2 {words('r2', 3)} of the payoffs of {explained['states']:,} test states in"
        f" {explained['games']:,} games, correlation {words('correlation', 3)}; its error is {words('error', 1)}"
        f" {explained['unit']} (root mean square); 95 % intervals over games"
    )


def draw(result: TrainingResult) -> None:
    """Draw a run's losses and, if it has test states, its calibration, into files in its folder."""
    validated = [line for line in result.history if line["validation"]]
    epochs, losses = [line["epoch"] for line in result.history], [line["loss"] for line in result.history]
    curves = {"training": (epochs, losses)}
    if validated:
        losses = [line["validation"]["bce"] for line in validated]
        curves["validation"] = ([line["epoch"] for line in validated], losses)
    floor = validated[-1]["validation"]["floor"] if validated else None
    draw_losses(curves, result.title, result.folder / LOSSES, floor)
    if result.calibration:
        draw_calibration(result.calibration, result.title, result.folder / RELIABILITY)


def draw_calibration(curves: Mapping[str, Reliability], title: str, path: str | Path) -> None:
    """Draw calibration curves by name into a file (.png, .svg or .pdf). Raises CardaiError if it cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 4.8), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, curve in curves.items():
        axes.plot(curve.predicted, curve.observed, "o-", markersize=4, label=f"{name}: ECE {curve.ece:.4f}")
    axes.set(title=title, xlabel="predicted", ylabel="observed", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left")
    save_figure(path, figure)


def draw_losses(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    title: str,
    path: str | Path,
    floor: float | None = None,
) -> None:
    """Draw loss curves, name -> (epochs, losses), into a file.

    `floor`: the loss of always predicting the mean label.
    Raises CardaiError if the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for name, (epochs, losses) in curves.items():
        axes.plot(epochs, losses, ".-", markersize=4, linewidth=1.2, label=name)
    if floor is not None:
        axes.axhline(floor, color="0.6", linestyle="--", linewidth=1, label="always the mean label")
    axes.set(title=title, xlabel="epoch", ylabel="cross-entropy (nats)")
    axes.grid(alpha=0.3)
    axes.legend()
    save_figure(path, figure)


def _devices(devices: Mapping[str, Any]) -> str:
    """Return on what a run was trained, in words, such as "1 device (measured: 9,000 states/s on 1, 7,000 on 4)"."""
    words = f"{devices['total']} device{'s' * (devices['total'] > 1)}"
    measured = [f"{speed:,.0f} states/s on {number}" for number, speed in devices["states_per_second"].items()]
    return f"{words} (measured: {', '.join(measured)})" if measured else words


def _rows(report: Mapping[str, Any]) -> Iterator[tuple[str, Metrics]]:
    """Yield the metrics in a report, each with the name of its states."""
    if report["validation"]:
        yield "validation", Metrics.from_json(report["validation"])
    for name, metrics in report.get("test", {}).items():
        yield ("test" if name == "split" else f"test, {name}"), Metrics.from_json(metrics)
    for phase, parts in report.get("phases", {}).items():
        for part, metrics in parts.items():
            yield f"test, {phase} {part}", Metrics.from_json(metrics["split"])


def _cells(metrics: Metrics) -> list[str]:
    values = metrics.bce, metrics.floor, 100 * metrics.accuracy, metrics.brier, metrics.ece
    digits = 4, 4, 1, 4, 4
    return [
        f"{value:.{places}f}" if math.isfinite(value) else "-" for value, places in zip(values, digits, strict=True)
    ]
