"""Proximal policy optimisation (Schulman et al. 2017) from a game's own records, against itself or fixed opponents.

    policy = train(cardai.load("tictactoe"), REPORT, seed=1)

In each training step one network plays some games in all its seats (or in one, beside an opponent), and learns from
all its decisions; the only reward is a seat's score at the end.
"""

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from cardai.agents.spec import Agent, agent
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.kernel import driver
from cardai.progress import CountProgress
from cardai.rule import rule
from evaluators import settings
from evaluators.bodies.layers import Linear
from evaluators.policies.decisions import DecisionEncoder, Trajectories, played
from evaluators.policies.network import (
    Network,
    begun,
    drawn,
    evaluated,
    features,
    log_probabilities,
    on_device,
    padded,
    parts,
    probabilities,
    size_for,
)
from evaluators.policies.policy import Policy, chooser
from evaluators.settings import setting

_SHY = 1e-4  # gain of the last layer: at first all actions are all but equally likely
_ADAM_EPSILON = 1e-5

Watch = Callable[[int, Policy], None]
"""Called with (games played, the policy as it is then)."""


@dataclass(frozen=True)
class PpoConfig:
    """How a policy is learned. Raises CardaiError for what cannot be.

    The defaults are those of a student report on Durak that follows Charlesworth (2018, Big 2). Where the report is
    silent they are those of his code, but for `discount`: a game's score counts the same however long it took.
    """

    called: ClassVar[str] = "PPO recipe"

    games: int = setting("Games in all; rounded up to whole steps.", span=(1, 10**10), default=140_000)
    step_games: int = setting("Games of a training step.", span=(1, 10**6), default=25)
    batch_games: int = setting("Games of a minibatch.", span=(1, 10**6), default=5)
    passes: int = setting("How often a step learns from each game.", span=(1, 1000), default=4)
    clip: float = setting("How far the ratio of probabilities may go from 1.", span=(0, 1), default=0.2)
    learning_rate: float = setting("The learning rate at the start.", span=(0, 10), default=2.5e-4)
    final_rate: float = setting("The learning rate at the end; it falls linearly.", span=(0, 10), default=1e-6)
    max_norm: float = setting("The greatest norm of a gradient.", span=(1e-12, 10**9), default=0.5)
    value_weight: float = setting("The weight of the value's squared error.", span=(0, 10**6), default=0.5)
    entropy_weight: float = setting("The weight of the policy's entropy.", span=(0, 10**6), default=0.01)
    discount: float = setting("What a score is worth one decision earlier.", span=(0, 1), default=1.0)
    trace: float = setting("The lambda of generalised advantage estimation.", span=(0, 1), default=0.95)
    shared: int = setting("Units of the layer that policy and value share.", span=(1, 2**16), default=256)
    hidden: int = setting("Units of the layer that each of them has after it.", span=(1, 2**16), default=128)
    opponent: str = setting("The spec of everybody else at the table; empty for the network itself.", default="")

    def __post_init__(self) -> None:
        settings.check(self)


REPORT = PpoConfig()
"""Durak's student report: 140 000 games of self-play. Its layers are "smaller" than Charlesworth's 512, 256: halved."""

PRESETS = {"ppo": REPORT}


