"""The devices of a training run: one, or several of a machine that share each batch.

Weights and the optimiser's state are copied to every device. The rows of a batch are divided among them, and XLA adds
their gradients up. So the loss and the weights are those of one device, except for rounding.
"""

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from cardai.errors import CardaiError
from cardai.evaluators.scorer import device_of
from cardai.evaluators.training.config import AUTO, TrainConfig


@dataclass(frozen=True)
class TrainingDevices:
    """Devices that share each batch.

    `speeds`: the measured states per second by number of devices, if they were measured, see
    `cardai.evaluators.training.start.fastest`.
    """

    own: tuple[Any, ...]
    speeds: dict[int, float] = field(default_factory=dict)

    @property
    def first(self) -> Any:
        """The device that computes what is not shared."""
        return self.own[0]

    @property
    def is_one(self) -> bool:
        """Whether there is nothing to share."""
        return len(self.own) == 1

    def as_json(self) -> dict[str, Any]:
        """Return what a report says: the number of devices, and the speeds, if they were measured."""
        speeds = {str(number): round(speed) for number, speed in self.speeds.items()}
        return {"total": len(self.own), "states_per_second": speeds}

    def jit_options(self) -> dict[str, Any]:
        """Return the options with which `jax.jit` compiles a function whose results every device is to have."""
        return {} if self.is_one else {"out_shardings": self._sharding()}

    def whole(self, tree: Any) -> Any:
        """Return a tree of arrays with a copy on every device."""
        return jax.device_put(tree, self._sharding())

    def divided(self, arrays: tuple[np.ndarray, ...]) -> tuple[jax.Array, ...]:
        """Return arrays whose rows are divided among all devices."""
        return jax.device_put(arrays, self._sharding("data"))

    def _sharding(self, *axes: str) -> Any:
        if self.is_one:
            return self.first
        mesh = Mesh(np.array(self.own), ("data",), axis_types=(AxisType.Auto,))
        return NamedSharding(mesh, PartitionSpec(*axes))


def devices_of(config: TrainConfig) -> TrainingDevices:
    """Return the devices that a config names; for `auto`, as many as a batch can be divided among.

    Raises CardaiError if there are fewer, or if the rows of a batch cannot be divided among them.
    """
    first = device_of(config.device)
    there = jax.local_devices(backend=first.platform)
    if config.devices == AUTO:
        wanted = max(number for number in range(1, len(there) + 1) if config.batch % number == 0)
        return TrainingDevices(tuple(there[:wanted]))
    wanted = int(config.devices)
    if wanted > len(there):
        hint = "; XLA_FLAGS=--xla_force_host_platform_device_count=N makes N of them" if first.platform == "cpu" else ""
        raise CardaiError(f"devices {wanted}: JAX finds {len(there)} here ({first.platform}){hint}")
    if config.batch % wanted:
        raise CardaiError(
            f"batch {config.batch} cannot be divided evenly among {wanted} devices; give a batch that can,"
            " or another number of devices"
        )
    return TrainingDevices(tuple(there[:wanted]))
