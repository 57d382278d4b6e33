"""What the bodies are made of: input statistics, dense layers, dropout; and how their weights begin."""

import math
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

EPSILON = 1e-3  # added to a variance; that of Keras, and so of the thesis
MEMORY = 0.99  # how much of the running statistics a batch leaves

M = TypeVar("M", bound=nnx.Module)


class Statistics(nnx.Module):
    """Brings each feature (last axis) to mean 0 and variance 1: by the batch in training, by running statistics later.

    There is no scale and no offset to learn: the layer that follows has both. Running statistics are the plain mean of
    the first 1 / (1 - MEMORY) batches and a moving average from then on, so that short runs are not judged by the
    statistics they were initialised with.
    """

    def __init__(self, features: int) -> None:
        self.mean = nnx.BatchStat(jnp.zeros(features, jnp.float32))
        self.variance = nnx.BatchStat(jnp.ones(features, jnp.float32))
        self.batches = nnx.BatchStat(jnp.zeros((), jnp.float32))
        self.use_running_average = False

    def begin(self, stream: np.random.Generator) -> None:
        """As if features had always been of mean 0 and variance 1."""
        self.mean.set_value(jax.device_put(np.zeros(self.mean.shape, np.float32)))
        self.variance.set_value(jax.device_put(np.ones(self.variance.shape, np.float32)))
        self.batches.set_value(jax.device_put(np.zeros((), np.float32)))

    def __call__(self, values: jax.Array) -> jax.Array:
        """f4[..., features] -> f4[..., features]."""
        if self.use_running_average:
            mean, variance = self.mean[...], self.variance[...]
        else:
            axes = tuple(range(values.ndim - 1))
            mean = jnp.mean(values, axes)
            variance = jnp.mean(jnp.square(values - mean), axes)
            self._remember(mean, variance)
        return (values - mean) * jax.lax.rsqrt(variance + EPSILON)

    def _remember(self, mean: jax.Array, variance: jax.Array) -> None:
        mean, variance = jax.lax.stop_gradient((mean, variance))
        batches = self.batches[...] + 1
        share = jnp.maximum(1 / batches, 1 - MEMORY)
        self.mean[...] += share * (mean - self.mean[...])
        self.variance[...] += share * (variance - self.variance[...])
        self.batches[...] = jnp.minimum(batches, 1 / (1 - MEMORY))

    def folded_into(self, kernel: jax.Array, bias: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The dense layer (f4[features, units], f4[units]) that does to plain values what it does to normalised."""
        scale = 1 / np.sqrt(np.asarray(self.variance[...], np.float64) + EPSILON)
        wide = np.asarray(kernel, np.float64) * scale[:, None]
        moved = np.asarray(bias, np.float64) - np.asarray(self.mean[...], np.float64) @ wide
        return jax.device_put(wide.astype(np.float32)), jax.device_put(moved.astype(np.float32))


class Linear(nnx.Module):
    """A dense layer: f4[..., features] -> f4[..., units].

    `kernel`: f4[..., units]. Its weights begin with a variance of `gain` by the number that each unit sums over.
    """

    def __init__(self, features: int, units: int, gain: float = 2.0) -> None:
        self.make((features, units), gain)

    def make(self, shape: tuple[int, ...], gain: float) -> None:
        """Have a kernel of this shape."""
        self.kernel = nnx.Param(jnp.zeros(shape, jnp.float32))
        self.bias = nnx.Param(jnp.zeros(shape[-1], jnp.float32))
        self.gain = gain

    def begin(self, stream: np.random.Generator) -> None:
        """Draw the first weights."""
        spread = np.float32(math.sqrt(self.gain / math.prod(self.kernel.shape[:-1])))
        self.kernel.set_value(jax.device_put(spread * stream.standard_normal(self.kernel.shape, np.float32)))
        self.bias.set_value(jax.device_put(np.zeros(self.bias.shape, np.float32)))

    def __call__(self, values: jax.Array) -> jax.Array:
        return values @ self.kernel[...] + self.bias[...]


class Dropout(nnx.Module):
    """Leaves out a share of the units at random, in training: f4[B, units] -> f4[B, units].

    The masks are hashes of place, call and seed in plain integer arithmetic: they cost nothing beside a matrix product,
    where jax's generators cost as much as the product itself on a CPU (22 ms against 335 ms for 16 384 x 600).
    """

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.stream = nnx.RngCount(jnp.zeros(2, jnp.uint32), tag="dropout")  # what the next mask is made from
        self.deterministic = False

    def begin(self, stream: np.random.Generator) -> None:
        """Draw where the masks begin."""
        self.stream.set_value(jax.device_put(stream.integers(2**32, size=2, dtype=np.uint32)))

    def __call__(self, values: jax.Array) -> jax.Array:
        if self.deterministic or not self.rate:
            return values
        first, second = self.stream[...]
        self.stream[...] = jnp.stack([first + jnp.uint32(1), second])
        places = jax.lax.iota(jnp.uint32, values.size).reshape(values.shape)
        start = _mixed(first)
        bits = _mixed(_mixed(places ^ start) ^ _mixed(second ^ start))
        kept = bits >= jnp.uint32(int(self.rate * 2**32))
        return jnp.where(kept, values / (1 - self.rate), 0)


def _mixed(bits: jax.Array) -> jax.Array:
    """A well mixing permutation of 32-bit numbers (constants: Chris Wellons' hash prospector, via Turner)."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x21F0AAAD)
    bits = (bits ^ (bits >> 15)) * jnp.uint32(0xD35A2D97)
    return bits ^ (bits >> 15)


def initialise(module: nnx.Module, seed: int) -> None:
    """Give all variables of a network their first values, by NumPy: nothing has to be compiled for it, and a seed means
    the same network on every machine.
    """
    stream = np.random.default_rng(seed)
    for _, layer in nnx.iter_graph(module):
        if isinstance(layer, Statistics | Linear | Dropout):
            layer.begin(stream)


def evaluating(module: M) -> M:
    """A copy in evaluation mode."""
    copy = nnx.clone(module)
    copy.eval()
    return copy
