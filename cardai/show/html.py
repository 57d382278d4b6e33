"""What a notebook shows of states and reports, as HTML."""

import io
from html import escape

from rich.console import Console

from cardai.game import Game, GameState, Zone, game_of
from cardai.kernel.doors import check_state
from cardai.stats.report import WIDE, Report

_LEFT = "style='text-align:left'"


def state(state: GameState) -> str:
    """Return the zones of a state as the seat to move sees them, or seat 0 once the game is over.

    Without zones it is the text of `Game.show`, and of a state whose game cannot be told its fields. Raises CardaiError
    for a state that says what cannot be of its seats, turn or ply.
    """
    game = game_of(state)
    if game is None:
        return f"<pre>{escape(repr(state))}</pre>"
    check_state(state, game.state, game.name, game.seats)
    seat = max(int(state["turn"]), 0)
    title = "the game is over" if state["turn"] < 0 else f"seat {seat} to move"
    title = f"{game.title}, {int(state['seats'])} seats, ply {int(state['ply'])}: {title}; as seat {seat} sees it"
    if game.zones is None:
        return f"<p>{escape(title)}</p><pre>{escape(game.show(state, seat))}</pre>"
    rows = "".join(
        f"<tr><th {_LEFT}>{escape(_name(zone))}</th><td {_LEFT}>{_pieces(game, zone)}</td></tr>"
        for zone in game.zones(state, seat)
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def report(report: Report) -> str:
    """Return the table of a report, in a font of one width, in the colours of the page."""
    drawn = Console(file=io.StringIO(), width=WIDE, record=True)
    drawn.print(report.table())
    return drawn.export_html(inline_styles=True, code_format="<pre style='white-space:pre'>{code}</pre>")


def _name(zone: Zone) -> str:
    whose = "" if zone.seat is None else f"seat {zone.seat}: "
    return f"{whose}{zone.name}" + (f" ({zone.words})" if zone.words else "")


def _pieces(game: Game, zone: Zone) -> str:
    marks = zone.marks
    if zone.look == "grid":
        columns = zone.shape[1]
        names = [marks.get(piece, "\N{MIDDLE DOT}") for piece in zone.listed]
        return "<br>".join(escape(" ".join(names[i : i + columns])) for i in range(0, len(names), columns))
    names = [game.pieces[piece] + (f" ({marks[piece]})" if piece in marks else "") for piece in zone.listed]
    return escape(" ".join(names + ([f"{zone.hidden} face down"] if zone.hidden else []))) or "\N{EM DASH}"
