"""The page of style."""

from typing import Any

from cardai.experiments.machinery.charts import dotted
from cardai.experiments.machinery.words import Result, points, rows_where, series_of, size_of, worded
from cardai.experiments.style import AGENTS, CLAIMED, MORE, USED, WEAKER

NOTES = (
    "Four of a kind at the table; decisions with more than one legal move. An even choice: each of the legal moves that"
    " the question is about is as likely. Only decisions where both answers are legal are asked.",
    "A set: two cards of a rank in hand, or more. Asked where one card is played at the target.",
    "Weaker and stronger hands: of the targets, by the mean rank of their cards, where a trump counts 13 more. The"
    " agents do not see these hands; they know some of their cards.",
    "Intervals are bootstrapped over games.",
)

LABELS = {name: f"{name} (`{spec}`)" for name, spec in AGENTS.items()}


def answers(result: Result) -> list[str]:
    own = [row for row in rows_where(result, table=MORE) if row["column"] == CLAIMED]
    shown = [row for row in own if (row["figure"]["low"] or 0) > 0]
    fewer = [row for row in own if (row["figure"]["high"] or 0) < 0]
    bot = [row for row in rows_where(result, table=MORE, column="Bot3") if (row["figure"]["low"] or 0) > 0]
    weaker = next(row for row in rows_where(result, table=WEAKER) if row["column"] == CLAIMED)
    kinds = [row for row in rows_where(result, table=USED) if row["column"] == CLAIMED]
    used = sum((row["figure"]["point"] or 0) > 0 for row in kinds)
    return [
        f"Of {len(own)} habits that the thesis describes, {CLAIMED} shows {len(shown)}; Bot3, which has no network,"
        f" shows {len(bot)}.",
        *(f"More often than an even choice, by {points(row, 0)}: it {row['name']}." for row in shown),
        *(f"Less often, by {points(size_of(row['figure']), 0)}: it {row['name']}." for row in fewer),
        f"Attacks on the weaker half of hands less those on the stronger: {worded(weaker['figure'], 1)} percentage"
        " points.",
        f"It uses {used} of {len(kinds)} kinds of move.",
    ]


def draw(result: Result) -> dict[str, Any]:
    series, words = series_of(rows_where(result, table=MORE), "column", "name"), "more often than an even choice"
    return {"habits": dotted(series, f"{words}, percentage points", 3.2, (0.0, "an even choice"))}
