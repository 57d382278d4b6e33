"""The page of information."""

from collections.abc import Mapping
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
from cardai.experiments.machinery.words import Result, interval_of, is_open, rows_by_place, size_of, worded

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
    """The answer in one line, then what else the tables show."""
    rows = rows_by_place(result)

    def lost(name: str) -> str:
        return worded(rows[LOST, name, "B1"]["figure"], 1, " %")

    def less(one: str, other: str) -> Any:
        return rows[LESS, one, f"less {other}"]["figure"]

    def positions(name: str) -> str:
        return f"{rows[COST, name, POSITIONS]['figure']['point']:.1f}"

    price, single, free = less(HIDDEN, PEEKING), less(SAMPLING[1], HIDDEN), less(BEST, PEEKING)
    decided = [worlds for worlds in WORLDS[:-1] if not is_open(less(SAMPLING[worlds], HIDDEN))]
    few = f" With more than {max(decided)} worlds no difference from {WORLDS[-1]} worlds is shown." if decided else ""
    if is_open(free):
        beside = f"no difference from peeking is shown ({worded(free, 2, ' percentage points')})"
    else:
        way = "less" if free["point"] < 0 else "more"
        beside = f"{worded(size_of(free), 2, ' percentage points')} {way} than peeking NN2"
    return [
        f"At Moska, against three Bot3, the thesis' second network (NN2) loses {lost(HIDDEN)} of its games when it"
        f" averages over {WORLDS[-1]} guesses of the cards it will draw, and {lost(PEEKING)} when the same"
        f" network sees them: a price of {worded(price, 2, ' percentage points')}"
        f"{' (undecided)' if is_open(price) else ''}.",
        f"In the thesis the two differ by {worded(asdict(claimed_price()), 2, ' percentage points')}, a difference that"
        f" {CLAIMED_GAMES:,} games each are too few to tell from 0.",
        f"One world instead of {WORLDS[-1]} costs {worded(single, 2, ' percentage points')}"
        f"{' (undecided)' if is_open(single) else ''} and scores {positions(SAMPLING[1])} positions a decision"
        f" instead of {positions(HIDDEN)}.{few}",
        f"A network trained on positions before the draw needs no sampling: it loses {lost(BEST)}, {beside}, and"
        f" scores {positions(BEST)} positions a decision.",
        *(_elsewhere(rows, setup) for setup in OTHERS.values()),
    ]


def _elsewhere(rows: Mapping[Any, Any], setup: OtherGame) -> str:
    """What peeking is worth in another game."""
    column, most = COUNTED[setup.measure], SAMPLING[setup.worlds[-1]]
    price = rows[setup.differences, most, f"less {PEEKING}"]["figure"]
    peeks, samples = (worded(rows[setup.table, way, column]["figure"], 1, " %") for way in (PEEKING, most))
    open_ = " (undecided)" if is_open(price) else ""
    return (
        f"{setup.title}, against {setup.against}: {column} {peeks} if the network peeks, {samples} if it samples"
        f" {setup.worlds[-1]} worlds, a difference of {worded(price, 1, ' percentage points')}{open_}."
    )


def in_readme(result: Result) -> tuple[str, str, str]:
    """Question, answer and the source's figure."""
    rows = rows_by_place(result)
    price = rows[LESS, HIDDEN, f"less {PEEKING}"]["figure"]
    return (
        "Moska: what not seeing its own draws costs NN2, percentage points",
        f"{worded(price, 2)}, n {price['n']:,}",
        worded(asdict(claimed_price()), 2),
    )


def draw(result: Result) -> dict[str, Any]:
    """Games lost, and positions scored a decision, over worlds; agents that need no worlds as lines across."""
    rows = rows_by_place(result)
    figure, panels = chart(2, height=2.9)
    shares = ((LOST, "B1", "games lost, %"), (COST, POSITIONS, "positions a decision"))
    for axes, (table, column, words) in zip(panels, shares, strict=True):
        points = {name: interval_of(rows[table, name, column]) for name in AGENTS}
        series = {"HIF: samples its draws": [(worlds, *points[name]) for worlds, name in SAMPLING.items()]}
        for name, label in ((PEEKING, "MIF: peeks at its draws"), (BEST, "best: scores after-states")):
            series[label] = [(worlds, *points[name]) for worlds in (WORLDS[0], WORLDS[-1])]
        lines(axes, series)
        axes.set_xscale("log")
        axes.set_xticks(WORLDS, [str(worlds) for worlds in WORLDS])
        axes.minorticks_off()
        axes.set_ylabel(words)
    panels[1].set_xlabel("worlds sampled for a move that reveals a card")
    panels[1].set_ylim(bottom=0)
    key(figure)
    return {"worlds": figure, "other-games": _other_games(rows)}


def _other_games(rows: Mapping[Any, Any]) -> Any:
    """The figures of the other games over worlds, and with peeking as a line across."""
    figure, panels = chart(len(OTHERS), height=2.5)
    for axes, setup in zip(panels, OTHERS.values(), strict=True):
        column = COUNTED[setup.measure]
        sampled = [(worlds, *interval_of(rows[setup.table, SAMPLING[worlds], column])) for worlds in setup.worlds]
        peeks = interval_of(rows[setup.table, PEEKING, column])
        across = [(worlds, *peeks) for worlds in (setup.worlds[0], setup.worlds[-1])]
        lines(axes, {"samples what its move turns up": sampled, "peeks": across})
        axes.set_xscale("log")
        axes.set_xticks(setup.worlds, [str(worlds) for worlds in setup.worlds])
        axes.minorticks_off()
        axes.set_title(f"{setup.title}, against {setup.against}")
        axes.set_ylabel(f"{column}, %".replace(", a tie counted half", ""))
    panels[-1].set_xlabel("worlds")
    key(figure)
    return figure
