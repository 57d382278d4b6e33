"""Convolutions over the planes of a row. The other values of the row are added after the convolutions."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.bodies.convolution import Convolution
from cardai.evaluators.bodies.layers import Statistics
from cardai.evaluators.bodies.mlp import Dense
from cardai.evaluators.bodies.options import CnnFlatOptions, CnnOptions
from cardai.game import Segment

Runs = tuple[tuple[int, int], ...]
"""Intervals of a row's values, as (first, end), in order."""


class Convolved(nnx.Module):
    """Convolutions, each followed by ReLU and batch statistics if asked for: f4[B, h, w, in] -> f4[B, h', w', out]."""

    def __init__(
        self, channels_in: int, channels: Sequence[int], kernel: tuple[int, int], stride: int, batch_norm: bool
    ) -> None:  # fmt: skip
        pairs = itertools.pairwise([channels_in, *channels])
        self.layers = nnx.List([Convolution(kernel, *pair, stride) for pair in pairs])
        self.statistics = nnx.List([Statistics(width) for width in channels] if batch_norm else [])

    def __call__(self, planes: jax.Array) -> jax.Array:
        for i, layer in enumerate(self.layers):
            planes = jax.nn.relu(layer(planes))
            if len(self.statistics):
                planes = self.statistics[i](planes)
        return planes


class Cnn(nnx.Module):
    """Convolves the planes of the commonest shape, one channel each, then adds the other values: u8[B, F] -> f4[B].

    Inputs are normalised: planes by the statistics of each channel, the other values each by its own.
    """

    def __init__(self, options: CnnOptions, layout: Sequence[Segment]) -> None:
        self.shape = plane_shape(layout)
        tall, wide = options.kernel
        if tall > self.shape[0] or wide > self.shape[1]:
            raise CardaiError(
                f"cnn: a kernel of {tall} x {wide} does not fit planes of {self.shape[0]} x {self.shape[1]}"
            )
        self.planes, self.rest = split_runs(layout, lambda segment: segment.shape == self.shape)
        area = self.shape[0] * self.shape[1]
        channels, values = _length(self.planes) // area, _length(self.rest)
        self.plane_statistics = Statistics(channels)
        self.rest_statistics = Statistics(values)
        self.convolved = Convolved(channels, options.channels, (tall, wide), 1, options.batch_norm)
        features = options.channels[-1] * area + values
        self.dense = Dense(features, options.dense, options.rates)

    def __call__(self, rows: jax.Array) -> jax.Array:
        batch = len(rows)
        planes = columns(rows, self.planes).reshape(batch, -1, *self.shape).transpose(0, 2, 3, 1)
        seen = self.convolved(self.plane_statistics(planes)).reshape(batch, -1)
        return self.dense(jnp.concatenate([seen, self.rest_statistics(columns(rows, self.rest))], -1))


class FlatCnn(nnx.Module):
    """Convolves, in one dimension, the values of all planes end to end, or the whole row if it has no planes.

    The other values of the row are added after the convolutions: u8[B, F] -> f4[B]. Each value is normalised by its own
    statistics.
    """

    def __init__(self, options: CnnFlatOptions, layout: Sequence[Segment]) -> None:
        has_planes = any(len(segment.shape) == 2 for segment in layout)
        self.line, self.rest = split_runs(layout, lambda segment: len(segment.shape) == 2 or not has_planes)
        length, values = _length(self.line), _length(self.rest)
        if options.kernel > length:
            raise CardaiError(f"cnn_flat: a kernel of {options.kernel} does not fit a line of {length} values")
        self.line_statistics = Statistics(length)
        self.rest_statistics = Statistics(values)
        self.convolved = Convolved(1, options.channels, (1, options.kernel), options.stride, options.batch_norm)
        for _ in options.channels:
            length = math.ceil(length / options.stride)
        features = options.channels[-1] * length + values
        self.dense = Dense(features, options.dense, options.rates)

    def __call__(self, rows: jax.Array) -> jax.Array:
        line = self.line_statistics(columns(rows, self.line))
        seen = self.convolved(line[:, None, :, None]).reshape(len(rows), -1)
        return self.dense(jnp.concatenate([seen, self.rest_statistics(columns(rows, self.rest))], -1))


def plane_shape(layout: Sequence[Segment]) -> tuple[int, int]:
    """Return the commonest shape of a layout's planes, the first one in a tie. Raises CardaiError if it has none."""
    shapes = Counter(segment.shape for segment in layout if len(segment.shape) == 2)
    if not shapes:
        raise CardaiError("cnn: this encoder has no planes (segments of two dimensions); take mlp or cnn_flat")
    return shapes.most_common(1)[0][0]  # pyright: ignore[reportReturnType]


def split_runs(layout: Sequence[Segment], chosen) -> tuple[Runs, Runs]:
    """Return the intervals of a row that hold the chosen segments, and the intervals that hold the others."""
    runs: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    first = 0
    for segment in layout:
        own, end = runs[bool(chosen(segment))], first + segment.size
        if own and own[-1][1] == first:
            own[-1] = (own[-1][0], end)
        else:
            own.append((first, end))
        first = end
    return tuple(runs[True]), tuple(runs[False])


def columns(rows: jax.Array, runs: Runs) -> jax.Array:
    """Return these intervals of the rows, side by side: u8[B, F] -> f4[B, n]."""
    parts = [rows[:, first:end] for first, end in runs]
    return (jnp.concatenate(parts, -1) if parts else rows[:, :0]).astype(jnp.float32)


def _length(runs: Runs) -> int:
    return sum(end - first for first, end in runs)
