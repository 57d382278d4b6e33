"""Plays games move by move and calls every function of the game, noting each call before it is made."""

import math
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from cardai.conformance.compiled import Compiled
from cardai.conformance.note import note_call, note_place
from cardai.conformance.testbed import LawError, Setup
from cardai.errors import CardaiError, place_of
from cardai.game import Game, int_seed
from cardai.table.complaints import Complaints


class Patience:
    """How long each function of a game may take: what has taken `seconds` in all is left out from then on, and counted.

    `in_all` are the seconds for all that is done. Plain Python is some hundred times slower than compiled code; a
    function that counts deals can take seconds a call.
    """

    def __init__(self, seconds: float = math.inf, in_all: float = math.inf) -> None:
        self.seconds, self.end = seconds, time.perf_counter() + in_all
        self.last, self.was_over = self.end, False
        self.plies = self.games = 0  # that were played, and games that were played to their end
        self.taken: dict[str, float] = defaultdict(float)
        self.made: dict[str, int] = defaultdict(int)
        self.left_out: dict[str, int] = defaultdict(int)

    def is_left_for(self, what: str) -> bool:
        """Whether a function may be called again. `what` may end with the seat that it is called for."""
        name = what.partition(" for seat ")[0]
        if self.taken[name] < self.seconds and not self.is_over:
            return True
        self.left_out[name] += 1
        return False

    @property
    def is_over(self) -> bool:
        """Whether all time has been spent."""
        over = time.perf_counter() >= self.end
        self.was_over |= over
        return over

    def share(self, parts: int) -> None:
        """Let what follows take one of so many parts of the time that is left."""
        now = time.perf_counter()
        self.end = now + (self.last - now) / parts

    def timed(self, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and count the time."""
        name, start = what.partition(" for seat ")[0], time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.taken[name] += time.perf_counter() - start
            self.made[name] += 1

    def remark(self) -> str | None:
        """What was left out, in words."""
        if not self.left_out:
            return None
        parts = (f"{name} {self.made[name]} of {self.made[name] + n} times" for name, n in self.left_out.items())
        return f"slow in plain Python, so called there only in part: {', '.join(parts)}"


class _Walk:
    """One game of random moves. Every call of the game goes through `call`."""

    def __init__(self, game: Game, setup: Setup, seed: int, patience: Patience) -> None:
        self.game, self.setup, self.seed, self.ply, self.patience = game, setup, seed, 0, patience
        self.compiled, self.chance = Compiled(game), np.random.default_rng(int(int_seed(seed)))

    def call(self, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of the game. An exception in it breaks the law that is being tested."""
        note_place(self.setup, self.seed, self.ply)
        note_call(what)
        try:
            with Complaints(self.game):
                return function(*arguments)
        except CardaiError as error:
            raise self.broken(f"{what}: {error}") from error
        except (Exception, SystemExit) as error:  # whatever a game raises, the law reports it
            raise self.broken(f"{what} raised {error!r}{place_of(error)}") from error

    def broken(self, what: str) -> LawError:
        """The exception for a law that is broken here."""
        return LawError(f"{self.setup}, seed {self.seed}, ply {self.ply}: {what}")

    def question(self, what: str, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function on whose answer the game does not depend, if there is patience left for it."""
        if self.patience.is_left_for(what):
            self.call(what, self.patience.timed, what, function, *arguments)

    def deal(self) -> np.ndarray:
        """The first state: STATE[1]."""
        dealt = self.call("deal", self.game.new, self.setup.seats, self.seed, self.setup.variant)
        return np.array([dealt], self.game.state)

    def legal(self, states: np.ndarray) -> np.ndarray:
        """The legal moves: MOVE[n], n > 0."""
        moves, counts = self.call("legal", self.compiled.legal, states)
        count = abs(int(counts[0]))
        if not 1 <= count <= self.game.max_moves:
            raise self.broken(f"legal says {count} moves; there must be 1 to max_moves, which is {self.game.max_moves}")
        return moves[0, :count]

    def turn(self, states: np.ndarray) -> int:
        """The seat to move, -1 at the end."""
        turn = int(states[0]["turn"])
        if not -1 <= turn < self.setup.seats:
            raise self.broken(f"turn is {turn}; it must be a seat, 0 to {self.setup.seats - 1}, or -1 at the end")
        return turn

    def ask(self, states: np.ndarray) -> None:
        """Call all functions that every seat may ask at any time."""
        game, compiled, state = self.game, self.compiled, states[0]
        for seat in range(self.setup.seats):
            self.question(f"resample for seat {seat}", compiled.worlds, states, seat, 1, self.ply)
            if game.blank is not None:
                self.call(f"blank for seat {seat}", compiled.blanked, states, seat)
            self.call(f"show for seat {seat}", game.show, state, seat)
            if game.zones is not None:
                self.call(f"zones for seat {seat}", game.zones, state, seat)
            for name in game.encoders:
                self.question(f"encoder {name} for seat {seat}", compiled.encoded, states, seat, name)
            for name, heuristic in game.heuristics.items():
                self.question(f"heuristic {name} for seat {seat}", compiled.values, states, seat, heuristic)
        if game.holdings is not None:
            self.call("holdings", game.holdings, state)

    def ask_about(self, states: np.ndarray, moves: np.ndarray, turn: int) -> None:
        """Call the functions that concern the seat to move and its moves."""
        game, compiled, state = self.game, self.compiled, states[0]
        self.call("is_legal", compiled.allowed, states, moves[:2])
        for name, player in game.players.items():
            self.question(f"player {name}", self.choose, states, turn, name, player.sees == "own")
        for move in moves[[0, -1]]:
            text = self.call("spell", game.spell, state, move)
            self.call(f"parse of {text!r}", game.parse, state, text)
            if game.picks is not None:
                self.call(f"picks of {text!r}", game.picks, state, move)
            for seat in range(self.setup.seats) if game.tell is not None else ():
                self.call(f"tell to seat {seat}", game.told, state, move, seat)

    def choose(self, states: np.ndarray, turn: int, name: str, sees_own: bool) -> np.ndarray:
        """What a player of the game does, given what its seat may see: MOVE[1]."""
        given = self.compiled.blanked(states, turn) if sees_own else self.compiled.worlds(states, turn, 1, self.ply)
        return self.compiled.choices(given, name, self.ply)

    def end(self, states: np.ndarray) -> None:
        """Call the functions for the end of a game."""
        for seat in range(self.setup.seats):
            self.call(f"score of seat {seat}", self.compiled.values, states, seat)
            for name, outcome in self.game.outcomes.items():
                self.call(f"outcome {name} of seat {seat}", self.compiled.outcomes, states, seat, outcome)
        if self.game.ending is not None:
            self.call("ending", self.game.ending, states[0])


def play_through(game: Game, setup: Setup, seed: int, patience: Patience | None = None) -> None:
    """Play a game of random moves. Raises LawError if a function of the game raises or returns what is impossible.

    Functions that only answer questions are called at the plies 0, 1, 2, 4, 8 and so on, and at the end; slow ones
    while there is patience for them. When no time is left, the game is not played on.
    """
    patience = patience or Patience()
    walk = _Walk(game, setup, seed, patience)
    states = walk.deal()
    while (turn := walk.turn(states)) >= 0 and walk.ply < game.max_plies:
        if patience.is_over and walk.ply:
            return
        moves = walk.legal(states)
        if walk.ply & (walk.ply - 1) == 0:
            walk.ask(states)
            walk.ask_about(states, moves, turn)
        move = moves[[int(walk.chance.integers(len(moves)))]]
        walk.call("act", walk.compiled.moved, states, move, False)
        states = walk.call("settle", walk.compiled.moved, states, move)
        for name, reward in game.rewards.items():
            walk.call(f"reward {name} of seat {turn}", walk.compiled.outcomes, states, turn, reward)
        walk.ply += 1
        patience.plies += 1
    patience.games += 1
    walk.ask(states)
    if turn < 0:
        walk.end(states)
