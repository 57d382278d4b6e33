"""The metadata of a model: what the network is and how it was trained; and what a model's file must hold."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from cardai.errors import CardaiError, short
from cardai.evaluators.bodies.arrays import hidden_of, shapes_of
from cardai.evaluators.bodies.options import WIDEST, options_of
from cardai.evaluators.jax_start import check_settings
from cardai.evaluators.network_file import NetworkFile, TensorSpec, layout_fingerprint, tensor_specs
from cardai.evaluators.network_metadata import NetworkMetadata
from cardai.files.settings import setting
from cardai.game import Segment
from cardai.playing.agents.evaluator import MOMENTS


@dataclass(frozen=True, kw_only=True)
class ModelMetadata(NetworkMetadata):
    """What a model is and how it was made.

    - `layout`: the encoder's segments for this number of seats, as (name, shape).
    - `moment`: which states the model scores, one of `MOMENTS`.
    - `data`: what the model was trained on.
    - `command`: the command that makes the model again.
    - `stored`: the type of the weights in the file, float32 or float16.
    """

    noun = "model"

    layout: tuple[tuple[str, tuple[int, ...]], ...]
    moment: str = setting(choices=MOMENTS)
    body: str
    body_options: Mapping[str, Any]
    data: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    stored: str = setting(choices=("float32", "float16"), default="float32")

    def __post_init__(self) -> None:
        shapes = [shape for _, shape in self.layout]
        fits = all(len(shape) <= 4 and min(shape, default=0) >= 0 for shape in shapes)
        if not (1 <= len(shapes) <= WIDEST and fits and sum(map(math.prod, shapes)) <= WIDEST):
            raise CardaiError(
                f"layout must be a list of segments with at most {WIDEST} values, not {short(self.layout)}"
            )

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> Self:
        """Return the metadata in the entries of a file. Raises CardaiError too if its fingerprint is another one."""
        metadata = super().from_json(entries)
        if entries.get("fingerprint") != metadata.fingerprint:
            raise CardaiError(f"its fingerprint {short(entries.get('fingerprint'))} is not that of its layout")
        return metadata

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The layout that the network was built for."""
        return tuple(Segment(name, shape) for name, shape in self.layout)

    @property
    def fingerprint(self) -> str:
        """A hash of the layout."""
        return layout_fingerprint(self.segments)


def is_weight(name: str) -> bool:
    """Whether a tensor of this name holds weights, which may be stored as float16; running statistics may not."""
    return name.endswith(("kernel", "bias"))


def _expected_tensors(metadata: ModelMetadata) -> dict[str, TensorSpec]:
    hidden = hidden_of(options_of(metadata.body, metadata.body_options))
    width = sum(segment.size for segment in metadata.segments)
    if hidden is not None and 1 <= width <= WIDEST:
        specs = {name: TensorSpec("F32", shape) for name, shape in shapes_of(width, hidden).items()}
    else:
        check_settings()
        from flax import nnx

        from cardai.evaluators.bodies.build import construct

        module = nnx.eval_shape(lambda: construct(metadata.body, metadata.body_options, metadata.segments))
        specs = tensor_specs(module)
    if metadata.stored == "float16":
        specs |= {name: spec._replace(dtype="F16") for name, spec in specs.items() if is_weight(name)}
    return specs


MODEL_FILE = NetworkFile("model", "cardai model 1", ModelMetadata.from_json, _expected_tensors)
"""The file of a model."""
