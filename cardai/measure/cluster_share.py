"""How many games a second a cluster simulates, beside what its processors simulate without it.

    with Cluster("auto") as cluster:
        report = measure(load("durak"), cluster, seconds=120)

Each processor first makes a simulation alone, in one thread, as `cardai selfplay --only` does without a cluster: it
writes its files to a temporary folder and sums them up. Then all of them make one simulation, which this machine writes
and sums up; and so on in turn, several times, with files of the same size, so that whatever else the machines do weighs
on both sides.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from cardai.data.selfplay import SHARD, simulate_shards
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine
from cardai.stats.progress import Progress
from cardai.stats.report import Report
from cardai.table.cluster.cluster import Cluster
from cardai.table.cluster.driving import ClusterFailed

TASK = f"{__name__}:ready"
_ROUNDS = 4  # simulations, before each of which processors play alone, and once after the last
_ALONE = 0.1  # the share of the seconds for which processors play alone each time
_FILES = 40  # files for each processor, about
_SEED = 1


@dataclass(frozen=True)
class ClusterSpeed(Report, drawn_by="cardai.show.perf:cluster_text"):
    """The speed of a cluster.

    - `machines`, `processors`: what it has.
    - `alone`: games a second of all processors, each alone and all at the same time: before each simulation of the
      cluster, and after the last.
    - `together`: games a second of each simulation, from its first task to its last file. There are `games` in all, in
      `files`, played in `seconds`.
    - `shares`: `together` by the mean of `alone` before and after it. `share`: their median.
    - `share_with_start`: the same as if there had been one simulation, with `start` counted in, the seconds in which
      machines say what they are and compile.
    - `load`: the load of this machine before, the mean over a minute; NaN where it is not known.
    """

    game: str
    agent: str
    machines: int
    processors: int
    alone: tuple[float, ...]
    together: tuple[float, ...]
    games: int
    files: int
    seconds: float
    start: float
    shares: tuple[float, ...]
    share: float
    share_with_start: float
    load: float

    def as_json(self) -> dict[str, Any]:
        """This report and this machine as plain JSON types."""
        return plain({"kind": "cluster"} | asdict(self) | {"machine": machine()})


def measure(
    game: Game, cluster: Cluster, agent: str = "random", seconds: float = 60.0, progress: Progress | None = None
) -> ClusterSpeed:
    """Measure a cluster with games of one agent in all seats, in about 1.5 times so many seconds.

    Raises CardaiError for seconds out of range, and as `Cluster.run` does.
    """
    if not 1 <= seconds <= 3600:
        raise CardaiError(f"seconds must be from 1 to 3600 with a cluster, not {seconds:g}")

    def tell(words: str) -> None:
        if progress:
            progress(0, 1, words)

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    began = time.perf_counter()
    cluster.greet(game, [agent], tell)
    start = time.perf_counter() - began
    trial, rough = 1, 0.0
    while trial * cluster.slots <= rough or not rough:  # until a trial takes a second
        trial *= 8
        rough = _alone(game, cluster, agent, trial, SHARD, tell)
    games = max(1, round(rough * seconds / _ROUNDS))
    shard = max(1, min(SHARD, games * _ROUNDS // (_FILES * cluster.slots)))
    by_one = max(1, round(rough * seconds * _ALONE / cluster.slots))
    alone = [_alone(game, cluster, agent, by_one, shard, tell)]
    times, files = list[float](), 0
    for _ in range(_ROUNDS):
        took, written = _simulated(game, agent, games, shard, progress=progress, cluster=cluster)
        times.append(took)
        files += written
        alone.append(_alone(game, cluster, agent, by_one, shard, tell))
    together = [games / took for took in times]
    shares = [2 * speed / (alone[i] + alone[i + 1]) for i, speed in enumerate(together)]
    return ClusterSpeed(
        game=game.name,
        agent=agent,
        machines=len(cluster.engine.nodes()),
        processors=cluster.slots,
        alone=tuple(alone),
        together=tuple(together),
        games=games * _ROUNDS,
        files=files,
        seconds=sum(times),
        start=start,
        shares=tuple(shares),
        share=median(shares),
        share_with_start=median(shares) * sum(times) / (sum(times) + start),
        load=load,
    )


def ready(game: Game, request: Mapping[str, Any], data: bytes) -> Callable[[int], bytes]:
    """The work of a task: a processor simulates `request["games"]` games alone. Returns the seconds it took."""
    del data

    def work(number: int) -> bytes:
        del number
        took, _ = _simulated(game, request["agent"], request["games"], request["shard"], threads=1)
        return json.dumps(took).encode()

    return work


def _simulated(
    game: Game,
    agent: str,
    games: int,
    shard: int,
    threads: int | None = None,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> tuple[float, int]:
    """Simulate games into a temporary folder. Returns the seconds and the number of files."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        summary = simulate_shards(
            game, {agent: 1.0}, games, folder=folder, seed=_SEED, shard=shard, threads=threads, progress=progress,
            cluster=cluster,
        )  # fmt: skip
        took = time.perf_counter() - began
    if summary.interrupted:
        raise KeyboardInterrupt
    return took, len(summary.files)


def _alone(game: Game, cluster: Cluster, agent: str, games: int, shard: int, tell: Callable[[str], None]) -> float:
    """The sum of the games a second of all processors: each simulates so many games alone, all at the same time."""
    tell("each processor plays alone")
    total = 0.0
    for name, answer in cluster.on_each(game, [agent], TASK, {"agent": agent, "games": games, "shard": shard}):
        if answer.kind != "done":
            raise ClusterFailed(f"machine {cluster.engine.nodes()[name].host}: {answer.text}")
        total += games / json.loads(answer.content)
    if not total:
        raise ClusterFailed("no machine of the cluster has answered")
    return total
