"""Plays games move by move and calls every function of the game, noting each call before it is made."""

import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from cardai.errors import CardaiError, place_of
from cardai.game import Game, int_seed
from cardai.laws.answers import asked
from cardai.laws.compiled import Compiled
from cardai.laws.note import note_call, note_place
from cardai.laws.testbed import LawError, Setup
from cardai.playing.table.complaints import Complaints


class Patience:
    """How long each function of a game may take: what has taken `seconds` in all is left out from then on, and counted.

    `in_all` are the seconds for all that is done. Plain Python is some hundred times slower than compiled code; a
    function that counts deals can take seconds a call.
    """

    def __init__(self, seconds: float = math.inf, in_all: float = math.inf) -> None:
        self.seconds, self.last = seconds, time.perf_counter() + in_all
        self.end, self.was_over = self.last, False
        self.plies = self.games = 0  # that were played, and games that were played to their end
        self.taken: defaultdict[str, float] = defaultdict(float)
        self.made: defaultdict[str, int] = defaultdict(int)
        self.left_out: defaultdict[str, int] = defaultdict(int)

    def is_left_for(self, what: str) -> bool:
        """Whether a function may be called again. `what` may end with the seat that it is called for."""
        name = what.partition(" for seat ")[0]
        if self.taken[name] < self.seconds and not self.is_over:
            return True
        self.left_out[name] += 1
        return False

    @property
    def is_over(self) -> bool:
        over = time.perf_counter() >= self.end
        self.was_over |= over
        return over

    def share(self, parts: int) -> None:
        """Let what follows take one of so many parts of the time that is left."""
        now = time.perf_counter()
        self.end = now + (self.last - now) / parts

    def timed(self, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        name, start = what.partition(" for seat ")[0], time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.taken[name] += time.perf_counter() - start
            self.made[name] += 1

    def remark(self) -> str | None:
        if not self.left_out:
            return None
        parts = (f"{name} {self.made[name]} of {self.made[name] + n} times" for name, n in self.left_out.items())
        return f"slow in plain Python, so called there only in part: {', '.join(parts)}"


Question = Callable[[Compiled], Any]
"""A call of a rule about a position. It returns an array."""


def questions(game: Game, states: np.ndarray, seat: int, ply: int) -> dict[str, Question]:
    """What can be asked of the rules about a position, STATE[1], for a seat, by what is called.

    What does not depend on the seat is asked for the seat to move, or for seat 0 if the game is over.
    """
    rules, turn = game.rules, int(states[0]["turn"])
    found: dict[str, Question] = {"resample": lambda on: on.worlds(states, seat, 2, ply)}
    if rules.blank is not None:
        found["blank"] = lambda on: on.blanked(states, seat)
    for name in game.agents.heuristics:
        found[f"heuristic {name}"] = lambda on, name=name: on.values(states, seat, f"heuristic {name}")
    for name in game.learning.encoders:
        found[f"encoder {name}"] = lambda on, name=name: on.encoded(states, seat, name)
    if seat == max(turn, 0) and rules.weight is not None:
        found["weight"] = lambda on: on.weights(states)
    if seat == turn:
        found["legal"] = lambda on: on.moves(states)
        found["is_legal"] = lambda on: on.allowed(states, on.moves(states)[:8])
        if rules.is_open is not None:
            found["is_open"] = lambda on: on.opened(states)
            if rules.simplify is not None:
                found["simplify"] = lambda on: on.simplified(states) if on.opened(states)[0] else states
        for name, player in game.agents.players.items():
            blanks = player.sees == "own"
            found[f"player {name}"] = lambda on, name=name, blanks=blanks: on.choices(
                on.blanked(states, seat) if blanks else on.worlds(states, seat, 1, ply), name, ply
            )
    return found


def texts(game: Game, seats: int, is_over: bool) -> dict[str, Callable[[Any, Any], Any]]:
    """The game's functions in plain Python but `parse`, by what they are called, each of a state and a move.

    If the game `is_over` they take no notice of the move, and those that explain moves are left out.
    """
    found: dict[str, Callable[[Any, Any], Any]] = {}

    def add(role: str, words: str, takes_move: bool, *seat: int) -> None:
        function = game.get(role)
        if function is not None and not (takes_move and is_over):
            found[role + words] = lambda state, move: asked(
                game, role, function, state, *([move] if takes_move else []), *seat
            )

    for seat in range(seats):
        add("show", f" for seat {seat}", False, seat)
        add("zones", f" for seat {seat}", False, seat)
        add("tell", f" to seat {seat}", True, seat)
    for role in ("holdings", "ending")[: 1 + is_over]:
        add(role, "", False)
    add("picks", "", True)
    add("spell", "", True)
    return found


def rewarded(game: Game, state: Any, mover: int, moved: Collection[int]) -> Iterator[tuple[str, int]]:
    """The rewards that are read off a settled state after a move of `mover`: (name, seat).

    `moved`: the seats that have moved in this game. Rewards that wait are those of the seat to move, at the end of all.
    """
    turn = int(state["turn"])
    for name, reward in game.learning.rewards.items():
        ready = [seat for seat in sorted(moved) if turn in (seat, -1)] if reward.waits else [mover]
        yield from ((name, seat) for seat in ready)


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
            role, said = re.split(" (?:for|of|to|and) ", what)[0], str(error)
            raise self.broken(
                what + (said.removeprefix(role) if said.startswith(f"{role} ") else f": {said}")
            ) from error
        except (Exception, SystemExit) as error:  # whatever a game raises, the law reports it
            raise self.broken(f"{what} raised {error!r}{place_of(error)}") from error

    def broken(self, what: str) -> LawError:
        return LawError(f"{self.setup}, seed {self.seed}, ply {self.ply}: {what}")

    def question(self, what: str, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function on whose answer the game does not depend, if there is patience left for it."""
        if self.patience.is_left_for(what):
            self.call(what, self.patience.timed, what, function, *arguments)

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

    def ask(self, states: np.ndarray, moves: np.ndarray) -> None:
        """Call all functions that may be asked about a position with these legal moves; none if the game is over."""
        game, state = self.game, states[0]
        for seat in range(self.setup.seats):
            for what, question in questions(game, states, seat, self.ply).items():
                self.question(f"{what} for seat {seat}", question, self.compiled)
        for move in moves[[0, -1]] if len(moves) else (None,):
            for what, function in texts(game, self.setup.seats, move is None).items():
                text = self.call(what, function, state, move)
                if what == "spell":
                    self.call(f"parse of {text!r}", asked, game, "parse", game.text.parse, state, text)
        for what in ("score", *(f"outcome {name}" for name in game.learning.outcomes)) if not len(moves) else ():
            for seat in range(self.setup.seats):
                self.call(f"{what} for seat {seat}", self.compiled.values, states, seat, what)


def play_through(game: Game, setup: Setup, seed: int, patience: Patience | None = None) -> None:
    """Play a game of random moves. Raises LawError if a function of the game raises or returns what is impossible.

    Functions that only answer questions are called at the plies 0, 1, 2, 4, 8 and so on, and at the end; slow ones
    while there is patience for them. When no time is left, the game is not played on.
    """
    patience = patience or Patience()
    walk, moved = _Walk(game, setup, seed, patience), set[int]()
    states = np.array([walk.call("deal", game.new, setup.seats, seed, setup.variant)], game.state)
    while (turn := walk.turn(states)) >= 0 and walk.ply < game.max_plies:
        if patience.is_over and walk.ply:
            return
        moves = walk.legal(states)
        if walk.ply & (walk.ply - 1) == 0:
            walk.ask(states, moves)
        move = moves[[int(walk.chance.integers(len(moves)))]]
        walk.call("act", walk.compiled.moved, states, move, False)
        states = walk.call("settle", walk.compiled.moved, states, move)
        moved.add(turn)
        for name, seat in rewarded(game, states[0], turn, moved):
            walk.call(f"reward {name} for seat {seat}", walk.compiled.values, states, seat, f"reward {name}")
        walk.ply += 1
        patience.plies += 1
    patience.games += 1
    if turn < 0:
        walk.ask(states, np.zeros(0, game.move))
