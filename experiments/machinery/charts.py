"""Drawing the figures of experiments: one style, panels below each other, SVG that is legible on a phone.

    figure, axes = chart()
    lines(axes[0], {"mlp": [(1000, 71.2, 70.1, 72.3), ...]})     # x, point, low, high
    key(figure)
    text = svg(figure)

A figure is as wide as a phone's screen, so that its text is at least 9 pixels high there; all text is dark on light
paper and light on dark paper.
"""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from cardai.experiments.machinery.words import series_of

INK = "#010203"
"""A placeholder that `svg` replaces by the reader's text colour."""
FAINT = "#8a8f98"
COLOURS = ("#2f7fd0", "#e07b1a", "#2a9d63", "#b8479b", "#8a6cd1", "#c2453b", "#7a8b1f", "#3a9fb0", FAINT)
"""Colours of the series, distinguishable on white and on black."""
MARKERS = "osD^vPX*<"
WIDTH = 5.1
"""The width of every figure in inches: 367 units of 1/72 inch, about the width of a phone's screen in pixels."""
SHOWN_WIDTH = 560
"""The width in pixels of a figure in a file of its own."""

Points = Sequence[tuple[Any, float, float | None, float | None]]
"""(place or group, point, low, high); low and high are None without an interval."""

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cardai",
    "font.family": "sans-serif",
    "font.size": 10.5,
    "axes.titlesize": 11,
    "axes.labelsize": 10.5,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.alpha": 0.25,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    "legend.labelcolor": INK,
}


def chart(panels: int = 1, height: float = 3.2) -> tuple[Figure, list[Any]]:
    """An empty figure with panels below each other, each of a height in inches, and their axes."""
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, height * panels), layout="constrained")
        axes = list(figure.subplots(panels, 1, squeeze=False).flat)
    return figure, axes


def lines(axes: Any, series: Mapping[str, Points], joined: bool = True) -> None:
    """Draw a line for each series through (x, point, low, high), intervals as bars; points alone if not `joined`."""
    for (name, points), colour, marker in zip(series.items(), COLOURS * 3, MARKERS * 3, strict=False):
        measured = [point for point in points if point[1] is not None]
        if measured:
            axes.errorbar(
                [x for x, *_ in measured], [point for _, point, *_ in measured], yerr=_errors(measured), label=name,
                color=colour, marker=marker, markersize=4, linewidth=1.4, capsize=2,
                linestyle="-" if joined else "none",
            )  # fmt: skip


def dots(axes: Any, series: Mapping[str, Points]) -> None:
    """Draw points with intervals, a line of the panel for each group: each series has (group, point, low, high)."""
    groups = list(dict.fromkeys(group for points in series.values() for group, *_ in points))
    apart = 0.6 / max(len(series), 1)
    for i, ((name, points), colour, marker) in enumerate(zip(series.items(), COLOURS * 3, MARKERS * 3, strict=False)):
        measured = [point for point in points if point[1] is not None]
        places = [groups.index(group) + (i - (len(series) - 1) / 2) * apart for group, *_ in measured]
        axes.errorbar(
            [point for _, point, *_ in measured], places, xerr=_errors(measured), label=name, color=colour,
            marker=marker, markersize=5, linestyle="none", capsize=3,
        )  # fmt: skip
    axes.set_yticks(range(len(groups)), groups)
    axes.set_ylim(len(groups) - 0.5, -0.5)


def dotted(
    series: Mapping[str, Points], xlabel: str, height: float, at: tuple[float, str] | None = None, columns: int = 2
) -> Figure:
    """A chart of one panel of `dots`. `at`: the place and name of an upright line. `columns`: of the key, 0: no key."""
    figure, (axes,) = chart(height=height)
    dots(axes, series)
    if at is not None:
        level(axes, *at, across=False)
    axes.set_xlabel(xlabel)
    if columns:
        key(figure, columns)
    return figure


def by_generation(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], label: str) -> Figure:
    """A chart of rows over their networks, in order: a line for each of `columns` ({column: its name in the key})."""
    figure, (axes,) = chart(height=3.8)
    names = list(dict.fromkeys(row["name"] for row in rows))
    series = series_of(rows, "column", lambda row: names.index(row["name"]))
    lines(axes, {words: series[column] for column, words in columns.items()})
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(label)
    key(figure)
    return figure


def level(axes: Any, value: float, words: str, across: bool = True, style: str = "--") -> None:
    """A dashed line at a value, named in the key: across the panel, or upright if not `across`."""
    draw = axes.axhline if across else axes.axvline
    draw(value, color=FAINT, linestyle=style, linewidth=1.4, label=words)


def logarithmic(axis: Any, linear_below: float = 0.0) -> None:
    """Give an axis a logarithmic scale whose numbers have no exponents, which would be too small: 1000, 10 k, 1 M.

    `linear_below`: where there are zeros, the scale is linear up to this value.
    """
    scale = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    if linear_below:
        scale("symlog", linthresh=linear_below)
    else:
        scale("log")
    axis.set_major_formatter(FuncFormatter(_short))
    axis.set_minor_formatter(NullFormatter())


def _short(value: float, _: Any) -> str:
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if value >= 10 * size or value == size == 1e6:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def key(figure: Figure, columns: int = 2, panel: Any = None) -> None:
    """Put the key of all panels below the figure, or of one panel, each name once."""
    named: dict[str, Any] = {}
    for axes in figure.axes if panel is None else [panel]:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    with rc_context(STYLE):
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns)


def svg(figure: Figure) -> str:
    """The figure as SVG text, a file of its own in the reader's colours."""
    image = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(image, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = image.getvalue().replace(INK, "currentColor")
    text = text[text.index("<svg") :]
    wide, high = figure.get_size_inches()
    size = f'width="{SHOWN_WIDTH}" height="{SHOWN_WIDTH * high / wide:.0f}"'
    text = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', size, text, count=1)
    dark = "svg{color:#1b1f24}@media(prefers-color-scheme:dark){svg{color:#e6e6e6}}"
    end = text.index(">") + 1
    return f"{text[:end]}\n<style>{dark}</style>{text[end:]}"


def _errors(points: Points) -> list[list[float]]:
    below = [0.0 if low is None else max(point - low, 0.0) for _, point, low, _ in points]
    above = [0.0 if high is None else max(high - point, 0.0) for _, point, _, high in points]
    return [below, above]
