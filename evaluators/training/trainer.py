"""One step of learning: a jitted function from a state, rows and labels to the next state, and its names in files."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from cardai.errors import CardaiError
from evaluators.training.config import TrainConfig

_EVALUATED = 8192  # most rows scored at once outside of training


class TrainState(NamedTuple):
    """All that a step changes. `params`: weights; `rest`: batch statistics and the streams of dropout; `optimiser`: its
    moments; `average`: the moving average of the weights, or () when there is none; `count`: steps taken, i4[].
    """

    params: Any
    rest: Any
    optimiser: Any
    average: Any
    count: Any


class Trainer:
    """A network that learns, with the optimiser and schedule of a config over `total` steps (None: no end is known).

        trainer = Trainer(module, config, total=1000)
        state = trainer.start()
        state, loss = trainer.step(state, rows, labels)

    `step(state, rows u8[batch, width], labels f4[batch]) -> (state, loss f4[])` gives the old state's memory away, and
    returns before the work is done. `logits(trainer.weights(state), rows u8[B, width]) -> f4[B]` is in evaluation mode.
    Both are compiled once for each number of rows.
    """

    def __init__(self, module: nnx.Module, config: TrainConfig, total: int | None) -> None:
        module.train()
        self._training, *parts = nnx.split(module, nnx.Param, ...)
        self._params, self._rest = nnx.as_pure(parts)
        module.eval()
        self._evaluating = nnx.split(module, nnx.Param, ...)[0]
        self.rate = learning_rate(config, total)
        self._optimiser = _optimiser(config, self.rate)
        self._ema = config.ema
        self.step = jax.jit(self._step, donate_argnums=0)
        self.logits = jax.jit(self._logits)

    def start(self) -> TrainState:
        """The state before the first step."""
        params = _copied(self._params)
        average = _copied(params) if self._ema else ()
        return TrainState(params, _copied(self._rest), self._optimiser.init(params), average, jnp.zeros((), jnp.int32))

    def weights(self, state: TrainState) -> tuple[Any, Any]:
        """What is judged and kept of a state: its weights, averaged if an average is kept, and the rest."""
        return (state.average if self._ema else state.params), state.rest

    def module(self, weights: tuple[Any, Any]) -> nnx.Module:
        """The network with such weights, in evaluation mode."""
        return nnx.merge(self._evaluating, *_copied(weights))

    def _step(self, state: TrainState, rows: jax.Array, labels: jax.Array) -> tuple[TrainState, jax.Array]:
        def loss_of(params: Any) -> tuple[jax.Array, Any]:
            module = nnx.merge(self._training, params, state.rest, copy=True)
            losses = optax.sigmoid_binary_cross_entropy(module(rows), labels)  # pyright: ignore[reportCallIssue]
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
        return TrainState(params, rest, optimiser, average, state.count + 1), loss

    def _logits(self, weights: tuple[Any, Any], rows: jax.Array) -> jax.Array:
        return nnx.merge(self._evaluating, *weights, copy=True)(rows)  # pyright: ignore[reportCallIssue]


def learning_rate(config: TrainConfig, total: int | None) -> optax.Schedule:
    """The learning rate by step, for a run of `total` steps. CardaiError when the warm-up does not fit in."""
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


def evaluated(batch: int) -> int:
    """How many rows are scored at once in a run with this batch."""
    return min(batch, _EVALUATED)


def named_arrays(tree: Any, prefix: str) -> dict[str, np.ndarray]:
    """The arrays of a tree by their paths, `prefix` before each; random keys as the numbers they consist of."""
    return {f"{prefix}/{name}": np.asarray(_numbers(leaf)) for name, leaf in _leaves(tree)}


def tree_from(template: Any, tensors: Mapping[str, np.ndarray], prefix: str) -> Any:
    """The tree whose arrays `named_arrays` named; shapes and types must be the template's (CardaiError)."""
    found = []
    for name, leaf in _leaves(template):
        wanted, kept = _numbers(leaf), tensors.get(f"{prefix}/{name}")
        if kept is None or kept.shape != wanted.shape or kept.dtype != wanted.dtype:
            said = "is missing" if kept is None else f"is {kept.dtype}{list(kept.shape)}"
            raise CardaiError(f"{prefix}/{name} {said}, it should be {wanted.dtype}{list(wanted.shape)}")
        value = jnp.array(kept, copy=True)  # memory of its own, which a step may be given
        found.append(jax.random.wrap_key_data(value, impl=jax.random.key_impl(leaf)) if _is_key(leaf) else value)
    return jax.tree.unflatten(jax.tree.structure(template), found)


def _optimiser(config: TrainConfig, rate: optax.Schedule) -> optax.GradientTransformation:
    if config.optimiser == "adamw":
        chosen = optax.adamw(rate, weight_decay=config.weight_decay, mask=_matrices)
    else:
        chosen = optax.adam(rate)
    return optax.chain(optax.clip_by_global_norm(config.clip), chosen) if config.clip else chosen


def _matrices(params: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf.ndim > 1, params)


def _copied(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), tree)


def _leaves(tree: Any) -> list[tuple[str, Any]]:
    paths = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="/"), leaf) for path, leaf in paths]


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _numbers(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf
