"""What is shown of speeds: of a game with its players, and of an agent beside its network alone."""

from typing import Any

from cardai.cli.show.grid import add_figures, add_names, fitting, grid, stacked, with_notes
from cardai.measure.network_share import Arithmetic, NetworkShareReport
from cardai.measure.perf import SpeedReport
from cardai.playing.machine import machine


def table(report: SpeedReport) -> Any:
    """A rich renderable of a game's speeds: its players, then its single operations."""
    operations = grid("Single operations")
    operations.add_column("operation")
    add_figures(operations, "ns")
    operations.add_column("what it does")
    for operation in report.operations:
        operations.add_row(operation.name, str(operation.nanoseconds), operation.about)
    players = fitting(lambda is_narrow: _players(report, is_narrow))
    return with_notes(_notes(report), players, operations, _lists(report))


def network_table(report: NetworkShareReport) -> Any:
    """A rich renderable: rows a second while an agent plays, and by its network alone."""
    table = grid(f"{report.agent} in all {report.seats} seats")
    table.add_column("rows scored a second")
    add_figures(table, "rows/s")
    table.add_row(f"while {report.live:,} games are played", str(report.playing))
    if report.bound is None:
        alone = f"in a bare loop over batches of the same sizes (mean: {report.batch:,} rows)"
    else:
        alone = f"in a bare loop over rows of decisions, on {report.threads} threads"
    table.add_row(alone, str(report.bare))
    share = report.share
    notes = [
        f"playing reaches {100 * share.median:.0f} % ({100 * share.low:.0f}-{100 * share.high:.0f})"
        f" of the bare loop; {report.decisions_per_second.median:,.0f} decisions/s",
        *(() if report.bound is None else (_arithmetic(report.bound, report.threads),)),
        f"medians of {report.repeats} pairs of runs of about {report.seconds:g} s, with their range",
        f"{report.game} {report.version}, variant {report.variant}",
    ]
    return with_notes(notes, table)


def _arithmetic(bound: Arithmetic, threads: int) -> str:
    share = bound.share
    return (
        f"a row takes {bound.products:,.0f} products that are not zero; one core does {bound.peak.median / 1e9:.1f} G"
        f" a second with weights in its nearest cache, so {threads} threads would score {bound.rows:,.0f} rows/s;"
        f" playing reaches {100 * share.median:.0f} % ({100 * share.low:.0f}-{100 * share.high:.0f}) of that, which is"
        " measured after each run"
    )


def _players(report: SpeedReport, is_narrow: bool) -> Any:
    table = grid(f"{report.title}, {report.seats} seats: speed on one core")
    add_names(table, "all seats", [row.agent for row in report.rows])
    add_figures(table, "games/s", "decisions/s")
    for row in report.rows:
        rates = (stacked(timing, is_narrow) for timing in (row.games_per_second, row.decisions_per_second))
        table.add_row(row.agent, *rates)
    return table


def _lists(report: SpeedReport) -> Any:
    table = grid("Listing the legal moves, by their number")
    table.add_column("legal moves")
    add_figures(table, "positions, %", "ns")
    for row in report.lists:
        number = f"{row.fewest:,}" if row.fewest == row.most else f"{row.fewest:,}-{row.most:,}"
        what = f"more than the list holds, {number} listed" if row.is_truncated else number
        table.add_row(what, f"{100 * row.share:.3g}", str(row.nanoseconds))
    return table


def _notes(report: SpeedReport) -> list[str]:
    here, ratio, memory = machine(), report.threads.ratio, report.memory
    return [
        f"medians of {report.repeats} runs of about {report.seconds:g} s, with their range, in seconds of a processor;"
        " compiling is not counted",
        f"{report.threads.threads} threads play {ratio.median:.2f} times ({ratio.low:.2f}-{ratio.high:.2f}) the games a"
        f" second of one, measured in turns ({report.threads.agent})",
        f"operations: in compiled loops over {report.positions:,} positions of evenly random games; legal over"
        f" {report.listed:,}, {report.moves_a_position:.1f} legal moves each on average",
        *(
            f"{row.agent}: {100 * row.endless:.3g} % of its games did not end within the game's limit of moves; they"
            " count as games"
            for row in report.rows
            if row.endless
        ),
        f"memory: {memory.peak:.0f} MB at most with {memory.live:,} live games, {memory.before:.0f} MB before",
        f"{report.game} {report.version}, variant {report.variant}; {here['processor']}, {here['usable_cpus']}"
        f" processors; Python {here['python']}, Numba {here['numba']}",
    ]
