"""The layers of the bodies: input statistics, dense layers, dropout; and their initial weights."""

import math
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from cardai.evaluators.bodies.arrays import EPSILON, folded

MEMORY = 0.99  # the decay of the running statistics with each batch

M = TypeVar("M", bound=nnx.Module)


class Statistics(nnx.Module):
    """Batch normalisation: brings each feature (last axis) to mean 0 and variance 1.

    In training it uses the statistics of the batch, in evaluation mode running statistics. It has no scale and no
    offset, because the next layer has both. The running statistics are the mean over the first 1 / (1 - MEMORY) batches
    and a moving average after these, so that their initial values have no weight in a short run.
    """

    def __init__(self, features: int) -> None:
        self.mean = nnx.BatchStat(jnp.zeros(features, jnp.float32))
        self.variance = nnx.BatchStat(jnp.ones(features, jnp.float32))
        self.batches = nnx.BatchStat(jnp.zeros((), jnp.float32))
        self.use_running_average = False

    def begin(self, stream: np.random.Generator) -> None:
        """Set the running statistics to mean 0 and variance 1."""
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
        """Return the dense layer (f4[features, units], f4[units]) with the same output for inputs not normalised."""
        layer = folded(*(np.asarray(part) for part in (kernel, bias, self.mean[...], self.variance[...])))
        return jax.device_put(layer[0]), jax.device_put(layer[1])


class Linear(nnx.Module):
    """A dense layer: f4[..., features] -> f4[..., units].

    `kernel`: f4[..., units]. The variance of its initial weights is `gain` divided by the number of inputs of a unit.
    """

    def __init__(self, features: int, units: int, gain: float = 2.0) -> None:
        self.make((features, units), gain)

    def make(self, shape: tuple[int, ...], gain: float) -> None:
        """Make a kernel of this shape, and a bias, both of zeros."""
        self.kernel = nnx.Param(jnp.zeros(shape, jnp.float32))
        self.bias = nnx.Param(jnp.zeros(shape[-1], jnp.float32))
        self.gain = gain

    def begin(self, stream: np.random.Generator) -> None:
        """Draw the initial weights."""
        spread = np.float32(math.sqrt(self.gain / math.prod(self.kernel.shape[:-1])))
        self.kernel.set_value(jax.device_put(spread * stream.standard_normal(self.kernel.shape, np.float32)))
        self.bias.set_value(jax.device_put(np.zeros(self.bias.shape, np.float32)))

    def __call__(self, values: jax.Array) -> jax.Array:
        return values @ self.kernel[...] + self.bias[...]


class Dropout(nnx.Module):
    """In training, sets a random share of the units to 0: f4[B, units] -> f4[B, units].

    The masks are hashes of place, call and seed, in integer arithmetic. On a CPU this is much faster than JAX's random
    numbers, which take as long as a matrix product (22 ms against 335 ms for 16 384 x 600).
    """

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.stream = nnx.RngCount(jnp.zeros(2, jnp.uint32), tag="dropout")  # what the next mask is made from
        self.deterministic = False

    def begin(self, stream: np.random.Generator) -> None:
        """Draw the seed of the masks."""
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
    """Mix the bits of 32-bit numbers well, by a permutation (constants: Chris Wellons' hash prospector, via Turner)."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x21F0AAAD)
    bits = (bits ^ (bits >> 15)) * jnp.uint32(0xD35A2D97)
    return bits ^ (bits >> 15)


def initialise(module: nnx.Module, seed: int) -> None:
    """Give all variables of a network their initial values.

    NumPy draws them: nothing must be compiled, and a seed gives the same network on every machine.
    """
    stream = np.random.default_rng(seed)
    for _, layer in nnx.iter_graph(module):
        if isinstance(layer, Statistics | Linear | Dropout):
            layer.begin(stream)


def evaluating(module: M) -> M:
    """Return a copy of a network in evaluation mode."""
    copy = nnx.clone(module)
    copy.eval()
    return copy
