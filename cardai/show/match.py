"""The tables of a match: each player's results, and every pair of players compared."""

import itertools
from typing import Any

from cardai.measure.bench_report import BenchReport, MatchStanding
from cardai.show.conditions import condition_notes, interval_words
from cardai.show.grid import add_figures, add_names, coloured, fitting, grid, seat_figures, stacked, with_notes


def table(report: BenchReport[MatchStanding]) -> Any:
    """A rich renderable of a match's report."""
    notes = [f"all in percent, {interval_words(report)}", *condition_notes(report)]
    standings = fitting(lambda is_narrow: _standings(report, is_narrow))
    return with_notes(notes, standings, *([_pairs(report)] if len(report.rows) > 1 else []))


def _standings(report: BenchReport[MatchStanding], is_narrow: bool) -> Any:
    table = grid(report.title, is_narrow)
    ranked = {
        row.agent if row.places == 1 else f"{row.places} x {row.agent}": row
        for row in sorted(report.rows, key=lambda row: -row.score.point)
    }
    add_names(table, "player", ranked)
    table.add_column("score %", justify="right", style="bold", no_wrap=True)
    add_figures(table, "win %", "loss %")
    table.add_column("score by seat", justify="right")
    add_figures(table, "n")
    for name, row in ranked.items():
        figures = (stacked(estimate, is_narrow) for estimate in (row.score, row.win, row.loss))
        table.add_row(name, *figures, seat_figures(row.by_seat), f"{row.score.n:,}")
    return table


def _pairs(report: BenchReport[MatchStanding]) -> Any:
    """One line for each pair of players: the better-placed one against the other."""
    table = grid("Mean score, on the same deals")
    order = [row.agent for row in sorted(report.rows, key=lambda row: -row.score.point)]
    add_names(table, "player", order)
    add_names(table, "less", order)
    add_figures(table, "points")
    table.add_column("verdict", no_wrap=True)
    verdicts = {(pair.one, pair.other): pair for pair in report.verdicts}
    for names in itertools.combinations(order, 2):
        if names in verdicts:
            table.add_row(*names, str(verdicts[names].difference), coloured(verdicts[names].verdict))
    return table
