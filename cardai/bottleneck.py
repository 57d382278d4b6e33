"""Whether the evaluator is the bottleneck: the rows it scores a second while games are played, and in a bare loop.

print(measure(load("moska"), "peeking:nn2").table())
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.bench import deal_seeds, plain, positive, with_notes
from cardai.game import CardaiError, Game
from cardai.machine import machine
from cardai.perf import Timing
from cardai.players import Agent, agent
from cardai.table import LIVE_OUTSIDE, Results, play

Progress = Callable[[int, int, str], None]
"""Called with (measurements done, measurements in all, what is measured)."""

MANY = 1_000_000  # games that no measurement gets to the end of


@dataclass(frozen=True)
class Report:
    """Rows a second in play and in a bare loop at the same batch, measured in turns. `share`: play over bare loop."""

    game: str
    version: int
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
        table.add_row(f"while {self.live} games are played", str(self.playing))
        table.add_row(f"in a bare loop, {self.batch} rows a call", str(self.bare))
        notes = [
            f"playing reaches {100 * self.share.median:.0f} % ({100 * self.share.low:.0f}-{100 * self.share.high:.0f})"
            f" of the bare loop; {self.decisions_per_second.median:,.0f} decisions/s",
            f"medians of {self.repeats} pairs of runs of about {self.seconds:g} s, with their range",
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

    Raises CardaiError for an agent without an evaluator, and for seconds or repeats out of range.
    """
    player = agent(game, spec)
    if player.evaluator is None:
        raise CardaiError(f"agent {spec!r} has no evaluator to be measured")
    if not 0 < seconds <= 3600:
        raise CardaiError(f"seconds must be more than 0 and at most 3600, not {seconds:g}")
    positive("repeats", repeats, 1000)
    seats = game.default_seats if seats is None else seats
    warm = _played(game, player, seats, variant, live, seconds)
    batch = max(1, warm.rows // max(1, warm.batches))
    runs, bare = [], []
    for done in range(repeats):
        if progress:
            progress(done, repeats, player.label)
        bare.append(_bare(game, player, batch, seconds))
        runs.append(_played(game, player, seats, variant, live, seconds))
    rates = [run.rows / run.seconds for run in runs]
    return Report(
        game.name,
        game.version,
        player.label,
        seats,
        live,
        batch,
        Timing.of(rates),
        Timing.of(bare),
        Timing.of([rate / alone for rate, alone in zip(rates, bare, strict=True)]),
        Timing.of([run.decisions / run.seconds for run in runs]),
        seconds,
        repeats,
    )


def _played(game: Game, player: Agent, seats: int, variant: str | None, live: int, seconds: float) -> Results:
    """About so many seconds of games, none of which has to end."""
    end = time.perf_counter() + seconds
    stopped = False

    def look(done: int, total: int) -> None:
        nonlocal stopped
        if time.perf_counter() > end:
            stopped = True
            raise KeyboardInterrupt

    lineups = np.zeros((MANY, seats), np.int64)
    results = play(game, [player], lineups, deal_seeds(0, MANY), variant=variant, live=live, progress=look)
    if results.interrupted and not stopped:
        raise KeyboardInterrupt
    return results


def _bare(game: Game, player: Agent, batch: int, seconds: float) -> float:
    """Rows a second of the evaluator alone, one call ahead of the answers, as in play."""
    evaluator = player.evaluator
    assert evaluator is not None
    width = game.encoder(evaluator.encoder).width(evaluator.seats)
    rows = np.random.default_rng(0).integers(0, 2, (batch, width), np.uint8)
    np.asarray(evaluator.score(rows))
    start, scored = time.perf_counter(), 0
    waiting = evaluator.score(rows)
    while time.perf_counter() - start < seconds:
        following = evaluator.score(rows)
        np.asarray(waiting)
        waiting, scored = following, scored + batch
    np.asarray(waiting)
    return (scored + batch) / (time.perf_counter() - start)
