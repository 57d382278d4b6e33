"""The table of a game's speed: agents that play it, and its single operations."""

from typing import Any

from cardai.cli.show.grid import add_figures, add_names, fitting, grid, stacked, with_notes
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
    return with_notes(_notes(report), players, operations)


def _players(report: SpeedReport, is_narrow: bool) -> Any:
    table = grid(f"{report.title}, {report.seats} seats: speed on one core")
    add_names(table, "all seats", [row.agent for row in report.rows])
    add_figures(table, "games/s", "decisions/s")
    for row in report.rows:
        rates = (stacked(timing, is_narrow) for timing in (row.games_per_second, row.decisions_per_second))
        table.add_row(row.agent, *rates)
    return table


def _notes(report: SpeedReport) -> list[str]:
    here, ratio = machine(), report.threads.ratio
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
        f"{report.game} {report.version}, variant {report.variant}; {here['processor']}, {here['usable_cpus']}"
        f" processors; Python {here['python']}, Numba {here['numba']}",
    ]
