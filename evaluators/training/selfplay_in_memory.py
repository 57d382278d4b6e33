"""Networks that learn from their own games, in memory: for games so small that files would cost more than play.

training = SelfPlayTraining(game, protocol, "mlp", {"hidden": [64, 64]})
for generation in training.generations(seed=0):
    print(generation.number, grade(solution, generation.agent()))
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from cardai.agents.spec import Agent, agent
from cardai.data.dataset import Dataset, collect_games
from cardai.data.recipe import Recipe
from cardai.data.record import RecordedGame
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.kernel import driver
from cardai.table.many import play
from evaluators.bodies.build import build
from evaluators.model import Model
from evaluators.training.config import TrainConfig
from evaluators.training.trainer import Trainer, TrainState

_MOMENT = "before_draw"
_AT_ONCE = 1024  # rows that a network judges in one go, always as many, so that a row's score never varies
_LIVE = 4096  # games played at once: whoever has most rows by heart wants many at a time


@dataclass(frozen=True)
class SelfPlayProtocol:
    """How a network is taught: in each iteration it plays, and then learns. Raises CardaiError for what cannot be.

    `games`: of each iteration. `opponent`: the spec of everybody else at the table, the network's seat changing from
    game to game; empty for the network in every seat. `first_players`: the spec of all who play in the first iteration;
    empty for the network with its first weights. `epsilon`, `temperature`: how it explores (`cardai.agents.spec`).

    `window`: from how many of the last iterations it learns. `steps`: of each iteration; it goes on with the weights
    and the schedule it had. `merge_rows`: equal rows are one row, labelled by their mean, drawn as often as the power
    `count_power` of their number says (1 is as often as they came, 0 each alike). `training`: fields of `TrainConfig`.
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
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("iterations", "games", "window", "steps"):
            if getattr(self, name) < 1:
                raise CardaiError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.epsilon <= 1 or self.temperature < 0:
            raise CardaiError(f"epsilon {self.epsilon} or temperature {self.temperature} is no way to explore")
        if self.count_power != 1.0 and not self.merge_rows:
            raise CardaiError(f"count_power {self.count_power} needs merge_rows")


class CachingEvaluator:
    """An evaluator that knows by heart what it has judged before: its network is asked about each row once.

    Its weights stay as they are while the network goes on learning.
    """

    def __init__(self, training: "SelfPlayTraining", state: TrainState, number: int) -> None:
        self.game, self.seats, self.moment = training.game, training.seats, _MOMENT
        self.name, self.encoder, self.batch = f"generation {number}", next(iter(training.game.encoders)), 8 * _AT_ONCE
        self._logits = training.trainer.logits
        self._weights = jax.tree.map(jnp.copy, training.trainer.weights(state))
        self._known: dict[bytes, float] = {}

    def score(self, rows: np.ndarray) -> np.ndarray:
        """u8[n, width] -> f4[n] in [0, 1]."""
        width = rows.shape[1]
        keys = np.ascontiguousarray(rows).view(f"V{width}")[:, 0].tolist()
        unknown = list(dict.fromkeys(key for key in keys if key not in self._known))
        for first in range(0, len(unknown), _AT_ONCE):
            part = unknown[first : first + _AT_ONCE]
            asked = np.zeros((_AT_ONCE, width), np.uint8)
            asked[: len(part)] = np.frombuffer(b"".join(part), np.uint8).reshape(-1, width)
            scores = jax.nn.sigmoid(self._logits(self._weights, asked))
            self._known.update(zip(part, np.asarray(scores)[: len(part)].tolist(), strict=True))
        return np.array([self._known[key] for key in keys], np.float32)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it was taught this game, in its usual variant, at such a table."""
        usual = self.game.default_variant
        if game.name != self.game.name or seats != self.seats or variant not in (None, usual):
            raise CardaiError(f"{self.name} was taught {self.game.name}, variant {usual}, with {self.seats} seats")


class LabelledRows(NamedTuple):
    """What is learned: `rows` u8[n, width], `labels` f4[n] in [0, 1], `counts` f8[n]: how often each came."""

    rows: np.ndarray
    labels: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        """All states of a data set, each once."""
        return cls(dataset.take(np.arange(len(dataset))), dataset.labels, np.ones(len(dataset)))

    @classmethod
    def joined(cls, parts: "list[LabelledRows]") -> Self:
        """Several one after the other."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def merged(self) -> "LabelledRows":
        """Equal rows as one, with the mean of their labels: what minimises cross-entropy on it is the same."""
        keys = np.ascontiguousarray(self.rows).view(f"V{self.rows.shape[1]}")[:, 0]
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        counts = np.bincount(inverse, self.counts)
        labels = np.bincount(inverse, self.counts * self.labels) / counts
        return LabelledRows(self.rows[first], labels.astype(np.float32), counts)


