"""The table of a list of strongest agents: at each table, who is taken for how many milliseconds a decision."""

from collections.abc import Iterable
from typing import Any

from cardai.agents.strongest import AT_ONCE, MeasuredAgent, MeasuredTable
from cardai.measure.pool import ANCHOR, table_name
from cardai.measure.strongest import StrongestList
from cardai.show.grid import add_figures, add_names, fitting, grid, stacked, with_notes

NOTE = (
    f"The strongest agent that decides within so many milliseconds, in the mean on one core. rating: Elo points above"
    f" {ANCHOR}; of two that are not told apart, the quicker one is listed"
)


def table(report: StrongestList) -> Any:
    """A rich renderable of a list."""
    return with_notes([NOTE], picks_of(report.game, report.tables))


def picks_of(game: str, tables: Iterable[MeasuredTable]) -> Any:
    """A rich renderable of the strongest agents at some tables of a game, the dearest first."""
    tables = list(tables)
    return fitting(lambda is_narrow: _picks(game, tables, is_narrow))


def _picks(game: str, tables: list[MeasuredTable], is_narrow: bool) -> Any:
    drawn = grid(None, is_narrow)
    drawn.add_column("table", no_wrap=True)
    drawn.add_column("within", no_wrap=True, justify="right")
    add_names(drawn, "strongest", [spec for one in tables for spec in one.picks])
    add_figures(drawn, "ms a decision", "rating", "games")
    for one in tables:
        drawn.add_section()
        name = stacked(table_name(game, one.variant, one.seats), is_narrow)
        for spec, time in reversed(one.picks.items()):
            measured, within = one.of(spec), "at once" if time == AT_ONCE else f"{time:g} ms"
            rating = stacked(_rating(measured), is_narrow)
            drawn.add_row(name, within, spec, f"{measured.milliseconds:g}", rating, f"{measured.games:,}")
            name = ""
    return drawn


def _rating(measured: MeasuredAgent) -> str:
    """A rating with its interval: "812 (790-835)", "812 (790 or more)"."""
    low, high = ("" if bound is None else f"{bound:.0f}" for bound in (measured.low, measured.high))
    bounds = f"{low}-{high}" if low and high else f"{low} or more" if low else f"{high} or less" if high else "no bound"
    return f"{measured.rating:.0f} ({bounds})"
