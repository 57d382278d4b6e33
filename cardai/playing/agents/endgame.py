"""Perfect play in open positions: the solver for any game, and the agent `endgame:SPEC` that plays by it.

    solver = EndingSolver(game)
    solved = solver.solve(states)[0]     # of an open position: its moves, and the score of each under perfect play

A position is open if nothing is hidden from the seat to move, and chance decides nothing, from there to the end. A game
says so by its rule `is_open`. `cardai.playing.compiled.ending` describes the search.
"""

import copy
import functools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.errors import CardaiError, whole
from cardai.game import Game, is_game
from cardai.game.compiled import native
from cardai.game.compiled.doors import check_states, check_written
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import lend
from cardai.playing.agents.strategy import Strategy, Thinking
from cardai.playing.compiled import ending
from cardai.playing.compiled.ending import BRANCH, ENTRY, NODE, OPEN, WAYS, SearchSpace

NODES = 300_000
"""The most positions that the agent visits for one decision: about a second."""
TABLE = 1 << 18  # entries of a table of positions, 40 bytes each
DEPTH = 1000  # positions on a line
ROOM = 20_000  # moves of all positions on a line, besides those of the last one


@dataclass(frozen=True)
class SolvedEnding:
    """The N legal moves of an open position and what each is worth if both seats play perfectly after it.

    `moves`: MOVE[N]. `scores`: f8[N], the score of the seat to move, in [0, 1]; NaN for all moves if the position was
    not solved. `nodes`: the number of positions visited.
    """

    moves: np.ndarray
    scores: np.ndarray
    nodes: int

    @property
    def is_solved(self) -> bool:
        """Whether the scores are known."""
        return not np.isnan(self.scores).any()

    @property
    def best(self) -> float:
        """The score of the seat to move under perfect play; NaN if it is not known."""
        return float(self.scores.max())


