"""Proximal policy optimisation (PPO, Schulman et al. 2017) on a game's own records.

    policy = train(cardai.load("tictactoe"), REPORT, seed=1)

In each training step one network plays some games, in all seats or on one side against a fixed opponent, and learns
from all its decisions. The only reward is a seat's score at the end of a game. Before that it may learn to imitate a
teacher: to play the moves of the teacher's games, and to tell how they ended.
"""

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import chex
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.bodies.layers import Linear
from cardai.evaluators.policies.decisions import Trajectories
from cardai.evaluators.policies.network import (
    Network,
    compiled,
    initialised,
    log_probabilities,
    network_inputs,
    on_device,
    padded,
    padded_size,
    probabilities,
    split,
)
from cardai.evaluators.policies.policy import Policy
from cardai.evaluators.policies.training import PolicyTraining, PolicyWatch, TrainingTable
from cardai.files import settings
from cardai.files.named import digests_of, noted
from cardai.files.settings import setting
from cardai.game import Game
from cardai.playing.agents.actions import choose_by, draw_actions
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import OfFunction
from cardai.playing.progress import CountProgress
from cardai.playing.stats.deals import seats_of_side
from cardai.rules import rule

_POLICY_GAIN = 1e-4  # gain of the policy's last layer: at first all actions are almost equally probable
_ADAM_EPSILON = 1e-5
_FORGETTING = 0.02  # the weight of the latest round in the moments of scores, at least
_LEAST_DEVIATION = 1e-3  # of scores, so that games that all end alike do not divide by 0


@dataclass(frozen=True)
class PpoConfig:
    """The settings of a PPO training. Raises CardaiError for a value out of range.

    The defaults are those of a student report on Durak, which follows Charlesworth (2018, Big 2). What the report does
    not say is taken from Charlesworth's code, except `discount`: here a game's score counts the same however long the
    game took.
    """

    called: ClassVar[str] = "PPO config"

    games: int = setting("Games, without lessons; rounded up to whole steps.", span=(0, 10**10), default=140_000)
    step_games: int = setting("Games of a training step.", span=(1, 10**6), default=25)
    batch_games: int = setting("Games of a minibatch.", span=(1, 10**6), default=5)
    passes: int = setting("How many times a step learns from each of its games.", span=(1, 1000), default=4)
    clip: float = setting("How far the ratio of probabilities may move from 1.", span=(0, 1), default=0.2)
    learning_rate: float = setting("The learning rate at the start.", span=(0, 10), default=2.5e-4)
    final_rate: float = setting("The learning rate at the end; it falls linearly.", span=(0, 10), default=1e-6)
    max_norm: float = setting("The largest norm of a gradient.", span=(1e-12, 10**9), default=0.5)
    value_weight: float = setting("The weight of the value's squared error.", span=(0, 10**6), default=0.5)
    entropy_weight: float = setting("The weight of the policy's entropy.", span=(0, 10**6), default=0.01)
    discount: float = setting("The factor on a score for each decision before the last.", span=(0, 1), default=1.0)
    rewards: str = setting(
        "scores: in [0, 1]; standardised: brought to mean 0 and deviation 1, by those of the latest games; auto: "
        "standardised for a game whose payoff has a unit.",
        choices=("auto", "scores", "standardised"),
        default="auto",
    )
    trace: float = setting("The lambda of generalised advantage estimation.", span=(0, 1), default=0.95)
    shared: int = setting("Units of the layer that policy and value share.", span=(1, 2**16), default=256)
    hidden: int = setting(
        "Units of the next layer, one for the policy and one for the value.", span=(1, 2**16), default=128
    )
    opponent: str = setting("The spec of all other seats, or teams; empty for the network itself.", default="")
    choices_only: bool = setting("Whether forced moves are left out of what is learned from.", default=False)
    teacher: str = setting("The spec of an agent that is imitated at first; empty for none.", default="")
    lessons: int = setting("Games of the teacher, before those of PPO.", span=(0, 10**10), default=0)
    lesson_games: int = setting("Games of the teacher that are played at once.", span=(1, 10**6), default=200)
    lesson_batch: int = setting("Decisions of a minibatch of lessons.", span=(1, 10**6), default=512)
    lesson_rate: float = setting("The learning rate of lessons; it falls linearly to 0.", span=(0, 10), default=1e-3)

    def __post_init__(self) -> None:
        settings.check(self)
        if self.games + self.lessons == 0:
            raise CardaiError("PPO config: there must be games or lessons")
        if (self.lessons > 0) != bool(self.teacher):
            raise CardaiError("PPO config: lessons need a teacher, and a teacher needs lessons")

    @property
    def steps(self) -> int:
        """The number of training steps."""
        return math.ceil(self.games / self.step_games)

    @property
    def updates(self) -> int:
        """The number of minibatches in all."""
        return self.steps * self.passes * math.ceil(self.step_games / self.batch_games)


