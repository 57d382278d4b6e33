"""Pictures of positions as SVG, sharp at any size: the zones as a seat sees them.

    picture(game, state)                    # as the seat to move sees it
    picture(game, state, 2)                 # as seat 2 sees it
    picture(game, state, is_open=True)      # with all hands open

A notebook draws what these return. What is drawn of a seat is made from a world of it, so nothing hidden is in the text
of a picture.
"""

import base64
import io
import re
from functools import cache
from html import escape

from rich.console import Console

from cardai.cli.show.seats import NAMES, Seats
from cardai.game import Game, GameState, Zone, game_of
from cardai.game.compiled.doors import check_state
from cardai.playing.stats.report import WIDE, Report

_SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_CARD = re.compile(r"[a-z]?([2-9TJQKA])([CDHS])")
_WIDE, _LABEL, _ROW, _STEP = 760, 190, 66, 43  # pixels: of a picture, for names, of a row, from card to card
_STYLE = (
    "text{font-family:'Helvetica Neue',Arial,sans-serif}.t{fill:#f2f7f3}.n{fill:#ffd24a}.i{font-weight:700}"
    ".H,.D{fill:#b3141f}.C,.S{fill:#1b1b1b}"
)


class Svg(str):
    """An SVG document, which a notebook draws."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the drawing as a picture in a page, so that its styles change nothing else there."""
        title = re.search(r">([^<]*)</text>", self)
        data = base64.b64encode(self.encode()).decode()
        return f'<img alt="{title[1] if title else ""}" src="data:image/svg+xml;base64,{data}">'


def picture(game: Game, state: GameState, seat: int | None = None, is_open: bool = False) -> Svg:
    """A position as an SVG document, as `seat` sees it; None: the seat to move, or seat 0 once the game is over.

    `is_open`: all hands are open, and the middle is as `seat` sees it.
    """
    rows, title = _seen(game, state, seat, is_open)
    high = 40 + sum(map(_height, rows))
    parts, y = [f'<text class="t i" x="14" y="26" font-size="15">{escape(title)}</text>'], 40
    for row in rows:
        parts.append(_text(14, y + 16, row, "t", 13) if isinstance(row, str) else _zone(game, row, y))
        y += _height(row)
    return Svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {high}" width="{_WIDE}" height="{high}">'
        f'<style>{_STYLE}</style><rect width="{_WIDE}" height="{high}" rx="12" fill="#2f6b4f"/>{"".join(parts)}</svg>\n'
    )


def open_zones(game: Game, state: GameState, viewer: int) -> list[Zone]:
    """The zones of a state with all hands open: of each seat as its owner sees it, of the table as `viewer` does."""
    assert game.table.zones is not None
    shown = [zone for zone in game.table.zones(state, viewer) if zone.seat is None]
    for seat in range(int(state["seats"])):
        shown += [zone for zone in game.table.zones(state, seat) if zone.seat == seat]
    return shown


def state_page(state: GameState) -> str:
    """Return a state as HTML: a picture, as the seat to move sees it, or seat 0 once the game is over.

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


def report_page(report: Report) -> str:
    """Return a report as HTML: its table, in a font of one width, in the colours of the page."""
    drawn = Console(file=io.StringIO(), width=WIDE, record=True)
    drawn.print(report.table())
    return drawn.export_html(inline_styles=True, code_format="<pre style='white-space:pre'>{code}</pre>")


def _seen(game: Game, state: GameState, seat: int | None, is_open: bool) -> tuple[list[Zone] | list[str], str]:
    """The zones of a position, or its lines of text in a game without zones, and a title."""
    viewer = max(int(state["turn"]), 0) if seat is None else seat
    world = state if is_open else game.world(state, viewer, seed=int(state["ply"]))
    names = _names(int(state["seats"]))
    whose = "all hands open" if is_open else f"as {names.name(viewer)} (seat {viewer}) sees it"
    title = f"{game.title}, {whose}"
    if game.table.zones is None:
        return names.view(game.text.show(world, viewer)).splitlines(), title
    zones = open_zones(game, state, viewer) if is_open else game.table.zones(world, viewer)
    return [zone for zone in zones if zone.seat is None or zone.listed or zone.hidden or zone.words], title


@cache
def _names(seats: int) -> Seats:
    return Seats(seats, None)


def _height(row: Zone | str) -> int:
    if isinstance(row, str):
        return 20
    return 36 * -(-len(row.listed) // row.shape[1]) + 10 if row.look == "grid" else _ROW


def _zone(game: Game, zone: Zone, y: int) -> str:
    """A zone as a row: its name and note, then its pieces, closer together where they are many."""
    names = _names(len(NAMES))
    whose = "" if zone.seat is None else f"{names.name(zone.seat)}: "
    name, words = whose + names.text(zone.name), names.text(zone.words)
    parts = [_text(14, y + 28, name, "t i", 14), _text(14, y + 46, words, "n", 12)]
    if zone.look == "grid":
        for i, piece in enumerate(zone.listed):
            x, top = _LABEL + 36 * (i % zone.shape[1]), y + 36 * (i // zone.shape[1])
            parts.append(f'<rect x="{x}" y="{top}" width="32" height="32" rx="4" fill="#fffefa"/>')
            parts.append(_text(x + 16, top + 23, zone.marks.get(piece, ""), "C i", 20, "middle"))
        return "".join(parts)
    count = len(zone.listed) + bool(zone.hidden)
    step = min(_STEP, (_WIDE - _LABEL - 60) / max(1, count - 1))
    for i, piece in enumerate(zone.listed):
        name, x = game.table.pieces[piece], _LABEL + step * i
        parts.append(f'<rect x="{x:.1f}" y="{y + 3}" width="40" height="56" rx="4" fill="#fffefa" stroke="#1b1b1b"/>')
        card = _CARD.fullmatch(name)
        shown = f"{card[1].replace('T', '10')}{_SIGNS[card[2]]}" if card else name
        parts.append(_text(x + 20, y + 36, shown, f"{card[2]} i" if card else "C i", 17 if card else 13, "middle"))
        parts.append(_text(x + 20, y + 57, names.text(zone.marks.get(piece, "")), "C i", 9, "middle"))
    if zone.hidden:
        x = _LABEL + step * len(zone.listed)
        parts.append(f'<rect x="{x:.1f}" y="{y + 3}" width="40" height="56" rx="4" fill="#3c4f86" stroke="#fff"/>')
        parts.append(_text(x + 20, y + 37, str(zone.hidden), "t i", 16, "middle"))
    return "".join(parts)


def _text(x: float, y: float, text: str, name: str, size: float, anchor: str = "start") -> str:
    if not text:
        return ""
    return (
        f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(text)}</text>'
    )
