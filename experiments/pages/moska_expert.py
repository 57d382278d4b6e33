"""The page of moska-expert."""

from typing import Any

from experiments.machinery.charts import chart, key, lines
from experiments.machinery.words import Result, interval_of, rows_by_place, worded
from experiments.moska_expert import LOST

NOTES = (
    "Games lost: the same deals for all, seats rotated. Wilson interval; games of one deal form one cluster.",
    "B1: three Bot3. N1: three times the network `best`, which learned from how games ended; 25 % is equal.",
    "expert1, expert2 and so on are the generations. Without a word they play greedily; search: `ahead:MODEL?halving`,"
    " which thinks that the others play as its own network does; others Bot3: it thinks that they are Bot3, which is"
    " true in B1, so that it exploits them there.",
)


def answers(result: Result) -> list[str]:
    """The answer in one line, then what else the table shows."""
    rows, names = rows_by_place(result), list(dict.fromkeys(row["name"] for row in result["rows"]))
    last = [name for name in names if name.startswith("expert") and "," not in name][-1]
    before, after = rows[LOST, "best", "N1"], rows[LOST, last, "N1"]
    searching = rows[LOST, f"{last}, search", "N1"]
    return [
        f"After {last.removeprefix('expert')} generations the network loses {worded(after['figure'], 1, ' %')} of its"
        f" games against three of the network it began with, which itself loses {worded(before['figure'], 1, ' %')}"
        " there.",
        f"As the judge of a search over worlds it loses {worded(searching['figure'], 1, ' %')}.",
    ]


def draw(result: Result) -> dict[str, Any]:
    """The games lost by generation."""
    figure, (axes,) = chart(height=3.8)
    rows = rows_by_place(result)
    names = [name for name in dict.fromkeys(row["name"] for row in result["rows"]) if "," not in name]
    columns = {"against three Bot3": "B1", "against three of best": "N1"}
    lines(
        axes,
        {
            words: [(place, *interval_of(rows[LOST, name, column])) for place, name in enumerate(names)]
            for words, column in columns.items()
        },
    )
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel("games lost, %")
    key(figure)
    return {"generations": figure}
