"""Counting a game's sequences of legal moves: the first figure to compare with another implementation of its rules.

perft(load("tictactoe"), 3)         # [1, 9, 72, 504]
"""

import numpy as np

from cardai.errors import whole
from cardai.game import Game
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import lend
from cardai.measure.successors import successors
from cardai.playing.compiled import driver
from cardai.playing.table.complaints import Complaints

_DEEPEST = 100_000
_FRONTIER = 512  # positions that a count is split among, so that Ctrl-C is noticed between two of them


def perft(game: Game, depth: int, seats: int | None = None, variant: str | None = None, *, seed: int = 0) -> list[int]:
    """How many sequences of 0, 1, 2, ... `depth` legal moves there are. A game that has ended is not continued.

    The sequences start from the deal `seed`. If the game has chance, it is drawn from that deal's stream, so the counts
    are those of one deal. A position with more than `max_moves` moves counts with those that are listed. Raises
    CardaiError for a depth out of range.
    """
    depth, counts = whole("perft's depth", depth, 0, _DEEPEST), [1]
    with Complaints(game):
        frontier, base = np.array([game.new(seats, seed, variant)], game.state), 0
        while len(counts) <= depth and counts[-1]:
            if len(frontier) < _FRONTIER:
                frontier, base = successors(game, frontier)[2], len(counts)
                counts.append(len(frontier))
            else:
                counts.append(_count_leaves(game, frontier, len(counts) - base))
    return counts + [0] * (depth + 1 - len(counts))


def _count_leaves(game: Game, frontier: np.ndarray, depth: int) -> int:
    rules = lend(game.compiler.rules)
    worlds, left = np.zeros(depth + 1, game.state), np.zeros(depth + 1, np.int64)
    moves = roomy((depth + 1) * game.max_moves, game.move)
    total = 0
    for i in np.flatnonzero(frontier["turn"] >= 0):
        worlds[0] = frontier[i]
        total += int(driver.count_leaves(rules, raw(worlds), raw(moves), raw(left), depth))
    return total
