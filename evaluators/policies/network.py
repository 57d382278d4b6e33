"""The network of a policy, and probabilities over the legal actions of a decision.

Shapes: B or n decisions, A actions, `width` values in an encoded row. `masks` say which actions are legal: bool[n, A].
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from cardai.evaluators.bodies.layers import Linear, initialise
from cardai.evaluators.scorer import device_of
from cardai.playing.agents.actions import draw_actions

SMALLEST, LARGEST = 64, 4096  # rows of the smallest and the largest compiled batch
_ILLEGAL = -1e9  # the logit of an illegal action: beside any legal one its exponential is 0


class Network(nnx.Module):
    """Dense layers with ReLU and one output for each action: u8[B, width] -> f4[B, outputs].

    `gain`: of the last layer, see `Linear`.
    """

    def __init__(self, width: int, hidden: Sequence[int], outputs: int, gain: float = 1.0) -> None:
        widths = [width, *hidden]
        self.layers = nnx.List([Linear(*pair) for pair in itertools.pairwise(widths)])
        self.output = Linear(widths[-1], outputs, gain)

    def __call__(self, rows: jax.Array) -> jax.Array:
        return self.output(self.hidden(network_inputs(rows)))

    def hidden(self, values: jax.Array, first: int = 0) -> jax.Array:
        """Returns the output of the hidden layers from number `first` on: f4[B, units] -> f4[B, units]."""
        for layer in list(self.layers)[first:]:
            values = jax.nn.relu(layer(values))
        return values


def network_inputs(rows: jax.Array) -> jax.Array:
    """Returns log2(1 + value) of encoded rows, u8[B, width] -> f4[B, width]: 0 and 1 stay, large counts shrink."""
    chex.assert_rank(rows, 2)
    chex.assert_type(rows, jnp.uint8)
    return jnp.log2(1.0 + rows.astype(jnp.float32))


def initialised(make: Callable[[], nnx.Module], seed: int) -> nnx.Module:
    """Returns the module that `make` builds, with initial weights that depend on the seed alone."""
    module = nnx.eval_shape(make)
    initialise(module, seed)
    return module


def split(module: nnx.Module) -> tuple[Any, Any]:
    """Returns a module's structure and its weights, which `nnx.merge` joins again."""
    graph, state = nnx.split(module)
    return graph, nnx.as_pure(state)


def log_probabilities(logits: jax.Array, masks: jax.Array) -> jax.Array:
    """Returns the log-softmax over the legal actions, f4[B, A], from f4[B, A] and bool[B, A], for use in a loss.

    The value of an illegal action is so low that its exponential is 0.
    """
    chex.assert_rank(logits, 2)
    chex.assert_equal_shape([logits, masks])
    chex.assert_type([logits, masks], [jnp.float32, bool])
    return jax.nn.log_softmax(jnp.where(masks, logits, _ILLEGAL))


def probabilities(logits: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Returns the softmax of `logits`, f4[n, A], over the legal actions: f8[n, A], 0 for illegal actions.

    `masks`: bool[n, A], which actions are legal.
    """
    legal = np.where(masks, logits.astype(np.float64), -np.inf)
    weights = np.exp(legal - legal.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def draw_legal_actions(masks: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Returns a legal action for each row, i64[n], drawn evenly. `uniforms`: as in `draw_actions`."""
    return draw_actions(masks.astype(np.float64), uniforms)


def best_actions(values: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Returns the legal action of the highest value in each row, i64[n], the first one in a tie."""
    return np.where(masks, values, -np.inf).argmax(axis=1)


def compiled(apply: Callable[[Any, jax.Array], Any]) -> Callable[[Any, np.ndarray], Any]:
    """Compiles `apply(weights, rows)` for rows of any number: (weights, u8[n, width]) -> arrays f4[n, ...].

    Rows are sent in batches of at most `LARGEST`, filled up to powers of two, so that few programs are compiled.
    """
    apply = jax.jit(apply)

    def run(weights: Any, rows: np.ndarray) -> Any:
        outputs = []
        for first in range(0, max(1, len(rows)), LARGEST):
            batch = rows[first : first + LARGEST]
            with on_device():
                outputs.append(apply(weights, padded(batch, padded_size(len(batch)))))
        return jax.tree.map(lambda *batches: np.concatenate(batches)[: len(rows)], *outputs)

    return run


def on_device() -> AbstractContextManager:
    """Returns a context in which networks compute on the chosen device (`scorer.set_device`)."""
    return jax.default_device(device_of())


def padded_size(count: int) -> int:
    """Returns the number of rows to which `count` rows are filled up: a power of two, at least `SMALLEST`."""
    return max(SMALLEST, 1 << (count - 1).bit_length())


def padded(array: np.ndarray, size: int) -> np.ndarray:
    """Returns the array with zeros added along its first axis, which then has the length `size`."""
    if len(array) == size:
        return array
    return np.concatenate([array, np.zeros((size - len(array), *array.shape[1:]), array.dtype)])


@functools.cache
def compiled_network(width: int, hidden: tuple[int, ...], outputs: int) -> Callable[[Any, np.ndarray], np.ndarray]:
    """Returns the compiled function (weights, u8[n, width]) -> f4[n, outputs] of all networks of these sizes."""
    graph, _ = split(initialised(lambda: Network(width, hidden, outputs), 0))
    return compiled(lambda weights, rows: nnx.merge(graph, weights)(rows))  # pyright: ignore[reportCallIssue]