REPORT = PpoConfig()
"""The setting of Durak's student report: 140 000 games of self-play. The report calls its layers "smaller" than
Charlesworth's 512 and 256; here they are halved.
"""

PRESETS = {"ppo": REPORT}


class ActorCritic(nnx.Module):
    """A policy and a value that share the first layer: u8[B, width] -> logits f4[B, A] and values f4[B]."""

    def __init__(self, width: int, shared: int, hidden: int, actions: int) -> None:
        self.policy = Network(width, (shared, hidden), actions, gain=_POLICY_GAIN)
        self.critic = Linear(shared, hidden)
        self.value = Linear(hidden, 1, gain=1.0)

    def __call__(self, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        first = jax.nn.relu(self.policy.layers[0](network_inputs(rows)))
        logits = self.policy.output(self.policy.hidden(first, first=1))
        return logits, self.value(jax.nn.relu(self.critic(first)))[:, 0]


def train(
    game: Game,
    config: PpoConfig = REPORT,
    *,
    seed: int = 0,
    variant: str | None = None,
    seats: int | None = None,
    encoder: str | None = None,
    progress: CountProgress | None = None,
    watch: PolicyWatch | None = None,
    watch_every: int = 1000,
) -> Policy:
    """Trains a policy. The result depends on the seed alone (on one machine). Ctrl-C ends the training early.

    `watch` is called every `watch_every` games. Raises CardaiError if the game does not number its moves, and if the
    loss is no longer finite.
    """
    with on_device():
        table = TrainingTable(game, seed, variant, seats, encoder)
        return PolicyTraining(table, Ppo(table, config, seed)).run(progress, watch, watch_every)


@rule
def trace_back(values, rewards, last, discount, trace, advantages):
    """Generalised advantage estimation (Schulman et al. 2016, eq. 16) over trajectories laid end to end.

    All arrays are [D]. Decision t has the value values[t], and the reward rewards[t] follows it; if last[t], it ends
    its trajectory. The result goes to `advantages`, f8[D].
    """
    ahead = 0.0
    for t in range(len(values) - 1, -1, -1):
        if last[t]:
            ahead = rewards[t] - values[t]
        else:
            ahead = rewards[t] + discount * values[t + 1] - values[t] + discount * trace * ahead
        advantages[t] = ahead


def advantages_of(trajectories: Trajectories, values: np.ndarray, discount: float, trace: float) -> np.ndarray:
    """Returns the advantage of each decision, f8[D], given the values of the positions it was made in, f4[D]."""
    advantages = np.zeros(len(trajectories))
    rewards = np.where(trajectories.last, trajectories.scores, 0.0)
    trace_back(values.astype(np.float64), rewards, trajectories.last, discount, trace, advantages)
    return advantages


def loss_of(logits: jax.Array, values: jax.Array, batch: dict[str, jax.Array], config: PpoConfig) -> jax.Array:
    """Returns the loss of a minibatch, f4[]: eq. 9 of the paper, negated.

    `logits`: f4[B, A]; `values`: f4[B]. `batch`: masks bool[B, A], actions i4[B], and f4[B] each: `taken`, the log
    probability that the action had when it was played; `advantages`; `returns`; `weights`, 0 for padding and else 1.
    """
    weights = batch["weights"]
    chex.assert_rank(logits, 2)
    chex.assert_equal_shape([logits, batch["masks"]])
    chex.assert_shape([values, weights, *(batch[name] for name in _COLUMNS)], logits.shape[:1])
    total = jnp.sum(weights)

    def mean(numbers: jax.Array) -> jax.Array:
        return jnp.sum(weights * numbers) / total

    logs = log_probabilities(logits, batch["masks"])
    taken = jnp.take_along_axis(logs, batch["actions"][:, None], axis=1)[:, 0]
    ratio = jnp.exp(jnp.where(weights > 0, taken - batch["taken"], 0.0))
    centred = batch["advantages"] - mean(batch["advantages"])
    advantages = centred / (jnp.sqrt(mean(jnp.square(centred))) + 1e-8)
    clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
    gain = mean(jnp.minimum(ratio * advantages, clipped * advantages))
    error = 0.5 * mean(jnp.square(values - batch["returns"]))
    entropy = mean(-jnp.sum(jnp.exp(logs) * logs, axis=1))
    return -gain + config.value_weight * error - config.entropy_weight * entropy


def imitation_loss(logits: jax.Array, values: jax.Array, batch: dict[str, jax.Array], weight: float) -> jax.Array:
    """Returns the cross-entropy of the actions, plus `weight` times the values' squared error: f4[].

    The arguments are those of `loss_of`, without `taken` and `advantages`.
    """
    chex.assert_equal_shape([logits, batch["masks"]])
    logs = log_probabilities(logits, batch["masks"])
    taken = jnp.take_along_axis(logs, batch["actions"][:, None], axis=1)[:, 0]
    errors = 0.5 * weight * jnp.square(values - batch["returns"]) - taken
    return jnp.sum(batch["weights"] * errors) / jnp.sum(batch["weights"])


_COLUMNS = ("actions", "taken", "advantages", "returns")


class CompiledPpo:
    """The compiled functions of a config, which all its trainings share.

    `evaluate(weights, rows u8[n, width])` returns logits f4[n, A] and values f4[n].
    `update(weights, optimiser_state, batch)` returns new weights, a new optimiser state and the loss, f4[]; for `batch`
    see `loss_of`, with rows u8[B, width] besides.
    """

    def __init__(self, width: int, actions: int, config: PpoConfig) -> None:
        self.config = config
        self._make = lambda: ActorCritic(width, config.shared, config.hidden, actions)
        self.graph = split(initialised(self._make, 0))[0]
        rate = optax.linear_schedule(config.learning_rate, config.final_rate, max(1, config.updates))
        self.optimiser = optax.chain(optax.clip_by_global_norm(config.max_norm), optax.adam(rate, eps=_ADAM_EPSILON))
        rounds = math.ceil(config.lessons / config.lesson_games)
        self.imitator = optax.chain(optax.clip_by_global_norm(config.max_norm), optax.scale_by_adam())
        self.lesson_rate = optax.linear_schedule(config.lesson_rate, 0.0, rounds)
        self.evaluate = compiled(self._apply)
        self.update = jax.jit(self._update)
        self.imitate = jax.jit(self._imitate)

    def start(self, seed: int) -> tuple[Any, Any]:
        """Returns the initial weights and optimiser state."""
        weights = split(initialised(self._make, seed))[1]
        return weights, self.optimiser.init(weights)

    def _apply(self, weights: Any, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        return nnx.merge(self.graph, weights)(rows)  # pyright: ignore[reportCallIssue]

    def _update(self, weights: Any, optimiser_state: Any, batch: dict[str, jax.Array]) -> tuple[Any, Any, jax.Array]:
        loss, gradient = self._gradient(
            weights, batch, lambda logits, values: loss_of(logits, values, batch, self.config)
        )
        updates, optimiser_state = self.optimiser.update(gradient, optimiser_state, weights)
        return optax.apply_updates(weights, updates), optimiser_state, loss

    def _imitate(
        self, weights: Any, state: Any, batch: dict[str, jax.Array], rate: float
    ) -> tuple[Any, Any, jax.Array]:
        weight = self.config.value_weight
        loss, gradient = self._gradient(
            weights, batch, lambda logits, values: imitation_loss(logits, values, batch, weight)
        )
        updates, state = self.imitator.update(gradient, state, weights)
        updates = jax.tree.map(lambda update: -rate * update, updates)
        return optax.apply_updates(weights, updates), state, loss

    def _gradient(self, weights: Any, batch: dict[str, jax.Array], loss: Callable[..., jax.Array]) -> tuple[Any, Any]:
        return jax.value_and_grad(lambda weights: loss(*self._apply(weights, batch["rows"])))(weights)


compiled_ppo = functools.cache(CompiledPpo)


class Ppo:
    """PPO as an `Algorithm`: each round of games is a training step."""

    about = "proximal policy optimisation"

    def __init__(self, table: TrainingTable, config: PpoConfig, seed: int) -> None:
        if config.rewards == "auto":
            config = replace(config, rewards="scores" if table.game.payoff.is_share else "standardised")
        self.table, self.config = table, config
        self.moments = np.array([0.0, 0.0, 0.0], np.float32)  # of scores: their mean, that of their squares, rounds
        self.lessons = math.ceil(config.lessons / config.lesson_games) * config.lesson_games
        self.games = self.lessons + config.steps * config.step_games
        self.choices_only = config.choices_only
        self.compiled = compiled_ppo(table.encoder.width, table.encoder.actions, config)
        self.weights, self.optimiser_state = self.compiled.start(seed)
        self.imitator_state = self.compiled.imitator.init(self.weights)
        self.learned = 0  # rounds of lessons
        self.agents = [Agent("learner", OfFunction(choose_by(self._act, table.encoder.encoder)))]
        with noted() as files:
            self.agents += [agent(table.game, spec) for spec in (config.teacher, config.opponent) if spec]
        self.trained = 2 if config.teacher else 1
        self.others = digests_of(files)

    def kept(self) -> Mapping[str, Any]:
        """Returns the weights, what the optimisers remember, the rounds of lessons, and the moments of scores."""
        learned = np.asarray(self.learned, np.int32)
        return {
            "weights": self.weights, "optimiser": self.optimiser_state, "imitator": self.imitator_state,
            "learned": learned, "moments": self.moments,
        }  # fmt: skip

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Goes on from what `kept` returned."""
        self.weights, self.optimiser_state = kept["weights"], kept["optimiser"]
        self.imitator_state, self.learned = kept["imitator"], int(kept["learned"])
        self.moments = np.array(kept["moments"])

    def rounds(self) -> Iterator[int]:
        """Yields the number of games of each round of lessons and of each training step."""
        for _ in range(self.lessons // self.config.lesson_games):
            yield self.config.lesson_games
        for _ in range(self.config.steps):
            yield self.config.step_games

    def lineups(self, done: int, count: int) -> np.ndarray:
        """Returns i64[count, seats]: the teacher in every seat; later the network in every seat, or on one side.

        The network's side rotates; the opponent has the other one.
        """
        if done < self.lessons:
            return np.ones((count, self.table.seats), np.int64)
        own = seats_of_side(np.arange(done, done + count), self.table.seats, self.table.game.teams)
        return np.where(own, 0, len(self.agents) - 1 if self.config.opponent else 0)

    def update(self, trajectories: Trajectories) -> dict[str, float]:
        """Learns from a round's decisions: those of the teacher, or its own in minibatches of whole games."""
        if self.config.rewards == "standardised":
            trajectories = self._standardised(trajectories)
        if self.learned * self.config.lesson_games < self.lessons:
            return self._imitate(trajectories)
        config, columns = self.config, self._columns(trajectories)
        losses, weights, optimiser_state = [], self.weights, self.optimiser_state
        for _ in range(config.passes):
            games = self.table.stream.permutation(config.step_games)
            for first in range(0, config.step_games, config.batch_games):
                selected = np.flatnonzero(np.isin(trajectories.games, games[first : first + config.batch_games]))
                if len(selected):
                    size = padded_size(len(selected))
                    batch = {name: padded(column[selected], size) for name, column in columns.items()}
                    weights, optimiser_state, loss = self.compiled.update(weights, optimiser_state, batch)
                    losses.append(loss)
        self.weights, self.optimiser_state = weights, optimiser_state
        return {"loss": float(np.mean(losses)) if losses else math.nan}

    def _standardised(self, trajectories: Trajectories) -> Trajectories:
        """Returns the decisions with scores of mean 0 and deviation 1, by moving averages over the rounds."""
        scores = trajectories.scores[trajectories.last]
        if len(scores):
            self.moments[2] += 1
            latest = np.array([scores.mean(), np.square(scores).mean()])
            self.moments[:2] += max(1 / self.moments[2], _FORGETTING) * (latest - self.moments[:2])
        mean, squares, _ = self.moments.astype(float)
        deviation = max(math.sqrt(max(squares - mean * mean, 0.0)), _LEAST_DEVIATION)
        return replace(trajectories, scores=(trajectories.scores - mean) / deviation)

    def _imitate(self, trajectories: Trajectories) -> dict[str, float]:
        """Learns to play a teacher's decisions, in minibatches drawn at random, each decision once."""
        size = self.config.lesson_batch
        order = self.table.stream.permutation(len(trajectories))
        rate = self.compiled.lesson_rate(self.learned)
        losses = []
        for first in range(0, len(order), size):
            some = trajectories.subset(order[first : first + size])
            columns = {**_inputs(some), "returns": some.scores.astype(np.float32)}
            batch = {name: padded(column, size) for name, column in columns.items()}
            self.weights, self.imitator_state, loss = self.compiled.imitate(
                self.weights, self.imitator_state, batch, rate
            )
            losses.append(loss)
        self.learned += 1
        return {"loss": float(np.mean(losses)) if losses else math.nan}

    def network(self) -> Network:
        """Returns a copy of the policy's part of the network."""
        module: Any = nnx.merge(self.compiled.graph, jax.tree.map(jnp.array, self.weights))
        return module.policy

    def _act(self, rows: np.ndarray, masks: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        logits, _ = self.compiled.evaluate(self.weights, rows)
        return draw_actions(probabilities(logits, masks), uniforms)

    def _columns(self, trajectories: Trajectories) -> dict[str, np.ndarray]:
        """Returns what is learned from D decisions, by the names of `loss_of`'s batch, [D, ...] each."""
        logits, values = self.compiled.evaluate(self.weights, trajectories.rows)
        chances = probabilities(logits, trajectories.masks)[np.arange(len(trajectories)), trajectories.actions]
        advantages = advantages_of(trajectories, values, self.config.discount, self.config.trace)
        return {
            **_inputs(trajectories),
            "taken": np.log(chances).astype(np.float32),
            "advantages": advantages.astype(np.float32),
            "returns": (advantages + values).astype(np.float32),
        }


def _inputs(trajectories: Trajectories) -> dict[str, np.ndarray]:
    return {
        "rows": trajectories.rows,
        "masks": trajectories.masks,
        "actions": trajectories.actions.astype(np.int32),
        "weights": np.ones(len(trajectories), np.float32),
    }
