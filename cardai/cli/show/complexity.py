"""The complexity of a game as a table and as a figure: the size of its tree by number of players."""

from typing import Any

import numpy as np

from cardai.cli.show.grid import add_figures, endless_notes, fitting, grid, stacked, with_notes
from cardai.measure.complexity import ComplexityReport


def table(report: ComplexityReport) -> Any:
    """A rich renderable with one line for each number of players."""
    return with_notes(_notes(report), fitting(lambda is_narrow: _grid(report, is_narrow)))


def figure(report: ComplexityReport) -> Any:
    """A matplotlib figure: log10 of the tree's size over the number of players, with published values if any."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    rows = [row for row in report.rows if row.power.n]
    curves = (("mean branching ^ mean decisions", -0.06, "power"), ("geometric mean", 0.06, "geometric"))
    for label, shift, name in curves:
        estimates = [getattr(row, name) for row in rows]
        points = [estimate.point for estimate in estimates]
        errors = [[one.point - one.low for one in estimates], [one.high - one.point for one in estimates]]
        places = [row.players + shift for row in rows]
        axes.errorbar(places, points, np.maximum(errors, 0), fmt="o-", capsize=3, label=label)
    published = [(row.players, row.reference) for row in rows if row.reference is not None]
    if published:
        axes.plot(*zip(*published, strict=True), "x--", color="0.4", label="published")
    players = [row.players for row in rows]
    axes.set(title=f"{report.title}: size of the game tree", xlabel="players", xticks=players)
    axes.set_ylabel("log10 of the tree's size")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def _grid(report: ComplexityReport, is_narrow: bool) -> Any:
    table = grid(f"{report.title}: complexity", is_narrow)
    has_references = any(row.reference is not None for row in report.rows)
    names = [stacked(name, is_narrow) for name in ("decisions d", "branching b", "log10 b^d", "log10 geometric")]
    add_figures(table, "players", *names, *(["published"] if has_references else []), "n")
    for row in report.rows:
        cells = [stacked(estimate, is_narrow) for estimate in (row.decisions, row.branching, row.power, row.geometric)]
        if has_references:
            cells.append("" if row.reference is None else f"{row.reference:g}")
        table.add_row(str(row.players), *cells, f"{row.decisions.n:,}")
    return table


def _notes(report: ComplexityReport) -> list[str]:
    notes = [
        "counted: decisions of all players with more than one legal move; d = decisions a game, b = moves a decision",
        "b^d is made of the two means; geometric is the mean over games of the sum of log10(moves), never more",
        f"95 % intervals: bootstrap over games; all seats {report.agent}; seed {report.seed}, variant {report.variant},"
        f" {report.game} {report.version}, {sum(row.seconds for row in report.rows):.1f} s on {report.threads} threads",
    ]
    truncated = sum(row.truncated for row in report.rows)
    if truncated:
        notes.append(f"{truncated:,} decisions had more moves than the game can list; only those listed are counted")
    notes += endless_notes(sum(row.endless for row in report.rows))
    if report.interrupted:
        notes.append("stopped before the end: only finished games count")
    return notes
