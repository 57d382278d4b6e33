"""The page of hearts-best."""

from dataclasses import asdict
from typing import Any

from cardai.experiments.hearts_best import LAST, POINTS, SHARES
from cardai.experiments.machinery.charts import chart, key, lines
from cardai.experiments.machinery.findings import Measurement, difference
from cardai.experiments.machinery.words import Result, interval_of, is_open, rows_by_place, worded

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
    """The answer in one line, then what else the table shows."""
    rows = rows_by_place(result)
    share, points = rows[SHARES, LAST, "mcts"]["figure"], rows[POINTS, LAST, "mcts"]["figure"]
    alone, searching = (rows[SHARES, name, "pimc"]["figure"] for name in (LAST, "search"))
    gap = asdict(difference(Measurement(**searching), Measurement(**alone)))
    return [
        f"Trained here, it gets {worded(share, 1, ' %')} of the win (seats that tie share it), where a fair share is"
        " 25 %, by the paper's rules against three stand-ins for the paper's search, which compare moves by random play"
        " to the end of the round; the paper's five networks together got 32 % against its own search, so the two"
        " cannot be compared. By the usual rules the same network, against three that compare moves by the play of a"
        f" careful player (`pimc`), gets {worded(alone, 1, ' %')}; if it also searches as it plays,"
        f" {worded(searching, 1, ' %')}: {'no difference is shown' if is_open(gap) else 'more than chance'}.",
        f"It has {worded(points, 2)} points a round against the stand-ins.",
        "The paper reports 6.27 points for five networks together against its own opponents.",
    ]


def in_readme(result: Result) -> tuple[str, str, str]:
    """Question, answer and the source's figure."""
    row = rows_by_place(result)[SHARES, LAST, "mcts"]
    return (
        "Hearts: share of the win against three stand-ins for the paper's search (fair share 25 %)",
        f"one network {worded(row['figure'], 1, ' %')}, n {row['figure']['n']:,}",
        "five networks 32.0 %",
    )


def draw(result: Result) -> dict[str, Any]:
    """The share of the win by generation."""
    figure, (axes,) = chart(height=3.8)
    rows, names = rows_by_place(result), _generations(result)
    columns = ("duck", "careful", "pimc", "mcts")
    lines(
        axes,
        {
            f"against three {column}": [
                (place, *interval_of(rows[SHARES, name, column])) for place, name in enumerate(names)
            ]
            for column in columns
        },
    )
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel("share of the win, %")
    key(figure)
    return {"generations": figure}


def _generations(result: Result) -> list[str]:
    """The names of the networks, in order."""
    return [
        name
        for name in dict.fromkeys(row["name"] for row in result["rows"])
        if name.startswith("after") or name == LAST
    ]
