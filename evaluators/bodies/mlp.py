"""Dense layers over the whole row. Without hidden layers this is the linear body."""

import itertools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import nnx

from cardai.evaluators.bodies.layers import Dropout, Linear, Statistics, evaluating


class Dense(nnx.Module):
    """Hidden layers with ReLU and dropout, then one logit: f4[B, features] -> f4[B]."""

    def __init__(self, features: int, hidden: Sequence[int], dropout: Sequence[float]) -> None:
        widths = [features, *hidden]
        self.layers = nnx.List([Linear(*pair) for pair in itertools.pairwise(widths)])
        self.dropouts = nnx.List([Dropout(rate) for rate in dropout])
        self.logit = Linear(widths[-1], 1, gain=1.0)

    def __call__(self, values: jax.Array) -> jax.Array:
        for layer, dropout in zip(self.layers, self.dropouts, strict=True):
            values = dropout(jax.nn.relu(layer(values)))
        return self.logit(values)[:, 0]

    @property
    def first(self) -> Linear:
        """The layer whose input are the features."""
        return self.layers[0] if len(self.layers) else self.logit


class Mlp(nnx.Module):
    """Input statistics, then dense layers: u8[B, width] -> f4[B]."""

    def __init__(self, width: int, hidden: Sequence[int], dropout: Sequence[float]) -> None:
        self.statistics: Statistics | None = Statistics(width)
        self.dense = Dense(width, hidden, dropout)

    def __call__(self, rows: jax.Array) -> jax.Array:
        values = rows.astype(jnp.float32)
        return self.dense(values if self.statistics is None else self.statistics(values))

    def folded(self) -> "Mlp":
        """Return a copy in evaluation mode, with the input statistics folded into the weights of the first layer."""
        copy = evaluating(self)
        first = copy.dense.first
        assert copy.statistics is not None
        kernel, bias = copy.statistics.folded_into(first.kernel[...], first.bias[...])
        first.kernel.set_value(kernel)
        first.bias.set_value(bias)
        copy.statistics = None
        return copy
