"""Neural fictitious self-play (Heinrich and Silver 2016): a best response that learns from rewards, and the average of
all best responses, which learns to do as they did.

    policy = train(cardai.load("tictactoe"), DEEP, seed=1)   # the average policy

In each game every seat is taken by the average policy or, with probability `anticipation`, by the best response. Seats
share networks and memories: the encoder says who is who. What is learned is the average policy.
"""

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from cardai.agents.spec import Agent
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.kernel import driver
from cardai.progress import CountProgress
from evaluators import settings
from evaluators.policies.decisions import DecisionEncoder, Trajectories, played
from evaluators.policies.memory import Circular, Reservoir
from evaluators.policies.network import (
    Network,
    begun,
    best,
    drawn,
    forward,
    log_probabilities,
    on_device,
    parts,
    probabilities,
    uniform,
)
from evaluators.policies.policy import Policy, chooser
from evaluators.settings import setting

RESPONSE, AVERAGE = range(2)  # places in line-ups

Watch = Callable[[int, Policy], None]
"""Called after each epoch with (games played, the average policy as it is then)."""


@dataclass(frozen=True)
class NfspConfig:
    """How a policy is learned. Raises CardaiError for what cannot be.

    The defaults are what the two training sets of a student report on Durak have in common, and, where it is silent,
    Heinrich and Silver's for Leduc poker.
    """

    called: ClassVar[str] = "NFSP recipe"

    hidden: tuple[int, ...] = setting("Units of the hidden layers of each of the two networks.")
    policy_rate: float = setting("The learning rate of the average policy.", span=(0, 10))
    value_rate: float = setting("The learning rate of the action values.", span=(0, 10))
    epsilon: float = setting("How often the best response plays any move in the first epoch.", span=(0, 1), default=0.9)
    final_epsilon: float = setting("The same in the last epoch; linear between them.", span=(0, 1), default=0.01)
    epochs: int = setting("Epochs in all.", span=(1, 10**9), default=100)
    epoch_games: int = setting("Games of an epoch.", span=(1, 10**9), default=50)
    round_games: int = setting("Games between updates, played at once.", span=(1, 10**6), default=10)
    updates: int = setting("Updates of each network after a round.", span=(1, 10**6), default=8)
    batch: int = setting("Decisions of an update.", span=(1, 10**6), default=128)
    anticipation: float = setting("How often a seat is taken by the best response (eta).", span=(0, 1), default=0.1)
    memory: int = setting("Decisions that each memory holds.", span=(1, 10**8), default=15_000)
    target_every: int = setting("Updates after which the target network is renewed.", span=(1, 10**9), default=300)
    optimiser: str = setting("sgd or adam.", choices=("sgd", "adam"), default="sgd")
    max_norm: float = setting("The greatest norm of a gradient; 0 is no limit.", span=(0, 10**9), default=0.0)

    def __post_init__(self) -> None:
        settings.check(self)
        if not all(1 <= units <= 2**16 for units in self.hidden):
            raise CardaiError(f"hidden must be numbers from 1 to {2**16}, not {list(self.hidden)}")


SHALLOW = NfspConfig((256, 128, 64), policy_rate=7.5e-4, value_rate=0.05, final_epsilon=1e-4)
"""Training set 1 of Durak's student report: "3 hidden layers, starting from 256 and descending to 64"."""

DEEP = NfspConfig((256, 256, 128, 128, 64, 64), policy_rate=5e-4, value_rate=1e-3, final_epsilon=0.01)
"""Training set 2: 6 hidden layers, from 256 to 64."""

PRESETS = {"nfsp-shallow": SHALLOW, "nfsp-deep": DEEP}


class NfspState(NamedTuple):
    """The weights that learn, and their optimisers' states. `target`: older weights of `values`."""

    average: Any
    values: Any
    target: Any
    average_moments: Any
    values_moments: Any
    count: Any  # i4[]: updates so far


def train(
    game: Game,
    recipe: NfspConfig,
    *,
    seed: int = 0,
    variant: str | None = None,
    seats: int | None = None,
    encoder: str | None = None,
    progress: CountProgress | None = None,
    watch: Watch | None = None,
) -> Policy:
    """Learn an average policy. The seed decides everything (on one machine). Ctrl-C ends it early with what is learned.

    CardaiError when the game does not number its moves, and when a loss is no longer a number.
    """
    with on_device():
        return NfspTraining(game, recipe, seed, variant, seats, encoder).run(progress, watch)


