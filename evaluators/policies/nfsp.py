"""Neural fictitious self-play (NFSP, Heinrich and Silver 2016).

    policy = train(cardai.load("tictactoe"), DEEP, seed=1)  # the average policy

Two networks are trained: the best response learns action values from the scores of games (Q-learning); the average
policy learns to imitate all best responses so far. In each game every seat is taken by the average policy or, with the
probability `anticipation`, by the best response. All seats share networks and memories; the encoder says which seat
sees what. The result is the average policy.

Targets differ from the paper's, whose games are over after a few decisions. In Durak between two a seat makes about 45.
If targets look one decision ahead, the score reaches the first decisions only after many updates. Meanwhile values are
made of values, each maximum adds its errors, and in the end a long game seems worth more than a won one. So targets
look `steps` decisions ahead, are estimated by two networks (double Q-learning), and stay in the range of scores,
which are standardised where a payoff has a unit. The
decisions in between are those of the player who sat there.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.policies.decisions import Trajectories
from cardai.evaluators.policies.memory import CircularBuffer, ReservoirBuffer
from cardai.evaluators.policies.network import (
    Network,
    best_actions,
    compiled_network,
    draw_legal_actions,
    initialised,
    log_probabilities,
    on_device,
    probabilities,
    split,
)
from cardai.evaluators.policies.policy import Policy
from cardai.evaluators.policies.training import PolicyTraining, PolicyWatch, TrainingTable
from cardai.evaluators.training.trainer import LabelScale
from cardai.files import settings
from cardai.files.settings import setting
from cardai.game import Game
from cardai.playing.agents.actions import choose_by, draw_actions
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OfFunction
from cardai.playing.progress import CountProgress

RESPONSE, AVERAGE = range(2)  # indices of the agents in line-ups


@dataclass(frozen=True)
class NfspConfig:
    """The settings of an NFSP training. Raises CardaiError for a value out of range.

    The defaults are the values that the two trainings of a student report on Durak have in common. What the report does
    not say is taken from Heinrich and Silver's setting for Leduc poker, except for `steps`.
    """

    called: ClassVar[str] = "NFSP config"

    hidden: tuple[int, ...] = setting("Units of the hidden layers of each of the two networks.")
    policy_rate: float = setting("The learning rate of the average policy.", span=(0, 10))
    value_rate: float = setting("The learning rate of the action values.", span=(0, 10))
    epsilon: float = setting(
        "How often the best response plays a random move in the first epoch.", span=(0, 1), default=0.9
    )
    final_epsilon: float = setting("The same in the last epoch; linear between them.", span=(0, 1), default=0.01)
    epochs: int = setting("Epochs in all.", span=(1, 10**9), default=100)
    epoch_games: int = setting("Games of an epoch.", span=(1, 10**9), default=50)
    round_games: int = setting("Games between updates, played at once.", span=(1, 10**6), default=10)
    updates: int = setting("Updates of each network after a round.", span=(1, 10**6), default=8)
    batch: int = setting("Decisions of an update.", span=(1, 10**6), default=128)
    anticipation: float = setting("How often the best response takes a seat (eta).", span=(0, 1), default=0.1)
    memory: int = setting("Decisions that each memory holds.", span=(1, 10**8), default=15_000)
    target_every: int = setting(
        "Updates between copies of the action values to the target network.", span=(1, 10**9), default=300
    )
    steps: int = setting(
        "How many decisions of the same seat a target looks ahead; 1 is the paper's.", span=(1, 10**6), default=10
    )
    optimiser: str = setting("sgd or adam.", choices=("sgd", "adam"), default="sgd")
    max_norm: float = setting("The largest norm of a gradient; 0 is no limit.", span=(0, 10**9), default=0.0)

    def __post_init__(self) -> None:
        settings.check(self)
        if not all(1 <= units <= 2**16 for units in self.hidden):
            raise CardaiError(f"hidden must be numbers from 1 to {2**16}, not {list(self.hidden)}")


SHALLOW = NfspConfig((256, 128, 64), policy_rate=7.5e-4, value_rate=0.05, final_epsilon=1e-4)
"""Training set 1 of Durak's student report: "3 hidden layers, starting from 256 and descending to 64"."""

