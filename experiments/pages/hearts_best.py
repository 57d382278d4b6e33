"""The page of hearts-best."""

from typing import Any

from cardai.experiments.hearts_best import LAST, POINTS, SHARES
from cardai.experiments.machinery.charts import by_generation
from cardai.experiments.machinery.words import Result, about, gap, is_open, percent, rows_by_place, worded

NOTES = (
    "One round a game; the same deals for all, seats rotated. The win of a round is shared by the seats with the fewest"
    " points; 25 % is equal. Intervals treat the games of one deal as one cluster.",
    "duck, careful, pimc: against three of them by the rules `standard`. mcts: against three `rollout:100?by=random` by"
    " the rules `paper`. The paper's opponents searched by Monte Carlo too, but are not these; its figures are shown in"
    " brackets, and say how the paper's agents did against its own.",
    "after0 learned from games of `duck` and random players, after1 and so on each from games of the one before it,"
    " best longest. Without a word they play greedily; search: `ahead:best?halving`.",
)


def answers(result: Result) -> list[str]:
    rows = rows_by_place(result)
    alone, searching = (rows[SHARES, name, "pimc"] for name in (LAST, "search"))
    found = "no difference is shown" if is_open(gap(searching, alone)) else "more than chance"
    return [
        f"It gets {about(rows[SHARES, LAST, 'mcts'])} of the win against three stand-ins for the paper's search, where"
        " equal players get 25 %.",
        f"The figure is {percent(rows[SHARES, LAST, 'mcts'])}, by the paper's rules. Seats that tie share the win. The"
        " stand-ins compare moves by random play to the end of the round.",
        "The paper's five networks together got 32 % against its own search. The opponents differ, so the two cannot be"
        " compared.",
        "By the usual rules, against three that compare moves by the play of a careful player (`pimc`), it gets"
        f" {percent(alone)}. If it also searches as it plays, it gets {percent(searching)}: {found}.",
        f"It has {worded(rows[POINTS, LAST, 'mcts']['figure'], 2)} points a round against the stand-ins.",
        "The paper reports 6.27 points for five networks together against its own opponents.",
    ]


def draw(result: Result) -> dict[str, Any]:
    rows = [row for row in result["rows"] if row["table"] == SHARES and row["name"].startswith(("after", LAST))]
    columns = {column: f"against three {column}" for column in ("duck", "careful", "pimc", "mcts")}
    return {"generations": by_generation(rows, columns, "share of the win, %")}
