"""Tables and texts of small reports: duels, tuning, situations, lists of the strongest agents, self-play."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table

from cardai.cli.show.grid import add_figures, add_names, endless_notes, fitting, grid, stacked, with_notes
from cardai.measure.pool import ANCHOR, table_name
from cardai.playing.agents.strongest import AT_ONCE, MeasuredAgent, MeasuredTable

if TYPE_CHECKING:
    from cardai.measure.duel import Duel
    from cardai.measure.situations import SituationsReport
    from cardai.measure.strongest import StrongestList
    from cardai.measure.tune import TuneResult
    from cardai.records.mixture import Summary

NOTE = (
    f"The strongest agent that decides within so many milliseconds, in the mean on one core. rating: Elo points above"
    f" {ANCHOR}; of two that are not told apart, the quicker one is listed"
)


def duel_text(duel: "Duel") -> str:
    """A duel in some lines, the verdict first."""
    ahead = "points" if duel.unit == "%" else duel.unit
    lines = [
        f"{duel.candidate} among players {duel.other}: {duel.verdict}",
        f"mean score {duel.score} {duel.unit}, {duel.difference} {ahead} ahead of theirs at the same tables (95 %"
        f" interval and one of {100 * duel.level:.4g} %)",
        f"{duel.games:,} games, compared {duel.looks} times; {duel.different:,} deals were played in different ways",
    ]
    if duel.own_deals:
        lines.append("no deal was played twice, since an agent runs code that may remember it")
    lines += [f"not sealed: {reason}" for reason in duel.unsealed]
    return "\n".join(lines + endless_notes(duel.endless))


def tuning(result: "TuneResult") -> Any:
    """Tuning: the spec to use, each parameter before and after, and the difference that was measured."""
    rows = Table("parameter", "start", "now")
    for name, (start, now) in result.values.items():
        rows.add_row(name, f"{start:g}", f"{now:g}")
    unit = "percentage points" if result.unit == "%" else result.unit
    others = ", ".join(result.others)
    if result.spec == result.start:
        verdict = f"Nothing better was found: the start itself scores {result.score} {result.unit}."
    else:
        verdict = (
            f"{result.verdict}: it scores {result.score} {result.unit}, {result.difference} {unit} more than"
            f" {result.start}, on {result.difference.deals:,} deals on which nothing was chosen (95 % interval)."
        )
    played = (
        f"{result.game}, variant {result.variant}, {result.seats} seats, the others played by {others}. CMA-ES:"
        f" {result.generations} generations, {result.trials:,} trials of {result.trial_games:,} games against each."
    )
    return Group(f"Use {result.spec}", rows, verdict, played)


def situations(report: "SituationsReport") -> Any:
    """Situations: a line for each, a column for each agent."""
    notes = [
        f"right moves played, in percent of {report.tries} tries with other luck (seed {report.seed}); chance: the"
        " share of right moves among the legal ones; -: the agent cannot sit there",
        "* a rule of thumb; all others are proven",
        *(f"{place}: {name}" for place, name in enumerate(report.agents, 1)),
    ]
    return with_notes(notes, fitting(lambda is_narrow: _situations(report, is_narrow)))


def _situations(report: "SituationsReport", is_narrow: bool) -> Any:
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


def strongest(report: "StrongestList") -> Any:
    """A list of the strongest agents: at each table, who is taken for how many milliseconds a decision."""
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


def selfplay(summary: "Summary") -> Any:
    """A simulation: how each agent of its pool did."""
    table = grid(is_narrow=True)
    add_names(table, "agent", [share.agent for share in summary.agents])
    add_figures(table, "drawn", "seats", f"score {summary.unit or '%'}", "loss %")
    total = sum(share.weight for share in summary.agents)
    for share in summary.agents:
        drawn = f"{100 * share.weight / total:.1f} %"
        table.add_row(share.agent, drawn, f"{share.seats:,}", str(share.score), str(share.loss))
    return with_notes(_selfplay_notes(summary), table)


def _selfplay_notes(summary: "Summary") -> list[str]:
    files = f"{len(summary.files):,} files" if len(summary.files) > 1 else ", ".join(summary.files) or "no file"
    notes = [
        f"{summary.game} {summary.version}, variant {summary.variant}, {summary.seats} seats, seed {summary.seed}",
        f"{summary.games:,} games, {summary.states:,} states in {summary.seconds:.1f} s, in {files}",
    ]
    if summary.found:
        notes.append(f"{summary.found:,} of the files were there before; their games are in no figure here")
    if summary.endless:
        notes.append(f"{summary.endless:,} games did not end within the game's limit of moves and are in no file")
    if summary.interrupted:
        notes.append(f"stopped before the end: {summary.asked:,} games were asked for")
    return notes
