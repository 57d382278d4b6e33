"""The page of scaling."""

from collections.abc import Mapping
from typing import Any

from cardai.experiments.machinery.charts import chart, key, lines
from cardai.experiments.machinery.words import Result, rows_by_place, rows_where, series_of, worded
from cardai.experiments.scaling import AGENTS

NOTES = (
    "Speed-up: games a second divided by those with one thread in the same repeat; Student-t interval over repeats.",
    "CPU time / (wall time x playing threads): 100 % means that every playing thread computes all the time. Above 100 %"
    " the network's own threads are working too.",
)

USED = "use of the processors, %"
LABELS = {USED: "CPU time / (wall time x playing threads), %"} | {
    f"Moska, 4 x {agent}": f"Moska, four {agent} players" for agent in AGENTS
}


def answers(result: Result) -> list[str]:
    rows = [row for row in result["rows"] if row["claim"]]
    if not rows:
        return ["Nothing is answered: this machine has one processor."]
    processors = " and ".join(dict.fromkeys(str(machine["usable_cpus"]) for machine in result["machines"]))
    least, most = (choose(row["figure"]["point"] for row in rows) for choose in (min, max))
    return [
        f"On {processors} processors, {rows[0]['name']} instead of one play {least:.1f} to {most:.1f} times as many"
        " games a second.",
        *(f"With four {_named(row)}: {_faster(result, row)}." for row in rows),
    ]


def _faster(result: Result, row: Mapping[str, Any]) -> str:
    """A row's speed-up in words, with the reason why a network gains nothing."""
    figure = row["figure"]
    words = f"{worded(figure, 2)} times as many games a second"
    if figure["high"] is None or figure["high"] >= 1:
        return words
    used = rows_by_place(result)[row["table"], "1 thread", USED]["figure"]["point"]
    return f"{words}, as one thread already keeps {used / 100:.1f} processors at work" if used > 110 else words


def _agent(row: Any) -> str:
    return row["table"].rpartition(" ")[2]


def _named(row: Any) -> str:
    return {"greedy:best": "players that use the network `best`", "bot3": "Bot3"}.get(
        _agent(row), f"{_agent(row)} players"
    )


def draw(result: Result) -> dict[str, Any]:
    figure, panels = chart(2, height=2.7)
    for axes, column in zip(panels, ("speed-up", USED), strict=True):
        series = series_of(rows_where(result, column=column), _agent, lambda row: int(row["name"].split()[0]))
        lines(axes, series)
        axes.set(
            xlabel="playing threads", ylabel="CPU use, %" if column == USED else column, ylim=(0, None),
            xticks=sorted({threads for points in series.values() for threads, *_ in points}),
        )  # fmt: skip
    key(figure, columns=3)
    return {"threads": figure}