DEEP = NfspConfig((256, 256, 128, 128, 64, 64), policy_rate=5e-4, value_rate=1e-3, final_epsilon=0.01, optimiser="adam")
"""Training set 2 of Durak's student report: 6 hidden layers, from 256 to 64.

The report does not name the optimiser. With plain gradient descent, these rates learn nothing in 5 000 games.
"""

PRESETS = {"nfsp-shallow": SHALLOW, "nfsp-deep": DEEP}


class NfspState(NamedTuple):
    """The weights of both networks and the states of their optimisers. `target`: an older copy of `values`."""

    average: Any
    values: Any
    target: Any
    average_optimiser: Any
    values_optimiser: Any
    count: Any  # i4[]: updates so far


def train(
    game: Game,
    config: NfspConfig,
    *,
    seed: int = 0,
    variant: str | None = None,
    seats: int | None = None,
    encoder: str | None = None,
    progress: CountProgress | None = None,
    watch: PolicyWatch | None = None,
) -> Policy:
    """Trains an average policy. The result depends on the seed alone (on one machine). Ctrl-C ends the training early.

    `watch` is called after each epoch. Raises CardaiError if the game does not number its moves, and if a loss is no
    longer finite.
    """
    with on_device():
        table = TrainingTable(game, seed, variant, seats, encoder)
        return PolicyTraining(table, Nfsp(table, config, seed)).run(progress, watch, config.epoch_games)


def target_of(
    following: jax.Array, older: jax.Array, masks: jax.Array, scores: jax.Array, last: jax.Array,
    span: tuple[float, float] = (0.0, 1.0),
) -> jax.Array:  # fmt: skip
    """Returns the target of each action's value, f4[B], in `span`.

    It is the score if the game ends before the seat's `steps`-th next decision, otherwise the value of the best legal
    action of that decision: the best one by `following`, its value by `older`, as in double Q-learning (van Hasselt,
    Guez and Silver 2016). One network for both would overestimate: the action with the largest error seems best.

    `following`, `older`: values of that decision's actions by the newest weights and by the target network, f4[B, A];
    `masks`: which of them are legal, bool[B, A]; `scores`: f4[B]; `last`: whether the game ends, bool[B];
    `span`: the least and the largest score.
    """
    chex.assert_rank(following, 2)
    chex.assert_equal_shape([following, older, masks])
    chex.assert_shape([scores, last], following.shape[:1])
    chex.assert_type([masks, last], bool)
    best = jnp.argmax(jnp.where(masks, following, -jnp.inf), axis=1)
    value = jnp.take_along_axis(older, best[:, None], axis=1)[:, 0]
    return jnp.where(last, scores, jnp.clip(value, *span))


