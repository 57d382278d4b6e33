"""How many games a second a cluster plays, beside what its machines play when nobody brings them tasks.

    with Cluster("auto") as cluster:
        report = measure(load("durak"), cluster, seconds=120)

Each processor first plays alone, one file of a simulation after the other, which it keeps to itself; then all of them
play one simulation, which this machine writes to a temporary folder; then each plays alone again. All is measured in
one run, with files of the same size, so that whatever else the machines do weighs on both sides.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cardai.data.mixture import Mix
from cardai.data.selfplay import SHARD, simulate_shards
from cardai.data.simulated_file import ready as ready_to_play
from cardai.data.simulated_file import request_of
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine
from cardai.stats.progress import Progress
from cardai.table.cluster.cluster import Cluster
from cardai.table.cluster.driving import ClusterFailed
from cardai.table.cluster.work import WARM

TASK = f"{__name__}:ready"
_ALONE = 0.125  # the share of the seconds for which processors play alone, before and after
_FILES = 40  # files for each processor, about
_TRIAL = 500  # games in a file, until it is known how many a processor plays in a second
_SEED = 1


@dataclass(frozen=True)
class ClusterSpeed:
    """The speed of a cluster.

    - `machines`, `processors`: what it has.
    - `alone`: games a second of all processors, each playing alone and all at the same time: before and after.
    - `together`: games a second of the simulation, from its first task to its last file; `games` in `seconds`.
    - `share`: `together` by the mean of `alone`. `share_with_start`: the same with `start` counted in, the seconds in
      which machines say what they are and compile.
    - `load`: the load of this machine before, the mean over a minute; NaN where it is not known.
    """

    game: str
    agent: str
    machines: int
    processors: int
    alone: tuple[float, float]
    together: float
    games: int
    files: int
    seconds: float
    start: float
    share: float
    share_with_start: float
    load: float

    def as_json(self) -> dict[str, Any]:
        """This report and this machine as plain JSON types."""
        return plain({"kind": "cluster"} | asdict(self) | {"machine": machine()})


def measure(
    game: Game, cluster: Cluster, agent: str = "random", seconds: float = 60.0, progress: Progress | None = None
) -> ClusterSpeed:
    """Measure a cluster with games of one agent in all seats, in about 1.3 times so many seconds.

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
    rough = _alone(game, cluster, agent, _TRIAL, min(5.0, seconds * _ALONE), tell)
    games = max(1, round(rough * seconds))
    shard = max(1, min(SHARD, games // (_FILES * cluster.slots)))
    before = _alone(game, cluster, agent, shard, seconds * _ALONE, tell)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        summary = simulate_shards(
            game, {agent: 1.0}, games, folder=folder, seed=_SEED, shard=shard, progress=progress, cluster=cluster
        )
        took = time.perf_counter() - began
    if summary.interrupted:
        raise KeyboardInterrupt
    after = _alone(game, cluster, agent, shard, seconds * _ALONE, tell)
    together, own = games / took, (before + after) / 2
    return ClusterSpeed(
        game=game.name,
        agent=agent,
        machines=len(cluster.engine.nodes()),
        processors=cluster.slots,
        alone=(before, after),
        together=together,
        games=games,
        files=len(summary.files),
        seconds=took,
        start=start,
        share=together / own,
        share_with_start=games / (took + start) / own,
        load=load,
    )


def ready(game: Game, request: Mapping[str, Any], data: bytes) -> Callable[[int], bytes]:
    """The work of a task: a processor plays files for `request["alone"]` seconds, one after the other."""
    play = ready_to_play(game, request, data)

    def work(number: int) -> bytes:
        play(WARM)
        if number == WARM:
            return b""
        began, files = time.perf_counter(), 0
        while time.perf_counter() - began < request["alone"]:
            play(files)
            files += 1
        return json.dumps([files * request["shard"], time.perf_counter() - began]).encode()

    return work


def _alone(game: Game, cluster: Cluster, agent: str, shard: int, seconds: float, tell: Callable[[str], None]) -> float:
    """The sum of the games a second that the processors play, each alone and all at the same time."""
    tell("each processor plays alone")
    mix = Mix(game, {agent: 1.0}, 10**9, _SEED, None, None, 1)
    total = 0.0
    for name, answer in cluster.on_each(game, [agent], TASK, request_of(mix, shard) | {"alone": seconds}):
        if answer.kind != "done":
            raise ClusterFailed(f"machine {cluster.engine.nodes()[name].host}: {answer.text}")
        games, took = json.loads(answer.content)
        total += games / took
    if not total:
        raise ClusterFailed("no machine of the cluster has answered")
    return total
