"""The page of strength."""

from collections.abc import Mapping
from typing import Any

from experiments.machinery.charts import chart, key, lines, logarithmic
from experiments.machinery.words import Result, interval_of, rows_by_place, worded
from experiments.strength import CONTESTS, ENDING, ITSELF, KNOWN, MILLISECONDS, PLAIN, PLAYER, Contest, table_of

NOTES = (
    "All agents of a game play the same deals, seats are rotated. Wilson interval; games of one deal form"
    " one cluster. Agents that do not search play more games: each row in full says how many.",
    f'"{KNOWN.removeprefix(", ")}", in charts "known": the opponents play just as the agent assumes in its worlds, so'
    " it knows their plan. Such a figure says little about other opponents.",
    "ms a decision: wall time with the agent in all seats and in one thread, divided by the decisions with a choice;"
    " Student-t interval over repeats. It depends on the machine, and on what else runs there.",
    f"Charts: {ITSELF} assumes that the others play by its own judge, {PLAYER} that they play as the option others"
    f" says. {ENDING} is an agent of another kind that also plays endings without mistakes.",
    "The answer names the agent with the lowest figure among several. The lowest of several is somewhat too low,"
    " because chance has helped to choose it.",
    "docs/agents.md explains ahead, rollout, endgame and their options. Tic-Tac-Toe hides nothing, so there all worlds"
    " are alike, and endgame solves every position.",
)


def answers(result: Result) -> list[str]:
    """The answer in one line for each contest."""
    return [_answer(result, contest) for contest in CONTESTS.values()]


def _answer(result: Result, contest: Contest) -> str:
    """The strongest agent against the first opponents whose plan it does not know, beside one without search."""
    opponents, families = next(iter(contest.opponents)), contest.agents()
    rows = [row for row in result["rows"] if (row["table"], row["column"]) == (table_of(contest), opponents)]
    best_first = sorted(rows, key=lambda row: row["figure"]["point"] * (1 if contest.lower_is_better else -1))
    strongest, unaided = best_first[0], next(row for row in best_first if families[row["name"]] == PLAIN)
    what = {
        "loss": "loses {} of its games",
        "share": "gets {} of the win",
        "score": "scores {}, a tie counted half,",
    }[contest.measure]
    said = f"{contest.title}: against {opponents} `{strongest['name']}` {_figures(result, strongest, what)}"
    if strongest is unaided:
        return f"{said}; no agent that searches does better."
    return f"{said}; without search `{unaided['name']}` {_figures(result, unaided, what)}."


def _figures(result: Result, row: Mapping[str, Any], what: str) -> str:
    return f"{what.format(worded(row['figure'], 1, ' %'))} at {_milliseconds(result, row):.2g} ms a decision"


def _milliseconds(result: Result, row: Mapping[str, Any]) -> float:
    return rows_by_place(result)[row["table"], row["name"], MILLISECONDS]["figure"]["point"]


def draw(result: Result) -> dict[str, Any]:
    """Strength over the time of a decision: a figure for each contest, a panel for each kind of opponents."""
    return {name: _drawn(result, contest) for name, contest in CONTESTS.items()}


def _drawn(result: Result, contest: Contest) -> Any:
    own = [row for row in result["rows"] if row["table"] == table_of(contest) and row["column"] != MILLISECONDS]
    named = list(dict.fromkeys(_series(contest, row) for row in own))
    figure, panels = chart(len(contest.opponents), height=3.0)
    for axes, opponents in zip(panels, contest.opponents, strict=True):
        series: dict[str, list[Any]] = {name: [] for name in named}  # the same colours in all panels
        for row in own:
            if row["column"].removesuffix(KNOWN) == opponents:
                series[_series(contest, row)].append((_milliseconds(result, row), *interval_of(row)))
        lines(axes, series, joined=False)
        logarithmic(axes.xaxis)
        axes.set_title(f"against {opponents}")
        axes.set_xlabel("ms a decision")
        axes.set_ylabel(f"{contest.counted}, %")
        if contest.lower_is_better:
            axes.set_ylim(bottom=-2)  # so that points at 0 are whole
    key(figure)
    return figure


def _series(contest: Contest, row: Mapping[str, Any]) -> str:
    """The line of the chart that a row belongs to."""
    return contest.agents()[row["name"]] + (", known" if row["column"].endswith(KNOWN) else "")
