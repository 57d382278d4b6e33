"""Self-play training in memory, without files: for games so small that files would take longer than the games.

training = SelfPlayTraining(game, protocol, "mlp", {"hidden": [64, 64]})
for generation in training.generations(seed=0):
    print(generation.number, grade(solution, generation.agent()))
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import chex
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.bodies.build import build
from cardai.evaluators.model import Model
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.defaults import completed
from cardai.evaluators.training.trainer import LabelScale, Trainer, TrainState, is_regression
from cardai.game import Game
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import OnePly
from cardai.playing.stats.deals import seats_of_side
from cardai.playing.table.many import play
from cardai.records.dataset import Dataset, collect_games
from cardai.records.recipe import Recipe
from cardai.records.record import RecordedGame

_MOMENT = "before_draw"
_BATCH = 1024  # rows of a network's call; always the same number, so that a row's score does not depend on its batch
_LIVE = 4096  # games played at once; many, since few rows of each batch are not in the evaluator's cache


@dataclass(frozen=True)
class SelfPlayProtocol:
    """How a network is trained: each iteration plays games, then makes training steps. Raises CardaiError for a value
    out of range.

    - `games`: games of each iteration.
    - `opponent`: the spec of all seats but one, or of all teams but one; the network's seats rotate from game to game.
      Empty: the network takes every seat.
    - `first_players`: the spec of all seats in the first iteration. Empty: the network with its initial weights.
    - `epsilon`, `temperature`: how the network explores, see `cardai.playing.agents.spec`.
    - `window`: how many of the latest iterations are trained on.
    - `steps`: training steps of each iteration. Weights, optimiser and schedule continue from the last iteration.
    - `merge_rows`: equal rows become one row with the mean of their labels. It is drawn in proportion to its count to
      the power `count_power`: 1 is as often as the row occurred, 0 is equally often for all rows.
    - `label`: how a game's end labels its states, see `cardai.records.recipe.Recipe`.
    - `training`: fields of `TrainConfig`.
    """

    iterations: int
    games: int
    opponent: str = ""
    first_players: str = ""
    epsilon: float = 0.0
    temperature: float = 0.0
    window: int = 1
    steps: int = 1000
    merge_rows: bool = False
    count_power: float = 1.0
    label: str = "score"
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("iterations", "games", "window", "steps"):
            if getattr(self, name) < 1:
                raise CardaiError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.epsilon <= 1 or self.temperature < 0:
            raise CardaiError(
                f"epsilon {self.epsilon} must be from 0 to 1, and temperature {self.temperature} at least 0"
            )
        if self.count_power != 1.0 and not self.merge_rows:
            raise CardaiError(f"count_power {self.count_power} needs merge_rows")


class CachingEvaluator:
    """An evaluator that remembers all scores: it asks the network about each row only once.

    It has a copy of the weights, so that it does not change when the training continues.
    """

    def __init__(self, training: "SelfPlayTraining", state: TrainState, number: int) -> None:
        self.game, self.seats, self.moment = training.game, training.seats, _MOMENT
        self.name, self.encoder, self.batch = (
            f"generation {number}",
            next(iter(training.game.learning.encoders)),
            8 * _BATCH,
        )
        self._logits = training.trainer.logits
        self._weights = jax.tree.map(jnp.copy, training.trainer.weights(state))
        self._scores: dict[bytes, float] = {}

    def score(self, rows: np.ndarray) -> np.ndarray:
        """Returns the score of each row: u8[n, width] -> f4[n] in [0, 1]."""
        width = rows.shape[1]
        keys = np.ascontiguousarray(rows).view(f"V{width}")[:, 0].tolist()
        unknown = list(dict.fromkeys(key for key in keys if key not in self._scores))
        for first in range(0, len(unknown), _BATCH):
            batch_keys = unknown[first : first + _BATCH]
            batch = np.zeros((_BATCH, width), np.uint8)
            batch[: len(batch_keys)] = np.frombuffer(b"".join(batch_keys), np.uint8).reshape(-1, width)
            logits = self._logits(self._weights, batch)
            chex.assert_shape(logits, (_BATCH,))
            scores = np.asarray(jax.nn.sigmoid(logits))[: len(batch_keys)]
            self._scores.update(zip(batch_keys, scores.tolist(), strict=True))
        return np.array([self._scores[key] for key in keys], np.float32)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raises CardaiError unless it was trained for this game, variant and number of seats. None is any variant."""
        trained = self.game.default_variant
        if game.name != self.game.name or seats != self.seats or game.canonical(variant) != trained:
            raise CardaiError(
                f"{self.name} was trained for {self.game.name}, variant {trained}, with {self.seats} seats"
            )


