"""The bodies (network architectures) and their options. `cardai.evaluators.bodies.build` builds a network from them.

    module = build("mlp", {"hidden": [256, 128]}, layout, seed=0)
    logits = module(rows)  # u8[B, F] -> f4[B]; the sigmoid of a logit is the predicted score

Any body takes any encoder: batch normalisation of the inputs brings counts and bits to one scale. Options are checked
here, without JAX, so that a wrong one is named before anything is built.
"""

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cardai.errors import BadArgument, CardaiError, unknown
from cardai.files.settings import made

WIDEST = 1 << 16
"""The most units of a layer, channels of a convolution, or inputs. More would be a mistake, or a hostile file."""
DEEPEST = 64
"""The most layers."""

_THESIS_HIDDEN = (600, 550, 500, 450)
_THESIS_DROPOUT = (0.4, 0.4, 0.35, 0.0)


class _WithDropout:
    """Options with the dropout of each layer."""

    dropout: tuple[float, ...] | float | None

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of units that dropout sets to 0, for each layer."""
        assert isinstance(self.dropout, tuple)
        return self.dropout


@dataclass(frozen=True)
class LinearOptions:
    """Options of the body `linear`, of which there are none.

    The body has one weight for each input. It is the baseline that every other body must beat.
    """

    about: ClassVar[str] = "one dense layer: the baseline"


@dataclass(frozen=True)
class MlpOptions(_WithDropout):
    """Dense layers, by default those of the thesis.

    `hidden`: the units of each hidden layer.
    `dropout`: the share of units set to 0 after each layer, as one number for all layers or one for each. The default
    is that of the thesis for the thesis' layers, and 0 for others.
    """

    about: ClassVar[str] = "dense layers (600, 550, 500, 450 units, with dropout)"

    hidden: tuple[int, ...] = _THESIS_HIDDEN
    dropout: tuple[float, ...] | float | None = None

    def __post_init__(self) -> None:
        check_widths("hidden", self.hidden)
        usual = _THESIS_DROPOUT if self.hidden == _THESIS_HIDDEN else 0.0
        object.__setattr__(self, "dropout", _rates(self.dropout, usual, "hidden", self.hidden))


@dataclass(frozen=True)
class CnnOptions(_WithDropout):
    """Convolutions over the planes of a layout, then dense layers over their output and the other values.

    `channels`: the channels of each convolution.
    `kernel`: height and width, or one number for both. Planes keep their size.
    `batch_norm`: whether each convolution is followed by batch normalisation.
    `dense`, `dropout`: as `hidden` and `dropout` of an mlp.
    """

    about: ClassVar[str] = "convolutions over boards or ranks x suits, then dense layers"

    channels: tuple[int, ...] = (32, 64)
    kernel: tuple[int, ...] = (3, 3)
    batch_norm: bool = False
    dense: tuple[int, ...] = (128,)
    dropout: tuple[float, ...] | float | None = None

    def __post_init__(self) -> None:
        check_widths("channels", self.channels, least=1)
        check_widths("kernel", self.kernel, least=1)
        object.__setattr__(self, "kernel", self.kernel * 2 if len(self.kernel) == 1 else self.kernel)
        if len(self.kernel) != 2 or max(self.kernel) > 32:
            raise BadArgument(f"kernel must be a height and a width of at most 32, not {list(self.kernel)}")
        check_widths("dense", self.dense)
        object.__setattr__(self, "dropout", _rates(self.dropout, 0.0, "dense", self.dense))


@dataclass(frozen=True)
class CnnFlatOptions(_WithDropout):
    """The thesis' kind of convolution: along the values of the planes laid end to end, without ranks and suits.

    The other values are added after the convolutions, as in a cnn. Without planes the whole row is convolved.

    `kernel`: the width of the kernel, in values. `stride`: the stride of each convolution. The rest is as in a cnn.
    """

    about: ClassVar[str] = "convolutions along the flat row, then dense layers"

    channels: tuple[int, ...] = (16, 16, 16, 16)
    kernel: int = 4
    stride: int = 1
    batch_norm: bool = False
    dense: tuple[int, ...] = (256, 128)
    dropout: tuple[float, ...] | float | None = None

    def __post_init__(self) -> None:
        check_widths("channels", self.channels, least=1)
        check_widths("dense", self.dense)
        for name, value in (("kernel", self.kernel), ("stride", self.stride)):
            if not 1 <= value <= 256:
                raise BadArgument(f"{name} must be 1 to 256, not {value}")
        object.__setattr__(self, "dropout", _rates(self.dropout, 0.0, "dense", self.dense))


Options = LinearOptions | MlpOptions | CnnOptions | CnnFlatOptions

BODIES: dict[str, type[Options]] = {
    "mlp": MlpOptions,
    "cnn": CnnOptions,
    "cnn_flat": CnnFlatOptions,
    "linear": LinearOptions,
}


def options_of(body: str, options: Mapping[str, Any]) -> Options:
    """Return a body's options, checked. Raises CardaiError, which names what is unknown or impossible.

    One number for a list becomes a list. One for `dropout` counts for each layer.
    """
    if body not in BODIES:
        raise BadArgument(unknown("body", body, BODIES))
    lists = {entry.name for entry in dataclasses.fields(BODIES[body]) if typing.get_origin(entry.type) is tuple}
    wrapped = {name: [value] if name in lists and type(value) is int else value for name, value in options.items()}
    try:
        return made(BODIES[body], wrapped)
    except CardaiError as error:
        raise BadArgument(f"{body}: {error}") from None


def as_plain(options: Options) -> dict[str, Any]:
    """Return options as plain JSON types, which `options_of` takes back."""
    plain = dataclasses.asdict(options)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


def check_widths(name: str, widths: tuple[int, ...], least: int = 0) -> None:
    """Raise BadArgument if layers have impossible widths, or are too many or fewer than `least`."""
    if not least <= len(widths) <= DEEPEST or not all(1 <= width <= WIDEST for width in widths):
        raise BadArgument(f"{name} must be {least} to {DEEPEST} numbers from 1 to {WIDEST}, not {list(widths)}")


def _rates(
    given: tuple[float, ...] | float | None, usual: tuple[float, ...] | float, layers: str, widths: tuple[int, ...]
) -> tuple[float, ...]:
    """Return the dropout after each layer."""
    chosen = usual if given is None else given
    rates = chosen if isinstance(chosen, tuple) else (float(chosen),) * len(widths)
    if len(rates) != len(widths):
        raise BadArgument(f"dropout must be one number, or one for each of {layers} {list(widths)}, not {list(rates)}")
    if not all(0 <= rate < 1 for rate in rates):
        raise BadArgument(f"dropout must be at least 0 and below 1, not {list(rates)}")
    return rates
