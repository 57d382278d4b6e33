"""The table of a suite: one line for each agent in each row of the suite."""

from collections.abc import Sequence
from typing import Any

from cardai.game import Game
from cardai.measure.bench_report import BenchReport, MissingRow, SearchCost, SuiteResult
from cardai.show.conditions import condition_notes, ends_notes, interval_words, measure_notes
from cardai.show.grid import (
    add_ends,
    add_figures,
    add_names,
    by_role,
    coloured,
    ends_cells,
    fitting,
    grid,
    seat_figures,
    stacked,
    with_notes,
)
from cardai.stats.measure import Measure, measure_of


def table(report: BenchReport[SuiteResult]) -> Any:
    """A rich renderable of a suite's report."""
    several = len({row.row for row in report.rows}) > 1
    named = [(f"{row.agent}, {row.row}" if several else row.agent, row) for row in report.rows]
    roles = by_role(named, report.measures[1:], False)
    return with_notes(_notes(report), fitting(lambda is_narrow: _grid(report, is_narrow)), *roles)


def line(game: Game, result: SuiteResult) -> str:
    """One result as a line, for those who wait for the table: "B1, bot3: loss % 25.0 (23.1-26.9), n 2,000"."""
    title = measure_of(game, result.measure).title
    return f"{result.row}, {_agent_cell(result)}: {title} {result.figure}, n {result.figure.n:,}"


def _grid(report: BenchReport[SuiteResult], is_narrow: bool) -> Any:
    """The table, in sections by row of the suite. The narrow form has no games a second."""
    table = grid(report.title, is_narrow)
    labels = list(dict.fromkeys(result.agent for result in report.rows))
    has_claims = _has_claims(report)
    table.add_column("against", no_wrap=True)
    add_names(table, "agent", [*map(_agent_cell, report.rows), *(missing.agent for missing in report.missing)])
    main, *others = _columns(report)
    table.add_column(main.title, justify="right", style="bold", no_wrap=True)
    add_ends(table, report.rows, is_narrow)
    add_figures(table, *(measure.title for measure in others))
    if has_claims:
        add_figures(table, "claimed")
    if len(labels) > 1:
        table.add_column(f"than {labels[0]}", width=max(len("undecided"), len(labels[0])), overflow="fold")
    table.add_column("by seat", justify="right")
    add_figures(table, *(["n"] if is_narrow else ["n", "games/s"]))
    for name in dict.fromkeys(row.row for row in (*report.rows, *report.missing)):
        table.add_section()
        lines = [_cells(report, result, labels, has_claims, is_narrow) for result in report.rows if result.row == name]
        lines += [[missing.agent, "not available"] for missing in report.missing if missing.row == name]
        for against, cells in zip([name, *[""] * len(lines)], lines, strict=False):
            table.add_row(against, *cells, style="dim" if cells[1] == "not available" else None)
    return table


def _columns(report: BenchReport[SuiteResult]) -> list[Measure]:
    """The measures that have a column: the suite's, and those beside it that apply to every seat."""
    return [measure for i, measure in enumerate(report.measures) if not i or not measure.by_role]


def _cells(
    report: BenchReport[SuiteResult], result: SuiteResult, labels: Sequence[str], has_claims: bool, is_narrow: bool
) -> list[str]:
    cells = [_agent_cell(result), stacked(result.figure, is_narrow), *ends_cells(report.rows, result, is_narrow)]
    cells += [stacked(result.beside[measure.name], is_narrow) for measure in _columns(report)[1:]]
    if has_claims:
        claim = "" if result.claim is None else f"{result.claim:g} {result.claim_verdict or ''}"
        cells.append(stacked(claim, is_narrow))
    if len(labels) > 1:
        cells.append(coloured(_verdict(report, result.row, result.agent, labels[0])))
    cells += [seat_figures([seat.point for seat in result.by_seat], report.measures[0]), f"{result.figure.n:,}"]
    return cells if is_narrow else [*cells, f"{result.games_per_second:,.0f}"]


def _verdict(report: BenchReport[SuiteResult], row: str, agent: str, other: str) -> str:
    """The verdict on an agent against another one in a row by the suite's measure, empty if they were not compared."""
    wanted = report.measure, row, agent, other
    verdicts = (pair.verdict for pair in report.verdicts if (pair.measure, pair.row, pair.one, pair.other) == wanted)
    return next(verdicts, "")


def _agent_cell(result: SuiteResult) -> str:
    return f"{result.agent}{' *' if _is_mirror(result) else ''}{' (stopped)' if result.interrupted else ''}"


def _is_mirror(result: SuiteResult) -> bool:
    return {*result.partners, *result.opponents} == {result.agent}


def _has_claims(report: BenchReport[SuiteResult]) -> bool:
    return any(result.claim is not None for result in report.rows)


def _line_up(row: SuiteResult | MissingRow) -> str:
    """Who sat with the agent and who against it: "against 3 x bot3"."""
    own = [f"{row.places} seats of the agent"] if row.places > 1 else []
    own += [f"with {_counted(row.partners)}"] if row.partners else []
    return ", ".join([*own, f"against {_counted(row.opponents)}"])


def _counted(agents: Sequence[str]) -> str:
    counts = {agent: agents.count(agent) for agent in agents}
    return " + ".join(agent if count == 1 else f"{count} x {agent}" for agent, count in counts.items())


def _search_words(search: SearchCost, agent: str, row: str) -> str:
    """What the search of an agent cost in a row, and whom it had in mind."""
    time = f"{search.milliseconds:.2g} ms a decision" if search.decisions else "asks its evaluator in batches"
    note = f"{agent} in {row}: {time}; it thinks that the others play as {search.others}"
    return f"{note}, and here they do: it exploits them" if search.exploits else note


def _notes(report: BenchReport[SuiteResult]) -> list[str]:
    main, *others = report.measures
    notes = [f"{main.title}: {main.about}, {interval_words(report)}", *measure_notes(others)]
    notes += [*ends_notes(report), *condition_notes(report)]
    line_ups = {row.row: _line_up(row) for row in (*report.rows, *report.missing)}
    notes += [f"{name}: {line_up}" for name, line_up in line_ups.items()]
    if _has_claims(report):
        games = f", from {report.claim_games:,} games each" if report.claim_games else ""
        notes.append(
            f"claimed: published figures ({report.source or 'by the suite'}{games}); our figure agrees with the claim, "
            "or is lower or higher beyond the interval of their difference"
        )
    notes += [_search_words(row.search, row.agent, row.row) for row in report.rows if row.search]
    if any(_is_mirror(result) for result in report.rows):
        notes.append("* all seats play alike: the rotations of a deal are one game, counted from each side")
    notes += [f"{missing.row}, {missing.agent}: not available: {missing.reason}" for missing in report.missing]
    if report.unplayed:
        notes.append(f"stopped: {report.unplayed} rows were not begun")
    return notes
