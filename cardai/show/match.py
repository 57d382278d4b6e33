"""The tables of a match: each player's results, and every pair of players compared."""

import itertools
from typing import Any

from cardai.measure.bench_report import BenchReport, MatchStanding
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


def table(report: BenchReport[MatchStanding]) -> Any:
    """A rich renderable of a match's report."""
    unit = "all in percent" if all(measure.is_share for measure in report.measures) else "in percent or as named"
    notes = [f"{unit}, {interval_words(report)}", *measure_notes(report.measures)]
    notes += [*ends_notes(report), *condition_notes(report)]
    standings = fitting(lambda is_narrow: _standings(report, is_narrow))
    roles = by_role([*_ranked(report).items()], report.measures, False)
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
    add_ends(table, report.rows, is_narrow)
    add_figures(table, *(measure.title for measure in others))
    table.add_column("score by seat", justify="right")
    add_figures(table, "n")
    for name, row in ranked.items():
        figures = [stacked(row.figure(measure.name), is_narrow) for measure in others]
        cells = [stacked(row.figure(main.name), is_narrow), *ends_cells(report.rows, row, is_narrow), *figures]
        table.add_row(name, *cells, seat_figures(row.by_seat, main), f"{row.score.n:,}")
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