class ActorCritic(nnx.Module):
    """A policy and, from its first layer on, a value: u8[B, width] -> f4[B, A], f4[B]."""

    def __init__(self, width: int, shared: int, hidden: int, actions: int) -> None:
        self.policy = Network(width, (shared, hidden), actions, gain=_SHY)
        self.critic = Linear(shared, hidden)
        self.value = Linear(hidden, 1, gain=1.0)

    def __call__(self, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        both = jax.nn.relu(self.policy.layers[0](features(rows)))
        logits = self.policy.output(self.policy.hidden(both, first=1))
        return logits, self.value(jax.nn.relu(self.critic(both)))[:, 0]


def train(
    game: Game,
    recipe: PpoConfig = REPORT,
    *,
    seed: int = 0,
    variant: str | None = None,
    seats: int | None = None,
    encoder: str | None = None,
    progress: CountProgress | None = None,
    watch: Watch | None = None,
    watch_every: int = 1000,
) -> Policy:
    """Learn a policy. The seed decides everything (on one machine). Ctrl-C ends it early with what was learned so far.

    `watch` is called every `watch_every` games. CardaiError when the game does not number its moves, and when the loss
    is no longer a number.
    """
    with on_device():
        return PpoTraining(game, recipe, seed, variant, seats, encoder).run(progress, watch, watch_every)


@rule
def trace_back(values, rewards, last, discount, trace, advantages):
    """Generalised advantage estimation (Schulman et al. 2016, eq. 16) over trajectories laid end to end.

    Decision t has value values[t]; rewards[t] comes after it; last[t] ends its trajectory. f8[D] each.
    """
    ahead = 0.0
    for t in range(len(values) - 1, -1, -1):
        if last[t]:
            ahead = rewards[t] - values[t]
        else:
            ahead = rewards[t] + discount * values[t + 1] - values[t] + discount * trace * ahead
        advantages[t] = ahead


def advantages_of(decisions: Trajectories, values: np.ndarray, discount: float, trace: float) -> np.ndarray:
    """The advantage of each decision, f8[D], by the values f8[D] of where it was made."""
    found = np.zeros(len(decisions))
    rewards = np.where(decisions.last, decisions.scores, 0.0)
    trace_back(values.astype(np.float64), rewards, decisions.last, discount, trace, found)
    return found


def loss_of(logits: jax.Array, values: jax.Array, batch: dict[str, jax.Array], recipe: PpoConfig) -> jax.Array:
    """The loss of a minibatch (eq. 9 of the paper, negated), f4[]; `weights` is 0 for rows that fill it up."""
    weights = batch["weights"]
    total = jnp.sum(weights)

    def mean(some: jax.Array) -> jax.Array:
        return jnp.sum(weights * some) / total

    logs = log_probabilities(logits, batch["masks"])
    taken = jnp.take_along_axis(logs, batch["actions"][:, None], axis=1)[:, 0]
    ratio = jnp.exp(jnp.where(weights > 0, taken - batch["taken"], 0.0))
    centred = batch["advantages"] - mean(batch["advantages"])
    advantages = centred / (jnp.sqrt(mean(jnp.square(centred))) + 1e-8)
    clipped = jnp.clip(ratio, 1 - recipe.clip, 1 + recipe.clip)
    gain = mean(jnp.minimum(ratio * advantages, clipped * advantages))
    error = 0.5 * mean(jnp.square(values - batch["returns"]))
    entropy = mean(-jnp.sum(jnp.exp(logs) * logs, axis=1))
    return -gain + recipe.value_weight * error - recipe.entropy_weight * entropy


def steps_of(recipe: PpoConfig) -> int:
    """How many training steps there are."""
    return math.ceil(recipe.games / recipe.step_games)


class PpoPrograms:
    """What is compiled for a recipe; it serves every training by it.

    `judge(weights, rows u8[n, width])` gives logits f4[n, A] and values f4[n]; `update(weights, moments, batch)` gives
    new weights, new moments and the loss.
    """

    def __init__(self, width: int, actions: int, recipe: PpoConfig) -> None:
        self.recipe = recipe
        self._make = lambda: ActorCritic(width, recipe.shared, recipe.hidden, actions)
        self.graph = parts(begun(self._make, 0))[0]
        updates = steps_of(recipe) * recipe.passes * math.ceil(recipe.step_games / recipe.batch_games)
        rate = optax.linear_schedule(recipe.learning_rate, recipe.final_rate, updates)
        self.optimiser = optax.chain(optax.clip_by_global_norm(recipe.max_norm), optax.adam(rate, eps=_ADAM_EPSILON))
        self.judge = evaluated(self._apply)
        self.update = jax.jit(self._update)

    def begin(self, seed: int) -> tuple[Any, Any]:
        """The first weights and moments."""
        weights = parts(begun(self._make, seed))[1]
        return weights, self.optimiser.init(weights)

    def _apply(self, weights: Any, rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        return nnx.merge(self.graph, weights)(rows)  # pyright: ignore[reportCallIssue]

    def _update(self, weights: Any, moments: Any, batch: dict[str, jax.Array]) -> tuple[Any, Any, jax.Array]:
        def loss(weights: Any) -> jax.Array:
            return loss_of(*self._apply(weights, batch["rows"]), batch, self.recipe)

        found, gradient = jax.value_and_grad(loss)(weights)
        updates, moments = self.optimiser.update(gradient, moments, weights)
        return optax.apply_updates(weights, updates), moments, found


_programs = functools.cache(PpoPrograms)


class PpoTraining:
    def __init__(
        self, game: Game, recipe: PpoConfig, seed: int, variant: str | None, seats: int | None, encoder: str | None
    ) -> None:
        self.recipe = recipe
        self.variant = game.default_variant if variant is None else variant
        self.seats = game.default_seats if seats is None else seats
        game.options(self.seats, self.variant)
        self.sight = DecisionEncoder(game, self.seats, encoder)
        self.stream = np.random.default_rng(seed)
        self.steps = steps_of(recipe)
        self.programs = _programs(self.sight.width, self.sight.actions, recipe)
        self.weights, self.moments = self.programs.begin(seed)
        self.agents = [Agent("learner", driver.OUTSIDE, choose=chooser(self._act, self.sight.encoder))]
        if recipe.opponent:
            self.agents.append(agent(game, recipe.opponent))
        self.games = self.decisions = 0
        self.loss, self.start = math.nan, time.perf_counter()

    def run(self, progress: CountProgress | None, watch: Watch | None, watch_every: int) -> Policy:
        """All training steps."""
        try:
            for step in range(self.steps):
                found = self._played(step)
                if found is None:
                    break
                self._learn(found)
                before, self.games = self.games, self.games + self.recipe.step_games
                self.decisions += len(found)
                if not math.isfinite(self.loss):
                    raise CardaiError(f"the loss is {self.loss} after {self.games} games: the weights have run away")
                if progress:
                    progress(self.games, self.steps * self.recipe.step_games)
                if watch and before // watch_every < self.games // watch_every:
                    watch(self.games, self.policy())
        except KeyboardInterrupt:
            pass
        return self.policy()

    def policy(self) -> Policy:
        """What has been learned so far."""
        network: Any = nnx.merge(self.programs.graph, jax.tree.map(jnp.array, self.weights))
        metrics: dict[str, float] = {"games": self.games, "decisions": self.decisions}
        if math.isfinite(self.loss):
            metrics["loss"] = self.loss
        return Policy.of(
            self.sight, network.policy, self.variant, about="proximal policy optimisation",
            training=settings.as_plain(self.recipe), metrics=metrics, seconds=time.perf_counter() - self.start,
        )  # fmt: skip

    def _act(self, rows: np.ndarray, masks: np.ndarray, luck: np.ndarray) -> np.ndarray:
        logits, _ = self.programs.judge(self.weights, rows)
        return drawn(probabilities(logits, masks), luck)

    def _played(self, step: int) -> Trajectories | None:
        """The network's decisions in the games of a step."""
        count = self.recipe.step_games
        lineups = np.full((count, self.seats), len(self.agents) - 1)
        own = np.arange(count)
        lineups[own, (step * count + own) % self.seats] = 0
        seeds = self.stream.integers(2**63, size=count, dtype=np.uint64)
        found = played(self.sight, self.agents, lineups, seeds, self.variant)
        return found and found.part(found.players == 0)

    def _learn(self, found: Trajectories) -> None:
        recipe = self.recipe
        logits, values = self.programs.judge(self.weights, found.rows)
        chances = probabilities(logits, found.masks)[np.arange(len(found)), found.actions]
        advantages = advantages_of(found, values, recipe.discount, recipe.trace)
        columns = {
            "rows": found.rows,
            "masks": found.masks,
            "actions": found.actions.astype(np.int32),
            "taken": np.log(chances).astype(np.float32),
            "advantages": advantages.astype(np.float32),
            "returns": (advantages + values).astype(np.float32),
            "weights": np.ones(len(found), np.float32),
        }
        losses, weights, moments = [], self.weights, self.moments
        for _ in range(recipe.passes):
            games = self.stream.permutation(recipe.step_games)
            for first in range(0, recipe.step_games, recipe.batch_games):
                places = np.flatnonzero(np.isin(found.games, games[first : first + recipe.batch_games]))
                if len(places):
                    batch = {name: padded(one[places], size_for(len(places))) for name, one in columns.items()}
                    weights, moments, loss = self.programs.update(weights, moments, batch)
                    losses.append(loss)
        self.weights, self.moments = weights, moments
        self.loss = float(np.mean(losses)) if losses else math.nan
