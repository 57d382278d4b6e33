"""What the bodies are made of besides flax's dense layers: input statistics, dropout, convolutions."""

from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

EPSILON = 1e-3  # added to a variance; that of Keras, and so of the thesis
MEMORY = 0.99  # how much of the running statistics a batch leaves

M = TypeVar("M", bound=nnx.Module)

_BANDED = 8  # planes at most so wide are convolved as products with a banded matrix


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
        return jnp.asarray(wide, jnp.float32), jnp.asarray(moved, jnp.float32)


class Dropout(nnx.Module):
    """Leaves out a share of the units at random, in training.

    The masks are hashes of place, call and seed in plain integer arithmetic: they cost nothing beside a matrix product,
    where jax's generators cost as much as the product itself on a CPU (22 ms against 335 ms for 16 384 x 600).
    """

    def __init__(self, rate: float, seed: int, place: int) -> None:
        self.rate = rate
        start = np.random.SeedSequence([seed % 2**64, place]).generate_state(2, np.uint32)
        self.stream = nnx.RngCount(jnp.asarray(start), tag="dropout")  # u4[2]: what the next mask is made from
        self.deterministic = False

    def __call__(self, values: jax.Array) -> jax.Array:
        """f4[B, units] -> f4[B, units]."""
        if self.deterministic or not self.rate:
            return values
        first, second = self.stream[...]
        self.stream[...] = jnp.stack([first + jnp.uint32(1), second])
        places = jax.lax.iota(jnp.uint32, values.size).reshape(values.shape)
        bits = _mixed(_mixed(places ^ _mixed(first)) ^ second)
        kept = bits >= jnp.uint32(int(self.rate * 2**32))
        return jnp.where(kept, values / (1 - self.rate), 0)


def _mixed(bits: jax.Array) -> jax.Array:
    """A well mixing permutation of 32-bit numbers (constants: Chris Wellons' hash prospector, via Turner)."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x21F0AAAD)
    bits = (bits ^ (bits >> 15)) * jnp.uint32(0xD35A2D97)
    return bits ^ (bits >> 15)


class Convolution(nnx.Module):
    """A kernel over planes, zero beyond their borders: f4[B, h, w, in] -> f4[B, h', w', out], h' = ceil(h / stride)."""

    def __init__(
        self, kernel: tuple[int, int], channels_in: int, channels_out: int, stride: int, rngs: nnx.Rngs
    ) -> None:
        shape = (*kernel, channels_in, channels_out)
        self.kernel = nnx.Param(nnx.initializers.he_normal()(rngs.params(), shape, jnp.float32))
        self.bias = nnx.Param(jnp.zeros(channels_out, jnp.float32))
        self.stride = stride

    def __call__(self, planes: jax.Array) -> jax.Array:
        return convolved(planes, self.kernel[...], self.stride) + self.bias[...]


def convolved(planes: jax.Array, kernel: jax.Array, stride: int = 1) -> jax.Array:
    """Planes f4[B, h, w, in] under a kernel f4[kh, kw, in, out], as `Convolution` has it."""
    if stride == 1 and planes.shape[1] * planes.shape[2] <= _WHOLE:
        return _as_product(planes, kernel)
    return _convolution(planes, kernel, stride)


def _as_product(planes: jax.Array, kernel: jax.Array) -> jax.Array:
    """The same as one product with a matrix from all cells to all cells, which on a small board is mostly full."""
    batch, height, width, inputs = planes.shape
    tall, wide, _, outputs = kernel.shape
    matrix = jnp.einsum("klio,kab,lcd->acibdo", kernel, _band(tall, height), _band(wide, width))
    matrix = matrix.reshape(height * width * inputs, height * width * outputs)
    return (planes.reshape(batch, -1) @ matrix).reshape(batch, height, width, outputs)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _convolution(planes: jax.Array, kernel: jax.Array, stride: int) -> jax.Array:
    """A convolution whose gradient for the kernel is made of matrix products: XLA's own is several times slower here."""
    window = (min(stride, planes.shape[1]), stride)
    return jax.lax.conv_general_dilated(planes, kernel, window, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _convolution_and_parts(planes: jax.Array, kernel: jax.Array, stride: int) -> tuple[jax.Array, Any]:
    return _convolution(planes, kernel, stride), (planes, kernel)


def _gradients(stride: int, parts: Any, gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    planes, kernel = parts
    (to_planes,) = jax.vjp(lambda values: _convolution(values, kernel, stride), planes)[1](gradient)
    return to_planes, _to_kernel(planes, kernel, gradient, stride)


def dense(features: int, units: int, rngs: nnx.Rngs, last: bool = False) -> nnx.Linear:
    """A dense layer with weights for what comes before a ReLU, or for the logit."""
    how = nnx.initializers.lecun_normal() if last else nnx.initializers.he_normal()
    return nnx.Linear(features, units, kernel_init=how, rngs=rngs)


def evaluating(module: M) -> M:
    """A copy in evaluation mode."""
    copy = nnx.clone(module)
    copy.eval()
    return copy
