"""What NFSP remembers: the latest decisions, and an even sample of all there ever were."""

import numpy as np


class Circular:
    """The latest `size` items of named arrays; a new item takes the place of the oldest."""

    def __init__(self, size: int) -> None:
        self.size, self.seen = size, 0
        self.columns: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return min(self.seen, self.size)

    def add(self, **items: np.ndarray) -> None:
        """Remember n items: arrays of n each, by the same names every time."""
        places = self._places(len(next(iter(items.values()))))
        for name, values in items.items():
            if name not in self.columns:
                self.columns[name] = np.zeros((self.size, *values.shape[1:]), values.dtype)
            kept = places >= 0
            self.columns[name][places[kept]] = values[kept]

    def _places(self, count: int) -> np.ndarray:
        """Where the next items go, i64[count], -1 for those not kept; no place comes twice."""
        places = np.arange(self.seen, self.seen + count) % self.size
        self.seen += count
        places[: max(0, count - self.size)] = -1
        return places

    def draw(self, stream: np.random.Generator, *shape: int) -> dict[str, np.ndarray]:
        """Items drawn evenly with replacement: arrays of `shape` + an item's own. There must be some."""
        places = stream.integers(len(self), size=shape)
        return {name: column[places] for name, column in self.columns.items()}


class Reservoir(Circular):
    """`size` items, an even sample without replacement of all that were ever added (Vitter 1985, algorithm R)."""

    def __init__(self, size: int, stream: np.random.Generator) -> None:
        super().__init__(size)
        self.stream = stream

    def _places(self, count: int) -> np.ndarray:
        ranks = np.arange(self.seen, self.seen + count)
        self.seen += count
        places = np.where(ranks < self.size, ranks, self.stream.integers(ranks + 1))
        places[places >= self.size] = -1
        newest = np.full(self.size, -1)
        newest[places[places >= 0]] = np.flatnonzero(places >= 0)  # of those that go to one place the last one stays
        places[newest[places] != np.arange(count)] = -1
        return places
