"""The tables of a suite and of a match, and the notes below them."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

from cardai.cli.show.grid import add_figures, add_names, coloured, endless_notes, fitting, grid, stacked, with_notes
from cardai.game import Game
from cardai.measure.bench_report import BenchReport, MatchStanding, MissingRow, SearchCost, SuiteResult
from cardai.playing.stats.measure import Measure, measure_of

_ResultRow = SuiteResult | MatchStanding
_SEALED = "sealed: the salt was drawn for this run, and no program could read cardai's memory or another program's"


def table(report: BenchReport[Any]) -> Any:
    """A rich renderable of the report of a suite or a match."""
    return _suite(report) if report.kind == "suite" else _match(report)


def _suite(report: BenchReport[SuiteResult]) -> Any:
    several = len({row.row for row in report.rows}) > 1
    named = [(f"{row.agent}, {row.row}" if several else row.agent, row) for row in report.rows]
    roles = _by_role(named, report.measures[1:])
    return with_notes(_notes(report), fitting(lambda is_narrow: _grid(report, is_narrow)), *roles)


def line(game: Game, result: SuiteResult) -> str:
    """One result as a line, for those who wait for the table: "B1, bot3: loss % 25.0 (23.1-26.9), n 2,000"."""
    title = measure_of(game, result.measure).title
    return f"{result.row}, {_agent_cell(result)}: {title} {result.figure}, n {result.figure.n:,}"


def _grid(report: BenchReport[SuiteResult], is_narrow: bool) -> Any:
    """The table, in sections by row of the suite. The narrow form has no games a second."""
    table = grid(report.title, is_narrow)
    labels = list(dict.fromkeys(result.agent for result in report.rows))
    table.add_column("against", no_wrap=True)
    add_names(table, "agent", [*map(_agent_cell, report.rows), *(missing.agent for missing in report.missing)])
    main, *others = _columns(report)
    table.add_column(main.title, justify="right", style="bold", no_wrap=True)
    _add_ends(table, report, is_narrow)
    add_figures(table, *(measure.title for measure in others))
    if _has_claims(report):
        add_figures(table, "claimed")
    if len(labels) > 1:
        table.add_column(f"than {labels[0]}", width=max(len("undecided"), len(labels[0])), overflow="fold")
    table.add_column("by seat", justify="right")
    add_figures(table, *(["n"] if is_narrow else ["n", "games/s"]))
    for name in dict.fromkeys(row.row for row in (*report.rows, *report.missing)):
        table.add_section()
        lines = [_cells(report, result, labels, is_narrow) for result in report.rows if result.row == name]
        lines += [[missing.agent, "not available"] for missing in report.missing if missing.row == name]
        for against, cells in zip([name, *[""] * len(lines)], lines, strict=False):
            table.add_row(against, *cells, style="dim" if cells[1] == "not available" else None)
    return table


def _columns(report: BenchReport[SuiteResult]) -> list[Measure]:
    """The measures that have a column: the suite's, and those beside it that apply to every seat."""
    return [measure for i, measure in enumerate(report.measures) if not i or not measure.by_role]


def _cells(report: BenchReport[SuiteResult], result: SuiteResult, labels: Sequence[str], is_narrow: bool) -> list[str]:
    cells = [_agent_cell(result), stacked(result.figure, is_narrow), *_ends_cells(report, result, is_narrow)]
    cells += [stacked(result.beside[measure.name], is_narrow) for measure in _columns(report)[1:]]
    if _has_claims(report):
        claim = "" if result.claim is None else f"{result.claim:g} {result.claim_verdict or ''}"
        cells.append(stacked(claim, is_narrow))
    if len(labels) > 1:
        cells.append(coloured(_verdict(report, result.row, result.agent, labels[0])))
    cells += [_seat_figures([seat.point for seat in result.by_seat], report.measures[0]), f"{result.figure.n:,}"]
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
    notes = [f"{main.title}: {main.about}, {_interval_words(report)}", *_measure_notes(report, others)]
    notes += condition_notes(report)
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


def _match(report: BenchReport[MatchStanding]) -> Any:
    unit = "all in percent" if all(measure.is_share for measure in report.measures) else "in percent or as named"
    notes = [f"{unit}, {_interval_words(report)}", *_measure_notes(report, report.measures), *condition_notes(report)]
    standings = fitting(lambda is_narrow: _standings(report, is_narrow))
    roles = _by_role([*_ranked(report).items()], report.measures)
    return with_notes(notes, standings, *roles, *([_pairs(report)] if len(report.rows) > 1 else []))


def _ranked(report: BenchReport[MatchStanding]) -> dict[str, MatchStanding]:
    """The standings by what the table calls them, the best first."""
    return {
        row.agent if row.places == 1 else f"{row.places} x {row.agent}": row
        for row in sorted(report.rows, key=lambda row: -row.score.point)
    }


def _standings(report: BenchReport[MatchStanding], is_narrow: bool) -> Any:
    table = grid(report.title, is_narrow)
    ranked = _ranked(report)
    add_names(table, "player", ranked)
    main, *others = (measure for measure in report.measures if not measure.by_role)
    table.add_column(main.title, justify="right", style="bold", no_wrap=True)
    _add_ends(table, report, is_narrow)
    add_figures(table, *(measure.title for measure in others))
    table.add_column("score by seat", justify="right")
    add_figures(table, "n")
    for name, row in ranked.items():
        figures = [stacked(row.figure(measure.name), is_narrow) for measure in others]
        cells = [stacked(row.figure(main.name), is_narrow), *_ends_cells(report, row, is_narrow), *figures]
        table.add_row(name, *cells, _seat_figures(row.by_seat, main), f"{row.score.n:,}")
    return table


