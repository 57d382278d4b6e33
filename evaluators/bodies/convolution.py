"""Convolutions that are also fast on a CPU.

XLA computes their values. Small boards and the gradients of kernels use matrix products, which are faster there.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from cardai.evaluators.bodies.layers import Linear

_WHOLE = 16  # most cells of a board that is convolved as one matrix product
_MOST_LINKS = 1 << 22  # most entries of that matrix
_NARROW = 8  # greatest width of planes whose rows are multiplied whole


class Convolution(Linear):
    """A convolution of planes padded with 0: f4[B, h, w, in] -> f4[B, h', w', out], h' = ceil(h / stride)."""

    def __init__(self, kernel: tuple[int, int], channels_in: int, channels_out: int, stride: int) -> None:
        self.make((*kernel, channels_in, channels_out), gain=2.0)
        self.stride = stride

    def __call__(self, planes: jax.Array) -> jax.Array:
        return convolved(planes, self.kernel[...], self.stride) + self.bias[...]


def convolved(planes: jax.Array, kernel: jax.Array, stride: int = 1) -> jax.Array:
    """Convolve planes f4[B, h, w, in] with a kernel f4[kh, kw, in, out], as `Convolution` does."""
    cells, links = planes.shape[1] * planes.shape[2], kernel.shape[2] * kernel.shape[3]
    if stride == 1 and cells <= _WHOLE and cells**2 * links <= _MOST_LINKS:
        return _as_product(planes, kernel)
    return _convolution(planes, kernel, stride)


def _as_product(planes: jax.Array, kernel: jax.Array) -> jax.Array:
    """Convolve by one product with a matrix from all cells to all cells, which on a small board has few zeros."""
    batch, height, width, inputs = planes.shape
    tall, wide, _, outputs = kernel.shape
    matrix = jnp.einsum("klio,kab,lcd->acibdo", kernel, _band(tall, height), _band(wide, width))
    matrix = matrix.reshape(height * width * inputs, height * width * outputs)
    return (planes.reshape(batch, -1) @ matrix).reshape(batch, height, width, outputs)


def _by_xla(planes: jax.Array, kernel: jax.Array, stride: int) -> jax.Array:
    window = (_stride_down(planes, stride), stride)
    return jax.lax.conv_general_dilated(planes, kernel, window, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _convolution(planes: jax.Array, kernel: jax.Array, stride: int) -> jax.Array:
    """Do what `_by_xla` does, with matrix products for the gradient of the kernel: XLA's is several times slower."""
    return _by_xla(planes, kernel, stride)


def _forward(planes: jax.Array, kernel: jax.Array, stride: int) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return _by_xla(planes, kernel, stride), (planes, kernel)


def _backward(stride: int, parts: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    planes, kernel = parts
    (to_planes,) = jax.vjp(lambda values: _by_xla(values, kernel, stride), planes)[1](gradient)
    how = _by_rows if stride == 1 and planes.shape[2] <= _NARROW else _by_taps
    return to_planes, how(planes, kernel.shape, gradient, stride)


_convolution.defvjp(_forward, _backward)


def _by_taps(planes: jax.Array, shape: tuple[int, ...], gradient: jax.Array, stride: int) -> jax.Array:
    """Return the gradient of a kernel of this shape, with one matrix product for each of its cells."""
    down, (_, height, width, outputs) = _stride_down(planes, stride), gradient.shape
    padded = _padded(planes, (shape[0], shape[1]), (down, stride))
    places = [
        padded[:, i : i + down * (height - 1) + 1 : down, j : j + stride * (width - 1) + 1 : stride]
        for i in range(shape[0])
        for j in range(shape[1])
    ]
    flat = gradient.reshape(-1, outputs)
    return jnp.stack([seen.reshape(-1, shape[2]).T @ flat for seen in places]).reshape(shape)


def _by_rows(planes: jax.Array, shape: tuple[int, ...], gradient: jax.Array, stride: int) -> jax.Array:
    """Return the same gradient for narrow planes, with one product for each row of the kernel.

    The product pairs every column with every other one; a band of the pairs is used.
    """
    batch, height, width, outputs = gradient.shape
    rows = _padded(planes, (shape[0], 1), (1, 1)).reshape(batch, -1, width * shape[2])
    flat = gradient.reshape(batch * height, -1)
    seen = [rows[:, i : i + height].reshape(batch * height, -1) for i in range(shape[0])]
    products = jnp.stack([one.T @ flat for one in seen]).reshape(shape[0], width, shape[2], width, outputs)
    return jnp.einsum("kcido,lcd->klio", products, _band(shape[1], width))


def _padded(planes: jax.Array, kernel: tuple[int, int], strides: tuple[int, int]) -> jax.Array:
    """Return planes with the border of zeros that "SAME" means."""
    around = jax.lax.padtype_to_pads(planes.shape[1:3], kernel, strides, "SAME")
    return jnp.pad(planes, ((0, 0), *around, (0, 0)))


def _stride_down(planes: jax.Array, stride: int) -> int:
    """Return the stride from row to row, which is 1 for planes of one row."""
    return min(stride, planes.shape[1])


def _band(taps: int, length: int) -> np.ndarray:
    """Return f4[taps, length, length]: 1 where tap k of a kernel reads place i for the output at place j."""
    places = np.arange(length)
    shifts = np.arange(taps)[:, None, None] - (taps - 1) // 2
    return (places[:, None] == places + shifts).astype(np.float32)
