"""The two memories of NFSP: a circular buffer of the latest items, and a reservoir, an even sample of all items."""

import numpy as np


class CircularBuffer:
    """The latest `size` items of named arrays. A new item overwrites the oldest one."""

    def __init__(self, size: int) -> None:
        self.size, self.seen = size, 0
        self.columns: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return min(self.seen, self.size)

    def add(self, **items: np.ndarray) -> None:
        """Add n items, given as arrays of length n. Every call must use the same names."""
        slots = self._slots(len(next(iter(items.values()))))
        for name, values in items.items():
            if name not in self.columns:
                self.columns[name] = np.zeros((self.size, *values.shape[1:]), values.dtype)
            stored = slots >= 0
            self.columns[name][slots[stored]] = values[stored]

    def _slots(self, count: int) -> np.ndarray:
        """Returns the slot of each of the next items, i64[count], or -1 for an item that is not stored.

        No slot occurs twice.
        """
        slots = np.arange(self.seen, self.seen + count) % self.size
        self.seen += count
        slots[: max(0, count - self.size)] = -1
        return slots

    def sample(self, stream: np.random.Generator, *shape: int) -> dict[str, np.ndarray]:
        """Draws items uniformly with replacement: arrays of `shape` + an item's own. The buffer must not be empty."""
        slots = stream.integers(len(self), size=shape)
        return {name: column[slots] for name, column in self.columns.items()}


class ReservoirBuffer(CircularBuffer):
    """`size` items, a uniform sample without replacement of all items ever added (Vitter 1985, algorithm R)."""

    def __init__(self, size: int, stream: np.random.Generator) -> None:
        super().__init__(size)
        self.stream = stream

    def _slots(self, count: int) -> np.ndarray:
        ranks = np.arange(self.seen, self.seen + count)
        self.seen += count
        slots = np.where(ranks < self.size, ranks, self.stream.integers(ranks + 1))
        slots[slots >= self.size] = -1
        newest = np.full(self.size, -1)
        newest[slots[slots >= 0]] = np.flatnonzero(slots >= 0)  # of several items for one slot the last one stays
        slots[newest[slots] != np.arange(count)] = -1
        return slots
