"""The tables of exact measures."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from cardai.cli.show.grid import add_figures, add_names, endless_notes, fitting, grid, stacked, with_notes
from cardai.guests.exact.endings import EndingsReport
from cardai.guests.exact.exploitability import ExploitabilityReport
from cardai.guests.exact.grade import Grade


def grades(*grades: Grade) -> Any:
    """A rich table with one line for each grade. All grades are of one game."""
    table = _table(
        f"{grades[0].game}: exact grades against evenly random moves (win / draw / loss in %)",
        [grade.agent + ("*" if grade.luck == "estimated" else "") for grade in grades],
        ("moving first", "moving second", "averaged", "losing lines", "optimal", "optimal when met"),
        [_cells(grade) for grade in grades],
    )
    if any(grade.luck == "estimated" for grade in grades):
        samples = max(grade.samples for grade in grades)
        table.caption = f"* uses luck: its moves are estimated from {samples} decisions in each position"
    return table


def _cells(grade: Grade) -> list[str]:
    first, second = grade.first, grade.second
    shares = (first.win, first.draw, first.loss), (second.win, second.draw, second.loss), grade.averaged
    lines = f"{grade.losing_lines} of {first.lines + second.lines}"
    return [*(_percents(*three) for three in shares), lines, _percents(grade.optimal), _percents(grade.optimal_met)]


def _percents(*shares: Fraction) -> str:
    return " / ".join(f"{float(100 * share):.2f}" if share not in (0, 1) else str(int(100 * share)) for share in shares)


def exploitabilities(*reports: ExploitabilityReport) -> Any:
    """A rich table with one line for each report. All reports are of one game and one measure."""
    first = reports[0]
    figures = [(one.exploitability, one.nash_conv, *one.values, *one.best_responses) for one in reports]
    table = _table(
        f"{first.game} ({first.variant}): exploitability, in units of {first.measure}",
        [", ".join(dict.fromkeys(report.agents)) for report in reports],
        ["exploitability", "NashConv"]
        + [f"seat {seat} {what}" for what in ("wins", "could win") for seat in range(len(first.values))],
        [[f"{figure:.6f}" for figure in row] for row in figures],
    )
    table.caption = f"exact: {first.histories} histories, {first.information_sets} information sets"
    return table


def _table(title: str, names: Sequence[str], columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    """A table with a row for each agent."""
    table = grid(title, is_narrow=True)
    add_names(table, "agent", [f"{name} " for name in names])
    for column in columns:
        table.add_column(column, justify="right")
    for name, cells in zip(names, rows, strict=True):
        table.add_row(name, *cells)
    return table


def endings(report: EndingsReport) -> Any:
    """A rich renderable of a report on endings."""
    (median, high, mean), (quick, slow, _) = report.nodes, report.milliseconds
    share = 100 * report.solved / report.decisions if report.decisions else 0.0
    place = "an open position" if report.last is None else f"the last {report.last} plies"
    notes = [
        "shares in percent, with 95 % intervals; lost score in points of a game's score, on average for an ending",
        f"{report.games:,} games, variant {report.variant}: {report.reached:,} came to a choice in {place},"
        f" {report.decided:,} of them were decided by perfect play from the first one on",
        f"{report.solved:,} of {report.decisions:,} choices ({share:.1f} %) were solved within {report.limit:,} nodes",
        f"nodes: median {median:,.0f}, 95th percentile {high:,.0f}, mean {mean:,.0f}",
        f"milliseconds: median {quick:.2f}, 95th percentile {slow:.1f}",
        *endless_notes(report.endless),
    ]
    if report.worlds is not None:
        notes.insert(1, f"perfect play: the best mean over {report.worlds:,} worlds with all cards open")
    return with_notes(notes, fitting(lambda is_narrow: _by_agent(report, is_narrow)))


def _by_agent(report: EndingsReport, is_narrow: bool) -> Any:
    table = grid(f"{report.game}, {report.seats} seats: endings under perfect play", is_narrow)
    add_names(table, "agent", report.grades)
    add_figures(table, "endings", "critical", "best move found", "score lost", "won", "of these not won")
    for spec, grade in report.grades.items():
        optimal, thrown = (stacked(share.scaled(100), is_narrow) for share in (grade.optimal, grade.lost_wins))
        lost = "-" if not grade.lost.n else f"{grade.lost.point:.4f}"
        table.add_row(spec, f"{grade.endings:,}", f"{grade.critical:,}", optimal, lost, f"{grade.won:,}", thrown)
    return table
