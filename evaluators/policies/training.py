"""The training loop that PPO and NFSP share: rounds of games, an update after each round, progress and Ctrl-C.

    table = TrainingTable(game, seed, variant, seats, encoder)
    policy = PolicyTraining(table, algorithm).run(progress, watch, watch_every)

What differs between algorithms is behind `Algorithm`.
"""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from cardai.agents.spec import Agent
from cardai.errors import CardaiError
from cardai.evaluators import settings
from cardai.evaluators.policies.decisions import DecisionEncoder, Trajectories, play_trajectories
from cardai.evaluators.policies.network import Network
from cardai.evaluators.policies.policy import Policy
from cardai.game import Game
from cardai.stats.progress import CountProgress

PolicyWatch = Callable[[int, Policy], None]
"""Called now and then with (games played, the policy as trained so far)."""


class TrainingTable:
    """The game, seats, variant and encoder with which a policy is trained, and the random stream of the training.

    None stands for the game's default. Raises CardaiError for names that the game does not have, and if it does not
    number its moves.
    """

    def __init__(self, game: Game, seed: int, variant: str | None, seats: int | None, encoder: str | None) -> None:
        self.game = game
        self.variant = game.canonical(variant)
        self.seats = game.default_seats if seats is None else seats
        game.options(self.seats, self.variant)
        self.encoder = DecisionEncoder(game, self.seats, encoder)
        self.stream = np.random.default_rng(seed)


class Algorithm(Protocol):
    """What a training algorithm provides.

    `about`: its name, for the policy's metadata. `config`: its settings. `agents`: the agents of all line-ups; the
    first `trained` of them play by the networks in training or teach them, and only their decisions are learned from.
    `choices_only`: forced moves are no decisions. `games`: games in all.
    """

    about: str
    choices_only: bool
    config: Any
    agents: list[Agent]
    trained: int
    games: int

    def rounds(self) -> Iterator[int]:
        """Yields the number of games of each round."""
        ...

    def lineups(self, done: int, count: int) -> np.ndarray:
        """Returns the line-ups of a round of `count` games, i64[count, seats], after `done` games."""
        ...

    def update(self, trajectories: Trajectories) -> dict[str, float]:
        """Learns from the decisions of a round. Returns the mean losses by name, none if there was no update."""
        ...

    def network(self) -> Network:
        """Returns a copy of the policy's network as trained so far."""
        ...


class PolicyTraining:
    """One training of a policy by an algorithm."""

    def __init__(self, table: TrainingTable, algorithm: Algorithm) -> None:
        self.table, self.algorithm = table, algorithm
        self.games = self.decisions = 0
        self.losses: dict[str, float] = {}
        self.start = time.perf_counter()

    def run(self, progress: CountProgress | None, watch: PolicyWatch | None, watch_every: int) -> Policy:
        """Plays and learns from all rounds and returns the policy. Ctrl-C ends the training early.

        `progress` is called after each round with (games played, games in all), `watch` whenever another `watch_every`
        games have been played. Raises CardaiError if a loss is no longer finite.
        """
        try:
            for count in self.algorithm.rounds():
                trajectories = self._play(count)
                if trajectories is None:
                    break
                losses = self.algorithm.update(trajectories)
                before, self.games = self.games, self.games + count
                self.decisions += len(trajectories)
                self._check(losses)
                self.losses = losses or self.losses
                if progress:
                    progress(self.games, self.algorithm.games)
                if watch and before // watch_every < self.games // watch_every:
                    watch(self.games, self.policy())
        except KeyboardInterrupt:
            pass
        return self.policy()

    def policy(self) -> Policy:
        """Returns the policy as trained so far."""
        return Policy.of(
            self.table.encoder, self.algorithm.network(), self.table.variant, about=self.algorithm.about,
            training=settings.as_plain(self.algorithm.config),
            metrics={"games": self.games, "decisions": self.decisions, **self.losses},
            seconds=time.perf_counter() - self.start,
        )  # fmt: skip

    def _play(self, count: int) -> Trajectories | None:
        """Plays a round and returns the decisions to learn from, or None if Ctrl-C stopped it."""
        table, algorithm = self.table, self.algorithm
        lineups = algorithm.lineups(self.games, count)
        seeds = table.stream.integers(2**63, size=count, dtype=np.uint64)
        trajectories = play_trajectories(
            table.encoder, algorithm.agents, lineups, seeds, table.variant, algorithm.choices_only
        )
        return trajectories and trajectories.subset(trajectories.players < algorithm.trained)

    def _check(self, losses: dict[str, float]) -> None:
        for name, loss in losses.items():
            if not math.isfinite(loss):
                raise CardaiError(f"{name} is {loss} after {self.games} games: training has diverged")