def _pairs(report: BenchReport[MatchStanding]) -> Any:
    """For each measure that is compared, one line for each pair of players: the better-placed one against the other."""
    compared = {pair.measure for pair in report.verdicts}
    measures = [measure for measure in report.measures if measure.name in compared]
    table = grid("Mean score, on the same deals" if len(measures) == 1 else "The players compared on the same deals")
    order = [row.agent for row in sorted(report.rows, key=lambda row: -row.score.point)]
    if len(measures) > 1:
        table.add_column("measure", no_wrap=True)
    add_names(table, "player", order)
    add_names(table, "less", order)
    add_figures(table, "difference" if len(measures) > 1 else "points" if measures[0].is_share else measures[0].unit)
    table.add_column("verdict", no_wrap=True)
    verdicts = {(pair.measure, pair.one, pair.other): pair for pair in report.verdicts}
    for measure, names in itertools.product(measures, itertools.combinations(order, 2)):
        pair = verdicts.get((measure.name, *names))
        if pair is not None:
            title = [measure.title] if len(measures) > 1 else []
            table.add_row(*title, *names, str(pair.difference), coloured(pair.verdict))
    return table


def _add_ends(table: Any, report: BenchReport, is_narrow: bool) -> None:
    """Add columns for games won, lost and tied, if rows of a report have them."""
    if any(row.ends for row in report.rows):
        add_figures(table, *(["won\nlost\ntied", "of\ndecided %"] if is_narrow else ["won-lost-tied", "of decided %"]))


def _ends_cells(report: BenchReport, row: _ResultRow, is_narrow: bool) -> list[str]:
    """A row's cells in the columns of `_add_ends`. When narrow, the numbers of games are below each other."""
    if row.ends:
        counts = row.ends.counts.replace("-", "\n") if is_narrow else row.ends.counts
        return [counts, stacked(row.ends.of_decided, is_narrow)]
    return ["", ""] if any(other.ends for other in report.rows) else []


def _seat_figures(figures: Sequence[float], measure: Measure) -> str:
    """Returns one number for each seat, as in "52 48", with "-" for a seat without games: whole ones for shares."""
    digits = 0 if measure.is_share else 1
    return " ".join("-" if math.isnan(figure) else f"{figure:.{digits}f}" for figure in figures)


def _by_role(rows: Sequence[tuple[str, _ResultRow]], measures: Sequence[Measure]) -> list[Any]:
    """The table of the measures that apply to some seats only, such as the soloist; empty if there are none.

    `rows`: names and results. A line says of how many games of a row its figure is.
    """
    measures = [measure for measure in measures if measure.by_role]
    if not measures:
        return []
    table = grid("By role: games in which it applied")
    table.add_column("measure", no_wrap=True)
    add_names(table, "agent", [name for name, _ in rows])
    add_figures(table, "figure", "n")
    for measure in measures:
        table.add_section()
        title = f"{measure.about}{' %' if measure.is_share else ''}"
        for shown, (name, row) in zip([title, *[""] * len(rows)], rows, strict=False):
            table.add_row(shown, name, str(row.beside[measure.name]), f"{row.beside[measure.name].n:,}")
    return [table]


def _interval_words(report: BenchReport) -> str:
    """Which intervals the report's figures have."""
    is_plain = len(report.measures) == 1 and report.measure in ("score", "win", "loss")
    if report.kind == "match" or not is_plain or any(row.ends for row in report.rows):
        return (
            "95 % intervals: Wilson's with the deal as cluster for shares of games; for other means a bootstrap over "
            "deals, unless all values are 0 or 1"
        )
    kind = "bootstrap over deals" if report.measure == "score" else "Wilson's with the deal as cluster"
    return f"95 % interval ({kind})"


def _measure_notes(report: BenchReport, measures: Sequence[Measure]) -> list[str]:
    """What columns are: measures of the game with their direction (nothing for plain wins and losses), and the ends."""
    notes = [
        f"{measure.title}: {measure.about}{'; lower is better' if measure.lower_is_better else ''}"
        for measure in measures
        if measure.name not in ("score", "win", "loss")
    ]
    has_ends = any(row.ends for row in report.rows)
    return notes + ["of decided %: share of the games not tied that the agent won"] * has_ends


def condition_notes(report: BenchReport) -> list[str]:
    """Game, seed, deals, speed, and why the number of games is not the one asked for."""
    turn = "each deal once in every rotation of the line-up" if report.rotate else "seats as named, one game a deal"
    deals = "the same deals for all"
    if report.own_deals:
        turn = "every rotation of the line-up" if report.rotate else "seats as named"
        deals = "no deal played twice, since an agent runs code that may remember it"
    notes = [
        f"{report.game} {report.version}, variant {report.variant}, seed {report.seed}, {deals}, {turn}",
        f"{report.games:,} games in {report.seconds:.1f} s on {report.threads} threads",
    ]
    if report.salt:
        notes.append(f"salt {report.salt}: with the seed, it repeats the deals")
    if report.own_deals:
        notes += [f"not sealed: {reason}" for reason in report.unsealed] or [_SEALED]
    most = max((row.figure.n for row in report.rows), default=0) if report.kind == "suite" else report.games
    if not report.interrupted and not report.endless and most > report.asked:
        notes.append(f"{report.asked:,} games were asked for: rounded up to whole rotations")
    notes += endless_notes(report.endless)
    if report.interrupted:
        notes.append("stopped before the end: only finished games count")
    return notes
