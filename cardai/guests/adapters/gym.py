"""Any game as an environment of Gymnasium: one seat is the learner's, agents of cardai play the others.

    env = single("durak", opponents=["aggressive", "random"], seat="rotate")
    observation, info = env.reset(seed=7)
    observation, reward, is_over, is_cut, info = env.step(env.action_masks().argmax())

`gymnasium.make("cardai.guests.adapters.gym:cardai/durak-v1", opponents="random")` makes the same: this module registers
every game that cardai finds.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium  # pyright: ignore[reportMissingImports]
import numpy as np
from gymnasium import spaces  # pyright: ignore[reportMissingImports]

from cardai.errors import CardaiError, IllegalMove
from cardai.game import Game, is_game
from cardai.game.compiled.doors import check_seat
from cardai.playing.agents.choosing import KINDS, Actions, Choice, Views, usual_score
from cardai.playing.agents.notation import Spec
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.table.one import OneGame
from cardai.registry import available, load


class OneSeat(gymnasium.Env):
    """An environment of Gymnasium in which a step is a decision of one seat at a table of a game of cardai.

    game: a game, its name or its path. opponents: agent specs of the other seats, in order after the learner's, or one
    for all of them; a list says how many seats there are. seat: the learner's, or "rotate" for the next one at each
    reset. seats, variant, encoder: the game's usual ones if they are not given. reward: "score" pays the seat's score
    in [0, 1] when the game ends, "centred" takes `usual_score` off. illegal: "raise" raises IllegalMove for an illegal
    action, "next" plays the next legal one instead, for checkers that sample without a mask. render_mode: "ansi" or
    None. kinds: see `cardai.playing.agents.choosing`. Raises CardaiError for whatever the game does not allow.

    Observations: u8[width]; if moves are chosen piece by piece, they end with what is chosen so far. `action_masks()`
    is bool[n], as MaskablePPO of sb3-contrib wants it; infos have it as "action_mask", i8[n]. `table`: the present game
    (`cardai.playing.table.one.OneGame`).
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"]}  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self,
        game: str | Game,
        *,
        opponents: str | Spec | Agent | Sequence[str | Spec | Agent] = "random",
        seat: int | str = 0,
        seats: int | None = None,
        variant: str | None = None,
        encoder: str | None = None,
        reward: str = "score",
        illegal: str = "raise",
        render_mode: str | None = None,
        kinds: int = KINDS,
    ) -> None:
        game = load(game) if isinstance(game, str) else is_game(game)
        for name, value, known in (
            ("reward", reward, ("score", "centred")),
            ("illegal", illegal, ("raise", "next")),
            ("render_mode", render_mode, (None, "ansi")),
        ):
            if value not in known:
                raise CardaiError(f"{name} is {' or '.join(map(repr, known))}, not {value!r}")
        listed: Any = None if isinstance(opponents, str | Spec | Agent) else list(opponents)
        if seats is None and listed is not None:
            seats = len(listed) + 1
        self.game, self.variant, self.encoder, self.illegal = game, variant, encoder, illegal
        self.seats = int(game.options(seats, variant)["seats"][0])
        if listed is None:
            listed = [opponents] * (self.seats - 1)
        if len(listed) != self.seats - 1:
            raise CardaiError(f"a table of {self.seats} seats has {self.seats - 1} opponents, not {len(listed)}")
        self.opponents = [agent(game, one) for one in listed]
        self.rotates = seat == "rotate"
        self.seat = -1 if self.rotates else check_seat("seat", seat, self.seats)
        self.actions = Actions(game, kinds)
        self._share = usual_score(game, self.seats) if reward == "centred" else 0.0
        self._views = Views(game, self.seats, encoder)
        width = self._views.width + self.actions.extra
        self.observation_space = spaces.Box(0, 255, (width,), np.uint8)
        self.action_space = spaces.Discrete(self.actions.count)
        self.render_mode = render_mode
        self.table: OneGame
        self._choice: Choice | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Deal a game and let the others play up to the seat's first decision.

        A seed fixes this game and those of the resets without a seed that follow. A game that ends before the seat's
        first decision is followed by another one.
        """
        super().reset(seed=seed)
        while True:
            if self.rotates:
                self.seat = 0 if seed is not None else (self.seat + 1) % self.seats
                seed = None
            agents: list[Agent | None] = [None, *self.opponents]
            agents = agents[self.seats - self.seat :] + agents[: self.seats - self.seat]
            self.table = OneGame(self.game, agents, int(self.np_random.integers(1 << 63)), self.variant)
            self._decide()
            if self._choice is not None:
                return self._observed(), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Take an action, and let the others play up to the seat's next decision or the end of the game."""
        if self._choice is None:
            raise IllegalMove(f"{self.game.name}: the game is over; reset() deals another one")
        if self.illegal == "next":
            legal = self._choice.legal
            action = next((other for other in legal if other >= action), legal[0])
        move = self._choice.take(action)
        reward, is_cut = 0.0, False
        if move is not None:
            self.table.play(move)
            is_cut = not self._decide()
            if self.table.is_over:
                reward = float(self.game.payoff.of(self.table.scores()[self.seat])) - self._share
        return self._observed(), reward, self.table.is_over, is_cut, self._info()

    def action_masks(self) -> np.ndarray:
        """The legal actions, bool[n]; none once the game is over."""
        if self._choice is None:
            return np.zeros(self.actions.count, bool)
        return self._choice.mask() > 0

    def render(self) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The table as the seat sees it, in words."""
        return None if self.render_mode is None else self.table.view(self.seat)

    def _decide(self) -> bool:
        """Let the others play, and begin the seat's next decision. Returns False if the game does not end."""
        self._choice = None
        while not self.table.is_over and not self.table.is_waiting:
            if self.table.ply >= self.game.max_plies:
                return False
            self.table.step()
        if self.table.is_waiting:
            if self.table.ply >= self.game.max_plies:
                return False
            self._choice = self.actions.choice(self.table.world())
        return True

    def _observed(self) -> np.ndarray:
        row = self._views.row(self.table.seen(self.seat, 0), self.seat)
        chosen = np.zeros(self.actions.extra, np.uint8) if self._choice is None else self._choice.values()
        return np.concatenate([row, chosen])

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8)}


single = OneSeat


def name_of_environment(game: Game) -> str:
    """The name under which Gymnasium knows a game: `cardai/durak-v1`."""
    return f"cardai/{game.name}-v{game.version}"


def _register_all() -> None:
    for name in available():
        try:
            identifier = name_of_environment(load(name))
        except CardaiError:  # a game of another package that does not load
            continue
        if identifier not in gymnasium.registry:
            gymnasium.register(id=identifier, entry_point="cardai.guests.adapters.gym:single", kwargs={"game": name})


_register_all()
