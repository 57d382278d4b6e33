"""What a notebook shows of states and reports, as HTML."""

import io
from html import escape

from rich.console import Console

from cardai.game import GameState, game_of
from cardai.kernel.doors import check_state
from cardai.show.picture import picture
from cardai.stats.report import WIDE, Report


def state(state: GameState) -> str:
    """Return a picture of a state as the seat to move sees it, or seat 0 once the game is over.

    Without zones it is the text of `Text.show`, and of a state whose game cannot be told its fields. Raises CardaiError
    for a state that says what cannot be of its seats, turn or ply.
    """
    game = game_of(state)
    if game is None:
        return f"<pre>{escape(repr(state))}</pre>"
    check_state(state, game.state, game.name, game.seats)
    seat = max(int(state["turn"]), 0)
    title = "the game is over" if state["turn"] < 0 else f"seat {seat} to move"
    title = f"{game.title}, {int(state['seats'])} seats, ply {int(state['ply'])}: {title}; as seat {seat} sees it"
    if game.table.zones is None:
        return f"<p>{escape(title)}</p><pre>{escape(game.text.show(state, seat))}</pre>"
    return f"<p>{escape(title)}</p>{picture(game, state, seat)._repr_html_()}"


def report(report: Report) -> str:
    """Return the table of a report, in a font of one width, in the colours of the page."""
    drawn = Console(file=io.StringIO(), width=WIDE, record=True)
    drawn.print(report.table())
    return drawn.export_html(inline_styles=True, code_format="<pre style='white-space:pre'>{code}</pre>")
