"""One training step, a jitted function from a state, rows and labels to the next state; and the names of its arrays."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.devices import TrainingDevices
from cardai.evaluators.training.metrics import log_odds
from cardai.game import Game
from cardai.playing.agents.spec import agent
from cardai.playing.table.many import play

_EVALUATED = 8192  # most rows scored at once in evaluation mode
_SCALED_GAMES = 1000  # of random play, whose scores give a scale


class LabelScale(NamedTuple):
    """How labels in [0, 1] are standardised: their mean, in (0, 1), and their standard deviation, above 0.

    An output z of a body stands for the score sigmoid(offset + slope * z), which is about mean + deviation * z.
    """

    mean: float
    deviation: float

    @classmethod
    def of(cls, labels: np.ndarray) -> "LabelScale":
        """Return the scale of labels, f4[n]."""
        mean = float(np.clip(np.mean(labels, dtype=np.float64), 1e-4, 1 - 1e-4))
        return cls(mean, max(float(np.std(labels, dtype=np.float64)), 1e-6))

    @classmethod
    def of_random_play(cls, game: Game, variant: str | None, seats: int) -> "LabelScale":
        """Return the scale of the scores of random play, for those who must know it before there are labels."""
        lineups = np.zeros((_SCALED_GAMES, seats), np.int64)
        return cls.of(
            play(game, [agent(game, "random")], lineups, np.arange(_SCALED_GAMES), variant=variant).complete().scores
        )

    @property
    def offset(self) -> float:
        """The logit of the mean."""
        return log_odds(self.mean)

    @property
    def slope(self) -> float:
        """How much the logit of a score rises with one deviation, near the mean."""
        return self.deviation / (self.mean * (1 - self.mean))


def is_regression(game: Game, loss: str, label_terms: Collection[str]) -> bool:
    """Return whether labels are standardised: not for the loss bce, which "auto" is where a payoff is a share."""
    return loss == "regression" or (loss == "auto" and not game.payoff.is_share and "score" in label_terms)


def labels_scale(game: Game, loss: str, label_terms: Collection[str], labels: np.ndarray) -> LabelScale | None:
    """Return how labels, f4[n], are standardised; None if they are not (`is_regression`)."""
    return LabelScale.of(labels) if is_regression(game, loss, label_terms) else None


class Rescaled(nnx.Module):
    """A network whose logits are offset + slope * z, where z are the outputs of the network in it."""

    def __init__(self, inner: nnx.Module, scale: LabelScale) -> None:
        self.inner, self.offset, self.slope = inner, scale.offset, scale.slope

    def __call__(self, rows: jax.Array) -> jax.Array:
        inner: Any = self.inner
        return self.offset + self.slope * inner(rows)


class TrainState(NamedTuple):
    """All that a training step changes.

    `params`: the weights.
    `rest`: batch statistics, and where the streams of dropout are.
    `optimiser`: the optimiser's moments.
    `average`: the moving average of the weights, or () if none is kept.
    `count`: the steps taken, i4[].
    """

    params: Any
    rest: Any
    optimiser: Any
    average: Any
    count: Any


class Trainer:
    """Trains a network with the optimiser and the schedule of a config, for `total` steps (None: unknown).

    `devices`: those among which the rows of a batch are divided; None, or one: JAX's default device.
    `scale`: how labels are standardised; the loss is then the squared error in their deviations. None: the labels are
    as they are, and the loss is the cross-entropy.

        trainer = Trainer(module, config, total=1000)
        state = trainer.start()
        state, loss = trainer.step(state, rows, labels)

    `step(state, rows u8[B, width], labels f4[B]) -> (state, loss f4[])` reuses the memory of the old state, which may
    not be used again. It returns before the work is done.
    `logits(trainer.weights(state), rows u8[B, width]) -> f4[B]` is in evaluation mode.
    Both are traced and compiled once for each number of rows.
    """

    def __init__(
        self,
        module: nnx.Module,
        config: TrainConfig,
        total: int | None,
        devices: TrainingDevices | None = None,
        scale: LabelScale | None = None,
    ) -> None:
        self._scale = scale
        if scale and config.start_from:  # its last layer gives logits
            _fold(module, 1 / scale.slope, -scale.offset / scale.slope)
        module.train()
        self._training, *parts = nnx.split(module, nnx.Param, ...)
        self._params, self._rest = nnx.as_pure(parts)
        module.eval()
        self._evaluating = nnx.split(module, nnx.Param, ...)[0]
        self.rate = learning_rate(config, total)
        self._optimiser = _optimiser(config, self.rate)
        self._ema = config.ema
        shared = devices.jit_options() if devices else {}
        self.step = jax.jit(self._step, donate_argnums=0, **shared)
        self.logits = jax.jit(self._logits, **shared)

    def start(self) -> TrainState:
        """Return the state before the first step."""
        params = _copied(self._params)
        average = _copied(params) if self._ema else ()
        return TrainState(params, _copied(self._rest), self._optimiser.init(params), average, jnp.zeros((), jnp.int32))

    def weights(self, state: TrainState) -> tuple[Any, Any]:
        """Return what is evaluated and saved of a state: the weights, or their average if one is kept, and `rest`."""
        return (state.average if self._ema else state.params), state.rest

    def module(self, weights: tuple[Any, Any]) -> nnx.Module:
        """Return the network with these weights, in evaluation mode."""
        module = nnx.merge(self._evaluating, *_copied(weights))
        if self._scale is None:
            return module
        if not hasattr(getattr(module, "dense", None), "logit"):  # a network of somebody else's
            return Rescaled(module, self._scale)
        _fold(module, self._scale.slope, self._scale.offset)
        return module

    def _step(self, state: TrainState, rows: jax.Array, labels: jax.Array) -> tuple[TrainState, jax.Array]:
        _check_rows(rows)
        chex.assert_type(labels, jnp.float32)

        def loss_of(params: Any) -> tuple[jax.Array, Any]:
            module = nnx.merge(self._training, params, state.rest, copy=True)
            logits = self._logits_of(module, rows)
            chex.assert_shape([logits, labels], (len(rows),))
            losses = self._losses(logits, labels)
            return jnp.mean(losses), nnx.as_pure(nnx.split(module, nnx.Param, ...)[2])

        (loss, rest), gradient = jax.value_and_grad(loss_of, has_aux=True)(state.params)
        updates, optimiser = self._optimiser.update(gradient, state.optimiser, state.params)
        params = optax.apply_updates(state.params, updates)
        average = state.average
        if self._ema:
            kept = jnp.minimum(
                self._ema, (1 + state.count) / (10 + state.count)
            )  # a short run forgets its first weights, too
            average = jax.tree.map(lambda old, new: kept * old + (1 - kept) * new, average, params)
        after = TrainState(params, rest, optimiser, average, state.count + 1)
        chex.assert_trees_all_equal_shapes_and_dtypes(after, state)
        return after, loss

    def _logits(self, weights: tuple[Any, Any], rows: jax.Array) -> jax.Array:
        _check_rows(rows)
        return self._logits_of(nnx.merge(self._evaluating, *weights, copy=True), rows)

    def _logits_of(self, module: Any, rows: jax.Array) -> jax.Array:
        outputs = module(rows)
        return self._scale.offset + self._scale.slope * outputs if self._scale else outputs

    def _losses(self, logits: jax.Array, labels: jax.Array) -> jax.Array:
        if self._scale is None:
            return optax.sigmoid_binary_cross_entropy(logits, labels)
        return 0.5 * jnp.square((jax.nn.sigmoid(logits) - labels) / self._scale.deviation)


def learning_rate(config: TrainConfig, total: int | None) -> optax.Schedule:
    """Return the learning rate by step, for a run of `total` steps (None: unknown).

    Raises CardaiError if the warm-up is not shorter than the run, or if a cosine schedule has no end.
    """
    if total is not None and config.warm_up >= total:
        raise CardaiError(f"warm_up {config.warm_up} must be shorter than the whole run, which has {total} steps")
    if config.schedule == "cosine":
        if total is None:
            raise CardaiError("schedule cosine must know the number of steps")
        after = optax.cosine_decay_schedule(config.learning_rate, total - config.warm_up, config.final_rate)
    else:
        after = optax.constant_schedule(config.learning_rate)
    if not config.warm_up:
        return after
    rising = optax.linear_schedule(config.learning_rate / (config.warm_up + 1), config.learning_rate, config.warm_up)
    return optax.join_schedules([rising, after], [config.warm_up])


def evaluation_batch(batch: int, devices: int = 1) -> int:
    """Return how many rows are scored at once in evaluation mode, in a run whose steps have `batch` rows.

    It is a multiple of `devices`, as `batch` is.
    """
    size = min(batch, _EVALUATED)
    return size - size % devices


def named_arrays(tree: Any, prefix: str = "") -> dict[str, np.ndarray]:
    """Return the arrays of a tree, named by `prefix` and their paths. Random keys are given as their numbers."""
    return {name: np.asarray(_numbers(leaf)) for name, leaf in _leaves(tree, prefix)}


def tree_from(template: Any, arrays: Mapping[str, np.ndarray], prefix: str = "") -> Any:
    """Return the tree whose arrays `named_arrays` returned.

    Raises CardaiError if an array is missing or has another shape or type than in the template.
    """
    leaves = []
    for name, leaf in _leaves(template, prefix):
        expected, array = _numbers(leaf), arrays.get(name)
        if array is None or array.shape != expected.shape or array.dtype != expected.dtype:
            actual = "is missing" if array is None else f"is {array.dtype}{list(array.shape)}"
            raise CardaiError(f"{name} {actual}, it should be {expected.dtype}{list(expected.shape)}")
        value = jnp.array(array, copy=True)  # a step reuses the memory of its state, which NumPy must not share
        leaves.append(jax.random.wrap_key_data(value, impl=jax.random.key_impl(leaf)) if _is_key(leaf) else value)
    return jax.tree.unflatten(jax.tree.structure(template), leaves)


def _check_rows(rows: jax.Array) -> None:
    """Assert, when a step is traced, that the rows are u8[B, width]."""
    chex.assert_rank(rows, 2)
    chex.assert_type(rows, jnp.uint8)


def _optimiser(config: TrainConfig, rate: optax.Schedule) -> optax.GradientTransformation:
    if config.optimiser == "adamw":
        chosen = optax.adamw(rate, weight_decay=config.weight_decay, mask=_matrices)
    else:
        chosen = optax.adam(rate)
    return optax.chain(optax.clip_by_global_norm(config.clip), chosen) if config.clip else chosen


def _matrices(params: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf.ndim > 1, params)


def _fold(module: Any, slope: float, offset: float) -> None:
    """Replace the last layer of a body, whose output is z, by one with the output offset + slope * z."""
    layer = module.dense.logit
    layer.kernel.set_value(slope * layer.kernel[...])
    layer.bias.set_value(offset + slope * layer.bias[...])


def _copied(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), tree)


def _leaves(tree: Any, prefix: str) -> list[tuple[str, Any]]:
    paths, first = jax.tree_util.tree_flatten_with_path(tree)[0], f"{prefix}/" if prefix else ""
    return [(first + jax.tree_util.keystr(path, simple=True, separator="/"), leaf) for path, leaf in paths]


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _numbers(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf
