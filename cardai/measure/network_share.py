"""How close play comes to the speed of its network: rows scored a second in play, and in a bare loop over batches.

report = measure(load("moska"), "peeking:nn2")
print(cardai.show.perf.network_table(report))
"""

import itertools
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cardai.agents.evaluator import Evaluator
from cardai.agents.spec import Agent, agent
from cardai.agents.strategy import OnePly
from cardai.errors import CardaiError, positive
from cardai.game import Game
from cardai.measure.perf import Timing
from cardai.progress import Progress
from cardai.rule import JIT
from cardai.stats.deals import deal_seeds
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine
from cardai.table.many import LIVE_OUTSIDE, Results, play

MANY = 1_000_000 if JIT else 10_000  # more games than any measurement finishes


@dataclass(frozen=True)
class NetworkShareReport:
    """Rows scored a second in play and in a bare loop over batches of the same sizes, measured in turns.

    - Both rates count the rows whose scores were read, from the first batch to the last.
    - `share`: the rate in play divided by the rate of the bare loop.
    - `live`: games played at once; `batch`: the mean number of rows in a batch.
    """

    game: str
    version: int
    variant: str
    agent: str
    seats: int
    live: int
    batch: int
    playing: Timing
    bare: Timing
    share: Timing
    decisions_per_second: Timing
    seconds: float
    repeats: int

    def as_json(self) -> dict[str, Any]:
        """This report and the machine it was measured on as plain JSON types."""
        return plain({"kind": "bottleneck"} | asdict(self) | {"machine": machine()})


def measure(
    game: Game,
    spec: str,
    seconds: float = 5.0,
    repeats: int = 5,
    progress: Progress | None = None,
    *,
    seats: int | None = None,
    variant: str | None = None,
    live: int = LIVE_OUTSIDE,
) -> NetworkShareReport:
    """Let an agent with an evaluator play in all seats, and its evaluator score rows in a bare loop, in turns.

    Raises CardaiError for an agent without an evaluator or one that does not fit the table, for seconds, repeats or
    live games out of range, and for an evaluator that scores fewer than two batches in the time given.
    """
    player = agent(game, spec)
    if player.evaluator is None:
        raise CardaiError(f"agent {spec!r} has no evaluator to be measured")
    if not 0 < seconds <= 3600:
        raise CardaiError(f"seconds must be more than 0 and at most 3600, not {seconds:g}")
    positive("repeats", repeats, 1000)
    positive("live games", live)
    seats = game.default_seats if seats is None else seats
    watched = _WatchedEvaluator(player.evaluator)
    assert isinstance(player.strategy, OnePly)
    player = replace(player, strategy=replace(player.strategy, evaluator=watched))
    if progress:
        progress(0, repeats + 1, f"{player.label}, to warm up")
    _play_for(seconds, game, player, seats, variant, live)
    playing, bare, runs, sizes = [], [], [], []
    for done in range(1, repeats + 1):
        if progress:
            progress(done, repeats + 1, player.label)
        watched.forget()
        runs.append(_play_for(seconds, game, player, seats, variant, live))
        playing.append(watched.rate())
        sizes += watched.sizes
        bare.append(_bare_rate(game, watched, seats, watched.sizes, seconds))
    return NetworkShareReport(
        game=game.name,
        version=game.version,
        variant=game.default_variant if variant is None else variant,
        agent=player.label,
        seats=seats,
        live=live,
        batch=round(sum(sizes) / len(sizes)),
        playing=Timing.of(playing),
        bare=Timing.of(bare),
        share=Timing.of([rate / alone for rate, alone in zip(playing, bare, strict=True)]),
        decisions_per_second=Timing.of([run.decisions / run.seconds for run in runs]),
        seconds=seconds,
        repeats=repeats,
    )


class _WatchedEvaluator:
    """An evaluator that notes the size of each batch it scores, and when its scores are read."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.name, self.encoder = evaluator, evaluator.name, evaluator.encoder
        self.moment, self.seats, self.batch = evaluator.moment, evaluator.seats, evaluator.batch
        self.check_fits = evaluator.check_fits
        self.forget()

    def forget(self) -> None:
        """Delete all notes."""
        self.sizes: list[int] = []
        self.read: list[tuple[float, int]] = []  # when scores were read, in seconds, and how many rows they are of

    def score(self, rows: np.ndarray) -> "_WatchedScores":
        """The evaluator's scores of rows u8[n, width]. They are noted when they are read."""
        self.sizes.append(len(rows))
        return _WatchedScores(self, self.evaluator.score(rows))

    def rate(self) -> float:
        """Rows a second from the first scores read to the last. Raises CardaiError if fewer than two were read."""
        if len(self.read) < 2:
            raise CardaiError(f"{self.name} gave {len(self.read)} answers in the time given; measure for more seconds")
        return sum(rows for _, rows in self.read[1:]) / (self.read[-1][0] - self.read[0][0])


class _WatchedScores:
    """Scores that may still be computing. Reading them as an array waits for them."""

    def __init__(self, watched: _WatchedEvaluator, scores: Any) -> None:
        self.watched, self.scores = watched, scores

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        scores = np.asarray(self.scores, dtype)
        self.watched.read.append((time.perf_counter(), len(scores)))
        return scores


def _play_for(seconds: float, game: Game, player: Agent, seats: int, variant: str | None, live: int) -> Results:
    """Play for about `seconds` seconds. The games need not end."""
    is_over = False
    end = np.inf  # until the first game is dealt: compiling is not playing

    def watch(done: int, total: int) -> None:
        nonlocal is_over, end
        end = min(end, time.perf_counter() + seconds)
        if time.perf_counter() > end and not is_over:
            is_over = True
            raise KeyboardInterrupt

    lineups = np.zeros((MANY, seats), np.int64)
    results = play(game, [player], lineups, deal_seeds(0, MANY), variant=variant, live=live, progress=watch)
    if results.interrupted and not is_over:
        raise KeyboardInterrupt
    return results


def _bare_rate(game: Game, watched: _WatchedEvaluator, seats: int, sizes: Sequence[int], seconds: float) -> float:
    """Rows a second of the evaluator alone on batches of these sizes. A batch is begun before the last one is read."""
    width = game.encoder(watched.encoder).width(seats)
    rows = np.random.default_rng(0).integers(0, 2, (max(sizes), width), np.uint8)
    watched.forget()
    end, waiting = time.perf_counter() + seconds, None
    for size in itertools.cycle(sizes):
        following = watched.score(rows[:size])
        if waiting is not None:
            np.asarray(waiting)
        if time.perf_counter() > end and len(watched.read) > 1:
            return watched.rate()
        waiting = following
    raise AssertionError("a cycle has no end")
