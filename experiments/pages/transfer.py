"""The page of transfer."""

from collections.abc import Mapping
from typing import Any

from cardai.experiments.machinery.charts import chart, dots, key, level
from cardai.experiments.machinery.duplicate import COUNTED
from cardai.experiments.machinery.words import (
    Result,
    gap,
    is_open,
    listed,
    percent,
    rows_by_place,
    rows_where,
    series_of,
)
from cardai.experiments.transfer import GAMES, GAMES_PLAYED, MINUTES, PRICE, RANDOM, REACHED, SIMPLE, TransferGame

STAND_INS = ("Hearts", "Literature")
"""Games in which others stand in for the source's opponents."""
KINDS = {True: "without a network", False: "networks"}


def notes(result: Result) -> list[str]:
    """How the tables are read."""
    simple = "; ".join(f"{setup.title} `{setup.simple}`" for setup in GAMES.values())
    sources = "; ".join(f"{setup.title}: {setup.source}" for setup in GAMES.values())
    return [
        "The same deals for all agents of a game, seats rotated; games of one deal form one cluster. Each network was"
        " trained once, so the intervals hold the error of play alone.",
        "Network 1 learns from games of simple players, each later one also from games of the network before it.",
        f"Simple player: the strongest without a network. {simple}.",
        f"In brackets: the source's figure. {sources}. In Hearts and Literature the opponents are stand-ins, so there"
        " the verdict is on the figures, not on equal opponents.",
        "Minutes: playing and learning, on the machine named below.",
    ]


def answers(result: Result) -> list[str]:
    rows, last = rows_by_place(result), _last(result)
    games, minutes = _prices(result, GAMES_PLAYED), _prices(result, MINUTES)
    simple = {setup.title: _beside_simple(rows, setup, last) for setup in GAMES.values()}
    return [
        f"Beside the strongest hand-written player: {_by_side(simple)}.",
        f"Each network learned from {max(games):,.0f} games. Playing them and learning took {min(minutes):.0f} to"
        f" {max(minutes):.0f} minutes a game.",
        "Better and worse: the interval of the difference excludes 0. The sources' networks learned from other numbers"
        " of games, so their figures are shown beside ours, not tested.",
        *(_in_full(rows, setup, last) for setup in GAMES.values()),
    ]


def _prices(result: Result, what: str) -> list[float]:
    return [row["figure"]["point"] for row in rows_where(result, table=PRICE, column=what)]


def _by_side(sides: Mapping[str, str]) -> str:
    """Titles of games by which side they are on: "better in Durak and Moska, worse in Hearts"."""
    named = {words: [game for game in sides if sides[game] == words] for words in ("better", "worse", "undecided")}
    return ", ".join(f"{words} in {listed(games)}" for words, games in named.items() if games)


def _in_full(rows: Mapping[Any, Any], setup: TransferGame, last: str) -> str:
    """A game's figures beside its source's."""
    row, simple = (rows[REACHED, setup.line, column] for column in (last, SIMPLE))
    claimed = "83 to 92" if "-" in row["claim"]["words"] else f"{row['claim']['value']:g}"
    foes = ", against other opponents" if setup.title in STAND_INS else ""
    return (
        f"{setup.line}: {percent(row)}. `{setup.simple}` has {percent(simple)}. Source: {setup.source}, {claimed}"
        f" %{foes}."
    )


def _last(result: Result) -> str:
    """The column of the last network."""
    return next(row["column"] for row in result["rows"] if row["claim"])


def _beside_simple(rows: Mapping[Any, Any], setup: TransferGame, last: str) -> str:
    """How a game's last network plays beside the simple player, both taken as independent."""
    apart = gap(*(rows[REACHED, setup.line, column] for column in (last, SIMPLE)))
    if is_open(apart):
        return "undecided"
    return "better" if (apart["point"] < 0) == (setup.claim.better == "lower") else "worse"


def draw(result: Result) -> dict[str, Any]:
    """A panel for each game: players without a network, each generation, and the source's figure as a line."""
    figure, panels = chart(len(GAMES), height=1.9)
    for axes, setup in zip(panels, GAMES.values(), strict=True):
        own = rows_where(result, table=REACHED, name=setup.line)
        dots(axes, series_of(own, lambda row: KINDS[row["column"] in (RANDOM, SIMPLE)], "column"))
        level(axes, setup.claim.value, "the source's network", across=False)
        better = "fewer is better" if setup.claim.better == "lower" else "more is better"
        axes.set_title(f"{setup.title}: {COUNTED[setup.measure]}, % ({better})", fontsize=10)
    key(figure)
    return {"games": figure}