class EndingSolver:
    """Solves open positions of one game, and remembers positions from one to the next.

    `nodes`: the most positions that are visited for one of them. Its methods may be called by one thread at a time.
    Raises CardaiError if the game declares no open positions.
    """

    def __init__(self, game: Game, nodes: int = NODES, table: int = TABLE) -> None:
        _open_rule(is_game(game))
        self.game, self.nodes = game, whole("nodes", nodes, 1)
        if table < WAYS or table & (table - 1):
            raise CardaiError(f"table must be a power of two from {WAYS}, not {table}")
        self._rules, self._moves = game.compiler.rules, roomy(game.max_moves, game.move)
        room = ROOM + 2 * game.max_moves
        self._space = SearchSpace(
            DEPTH,
            room,
            native.addresses([game.compiler.entry("simplify", game.rules.simplify) if game.rules.simplify else 0]),
            game.rules.simplify is not None,
            np.zeros(DEPTH + 1, game.state),
            roomy(room, game.move),
            np.zeros(3, np.int64),
            np.zeros(128),
        )
        self._branches = np.zeros(room, BRANCH)
        self._line, self._table = np.zeros(DEPTH + 1, NODE), np.zeros(table, ENTRY)

    def solve(self, states: np.ndarray) -> list[SolvedEnding]:
        """Solve STATE[N]. Raises CardaiError if one is not an open position with a seat to move."""
        states = open_only(self.game, states)
        return [self._solved(states[i : i + 1]) for i in range(len(states))]

    def _solved(self, state: np.ndarray) -> SolvedEnding:
        scores, lent = np.zeros(len(self._moves)), (raw(state), raw(self._moves))
        count, visited, is_sound = ending.score_moves(*self._lent, *lent, raw(scores))  # pyright: ignore[reportCallIssue]
        scores = scores[: abs(count)]
        if not is_sound:
            self.forget()
        if count < 0 or (scores == OPEN).any() or not is_sound:
            scores[:] = np.nan
        return SolvedEnding(self._moves[: abs(count)].copy(), scores, int(visited))

    def mend(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Replace moves that surely give score away by better ones, in place.

        states: STATE[N], open positions. moves: MOVE[N], one for each. A move is replaced by a best one, or left as it
        is if the solver does not find out within its limit. Returns the number of positions visited for each, i64[N].
        """
        states, visits = open_only(self.game, states), np.zeros(len(states), np.int64)
        check_written("moves", moves, self.game.move, "moves", len(states))
        lent = raw(states), len(states), raw(self._moves), raw(moves), raw(visits)
        if not ending.mend_each(*self._lent, *lent):  # pyright: ignore[reportCallIssue]
            self.forget()
        return visits

    def forget(self) -> None:
        """Forget all positions."""
        self._table[:] = 0

    @property
    def _lent(self) -> tuple[Any, ...]:
        return lend(self._rules), lend(self._space), self._line, self._branches, self._table, self.nodes


class Endgame(Strategy):
    """Plays open positions without mistakes, and everything else as the agent `inner` does.

    In an open position it asks `inner` for a move. If that move surely gives score away, it plays a best one instead.
    A decision that takes more than `nodes` positions is left to `inner`.
    """

    def __init__(self, inner: Any, game: Game, nodes: int = NODES) -> None:
        if inner.peeks:
            raise CardaiError(f"an agent that peeks cannot be given an ending, and {inner.spec!r} peeks")
        if inner.strategy.randomised:
            raise CardaiError(f"agent {inner.spec!r} draws its parameters anew for each game; name fixed ones")
        _open_rule(game)
        self.inner, self.game, self.nodes = inner, game, whole("nodes", nodes, 1)
        self.is_foreign, self.explores = inner.is_foreign, inner.strategy.explores
        self._lock = threading.Lock()

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError if the inner agent cannot play this variant or number of seats."""
        self.inner.check_fits(game, variant, seats)

    def at_table(self, game: Game, states: np.ndarray) -> "Endgame":
        """Return the strategy with the inner agent as it is at the table. Both share what they know of endings."""
        inner = self.inner.at_table(game, states)
        if inner is self.inner:
            return self
        there = copy.copy(self)
        there.inner = inner
        return there

    def think(self, decisions: Any) -> Thinking:
        """Let the inner agent decide, in its own rounds, and mend its mistakes in open positions."""
        if self.inner.strategy.is_native:
            moves = decisions.moves_of(self.inner)
        else:
            moves = yield from self.inner.strategy.think(decisions)
        places, worlds = decisions.open_positions()
        if len(places):
            mended = moves[places]
            with self._lock:
                self._solver.mend(worlds, mended)
            moves[places] = mended
        return moves

    @functools.cached_property
    def _solver(self) -> Any:
        return solver_of(self.game, self.nodes)


def which_are_open(game: Game, states: np.ndarray) -> np.ndarray:
    """Which of STATE[N] are open positions with a seat to move: bool[N]. Raises CardaiError if it has none."""
    states = check_states("states", states, game.state, game.name, game.seats, False)
    found, all_of_them = np.zeros(len(states), np.int64), np.arange(len(states))
    ending.find_open(
        game.compiler.entry("is_open", _open_rule(game)), raw(states), raw(all_of_them), len(states), raw(found)
    )
    return found != 0


def open_only(game: Game, states: np.ndarray) -> np.ndarray:
    """Return STATE[N] in one piece. Raises CardaiError if one is not an open position with a seat to move."""
    if not (opened := which_are_open(game, states)).all():
        raise CardaiError(f"{game.name}: state {int(np.argmin(opened))} is no open position")
    return np.ascontiguousarray(states)


def solver_of(game: Game, nodes: int) -> Any:
    """The game's own solver of open positions if it brings one (`Agents.solver`), otherwise a `EndingSolver`."""
    return game.agents.solver(game, nodes) if game.agents.solver is not None else EndingSolver(game, nodes)


def _open_rule(game: Game) -> Callable[..., bool]:
    """The game's rule `is_open`. Raises CardaiError if it has none."""
    if game.rules.is_open is None:
        raise CardaiError(f"{game.name} has no endings to solve: it does not say where nothing is hidden (is_open)")
    return game.rules.is_open
