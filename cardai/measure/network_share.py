"""How close play comes to the speed of its network: rows scored a second in play, and in a bare loop over rows.

A network that compiled code scores is compared with a loop over rows of real decisions, on as many threads, and with
the products that it needs at the highest rate of one core. Any other evaluator is compared with a loop over batches of
the sizes that occur in play.

report = measure(load("moska"), "peeking:nn2")
print(cardai.show.perf.network_table(report))
"""

import itertools
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cardai.agents.evaluator import Evaluator
from cardai.agents.spec import Agent, agent
from cardai.agents.strategy import OnePly, Strategy, Thinking
from cardai.errors import CardaiError, positive
from cardai.game import Game
from cardai.kernel import dense
from cardai.kernel.dense import (
    BIAS,
    FEATURES,
    LAYERS,
    PRODUCTS,
    SCORED,
    UNITS,
    WEIGHTS,
    DenseNetwork,
    score_row,
    space_for,
)
from cardai.kernel.lookahead import DECISIONS
from cardai.kernel.native import at, get, raw
from cardai.kernel.rules import lend
from cardai.measure.perf import Timing
from cardai.rule import JIT, rule
from cardai.stats.deals import deal_seeds
from cardai.stats.jsonable import plain
from cardai.stats.machine import default_threads, machine
from cardai.stats.progress import Progress
from cardai.stats.report import Report
from cardai.table.many import LIVE_NATIVE, LIVE_OUTSIDE, Results, play

NOTED = 20  # games whose decisions the bare loop over a compiled network scores
MANY = 1_000_000 if JIT else 10_000  # more games than any measurement finishes


@dataclass(frozen=True)
class NetworkShareReport(Report, drawn_by="cardai.show.perf:network_table"):
    """Rows scored a second in play and in a bare loop, measured in turns.

    - Both rates of an evaluator count the rows whose scores were read, from the first batch to the last.
    - `share`: the rate in play divided by the rate of the bare loop.
    - `live`: games played at once; `batch`: the mean number of rows in a batch, 0 if compiled code scores them.
    - `threads`: how many play, and score in the bare loop if compiled code scores.
    - `bound`: what a compiled network would reach if nothing but its arithmetic took time; None for other evaluators.
    """

    game: str
    version: int
    variant: str
    agent: str
    seats: int
    live: int
    batch: int
    threads: int
    playing: Timing
    bare: Timing
    share: Timing
    decisions_per_second: Timing
    seconds: float
    repeats: int
    bound: "Arithmetic | None" = None

    def as_json(self) -> dict[str, Any]:
        """This report and the machine it was measured on as plain JSON types."""
        return plain({"kind": "bottleneck"} | asdict(self) | {"machine": machine()})


@dataclass(frozen=True)
class Arithmetic:
    """The arithmetic of a network that compiled code scores.

    - `products`: products of a weight and an input that is not zero, for a row, in the mean over rows of decisions.
    - `peak`: products a second on one core, in the same loop over weights that lie in the nearest cache.
    - `rows`: rows a second if nothing but the products took time, at that rate on all threads.
    - `share`: rows scored a second in play, divided by `rows`.
    """

    products: float
    peak: Timing
    rows: float
    share: Timing


