"""Where the games go that end: sinks, which take them in blocks, in the threads that play."""

from collections import deque
from collections.abc import Callable

import numpy as np

OnGame = Callable[[int, np.ndarray, np.ndarray], None]
"""Called by `play` with (index, moves, scores) when a game ends."""


class Sink:
    """Takes games that have ended. `play` takes a sink as `on_game`."""

    takes_at_once = True
    """Whether games are taken in the threads that play them, while others play, or between two slices of time."""

    def take(
        self, games: np.ndarray, slots: np.ndarray, plies: np.ndarray, logs: np.ndarray, scores: np.ndarray
    ) -> bool:
        """Take G games. Called in the threads that play, in several of them at once.

        `games`: i64[G], their indices. `plies`: i64[G]. `logs`: MOVE[slots, moves]; the moves of game i are
        logs[slots[i], :plies[i]], during this call only. `scores`: f8[G, seats]. Returns True if the thread
        should let the others catch up before it plays on.
        """
        raise NotImplementedError

    def hand_over(self) -> None:
        """Called in the thread that called `play`, between slices of time and at the end."""


class Kept(Sink):
    """Keeps the moves of every game."""

    def __init__(self, count: int) -> None:
        self.moves: list[np.ndarray | None] = [None] * count

    def take(
        self, games: np.ndarray, slots: np.ndarray, plies: np.ndarray, logs: np.ndarray, scores: np.ndarray
    ) -> bool:
        for game, slot, length in zip(games.tolist(), slots.tolist(), plies.tolist(), strict=True):
            self.moves[game] = logs[slot, :length].copy()
        return False


class Each(Sink):
    """Hands games over one by one, in the thread that called `play`."""

    takes_at_once = False

    def __init__(self, on_game: OnGame) -> None:
        self._on_game, self._ended = on_game, deque[tuple[int, np.ndarray, np.ndarray]]()

    def take(
        self, games: np.ndarray, slots: np.ndarray, plies: np.ndarray, logs: np.ndarray, scores: np.ndarray
    ) -> bool:
        for i, game in enumerate(games.tolist()):
            self._ended.append((game, logs[slots[i], : plies[i]].copy(), scores[i]))
        return False

    def hand_over(self) -> None:
        while self._ended:
            self._on_game(*self._ended.popleft())  # removed before the call, which Ctrl-C may end: none comes twice