def target_of(following: jax.Array, masks: jax.Array, scores: jax.Array, last: jax.Array) -> jax.Array:
    """What an action turned out to be worth: the score after a seat's last decision, else the best that follows.

    f4[B, A] action values of the seat's next decision, bool[B, A], f4[B], bool[B] -> f4[B].
    """
    return jnp.where(last, scores, jnp.max(jnp.where(masks, following, -jnp.inf), axis=1, initial=-1e9))


class NfspPrograms:
    """What is compiled for a recipe; it serves every training by it.

    `forward(weights, rows u8[n, width])` gives f4[n, A]; `update(minds, batches)` makes one update after the other with
    batches of both memories, and gives new minds and the losses of both networks, f4[updates] each.
    """

    def __init__(self, width: int, actions: int, recipe: NfspConfig) -> None:
        self.recipe = recipe
        self._make = lambda: Network(width, recipe.hidden, actions)
        self.graph = parts(begun(self._make, 0))[0]
        self.forward = forward(width, recipe.hidden, actions)
        self.average_optimiser = _optimiser(recipe, recipe.policy_rate)
        self.values_optimiser = _optimiser(recipe, recipe.value_rate)
        self.update = jax.jit(lambda minds, batches: jax.lax.scan(self._update, minds, batches))

    def begin(self, seed: int) -> NfspState:
        """The minds before the first update."""
        average, values = (parts(begun(self._make, 2 * seed + i))[1] for i in range(2))
        moments = self.average_optimiser.init(average), self.values_optimiser.init(values)
        return NfspState(average, values, values, *moments, jnp.zeros((), jnp.int32))

    def _update(
        self, minds: NfspState, batches: tuple[dict[str, jax.Array], dict[str, jax.Array]]
    ) -> tuple[NfspState, Any]:
        """One update of both networks; its losses: cross-entropy and squared error (Algorithm 1 of the paper)."""
        past, latest = batches

        def network(weights: Any, rows: jax.Array) -> jax.Array:
            return nnx.merge(self.graph, weights)(rows)  # pyright: ignore[reportCallIssue]

        def cross_entropy(weights: Any) -> jax.Array:
            logs = log_probabilities(network(weights, past["rows"]), past["masks"])
            return -jnp.mean(jnp.take_along_axis(logs, past["actions"][:, None], axis=1))

        def squared_error(weights: Any) -> jax.Array:
            following = network(minds.target, latest["next_rows"])
            wanted = target_of(following, latest["next_masks"], latest["scores"], latest["last"])
            given = jnp.take_along_axis(network(weights, latest["rows"]), latest["actions"][:, None], axis=1)[:, 0]
            return jnp.mean(jnp.square(wanted - given))

        policy_loss, gradient = jax.value_and_grad(cross_entropy)(minds.average)
        step, average_moments = self.average_optimiser.update(gradient, minds.average_moments, minds.average)
        average = optax.apply_updates(minds.average, step)
        value_loss, gradient = jax.value_and_grad(squared_error)(minds.values)
        step, values_moments = self.values_optimiser.update(gradient, minds.values_moments, minds.values)
        values = optax.apply_updates(minds.values, step)
        count = minds.count + 1
        renewed = count % self.recipe.target_every == 0
        target = jax.tree.map(lambda old, new: jnp.where(renewed, new, old), minds.target, values)
        return NfspState(average, values, target, average_moments, values_moments, count), (policy_loss, value_loss)


_programs = functools.cache(NfspPrograms)


