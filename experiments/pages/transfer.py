"""The page of transfer."""

from collections.abc import Mapping
from typing import Any

from experiments.machinery.charts import chart, key, level
from experiments.machinery.duplicate import COUNTED
from experiments.machinery.words import Result, interval_of, rows_by_place, verdict_words, worded
from experiments.transfer import GAMES, GAMES_PLAYED, MINUTES, PRICE, RANDOM, REACHED, SIMPLE, TransferGame


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
    """The answer in one line, then each game beside its source."""
    rows = rows_by_place(result)
    better = [setup.title for setup in GAMES.values() if _is_better(rows, setup)]
    games = [rows[PRICE, setup.title, GAMES_PLAYED]["figure"]["point"] for setup in GAMES.values()]
    minutes = [rows[PRICE, setup.title, MINUTES]["figure"]["point"] for setup in GAMES.values()]
    last = _last(result)
    spent = f"{max(games):,.0f} games and {min(minutes):.0f} to {max(minutes):.0f} minutes for each game"
    first = (
        f"One recipe with nothing tuned, {spent}, gives networks that play better than the strongest simple player in"
        f" {len(better)} of {len(GAMES)} games"
    )
    if better and len(better) < len(GAMES):
        first += f" ({', '.join(better)})"
    lines = []
    for setup in GAMES.values():
        row = rows[REACHED, setup.line, last]
        figures = (
            f"{worded(row['figure'], 1, ' %')}, simple player"
            f" {worded(rows[REACHED, setup.line, SIMPLE]['figure'], 1, ' %')}"
        )
        claimed = f"{setup.source}: {row['claim']['words'] or row['claim']['value']} %, {verdict_words(row)}"
        lines.append(f"{setup.line}: {figures}; {claimed}.")
    return [f"{first}.", *lines]


def in_readme(result: Result) -> tuple[str, str, str]:
    """Question, answer and the source's figure."""
    rows, last = rows_by_place(result), _last(result)
    better = [setup.title for setup in GAMES.values() if _is_better(rows, setup)]
    games = max(rows[PRICE, setup.title, GAMES_PLAYED]["figure"]["point"] for setup in GAMES.values())
    moska = rows[REACHED, GAMES["moska"].line, last]
    return (
        f"One recipe in five games, {games:,.0f} games each, nothing tuned",
        f"better than the strongest simple player in {len(better)} of {len(GAMES)}; Moska"
        f" {worded(moska['figure'], 1, ' %')} lost",
        f"Moska {moska['claim']['value']} %, from 2 million games",
    )


def _last(result: Result) -> str:
    """The column of the last network."""
    return next(row["column"] for row in result["rows"] if row["claim"])


def _is_better(rows: Mapping[Any, Any], setup: TransferGame) -> bool:
    """Whether the last network's interval lies wholly on the better side of the simple player's."""
    last = max(column for table, line, column in rows if (table, line) == (REACHED, setup.line) and "network" in column)
    ours, simple = (rows[REACHED, setup.line, column]["figure"] for column in (last, SIMPLE))
    if setup.claim.better == "lower":
        return ours["high"] is not None and simple["low"] is not None and ours["high"] < simple["low"]
    return ours["low"] is not None and simple["high"] is not None and ours["low"] > simple["high"]


def draw(result: Result) -> dict[str, Any]:
    """A panel for each game: players without a network, each generation, and the source's figure as a line."""
    figure, panels = chart(len(GAMES), height=1.9)
    for axes, setup in zip(panels, GAMES.values(), strict=True):
        own = [row for row in result["rows"] if (row["table"], row["name"]) == (REACHED, setup.line)]
        for i, row in enumerate(own):
            point, low, high = interval_of(row)
            errors = None if low is None else [[point - low], [high - point]]
            colour = "#8a8f98" if row["column"] in (RANDOM, SIMPLE) else "#2f7fd0"
            axes.errorbar([point], [i], xerr=errors, marker="o", color=colour, capsize=3, linestyle="none")
        axes.set_yticks(range(len(own)), [row["column"] for row in own])
        axes.set_ylim(len(own) - 0.5, -0.5)
        level(axes, setup.claim.value, "the source's network", across=False)
        better = "fewer is better" if setup.claim.better == "lower" else "more is better"
        axes.set_title(f"{setup.title}: {COUNTED[setup.measure]}, % ({better})", fontsize=10)
    key(figure)
    return {"games": figure}
