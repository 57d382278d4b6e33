"""The table of situations: a line for each, a column for each agent."""

from typing import Any

from cardai.measure.situations import SituationsReport
from cardai.show.grid import add_figures, fitting, grid, with_notes


def table(report: SituationsReport) -> Any:
    """A rich renderable of a report on situations."""
    notes = [
        f"right moves played, in percent of {report.tries} tries with other luck (seed {report.seed}); chance: the"
        " share of right moves among the legal ones; -: the agent cannot sit there",
        "* a rule of thumb; all others are proven",
        *(f"{place}: {name}" for place, name in enumerate(report.agents, 1)),
    ]
    return with_notes(notes, fitting(lambda is_narrow: _rows(report, is_narrow)))


def _rows(report: SituationsReport, is_narrow: bool) -> Any:
    drawn = grid(f"Situations of {report.game}", is_narrow)
    drawn.add_column("situation", overflow="fold")
    add_figures(drawn, "chance", *(str(place) for place in range(1, len(report.agents) + 1)))
    for row in report.rows:
        name = row.name if row.exact else f"{row.name} *"
        drawn.add_row(name, f"{100 * row.chance:.0f}", *(_percent(share) for share in row.shares))
    drawn.add_section()
    chance = sum(row.chance for row in report.rows) / len(report.rows)
    means = [_percent(report.share(place)) for place in range(len(report.agents))]
    drawn.add_row("all", f"{100 * chance:.0f}", *means, style="bold")
    return drawn


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}"
