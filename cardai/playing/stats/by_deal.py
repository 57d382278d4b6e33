"""Outcomes summed by deal, all that estimates need of them: as they come, in memory that does not grow with the games.

tally = DealSums(2)
tally.add([first, second])  # what two agents got, f8[D, R] each, block by block
estimate(tally.of(0)), compare(tally.of(0), tally.of(1))
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_DEALS = 1 << 16
"""More deals than this are kept as different sums and how often each comes. No published figure has so many."""


@dataclass(frozen=True)
class Deals:
    """An agent's outcomes by deal.

    - `sums`, `sizes`: f8[D], the sum and the number of its games in each deal.
    - `is_binary`: whether every outcome is 0 or 1.
    - `counts`: f8[D], how many deals have this sum and size; None if each entry is one deal.
    """

    sums: np.ndarray
    sizes: np.ndarray
    is_binary: bool
    counts: np.ndarray | None = None

    @classmethod
    def of(cls, outcomes: "np.ndarray | Deals") -> "Deals":
        """From outcomes f8[D, R] or f8[D], NaN for a game that was not played."""
        if isinstance(outcomes, Deals):
            return outcomes
        values = np.asarray(outcomes, float)
        values = values[:, None] if values.ndim == 1 else values
        played = np.isfinite(values)
        is_binary = bool(np.all((values == 0) | (values == 1) | np.isnan(values)))
        return cls(np.nansum(values, axis=1), played.sum(axis=1).astype(float), is_binary)

    def where(self, chosen: np.ndarray) -> "Deals":
        """Those that are chosen, bool[D]."""
        counts = None if self.counts is None else self.counts[chosen]
        return Deals(self.sums[chosen], self.sizes[chosen], self.is_binary, counts)

    @property
    def played(self) -> "Deals":
        """Those with a game."""
        return self.where(self.sizes > 0)

    @property
    def number(self) -> int:
        """How many deals there are."""
        return len(self.sums) if self.counts is None else int(self.counts.sum())

    def total(self, values: np.ndarray) -> float:
        """The sum of a value of each entry, f8[D], over all deals."""
        return float(np.sum(values if self.counts is None else values * self.counts))

    def mean(self, values: np.ndarray) -> float:
        """The mean of a value of each entry, f8[D], over all deals."""
        return self.total(values) / self.number


class DealSums:
    """The outcomes of several agents in the same deals."""

    def __init__(self, agents: int) -> None:
        self._blocks: list[np.ndarray] = []  # f8[D, 2 * agents]: sums and sizes
        self._counts: np.ndarray | None = None  # of the first block, if that holds different rows only
        self._is_binary = np.ones(agents, bool)

    def add(self, outcomes: Sequence[np.ndarray]) -> None:
        """Add the outcomes of each agent in further deals, f8[D, R]; R may differ between agents."""
        deals = [Deals.of(own) for own in outcomes]
        self._is_binary &= [own.is_binary for own in deals]
        self._blocks.append(np.column_stack([column for own in deals for column in (own.sums, own.sizes)]))
        if sum(map(len, self._blocks)) > MOST_DEALS:
            rows, self._counts = distinct(*self._rows())
            self._blocks = [rows]

    def of(self, agent: int) -> Deals:
        """The outcomes of an agent by its number. Entry d of all agents is of the same deals."""
        rows, counts = self._rows()
        return Deals(rows[:, 2 * agent], rows[:, 2 * agent + 1], bool(self._is_binary[agent]), counts)

    def _rows(self) -> tuple[np.ndarray, np.ndarray | None]:
        rows = np.concatenate(self._blocks or [np.zeros((0, 2 * len(self._is_binary)))])
        if self._counts is None:
            return rows, None
        return rows, np.concatenate([self._counts, np.ones(len(rows) - len(self._counts))])


def distinct(rows: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of `rows`, f8[D, C], in their order, and how often each comes, f8[K].

    `counts`: f8[D], how often each row of `rows` counts; None for once.
    """
    different, places = np.unique(rows, axis=0, return_inverse=True)
    return different, np.bincount(places.ravel(), counts, len(different)).astype(float)
