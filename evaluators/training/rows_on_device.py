"""The rows of a training run in the memory of an accelerator.

There a batch is gathered and unpacked in a fraction of the time that the host takes, and only its places travel.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from cardai.records.dataset import Dataset

SHARE = 0.5  # of a device's memory that rows may take


class RowsOnDevice:
    """The packed rows and the labels of a dataset on one device."""

    def __init__(self, dataset: Dataset, device: Any) -> None:
        packed = dataset.packed.filled()
        self._device, self._width = device, dataset.width
        self._arrays = jax.device_put((packed.bits, packed.columns, packed.values, dataset.labels), device)
        self._gathered = jax.jit(self._gather)

    def __call__(self, states: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """Return the rows u8[n, width] and the labels f4[n] of the states at the indices i[n]."""
        return self._gathered(jax.device_put(states.astype(np.int32), self._device), *self._arrays)

    def _gather(self, states: Any, bits: Any, columns: Any, values: Any, labels: Any) -> tuple[jax.Array, jax.Array]:
        rows = jnp.unpackbits(bits[states], axis=1, count=self._width)
        return rows.at[:, columns].set(values[states]), labels[states]


def fits(dataset: Dataset, device: Any) -> bool:
    """Return whether the rows of a dataset should be kept on a device: an accelerator that has room for them."""
    if device.platform == "cpu":
        return False
    room = (device.memory_stats() or {}).get("bytes_limit", 0)
    return dataset.packed.nbytes + dataset.labels.nbytes <= SHARE * room