def measure(
    game: Game,
    spec: str,
    seconds: float = 5.0,
    repeats: int = 5,
    progress: Progress | None = None,
    *,
    seats: int | None = None,
    variant: str | None = None,
    live: int | None = None,
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
    if live is not None:
        positive("live games", live)
    seats = game.default_seats if seats is None else seats
    player.check_fits(game, variant, seats)
    player = player.at_table(game, game.options(seats, variant))
    if player.strategy.is_native:
        return _measure_native(game, player, seconds, repeats, progress, seats, variant, live)
    live = LIVE_OUTSIDE if live is None else live
    assert isinstance(player.strategy, OnePly)
    assert player.evaluator is not None
    watched = _WatchedEvaluator(player.evaluator)
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
    table = _Table(game, player, seats, variant, live, default_threads())
    return _report(table, playing, bare, runs, seconds, batch=round(sum(sizes) / len(sizes)))


@dataclass(frozen=True)
class _Table:
    """Who played: an agent in all seats, how many games at once and in how many threads."""

    game: Game
    player: Agent
    seats: int
    variant: str | None
    live: int
    threads: int


def _report(
    table: _Table,
    playing: list[float],
    bare: list[float],
    runs: list[Results],
    seconds: float,
    batch: int = 0,
    bound: "Arithmetic | None" = None,
) -> NetworkShareReport:
    """The report of repeats: rows a second in play and in the bare loop, and what was played, one of each a repeat."""
    return NetworkShareReport(
        game=table.game.name,
        version=table.game.version,
        variant=table.game.canonical(table.variant),
        agent=table.player.label,
        seats=table.seats,
        live=table.live,
        batch=batch,
        threads=table.threads,
        playing=Timing.of(playing),
        bare=Timing.of(bare),
        share=Timing.of([rate / alone for rate, alone in zip(playing, bare, strict=True)]),
        decisions_per_second=Timing.of([run.decisions / run.seconds for run in runs]),
        seconds=seconds,
        repeats=len(runs),
        bound=bound,
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


def _play_for(seconds: float, game: Game, player: Agent, seats: int, variant: str | None, live: int | None) -> Results:
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


def _measure_native(
    game: Game,
    player: Agent,
    seconds: float,
    repeats: int,
    progress: Progress | None,
    seats: int,
    variant: str | None,
    live: int | None,
) -> NetworkShareReport:
    """`measure` for a network that compiled code scores."""
    search, threads = player.strategy, default_threads()
    assert isinstance(search, OnePly)
    assert search.network is not None
    if progress:
        progress(0, repeats + 1, f"{player.label}, to warm up")
    rows, is_first = _rows_of_decisions(game, player, seats, variant)
    _play_for(seconds, game, player, seats, variant, live)
    playing, bare, peaks, runs, products = [], [], [], [], 0.0
    for done in range(1, repeats + 1):
        if progress:
            progress(done, repeats + 1, player.label)
        runs.append(_play_for(seconds, game, player, seats, variant, live))
        playing.append(runs[-1].rows / runs[-1].seconds)
        rate, products = _native_rate(search.network, rows, is_first, threads, seconds)
        bare.append(rate)
        peaks.append(_peak(min(seconds, 1.0)))
    peak = Timing.of(peaks)
    most = threads * peak.median / products
    bound = Arithmetic(products, peak, most, Timing.of([rate / most for rate in playing]))
    table = _Table(game, player, seats, variant, LIVE_NATIVE * threads if live is None else live, threads)
    return _report(table, playing, bare, runs, seconds, bound=bound)


class _Noting(Strategy):
    """One-ply search outside compiled code that notes the rows of its decisions, and which of them are first ones."""

    is_trusted = True

    def __init__(self, search: OnePly) -> None:
        self.search, self.evaluator, self.peeks = search, search.evaluator, search.peeks
        self.rows: list[np.ndarray] = []
        self.is_first: list[np.ndarray] = []

    def think(self, decisions: Any) -> Thinking:
        """Look one ply ahead, note the rows, and take the best move."""
        ahead = decisions.look_ahead(self.evaluator, self.search.settles, self.search.worlds, self.peeks)
        batch, rows = ahead.leaves, ahead.question.rows
        group_end = batch.group_end[: batch.used[DECISIONS]]
        groups = np.concatenate([[0], group_end[:-1]])[np.diff(group_end, prepend=0) > 0]
        firsts = batch.leaf_row[np.where(groups > 0, batch.leaf_end[groups - 1], 0)]
        self.rows.append(rows.copy())
        self.is_first.append(np.zeros(len(rows), np.int64))
        self.is_first[-1][firsts[firsts >= 0]] = 1
        ahead.weigh((yield ahead.question) if len(rows) else np.zeros(0))
        return decisions.choose(ahead)


def _rows_of_decisions(game: Game, player: Agent, seats: int, variant: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of decisions in games of the player, in order, u8[n, width], and which are the first of one, i64[n]."""
    assert isinstance(player.strategy, OnePly)
    noting, lineups = _Noting(player.strategy), np.zeros((NOTED, seats), np.int64)
    play(game, [replace(player, strategy=noting)], lineups, deal_seeds(0, NOTED), variant=variant)
    return np.concatenate(noting.rows), np.concatenate(noting.is_first)


@rule
def score_decisions(network, rows, is_first, count, space):
    """Score rows[0..count-1] as play does: each row is compared with the first one of its decision."""
    total = 0.0
    for i in range(count):
        total += score_row(network, at(rows, i), get(is_first, i) != 0, space)
    return total


def _native_rate(
    network: DenseNetwork, rows: np.ndarray, is_first: np.ndarray, threads: int, seconds: float
) -> tuple[float, float]:
    """Rows a second that so many threads score in a bare loop, and the products of a row in the mean."""

    def score(space: Any) -> int:
        lent = lend(space)
        while time.perf_counter() < end:
            score_decisions(network.address, raw(rows), raw(is_first), len(rows), lent)
        return int(space.done[SCORED])

    spaces = [space_for([network]) for _ in range(threads)]
    score_decisions(network.address, raw(rows), raw(is_first), 1, lend(spaces[0]))  # compile it before the clock starts
    spaces[0].done[:] = 0
    begun = time.perf_counter()
    end = begun + seconds
    with ThreadPoolExecutor(threads) as pool:
        scored = sum(pool.map(score, spaces))
    return scored / (time.perf_counter() - begun), sum(int(space.done[PRODUCTS]) for space in spaces) / scored


@rule
def multiply(network, space, times):
    """Add up the first layer of a network so many times, for an input without zeros."""
    inputs, units = get(network, FEATURES), get(network, LAYERS + UNITS)
    weights, bias = get(network, LAYERS + WEIGHTS), get(network, LAYERS + BIAS)
    for _ in range(times):
        dense.add_rows(space.sums, bias, weights, units, space.places, space.values, inputs)


def _peak(seconds: float) -> float:
    """Products a second of one core in the loop that scores networks, with 16 kB of weights."""
    ones = np.ones((64, 65), np.float32)
    small = dense.network([(ones[:, :64], ones[0, :64]), (ones[:, :1], ones[0, :1])])
    space, done, times = space_for([small]), 0, 1000
    space.places[:], space.values[:] = np.arange(64), 1.0
    lent = lend(space)
    multiply(small.address, lent, 1)
    begun = time.perf_counter()
    while time.perf_counter() < begun + seconds:
        multiply(small.address, lent, times)
        done += times
    return done * 64 * 64 / (time.perf_counter() - begun)
