"""The page of information."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from cardai.experiments.information import (
    AGENTS,
    BEST,
    CLAIMED_GAMES,
    COST,
    HIDDEN,
    LESS,
    LOST,
    OTHERS,
    PEEKING,
    POSITIONS,
    SAMPLING,
    WORLDS,
    OtherGame,
    claimed_price,
)
from cardai.experiments.machinery.charts import chart, key, lines
from cardai.experiments.machinery.duplicate import COUNTED
from cardai.experiments.machinery.words import (
    Result,
    about,
    interval_of,
    is_open,
    percent,
    points,
    rows_by_place,
    size_of,
)

NOTES = (
    "Games lost: the same deals for all, seats rotated; Wilson interval; games of one deal form one cluster."
    " Differences are taken deal by deal.",
    "MIF: the network sees the cards it is about to draw or turn, but nobody's hand. So the difference is the cost of"
    " hidden draws, not of everything that is hidden.",
    "HIF: the network's mean score over that many sampled worlds, for moves that reveal a card. Before draw: the"
    " network scores the position after the move, before drawing. NN2 was not trained on such positions; best was."
    " Best is another network, which was also trained longer.",
    "Cost of a decision: decisions with one legal move are included. Positions: different positions that the network"
    " scores. Milliseconds: with all timed games in progress at once; Student-t interval over repeats.",
    "Durak and Literature: a small network of their own, trained on settled states. What a move turns up is the cards"
    " drawn in Durak, and in Literature the answer to the question, so there peeking tells who holds the card. In"
    " Literature the network chooses among questions that are not known to fail.",
)

LABELS = {"positions judged": "positions scored", "ms": "milliseconds", "B1": "games lost, %"} | {
    f"less {name}": f"minus {name}" for name in (HIDDEN, PEEKING)
}


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    lost = {name: percent(rows[LOST, name, "B1"]) for name in AGENTS}
    positions = {name: f"{rows[COST, name, POSITIONS]['figure']['point']:.1f}" for name in AGENTS}

    def less(one: str, other: str) -> Any:
        return rows[LESS, one, f"less {other}"]["figure"]

    price, single, free = less(HIDDEN, PEEKING), less(SAMPLING[1], HIDDEN), less(BEST, PEEKING)
    decided = [worlds for worlds in WORLDS[:-1] if not is_open(less(SAMPLING[worlds], HIDDEN))]
    few = f" With more than {max(decided)} worlds no difference from {WORLDS[-1]} worlds is shown." if decided else ""
    if is_open(free):
        beside = f"no difference from peeking is shown ({points(free)})"
    else:
        beside = f"{points(size_of(free))} {'less' if free['point'] < 0 else 'more'} than peeking NN2"
    return [
        f"At Moska it loses {about(rows[LOST, HIDDEN, 'B1'])} of its games when it guesses its draws, and"
        f" {about(rows[LOST, PEEKING, 'B1'])} when it sees them.",
        f"The network is the thesis' second (NN2), against three Bot3. With {WORLDS[-1]} guesses it loses"
        f" {lost[HIDDEN]}, and {lost[PEEKING]} when it peeks: a price of {_price(price)}.",
        f"In the thesis the two differ by {points(asdict(claimed_price()))}, a difference that"
        f" {CLAIMED_GAMES:,} games each are too few to tell from 0.",
        f"One world instead of {WORLDS[-1]} costs {_price(single)} and scores {positions[SAMPLING[1]]} positions a"
        f" decision instead of {positions[HIDDEN]}.{few}",
        f"A network trained on positions before the draw needs no sampling. It loses {lost[BEST]}, {beside}. It scores"
        f" {positions[BEST]} positions a decision.",
        *(_elsewhere(rows, setup) for setup in OTHERS.values()),
    ]


def _price(figure: Mapping[str, Any], places: int = 2) -> str:
    return f"{points(figure, places)}{' (undecided)' if is_open(figure) else ''}"


def _elsewhere(rows: Mapping[Any, Any], setup: OtherGame) -> str:
    column, most = COUNTED[setup.measure], SAMPLING[setup.worlds[-1]]
    price = _price(rows[setup.differences, most, f"less {PEEKING}"]["figure"], 1)
    peeks, samples = (percent(rows[setup.table, way, column]) for way in (PEEKING, most))
    return (
        f"{setup.title}, against {setup.against}: {column} {peeks} if the network peeks. If it samples"
        f" {setup.worlds[-1]} worlds, {samples}. The difference is {price}."
    )


def draw(result: Result) -> dict[str, Any]:
    rows = rows_by_place(result)
    figure, panels = chart(2, height=2.9)
    shares = ((LOST, "B1", "games lost, %"), (COST, POSITIONS, "positions a decision"))
    ways = {"HIF: samples its draws": None, "MIF: peeks at its draws": PEEKING, "best: scores after-states": BEST}
    for axes, (table, column, words) in zip(panels, shares, strict=True):
        _over_worlds(axes, rows, table, column, WORLDS, ways)
        axes.set_ylabel(words)
    panels[1].set(xlabel="worlds sampled for a move that reveals a card", ylim=(0, None))
    key(figure)
    return {"worlds": figure, "other-games": _other_games(rows)}


def _over_worlds(
    axes: Any, rows: Mapping[Any, Any], table: str, column: str, worlds: Sequence[int], ways: Mapping[str, str | None]
) -> None:
    """Draw a column over worlds; `ways`: {name of a series: its line, across the panel, None for those that sample}."""
    series = {}
    for words, name in ways.items():
        places = worlds if name is None else (worlds[0], worlds[-1])
        series[words] = [(place, *interval_of(rows[table, name or SAMPLING[place], column])) for place in places]
    lines(axes, series)
    axes.set_xscale("log")
    axes.set_xticks(worlds, [str(number) for number in worlds])
    axes.minorticks_off()


def _other_games(rows: Mapping[Any, Any]) -> Any:
    figure, panels = chart(len(OTHERS), height=2.5)
    for axes, setup in zip(panels, OTHERS.values(), strict=True):
        column, ways = COUNTED[setup.measure], {"samples what its move turns up": None, "peeks": PEEKING}
        _over_worlds(axes, rows, setup.table, column, setup.worlds, ways)
        ylabel = f"{column}, %".replace(", a tie counted half", "")
        axes.set(title=f"{setup.title}, against {setup.against}", ylabel=ylabel)
    panels[-1].set_xlabel("worlds")
    key(figure)
    return figure
