"""Counting a game's sequences of legal moves: the first figure to compare with another implementation of its rules.

perft(load("tictactoe"), 3)         # [1, 9, 72, 504]
"""

import time
from collections.abc import Callable

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, GameState
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import lend
from cardai.measure.successors import successors
from cardai.playing.compiled import driver
from cardai.playing.table.complaints import Complaints

SECONDS = 60.0  # how long a depth may take before `perft` asks for a depth
_DEEPEST = 100_000
_FRONTIER = 512  # positions that a count is split among, so that Ctrl-C is noticed between two of them


def perft(
    game: Game,
    depth: int | None = None,
    seats: int | None = None,
    variant: str | None = None,
    *,
    seed: int = 0,
    seconds: float = SECONDS,
    on_depth: Callable[[int, int], None] | None = None,
) -> list[int]:
    """How many sequences of 0, 1, 2, ... `depth` legal moves there are. A game that has ended is not continued.

    The sequences start from the deal `seed`. If the game has chance, it is drawn from that deal's stream, so the counts
    are those of one deal. `on_depth(depth, count)` is called with each count as soon as it is known. A position with
    more than `max_moves` moves counts with those that are listed.

    Without a depth, it counts until no sequence is left. Raises CardaiError, with the counts so far, if a depth would
    then take longer than about `seconds`, and for a depth out of range.
    """
    if depth is not None and depth < 0:
        raise CardaiError(f"perft counts to a depth of 0 or more, not {depth}")
    if depth is not None and depth > _DEEPEST:
        raise CardaiError(f"perft counts to a depth of {_DEEPEST} at most, not {depth}")
    with Complaints(game):
        return _counted(game, depth, game.new(seats, seed, variant), seconds, on_depth)


def _counted(
    game: Game, depth: int | None, deal: GameState, seconds: float, on_depth: Callable[[int, int], None] | None
) -> list[int]:
    start = np.array([deal], game.state)
    counts, frontier, base, took = [1], start, 0, 0.0
    while depth is None or len(counts) <= depth:
        growth = counts[-1] / max(counts[-2], 1) if len(counts) > 1 else 1.0
        if depth is None and took * growth > seconds:
            raise CardaiError(
                f"{game.name}: {len(counts)} moves deep would take about {took * growth:.0f} s to count; "
                f"name a depth to count so far all the same (so far: {', '.join(map(str, counts))})"
            )
        began = time.perf_counter()
        if len(frontier) < _FRONTIER:
            frontier, base = successors(game, frontier)[2], len(counts)
            count = len(frontier)
        else:
            count = _count_leaves(game, frontier, len(counts) - base)
        took = time.perf_counter() - began
        if count == 0:  # nothing is left at any depth
            return counts if depth is None else counts + [0] * (depth + 1 - len(counts))
        counts.append(count)
        if on_depth:
            on_depth(len(counts) - 1, count)
    return counts


def _count_leaves(game: Game, frontier: np.ndarray, depth: int) -> int:
    rules = lend(game.compiler.rules)
    worlds, left = np.zeros(depth + 1, game.state), np.zeros(depth + 1, np.int64)
    moves = roomy((depth + 1) * game.max_moves, game.move)
    total = 0
    for i in np.flatnonzero(frontier["turn"] >= 0):
        worlds[0] = frontier[i]
        total += int(driver.count_leaves(rules, raw(worlds), raw(moves), raw(left), depth))
    return total
