"""The tables of how agents play open endings, and the last plies of any game."""

from typing import Any

from cardai.measure.perfect.endings import EndingsReport
from cardai.measure.perfect.open_hands import HandsReport
from cardai.show.grid import add_figures, add_names, endless_notes, fitting, grid, stacked, with_notes


def table(report: EndingsReport) -> Any:
    """A rich renderable of a report on endings."""
    median, high, mean = report.nodes
    quick, slow, _ = report.milliseconds
    share = 100 * report.solved / report.decisions if report.decisions else 0.0
    notes = [
        "shares in percent, with 95 % intervals; lost score in points of a game's score, on average for an ending",
        f"{report.games:,} games, variant {report.variant}: {report.reached:,} came to a choice in an open position,"
        f" {report.decided:,} of them were decided by perfect play from the first one on",
        f"{report.solved:,} of {report.decisions:,} choices ({share:.1f} %) were solved within {report.limit:,} nodes",
        f"nodes: median {median:,.0f}, 95th percentile {high:,.0f}, mean {mean:,.0f}",
        f"milliseconds: median {quick:.2f}, 95th percentile {slow:.1f}",
    ]
    notes += endless_notes(report.endless)
    return with_notes(notes, fitting(lambda is_narrow: _grades(report, is_narrow)))


def _grades(report: EndingsReport, is_narrow: bool) -> Any:
    table = grid(f"{report.game}, {report.seats} seats: endings under perfect play", is_narrow)
    add_names(table, "agent", report.grades)
    add_figures(table, "endings", "critical", "best move found", "score lost", "won", "of these not won")
    for spec, grade in report.grades.items():
        shares = (stacked(share.scaled(100), is_narrow) for share in (grade.optimal, grade.lost_wins))
        optimal, thrown = shares
        lost = "-" if not grade.lost.n else f"{grade.lost.point:.4f}"
        table.add_row(spec, f"{grade.endings:,}", f"{grade.critical:,}", optimal, lost, f"{grade.won:,}", thrown)
    return table


def hands_table(report: HandsReport) -> Any:
    """A rich renderable of a report on the last plies of games."""
    notes = [
        "best: the share of decisions in which no move has a higher mean over the worlds of the seat than the one"
        " played; lost: how much score a decision gives away in this mean; both in percent, with 95 % intervals",
        f"each decision in {report.worlds:,} worlds, each solved with all cards open: all seats play the best for"
        " themselves",
        f"{report.games:,} games, variant {report.variant}, decisions with a choice among the last {report.last} plies;"
        f" unsolved: a world needed more than {report.limit:,} positions",
    ]
    notes += endless_notes(report.endless)
    return with_notes(notes, fitting(lambda is_narrow: _hands(report, is_narrow)))


def _hands(report: HandsReport, is_narrow: bool) -> Any:
    table = grid(f"{report.game}, {report.seats} seats: the last plies with open hands", is_narrow)
    add_names(table, "agent", report.grades)
    add_figures(table, "decisions", "unsolved", "best", "lost")
    for spec, grade in report.grades.items():
        best, lost = (stacked(figure.scaled(100), is_narrow) for figure in (grade.best, grade.lost))
        table.add_row(spec, f"{grade.decisions:,}", f"{grade.unsolved:,}", best, lost)
    return table