def steps_ahead(last: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the decision of the same trajectory `steps` later, i64[D], and whether the game ends before, bool[D].

    Where the game ends before, it is the trajectory's last decision. `last`: whether a decision is the last one of its
    trajectory, bool[D]; that of the last decision is True.
    """
    index, ends = np.arange(len(last)), np.flatnonzero(last)
    own_end = ends[np.searchsorted(ends, index)]
    return np.minimum(index + steps, own_end), index + steps > own_end


class CompiledNfsp:
    """The compiled functions of a config, which all its trainings share.

    `forward(weights, rows u8[n, width])` returns f4[n, A].
    `update(state, batches)` makes one update after another and returns the new state and the losses of the average
    policy and of the action values, f4[updates] each. `batches`: a batch from each of the two memories,
    [updates, batch, ...]; see `Nfsp.update`.
    """

    def __init__(self, width: int, actions: int, config: NfspConfig, span: tuple[float, float]) -> None:
        self.config, self.width, self.actions, self.span = config, width, actions, span
        self._make = lambda: Network(width, config.hidden, actions)
        self.graph = split(initialised(self._make, 0))[0]
        self.forward = compiled_network(width, config.hidden, actions)
        self.average_optimiser = _optimiser(config, config.policy_rate)
        self.values_optimiser = _optimiser(config, config.value_rate)
        self.update = jax.jit(lambda state, batches: jax.lax.scan(self._update, state, batches))

    def start(self, seed: int) -> NfspState:
        """Returns the state before the first update."""
        average, values = (split(initialised(self._make, 2 * seed + i))[1] for i in range(2))
        optimisers = self.average_optimiser.init(average), self.values_optimiser.init(values)
        return NfspState(average, values, values, *optimisers, jnp.zeros((), jnp.int32))

    def _update(
        self, state: NfspState, batches: tuple[dict[str, jax.Array], dict[str, jax.Array]]
    ) -> tuple[NfspState, Any]:
        """One update of both networks (Algorithm 1 of the paper): cross-entropy and squared error."""
        behaviour, latest = batches
        self._check_shapes(behaviour, latest)

        def network(weights: Any, rows: jax.Array) -> jax.Array:
            return nnx.merge(self.graph, weights)(rows)  # pyright: ignore[reportCallIssue]

        def cross_entropy(weights: Any) -> jax.Array:
            logs = log_probabilities(network(weights, behaviour["rows"]), behaviour["masks"])
            return -jnp.mean(jnp.take_along_axis(logs, behaviour["actions"][:, None], axis=1))

        def squared_error(weights: Any) -> jax.Array:
            following, older = (network(of, latest["next_rows"]) for of in (state.values, state.target))
            ends = latest["scores"], latest["last"]
            target = target_of(following, older, latest["next_masks"], *ends, self.span)
            values = jnp.take_along_axis(network(weights, latest["rows"]), latest["actions"][:, None], axis=1)[:, 0]
            return jnp.mean(jnp.square(target - values))

        policy_loss, gradient = jax.value_and_grad(cross_entropy)(state.average)
        step, average_optimiser = self.average_optimiser.update(gradient, state.average_optimiser, state.average)
        average = optax.apply_updates(state.average, step)
        value_loss, gradient = jax.value_and_grad(squared_error)(state.values)
        step, values_optimiser = self.values_optimiser.update(gradient, state.values_optimiser, state.values)
        values = optax.apply_updates(state.values, step)
        count = state.count + 1
        is_renewed = count % self.config.target_every == 0
        target = jax.tree.map(lambda old, new: jnp.where(is_renewed, new, old), state.target, values)
        losses = policy_loss, value_loss
        return NfspState(average, values, target, average_optimiser, values_optimiser, count), losses

    def _check_shapes(self, behaviour: dict[str, jax.Array], latest: dict[str, jax.Array]) -> None:
        size = self.config.batch
        chex.assert_shape([behaviour["rows"], latest["rows"], latest["next_rows"]], (size, self.width))
        chex.assert_shape([behaviour["masks"], latest["next_masks"]], (size, self.actions))
        chex.assert_shape([behaviour["actions"], *(latest[name] for name in ("actions", "scores", "last"))], (size,))
        chex.assert_type([behaviour["actions"], latest["actions"]], int)


compiled_nfsp = functools.cache(CompiledNfsp)


class Nfsp:
    """NFSP as an `Algorithm`. `latest`: the latest decisions of all seats. `behaviour`: those of the best response."""

    about = "neural fictitious self-play"
    choices_only = False
    trained = 2

    def __init__(self, table: TrainingTable, config: NfspConfig, seed: int) -> None:
        self.table, self.config = table, config
        self.games = config.epochs * config.epoch_games
        is_wide = not table.game.payoff.is_share  # then the scores of all games are about the same
        self.scale = LabelScale.of_random_play(table.game, table.variant, table.seats) if is_wide else None
        span = self._standardised(0.0), self._standardised(1.0)
        self.compiled = compiled_nfsp(table.encoder.width, table.encoder.actions, config, span)
        self.state = self.compiled.start(seed)
        self.latest = CircularBuffer(config.memory)
        self.behaviour = ReservoirBuffer(config.memory, table.stream)
        self.epsilon = config.epsilon
        encoder = table.encoder.encoder
        self.agents = [
            Agent("best response", OfFunction(choose_by(self._respond, encoder))),
            Agent("average", OfFunction(choose_by(self._average, encoder))),
        ]

    def rounds(self) -> Iterator[int]:
        """Yields the number of games of each round. An epoch's last round may be smaller."""
        config = self.config
        for _ in range(config.epochs):
            for first in range(0, config.epoch_games, config.round_games):
                yield min(config.round_games, config.epoch_games - first)

    def lineups(self, done: int, count: int) -> np.ndarray:
        """Returns which agent sits in each seat, the best response or the average policy: indices, i64[count, seats].

        Sets `epsilon`, too.
        """
        config = self.config
        share = done // config.epoch_games / max(1, config.epochs - 1)
        self.epsilon = config.epsilon + share * (config.final_epsilon - config.epsilon)
        responds = self.table.stream.random((count, self.table.seats)) < config.anticipation
        return np.where(responds, RESPONSE, AVERAGE)

    def update(self, trajectories: Trajectories) -> dict[str, float]:
        """Stores a round's decisions, then makes `updates` updates once both memories hold a batch."""
        config = self.config
        self._remember(trajectories)
        if min(len(self.latest), len(self.behaviour)) < config.batch:
            return {}
        shape = config.updates, config.batch
        batches = self.behaviour.sample(self.table.stream, *shape), self.latest.sample(self.table.stream, *shape)
        self.state, (policy_losses, value_losses) = self.compiled.update(self.state, batches)
        return {"policy_loss": float(policy_losses.mean()), "value_loss": float(value_losses.mean())}

    def network(self) -> Network:
        """Returns a copy of the average policy's network."""
        return nnx.merge(self.compiled.graph, jax.tree.map(jnp.array, self.state.average))

    def _average(self, rows: np.ndarray, masks: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        return draw_actions(probabilities(self.compiled.forward(self.state.average, rows), masks), uniforms)

    def _respond(self, rows: np.ndarray, masks: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Selects the best action or, with the probability epsilon, a random one."""
        best = best_actions(self.compiled.forward(self.state.values, rows), masks)
        explores = uniforms < self.epsilon  # where it does, uniform / epsilon is again uniform in [0, 1)
        random = draw_legal_actions(masks, np.where(explores, uniforms / max(self.epsilon, 1e-300), 0.0))
        return np.where(explores, random, best)

    def _standardised(self, scores: Any) -> Any:
        """Returns scores in [0, 1] by the mean and the deviation of random play; those of a share as they are."""
        return scores if self.scale is None else (scores - self.scale.mean) / self.scale.deviation

    def _remember(self, trajectories: Trajectories) -> None:
        following, ends = steps_ahead(trajectories.last, self.config.steps)
        self.latest.add(
            rows=trajectories.rows, actions=trajectories.actions,
            scores=self._standardised(trajectories.scores).astype(np.float32),
            last=ends, next_rows=trajectories.rows[following], next_masks=trajectories.masks[following],
        )  # fmt: skip
        responses = trajectories.subset(trajectories.players == RESPONSE)
        self.behaviour.add(rows=responses.rows, masks=responses.masks, actions=responses.actions)


def _optimiser(config: NfspConfig, rate: float) -> optax.GradientTransformation:
    optimiser = optax.adam(rate) if config.optimiser == "adam" else optax.sgd(rate)
    return optax.chain(optax.clip_by_global_norm(config.max_norm), optimiser) if config.max_norm else optimiser
