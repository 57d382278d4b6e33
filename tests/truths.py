"""The true state of a game at a table, which no table shows, and what is expected of random play at Tic-Tac-Toe."""

import functools

from cardai.game import GameState
from cardai.playing.table.one import OneGame


def truth_of(table: OneGame, ply: int | None = None) -> GameState:
    """The game replayed by its seed and moves."""
    state = table.game.new(table.seats, table.seed, table.variant)
    for move in table.moves[:ply]:
        state = table.game.play(state, move)
    return state


LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]


def expected_at_random(figures):
    """The expected sum of figures(free cells) over the positions of Tic-Tac-Toe when both players move at random."""

    @functools.cache
    def from_here(own, other):
        free = set(range(9)) - own - other
        if any(line <= other for line in LINES) or not free:
            return 0.0
        return sum(from_here(other, own | {cell}) for cell in free) / len(free) + figures(len(free))

    return from_here(frozenset(), frozenset())
