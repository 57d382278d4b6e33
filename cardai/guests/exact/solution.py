"""Solving a small game: every position that can be reached, and its value when both players play perfectly.

    solution = solve(load("tictactoe"))
    solution.values[solution.place(state)]

`solve` is for games with two seats whose scores sum to 1, without chance and without hidden information. It checks
that, and its error names the condition that fails.
"""

import functools
from dataclasses import dataclass

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, int_seed
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import door_resample
from cardai.guests.exact.choices import ListedGame
from cardai.measure.successors import CHUNK_BYTES, successors
from cardai.playing.table.complaints import Complaints
from cardai.rules import STREAM, mixed

LIMIT = 1_000_000
"""The most positions that `solve` holds."""


@dataclass(frozen=True, eq=False)
class Solution(ListedGame):
    """All N positions of a game that can be reached, in order of ply, each a place; position 0 is the start."""

    states: np.ndarray  # STATE[N], rng 0
    following: np.ndarray  # i64[C]: the position a choice leads to
    values: np.ndarray  # f8[N] in [0, 1]: seat 0's score when both seats play perfectly from there
    index: dict[bytes, int]  # a position's bytes -> its place

    @property
    def positions(self) -> np.ndarray:
        """The states."""
        return self.states

    @property
    def turns(self) -> np.ndarray:
        """i64[N]: the seat to move, -1 where the game is over."""
        return self.states["turn"]

    @functools.cached_property
    def is_optimal(self) -> np.ndarray:
        """bool[C]: whether a move keeps its position's value."""
        return self.values[self.following] == self.values[self.place_of]

    def place(self, state: np.record) -> int:
        """The number of a position, whatever its random stream. Raises CardaiError if it cannot be reached."""
        key = np.array([state], self.game.state)
        key["rng"] = 0
        if key.tobytes() not in self.index:
            raise CardaiError(f"{self.game.name}: this position cannot be reached from the start")
        return self.index[key.tobytes()]


def solve(game: Game, variant: str | None = None, *, limit: int = LIMIT) -> Solution:
    """Enumerate all positions of a small game and value them by perfect play.

    Two states are the same position if their bytes are, without the random stream. The ply is part of a state, so moves
    never lead back to an earlier position. Raises CardaiError for a game that is not for two seats, has chance or
    hidden information, has scores that do not sum to 1, or has more than `limit` positions.
    """
    with Complaints(game):
        return _solved(game, game.canonical(variant), limit)


def _solved(game: Game, variant: str, limit: int) -> Solution:
    index, width = {_start(game, variant).tobytes(): 0}, game.state.itemsize
    known, sizes, moves, following = list(index), [], [], []
    chunk, done = max(1, CHUNK_BYTES // (game.max_moves * width)), 0
    while done < len(known):
        states = np.frombuffer(b"".join(known[done : done + chunk]), game.state)
        done += len(states)
        counts, played, after = successors(game, states)
        _refuse_odd(game, states, counts, after)
        sizes.append(counts)
        moves.append(played)
        keys = after.tobytes()
        for begin in range(0, len(keys), width):
            key = keys[begin : begin + width]
            following.append(index.setdefault(key, len(index)))
            if following[-1] == len(known):
                known.append(key)
        if len(known) > limit:
            raise CardaiError(f"{game.name} is too large to solve: it has more than {limit} positions")
    states = np.frombuffer(b"".join(known), game.state)
    first, targets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]), np.array(following, np.int64)
    values = _perfect_play(game, states, first, targets)
    return Solution(game, variant, 2, first, np.concatenate(moves), states, targets, values, index)


def _start(game: Game, variant: str) -> np.ndarray:
    """STATE[1]: the start of a two-seat game, with its stream set to 0. Raises CardaiError if the deal uses chance."""
    if 2 not in game.seats:
        raise CardaiError(f"{game.name} cannot be solved: it is for {game.seats[0]} to {game.seats[-1]} seats, not 2")
    start = np.array([game.new(2, 0, variant)], game.state)
    if int(start["rng"][0]) != int(mixed(int_seed(0))):
        raise CardaiError(f"{game.name} cannot be solved: its deal is a matter of chance")
    start["rng"] = 0
    return start


def _refuse_odd(game: Game, states: np.ndarray, sizes: np.ndarray, following: np.ndarray) -> None:
    """Raise CardaiError for hidden information, a truncated list of moves, a seat without a move, and chance."""
    for seat in range(2):
        worlds, streams = states.copy(), np.zeros(1, STREAM)
        for i in range(len(worlds)):
            door_resample(game.compiler.lent, raw(worlds[i : i + 1]), seat, raw(streams))
        worlds["rng"] = 0
        if worlds.tobytes() != states.tobytes():
            raise CardaiError(f"{game.name} cannot be solved: something is hidden from seat {seat}")
    if (sizes < 0).any():
        raise CardaiError(f"{game.name} cannot be solved: a position has more than {game.max_moves} moves")
    if ((sizes == 0) & (states["turn"] >= 0)).any():
        raise CardaiError(f"{game.name}: a seat is to move and has no legal move")
    if following["rng"].any():
        raise CardaiError(f"{game.name} cannot be solved: chance follows a move")


def _perfect_play(game: Game, states: np.ndarray, first: np.ndarray, following: np.ndarray) -> np.ndarray:
    """f8[N]: seat 0's score under perfect play, from the last ply to the first."""
    values, over = np.zeros(len(states)), np.flatnonzero(states["turn"] < 0)
    scores = np.array([game.points(states[i]) for i in over])
    if not np.allclose(scores.sum(axis=1), 1.0):
        raise CardaiError(f"{game.name} cannot be solved: the two scores do not always sum to 1")
    values[over] = scores[:, 0]
    for ply in range(int(states["ply"].max()) - 1, -1, -1):
        for seat, best in ((0, np.maximum), (1, np.minimum)):
            here = np.flatnonzero((states["ply"] == ply) & (states["turn"] == seat))
            if len(here):
                choices = np.concatenate([np.arange(first[i], first[i + 1]) for i in here])
                starts = np.concatenate([[0], np.cumsum(first[here + 1] - first[here])[:-1]])
                values[here] = best.reduceat(values[following[choices]], starts)
    return values
