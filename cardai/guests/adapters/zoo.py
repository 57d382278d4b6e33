"""Any game as a turn-based environment of PettingZoo (AEC), and one with choices at the same time as a parallel one.

env = aec("durak", seats=3)
env.reset(seed=7)
for agent in env.agent_iter():
    observation, reward, is_over, is_cut, info = env.last()
    env.step(None if is_over or is_cut else env.action_space(agent).sample(info["action_mask"]))
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces  # pyright: ignore[reportMissingImports]
from pettingzoo import AECEnv, ParallelEnv  # pyright: ignore[reportMissingImports]

from cardai.errors import CardaiError, IllegalMove
from cardai.game import Game, is_game
from cardai.playing.agents.choosing import KINDS, Actions, Choice, Views, played, usual_score
from cardai.registry import load


class _Spaces:
    """The spaces of each seat, which are the same in all games of a table."""

    observation_spaces: dict[str, Any]
    action_spaces: dict[str, Any]

    def observation_space(self, agent: str) -> Any:
        """The space of a seat's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of a seat's actions."""
        return self.action_spaces[agent]

    def close(self) -> None:
        """Nothing has to be closed."""


class CardTable(_Spaces, AECEnv):
    """An environment of PettingZoo in which each seat of a game of cardai is an agent, `player_0` and so on.

    game: a game, its name or its path. seats, variant, encoder: the game's usual ones if they are not given. reward:
    "score" pays each seat its score in [0, 1] when the game ends; "centred" takes `usual_score` off. render_mode:
    "ansi" for the text of the game's table, or None. reveal: whether `state()` may show all cards. kinds: see
    `cardai.playing.agents.choosing`. Raises CardaiError for whatever the game does not allow.

    Observations: {"observation": u8[width], "action_mask": i8[n]}; the mask is in the infos too, and zero for who is
    not to move. If moves are chosen piece by piece, the observation ends with what the seat has chosen so far; the
    actions of one move are no plies of the game. Illegal actions raise IllegalMove and change nothing.
    `game_seed`: the seed of the present game, with which `cardai` deals the same.
    """

    def __init__(
        self,
        game: str | Game,
        *,
        seats: int | None = None,
        variant: str | None = None,
        encoder: str | None = None,
        reward: str = "score",
        render_mode: str | None = None,
        reveal: bool = False,
        kinds: int = KINDS,
    ) -> None:
        game = load(game) if isinstance(game, str) else is_game(game)
        super().__init__()
        if reward not in ("score", "centred"):
            raise CardaiError(f"reward is 'score' or 'centred', not {reward!r}")
        if render_mode not in (None, "ansi"):
            raise CardaiError(f"render_mode is 'ansi' or None, not {render_mode!r}")
        self.game, self.variant, self.encoder, self.reveal = game, variant, encoder, reveal
        self.seats = int(game.options(seats, variant)["seats"][0])
        name = f"{game.name}_v{game.version}"
        self.metadata = {"name": name, "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = render_mode
        self.actions = Actions(game, kinds)
        self._share = usual_score(game, self.seats) if reward == "centred" else 0.0
        self.possible_agents = [f"player_{seat}" for seat in range(self.seats)]
        self._seat_of = {name: seat for seat, name in enumerate(self.possible_agents)}
        self._views = Views(game, self.seats, encoder)
        width = self._views.width + self.actions.extra
        self.observation_spaces = {
            name: spaces.Dict(
                {
                    "observation": spaces.Box(0, 255, (width,), np.uint8),
                    "action_mask": spaces.Box(0, 1, (self.actions.count,), np.int8),
                }
            )
            for name in self.possible_agents
        }
        self.action_spaces = {name: spaces.Discrete(self.actions.count) for name in self.possible_agents}
        self._seeds = np.random.default_rng()
        self._nothing_chosen = np.zeros(self.actions.extra, np.uint8)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a game. A seed fixes this game and those of the resets without a seed that follow."""
        if seed is not None:
            self._seeds = np.random.default_rng(seed)
        self.game_seed = int(self._seeds.integers(1 << 63))
        self._state = self.game.new(self.seats, self.game_seed, self.variant)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._nothing = np.zeros(self.actions.count, np.int8)
        self._decide()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What a seat sees. Nothing in it depends on what is hidden from the seat."""
        seat = self._seat_of[agent]
        mine = self._choice is not None and seat == int(self._state["turn"])
        row = self._views.row(self._state, seat)
        chosen = self._choice.values() if mine and self._choice else self._nothing_chosen
        mask = self.infos[agent]["action_mask"].copy()
        return {"observation": np.concatenate([row, chosen]), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Take an action of the agent that is selected; None if its game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert self._choice is not None
        move = self._choice.take(action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if move is not None:
            self._state = played(self.game, self._state, move)
            self._decide()
        else:
            self.infos[agent]["action_mask"] = self._choice.mask()
        self._accumulate_rewards()

    def state(self) -> np.ndarray:
        """The views of all seats, one after the other, u8[seats * width], hidden cards included.

        Raises CardaiError unless the environment was made with `reveal`.
        """
        if not self.reveal:
            raise CardaiError("state() shows all cards; make the environment with reveal=True if that is meant")
        return np.concatenate([self._views.row(self._state, seat) for seat in range(self.seats)])

    def render(self) -> str | None:
        """The table as the seat to move sees it, in words; seat 0 once the game is over."""
        if self.render_mode is None:
            return None
        seat = max(int(self._state["turn"]), 0)
        return self.game.text.show(self.game.world(self._state, seat, self.game_seed), seat)

    def _decide(self) -> None:
        """Begin the next decision, or end the game."""
        turn, self._choice = int(self._state["turn"]), None
        self.infos = {name: {"action_mask": self._nothing} for name in self.possible_agents}
        if turn >= 0 and int(self._state["ply"]) < self.game.max_plies:
            self._choice = self.actions.choice(self._state)
            self.agent_selection = self.possible_agents[turn]
            self.infos[self.agent_selection] = {"action_mask": self._choice.mask()}
            return
        if turn < 0:
            points = self.game.payoff.of(self.game.points(self._state))
            self.rewards = {name: float(points[seat]) - self._share for name, seat in self._seat_of.items()}
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]


class ParallelTable(_Spaces, ParallelEnv):
    """A parallel environment of PettingZoo for a game in which seats choose at the same time (`Rules.together`).

    All that `CardTable` says holds here too, and so do its options. A step takes an action of every seat that may
    choose; those of others are ignored, and their masks are zero. Where one seat chooses alone, only its action counts.
    If moves are chosen piece by piece, a seat that has chosen its move waits for the others. An illegal or a missing
    action raises IllegalMove and changes nothing. Raises CardaiError for a game in which seats move in turn.
    """

    def __init__(self, game: str | Game, **options: Any) -> None:
        self.table = table = CardTable(game, **options)
        if table.game.rules.together is None:
            raise CardaiError(f"{table.game.name}: its seats move one after the other; aec() is for such games")
        self.game, self.seats = table.game, table.seats
        self.metadata = {"name": table.metadata["name"], "render_modes": ["ansi"]}
        self.render_mode = table.render_mode
        self.possible_agents = list(table.possible_agents)
        self.observation_spaces, self.action_spaces = table.observation_spaces, table.action_spaces

    @property
    def game_seed(self) -> int:
        """The seed of the present game."""
        return self.table.game_seed

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Deal a game, as `CardTable.reset`. Returns the observations and the infos."""
        self.table.reset(seed, options)
        self.agents = list(self.possible_agents)
        self._begin()
        return self._observed()

    def step(self, actions: Mapping[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Take an action of every seat that may choose. Returns what each seat sees, is paid, and its infos."""
        choices, moves = copy.deepcopy(self._choices, {id(self.table.actions): self.table.actions}), dict(self._moves)
        for seat, choice in choices.items():
            if moves[seat] is None:
                name = self.possible_agents[seat]
                if name not in actions:
                    raise IllegalMove(f"{self.game.name}: {name} may choose, and no action of it is given")
                moves[seat] = choice.take(actions[name])
        self._choices, self._moves = choices, moves
        whole = [move for move in moves.values() if move is not None]
        if len(whole) == len(moves):
            for move in whole:
                self.table._state = played(self.game, self.table._state, move)
            self._begin()
        observations, infos = self._observed()
        rewards, over, cut = dict(self.table.rewards), dict(self.table.terminations), dict(self.table.truncations)
        if any(over.values()) or any(cut.values()):
            self.agents = []
        return observations, rewards, over, cut, infos

    def state(self) -> np.ndarray:
        """As `CardTable.state`."""
        return self.table.state()

    def render(self) -> str | None:
        """As `CardTable.render`."""
        return self.table.render()

    def _begin(self) -> None:
        """Begin the next choices, or end the game."""
        self.table._decide()
        state, self._choices = self.table._state, {}
        if self.table._choice is not None:
            seats = self.game.choosing(state)
            self._choices = {seat: self.table.actions.choice(self.game.at_turn(state, seat)) for seat in seats}
        self._moves: dict[int, np.record | None] = dict.fromkeys(self._choices)

    def _observed(self) -> tuple[dict, dict]:
        """What each seat sees, and its infos."""
        observations, infos = {}, {}
        for seat, name in enumerate(self.possible_agents):
            row, choice = self.table._views.row(self.table._state, seat), self._open(seat)
            mask = self.table._nothing.copy() if choice is None else choice.mask()
            chosen = self.table._nothing_chosen if choice is None else choice.values()
            observations[name] = {"observation": np.concatenate([row, chosen]), "action_mask": mask}
            infos[name] = {"action_mask": mask.copy()}
        return observations, infos

    def _open(self, seat: int) -> Choice | None:
        """The choice that a seat has still to make."""
        return self._choices.get(seat) if self._moves.get(seat) is None else None


aec, parallel = CardTable, ParallelTable
