"""Networks of any kind, trained on the same states in the same order: what a comparison of bodies needs.

    config = TrainConfig(game="tictactoe", data=("games",), out="runs/mine", batch=256, steps=2000, epochs=0)
    comparison = comparison_of(config)
    mine = comparison.train(MyNetwork(comparison.layout, nnx.Rngs(0)), seed=0)
    theirs = comparison.train(comparison.body("mlp", {"hidden": [64, 64]}, seed=0), seed=0)
    mine.test.bce, mine.states_per_second, parameters(mine.module), mine.player("mine")

A network is any flax `nnx.Module` that makes one logit of each row: u8[B, F] -> f4[B]. It need not be one of the
`evaluators.bodies`. Nothing is kept on disk, and the last weights count, not the best ones, so that all networks have
learned from equally many states.
"""

import contextlib
import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from cardai.agents.spec import Agent
from cardai.data.dataset import Dataset
from cardai.errors import CardaiError
from cardai.game import Game, Segment
from cardai.kernel import driver
from cardai.progress import Progress
from cardai.registry import load
from evaluators.bodies.build import build
from evaluators.scorer import Scorer, device_of
from evaluators.training.batches import collect, epoch_order, in_advance, split_states
from evaluators.training.config import TrainConfig
from evaluators.training.metrics import Metrics, measure
from evaluators.training.trainer import Trainer, TrainState, evaluated

_IN_FLIGHT = 8  # steps handed to the device before one is waited for


