"""The page of strength."""

from collections.abc import Mapping, Sequence
from typing import Any

from cardai.experiments.machinery.charts import chart, key, lines, logarithmic
from cardai.experiments.machinery.words import Result, listed, percent, rows_by_place, rows_where, series_of
from cardai.experiments.strength import (
    AHEAD,
    BUDGETS,
    CONTESTS,
    ENDING,
    KNOWN,
    MILLISECONDS,
    PLAIN,
    Contest,
    column_of,
)

NOTES = (
    "All agents of a game play the same deals, seats are rotated. Wilson interval; games of one deal form"
    " one cluster. The more time, the fewer games: each row in full says how many.",
    "PIMC (perfect-information Monte Carlo) is `rollout`, or `epimc` with a depth of 1; ISMCTS is information-set"
    " Monte-Carlo tree search; EPIMC is PIMC in which hands are known after two choices. With judge=, the game's"
    " network judges the next positions; without it games are played out by the game's player for that.",
    "The form of a search was chosen on other deals: at 1 ms in Moska, Hearts and Durak with throw-in rules. Durak by"
    " the report's rules has the same; Tic-Tac-Toe and Literature were not tried. Its number of worlds or iterations"
    " was set for 1, 10 or 100 ms there, so its games can be repeated anywhere. The column of ms says what it took:"
    " `ahead` in Moska took four times as long as meant at 1 ms.",
    "ISMCTS explores with its usual factor, bonus=0.7. On other deals (seed 777, 2,000 games a figure, 1 ms), 0.05,"
    " 0.15 and 0.3 lost 13.0 (10.6 to 15.4), 9.2 (6.8 to 11.5) and 4.0 (1.7 to 6.3) points more in Durak with throw-in"
    " rules, and 1.2 as many as 0.7. In Hearts 0.3 had 1.6 (0.1 to 3.1) points less; no other one there and none in"
    " Moska was told apart from 0.7.",
    "ms a decision: processor time with the agent in all seats and in one thread, divided by the decisions with a"
    " choice. It depends on the machine and on what else runs there: where caches are shared, searches by a network"
    " take up to twice as long.",
    f'"{KNOWN.removeprefix(", ")}", in charts "known": the opponents play just as the agent assumes in its worlds, so'
    " it knows their plan. Such a figure says little about other opponents.",
    "Tables of differences: both play the same deals against the first opponents. Better or worse is said only if the"
    " 95 % interval excludes 0; with many comparisons, one of twenty does so by chance. Fewer than ten deals have no"
    " interval, and count for nothing.",
    "What is missing was not measured: one world takes too long, the tree of EPIMC is full, or the opponents are not"
    " the first ones and the time is above 1 ms.",
    "docs/agents.md explains the agents and their options. Tic-Tac-Toe hides nothing, so there all worlds are alike.",
)


def _clear(title: str) -> str:
    """A title of `CONTESTS` that does not leave open which report is meant."""
    return title.replace("rules of the report", "the student report's rules")


LABELS = {title: _clear(title) for contest in CONTESTS.values() for title in (contest.table, contest.differences)}


def answers(result: Result) -> list[str]:
    return [_headline(result), *_verdicts(result), *(_answer(result, contest) for contest in CONTESTS.values())]


def _headline(result: Result) -> str:
    """How often another search is shown to be better than `ahead` at equal time, and how often worse."""
    found = [_side(row, contest) for contest in CONTESTS.values() for row in _compared(result, contest)]
    better, worse = found.count(1), found.count(-1)
    return f"At equal time other searches beat `{AHEAD}` in {better} of {len(found)} comparisons, and lose in {worse}."


def _compared(result: Result, contest: Contest) -> list[Mapping[str, Any]]:
    return _settled(rows_where(result, table=contest.differences))


def _settled(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows that have an interval: of a few deals there is none."""
    return [row for row in rows if row["figure"]["low"] is not None]


def _side(row: Mapping[str, Any], contest: Contest) -> int:
    """1 if the difference is shown to be for the better, -1 if for the worse, 0 if that is undecided."""
    low, high = row["figure"]["low"], row["figure"]["high"]
    if low <= 0 <= high:
        return 0
    return 1 if (high < 0) == contest.lower_is_better else -1


def _verdicts(result: Result) -> list[str]:
    """For each other search, in which contests and at what time it is better or worse than `ahead`."""
    found: dict[str, dict[int, list[str]]] = {}
    for contest in CONTESTS.values():
        for row in _compared(result, contest):
            sides = found.setdefault(row["name"], {1: [], -1: [], 0: []})
            sides[_side(row, contest)].append(f"{_clear(contest.title)} ({row['column']})")

    def told(sides: Mapping[int, Sequence[str]]) -> str:
        shown = [f"{word} in {listed(sides[side])}" for side, word in ((1, "better"), (-1, "worse")) if sides[side]]
        return "; ".join([*shown, f"undecided in {len(sides[0])} comparisons"])

    return [f"{family} beside `{AHEAD}`: {told(sides)}." for family, sides in found.items()]


def _answer(result: Result, contest: Contest) -> str:
    """The best search at each budget against the first opponents, and the best agent without a budget."""
    sign = 1 if contest.lower_is_better else -1
    rows = rows_where(result, table=contest.table, column=contest.main)

    def best(place: int) -> str:
        own = [row for row in rows if contest.agents()[row["name"]][1] == place]
        if not own:
            return ""
        when = f"at {column_of(BUDGETS[place])} " if place >= 0 else "without such a search "
        if not (settled := _settled(own)):
            return f"{when}too few games for an interval"
        row = min(settled, key=lambda row: sign * row["figure"]["point"])
        return f"{when}`{row['name']}`, {percent(row)}"

    found = "; ".join(text for place in (0, 1, 2, -1) if (text := best(place)))
    return f"{_clear(contest.title)}, against {contest.main}, {contest.counted}: {found}."


def _milliseconds(result: Result, row: Mapping[str, Any]) -> float:
    return rows_by_place(result)[row["table"], row["name"], MILLISECONDS]["figure"]["point"]


def draw(result: Result) -> dict[str, Any]:
    return {name: _drawn(result, contest) for name, contest in CONTESTS.items()}


def _drawn(result: Result, contest: Contest) -> Any:
    agents = contest.agents()

    def series(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        return series_of(
            rows,
            lambda row: agents[row["name"]][0] + (", known" if row["column"].endswith(KNOWN) else ""),
            lambda row: _milliseconds(result, row),
        )

    own = [row for row in rows_where(result, table=contest.table) if row["column"] != MILLISECONDS]
    named = dict.fromkeys(series(own), ())  # the same colours in all panels
    figure, panels = chart(len(contest.opponents), height=3.0)
    for axes, opponents in zip(panels, contest.opponents, strict=True):
        drawn = named | series([row for row in own if row["column"].removesuffix(KNOWN) == opponents])
        for joined in (True, False):  # searches are joined over their budgets
            lines(axes, {name: points * (joined != name.startswith((PLAIN, ENDING))) for name, points in drawn.items()},
                  joined=joined)  # fmt: skip
        logarithmic(axes.xaxis)
        axes.set(title=f"against {opponents}", xlabel="ms a decision", ylabel=f"{contest.counted}, %")
        if contest.lower_is_better:
            axes.set_ylim(bottom=-2)  # so that points at 0 are whole
    key(figure)
    return figure
