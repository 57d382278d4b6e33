"""The devices of a training run: one, or several that share each batch.

Weights and the optimiser's state are copied to every device. The rows of a batch are divided among them, and XLA adds
their gradients up. So the loss and the weights are those of one device, except for rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from cardai.errors import CardaiError
from cardai.evaluators.scorer import device_of
from cardai.evaluators.training import processes
from cardai.evaluators.training.config import AUTO, TrainConfig


@dataclass(frozen=True)
class TrainingDevices:
    """Devices that share each batch. `own`: those of this process.

    All processes have equally many. `speeds`: the measured states per second by number of devices, if they were
    measured, see `cardai.evaluators.training.start.fastest`.
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
        return len(self.own) == 1 and processes.count() == 1

    @property
    def total(self) -> int:
        """The number of devices in all processes."""
        return len(self.own) * processes.count()

    @property
    def writes(self) -> bool:
        """Whether this process writes the files of the run."""
        return processes.number() == 0

    def as_json(self) -> dict[str, Any]:
        """Return what a report says: the numbers of devices and processes, and the speeds, if they were measured."""
        speeds = {str(number): round(speed) for number, speed in self.speeds.items()}
        return {"total": self.total, "processes": processes.count(), "states_per_second": speeds}

    def jit_options(self) -> dict[str, Any]:
        """Return the options with which `jax.jit` compiles a function whose results every device is to have."""
        return {} if self.is_one else {"out_shardings": self._sharding()}

    def whole(self, tree: Any) -> Any:
        """Return a tree of arrays with a copy on every device. Each process gives the same arrays."""
        if processes.count() == 1:
            return jax.device_put(tree, self.first if self.is_one else self._sharding())
        copied = self._sharding()
        return jax.tree.map(lambda leaf: jax.make_array_from_process_local_data(copied, np.asarray(leaf)), tree)

    def part(self, size: int) -> slice:
        """Return which rows of a batch of `size` rows this process reads."""
        each = size // processes.count()
        return slice(processes.number() * each, (processes.number() + 1) * each)

    def divided(self, arrays: tuple[np.ndarray, ...]) -> tuple[jax.Array, ...]:
        """Return arrays whose rows are divided among all devices, given this process's part of them."""
        if self.is_one:
            return jax.device_put(arrays, self.first)
        rows = self._sharding("data")
        return tuple(jax.make_array_from_process_local_data(rows, array) for array in arrays)

    def _sharding(self, *axes: str) -> NamedSharding:
        return NamedSharding(_mesh(self.own), PartitionSpec(*axes))


def _mesh(own: Sequence[Any]) -> Mesh:
    """Return the mesh of these devices and of those that the other processes have in the same places."""
    if processes.count() == 1:
        everyones = list(own)
    else:
        by_process: dict[int, list[Any]] = {}
        for device in jax.devices(own[0].platform):
            by_process.setdefault(device.process_index, []).append(device)
        everyones = [device for i in sorted(by_process) for device in by_process[i][: len(own)]]
    return Mesh(np.array(everyones), ("data",), axis_types=(AxisType.Auto,))


def devices_of(config: TrainConfig) -> TrainingDevices:
    """Return the devices that a config names; for `auto`, all that a batch can be divided among.

    Raises CardaiError if there are fewer, or if the rows of a batch cannot be divided among them.
    """
    first = device_of(config.device)
    there = jax.local_devices(backend=first.platform)
    if config.devices == AUTO:
        if processes.count() > 1:
            raise CardaiError("devices auto is for one process; name the number of devices that each process uses")
        return TrainingDevices(tuple(there[: _most(config.batch, len(there))]))
    wanted = int(config.devices)
    if wanted > len(there):
        hint = "; XLA_FLAGS=--xla_force_host_platform_device_count=N makes N of them" if first.platform == "cpu" else ""
        raise CardaiError(f"devices {wanted}: JAX finds {len(there)} here ({first.platform}){hint}")
    devices = TrainingDevices(tuple(there[:wanted]))
    if config.batch % devices.total:
        raise CardaiError(
            f"batch {config.batch} cannot be divided evenly among {devices.total} devices; give a batch that can,"
            " or another number of devices"
        )
    return devices


def _most(batch: int, there: int) -> int:
    """Return the largest number of devices, of those that are there, among which a batch can be divided."""
    return max(number for number in range(1, there + 1) if batch % number == 0)
