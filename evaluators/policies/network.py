"""The network of a policy, and probabilities over the legal actions alone."""

import functools
import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from evaluators.bodies.layers import Linear, initialise
from evaluators.scorer import device_of

SMALLEST, LARGEST = 64, 4096  # rows judged at once
_NEVER = -1e9  # a logit whose exponential is 0 beside any other


class Network(nnx.Module):
    """Dense layers with ReLU, then a number for each action: u8[B, width] -> f4[B, outputs].

    Inputs are log2(1 + value): bits stay bits, counts stay small. `gain`: see `Linear`, of the last layer.
    """

    def __init__(self, width: int, hidden: Sequence[int], outputs: int, gain: float = 1.0) -> None:
        widths = [width, *hidden]
        self.layers = nnx.List([Linear(*pair) for pair in itertools.pairwise(widths)])
        self.output = Linear(widths[-1], outputs, gain)

    def __call__(self, rows: jax.Array) -> jax.Array:
        return self.output(self.hidden(features(rows)))

    def hidden(self, values: jax.Array, first: int = 0) -> jax.Array:
        """What the hidden layers from `first` on make of the values before them."""
        for layer in list(self.layers)[first:]:
            values = jax.nn.relu(layer(values))
        return values


def features(rows: jax.Array) -> jax.Array:
    """u8[B, width] -> f4[B, width]."""
    return jnp.log2(1.0 + rows.astype(jnp.float32))


def begun(make: Callable[[], nnx.Module], seed: int) -> nnx.Module:
    """A module with its first weights, which the seed decides."""
    module = nnx.eval_shape(make)
    initialise(module, seed)
    return module


def parts(module: nnx.Module) -> tuple[Any, Any]:
    """The structure of a module and its weights; `nnx.merge` puts them together."""
    graph, state = nnx.split(module)
    return graph, nnx.as_pure(state)


def log_probabilities(logits: jax.Array, masks: jax.Array) -> jax.Array:
    """f4[B, A], bool[B, A] -> f4[B, A]: the softmax over legal actions; illegal ones so low that they count for 0."""
    return jax.nn.log_softmax(jnp.where(masks, logits, _NEVER))


def probabilities(logits: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """f4[n, A], bool[n, A] -> f8[n, A]: the softmax over legal actions; 0 for illegal ones."""
    kept = np.where(masks, logits.astype(np.float64), -np.inf)
    weights = np.exp(kept - kept.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def drawn(chances: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """An action for each row, i64[n], by chances f8[n, A] (in any scale) and luck f8[n], even in [0, 1).

    None is drawn whose chance is 0.
    """
    heights = np.cumsum(chances, axis=1)
    tops = heights[:, -1]
    marks = np.minimum(luck * tops, np.nextafter(tops, 0))
    return (heights <= marks[:, None]).sum(axis=1)


def uniform(masks: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """A legal action for each row, each as likely: i64[n]."""
    return drawn(masks.astype(np.float64), luck)


def best(worth: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The legal action with the highest worth, i64[n]; the first of equal ones."""
    return np.where(masks, worth, -np.inf).argmax(axis=1)


def evaluated(apply: Callable[[Any, jax.Array], Any]) -> Callable[[Any, np.ndarray], Any]:
    """`apply(weights, rows)`, compiled for few numbers of rows: (weights, u8[n, width]) -> arrays f4[n, ...]."""
    compiled = jax.jit(apply)

    def run(weights: Any, rows: np.ndarray) -> Any:
        found = []
        for first in range(0, max(1, len(rows)), LARGEST):
            piece = rows[first : first + LARGEST]
            with on_device():
                found.append(compiled(weights, padded(piece, size_for(len(piece)))))
        return jax.tree.map(lambda *some: np.concatenate(some)[: len(rows)], *found)

    return run


def on_device() -> AbstractContextManager:
    """Where networks compute in a `with` block: on the device that was chosen (`scorer.set_device`)."""
    return jax.default_device(device_of())


def size_for(count: int) -> int:
    """The number of rows to which `count` are filled up: a power of two, at least SMALLEST."""
    return max(SMALLEST, 1 << (count - 1).bit_length())


def padded(array: np.ndarray, size: int) -> np.ndarray:
    """An array with zeros added along its first axis."""
    if len(array) == size:
        return array
    return np.concatenate([array, np.zeros((size - len(array), *array.shape[1:]), array.dtype)])


@functools.cache
def forward(width: int, hidden: tuple[int, ...], outputs: int) -> Callable[[Any, np.ndarray], np.ndarray]:
    """A network as a function from (weights, u8[n, width]) to f4[n, outputs]."""
    graph, _ = parts(begun(lambda: Network(width, hidden, outputs), 0))
    return evaluated(lambda weights, rows: nnx.merge(graph, weights)(rows))  # pyright: ignore[reportCallIssue]
