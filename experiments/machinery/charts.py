"""Figures of experiments: one style, and SVG that is dark on light paper and light on dark.

figure, axes = chart()
lines(axes, {"mlp": [(1000, 71.2, 70.1, 72.3), ...]})     # x, point, low, high
text = svg(figure)
"""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

_INK = "#010203"  # stands for the reader's own text colour
_FAINT = "#8a8f98"
COLOURS = ("#2f7fd0", "#e07b1a", "#2a9d63", "#b8479b", "#8a6cd1", "#c2453b", "#7a8b1f", "#3a9fb0", _FAINT)
"""Told apart on white and on black."""
MARKERS = "osD^vPX*<"

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "cardai",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "axes.titlecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": _FAINT,
    "grid.alpha": 0.25,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
}


def chart(panels: int = 1, columns: int = 2, height: float = 3.6) -> tuple[Figure, list[Any]]:
    """An empty figure with so many panels, and their axes."""
    across = min(panels, columns)
    down = -(-panels // across)
    with rc_context(STYLE):
        figure = Figure(figsize=(6.4 if across == 1 else 9.6, height * down), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False)
    axes = list(grid.flat)
    for unused in axes[panels:]:
        unused.set_visible(False)
    return figure, axes[:panels]


def lines(axes: Any, series: Mapping[str, Sequence[tuple[float, float, float | None, float | None]]]) -> None:
    """One line a series through (x, point, low, high), with its interval as bars."""
    for (name, points), colour, marker in zip(series.items(), COLOURS * 3, MARKERS * 3, strict=False):
        told = [point for point in points if point[1] is not None]
        if told:
            axes.errorbar(
                [one[0] for one in told],
                [one[1] for one in told],
                yerr=_errors(told),
                label=name,
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=1.4,
                capsize=2,
            )


def bars(axes: Any, series: Mapping[str, Sequence[tuple[str, float, float | None, float | None]]]) -> None:
    """Groups of points with intervals: each series has (group, point, low, high); groups stand side by side."""
    groups = list(dict.fromkeys(one[0] for points in series.values() for one in points))
    width = 0.7 / max(len(series), 1)
    for i, ((name, points), colour, marker) in enumerate(zip(series.items(), COLOURS * 3, MARKERS * 3, strict=False)):
        told = [one for one in points if one[1] is not None]
        places = [groups.index(one[0]) + (i - (len(series) - 1) / 2) * width for one in told]
        axes.errorbar(
            places, [one[1] for one in told], yerr=_errors(told), label=name, color=colour, marker=marker,
            markersize=5, linestyle="none", capsize=3,
        )  # fmt: skip
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlim(-0.6, len(groups) - 0.4)


def level(axes: Any, value: float, words: str) -> None:
    """A dashed horizontal line with words: a claim."""
    axes.axhline(value, color=_FAINT, linestyle="--", linewidth=1)
    axes.annotate(words, (0.99, value), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8)


def _errors(points: Sequence[Sequence[Any]]) -> list[list[float]]:
    below = [0.0 if one[2] is None else max(one[1] - one[2], 0.0) for one in points]
    above = [0.0 if one[3] is None else max(one[3] - one[1], 0.0) for one in points]
    return [below, above]


def svg(figure: Figure, alone: bool = True) -> str:
    """The figure as SVG text in the reader's colours; `alone`: as a file of its own, else to be put into a page."""
    for legend in (axes.get_legend() for axes in figure.axes):
        if legend is not None:
            legend.set_frame_on(False)
            for text in legend.get_texts():
                text.set_color(_INK)
    image = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(image, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = image.getvalue().replace(_INK, "currentColor")
    text = text[text.index("<svg") :]
    text = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', 'width="100%"' if not alone else "", text, count=1)
    if not alone:
        return text
    dark = "svg{color:#1b1f24}@media(prefers-color-scheme:dark){svg{color:#e6e6e6}}"
    end = text.index(">") + 1
    return f"{text[:end]}\n<style>{dark}</style>{text[end:]}"
