"""The table of a simulation: how the agents of its pool did."""

from typing import Any

from cardai.data.mixture import Summary
from cardai.show.grid import add_figures, add_names, grid, with_notes


def table(summary: Summary) -> Any:
    """A rich renderable with one line for each agent of the pool."""
    table = grid(is_narrow=True)
    add_names(table, "agent", [share.agent for share in summary.agents])
    add_figures(table, "drawn", "seats", f"score {summary.unit or '%'}", "loss %")
    total = sum(share.weight for share in summary.agents)
    for share in summary.agents:
        drawn = f"{100 * share.weight / total:.1f} %"
        table.add_row(share.agent, drawn, f"{share.seats:,}", str(share.score), str(share.loss))
    return with_notes(_notes(summary), table)


def _notes(summary: Summary) -> list[str]:
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
