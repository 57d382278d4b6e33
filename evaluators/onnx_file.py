"""A model as an ONNX graph, for programs without cardai: rows u8[N, width] in, scores f4[N] out.

The graph is written from the tensors of a model's file, layer by layer, so that it needs neither JAX nor a converter.
It says in its metadata of which game, variant, number of seats and encoder its rows are.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cardai.errors import lacking
from cardai.evaluators.bodies.arrays import EPSILON
from cardai.evaluators.bodies.options import CnnFlatOptions, CnnOptions, options_of
from cardai.evaluators.model_metadata import ModelMetadata

OPSET, IR = 17, 9  # of ONNX 1.12 and later


def onnx_of(own: ModelMetadata, tensors: Mapping[str, np.ndarray]) -> bytes:
    """The file of a model: an input `rows`, an output `scores` in [0, 1]. Raises CardaiError if onnx is missing."""
    try:
        import onnx
        from onnx import TensorProto, helper
    except ModuleNotFoundError:
        raise lacking("cardai export --onnx", "onnx", "onnx") from None
    graph, width = _Graph(tensors), sum(segment.size for segment in own.segments)
    values = graph.add("Cast", "rows", to=TensorProto.FLOAT)
    match options_of(own.body, own.body_options):
        case CnnOptions() | CnnFlatOptions() as chosen:
            features = _convolved(graph, values, chosen, own.segments)
        case _:
            features = graph.normalised(values, "statistics")
    logits = graph.dense(features)
    graph.add("Sigmoid", graph.shaped(logits, [-1]), out="scores")
    made = helper.make_graph(
        graph.nodes, f"{own.game} {own.body}",
        [helper.make_tensor_value_info("rows", TensorProto.UINT8, ["positions", width])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["positions"])],
        [onnx.numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", OPSET)]
    whole = helper.make_model(made, producer_name="cardai", ir_version=IR, opset_imports=opsets)
    helper.set_model_props(whole, _about(own))
    onnx.checker.check_model(whole, full_check=True)
    return whole.SerializeToString()


def _about(own: ModelMetadata) -> dict[str, str]:
    names = "game", "game_version", "variant", "seats", "encoder", "moment", "body", "fingerprint", "commit"
    about = {f"cardai.{name}": str(getattr(own, name)) for name in names}
    return about | {"cardai.layout": json.dumps([[one.name, list(one.shape)] for one in own.segments])}


def _convolved(graph: "_Graph", values: str, chosen: CnnOptions | CnnFlatOptions, segments: Sequence[Any]) -> str:
    """The features of a body with convolutions: those of its planes or its line, and the other values of the row."""
    from cardai.evaluators.bodies.cnn import plane_shape, split_runs

    if isinstance(chosen, CnnOptions):
        shape, own, stride = plane_shape(segments), "plane_statistics", 1
        runs, rest = split_runs(segments, lambda segment: segment.shape == shape)
        # Planes are normalised by channel, so as f4[N, h, w, channels]; ONNX convolves f4[N, channels, h, w].
        planes = graph.shaped(graph.columns(values, runs), [0, -1, *shape])
        planes = graph.add("Transpose", planes, perm=[0, 2, 3, 1])
        planes = graph.add("Transpose", graph.normalised(planes, own), perm=[0, 3, 1, 2])
    else:
        planar = any(len(segment.shape) == 2 for segment in segments)
        runs, rest = split_runs(segments, lambda segment: len(segment.shape) == 2 or not planar)
        line = graph.normalised(graph.columns(values, runs), "line_statistics")
        planes, stride = graph.shaped(line, [0, 1, 1, -1]), chosen.stride
    for layer in range(len(chosen.channels)):
        kernel = graph.constant(graph.tensors[f"convolved.layers.{layer}.kernel"].transpose(3, 2, 0, 1))
        bias = graph.constant(graph.tensors[f"convolved.layers.{layer}.bias"])
        strides = [1, stride]
        planes = graph.add("Relu", graph.add("Conv", planes, kernel, bias, auto_pad="SAME_UPPER", strides=strides))
        if chosen.batch_norm:
            last = graph.normalised(graph.add("Transpose", planes, perm=[0, 2, 3, 1]), f"convolved.statistics.{layer}")
            planes = graph.add("Transpose", last, perm=[0, 3, 1, 2])
    seen = graph.shaped(graph.add("Transpose", planes, perm=[0, 2, 3, 1]), [0, -1])
    if not rest:
        return seen
    others = graph.normalised(graph.columns(values, rest), "rest_statistics")
    return graph.add("Concat", seen, others, axis=1)


class _Graph:
    """The nodes and constants of a graph as it grows. `tensors`: those of the model."""

    def __init__(self, tensors: Mapping[str, np.ndarray]) -> None:
        self.tensors, self.nodes, self.constants = tensors, [], {}

    def add(self, kind: str, *inputs: str, out: str = "", **options: Any) -> str:
        """Add a node. Returns the name of its output."""
        from onnx import helper

        out = out or f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], **options))
        return out

    def constant(self, value: np.ndarray) -> str:
        """Add a constant. Returns its name."""
        name = f"constant{len(self.constants)}"
        self.constants[name] = np.ascontiguousarray(value)
        return name

    def shaped(self, values: str, shape: Sequence[int]) -> str:
        """Values in another shape: 0 keeps a length, -1 is what is left."""
        return self.add("Reshape", values, self.constant(np.array(shape, np.int64)))

    def columns(self, values: str, runs: Sequence[tuple[int, int]]) -> str:
        """These intervals of rows side by side."""
        places = np.concatenate([np.arange(first, end) for first, end in runs])
        return self.add("Gather", values, self.constant(places.astype(np.int64)), axis=1)

    def normalised(self, values: str, name: str) -> str:
        """Values by the running statistics of their last axis."""
        mean, variance = self.tensors[f"{name}.mean"], self.tensors[f"{name}.variance"]
        scale = (1 / np.sqrt(np.asarray(variance, np.float64) + EPSILON)).astype(np.float32)
        moved = self.add("Sub", values, self.constant(np.asarray(mean, np.float32)))
        return self.add("Mul", moved, self.constant(scale))

    def dense(self, values: str) -> str:
        """The dense layers, with the logit last: f4[N, 1]."""
        hidden = sum(name.startswith("dense.layers.") and name.endswith("kernel") for name in self.tensors)
        for name in [*(f"dense.layers.{i}" for i in range(hidden)), "dense.logit"]:
            kernel, bias = (self.constant(self.tensors[f"{name}.{part}"]) for part in ("kernel", "bias"))
            values = self.add("Gemm", values, kernel, bias)
            values = values if name == "dense.logit" else self.add("Relu", values)
        return values
