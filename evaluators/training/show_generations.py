"""Shows a run of generations: its report as a table, and the strength of its models as a figure."""

from pathlib import Path
from typing import Any

import numpy as np

from cardai.cli.show.figure import save_figure
from cardai.cli.show.grid import fitting, grid, stacked, with_notes
from cardai.evaluators.training.generations import Generation, IterateReport
from cardai.playing.stats.interval import FEWEST_DEALS


def table(report: IterateReport) -> Any:
    """Return a line for each generation, with notes below, as a rich renderable."""
    return with_notes(_notes(report), fitting(lambda is_narrow: _lines(report, is_narrow)))


def draw_strength(report: IterateReport, path: str | Path) -> None:
    """Draw each generation's score among players of the reference into a file (.png, .svg or .pdf).

    The marks of promoted generations are filled. A line shows the mean score of equal players, if it is known. Raises
    CardaiError if the file cannot be written.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    if report.mean_score is not None:
        axes.axhline(report.mean_score, color="0.6", linestyle="--", linewidth=1, label=f"{report.reference} itself")
    for is_promoted, filling, name in ((True, "C0", "promoted"), (False, "white", "not promoted")):
        generations = [generation for generation in report.generations if generation.is_promoted == is_promoted]
        if not generations:
            continue
        scores = [generation.strength.score for generation in generations]
        reach = [[score.point - score.low for score in scores], [score.high - score.point for score in scores]]
        axes.errorbar(
            [generation.number for generation in generations],
            [score.point for score in scores],
            yerr=np.nan_to_num(np.maximum(reach, 0.0)),
            fmt="o",
            color="C0",
            markerfacecolor=filling,
            capsize=3,
            label=name,
        )
    title = f"{report.game_title}, among players {report.reference}"
    axes.set(title=title, xlabel="generation", ylabel=f"mean score {_unit(report)}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend()
    save_figure(path, figure)


def _lines(report: IterateReport, is_narrow: bool) -> Any:
    lines = grid(report.title, is_narrow)
    lines.add_column("", justify="right")
    score = f"score {_unit(report)}"
    for heading in ("games", "states", "BCE", score, "ahead", "min"):
        lines.add_column(heading, justify="right", no_wrap=True)
        if heading == score:
            lines.add_column("champion", overflow="fold", max_width=16 if is_narrow else None)
        elif heading == "ahead":
            lines.add_column("verdict", no_wrap=True)
    for generation in report.generations:
        bce = generation.bce["validation"]
        lines.add_row(
            str(generation.number),
            f"{generation.games:,}",
            f"{generation.states:,}",
            "-" if bce is None else f"{bce:.4f}",
            stacked(generation.strength.score, is_narrow),
            generation.champion,
            stacked(generation.duel.difference, is_narrow),
            "[green]promoted[/]" if generation.is_promoted else generation.duel.verdict,
            f"{sum(generation.seconds.values()) / 60:.1f}",
        )
    return lines


def _unit(report: IterateReport) -> str:
    """What the mean scores are in: "%", or the unit of the game's payoff."""
    return report.generations[-1].strength.unit if report.generations else "%"


def _endless(generation: Generation) -> list[str]:
    """What is to be said of a generation's games that did not end."""
    parts = {
        "those it played": generation.endless,
        "those against the champion": generation.duel.endless,
        "those among players of the reference": generation.strength.endless,
    }
    return [
        f"{games:,} games did not end ({where}); they count in no figure" for where, games in parts.items() if games
    ]


def _notes(report: IterateReport) -> list[str]:
    notes = []
    if report.generations:
        level = 100 * report.generations[-1].duel.level
        notes += [
            f"score {_unit(report)}: of the model among players {report.reference}, 95 % interval, on the same deals"
            " for all models",
            "ahead: the model's mean score less the champion's at the same tables, with a"
            f" {level:.1f} % interval; the model is promoted if the whole interval is above 0",
        ]
    notes += [
        f"generation {generation.number}: only {generation.duel.different} deals were played in different ways, too few"
        " for a verdict: a game without chance needs benchmark_epsilon"
        for generation in report.generations
        if generation.duel.different < FEWEST_DEALS
    ]
    notes += [
        f"generation {generation.number}: {why}" for generation in report.generations for why in _endless(generation)
    ]
    if report.champion:
        notes.append(f"the champion is the model of generation {report.champion}: {report.model}")
    elif report.generations:
        notes.append(f"no model has beaten {report.reference} yet")
    if report.stopped != "generations":
        why = "time was up" if report.stopped == "minutes" else "interrupted"
        notes.append(f"stopped before the end ({why}): the same command continues the run")
    return notes
