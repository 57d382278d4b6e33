"""One game at a table, played move by move: for a terminal, a web page, or an adapter to another program.

    table = OneGame(game, [None, agent(game, "bot3")], seed=7)     # None: this seat's moves come from outside
    while not table.is_over:
        if table.is_waiting:
            print(table.view(table.turn))
            table.play(table.parse(input("> ")))
        else:
            table.step()
    print(table.scores())

The true state stays inside. `view`, `history`, `seen`, `world`, `legal_moves`, `spell` and `parse` give what one seat
may know.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardai.errors import BadArgument, CardaiError, IllegalMove, short, whole
from cardai.game import Game, GameState, int_seed, is_game
from cardai.game.compiled.doors import check_list, check_seat, check_text
from cardai.game.compiled.native import at, raw
from cardai.game.compiled.rules import lend
from cardai.playing.agents.outside import Seated
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import Person
from cardai.playing.compiled import driver
from cardai.playing.compiled.driver import Order
from cardai.playing.table import second_process
from cardai.playing.table.asking import Inquiry, draw_worlds, pending_of
from cardai.playing.table.cast import cast_of, games_of, scratch_of, slots_of
from cardai.playing.table.complaints import Complaints, NoNumber
from cardai.playing.table.following import MoveTold, by_round, events, told, world_of

OUTSIDE = Agent("outside", Person())
"""Sits where no agent does: its moves come through `OneGame.play`."""


class OneGame:
    """One game, one move at a time.

    `agents`: one agent for each seat; None for a seat whose moves come from outside, through `play`. The game is the
    one that `cardai.play` plays with the same seed, the same agents and the same moves from outside. Raises CardaiError
    if the game does not allow so many seats, does not know the variant, or an agent does not fit.
    """

    def __init__(self, game: Game, agents: Sequence[Agent | None], seed: int = 0, variant: str | None = None) -> None:
        is_game(game)
        seated = check_list("agents", agents, (Agent, type(None)), "agents, or None for a seat played from outside")
        self.game, self.seats, self.seed = game, len(seated), int(int_seed(seed))
        self.variant = game.canonical(variant)
        self.agents = tuple(OUTSIDE if agent is None else agent for agent in seated)
        blank = game.options(self.seats, variant)
        for agent in self.agents:
            agent.check_fits(game, variant, self.seats)
        self.agents = tuple(agent.at_table(game, blank) for agent in self.agents)
        self._history: list[tuple[GameState, np.record]] = []  # the state before each move, and the move
        self._worlds: np.ndarray | None = None  # STATE[1]: the world of the seat to move, once it was asked for
        strategies = [agent.strategy for agent in self.agents]
        self._cast = cast_of(game, strategies)
        self._slots = slots_of(game, self._cast, 1, self.seats)
        self._slots.status[:], self._slots.following[:] = driver.RUNNING, 1
        seeds, lineups = np.array([self.seed], np.uint64), np.arange(self.seats).reshape(1, self.seats)
        self._games = games_of(game, blank, seeds, lineups)
        self._scratch, self._picked = scratch_of(game, strategies), np.zeros(1, np.int64)
        self._order = Order(1, game.max_plies, 0, False, False)
        self._lent: Any = tuple(map(lend, (game.compiler.rules, self._cast, self._games, self._slots, self._scratch)))
        rules, cast, games, slots, _ = self._lent
        second_process.finish()
        driver.deal_game(rules, games, 0, at(slots.states, 0))
        driver.seat_players(cast, games, slots, 0, 0)
        self._streams = [self._slots.streams.copy()]  # STREAM[seats] before each ply
        self._tables: dict[int, tuple[int, int]] = {}  # by seat of an agent that follows: its table, what it was told

    # Whose turn it is.

    @property
    def turn(self) -> int:
        """The seat to move, or -1 if the game is over."""
        return int(self._slots.states["turn"][0])

    @property
    def ply(self) -> int:
        """How many moves have been played."""
        return int(self._slots.states["ply"][0])

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.turn < 0

    @property
    def is_waiting(self) -> bool:
        """Whether a seat without an agent is to move. Then `step` does nothing and `play` must be called."""
        if self.is_over:
            return False
        return isinstance(self.agents[self.turn].strategy, Person)

    @property
    def choosing(self) -> list[int]:
        """The seats that may choose now, as `Game.choosing` lists them: several if they choose at the same time."""
        return self.game.choosing(self._state)

    # What a seat may know.

    def view(self, seat: int) -> str:
        """What a seat sees now, in the game's words. Raises CardaiError if there is no such seat."""
        seat = check_seat("seat", seat, self.seats)
        return self.game.text.show(world_of(self.game, self._state, seat, self.seed), seat)

    def history(self, seat: int, since: int = 0, seed: int | None = None) -> list[tuple[int, str]]:
        """The moves from ply `since` on, as (the seat that moved, its move in words that `seat` may read).

        `seed`: see `seen`; the game's own if it is None. Raises CardaiError if there is no such seat, for a
        ply below 0, and for a seed that is no whole number.
        """
        seat, seed = check_seat("seat", seat, self.seats), self.seed if seed is None else int(int_seed(seed))
        return [told(self.game, before, move, seat, seed) for before, move in self._history[whole("since", since, 0) :]]

    def events(self, seat: int, since: int = 0, seed: int | None = None) -> list[MoveTold]:
        """The moves from ply `since` on as `seat` may read them, with what they led to. Arguments as in `history`."""
        seat, seed = check_seat("seat", seat, self.seats), self.seed if seed is None else int(int_seed(seed))
        past = self._history[whole("since", since, 0) :]
        return events(self.game, [before for before, _ in past] + [self._state], [move for _, move in past], seat, seed)

    def by_round(self, seat: int) -> dict[str, list] | None:
        """The rounds of a match so far, see `following.by_round`. Raises CardaiError as `history` does."""
        return by_round(self.game, self.events(seat), self.seen(seat, self.seed))

    def seen(self, seat: int, seed: int) -> GameState:
        """A world of `seat` in the present position, whoever is to move: to make a view from, never to decide by.

        `seed`: any number of the caller's own, which decides what is dealt anew. The game's streams stay where they
        are, so looking changes no agent's luck. Raises CardaiError if there is no such seat.
        """
        return world_of(self.game, self._state, check_seat("seat", seat, self.seats), seed)

    def world(self) -> GameState:
        """The world in which the seat to move decides: what it knows is true, all else is dealt anew.

        It stays the same until a move is played. Raises CardaiError if the game is over.
        """
        if self.is_over:
            raise CardaiError(f"{self.game.name}: the game is over, nobody is to move")
        if self._worlds is None:
            slots, worlds = self._slots, np.zeros(1, self.game.state)
            # An agent draws its own worlds when it decides: looking on must not change its luck.
            streams = slots.streams if self.is_waiting else slots.streams.copy()
            draw_worlds(self.game, slots.states, streams, self._picked, self._picked + self.turn, worlds)
            self._worlds = worlds
        return self._worlds.copy()[0]

    def legal_moves(self) -> tuple[np.ndarray, bool]:
        """Returns the legal moves of the seat to move, MOVE[n] in canonical order, and whether there are more of them.

        There are more only if the game's buffer of `max_moves` is too small; any legal move can be played.
        """
        return self.game.enumerate(self.world())

    def is_legal(self, move: np.record) -> bool:
        """Whether the seat to move may play this move."""
        return self.game.is_allowed(self.world(), move)

    def spell(self, move: np.record) -> str:
        """A move of the seat to move, in words. Raises IllegalMove for a move that it may not play."""
        return self.game.told(self.world(), move, self.turn)

    def parse(self, text: str) -> np.record:
        """Returns the move that a text names for the seat to move, legal or not. Raises ValueError if it names none."""
        try:
            return self.game.text.parse(self.world(), check_text("text", text))
        except ValueError as error:
            raise BadArgument(str(error)) from None

    # Playing.

    def step(self) -> bool:
        """Let the agent whose turn it is play one move.

        Returns True if a move was played, and False if a seat without an agent is to move or the game is over.
        Raises CardaiError if the game breaks its contract, or an agent or its evaluator fails.
        """
        before = self._state
        if self._ask_compiled():
            self._note(before, self._slots.chosen.copy()[0])
            return True
        if self.is_over or self.is_waiting:
            return False
        with Complaints(self.game):
            move = self._think()
        self._commit(move)
        return True

    def run(self) -> int:
        """Let agents play until a seat without an agent is to move or the game is over. Returns how many moves."""
        start = self.ply
        while self.step():
            pass
        return self.ply - start

    def play(self, move: np.record) -> None:
        """Play a move for the seat to move, which must be one without an agent.

        Raises IllegalMove if the rules do not allow the move, and CardaiError if an agent is to move or the game did
        not end within its `max_plies`.
        """
        if not self.is_over and not self.is_waiting:
            raise CardaiError(f"seat {self.turn} is played by {self.agents[self.turn].label}; step() lets it move")
        if not isinstance(move, np.void) or move.dtype != self.game.move:
            raise IllegalMove(f"{short(move)} is not a move of {self.game.name}")
        self._commit(move)

    def rewind(self, ply: int) -> None:
        """Take back all moves from `ply` on. The game is, to the byte, as it was before that move.

        So agents make the same moves again, except Python code that remembers or draws numbers of its own. Raises
        CardaiError for a ply that was not reached.
        """
        ply = whole("ply", ply, 0, self.ply)
        if ply < self.ply:
            self._slots.states[0] = self._history[ply][0]
        self._slots.streams[:] = self._streams[ply]
        self._slots.status[0], self._games.finished[0], self._worlds = driver.RUNNING, 0, None
        self._end_tables()  # what agents were told of it is not true any more
        del self._history[ply:], self._streams[ply + 1 :]

    def first_of_series(self, ply: int) -> int:
        """The ply at which the choice began that the move at `ply` belongs to (`Text.series`).

        Raises CardaiError for a ply at which no move was made.
        """
        ply = whole("ply", ply, 0, self.ply - 1)
        seat = self._history[ply][0]["turn"]
        while ply and (before := self._history[ply - 1][0])["turn"] == seat and self.game.in_series(before) > 1:
            ply -= 1
        return ply

    # What was played, and the result.

    @property
    def movers(self) -> list[int]:
        """The seat that made each move so far."""
        return [int(before["turn"]) for before, _ in self._history]

    @property
    def moves(self) -> np.ndarray:
        """All moves so far, MOVE[ply]: for a record of the game. They may hold what some seats must not see."""
        return np.array([move for _, move in self._history], self.game.move)

    def scores(self) -> np.ndarray:
        """Each seat's score, f8[seats] in [0, 1]. Raises CardaiError if the game is not over."""
        return self.game.points(self._state)

    def outcomes(self) -> dict[str, np.ndarray]:
        """Each seat's outcomes, f8[seats] by name (`Learning.outcomes`). Raises CardaiError if the game is not over."""
        return {name: self.game.outcome(self._state, name) for name in self.game.learning.outcomes}

    def ending(self) -> str | None:
        """Returns how the game ended, in a sentence of the game that every seat may read.

        Returns None if the game has no such sentence.
        Raises CardaiError if the game is not over.
        """
        if not self.is_over:
            raise CardaiError(f"{self.game.name}: the game is not over, there is no ending yet")
        return self.game.text.ending(self._state) if self.game.text.ending else None

    @property
    def _state(self) -> GameState:
        """A copy of the true state."""
        return self._slots.states.copy()[0]

    def _note(self, before: GameState, move: np.record) -> None:
        self._history.append((before, move))
        self._streams.append(self._slots.streams.copy())
        self._worlds = None
        if self.is_over:
            self._end_tables()

    def _ask_compiled(self) -> bool:
        """Let an agent inside compiled code play its move. Returns False if the seat to move has none."""
        with Complaints(self.game):
            moved = driver.advance(*self._lent, self._order, 0, 1, 1)  # pyright: ignore[reportCallIssue]
        if self._slots.status[0] == driver.STUCK:
            raise CardaiError(f"{self.game.name}: seat {self.turn} is to move and has no legal move")
        if self._slots.status[0] == driver.NO_NUMBER:
            raise NoNumber(self.agents[self.turn])
        if self._games.finished[0] == driver.ENDLESS:
            raise self._endless()
        return bool(moved)

    def _think(self) -> np.record:
        """The move of an agent that thinks outside compiled code."""
        slots, inquiry = self._slots, Inquiry(self.game, self.agents[self.turn])
        seated = [self._seated(self.turn)] if inquiry.agent.strategy.follows else None
        pending = pending_of(slots.states, slots.streams, self._picked, self._picked + self.turn, slots.limits)
        inquiry.begin(pending, seated=seated)
        return inquiry.finish()[0]

    def _seated(self, seat: int) -> Seated:
        """What the agent of a seat is told before its move, or of the end."""
        is_new = seat not in self._tables
        table, since = (self.agents[seat].strategy.new_table(), 0) if is_new else self._tables[seat]
        self._tables[seat] = table, self.ply
        return Seated(table, seat, self.seats, self.variant, self.history(seat, since), is_new)

    def _end_tables(self) -> None:
        """Tell agents that follow that the game is over, or that it goes on elsewhere."""
        for seat in list(self._tables):
            scores = self.scores().tolist() if self.is_over else None
            ending = (self.is_over and self.ending()) or ""
            self.agents[seat].strategy.end_table(self._seated(seat), scores, ending)
            del self._tables[seat]

    def _commit(self, move: np.record) -> None:
        """Play a move that was chosen in Python. Raises IllegalMove."""
        before = self._state
        if self.ply >= self.game.max_plies:
            raise self._endless()
        if self.is_over:
            self.game.play(before, move)  # raises IllegalMove
        self._slots.chosen[0] = move
        rules, _, games, slots, scratch = self._lent
        with Complaints(self.game):
            illegal = driver.commit(rules, games, slots, raw(self._picked), 1, self._order, True, scratch)
        if illegal >= 0:
            self.game.play(before, move)  # raises IllegalMove
        self._note(before, self._slots.chosen.copy()[0])

    def _endless(self) -> CardaiError:
        return CardaiError(f"{self.game.name}: the game did not end within its {self.game.max_plies} plies")
