"""The page of hearts-rewards."""

from typing import Any

from cardai.experiments.hearts_rewards import CHOSEN, FIRST, GAIN, LAST, POINTS, REWARDS, SHARE
from cardai.experiments.machinery.charts import chart, dots, level
from cardai.experiments.machinery.words import Result, rows_by_place, rows_where, series_of, worded

NOTES = (
    "The networks are trained as the play network of [hearts](hearts.md): layers, rates, hand-written players beside"
    " their own games. Only the label of a state differs: (limit - points) / limit of its seat's round, at least 0.",
    "The first network learned from games of hand-written players; the last one after all generations, which learn from"
    " the games of the one before too. All limits of a repeat share the first games, and all play the same deals, with"
    " rotated seats, without passing and moons.",
    "The paper tried the limits from 5 to 13, and says of them that 10 gave the best performance, without figures. Its"
    " smaller limits of the reward for a trick were not tried: no state of ours has such a reward.",
    "Student-t interval over repeats; it includes the errors of training and of play.",
)

LABELS = {
    SHARE: "Share of the win against three careful, %",
    POINTS: "Points a round against three careful",
    GAIN: "Share of the win, percentage points: one limit less another",
}


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    gains = {row["name"]: row["figure"] for row in rows_where(result, table=GAIN) if row["column"] == LAST}
    best = max(REWARDS, key=lambda name: rows[SHARE, name, LAST]["figure"]["point"])
    shown = [
        f"{name} {worded(figure, 1)}"
        for name, figure in gains.items()
        if figure["low"] is not None and (figure["low"] > 0 or figure["high"] < 0)
    ]
    return [
        f"Networks of {best.replace('limit ', 'the limit ')} win most, {worded(rows[SHARE, best, LAST]['figure'], 1)} %"
        f" of the win against three `careful`; those of the paper's limit 10"
        f" {worded(rows[SHARE, CHOSEN, LAST]['figure'], 1)} %.",
        f"Differences that are shown, in percentage points: {'; '.join(shown) or 'none'}.",
        f"After games of hand-written players alone, the limit 13 less 26 is"
        f" {worded(rows[GAIN, 'limit 13 less limit 26', FIRST]['figure'], 1)} points.",
    ]


def draw(result: Result) -> dict[str, Any]:
    """The share of the win with each limit, before and after the generations."""
    figure, (axes,) = chart(height=3.0)
    dots(axes, series_of(rows_where(result, table=SHARE), lambda row: row["column"], "name"))
    level(axes, 25.0, "as good as the others", across=False)
    axes.set_xlabel("share of the win against three careful, %")
    return {"limits": figure}