@dataclass(frozen=True)
class BodyComparison:
    """A game's states, and how they are learned: the fields of a `TrainConfig` but its body, options and seed.

    What is compiled for a network serves all of its kind.
    """

    game: Game
    dataset: Dataset
    config: TrainConfig
    _trainers: dict[Any, Trainer] = field(default_factory=dict, repr=False, compare=False)

    @property
    def layout(self) -> tuple[Segment, ...]:
        """The segments of a row, in order."""
        return self.dataset.layout

    @property
    def width(self) -> int:
        """The number of values in a row."""
        return self.dataset.width

    def body(self, name: str, options: Mapping[str, Any], seed: int) -> nnx.Module:
        """A network of one of the bodies there are, see `evaluators.bodies`."""
        return build(name, options, self.layout, seed)

    def train(
        self,
        module: nnx.Module,
        seed: int,
        steps: int | None = None,
        order: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> "TrainedBody":
        """A network that has learned, judged by the test states. The module that is given stays as it was.

        `seed` decides which games are learned from, which are tested on, and in which order; `steps`: the config's if
        not given. `order`: i8[F], which value of a row the network gets in the place of each, see `cells_shuffled`.
        Raises CardaiError when the loss is no longer a number, and for a module whose answer is not f4[B].
        """
        config = replace(self.config, seed=seed, steps=steps or self.config.steps)
        if not config.steps:
            raise CardaiError("a comparison must have a number of steps")
        training, _, test = split_states(config, self.dataset)
        device = device_of(config.device)
        with jax.default_device(device):
            trainer, state = self._begun(nnx.clone(module), config)
            rows = _Rows(self.dataset, order, device)
            _refuse_other_shapes(trainer, state, rows.take(training[: config.batch]), config.batch)
            state, speed = _learned(trainer, jax.device_put(state, device), rows, training, config, progress)
            weights = trainer.weights(state)
            states = config.steps * config.batch
            seen = np.sort(epoch_order(seed, 0, training)[: min(len(test), states)])
            return TrainedBody(
                self,
                trainer.module(weights),
                order,
                test=rows.judged(trainer, weights, test, config.batch),
                training=rows.judged(trainer, weights, seen, config.batch),
                states=states,
                states_per_second=speed,
            )

    def _begun(self, module: nnx.Module, config: TrainConfig) -> tuple[Trainer, TrainState]:
        """A network's trainer and its state before the first step; those of one kind share the trainer."""
        module.train()
        graph, *parts = nnx.split(module, nnx.Param, ...)
        params, rest = jax.tree.map(jnp.copy, nnx.as_pure(parts))  # a step gives its state's memory away
        key = graph, tuple(leaf.shape for leaf in jax.tree.leaves(params)), config.steps
        if key not in self._trainers:
            self._trainers[key] = Trainer(module, config, config.steps)
        trainer = self._trainers[key]
        fresh = trainer.start()
        average = jax.tree.map(jnp.copy, params) if self.config.ema else ()
        return trainer, fresh._replace(params=params, rest=rest, average=average)


def comparison_of(config: TrainConfig, game: Game | None = None, progress: Progress | None = None) -> BodyComparison:
    """The comparison of a config's records; where it says out, body, options and seed of the network, that is not used.

    Raises CardaiError as `evaluators.training.batches.collect`.
    """
    game = game or load(config.game)
    return BodyComparison(game, collect(config, game, progress), config)


@dataclass(frozen=True)
class TrainedBody:
    """A network that has learned. `test`: its figures on the test states; `training`: on as many of those it learned.

    `states`: how many it has learned from, repetitions counted; `states_per_second`: without compilation.
    """

    comparison: BodyComparison
    module: nnx.Module
    order: np.ndarray | None
    test: Metrics
    training: Metrics
    states: int
    states_per_second: float

    def evaluator(self, name: str) -> "BodyEvaluator":
        """The network as the core asks it, under a name."""
        dataset, encoder = self.comparison.dataset, self.comparison.dataset.recipe.encoder
        assert encoder is not None
        where = dataset.game, dataset.variant, dataset.seats
        return BodyEvaluator(name, *where, encoder, self.comparison.config.moment, self.module, self.order)

    def player(self, name: str) -> Agent:
        """Who makes the move that this network values most."""
        return self.evaluator(name).player()


@dataclass
class BodyEvaluator:
    """A network as an `cardai.agents.evaluator.Evaluator`. `order`: see `BodyComparison.train`."""

    name: str
    game: str
    variant: str
    seats: int
    encoder: str
    moment: str
    module: nnx.Module
    order: np.ndarray | None = None

    def __post_init__(self) -> None:
        self._scorer = Scorer(self.module)
        self.batch = self._scorer.batch

    def score(self, rows: np.ndarray) -> Any:
        """How good each position is: u8[n, width] -> f4[n] in [0, 1], on its way."""
        return self._scorer.score(rows if self.order is None else rows[:, self.order])

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it was taught this game, in this variant, at such a table."""
        if (game.name, seats) != (self.game, self.seats) or variant not in (None, self.variant):
            raise CardaiError(f"{self.name} was taught {self.game}, variant {self.variant}, with {self.seats} seats")

    def player(self) -> Agent:
        """Who makes the move that it values most; if it judges settled states, in the mean over a hundred worlds."""
        kind = driver.GREEDY if self.moment == "before_draw" else driver.SAMPLED
        return Agent(self.name, kind, worlds=100, evaluator=self)


def parameters(module: nnx.Module) -> int:
    """How many numbers a network learns."""
    return sum(leaf.size for leaf in jax.tree.leaves(nnx.as_pure(nnx.state(module, nnx.Param))))


def cells_shuffled(layout: Sequence[Segment], seed: int) -> np.ndarray:
    """The places of a row's values, i8[F], when the cells of its planes change places: in all planes the same ones.

    A cell keeps all that is said of it, but loses its neighbours. Planes are segments of two dimensions; those of one
    shape are shuffled alike.
    """
    order, first, stream = np.arange(sum(segment.size for segment in layout)), 0, np.random.default_rng(seed)
    moved: dict[tuple[int, ...], np.ndarray] = {}
    for segment in layout:
        if len(segment.shape) == 2:
            cells = moved.setdefault(segment.shape, stream.permutation(segment.size))
            order[first : first + segment.size] = first + cells
        first += segment.size
    return order


def rows_per_second(module: nnx.Module, rows: np.ndarray, rounds: int = 5, seconds: float = 0.2) -> list[float]:
    """How many rows u8[n, F] are judged in a second when all are asked at once, as at a table; one figure a round."""
    scorer = Scorer(module)
    np.asarray(scorer.score(rows))
    began = time.perf_counter()
    np.asarray(scorer.score(rows))
    times = max(1, round(seconds / (time.perf_counter() - began)))
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(times):
            np.asarray(scorer.score(rows))
        found.append(times * len(rows) / (time.perf_counter() - began))
    return found


class _Rows:
    """The states of a dataset on their way to a device, their values in another order if there is one."""

    def __init__(self, dataset: Dataset, order: np.ndarray | None, device: Any) -> None:
        self.dataset, self.order, self.device = dataset, order, device

    def take(self, places: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """Rows u8[n, F] and labels f4[n]."""
        rows = self.dataset.take(places)
        rows = rows if self.order is None else rows[:, self.order]
        return jax.device_put((rows, self.dataset.labels[places]), self.device)

    def judged(self, trainer: Trainer, weights: Any, places: np.ndarray, batch: int) -> Metrics:
        """What weights reach on some states; always as many at once, so that there is one program."""
        size, logits = evaluated(batch), np.zeros(len(places), np.float32)
        for first in range(0, len(places), size):
            some = places[first : first + size]
            rows = self.take(np.resize(some, size))[0]
            logits[first : first + len(some)] = np.asarray(trainer.logits(weights, rows))[: len(some)]
        return measure(logits, self.dataset.labels[places])


def _learned(
    trainer: Trainer,
    state: TrainState,
    rows: _Rows,
    training: np.ndarray,
    config: TrainConfig,
    progress: Progress | None,
) -> tuple[TrainState, float]:
    """The state after all steps, and how many states were learned from in a second."""
    loss, began = None, 0.0
    with contextlib.closing(in_advance(rows.take, _batches(training, config))) as batches:
        for step, batch in enumerate(batches, 1):
            state, loss = trainer.step(state, *batch)
            if step == 1 or step % _IN_FLIGHT == 0 or step == config.steps:
                loss.block_until_ready()
            if step == 1:
                began = time.perf_counter()
            if progress is not None and step % 50 == 0:
                progress(step, config.steps, f"loss {float(loss):.4f}")
    assert loss is not None
    if not math.isfinite(float(loss)):
        raise CardaiError(f"the loss is {float(loss)} after {config.steps} steps: try a lower learning_rate, or clip 1")
    return state, (config.steps - 1) * config.batch / max(time.perf_counter() - began, 1e-9)


def _batches(training: np.ndarray, config: TrainConfig) -> Iterator[np.ndarray]:
    """The places of each step's states: those that `evaluators.training.train` takes."""
    per_epoch, batch = len(training) // config.batch, config.batch
    orders = (epoch_order(config.seed, epoch, training) for epoch in itertools.count())
    every = (order[i * batch : (i + 1) * batch] for order in orders for i in range(per_epoch))
    return itertools.islice(every, config.steps)


def _refuse_other_shapes(trainer: Trainer, state: TrainState, first: tuple[jax.Array, jax.Array], batch: int) -> None:
    found = jax.eval_shape(trainer.logits, trainer.weights(state), first[0])
    told = getattr(found, "shape", None)
    if told != (batch,):
        raise CardaiError(f"a network must make one logit of each row, shape [{batch}], not {told}")
