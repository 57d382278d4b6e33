"""The page of hearts-rewards."""

from typing import Any

from cardai.experiments.hearts_rewards import CHOSEN, FIRST, GAIN, LAST, LOWER, PAIRS, POINTS, REWARDS, SAVED, SHARE
from cardai.experiments.machinery.charts import dotted
from cardai.experiments.machinery.words import Result, rows_by_place, rows_where, series_of, worded

NOTES = (
    "The networks are trained as the play network of [hearts](hearts.md): layers, rates, hand-written players beside"
    " their own games. Only the label of a state differs: (limit - points) / limit of its seat's round, at least 0.",
    "The first network learned from games of hand-written players; the last one after all generations, which learn from"
    " the games of the one before too. All limits of a repeat share the first games, and all play the same deals, with"
    " rotated seats, without passing and moons.",
    "The paper tried the limits from 5 to 13, and says of them that 10 gave the best performance, without figures. Its"
    " reward for each trick is tried in [hearts-tricks](hearts-tricks.md).",
    "Student-t interval over repeats; it includes the errors of training and of play.",
)

LABELS = {
    SHARE: "Share of the win against three careful, %",
    POINTS: "Points a round against three careful",
    GAIN: "Share of the win, percentage points: one limit less another",
    SAVED: "Points a round: one limit less another",
}


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)

    def of(table: str, name: str, places: int, which: str = LAST) -> str:
        return worded(rows[table, name, which]["figure"], places)

    most = max(REWARDS, key=lambda name: rows[SHARE, name, LAST]["figure"]["point"])
    fewest = min(REWARDS, key=lambda name: rows[POINTS, name, LAST]["figure"]["point"])
    lower = [rows[GAIN, " less ".join(pair), LAST]["figure"] for pair, words in PAIRS.items() if words == LOWER]
    more = [figure for figure in lower if figure["low"] is not None and figure["low"] > 0]
    return [
        f"The {most} wins most, the {fewest} takes the fewest points; {len(more)} of {len(lower)} limits below 13 win"
        " more than 13.",
        f"Against three `careful` the {most} gets {of(SHARE, most, 1)} % of the win, the paper's {CHOSEN}"
        f" {of(SHARE, CHOSEN, 1)} %, the limit 26 {of(SHARE, 'limit 26', 1)} %.",
        f"Points a round: {of(POINTS, 'limit 5', 2)} with the limit 5, {of(POINTS, CHOSEN, 2)} with the paper's"
        f" {CHOSEN}, {of(POINTS, 'limit 26', 2)} with the limit 26.",
        f"The limit 13 less 26, in percentage points of the win, is"
        f" {of(GAIN, 'limit 13 less limit 26', 1, FIRST)} after games of hand-written players alone and"
        f" {of(GAIN, 'limit 13 less limit 26', 1)} after all generations.",
    ]


def draw(result: Result) -> dict[str, Any]:
    series, equal = series_of(rows_where(result, table=SHARE), "column", "name"), (25.0, "as good as the others")
    return {"limits": dotted(series, "share of the win against three careful, %", 3.0, equal, columns=0)}
