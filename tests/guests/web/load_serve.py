"""How long a move waits for its view when many tables are played at once.

    python tests/guests/web/load_serve.py  # 20, 60 and 200 tables of Moska against bot3
    python tests/guests/web/load_serve.py --opponents greedy:best --tables 200
    python tests/guests/web/load_serve.py --opponents greedy:best,bot3 --shared 5 --tables 200  # two people at some

At each table a person plays any legal moves against three agents, who answer without a pause. A person thinks for two
seconds on average, and asks for a hint first in one of ten turns. Of several opponents each table has one. Measured is
the time from sending a move to the first view after it, and from asking for a hint to the hint, at the client. Server
and clients are two processes on this machine.
"""

import argparse
import asyncio
import itertools
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from web_clients import Guest, Process, sit_together

HINTS = 0.1  # the share of turns in which a person asks for a hint
WARM_UP = 5.0  # seconds that do not count: all tables have begun then


@dataclass(frozen=True)
class Load:
    """What one run came to.

    `waits`: seconds from a sent move to its view; `hints`: from a question to its hint; `processor`: seconds a move of
    a person.
    """

    tables: int
    waits: np.ndarray
    hints: np.ndarray
    seconds: float
    processor: float

    def line(self) -> str:
        """The figures in a line."""
        p50, p95, p99 = 1000 * np.percentile(self.waits, [50, 95, 99])
        return (
            f"{self.tables:5} tables: p50 {p50:5.1f} ms, p95 {p95:5.1f} ms, p99 {p99:5.1f} ms, "
            f"longest {1000 * self.waits.max():5.1f} ms; {len(self.waits)} moves of people in {self.seconds:.0f} s, "
            f"{1000 * self.processor / len(self.waits):.1f} ms of processor time of the server a move"
        ) + self._of_hints()

    def _of_hints(self) -> str:
        if not len(self.hints):
            return ""
        p50, p95 = 1000 * np.percentile(self.hints, [50, 95])
        longest = 1000 * self.hints.max()
        return f"; {len(self.hints)} hints: p50 {p50:.0f} ms, p95 {p95:.0f} ms, longest {longest:.0f} ms"


async def load(
    process: Process,
    game: str,
    line_ups: list[list[str]],
    tables: int,
    seconds: float,
    think: float,
    pause: float,
    shared: int = 0,
    hints: float = HINTS,
) -> Load:
    """Play so many tables for so many seconds. A finished game is followed by another one.

    `line_ups`: the seats of tables, in turn. `shared`: of so many tables one has a friend in the second seat, 0: none.
    `hints`: the share of turns with a hint.
    """
    until, numbers = time.perf_counter() + WARM_UP + seconds, itertools.count()
    taken: list[list[Guest]] = [[] for _ in range(tables)]

    async def sit(place: int) -> None:
        await asyncio.sleep(WARM_UP / 2 * place / tables)
        seats = list(line_ups[place % len(line_ups)])
        if shared and place % shared == 0:
            seats[1] = "friend"
        while time.perf_counter() < until:
            guests = await asyncio.to_thread(sit_together, process, game, seats, next(numbers), hints)
            taken[place] += guests
            await asyncio.gather(*(guest.play(process.home, think, pause, until) for guest in guests))

    people = [asyncio.create_task(sit(place)) for place in range(tables)]
    await asyncio.sleep(WARM_UP)
    before = process.processor_seconds()
    warm = [(sum(len(one.waits) for one in place), sum(len(one.hint_waits) for one in place)) for place in taken]
    await asyncio.sleep(seconds)
    used = process.processor_seconds() - before
    await asyncio.wait(people, timeout=10)
    for person in people:
        if person.done():
            person.result()  # raises what went wrong
        else:
            person.cancel()
    waits, hinted = [], []
    for place, (moves, asked) in zip(taken, warm, strict=True):
        waits += [wait for guest in place for wait in guest.waits][moves:]
        hinted += [wait for guest in place for wait in guest.hint_waits][asked:]
    return Load(tables, np.array(waits), np.array(hinted), seconds, used)


def measure(
    game: str,
    opponents: str,
    seats: int,
    tables: Sequence[int],
    seconds: float,
    think: float,
    pause: float,
    shared: int = 0,
    hints: float = HINTS,
) -> list[Load]:
    """Serve a game and play it at each of these numbers of tables, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        process = Process(Path(folder) / "tables.sqlite", game, "--opponents", opponents)
        try:
            line_ups = [["me"] + [agent] * (seats - 1) for agent in opponents.split(",")]
            found = []
            for count in tables:
                found.append(asyncio.run(load(process, game, line_ups, count, seconds, think, pause, shared, hints)))
            return found
        finally:
            process.kill()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="moska")
    parser.add_argument(
        "--opponents", default="bot3", help="the agents, of which each table has one in all other seats"
    )
    parser.add_argument("--seats", type=int, default=4)
    parser.add_argument("--tables", default="20,60,200", help="how many tables at once, one run for each number")
    parser.add_argument("--seconds", type=float, default=40.0, help="how long each run counts")
    parser.add_argument("--think", type=float, default=2.0, help="seconds that a person thinks, on average")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that an agent waits before its move")
    parser.add_argument("--shared", type=int, default=0, help="of so many tables one has two people, 0 for none")
    parser.add_argument("--hints", type=float, default=HINTS, help="the share of turns in which a hint is asked for")
    chosen = parser.parse_args()
    tables = [int(count) for count in chosen.tables.split(",")]
    busy = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"{chosen.game}, {chosen.opponents}, {os.cpu_count()} processors, load before {busy}", flush=True)
    how = chosen.seconds, chosen.think, chosen.pause, chosen.shared, chosen.hints
    for one in tables:
        found = measure(chosen.game, chosen.opponents, chosen.seats, [one], *how)
        print(found[0].line(), flush=True)


if __name__ == "__main__":
    main()
