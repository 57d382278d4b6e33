"""Whether the evaluator is the bottleneck: the rows it scores a second while games are played, and in a bare loop.

print(measure(load("moska"), "peeking:nn2").table())
"""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cardai.agents.evaluator import Evaluator
from cardai.agents.spec import Agent, agent
from cardai.errors import CardaiError, positive
from cardai.game import Game
from cardai.measure.perf import Timing
from cardai.rule import JIT
from cardai.show.grid import with_notes
from cardai.stats.deals import deal_seeds
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine
from cardai.table.many import LIVE_OUTSIDE, Results, play

Progress = Callable[[int, int, str], None]
"""Called with (measurements done, measurements in all, what is measured)."""

MANY = 1_000_000 if JIT else 10_000  # games that no measurement gets to the end of


@dataclass(frozen=True)
class Report:
    """Rows a second in play and in a bare loop over batches of the same sizes, measured in turns.

    Both are counted as answers are heard, from the first one to the last. `share`: play over bare loop. `batch`: the
    mean size of the batches.
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
        """Everything in this report and what it was measured on, as plain JSON types."""
        return plain({"kind": "bottleneck"} | asdict(self) | {"machine": machine()})

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        from rich import box
        from rich.table import Table

        table = Table(title=f"{self.agent} in all {self.seats} seats", title_justify="left", box=box.HORIZONTALS)
        table.add_column("rows scored a second")
        table.add_column("rows/s", justify="right", no_wrap=True)
        table.add_row(f"while {self.live:,} games are played", str(self.playing))
        table.add_row(f"in a bare loop, the same batches ({self.batch:,} rows in the mean)", str(self.bare))
        notes = [
            f"playing reaches {100 * self.share.median:.0f} % ({100 * self.share.low:.0f}-{100 * self.share.high:.0f})"
            f" of the bare loop; {self.decisions_per_second.median:,.0f} decisions/s",
            f"medians of {self.repeats} pairs of runs of about {self.seconds:g} s, with their range",
            f"{self.game} {self.version}, variant {self.variant}",
        ]
        return with_notes(notes, table)


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
) -> Report:
    """Let an agent with an evaluator play in all seats, and its evaluator score rows in a bare loop, in turns.

    Raises CardaiError for an agent without an evaluator or one that does not fit the table, for seconds, repeats or
    live games out of range, and when an evaluator is too slow to answer twice in that time.
    """
    player = agent(game, spec)
    if player.evaluator is None:
        raise CardaiError(f"agent {spec!r} has no evaluator to be measured")
    if not 0 < seconds <= 3600:
        raise CardaiError(f"seconds must be more than 0 and at most 3600, not {seconds:g}")
    positive("repeats", repeats, 1000)
    positive("live games", live)
    seats = game.default_seats if seats is None else seats
    watched = _Watched(player.evaluator)
    player = replace(player, evaluator=watched)
    if progress:
        progress(0, repeats + 1, f"{player.label}, to warm up")
    _played(game, player, seats, variant, live, seconds)
    playing, bare, runs, sizes = [], [], [], []
    for done in range(1, repeats + 1):
        if progress:
            progress(done, repeats + 1, player.label)
        watched.forget()
        runs.append(_played(game, player, seats, variant, live, seconds))
        playing.append(watched.rate())
        sizes += watched.sizes
        bare.append(_bare(game, watched, watched.sizes, seconds))
    return Report(
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


class _Watched:
    """An evaluator of which it is noted how many rows it is asked about at once, and when its answers are heard."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.name, self.encoder = evaluator, evaluator.name, evaluator.encoder
        self.moment, self.seats, self.batch = evaluator.moment, evaluator.seats, evaluator.batch
        self.check_fits = evaluator.check_fits
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.sizes: list[int] = []
        self.heard: list[tuple[float, int]] = []  # when, and how many rows

    def score(self, rows: np.ndarray) -> "_Answer":
        """What the evaluator answers; the answer is noted when it is heard."""
        self.sizes.append(len(rows))
        return _Answer(self, self.evaluator.score(rows))

    def rate(self) -> float:
        """Rows a second from the first answer to the last."""
        if len(self.heard) < 2:
            raise CardaiError(f"{self.name} gave {len(self.heard)} answers in the time given; measure for more seconds")
        return sum(rows for _, rows in self.heard[1:]) / (self.heard[-1][0] - self.heard[0][0])


class _Answer:
    """An answer on its way."""

    def __init__(self, watched: _Watched, answer: Any) -> None:
        self.watched, self.answer = watched, answer

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        scores = np.asarray(self.answer, dtype)
        self.watched.heard.append((time.perf_counter(), len(scores)))
        return scores


def _played(game: Game, player: Agent, seats: int, variant: str | None, live: int, seconds: float) -> Results:
    """About so many seconds of games, none of which has to end."""
    stopped = False
    end = np.inf  # until the first game is dealt: compiling is not playing

    def look(done: int, total: int) -> None:
        nonlocal stopped, end
        end = min(end, time.perf_counter() + seconds)
        if time.perf_counter() > end and not stopped:
            stopped = True
            raise KeyboardInterrupt

    lineups = np.zeros((MANY, seats), np.int64)
    results = play(game, [player], lineups, deal_seeds(0, MANY), variant=variant, live=live, progress=look)
    if results.interrupted and not stopped:
        raise KeyboardInterrupt
    return results


def _bare(game: Game, watched: _Watched, sizes: Sequence[int], seconds: float) -> float:
    """Rows a second of the evaluator alone, asked for batches of these sizes, one call ahead of the answers."""
    width = game.encoder(watched.encoder).width(watched.seats)
    rows = np.random.default_rng(0).integers(0, 2, (max(sizes), width), np.uint8)
    watched.forget()
    end, waiting = time.perf_counter() + seconds, None
    for size in itertools.cycle(sizes):
        following = watched.score(rows[:size])
        if waiting is not None:
            np.asarray(waiting)
        if time.perf_counter() > end and len(watched.heard) > 1:
            return watched.rate()
        waiting = following
    raise AssertionError("a cycle has no end")