class NfspTraining:
    def __init__(
        self, game: Game, recipe: NfspConfig, seed: int, variant: str | None, seats: int | None, encoder: str | None
    ) -> None:
        self.recipe = recipe
        self.variant = game.default_variant if variant is None else variant
        self.seats = game.default_seats if seats is None else seats
        game.options(self.seats, self.variant)
        self.sight = DecisionEncoder(game, self.seats, encoder)
        self.stream = np.random.default_rng(seed)
        self.programs = _programs(self.sight.width, self.sight.actions, recipe)
        self.forward, self.minds = self.programs.forward, self.programs.begin(seed)
        self.latest, self.behaviour = Circular(recipe.memory), Reservoir(recipe.memory, self.stream)
        self.epsilon = recipe.epsilon
        self.agents = [
            Agent("best response", driver.OUTSIDE, choose=chooser(self._respond, self.sight.encoder)),
            Agent("average", driver.OUTSIDE, choose=chooser(self._average, self.sight.encoder)),
        ]
        self.games = self.decisions = 0
        self.losses, self.start = (math.nan, math.nan), time.perf_counter()

    def run(self, progress: CountProgress | None, watch: Watch | None) -> Policy:
        """All epochs."""
        recipe = self.recipe
        try:
            for epoch in range(recipe.epochs):
                share = epoch / max(1, recipe.epochs - 1)
                self.epsilon = recipe.epsilon + share * (recipe.final_epsilon - recipe.epsilon)
                for first in range(0, recipe.epoch_games, recipe.round_games):
                    count = min(recipe.round_games, recipe.epoch_games - first)
                    found = self._played(count)
                    if found is None:
                        return self.policy()
                    self._remember(found)
                    self.games += count
                    self._learn()
                    if progress:
                        progress(self.games, recipe.epochs * recipe.epoch_games)
                if watch:
                    watch(self.games, self.policy())
        except KeyboardInterrupt:
            pass
        return self.policy()

    def policy(self) -> Policy:
        """The average policy so far."""
        network: Any = nnx.merge(self.programs.graph, jax.tree.map(jnp.array, self.minds.average))
        metrics: dict[str, float] = {"games": self.games, "decisions": self.decisions}
        if all(map(math.isfinite, self.losses)):
            metrics |= {"policy_loss": self.losses[0], "value_loss": self.losses[1]}
        return Policy.of(
            self.sight, network, self.variant, about="neural fictitious self-play",
            training=settings.as_plain(self.recipe), metrics=metrics, seconds=time.perf_counter() - self.start,
        )  # fmt: skip

    def _average(self, rows: np.ndarray, masks: np.ndarray, luck: np.ndarray) -> np.ndarray:
        return drawn(probabilities(self.forward(self.minds.average, rows), masks), luck)

    def _respond(self, rows: np.ndarray, masks: np.ndarray, luck: np.ndarray) -> np.ndarray:
        explores = luck < self.epsilon  # and then luck / epsilon is even in [0, 1) again
        chosen = best(self.forward(self.minds.values, rows), masks)
        return np.where(explores, uniform(masks, np.where(explores, luck / max(self.epsilon, 1e-300), 0.0)), chosen)

    def _played(self, count: int) -> Trajectories | None:
        responds = self.stream.random((count, self.seats)) < self.recipe.anticipation
        seeds = self.stream.integers(2**63, size=count, dtype=np.uint64)
        lineups = np.where(responds, RESPONSE, AVERAGE)
        return played(self.sight, self.agents, lineups, seeds, self.variant)

    def _remember(self, found: Trajectories) -> None:
        following = np.minimum(np.arange(len(found)) + 1, len(found) - 1)
        self.latest.add(
            rows=found.rows, actions=found.actions, scores=found.scores.astype(np.float32), last=found.last,
            next_rows=found.rows[following], next_masks=found.masks[following],
        )  # fmt: skip
        own = found.part(found.players == RESPONSE)
        self.behaviour.add(rows=own.rows, masks=own.masks, actions=own.actions)
        self.decisions += len(found)

    def _learn(self) -> None:
        recipe = self.recipe
        if min(len(self.latest), len(self.behaviour)) < recipe.batch:
            return
        shape = recipe.updates, recipe.batch
        batches = self.behaviour.draw(self.stream, *shape), self.latest.draw(self.stream, *shape)
        minds, losses = self.programs.update(self.minds, batches)
        self.minds, self.losses = minds, (float(losses[0].mean()), float(losses[1].mean()))
        if not all(map(math.isfinite, self.losses)):
            raise CardaiError(f"the losses are {self.losses} after {self.games} games: the weights have run away")


def _optimiser(recipe: NfspConfig, rate: float) -> optax.GradientTransformation:
    chosen = optax.adam(rate) if recipe.optimiser == "adam" else optax.sgd(rate)
    return optax.chain(optax.clip_by_global_norm(recipe.max_norm), chosen) if recipe.max_norm else chosen
