"""The page of peers."""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.machinery.charts import COLOURS, chart, logarithmic
from experiments.machinery.words import Result, interval_of, is_open, worded
from experiments.peers import BOARD, HANDS, PROCESSOR, THRIFT, fastest


def notes(result: Result) -> list[str]:
    """How the tables are read."""
    versions = ", ".join(f"{name} {version}" for name, version in result["drawn"]["versions"].items())
    batches = " and ".join(str(fastest(rates)) for rates in result["drawn"]["tried"].values())
    return [
        "A decision is one move of one seat in a game in progress. Deals and finished games that are carried along do"
        " not count, but their time does. Nobody's compilation or warming up is timed.",
        "With a choice: the share of decisions with more than one legal move.",
        "Cardai is, by the clock: how many times as fast as the row, on all processors. By processor time: one thread"
        " of cardai compared with what the row does in a second of processor time; this also holds on a busy machine.",
        "Speeds are geometric means with Student's interval of their logarithms over rounds. How many times as fast is"
        " taken within a round.",
        "Tic-Tac-Toe is the same game in every library. The games with hidden hands are not: those rows say how much"
        " play a library gives in a second, not which one implements a game faster.",
        "The thesis' processor was an Intel i5 of the 12th generation. The thesis does not say which agents played.",
        f"{versions}. Pgx ran on the CPU, where batches of {batches} were fastest.",
    ]


def answers(result: Result) -> list[str]:
    """The answer in one line, then what else the tables show."""
    games = next(row for row in result["rows"] if row["claim"])
    return [
        f"By processor time, one thread of cardai's Tic-Tac-Toe is {faster(result['rows'], BOARD)}.",
        f"With hidden hands, where each library has another game, cardai's Moska is {faster(result['rows'], HANDS)}.",
        f"Random players play {worded(games['figure'], 0)} games of Moska a second on one thread; the thesis' engine"
        f" plays {games['claim']['words'].replace('-', ' to ')} on a core.",
    ]


def faster(rows: Sequence[Mapping[str, Any]], table: str) -> str:
    """How many times as fast as each library's fastest way, by processor time; "undecided" where that may be once."""
    own = [row for row in rows if row["column"] == PROCESSOR and row["table"].startswith(table)]
    parts = []
    for library in dict.fromkeys(row["name"].split()[0] for row in own):
        ways = (row for row in own if row["name"].startswith(library))
        least = min(ways, key=lambda row: row["figure"]["point"] or 0.0)
        times = least["figure"]
        shifted = {name: None if times[name] is None else times[name] - 1 for name in ("low", "high")}
        parts.append(f"{worded(times)} times as fast as {least['name']}{', undecided' if is_open(shifted) else ''}")
    return "; ".join(parts)


def draw(result: Result) -> dict[str, Any]:
    """Decisions a second of processor time, a panel for each table."""
    titles = list(dict.fromkeys(row["table"] for row in result["rows"]))
    figure, panels = chart(len(titles), height=2.6)
    for axes, title in zip(panels, titles, strict=True):
        own = [row for row in result["rows"] if row["table"] == title and row["column"] == THRIFT][::-1]
        for place, row in enumerate(own):
            point, low, high = interval_of(row)
            colour = COLOURS[0] if row["name"].startswith("cardai") else COLOURS[1]
            errors = [[point - low], [high - point]]
            axes.errorbar([point], [place], xerr=errors, color=colour, marker="o", capsize=3, linestyle="none")
        axes.set_yticks(range(len(own)), [row["name"].replace(" (", "\n(") for row in own])
        logarithmic(axes.xaxis)
        axes.set_title(title)
    panels[-1].set_xlabel("decisions a second of processor time")
    return {"speed": figure}
