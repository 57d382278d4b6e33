"""Compares bodies: trains networks of any kind on the same states in the same order.

    config = TrainConfig(game="tictactoe", data=("games",), out="runs/mine", batch=256, steps=2000, epochs=0)
    comparison = comparison_of(config)
    mine = comparison.train(MyNetwork(comparison.layout, nnx.Rngs(0)), seed=0)
    theirs = comparison.train(comparison.body("mlp", {"hidden": [64, 64]}, seed=0), seed=0)
    mine.test.bce, mine.states_per_second, parameters(mine.module), mine.player("mine")

A network is any flax `nnx.Module` that maps rows u8[B, F] to logits f4[B]. It need not be one of
`cardai.evaluators.bodies`. Nothing is written to disk. The last weights count, not the best ones, so that all networks
are trained on equally many states.
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

from cardai.errors import CardaiError
from cardai.evaluators.bodies.build import build
from cardai.evaluators.scorer import Scorer, device_of
from cardai.evaluators.training.batches import collect, epoch_batches, epoch_order, in_advance, split_states
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.defaults import completed
from cardai.evaluators.training.metrics import Metrics, measure
from cardai.evaluators.training.trainer import LabelScale, Trainer, TrainState, evaluation_batch, labels_scale
from cardai.game import Game, Segment
from cardai.measure.speed import timed
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OnePly
from cardai.playing.progress import Progress
from cardai.records.dataset import Dataset
from cardai.registry import load

_IN_FLIGHT = 8  # steps given to the device before the trainer waits for one of them


@dataclass(frozen=True)
class BodyComparison:
    """The states on which networks are trained, and how: all of `config` except its body, options, seed and `out`.

    Networks of the same structure share compiled code.
    """

    game: Game
    dataset: Dataset
    config: TrainConfig
    _trainers: dict[Any, Trainer] = field(default_factory=dict, repr=False, compare=False)

    @property
    def layout(self) -> tuple[Segment, ...]:
        """The segments of an encoded row, in order."""
        return self.dataset.layout

    @property
    def width(self) -> int:
        """The number of values in an encoded row."""
        return self.dataset.width

    def body(self, name: str, options: Mapping[str, Any], seed: int) -> nnx.Module:
        """Returns a network with one of `cardai.evaluators.bodies`, its initial weights drawn by the seed."""
        return build(name, options, self.layout, seed)

    def train(
        self,
        module: nnx.Module,
        seed: int,
        steps: int | None = None,
        order: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> "TrainedBody":
        """Trains a copy of a network and evaluates it on the test states. `module` itself is not changed.

        `seed`: decides the split into training and test games and the order of the states.
        `steps`: training steps; the config's if not given.
        `order`: i8[F], indices that permute a row: the network gets rows[:, order], see `cells_shuffled`.
        Raises CardaiError if the loss is no longer finite, or if the module's output is not f4[B].
        """
        config = replace(self.config, seed=seed, steps=steps or self.config.steps)
        if not config.steps:
            raise CardaiError("the config of a comparison must have a number of steps, not 0")
        training, _, test = split_states(config, self.dataset)
        config = completed(config, len(training))
        terms, labels = self.dataset.recipe.terms, self.dataset.labels[training]
        device, scale = device_of(config.device), labels_scale(self.game, config.loss, terms, labels)
        with jax.default_device(device):
            trainer, state = self._start(nnx.clone(module), config, scale)
            rows = _Rows(self.dataset, order, device)
            _check_output(trainer, state, rows.take(training[: config.batch])[0])
            state, speed = _run_steps(trainer, jax.device_put(state, device), rows, training, config, progress)
            weights = trainer.weights(state)
            states = config.steps * config.batch
            trained_on = np.sort(epoch_order(seed, 0, training)[: min(len(test), states)])
            return TrainedBody(
                self,
                trainer.module(weights),
                order,
                test=rows.evaluate(trainer, weights, test, config.batch),
                training=rows.evaluate(trainer, weights, trained_on, config.batch),
                states=states,
                states_per_second=speed,
            )

    def _start(self, module: nnx.Module, config: TrainConfig, scale: LabelScale | None) -> tuple[Trainer, TrainState]:
        """Returns the trainer, shared by networks of the same structure, and the state before the first step."""
        module.train()
        graph, *parts = nnx.split(module, nnx.Param, ...)
        params, rest = jax.tree.map(jnp.copy, nnx.as_pure(parts))  # a training step reuses the memory of its state
        key = graph, tuple(leaf.shape for leaf in jax.tree.leaves(params)), config.steps, scale
        if key not in self._trainers:
            self._trainers[key] = Trainer(module, config, config.steps, scale=scale)
        trainer = self._trainers[key]
        state = trainer.start()
        average = jax.tree.map(jnp.copy, params) if self.config.ema else ()
        return trainer, state._replace(params=params, rest=rest, average=average)


def comparison_of(config: TrainConfig, game: Game | None = None, progress: Progress | None = None) -> BodyComparison:
    """Reads the states of a config's records and returns the comparison on them.

    The config's `out`, `body`, `options` and `seed` are not used for training. Raises CardaiError as
    `cardai.evaluators.training.batches.collect` does.
    """
    game = game or load(config.game)
    return BodyComparison(game, collect(config, game, progress), config)


@dataclass(frozen=True)
class TrainedBody:
    """A trained network.

    `order`: see `BodyComparison.train`.
    `test`: its metrics on the test states; `training`: its metrics on as many of the training states.
    `states`: how many states it was trained on, repetitions counted; `states_per_second`: without compilation.
    """

    comparison: BodyComparison
    module: nnx.Module
    order: np.ndarray | None
    test: Metrics
    training: Metrics
    states: int
    states_per_second: float

    def evaluator(self, name: str) -> "BodyEvaluator":
        """Returns the network as an evaluator with this name."""
        dataset, encoder = self.comparison.dataset, self.comparison.dataset.recipe.encoder
        assert encoder is not None
        where = dataset.game, dataset.variant, dataset.seats
        return BodyEvaluator(name, *where, encoder, self.comparison.config.moment, self.module, self.order)

    def player(self, name: str) -> Agent:
        """Returns the agent that plays the move with the highest score by this network."""
        return self.evaluator(name).player()


@dataclass
class BodyEvaluator:
    """A network as a `cardai.playing.agents.evaluator.Evaluator`. `order`: see `BodyComparison.train`."""

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
        """Starts scoring rows, u8[n, width]. `np.asarray` of the result waits for the scores, f4[n] in [0, 1]."""
        return self._scorer.score(rows if self.order is None else rows[:, self.order])

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raises CardaiError unless it was trained for this game, variant and number of seats. None is any variant."""
        if (game.name, seats) != (self.game, self.seats) or variant not in (None, self.variant):
            raise CardaiError(
                f"{self.name} was trained for {self.game}, variant {self.variant}, with {self.seats} seats"
            )

    def player(self) -> Agent:
        """Returns the agent that plays the move with the highest score.

        A network for settled states is asked about 100 worlds, and the mean score counts.
        """
        settles = self.moment == "drawn"
        return Agent(self.name, OnePly(self, settles=settles, worlds=100 if settles else 1))


