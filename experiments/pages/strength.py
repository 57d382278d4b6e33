"""The page of strength."""

from collections.abc import Mapping, Sequence
from typing import Any

from cardai.experiments.machinery.charts import chart, key, lines, logarithmic
from cardai.experiments.machinery.words import Result, about, percent, rows_by_place, rows_where, series_of
from cardai.experiments.strength import CONTESTS, ENDING, ITSELF, KNOWN, MILLISECONDS, PLAIN, PLAYER, Contest, table_of

NOTES = (
    "All agents of a game play the same deals, seats are rotated. Wilson interval; games of one deal form"
    " one cluster. Agents that do not search play more games: each row in full says how many.",
    f'"{KNOWN.removeprefix(", ")}", in charts "known": the opponents play just as the agent assumes in its worlds, so'
    " it knows their plan. Such a figure says little about other opponents.",
    "ms a decision: wall time with the agent in all seats and in one thread, divided by the decisions with a choice;"
    " Student-t interval over repeats. It depends on the machine, and on what else runs there.",
    f"Charts: {ITSELF} assumes that the others play by its own judge. {PLAYER} assumes that they play as the option"
    f" others says. {ENDING} is an agent of another kind that also plays endings without mistakes.",
    "The answers name the best agent of several, with a search and without one. The best of several has a figure that"
    " is somewhat too good, because chance has helped to choose it. The first line calls a search better only where"
    " the two intervals do not overlap.",
    "docs/agents.md explains ahead, rollout, endgame and their options. Tic-Tac-Toe hides nothing, so there all worlds"
    " are alike, and endgame solves every position.",
)


def _clear(title: str) -> str:
    """A title of `CONTESTS` that does not leave open which report is meant."""
    return title.replace("rules of the report", "the student report's rules")


LABELS = {table_of(contest): _clear(table_of(contest)) for contest in CONTESTS.values()}


def answers(result: Result) -> list[str]:
    better = [contest for contest in CONTESTS.values() if _helps(result, contest)]
    rest = [_clear(contest.title) for contest in CONTESTS.values() if contest not in better]
    return [
        _headline(result, better),
        *([f"No search is shown to be better in: {'; '.join(rest)}."] if better and rest else []),
        *(_answer(result, contest) for contest in CONTESTS.values()),
    ]


def _headline(result: Result, better: Sequence[Contest]) -> str:
    """In how many contests the best search is better than the best agent without one, and the first of them."""
    if not better:
        return "No agent that searches over worlds is shown to be better than the best one without search."
    searching, unaided = _best(result, better[0])
    assert searching is not None
    return (
        f"A search helps in {len(better)} of {len(CONTESTS)} contests."
        f" {_clear(better[0].title)}, against {next(iter(better[0].opponents))}: {better[0].counted.lower()}"
        f" {about(searching)} instead of {about(unaided)}."
    )


def _helps(result: Result, contest: Contest) -> bool:
    """Whether the best agent with a search is shown to be better than the best one without."""
    searching, unaided = _best(result, contest)
    return searching is not None and _is_better(contest, searching, unaided)


def _best(result: Result, contest: Contest) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
    """The best agent with a search (None without any) and without, against the first opponents of a contest.

    Agents that know the plan of these opponents are left out.
    """
    opponents, families = next(iter(contest.opponents)), contest.agents()
    rows = rows_where(result, table=table_of(contest), column=opponents)
    best_first = sorted(rows, key=lambda row: row["figure"]["point"] * (1 if contest.lower_is_better else -1))
    searching = (row for row in best_first if families[row["name"]] != PLAIN)
    return next(searching, None), next(row for row in best_first if families[row["name"]] == PLAIN)


def _is_better(contest: Contest, row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a row's interval lies wholly on the better side of another one's."""
    lower, higher = (row, other) if contest.lower_is_better else (other, row)
    bounds = lower["figure"]["high"], higher["figure"]["low"]
    return None not in bounds and bounds[0] < bounds[1]


def _answer(result: Result, contest: Contest) -> str:
    """The strongest agent against the first opponents whose plan it does not know, beside one without search."""
    searching, unaided = _best(result, contest)
    sign = 1 if contest.lower_is_better else -1
    what = {
        "loss": "loses {} of its games",
        "share": "gets {} of the win",
        "score": "scores {}, a tie counted half,",
    }[contest.measure]

    def figures(row: Mapping[str, Any]) -> str:
        return f"`{row['name']}` {what.format(percent(row))} at {_milliseconds(result, row):.2g} ms a decision"

    against = f"{_clear(contest.title)}, against {next(iter(contest.opponents))}:"
    if searching is None or sign * (searching["figure"]["point"] - unaided["figure"]["point"]) >= 0:
        return f"{against} {figures(unaided)}. No agent that searches does better."
    return f"{against} {figures(searching)}. Without a search {figures(unaided)}."


def _milliseconds(result: Result, row: Mapping[str, Any]) -> float:
    return rows_by_place(result)[row["table"], row["name"], MILLISECONDS]["figure"]["point"]


def draw(result: Result) -> dict[str, Any]:
    """Strength over the time of a decision: a figure for each contest, a panel for each kind of opponents."""
    return {name: _drawn(result, contest) for name, contest in CONTESTS.items()}


def _drawn(result: Result, contest: Contest) -> Any:
    families = contest.agents()

    def series(rows: list[Mapping[str, Any]]) -> dict[str, list[Any]]:
        return series_of(
            rows,
            lambda row: families[row["name"]] + (", known" if row["column"].endswith(KNOWN) else ""),
            lambda row: _milliseconds(result, row),
        )

    own = [row for row in rows_where(result, table=table_of(contest)) if row["column"] != MILLISECONDS]
    named = dict.fromkeys(series(own), ())  # the same colours in all panels
    figure, panels = chart(len(contest.opponents), height=3.0)
    for axes, opponents in zip(panels, contest.opponents, strict=True):
        lines(
            axes, named | series([row for row in own if row["column"].removesuffix(KNOWN) == opponents]), joined=False
        )
        logarithmic(axes.xaxis)
        axes.set(title=f"against {opponents}", xlabel="ms a decision", ylabel=f"{contest.counted}, %")
        if contest.lower_is_better:
            axes.set_ylim(bottom=-2)  # so that points at 0 are whole
    key(figure)
    return figure