class SelfPlayTraining:
    """Where networks with one body are taught a game by one protocol. What is compiled serves all of them."""

    def __init__(self, game: Game, protocol: SelfPlayProtocol, body: str, options: Mapping[str, Any]) -> None:
        self.game, self.protocol, self.seats = game, protocol, game.default_seats
        self.config = TrainConfig(
            game=game.name, data=("its own games",), out="memory", body=body, options=options, **protocol.training
        )
        self.trainer = Trainer(self._network(0), self.config, protocol.iterations * protocol.steps)

    def generations(self, seed: int = 0) -> "Iterator[SelfPlayGeneration]":
        """Teach a network from random weights; it as it is then, and after each iteration. Ctrl-C is raised.

        A generation's `state` is gone once the next one is asked for. All depends on the seed alone (on one machine).
        """
        protocol, batch = self.protocol, self.config.batch
        state, past = self._begun(seed), []
        yield SelfPlayGeneration(self, 0, math.nan, 0, state)
        for number in range(1, protocol.iterations + 1):
            stream = np.random.default_rng([seed, number])
            played = self._played(state, number, stream)
            past = [*past, played.merged() if protocol.merge_rows else played][-protocol.window :]
            known = LabelledRows.joined(past)
            known = known.merged() if protocol.merge_rows else known
            chances = known.counts**protocol.count_power
            losses = []
            for places in stream.choice(len(chances), (protocol.steps, batch), p=chances / chances.sum()):
                state, loss = self.trainer.step(state, known.rows[places], known.labels[places])
                losses.append(loss)
            loss = float(np.mean(losses))
            if not math.isfinite(loss):
                raise CardaiError(f"the loss is {loss} in iteration {number}: the weights have run away")
            yield SelfPlayGeneration(self, number, loss, int(known.counts.sum()), state)

    def _network(self, seed: int) -> nnx.Module:
        layout = self.game.encoder().layout(self.seats)
        return build(self.config.body, self.config.options, layout, seed)

    def _begun(self, seed: int) -> TrainState:
        """The state a network begins with."""
        params, rest = nnx.as_pure(nnx.split(self._network(seed), nnx.Param, ...)[1:])
        fresh = self.trainer.start()
        return fresh._replace(params=params, rest=rest, average=jax.tree.map(jnp.copy, params) if fresh.average else ())

    def _played(self, state: TrainState, number: int, stream: np.random.Generator) -> LabelledRows:
        """What the games of an iteration show."""
        protocol, game = self.protocol, self.game
        players = [_player(CachingEvaluator(self, state, number - 1), protocol.epsilon, protocol.temperature)]
        if number == 1 and protocol.first_players:
            players = [agent(game, protocol.first_players)]
        elif protocol.opponent:
            players.append(agent(game, protocol.opponent))
        lineups = np.full((protocol.games, self.seats), len(players) - 1)
        own = np.arange(protocol.games)
        lineups[own, own % self.seats] = 0
        seeds = stream.integers(2**63, size=protocol.games, dtype=np.uint64)
        results = play(game, players, lineups, seeds, live=_LIVE, record=True)
        if results.interrupted:
            raise KeyboardInterrupt
        played = zip(seeds.tolist(), lineups.tolist(), results.scores.tolist(), results.moves, strict=True)
        recorded = (
            RecordedGame(i, seed, game.default_variant, tuple(lineup), tuple(scores), moves)
            for i, (seed, lineup, scores, moves) in enumerate(played)
            if moves is not None
        )
        return LabelledRows.of(collect_games(game, recorded, Recipe(moment=_MOMENT)))


@dataclass(frozen=True)
class SelfPlayGeneration:
    """A network after so many iterations. `loss`: its mean over the last one's steps; NaN before the first.

    `states`: those it learned from in that iteration.
    """

    training: SelfPlayTraining
    number: int
    loss: float
    states: int
    state: TrainState

    def agent(self) -> Agent:
        """The player who makes the move that this network values most."""
        return _player(CachingEvaluator(self.training, self.state, self.number))

    def model(self, **more: Any) -> Model:
        """The network as a model that can be saved. `more`: further fields of its `Facts`."""
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


def _player(judge: CachingEvaluator, epsilon: float = 0.0, temperature: float = 0.0) -> Agent:
    return Agent(f"greedy:{judge.name}", driver.GREEDY, epsilon=epsilon, temperature=temperature, evaluator=judge)