def parameters(module: nnx.Module) -> int:
    """Returns the number of a network's trainable parameters."""
    return sum(leaf.size for leaf in jax.tree.leaves(nnx.as_pure(nnx.state(module, nnx.Param))))


def cells_shuffled(layout: Sequence[Segment], seed: int) -> np.ndarray:
    """Returns a permutation that shuffles the cells of a row's planes: indices into the row, i8[F].

    `layout`: the segments of a row of F values. `seed`: decides the permutation. Value i of a shuffled row is value
    order[i] of the row. Planes are the segments with two dimensions, all others stay in place. Planes of one shape are
    shuffled alike, so that a cell's values in all planes stay together, but its neighbours change.
    """
    order, first, stream = np.arange(sum(segment.size for segment in layout)), 0, np.random.default_rng(seed)
    shuffled: dict[tuple[int, ...], np.ndarray] = {}
    for segment in layout:
        if len(segment.shape) == 2:
            cells = shuffled.setdefault(segment.shape, stream.permutation(segment.size))
            order[first : first + segment.size] = first + cells
        first += segment.size
    return order


def rows_per_second(module: nnx.Module, rows: np.ndarray, rounds: int = 5, seconds: float = 0.2) -> list[float]:
    """Measures how many rows per second a network scores, with all rows u8[n, F] in one call, as at a table.

    Returns one figure for each of `rounds` rounds, each of about `seconds` seconds.
    """
    scorer = Scorer(module)
    np.asarray(scorer.score(rows))  # compiled before the clock starts
    return [timed(lambda: len(np.asarray(scorer.score(rows))), seconds).per_second for _ in range(rounds)]


class _Rows:
    """Sends states of a dataset to a device, with the values of each row permuted by `order` if it is given."""

    def __init__(self, dataset: Dataset, order: np.ndarray | None, device: Any) -> None:
        self.dataset, self.order, self.device = dataset, order, device

    def take(self, places: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """Returns the rows u8[n, F] and labels f4[n] of the states at these places, i[n], on the device."""
        rows = self.dataset.take(places)
        rows = rows if self.order is None else rows[:, self.order]
        return jax.device_put((rows, self.dataset.labels[places]), self.device)

    def evaluate(self, trainer: Trainer, weights: Any, places: np.ndarray, batch: int) -> Metrics:
        """Returns the metrics of weights on some states. All batches have one size, so that one program is compiled."""
        size, logits = evaluation_batch(batch), np.zeros(len(places), np.float32)
        for first in range(0, len(places), size):
            batch_places = places[first : first + size]
            rows = self.take(np.resize(batch_places, size))[0]
            logits[first : first + size] = np.asarray(trainer.logits(weights, rows))[: len(batch_places)]
        return measure(logits, self.dataset.labels[places])


def _run_steps(
    trainer: Trainer,
    state: TrainState,
    rows: _Rows,
    training: np.ndarray,
    config: TrainConfig,
    progress: Progress | None,
) -> tuple[TrainState, float]:
    """Makes all training steps. Returns the state after them and the number of states per second."""
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
    """Yields the places of each step's states, i[batch], the same that `cardai.evaluators.training.train` takes."""
    epochs = (epoch_batches(config, epoch, training) for epoch in itertools.count())
    return itertools.islice(itertools.chain.from_iterable(epochs), config.steps)


def _check_output(trainer: Trainer, state: TrainState, rows: jax.Array) -> None:
    """Raises CardaiError if the network does not map rows u8[B, F] to logits f4[B]."""
    logits = jax.eval_shape(trainer.logits, trainer.weights(state), rows)
    shape = getattr(logits, "shape", None)
    if shape != (len(rows),):
        raise CardaiError(f"a network must return one logit for each row, shape [{len(rows)}], not {shape}")
