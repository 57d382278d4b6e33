"""The page of transfer."""

from collections.abc import Mapping
from typing import Any

from cardai.experiments.machinery.charts import chart, key, level, lines, logarithmic
from cardai.experiments.machinery.duplicate import COUNTED
from cardai.experiments.machinery.words import (
    Result,
    interval_of,
    is_open,
    listed,
    percent,
    rows_by_place,
    rows_where,
)
from cardai.experiments.transfer import (
    GAMES,
    GAMES_PLAYED,
    LESS,
    MINUTES,
    PRICE,
    RANDOM,
    REACHED,
    SIMPLE,
    TransferGame,
    after,
)

STAND_INS = ("Hearts", "Literature")
"""Games in which others stand in for the source's opponents."""
OPEN = "no difference is shown"


def sizes_of(result: Result, setup: TransferGame) -> list[int]:
    """After how many games a game has networks in a result."""
    last = rows_by_place(result)[PRICE, setup.title, GAMES_PLAYED]["figure"]["point"]
    columns = {row["column"] for row in rows_where(result, table=REACHED, name=setup.line)}
    sizes = {int(column.split()[0].replace(",", "")) for column in columns - {RANDOM, SIMPLE}}
    assert max(sizes) == last
    return sorted(sizes)


def notes(result: Result) -> list[str]:
    simple = "; ".join(f"{setup.title} `{setup.simple}`" for setup in GAMES.values())
    sources = "; ".join(f"{setup.title}: {setup.source}" for setup in GAMES.values())
    return [
        f"Every network was trained {_trainings(result)} times, from other games and other weights. Its figure is the"
        " mean, and the interval is over trainings. For a player without a network it is over games.",
        "All agents of a training play the same deals, seats rotated. Differences are taken training by training.",
        "The first network learns from games of simple players. Each later one learns also from games that the network"
        " before it plays with them.",
        f"Simple player: a strong hand-written one that does not search. {simple}.",
        f"In brackets: the source's figure. {sources}. In Hearts and Literature the opponents are stand-ins.",
        "Minutes: playing and learning, on the machine named below, which had other work to do.",
    ]


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    most = {setup.title: sizes_of(result, setup)[-1] for setup in GAMES.values()}
    minutes = [row["figure"]["point"] for row in rows_where(result, table=PRICE, column=MINUTES)]
    sides = {setup.title: _beside_simple(rows, setup, most[setup.title]) for setup in GAMES.values()}
    fewer = [f"{games:,} in {title}" for title, games in most.items() if games < max(most.values())]
    return [
        _beside_them(max(most.values()), sides),
        f"That is after {max(most.values()):,} games{', ' if fewer else ''}{listed(fewer) if fewer else ''}. A training"
        f" took {min(minutes):.1f} to {max(minutes):.0f} minutes.",
        f"Better and worse: the interval of the difference over {_trainings(result)} trainings excludes 0.",
        "The sources' networks learned from other numbers of games. So no verdict is given.",
        *(_in_full(rows, setup, most[setup.title]) for setup in GAMES.values()),
    ]


def _trainings(result: Result) -> int:
    return rows_where(result, table=PRICE, column=MINUTES)[0]["figure"]["n"]


def _beside_them(games: int, sides: Mapping[str, str]) -> str:
    """The main answer. `sides`: whether the networks of a game play better or worse than its simple player, or OPEN."""
    named = {words: [game for game in sides if sides[game] == words] for words in ("worse", "better", OPEN)}
    open_ = f"In {listed(named.pop(OPEN))} {OPEN}."
    apart = " and ".join(f"{words} than a hand-written player in {listed(own)}" for words, own in named.items() if own)
    played = f"After {games:,} games or fewer, networks play {apart}." if apart else f"After {games:,} games or fewer:"
    return f"{played} {open_}" if OPEN in sides.values() else played


def _in_full(rows: Mapping[Any, Any], setup: TransferGame, last: int) -> str:
    row, simple = (rows[REACHED, setup.line, column] for column in (after(last), SIMPLE))
    claimed = "83 to 92" if "-" in row["claim"]["words"] else f"{row['claim']['value']:g}"
    foes = ", against other opponents" if setup.title in STAND_INS else ""
    return (
        f"{setup.line}: {percent(row)}. `{setup.simple}` has {percent(simple)}. Source: {setup.source}, {claimed}"
        f" %{foes}."
    )


def _beside_simple(rows: Mapping[Any, Any], setup: TransferGame, last: int) -> str:
    apart = rows[LESS, setup.line, after(last)]["figure"]
    if is_open(apart):
        return OPEN
    return "better" if (apart["point"] < 0) == (setup.claim.better == "lower") else "worse"


def draw(result: Result) -> dict[str, Any]:
    rows = rows_by_place(result)
    figure, panels = chart(len(GAMES), height=2.1)
    for axes, setup in zip(panels, GAMES.values(), strict=True):
        sizes = sizes_of(result, setup)
        points = [(size, *interval_of(rows[REACHED, setup.line, after(size)])) for size in sizes]
        lines(axes, {"networks": points})
        level(axes, rows[REACHED, setup.line, RANDOM]["figure"]["point"], RANDOM, style=":")
        level(axes, rows[REACHED, setup.line, SIMPLE]["figure"]["point"], SIMPLE)
        level(axes, setup.claim.value, "the source's network", style="-")
        logarithmic(axes.xaxis)
        better = "fewer is better" if setup.claim.better == "lower" else "more is better"
        axes.set_title(f"{setup.title}: {COUNTED[setup.measure]}, % ({better})", fontsize=10)
    panels[-1].set_xlabel("games that it learned from")
    key(figure)
    return {"games": figure}