class LabelledRows(NamedTuple):
    """Encoded states with labels."""

    rows: np.ndarray  # u8[n, width]
    labels: np.ndarray  # f4[n] in [0, 1]
    counts: np.ndarray  # f8[n]: how often each row occurred

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        """Returns all states of a dataset, with the count 1 each."""
        return cls(dataset.take(np.arange(len(dataset))), dataset.labels, np.ones(len(dataset)))

    @classmethod
    def joined(cls, parts: "list[LabelledRows]") -> Self:
        """Returns the rows of all parts, one part after the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def merged(self) -> "LabelledRows":
        """Returns each different row once, with the mean of its labels and the sum of its counts.

        Weighted by counts, cross-entropy on the result has the same gradient as before.
        """
        keys = np.ascontiguousarray(self.rows).view(f"V{self.rows.shape[1]}")[:, 0]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        counts = np.bincount(inverse, self.counts)
        labels = np.bincount(inverse, self.counts * self.labels) / counts
        return LabelledRows(self.rows[first], labels.astype(np.float32), counts)


class SelfPlayTraining:
    """Trains networks with one body on one game by one protocol. All of them share compiled code."""

    def __init__(self, game: Game, protocol: SelfPlayProtocol, body: str, options: Mapping[str, Any]) -> None:
        self.game, self.protocol, self.seats = game, protocol, game.default_seats
        given = TrainConfig(
            game=game.name, data=("its own games",), out="memory", body=body, options=options, **protocol.training
        )
        self.config = completed(given, states=protocol.games)  # at least: a game has a state
        is_standardised = is_regression(game, given.loss, [protocol.label])
        scale = LabelScale.of_random_play(game, None, self.seats) if is_standardised else None
        self.trainer = Trainer(self._network(0), self.config, protocol.iterations * protocol.steps, scale=scale)

    def generations(self, seed: int = 0) -> "Iterator[SelfPlayGeneration]":
        """Trains a network from random weights. Yields it with these weights, then after each iteration.

        The training reuses the memory of a generation's `state` for the next generation. The result depends on the seed
        alone (on one machine). Raises KeyboardInterrupt on Ctrl-C, and CardaiError if the loss is no longer finite.
        """
        protocol, batch = self.protocol, self.config.batch
        state, iterations = self._start(seed), []
        yield SelfPlayGeneration(self, 0, math.nan, 0, state)
        for number in range(1, protocol.iterations + 1):
            stream = np.random.default_rng([seed, number])
            new = self._play(state, number, stream)
            iterations = [*iterations, new.merged() if protocol.merge_rows else new][-protocol.window :]
            data = LabelledRows.joined(iterations)
            data = data.merged() if protocol.merge_rows else data
            chances = data.counts**protocol.count_power
            losses = []
            for places in stream.choice(len(chances), (protocol.steps, batch), p=chances / chances.sum()):
                state, loss = self.trainer.step(state, data.rows[places], data.labels[places])
                losses.append(loss)
            loss = float(np.mean(losses))
            if not math.isfinite(loss):
                raise CardaiError(f"the loss is {loss} in iteration {number}: training has diverged")
            yield SelfPlayGeneration(self, number, loss, int(data.counts.sum()), state)

    def _network(self, seed: int) -> nnx.Module:
        layout = self.game.encoder().layout(self.seats)
        return build(self.config.body, self.config.options, layout, seed)

    def _start(self, seed: int) -> TrainState:
        """Returns the state before the first step."""
        params, rest = nnx.as_pure(nnx.split(self._network(seed), nnx.Param, ...)[1:])
        state = self.trainer.start()
        return state._replace(params=params, rest=rest, average=jax.tree.map(jnp.copy, params) if state.average else ())

    def _play(self, state: TrainState, number: int, stream: np.random.Generator) -> LabelledRows:
        """Plays the games of an iteration and returns their states."""
        protocol, game = self.protocol, self.game
        players = [_player(CachingEvaluator(self, state, number - 1), protocol.epsilon, protocol.temperature)]
        if number == 1 and protocol.first_players:
            players = [agent(game, protocol.first_players)]
        elif protocol.opponent:
            players.append(agent(game, protocol.opponent))
        own = seats_of_side(np.arange(protocol.games), self.seats, game.teams)
        lineups = np.where(own, 0, len(players) - 1)
        seeds = stream.integers(2**63, size=protocol.games, dtype=np.uint64)
        results = play(game, players, lineups, seeds, live=_LIVE, record=True).complete()
        played = zip(seeds.tolist(), lineups.tolist(), results.scores.tolist(), results.moves, strict=True)
        recorded = (
            RecordedGame(i, seed, game.default_variant, tuple(lineup), tuple(scores), moves)
            for i, (seed, lineup, scores, moves) in enumerate(played)
            if moves is not None
        )
        return LabelledRows.of(collect_games(game, recorded, Recipe(moment=_MOMENT, label=protocol.label)))


@dataclass(frozen=True)
class SelfPlayGeneration:
    """A network after `number` iterations.

    `loss`: the mean loss over the steps of the last iteration; NaN before the first iteration.
    `states`: how many states the last iteration trained on; 0 before the first iteration.
    """

    training: SelfPlayTraining
    number: int
    loss: float
    states: int
    state: TrainState

    def agent(self) -> Agent:
        """Returns the agent that plays the move with the highest score by this network."""
        return _player(CachingEvaluator(self.training, self.state, self.number))

    def model(self, **more: Any) -> Model:
        """Returns the network as a model, which can be saved. `more`: further fields of its `ModelMetadata`."""
        training, trainer = self.training, self.training.trainer
        return Model.of(
            training.game,
            trainer.module(trainer.weights(self.state)),
            body=training.config.body,
            body_options=training.config.options,
            moment=_MOMENT,
            seats=training.seats,
            **more,
        )


def _player(evaluator: CachingEvaluator, epsilon: float = 0.0, temperature: float = 0.0) -> Agent:
    strategy = OnePly(evaluator, epsilon=epsilon, temperature=temperature)
    return Agent(f"greedy:{evaluator.name}", strategy)
