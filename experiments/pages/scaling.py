"""The page of scaling."""

from typing import Any

from experiments.machinery.charts import chart, key, lines
from experiments.machinery.words import Result, interval_of, listed, worded

NOTES = (
    "Speed-up: games a second divided by those with one thread in the same repeat; Student's interval over repeats.",
    "Use of the processors: processor seconds of the process for each second and thread. 100 % is all there is.",
    "A network computes on all processors, whatever the number of threads that play; its speed-up is that of the play"
    " alone.",
)


def answers(result: Result) -> list[str]:
    """The answer in one line."""
    rows = [row for row in result["rows"] if row["claim"]]
    if not rows:
        return ["Nothing is answered: this machine has one processor."]
    parts = [f"{worded(row['figure'], 2)} times as fast for {_agent(row)}" for row in rows]
    return [f"With {rows[0]['name']} instead of one, Moska runs {listed(parts)}."]


def _agent(row: Any) -> str:
    return row["table"].rpartition(" ")[2]


def draw(result: Result) -> dict[str, Any]:
    """Speed-up and use of the processors over the number of threads."""
    figure, panels = chart(2, height=2.7)
    for axes, column in zip(panels, ("speed-up", "use of the processors, %"), strict=True):
        series: dict[str, list[Any]] = {}
        for row in result["rows"]:
            if row["column"] == column:
                threads = int(row["name"].split()[0])
                series.setdefault(_agent(row), []).append((threads, *interval_of(row)))
        lines(axes, series)
        axes.set_xlabel("threads")
        axes.set_xticks(sorted({threads for points in series.values() for threads, *_ in points}))
        axes.set_ylabel(column)
        axes.set_ylim(bottom=0)
    key(figure, columns=3)
    return {"threads": figure}
