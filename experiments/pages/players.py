"""The page of players."""

from collections.abc import Mapping
from typing import Any

from cardai.experiments.machinery.charts import chart, key, level, lines
from cardai.experiments.machinery.words import Result, listed, rows_where, series_of, worded
from cardai.experiments.players import FAIR, OURS, SHARE, SHIPPED

IN_WORDS = {
    "reproduced": "better than Bot3",
    "undecided": "not shown to differ from Bot3",
    "missed": "worse than Bot3",
}


def notes(result: Result) -> list[str]:
    tables = _tables(result)
    return [
        "The same deals for all at a table, seats rotated. Wilson interval; games of one deal form one cluster. Each"
        " network was trained once, so the intervals hold the error of play alone, not that of training.",
        "Fair share: with n players each loses 100/n % of games if all are equally good. 1 is the fair share; lower is"
        " better. Bot3 among Bot3 is a check: it must be 1.",
        "Network 1 is trained on games of hand-written players, each later one also on games in which earlier networks"
        " played.",
        "The scale small trains two generations after network 1. This was decided after a trial with two players, on"
        " other deals, where network 1 was worse than Bot3 and network 3 better.",
        "Test states: each network has its own, so their cross-entropies do not tell which network plays better.",
        f"{OURS} ({SHIPPED}) plays with {listed(tables)} players only: its input has a block for each seat, and its"
        " file names the number of seats.",
    ]


def _tables(result: Result) -> list[str]:
    """The sizes of tables that the shipped network plays at, among those measured."""
    return [_seats(row) for row in rows_where(result, table=SHARE, column=OURS)]


def _seats(row: Mapping[str, Any]) -> str:
    return row["name"].split()[0]


LABELS = {
    "Games lost, beside the fair share 100/n": "Games lost, divided by the fair share (100/n %)",
    "Cross-entropy on test states, balanced, divided by game": "Cross-entropy on test states, balanced, split by game",
    OURS: "best network that comes with cardai",
}


def answers(result: Result) -> list[str]:
    rows = [row for row in result["rows"] if row["claim"]]  # of the last network of each table
    seats = {word: [_seats(row) for row in rows if row["verdict"] == word] for word in IN_WORDS}
    parts = [f"{IN_WORDS[word]} at {listed(seats[word])} players" for word in IN_WORDS if seats[word]]
    ours = rows_where(result, table=SHARE, column=OURS)
    shipped = listed([f"{worded(row['figure'], 2)} times the fair share at {_seats(row)}" for row in ours])
    best, *_, worst = sorted(rows, key=lambda row: row["figure"]["point"])
    lines = [
        f"One network was trained for each size of table. It is {'; '.join(parts)}.",
        "With Bot3 in all other seats, it loses"
        f" {worded(best['figure'], 2)} times the fair share of games at the best size, {_seats(best)} players. At the"
        f" worst, {_seats(worst)} players, it is {worded(worst['figure'], 2)} times.",
        f"These are small networks, one a size. `best`, trained for longer, loses {shipped}.",
    ]
    firsts = rows_where(result, table=SHARE, column="network 1")
    behind = [_seats(row) for row in firsts if (row["figure"]["high"] or 0) >= 1]
    if behind:
        lines.append(
            "Network 1, trained on the games of hand-written players alone, is not shown to be better than Bot3 at"
            f" {listed(behind)} players."
        )
    return [
        *lines,
        f"One network does not serve all table sizes: {SHIPPED} plays with {listed(_tables(result))} players only.",
    ]


def draw(result: Result) -> dict[str, Any]:
    figure, (axes,) = chart(height=4.0)
    rows = rows_where(result, table=SHARE)
    lines(axes, series_of(rows, "column", lambda row: int(_seats(row))))
    level(axes, 1.0, FAIR)
    axes.set(xticks=sorted({int(_seats(row)) for row in rows}), xlabel="players", ylabel="games lost / fair share")
    key(figure)
    return {"players": figure}
