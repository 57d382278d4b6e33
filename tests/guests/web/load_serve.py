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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from web_clients import Guest, Process, sit_together

HINTS = 0.1  # the share of turns in which a person asks for a hint
WARM_UP = 5.0  # seconds that do not count: all tables have begun then


@dataclass(frozen=True)
class Load:
    """What one run came to.

    `waits`: seconds from a sent move to its view; `hints`: from a question to its hint; `processor`: seconds of the
    server.
    """

    tables: int
    waits: np.ndarray
    hints: np.ndarray
    processor: float

    def line(self) -> str:
        """The figures in a line."""
        hints = f"; hints: {_spread(self.hints)}" if len(self.hints) else ""
        each = f"{1000 * self.processor / len(self.waits):.1f} ms of processor time of the server a move"
        return f"{self.tables:5} tables: moves: {_spread(self.waits)}, {each}{hints}"


def _spread(waits: np.ndarray) -> str:
    p50, p95, p99 = 1000 * np.percentile(waits, [50, 95, 99])
    return f"{len(waits)}, p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms, longest {1000 * waits.max():.1f} ms"


@dataclass(frozen=True)
class Played:
    """How tables are played.

    `think`: seconds before a move, on average. `shared`: of so many tables one has a friend in the second seat, 0:
    none. `seconds`: how long it counts.
    """

    game: str = "moska"
    opponents: str = "bot3"
    seats: int = 4
    seconds: float = 40.0
    think: float = 2.0
    shared: int = 0

    def seats_at(self, place: int) -> list[str]:
        """The seats of a table."""
        agents = self.opponents.split(",")
        seats = ["me"] + [agents[place % len(agents)]] * (self.seats - 1)
        if self.shared and place % self.shared == 0:
            seats[1] = "friend"
        return seats

    async def load(self, process: Process, tables: int) -> Load:
        """Play so many tables. A finished game is followed by another one."""
        until, numbers = time.perf_counter() + WARM_UP + self.seconds, itertools.count()
        taken: list[list[Guest]] = [[] for _ in range(tables)]

        async def sit(place: int) -> None:
            await asyncio.sleep(WARM_UP / 2 * place / tables)
            while time.perf_counter() < until:
                seats, seed = self.seats_at(place), next(numbers)
                guests = await asyncio.to_thread(sit_together, process, self.game, seats, seed, HINTS)
                taken[place] += guests
                await asyncio.gather(*(guest.play(process.home, self.think, 0.0, until) for guest in guests))

        people = [asyncio.create_task(sit(place)) for place in range(tables)]
        await asyncio.sleep(WARM_UP)
        before = process.processor_seconds()
        warm = [(sum(len(one.waits) for one in place), sum(len(one.hint_waits) for one in place)) for place in taken]
        await asyncio.sleep(self.seconds)
        used = process.processor_seconds() - before
        await asyncio.wait(people, timeout=10)
        for person in people:
            if person.done():
                person.result()  # raises what went wrong
            else:
                person.cancel()
        waits, hints = [], []
        for place, (moves, asked) in zip(taken, warm, strict=True):
            waits += [wait for guest in place for wait in guest.waits][moves:]
            hints += [wait for guest in place for wait in guest.hint_waits][asked:]
        return Load(tables, np.array(waits), np.array(hints), used)

    def measure(self, tables: int) -> Load:
        """Serve the game and play it at so many tables."""
        with (
            tempfile.TemporaryDirectory() as folder,
            Process(Path(folder) / "tables.sqlite", self.game, "--opponents", self.opponents) as process,
        ):
            return asyncio.run(self.load(process, tables))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in vars(Played()).items():
        parser.add_argument(f"--{name}", default=usual, type=type(usual))
    parser.add_argument("--tables", default="20,60,200", help="how many tables at once, one run for each number")
    chosen = vars(parser.parse_args())
    counts, played = chosen.pop("tables"), Played(**chosen)
    busy = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"{played.game}, {played.opponents}, {os.cpu_count()} processors, load before {busy}", flush=True)
    for count in counts.split(","):
        print(played.measure(int(count)).line(), flush=True)
