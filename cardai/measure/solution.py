"""Solving a small game: every position that can be reached, and its value when both players play perfectly.

    solution = solve(load("tictactoe"))
    solution.value(state, seat)

`solve` is for games with two seats whose scores sum to 1, without chance and without hidden information. It checks
that, and its error names the condition that fails.
"""

import functools
from dataclasses import dataclass

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, int_seed
from cardai.kernel.native import at, call_resample, call_score, get, raw, set_float, turn_of
from cardai.kernel.rules import RESAMPLE, SCORE, lend
from cardai.measure.successors import CHUNK_BYTES, successors
from cardai.rule import STREAM, mixed, rule
from cardai.table.complaints import Complaints

LIMIT = 1_000_000
"""The most positions that `solve` holds."""


@dataclass(frozen=True, eq=False)
class Solution:
    """All N positions of a game that can be reached, in order of ply, and all E moves between them.

    Position 0 is the start. The moves of position i are those numbered first[i] to first[i + 1] - 1, in canonical
    order. `values`: seat 0's score when both seats play perfectly from there.
    """

    game: Game
    variant: str
    states: np.ndarray  # STATE[N], rng 0
    first: np.ndarray  # i64[N + 1]
    moves: np.ndarray  # MOVE[E]
    following: np.ndarray  # i64[E]: the position a move leads to
    values: np.ndarray  # f8[N] in [0, 1]
    index: dict[bytes, int]  # a position's bytes -> its place

    @property
    def turns(self) -> np.ndarray:
        """i64[N]: the seat to move, -1 where the game is over."""
        return self.states["turn"]

    @functools.cached_property
    def parents(self) -> np.ndarray:
        """i64[E]: the position each move starts from."""
        return np.repeat(np.arange(len(self.states)), np.diff(self.first))

    @functools.cached_property
    def is_optimal(self) -> np.ndarray:
        """bool[E]: whether a move keeps its position's value."""
        return self.values[self.following] == self.values[self.parents]

    def place(self, state: np.record) -> int:
        """The number of a position, whatever its random stream. Raises CardaiError if it cannot be reached."""
        key = np.array([state], self.game.state)
        key["rng"] = 0
        if key.tobytes() not in self.index:
            raise CardaiError(f"{self.game.name}: this position cannot be reached from the start")
        return self.index[key.tobytes()]

    def value(self, state: np.record, seat: int) -> float:
        """Returns the score of `seat`, in [0, 1], if both seats play perfectly from here with full information."""
        value = float(self.values[self.place(state)])
        return value if seat == 0 else 1.0 - value


def solve(game: Game, variant: str | None = None, *, limit: int = LIMIT) -> Solution:
    """Enumerate all positions of a small game and value them by perfect play.

    Two states are the same position if their bytes are, without the random stream. The ply is part of a state, so moves
    never lead back to an earlier position. Raises CardaiError for a game that is not for two seats, has chance or
    hidden information, has scores that do not sum to 1, or has more than `limit` positions.
    """
    with Complaints(game):
        return _solved(game, game.canonical(variant), limit)


def _solved(game: Game, variant: str, limit: int) -> Solution:
    index = {_start(game, variant).tobytes(): 0}
    known = list(index)
    sizes, moves, following = [], [], []
    chunk = max(1, CHUNK_BYTES // (game.max_moves * game.state.itemsize))
    done = 0
    while done < len(known):
        states = np.frombuffer(b"".join(known[done : done + chunk]), game.state)
        done += len(states)
        _refuse_hidden(game, states)
        counts, played, after = successors(game, states)
        _refuse_odd(game, states, counts, after)
        sizes.append(counts)
        moves.append(played)
        keys, width = after.tobytes(), game.state.itemsize
        for at_byte in range(0, len(keys), width):
            key = keys[at_byte : at_byte + width]
            place = index.setdefault(key, len(index))
            if place == len(known):
                known.append(key)
            following.append(place)
        if len(known) > limit:
            raise CardaiError(f"{game.name} is too large to solve: it has more than {limit} positions")
    states = np.frombuffer(b"".join(known), game.state)
    first = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    targets = np.array(following, np.int64)
    values = _perfect_play(game, states, first, targets)
    return Solution(game, variant, states, first, np.concatenate(moves), targets, values, index)


def _start(game: Game, variant: str) -> np.ndarray:
    """STATE[1]: the start of a two-seat game, with its stream set to 0. Raises CardaiError if the deal uses chance."""
    if 2 not in game.seats:
        raise CardaiError(f"{game.name} cannot be solved: it is for {game.seats[0]} to {game.seats[-1]} seats, not 2")
    start = np.array([game.new(2, 0, variant)], game.state)
    if int(start["rng"][0]) != int(mixed(int_seed(0))):
        raise CardaiError(f"{game.name} cannot be solved: its deal is a matter of chance")
    start["rng"] = 0
    return start


def _refuse_hidden(game: Game, states: np.ndarray) -> None:
    """Raise CardaiError if a world of some seat differs from the state it was made of."""
    rules, streams = lend(game.compiler.rules), np.zeros(1, STREAM)
    for seat in range(2):
        worlds = states.copy()
        look_from(rules, raw(worlds), len(worlds), seat, raw(streams))
        if worlds.tobytes() != states.tobytes():
            raise CardaiError(f"{game.name} cannot be solved: something is hidden from seat {seat}")


def _refuse_odd(game: Game, states: np.ndarray, sizes: np.ndarray, following: np.ndarray) -> None:
    """Raise CardaiError for a truncated enumeration, a seat without a move, or chance after a move."""
    if (sizes < 0).any():
        raise CardaiError(f"{game.name} cannot be solved: a position has more than {game.max_moves} moves")
    if ((sizes == 0) & (states["turn"] >= 0)).any():
        raise CardaiError(f"{game.name}: a seat is to move and has no legal move")
    if following["rng"].any():
        raise CardaiError(f"{game.name} cannot be solved: chance follows a move")


def _perfect_play(game: Game, states: np.ndarray, first: np.ndarray, following: np.ndarray) -> np.ndarray:
    """f8[N]: seat 0's score under perfect play, from the last ply to the first."""
    scores = np.zeros((len(states), 2))
    score_ends(lend(game.compiler.rules), raw(states), len(states), raw(scores))
    over = states["turn"] < 0
    if not np.allclose(scores[over].sum(axis=1), 1.0):
        raise CardaiError(f"{game.name} cannot be solved: the two scores do not always sum to 1")
    values = scores[:, 0].copy()
    for ply in range(int(states["ply"].max()) - 1, -1, -1):
        for seat, best in ((0, np.maximum), (1, np.minimum)):
            here = np.flatnonzero((states["ply"] == ply) & (states["turn"] == seat))
            if len(here):
                edges = np.concatenate([np.arange(first[i], first[i + 1]) for i in here])
                starts = np.concatenate([[0], np.cumsum(first[here + 1] - first[here])[:-1]])
                values[here] = best.reduceat(values[following[edges]], starts)
    return values


@rule
def score_ends(rules, states, count, scores):
    """Write both seats' scores, f8[count, 2], of each position that is over. The rows of others are not changed."""
    for i in range(count):
        if turn_of(at(states, i)) < 0:
            for seat in range(2):
                set_float(scores, 2 * i + seat, call_score(get(rules.calls, SCORE), at(states, i), seat))


@rule
def look_from(rules, states, count, seat, streams):
    """Make a world of `seat` of each of `count` positions, in place."""
    for i in range(count):
        call_resample(get(rules.calls, RESAMPLE), at(states, i), seat, at(streams, 0))
