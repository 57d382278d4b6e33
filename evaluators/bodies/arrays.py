"""The dense bodies (`mlp`, `linear`) as NumPy arrays, so that a model can be read and played without JAX."""

import itertools
from collections.abc import Mapping

import numpy as np

from cardai.evaluators.bodies.options import LinearOptions, MlpOptions, Options

EPSILON = 1e-3  # added to a variance; the value of Keras, which the thesis used


def hidden_of(options: Options) -> tuple[int, ...] | None:
    """The units of the hidden layers of a dense body. Returns None for other bodies."""
    match options:
        case LinearOptions():
            return ()
        case MlpOptions():
            return options.hidden
        case _:
            return None


def shapes_of(width: int, hidden: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """The tensors of a dense body for rows of `width` values, by name, with their shapes."""
    widths = [width, *hidden]
    shapes: dict[str, tuple[int, ...]] = {"statistics.mean": (width,), "statistics.variance": (width,)}
    shapes["statistics.batches"] = ()
    for name, shape in zip(_names(len(hidden)), itertools.pairwise([*widths, 1]), strict=True):
        shapes |= {f"{name}.kernel": shape, f"{name}.bias": shape[1:]}
    return dict(sorted(shapes.items()))


def layers_of(tensors: Mapping[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The layers of a dense body in evaluation mode, (kernel f4[inputs, units], bias f4[units]), with the logit last.

    `tensors`: those of `shapes_of`, as float16 or float32. The input statistics are folded into the first layer.
    """
    hidden = sum(name.endswith("kernel") for name in tensors) - 1
    layers = [
        (np.asarray(tensors[f"{name}.kernel"], np.float32), np.asarray(tensors[f"{name}.bias"], np.float32))
        for name in _names(hidden)
    ]
    layers[0] = folded(*layers[0], tensors["statistics.mean"], tensors["statistics.variance"])
    return layers


def folded(
    kernel: np.ndarray, bias: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The dense layer (f4[features, units], f4[units]) with the same output for inputs that are not normalised."""
    scale = 1 / np.sqrt(np.asarray(variance, np.float64) + EPSILON)
    wide = np.asarray(kernel, np.float64) * scale[:, None]
    moved = np.asarray(bias, np.float64) - np.asarray(mean, np.float64) @ wide
    return wide.astype(np.float32), moved.astype(np.float32)


def _names(hidden: int) -> list[str]:
    return [*(f"dense.layers.{i}" for i in range(hidden)), "dense.logit"]
