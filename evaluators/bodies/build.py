"""Builds the network of a body for the layout of an encoder."""

from collections.abc import Mapping, Sequence
from typing import Any

from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.bodies.cnn import Cnn, FlatCnn
from cardai.evaluators.bodies.layers import initialise
from cardai.evaluators.bodies.mlp import Mlp
from cardai.evaluators.bodies.options import WIDEST, CnnFlatOptions, CnnOptions, LinearOptions, MlpOptions, options_of
from cardai.evaluators.jax_start import check_devices
from cardai.game import Segment


def build(body: str, options: Mapping[str, Any], layout: Sequence[Segment], seed: int) -> nnx.Module:
    """Return a network for rows of this layout: module(rows u8[B, F]) -> logits f4[B], in training mode.

    `seed` decides the initial weights and the masks of dropout. Raises CardaiError for an unknown body, for an option
    that is unknown or impossible, and for a layout that the body cannot take.
    """
    check_devices()
    module = nnx.eval_shape(lambda: construct(body, options, layout))
    initialise(module, seed)
    return module


def construct(body: str, options: Mapping[str, Any], layout: Sequence[Segment]) -> nnx.Module:
    """Return the same network without initial weights. Under `nnx.eval_shape` it has shapes alone."""
    checked = options_of(body, options)
    width = sum(segment.size for segment in layout)
    if not 1 <= width <= WIDEST:
        raise CardaiError(f"{body}: a row has 1 to {WIDEST} values, not {width}")
    match checked:
        case LinearOptions():
            return Mlp(width, (), ())
        case MlpOptions():
            return Mlp(width, checked.hidden, checked.rates)
        case CnnOptions():
            return Cnn(checked, layout)
        case CnnFlatOptions():
            return FlatCnn(checked, layout)
