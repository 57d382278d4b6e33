"""How close play comes to the speed of its network: rows scored a second in play, and in a bare loop over rows.

A network that compiled code scores is compared with a loop over rows of real decisions, on as many threads, and with
the products that it needs at the highest rate of one core. Any other evaluator is compared with a loop over batches of
the sizes that occur in play.

report = measure(load("moska"), "peeking:nn2")
print(cardai.cli.show.perf.network_table(report))
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game
from cardai.game.compiled.native import at, get, raw
from cardai.game.compiled.rules import lend
from cardai.measure.speed import SelfPlay, Timing, check_effort, timed
from cardai.playing.agents.spec import agent
from cardai.playing.agents.strategy import OnePly, Strategy, Thinking
from cardai.playing.compiled import dense
from cardai.playing.compiled.dense import (
    BIAS,
    FEATURES,
    LAYERS,
    PRODUCTS,
    SCORED,
    UNITS,
    WEIGHTS,
    score_row,
    space_for,
)
from cardai.playing.compiled.lookahead import DECISIONS
from cardai.playing.machine import default_threads, machine
from cardai.playing.progress import Progress
from cardai.playing.stats.jsonable import plain
from cardai.playing.stats.report import Report
from cardai.playing.table.many import LIVE_NATIVE, LIVE_OUTSIDE
from cardai.rules import rule

NOTED = 20  # games whose decisions the bare loop over a compiled network scores


@dataclass(frozen=True)
class NetworkShareReport(Report, drawn_by="cardai.cli.show.perf:network_table"):
    """Rows scored a second in play and in a bare loop, measured in turns.

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
    bound: "Arithmetic | None"

    def as_json(self) -> dict[str, Any]:
        """This report and the machine it was measured on as plain JSON types."""
        return plain({"kind": "bottleneck"} | asdict(self) | {"machine": machine()})


@dataclass(frozen=True)
class Arithmetic:
    """The arithmetic of a network that compiled code scores.

    - `products`: products of a weight and an input that is not zero, for a row, in the mean over rows of decisions.
    - `peak`: products a second on one core, in the same loop over weights that lie in the nearest cache, while all
      threads are in that loop; measured after each run of play, by the same clock.
    - `rows`: rows a second if nothing but the products took time, at that rate on all threads.
    - `share`: rows scored a second in play, divided by `rows` as it is by the peak after the same run. That is measured
      too: where other programs slow it down more than the play, a share may be above 1.
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
    check_effort(seconds, repeats, live)
    seats = game.default_seats if seats is None else seats
    player.check_fits(game, variant, seats)
    player = player.at_table(game, game.options(seats, variant))
    if progress:
        progress(0, repeats + 1, f"{player.label}, to warm up")
    alone = SelfPlay(game, player, seats, variant)
    loop = _CompiledLoop(alone) if player.strategy.is_native else _BatchLoop(alone)
    live = loop.live if live is None else live
    loop.alone.play_for(seconds, live)
    runs, bare = [], []
    for done in range(1, repeats + 1):
        if progress:
            progress(done, repeats + 1, player.label)
        loop.sizes.clear()
        runs.append(loop.alone.play_for(seconds, live))
        bare.append(loop.rate(seconds))
    playing = [run.rows / run.seconds for run in runs]
    return NetworkShareReport(
        game=game.name,
        version=game.version,
        variant=game.canonical(variant),
        agent=player.label,
        seats=seats,
        live=live,
        batch=loop.mean_batch(),
        threads=loop.threads,
        playing=Timing.of(playing),
        bare=Timing.of(bare),
        share=Timing.of([rate / other for rate, other in zip(playing, bare, strict=True)]),
        decisions_per_second=Timing.of([run.decisions / run.seconds for run in runs]),
        seconds=seconds,
        repeats=repeats,
        bound=loop.bound(playing),
    )


class _BatchLoop:
    """An evaluator that notes the size of each batch it scores in play, and scores batches of these sizes alone."""

    live, bound = LIVE_OUTSIDE, staticmethod(lambda _: None)

    def __init__(self, alone: SelfPlay) -> None:
        search, evaluator = alone.player.strategy, alone.player.evaluator
        assert isinstance(search, OnePly)
        assert evaluator is not None
        self.evaluator = evaluator
        self.name, self.encoder, self.moment = evaluator.name, evaluator.encoder, evaluator.moment
        self.seats, self.batch, self.check_fits = evaluator.seats, evaluator.batch, evaluator.check_fits
        player = replace(alone.player, strategy=replace(search, evaluator=self))
        self.alone, self.threads = replace(alone, player=player), default_threads()
        self.sizes, self.all_sizes = list[int](), list[int]()

    def score(self, rows: np.ndarray) -> Any:
        """The evaluator's scores of rows u8[n, width]."""
        self.sizes.append(len(rows))
        return self.evaluator.score(rows)

    def rate(self, seconds: float) -> float:
        """Rows a second alone, on batches of the sizes noted. A batch is begun before the last one is read.

        Raises CardaiError if fewer than two batches were noted.
        """
        if len(self.sizes) < 2:
            raise CardaiError(
                f"{self.name} was asked {len(self.sizes)} times in the time given; measure for more seconds"
            )
        width = self.alone.game.encoder(self.encoder).width(self.alone.seats)
        rows = np.random.default_rng(0).integers(0, 2, (max(self.sizes), width), np.uint8)
        batches = (self.evaluator.score(rows[:size]) for size in itertools.cycle(self.sizes))
        waiting = next(batches)

        def work() -> int:
            nonlocal waiting
            read, waiting = waiting, next(batches)
            return len(np.asarray(read))

        self.all_sizes += self.sizes
        return timed(work, seconds).per_second

    def mean_batch(self) -> int:
        """The mean number of rows in a batch of play."""
        return round(sum(self.all_sizes) / len(self.all_sizes))


