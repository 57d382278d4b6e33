"""Figures in words: "12.4 % (11.7 to 13.1)", and the rows of a result by their place in its tables."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from cardai.experiments.machinery.findings import Measurement, difference

Result = Mapping[str, Any]
"""A sealed result, as `cardai.experiments.machinery.lab.run` returns it."""

VERDICT_WORDS = {
    "reproduced": "they differ by less than matters",
    "better": "ours is better by more than chance",
    "missed": "ours is worse by more than chance",
    "undecided": "the difference could be chance",
    "undecidable": "the difference could be chance",
    "not comparable": "the two are not alike, so no verdict is given",
    "source wrong": "the source is wrong",
}
"""How a figure compares with a claim about which way is better."""


def verdict_words(row: Mapping[str, Any]) -> str:
    """A row's verdict for a sentence; with the source's number of games where these leave it open."""
    words, games = VERDICT_WORDS[row["verdict"]], row["claim"]["games"]
    return f"{words} (the source's {games:,} games are too few to tell)" if row["verdict"] == "undecidable" else words


def verdict_with_games(row: Mapping[str, Any]) -> str:
    """A row's verdict for a table: "missed", or "undecided (16,000 games)" with what would decide it."""
    counted = row["figure"]["counted"]
    return f"{row['verdict']} ({rounded(row['needed'])} {counted})" if row["needed"] else row["verdict"]


def rounded(count: int) -> str:
    """A count in words to two digits, rounded up: "17,000", "3.1 million"."""
    step = 10 ** max(0, len(str(count)) - 2)
    count = -(-count // step) * step
    return f"{count / 1e6:.2g} million" if count >= 10**6 else f"{count:,}"


def rows_by_place(result: Result) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    """The rows of a result by (table, line, column)."""
    return {(row["table"], row["name"], row["column"]): row for row in result["rows"]}


def rows_where(result: Result, **parts: str) -> list[Mapping[str, Any]]:
    """The rows of a result with this `table`, `name` (its line) or `column`."""
    return [row for row in result["rows"] if all(row[part] == wanted for part, wanted in parts.items())]


def interval_of(row: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """A row's (point, low, high); None for what is missing."""
    figure = row["figure"]
    return figure["point"], figure["low"], figure["high"]


def series_of(
    rows: Iterable[Mapping[str, Any]], name: str | Callable[[Any], str], place: str | Callable[[Any], Any]
) -> dict[str, list[Any]]:
    """Rows as a chart draws them: {name of a series: [(place, point, low, high)]}; a text is the entry of a row."""
    series: dict[str, list[Any]] = {}
    for row in rows:
        own, at = (part(row) if callable(part) else row[part] for part in (name, place))
        series.setdefault(own, []).append((at, *interval_of(row)))
    return series


def gap(row: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The figure of one row less that of another, taken as independent."""
    return asdict(difference(*(Measurement(**one["figure"]) for one in (row, other))))


def carried(low: float, high: float, most: int) -> int:
    """The digits after the point that an interval carries, at most `most`.

    There are 2 below half a width of 0.35, 1 below 3.5, none above, and so on; a width of 0 carries all.
    """
    half = (high - low) / 2
    return most if half <= 0 else min(most, max(0, -math.floor(math.log10(half / 3.5))))


def shown(figure: Mapping[str, Any] | Measurement, places: int = 1) -> str:
    """A figure and its interval for a table: "16.0 (15.5-16.5)"; a dash without a point.

    `places`: the most digits after the point; there are fewer where the interval carries fewer.
    """
    values = asdict(figure) if isinstance(figure, Measurement) else figure
    point, low, high = values["point"], values["low"], values["high"]
    if point is None:
        return "-"
    if low is None:
        return f"{point:,.{places}f}"
    places = carried(low, high, places)
    if low != high and f"{low:.{places}f}" == f"{high:.{places}f}":  # too narrow to be seen
        places += 1
    dash = " to " if low < 0 else "-"
    return f"{point:,.{places}f} ({low:,.{places}f}{dash}{high:,.{places}f})"


def worded(figure: Mapping[str, Any], places: int = 1, unit: str = "") -> str:
    """A figure and its interval for a sentence: "16.0 % (15.5 to 16.5)" with the unit " %"; `places` as in `shown`."""
    point, low, high = figure["point"], figure["low"], figure["high"]
    if point is None:
        return "not measured"
    places = places if low is None else carried(low, high, places)
    bounds = "" if low is None else f" ({low:,.{places}f} to {high:,.{places}f})"
    return f"{point:,.{places}f}{unit}{bounds}"


def about(row: Mapping[str, Any], places: int = 1, unit: str = " %") -> str:
    """A row's figure alone, for a short answer: "16.0 %"; its interval says how many digits it has."""
    return worded(row.get("figure", row), places).partition(" (")[0] + unit


def percent(row: Mapping[str, Any], places: int = 1) -> str:
    """A row's figure, or a figure, in percent for a sentence: "16.0 % (15.5 to 16.5)"."""
    return worded(row.get("figure", row), places, " %")


def points(row: Mapping[str, Any], places: int = 2) -> str:
    """A row's figure, or a figure, for a sentence: "0.60 percentage points (0.15 to 1.05)"."""
    return worded(row.get("figure", row), places, " percentage points")


def is_open(figure: Mapping[str, Any]) -> bool:
    """Whether a difference could be 0: its interval contains 0, or it has no interval."""
    return figure["low"] is None or figure["high"] is None or figure["low"] <= 0 <= figure["high"]


def size_of(figure: Mapping[str, Any]) -> dict[str, Any]:
    """A difference without its sign: the point and interval of its absolute value, if the interval excludes 0."""
    if figure["point"] >= 0:
        return dict(figure)
    return {**figure, "point": -figure["point"], "low": -figure["high"], "high": -figure["low"]}


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: "2, 3 and 4"."""
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else "none"


def in_markdown(tables: Iterable[tuple[str, Sequence[str], Sequence[tuple[str, Sequence[str]]]]]) -> list[str]:
    """Lines of Markdown for tables: (title, columns, [(line, cells)])."""
    lines = []
    for title, columns, body in tables:
        lines += [f"## {title}", "", "| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
        lines += [*(f"| {line} | " + " | ".join(cells) + " |" for line, cells in body), ""]
    return lines


def addressed(table: str, line: str, column: str) -> str:
    """The address of a figure on its page, which stays the same in later results: "r-3fa9c1"."""
    return f"r-{hashlib.sha256(chr(0).join((table, line, column)).encode()).hexdigest()[:6]}"


def folded(summary: str, lines: Iterable[str]) -> list[str]:
    """Lines of Markdown in a part that readers open, under its summary."""
    return ['<details markdown="1">', f"<summary>{summary}</summary>", "", *lines, "", "</details>"]
