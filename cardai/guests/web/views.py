"""What one seat is shown of a game. All of it is made from a world of that seat, never from the true state.

So a fault in a game that shows something hidden shows a guess. The world is dealt by a number that only the server
knows, and takes nothing from the game's random streams: looking on changes no game.
"""

import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from cardai.cli.show.tally import tally
from cardai.game import Game, GameState, Zone, listed_pieces
from cardai.game.compiled.together import seats_together
from cardai.playing.table.one import OneGame

MOST_MOVES = 4096  # moves that are listed even if the game's own list has less room; others must be typed
LOG_LINES = 40


def position_view(
    table: OneGame, seat: int, luck: int, decides: bool, early: Collection[int] = (), is_bare: bool = False
) -> dict[str, Any]:
    """The position as `seat` sees it, ready for JSON.

    `luck`: decides what is dealt anew. `decides`: whether the seat's moves are listed when it is to move; whoever only
    looks on has none. `early`: seats that have chosen before their turn, where several choose at the same time: then
    the view says who is `choosing` and who has `chosen`, and `choice` is the ply of the seat's own choice. In it
    `series` is how many moves are chosen together. `is_bare`: what the seat would have to remember is not shown.
    """
    game, world = table.game, table.seen(seat, luck)
    view = seen_view(game, world, seat, bare_zones if is_bare else None)
    choosing = table.choosing
    if together := seats_together(game, world):
        view["choosing"] = [other for other in choosing if other not in early]
        view["chosen"] = [other for other in together if other not in view["choosing"]]
        if seat in view["choosing"]:
            view["choice"] = view["ply"] + choosing.index(seat)
    if decides and seat in choosing and seat not in early:
        deciding = game.at_turn(world, seat) if together else world
        view["moves"], view["more"] = move_views(game, deciding)
        if (count := game.in_series(deciding)) > 1:
            view["series"] = count
    if is_bare and "zones" in view:
        view["zones"] += _to_choose(view)
    if view["over"]:
        view["end"] = end_view(table)
    return view


def seen_view(
    game: Game, world: GameState, seat: int, zones: Callable[[Game, GameState, int], list[Zone]] | None = None
) -> dict[str, Any]:
    """What lies where, as `seat` sees it in a world of it, or as `zones` says; without zones in the game's words."""
    view: dict[str, Any] = {"ply": int(world["ply"]), "turn": int(world["turn"]), "over": bool(world["turn"] < 0)}
    if game.table.zones is None:
        return view | {"text": game.text.show(world, seat)}
    shown = game.table.zones(world, seat) if zones is None else zones(game, world, seat)
    return view | {"zones": [zone_view(zone) for zone in shown]}


def bare_zones(game: Game, world: GameState, seat: int) -> list[Zone]:
    """The zones as they are on a real table (`Zone.unaided`), without those that only list what was seen."""
    assert game.table.zones is not None
    zones = [(zone, zone.unaided(seat)) for zone in game.table.zones(world, seat)]
    return [bare for zone, bare in zones if bare.listed or bare.hidden or not zone.listed]


def _to_choose(view: dict[str, Any]) -> list[dict[str, Any]]:
    """A place for pieces that a legal move names and that lie nowhere in sight, such as cards to ask for."""
    shown = {piece for zone in view["zones"] for piece in zone["pieces"]}
    wanted = {piece for _, pieces in view.get("moves", ()) for piece in pieces} - shown
    return [zone_view(Zone("To choose from", sorted(wanted)))] if wanted else []


def bare_log(log: list[list[Any]], seat: int, view: dict[str, Any]) -> list[list[Any]]:
    """The lines [seat, words] or [seat, words, what it led to] that show nothing to remember: the last one, and those
    since the seat's own last move that name no card, or only cards that still lie in the middle of the table."""
    own = max((place for place, (mover, *_) in enumerate(log) if mover == seat), default=0)
    names, zones = view["pieces"], view.get("zones", ())
    lying = {names[piece] for zone in zones if zone.get("seat") is None for piece in zone["pieces"]}
    alike = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or "(?!)"
    found = re.compile(rf"(?<!\w)(?:{alike})(?!\w)")
    return [*(line for line in log[own:-1] if {*found.findall(" ".join(line[1:]))} <= lying), *log[-1:]]


def zone_view(zone: Zone) -> dict[str, Any]:
    """A zone without the fields that have their usual value."""
    view: dict[str, Any] = {"name": zone.name, "pieces": zone.listed}
    usual: dict[str, Any] = {"hidden": 0, "seat": None, "look": "row"}
    view |= {name: getattr(zone, name) for name, value in usual.items() if getattr(zone, name) != value}
    if zone.words:
        view["note"] = zone.words
    if zone.look == "grid":
        view["shape"] = list(zone.shape)
    if zone.marks:
        view["marks"] = {str(int(piece)): mark for piece, mark in zone.marks.items()}
    return view


def move_views(game: Game, world: GameState) -> tuple[list[Any], bool]:
    """The legal moves as [words, pieces], and whether there are more than are listed."""
    moves, more = game.enumerate(world, max(game.max_moves, MOST_MOVES))
    return [[game.text.spell(world, move), pieces_of(game, world, move)] for move in moves], more


def pieces_of(game: Game, world: GameState, move: np.record) -> list[int]:
    """The pieces that a move takes, as a list."""
    return listed_pieces(int(game.table.picks(world, move))) if game.table.picks is not None else []


def end_view(table: OneGame) -> dict[str, Any]:
    """How a game ended, which everybody may know: words, scores in the game's unit, each seat's row below `heads`."""
    scores = [float(score) for score in table.scores()]
    heads, rows = tally(table.game, scores, table.outcomes())
    return {"text": table.ending() or "", "scores": table.game.payoff.of(scores).tolist(), "heads": heads, "rows": rows}
