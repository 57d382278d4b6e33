"""Every legal move of many positions, played: what counting and solving a game's tree have in common."""

import numpy as np

from cardai.game import Game
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import at, copy, raw, set, turn_of
from cardai.game.compiled.rules import legal_moves, lend, play_move
from cardai.rules import rule

CHUNK_BYTES = 1 << 24
"""About how many bytes of states are worked on at once."""


def successors(game: Game, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `expand` writes for states STATE[N]: sizes i64[N], the moves MOVE[E], the states after them STATE[E]."""
    rules, sizes = lend(game.compiler.rules), np.zeros(len(states), np.int64)
    moves = roomy(game.max_moves, game.move)
    chunk = max(1, CHUNK_BYTES // (game.max_moves * (game.state.itemsize + game.move.itemsize)))
    played, following = [], []
    for first in range(0, len(states), chunk):
        part = np.ascontiguousarray(states[first : first + chunk])
        room = len(part) * game.max_moves
        moved, after = np.zeros(room, game.move), np.zeros(room, game.state)
        n = expand(rules, raw(part), len(part), raw(moves), raw(moved), raw(after), raw(sizes[first : first + chunk]))
        played.append(moved[:n].copy())
        following.append(after[:n].copy())
    return sizes, np.concatenate(played), np.concatenate(following)


@rule
def expand(rules, states, count, moves, played, following, sizes):
    """Play every legal move of each of `count` positions. Returns how many moves were played in all.

    `played` and `following` get the moves and the states after them, position after position. sizes[i] is the number of
    moves of states[i]: 0 if the game is over there, negative if the enumeration was truncated.
    """
    n = 0
    for i in range(count):
        state = at(states, i)
        size = 0 if turn_of(state) < 0 else legal_moves(rules, state, moves, 0)
        set(sizes, i, size)
        for k in range(abs(size)):
            copy(at(played, n), at(moves, k), rules.move_size)
            copy(at(following, n), state, rules.state_size)
            play_move(rules, at(following, n), at(moves, k))
            n += 1
    return n
