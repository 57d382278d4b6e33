"""Choices at the same time: rules that keep each seat's choice sealed until the last seat has chosen.

A game that has the rule `together(state)` (`cardai.game.Game`) lets several seats choose at the same time. Its own
rules are written as if nothing were hidden: `legal` and `act` for one seat after another, `settle` once for all of
them. The core puts its own rules in their place (`sealing`). Seats choose in turn. A choice goes into the field
`sealed` of the state, int64[seats, 1 + fields of a move]: a 1, and the move. When the last seat has chosen, the rules
of the game play all choices, and everybody is told of them (`told_of`). A world holds other choices in the place of
those that its seat cannot know.
"""

from typing import Any

import numpy as np

from cardai.errors import BadArgument, CardaiError
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import door_together
from cardai.rules import JIT, below, rule

if JIT:
    from numba import literal_unroll
else:

    def literal_unroll(container: Any) -> Any:
        """The names themselves: a loop over them is no different in plain Python."""
        return container


CHOSEN = "has chosen"
"""What others are told of a choice before the last seat has chosen."""
SEALED = "sealed"
"""The field of the state that holds the choices."""


def own_of(rule: Any) -> Any:
    """The rule, or the text function, in whose place `sealing` has put one of the core; others are returned."""
    return getattr(rule, "in_place_of", rule)


def check_sealed(name: str, seats: range, state: np.dtype, move: np.dtype) -> None:
    """Raise CardaiError unless a state has room for the choices of all seats."""
    fields: Any = state.fields or {}
    wanted = max(seats), 1 + len(move.names or ())
    shape = fields[SEALED][0].shape if SEALED in fields else None
    if shape != wanted:
        found = "it has none" if shape is None else f"it has the shape {shape}"
        raise CardaiError(
            f"{name}: with the rule together the state needs a field {SEALED} of shape {wanted}, for each seat one more"
            f" than the fields of a move; {found}"
        )


def place_of_sealed(state: np.dtype) -> tuple[int, int]:
    """Where the choices stand in a state, and the size of those of one seat, in bytes."""
    fields: Any = state.fields
    block, place = fields[SEALED][:2]
    return int(place), int(block.itemsize // block.shape[0])


def sealing(game: Any) -> dict[str, Any]:
    """The rules, and `tell`, that take the place of a game's own ones: the name of a field of `Game` -> function."""
    together, legal = game.rules.together, game.rules.legal
    own_act, own_settle = own_of(game.rules.act), own_of(game.rules.settle)
    own_resample, own_blank = own_of(game.rules.resample), own_of(game.rules.blank)
    names, move_type, room = tuple(game.move.names or ()), game.move, game.max_moves

    @rule
    def seal(state, seat, move):
        state.sealed[seat, 0] = 1
        place = 1
        for name in literal_unroll(names):
            state.sealed[seat, place] = move[name]
            place += 1

    @rule
    def act(state, move):
        who = together(state)
        if who & (who - 1) == 0:  # one seat chooses alone
            own_act(state, move)
        else:
            seal(state, state.turn, move)

    @rule
    def settle(state):
        if state.sealed[state.turn, 0] == 0:
            own_settle(state)
            return
        who, turn = together(state), state.turn
        for step in range(1, state.seats):
            seat = (turn + step) % state.seats
            if who >> seat & 1 != 0 and state.sealed[seat, 0] == 0:
                state.turn = seat
                return
        reveal(state)
        own_settle(state)
        state.revealed |= (1 << state.seats) - 1

    @rule
    def reveal(state):
        """Play all choices, seat by seat."""
        chosen = np.zeros(1, move_type)
        for seat in range(state.seats):
            if state.sealed[seat, 0] != 0:
                state.sealed[seat, 0] = 0
                place = 1
                for name in literal_unroll(names):
                    chosen[0][name] = state.sealed[seat, place]
                    state.sealed[seat, place] = 0
                    place += 1
                state.turn = seat
                own_act(state, chosen[0])

    @rule
    def resample(state, seat, stream):
        own_resample(state, seat, stream)
        turn = state.turn
        for other in range(state.seats):
            if other != seat and state.sealed[other, 0] != 0:
                moves = np.zeros(room, move_type)
                state.turn = other
                n = abs(legal(state, moves))
                if 0 < n <= room:
                    seal(state, other, moves[below(stream, n)])
        state.turn = turn

    @rule
    def blank(state, seat):
        own_blank(state, seat)
        for other in range(state.seats):
            if other != seat:
                for place in range(1, 1 + len(names)):
                    state.sealed[other, place] = 0

    def tell(state, move, seat):
        if len(choosing(game, state)) > 1:
            return CHOSEN
        own = own_of(game.text.tell)
        return own(state, move, seat) if own else game.text.spell(state, move)

    found: dict[str, Any] = {"act": act, "settle": settle, "resample": resample, "tell": tell}
    if own_blank is not None:
        found["blank"] = blank
    for name, function in found.items():
        function.in_place_of = own_of(game.get(name))
    return found


def seats_together(game: Any, state: Any) -> list[int]:
    """The seats that choose at the same time in a position, those that have chosen among them; none if fewer than two.

    `state` is a state of this game.
    """
    if game.rules.together is None or int(state["turn"]) < 0:
        return []
    states = np.array([state], game.state)
    who = int(door_together(game.compiler.lent, raw(states)))
    return [seat for seat in range(int(state["seats"])) if who >> seat & 1] if who & (who - 1) else []


def choosing(game: Any, state: Any) -> list[int]:
    """The seats that may choose now, in the order in which they are to move: several if they choose at the same time.

    Those that have chosen are not among them. None if the game is over. `state` is a state of this game.
    """
    turn, seats = int(state["turn"]), int(state["seats"])
    if turn < 0:
        return []
    who = [seat for seat in seats_together(game, state) if not state[SEALED][seat, 0]]
    return sorted(who, key=lambda seat: (seat - turn) % seats) or [turn]


def shows_choices(game: Any, state: Any) -> bool:
    """Whether the next move is the last of several choices at the same time, after which all of them are shown."""
    return bool(seats_together(game, state)) and len(choosing(game, state)) == 1


def at_turn(game: Any, state: Any, seat: int) -> Any:
    """A copy of a state in which it is the turn of a seat that may choose now: what it may do is read off that.

    Raises BadArgument for another seat.
    """
    if seat not in choosing(game, state):
        raise BadArgument(f"{game.name}: seat {seat} has nothing to choose here")
    states = np.array([state], game.state)
    states["turn"] = seat
    return states[0]


def told_of(game: Any, state: Any, move: np.record, seat: int, world: Any) -> str:
    """What a seat is told of a move: `Game.told`, and with the last of several choices at the same time all of them.

    `state`: the true state before the move. `world`: a world of the seat in it. The words are made from the world.
    """
    words, turn = game.told(world, move, seat), int(state["turn"])
    if not shows_choices(game, state):
        return words
    parts, own_tell = [], own_of(game.text.tell)
    for other in seats_together(game, state):
        choice = np.zeros(1, game.move)
        choice[0] = tuple(state[SEALED][other, 1:]) if other != turn else move
        there = world.copy()
        there["turn"] = other
        text = own_tell(there, choice[0], seat) if own_tell and other != seat else game.text.spell(there, choice[0])
        parts.append(f"p{other} {text}")
    return f"{CHOSEN}; all show: {', '.join(parts)}"
