"""How speed is measured, whatever it is of: count what is done in about so many seconds, several times, in turns.

    speed = timed(lambda: len(scorer.score(rows)), seconds=1.0).per_second

The median stands for the repeats, with the lowest and the highest, since a machine that does other work is only slower.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from cardai.game import Game
from cardai.playing.agents.spec import Agent
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.many import Results, play


@dataclass(frozen=True)
class Timing:
    """Repeated measurements of one thing: their median, the lowest and the highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> "Timing":
        """From the measurements."""
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{_figure(self.median)} ({_figure(self.low)}-{_figure(self.high)})"


@dataclass(frozen=True)
class Timed:
    """What was done, in how many seconds by the clock, and in how many of processors."""

    count: int
    seconds: float
    processor_seconds: float

    @property
    def per_second(self) -> float:
        """By the clock."""
        return self.count / self.seconds

    @property
    def per_processor_second(self) -> float:
        """By what processors spent: what one thread does on a core, also while other programs have it."""
        return self.count / max(self.processor_seconds, 1e-9)


def timed(work: Callable[[], int], seconds: float = 0.0) -> Timed:
    """Call `work`, which returns how much it has done, until `seconds` have passed, and at least once."""
    count, began, used = 0, time.perf_counter(), time.process_time()
    while True:
        count += work()
        took = time.perf_counter() - began
        if took >= seconds:
            return Timed(count, took, time.process_time() - used)


@dataclass(frozen=True)
class SelfPlay:
    """One agent in all seats of a game, to be timed."""

    game: Game
    player: Agent
    seats: int
    variant: str | None = None

    def play(
        self, games: int, threads: int | None = 1, live: int | None = None, seed: int = 0, tally: bool = False
    ) -> Results:
        """Play games and return the results. Raises KeyboardInterrupt if they were interrupted."""
        return play(
            self.game, [self.player], np.zeros((games, self.seats), np.int64), deal_seeds(seed, games),
            variant=self.variant, threads=threads, live=live, tally=tally,
        ).complete()  # fmt: skip

    def games_in(self, seconds: float) -> int:
        """How many games take about that long on one core. Afterwards everything is compiled and warm."""
        self.play(1)
        games, run = 4, Timed(0, 0.0, 0.0)
        while run.seconds < min(seconds / 4, 0.25):
            games *= 4
            run = timed(partial(lambda games: self.play(games).decisions, games))
        return max(1, round(games * seconds / run.seconds))


def _figure(value: float) -> str:
    """Three digits, or whole numbers: 12.3, 1,234."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
