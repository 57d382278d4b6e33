"""The loop that plays a recorded game again and writes out the states that its caller asks for."""

from typing import Any, NamedTuple

from cardai.game.compiled.native import (
    at,
    begin_ply,
    call_act,
    call_deal,
    call_settle,
    copy,
    get,
    seed_state,
    set,
    turn_of,
)
from cardai.game.compiled.rules import ACT, DEAL, SETTLE, is_among, legal_moves
from cardai.rules import mixed, rule

# Which state of each ply is written out: none, the one before the move, the after-state, or the settled state.
NOTHING, BEFORE, AFTER, SETTLED = range(4)


class Replay(NamedTuple):
    """Recorded games of P plies in all, L in the longest, and space for what is written out of one game at a time."""

    blank: Any  # STATE[1]: seats and options
    moves: Any  # MOVE[P]
    moment: int  # NOTHING, BEFORE, AFTER or SETTLED
    counts_choices: bool
    states: Any  # STATE[1 + L]: the state being played, then the written state of each ply (STATE[1] with NOTHING)
    seats: Any  # i64[L]: the seat that moved at each ply
    choices: Any  # i64[L]: how many legal moves it had; written with `counts_choices`
    buffer: Any  # MOVE[max_moves]: working space


@rule
def replay_game(rules, replay, seed, first, end):
    """Deal the game of a seed and play its moves, first..end-1 of `replay.moves`, until one is illegal.

    Returns how many moves were played: all of them if the record is sound. `replay.states[0]` is then the last state.
    """
    state = at(replay.states, 0)
    copy(state, at(replay.blank, 0), rules.state_size)
    seed_state(state, mixed(seed))
    call_deal(get(rules.calls, DEAL), state)
    for i in range(first, end):
        ply, seat, move = i - first, turn_of(state), at(replay.moves, i)
        if seat < 0 or not is_among(rules, state, move, replay.buffer, 0):
            return ply
        set(replay.seats, ply, seat)
        if replay.counts_choices:
            set(replay.choices, ply, abs(legal_moves(rules, state, replay.buffer, 0)))
        if replay.moment == BEFORE:
            copy(at(replay.states, 1 + ply), state, rules.state_size)
        begin_ply(state)
        call_act(get(rules.calls, ACT), state, move)
        if replay.moment == AFTER:
            copy(at(replay.states, 1 + ply), state, rules.state_size)
        call_settle(get(rules.calls, SETTLE), state)
        if replay.moment == SETTLED:
            copy(at(replay.states, 1 + ply), state, rules.state_size)
    return end - first
