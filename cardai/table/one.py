"""One game at a table, played move by move: some seats by agents, the others by whoever asks."""

from collections.abc import Sequence

import numpy as np

from cardai.agents.spec import Agent
from cardai.errors import CardaiError
from cardai.game import Game, GameState, int_seed
from cardai.kernel import driver
from cardai.kernel.driver import Games, Order, Slots, lend
from cardai.kernel.native import at, raw
from cardai.rule import STREAM
from cardai.table.cast import cast_of, scratch_of
from cardai.table.complaints import Complaints
from cardai.table.lookahead import decide


class OneGame:
    """One game, a move at a time: what `table.play` plays with this seed, these agents and the same outside moves."""

    def __init__(self, game: Game, agents: Sequence[Agent], seed: int, variant: str | None = None) -> None:
        self.game, self.agents, seats = game, agents, len(agents)
        blank = game.options(seats, variant)
        for one in agents:
            one.check_fits(game, variant, seats)
        self._cast = cast_of(game, agents)
        self._slots = Slots(
            np.zeros(1, game.state),
            np.zeros(seats, STREAM),
            np.zeros((seats, self._cast.width)),
            np.zeros(seats, np.int64),
            np.zeros(1, game.move),
            np.zeros(0, game.move),
            np.full(1, driver.RUNNING, np.int64),
            np.zeros(1, np.int64),
            np.ones(1, np.int64),
        )
        self._games = Games(
            1, seats, np.array([int_seed(seed)]), np.arange(seats).reshape(1, seats), blank, np.zeros((1, seats)),
            np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros((1, 4)),
        )  # fmt: skip
        self._scratch, self._picked = scratch_of(game, self._cast), np.zeros(1, np.int64)
        self._order = Order(1, game.max_plies, 0, False, False)
        rules, slots, games = lend(game.rules), lend(self._slots), lend(self._games)
        driver.deal_game(rules, games, 0, at(slots.states, 0))
        driver.seat_players(lend(self._cast), games, slots, 0, 0)

    @property
    def state(self) -> GameState:
        """A copy of the true state, for nobody at the table."""
        return self._slots.states.copy()[0]

    @property
    def move(self) -> np.record:
        """The last move."""
        return self._slots.chosen.copy()[0]

    def step(self) -> bool:
        """Let a native player make one move; False when an outside player is to move, or the game is over.

        Raises CardaiError for a game that breaks its contract.
        """
        rules, cast, games = lend(self.game.rules), lend(self._cast), lend(self._games)
        slots, scratch = lend(self._slots), lend(self._scratch)
        with Complaints(self.game):
            moved = driver.advance(rules, cast, games, slots, scratch, self._order, 0, 1, 1) or self._ask_evaluator()
        if self._slots.status[0] == driver.STUCK:
            raise CardaiError(f"{self.game.name}: seat {int(self.state['turn'])} is to move and has no legal move")
        if self._games.finished[0] == driver.ENDLESS:
            raise CardaiError(f"{self.game.name}: the game did not end within its {self.game.max_plies} plies")
        return bool(moved)

    def _ask_evaluator(self) -> bool:
        """Let an agent with an evaluator make its move; False when it is somebody else's turn, or the game is over."""
        if self._slots.status[0] != driver.WAITING:
            return False
        slots, turn = self._slots, int(self._slots.states["turn"][0])
        if self.agents[turn].evaluator is None:
            return False
        decide(
            self.game, self.agents[turn], slots.states, slots.streams, self._picked, self._picked + turn, slots.chosen,
            slots.limits,
        )  # fmt: skip
        scratch = lend(self._scratch)
        driver.commit(lend(self.game.rules), lend(slots), raw(self._picked), 1, self._order, False, scratch)
        return True

    def world(self) -> GameState:
        """The world in which the outside player to move decides; ask once a decision, since it takes from a stream."""
        worlds = np.zeros(1, self.game.state)
        rules, slots = lend(self.game.rules), lend(self._slots)
        driver.make_worlds(rules, slots, self._games.seats, raw(self._picked), 1, raw(worlds))
        return worlds[0]

    def commit(self, move: np.record) -> None:
        """Play the outside player's move. Raises IllegalMove."""
        self._slots.chosen[0] = move
        rules, slots, scratch = lend(self.game.rules), lend(self._slots), lend(self._scratch)
        with Complaints(self.game):
            wrong = driver.commit(rules, slots, raw(self._picked), 1, self._order, True, scratch)
        if wrong >= 0:
            self.game.play(self.state, move)