class _CompiledLoop:
    """A network that compiled code scores in play, and on as many threads in a bare loop over rows of decisions."""

    mean_batch = staticmethod(lambda: 0)

    def __init__(self, alone: SelfPlay) -> None:
        assert isinstance(alone.player.strategy, OnePly)
        assert alone.player.strategy.network is not None
        self.alone, self.network, self.threads = alone, alone.player.strategy.network, default_threads()
        self.live, self.peaks, self.products = LIVE_NATIVE * self.threads, list[float](), 0.0
        self.sizes = list[int]()
        self.rows, self.is_first = rows_of_decisions(alone)

    def rate(self, seconds: float) -> float:
        """Rows a second alone. Notes the products of a row in the mean, and those that a core computes a second."""

        def score(space: Any, count: int = len(self.rows)) -> int:
            score_decisions(self.network.address, raw(self.rows), raw(self.is_first), count, lend(space))
            return count

        spaces = [space_for([self.network]) for _ in range(self.threads)]
        score(spaces[0], 1)  # compile it before the clock starts
        spaces[0].done[:] = 0
        with ThreadPoolExecutor(self.threads) as pool:
            took = timed(lambda: len([*pool.map(lambda space: timed(lambda: score(space), seconds), spaces)])).seconds
            self.peaks.append(_peak(min(seconds, 1.0), pool, self.threads))
        scored, products = (sum(int(space.done[place]) for space in spaces) for place in (SCORED, PRODUCTS))
        self.products = products / scored
        return scored / took

    def bound(self, playing: list[float]) -> Arithmetic:
        """What would be reached if nothing but the products took time."""
        most = [self.threads * peak / self.products for peak in self.peaks]
        shares = [rate / other for rate, other in zip(playing, most, strict=True)]
        return Arithmetic(self.products, Timing.of(self.peaks), Timing.of(most).median, Timing.of(shares))


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


def rows_of_decisions(table: SelfPlay) -> tuple[np.ndarray, np.ndarray]:
    """Rows of decisions in games of the player, in order, u8[n, width], and which are the first of one, i64[n]."""
    assert isinstance(table.player.strategy, OnePly)
    noting = _Noting(table.player.strategy)
    replace(table, player=replace(table.player, strategy=noting)).play(NOTED, None)
    return np.concatenate(noting.rows), np.concatenate(noting.is_first)


@rule
def score_decisions(network, rows, is_first, count, space):
    """Score rows[0..count-1] as play does: each row is compared with the first one of its decision."""
    total = 0.0
    for i in range(count):
        total += score_row(network, at(rows, i), get(is_first, i) != 0, space)
    return total


@rule
def multiply(network, space, times):
    """Add up the first layer of a network so many times, for an input without zeros."""
    inputs, units = get(network, FEATURES), get(network, LAYERS + UNITS)
    weights, bias = get(network, LAYERS + WEIGHTS), get(network, LAYERS + BIAS)
    for _ in range(times):
        dense.add_rows(space.sums, bias, weights, units, space.places, space.values, inputs)


def _peak(seconds: float, pool: ThreadPoolExecutor, threads: int) -> float:
    """Products a second of one core in the loop that scores networks, with 16 kB of weights, while all do so."""
    ones = np.ones((64, 65), np.float32)
    small = dense.network([(ones[:, :64], ones[0, :64]), (ones[:, :1], ones[0, :1])])
    times = 1000

    def rate(_: int) -> float:
        space = space_for([small])
        space.places[:], space.values[:] = np.arange(64), 1.0
        lent = lend(space)

        def work() -> int:
            multiply(small.address, lent, times)
            return times * 64 * 64

        work()  # compiled before the clock starts
        return timed(work, seconds).per_second

    return sum(pool.map(rate, range(threads))) / threads
