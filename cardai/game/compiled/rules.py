"""A game's compiled rules, called by address, and the steps that everything else in this folder is made of.

Nothing here knows a game. Records are handled by their bytes, arrays by their addresses
(`cardai.game.compiled.native`). Tuples such as `CompiledRules` are declared with NumPy arrays; `lend` gives the form
that compiled code takes.
"""

from typing import Any, NamedTuple

import numpy as np

from cardai.game.compiled.native import (
    at,
    begin_ply,
    call_act,
    call_blank,
    call_deal,
    call_encode,
    call_is_legal,
    call_legal,
    call_resample,
    call_score,
    call_settle,
    call_together,
    call_weight,
    copy,
    get,
    is_midway,
    is_sealed,
    next_of,
    raw,
    same,
    seed_state,
    turn_of,
)
from cardai.rules import inlined, mixed, rule

DEAL, LEGAL, ACT, SETTLE, SCORE, RESAMPLE, IS_LEGAL, TOGETHER = range(8)  # places in CompiledRules.calls, and in ROLES


class CompiledRules(NamedTuple):
    """A game's compiled rules. `calls`: i64[8], addresses in the order above. Sizes are in bytes.

    `sealed`: where the choices of a game with choices at the same time stand in a state, and the size of one seat's;
    zeros in other games.
    """

    calls: Any
    has_is_legal: bool
    state_size: int
    move_size: int
    max_moves: int
    max_plies: int
    sealed: tuple[int, int]


def lend(arrays: Any) -> Any:
    """A tuple of arrays, such as `CompiledRules`, as compiled code takes it, tuples inside it too.

    The caller keeps the arrays alive.
    """
    return type(arrays)(*map(_lent, arrays))


def _lent(item: Any) -> Any:
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return lend(item)
    return raw(item) if isinstance(item, np.ndarray) else item


@inlined
def legal_moves(rules, state, moves, level):
    """Write the legal moves into space `level` of `moves`.

    Returns how many were written, or the negative of that number if there were more than fit.
    """
    return legal_at(rules, state, moves, level * rules.max_moves)


@inlined
def legal_at(rules, state, moves, first):
    """Write the legal moves from place `first` of `moves` on, and return what `legal_moves` does.

    A number beyond `max_moves` is not believed: it counts as no legal move.
    """
    n = call_legal(get(rules.calls, LEGAL), state, moves, first, rules.max_moves)
    return n if abs(n) <= rules.max_moves else 0


@rule
def is_among(rules, state, move, moves, level):
    """Whether a move is legal."""
    if rules.has_is_legal:
        return call_is_legal(get(rules.calls, IS_LEGAL), state, move) != 0
    for i in range(abs(legal_moves(rules, state, moves, level))):
        if same(at(moves, level * rules.max_moves + i), move, rules.move_size):
            return True
    return False


@inlined
def play_move(rules, state, move):
    """Both halves of a move."""
    begin_ply(state)
    call_act(get(rules.calls, ACT), state, move)
    call_settle(get(rules.calls, SETTLE), state)


@inlined
def make_world(rules, world, state, seat, stream):
    """Make `world` a copy of `state` in which `seat` knows what it knows and the rest is dealt anew."""
    copy(world, state, rules.state_size)
    seed_state(world, next_of(stream))
    call_resample(get(rules.calls, RESAMPLE), world, seat, stream)


@inlined
def make_view(rules, blank, view, state, seat):
    """Make `view` a copy of `state` in which the rule `blank` has written over what is hidden from `seat`."""
    copy(view, state, rules.state_size)
    seed_state(view, 0)
    call_blank(blank, view, seat)


@inlined
def chooses_together(rules, state):
    """Whether several seats choose at the same time in a state in which somebody is to move."""
    if rules.sealed[1] == 0:
        return False
    who = call_together(get(rules.calls, TOGETHER), state)
    return who & (who - 1) != 0


@inlined
def waits(rules, state, seat):
    """Whether the choice of a seat is made and not yet shown, since others choose at the same time."""
    return rules.sealed[1] != 0 and is_sealed(state, rules.sealed, seat)


@rule
def goes_on(state, seat):
    """Whether `seat` is in the middle of a decision."""
    return turn_of(state) == seat and is_midway(state)


# Doors: single calls for `Game`, on blocks of one record.


@rule
def door_deal(rules, states, seed):
    """Deal into a blank state that carries its options."""
    seed_state(at(states, 0), mixed(seed))
    call_deal(get(rules.calls, DEAL), at(states, 0))


@rule
def door_legal(rules, states, moves):
    """Write the legal moves. Returns what the rule `legal` returns, or 0 if the game is over."""
    if turn_of(at(states, 0)) < 0:
        return 0
    return call_legal(get(rules.calls, LEGAL), at(states, 0), moves, 0, rules.max_moves)


@rule
def door_play(rules, states, moves, settle):
    """Play one move in place, with or without its second half."""
    state = at(states, 0)
    begin_ply(state)
    call_act(get(rules.calls, ACT), state, at(moves, 0))
    if settle:
        call_settle(get(rules.calls, SETTLE), state)


@rule
def door_move(rules, states, asked, moves, halves):
    """Play asked[0] in place if it is legal: 0, 1 or 2 halves of it. Returns whether it is legal.

    moves: MOVE[max_moves], working space.
    """
    if turn_of(at(states, 0)) < 0 or not is_among(rules, at(states, 0), at(asked, 0), moves, 0):
        return False
    if halves > 0:
        door_play(rules, states, asked, halves == 2)
    return True


@rule
def door_resample(rules, states, seat, streams):
    """Deal anew, in place, what a seat cannot know."""
    seed_state(at(states, 0), next_of(at(streams, 0)))
    call_resample(get(rules.calls, RESAMPLE), at(states, 0), seat, at(streams, 0))


@rule
def door_together(rules, states):
    """The set of seats that choose at the same time in states[0]."""
    return call_together(get(rules.calls, TOGETHER), at(states, 0))


@rule
def door_value(value, states, seat):
    """A seat's score, or its value by an outcome or a heuristic."""
    return call_score(value, at(states, 0), seat)


@rule
def door_weight(weight, states):
    """How likely a state is beside others that look the same to a seat."""
    return call_weight(weight, at(states, 0))


@rule
def door_encode(encode, states, seat, rows):
    """Fill rows[0] from states[0]."""
    call_encode(encode, at(states, 0), seat, rows, 0)
