"""The files of a simulation: workers play them and send their bytes, and this process alone writes them.

Each file is written under a temporary name, and gets its own if no file has it: so it does no harm if a file is played
twice. Some files are replayed here before they get their names.
"""

import io
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.files.writing import interrupts_held, write_once
from cardai.game import Game
from cardai.guests.cluster.joining import ClusterFailed
from cardai.playing.progress import Progress
from cardai.records.mixture import FileResults, Mix
from cardai.records.record import read
from cardai.records.soundness import first_unsound

_ONE_IN = 100  # files is replayed here, the first too
_WARMING = 4  # games of which the players and the record are compiled


def file_player(game: Game, request: Mapping[str, Any]) -> Callable[[bytes], bytes]:
    """What does a task: it plays the games of an item [first, end] into a file, and returns its bytes and results."""
    mix = Mix(game, dict(request["pool"]), threads=1, **request["table"])
    mix.names = request["names"]

    def work(item: bytes) -> bytes:
        first, end = json.loads(item)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "games.jsonl.gz"
            with mix.writer(place) as writer:
                results = FileResults.of(mix.play(first, end, writer, None).complete())
            content = np.frombuffer(place.read_bytes(), np.uint8)
        out, sums = io.BytesIO(), [results.states, results.endless]
        np.savez(out, content=content, finished=results.finished, scores=results.scores, sums=sums)
        return out.getvalue()

    return work


def play_files(
    cluster: Any, mix: Mix, unplayed: Mapping[int, tuple[Path, int, int]], progress: Progress | None = None
) -> tuple[dict[int, FileResults], bool]:
    """Play and write files on a `Cluster`, as `cardai.records.elsewhere.Machines` says."""
    pool = list(mix.pool.items())  # a list, since its order decides the draws
    table = {"games": mix.asked, "seed": mix.seed, "variant": mix.variant, "seats": mix.seats}
    request = {"pool": pool, "names": mix.names, "table": table}
    items = {number: json.dumps(games).encode() for number, (_, *games) in unplayed.items()}
    results, failed, began = dict[int, FileResults](), dict[str, str](), time.perf_counter()
    done, asked = 0, sum(end - first for _, first, end in unplayed.values())

    tell = (lambda words: progress(done, asked, words)) if progress else str
    try:
        warm = json.dumps([0, min(_WARMING, mix.asked)]).encode()
        for number, answer in cluster.map(mix.game, list(mix.pool), "files", request, items, warm, tell):
            file, first, end = unplayed[number]
            if isinstance(answer, CardaiError):
                failed[file.name] = str(answer)
                continue
            with interrupts_held():
                results[number] = _written(mix, file, first, end, answer, time.perf_counter() - began)
                began, done = time.perf_counter(), done + end - first
            tell(f"simulating on {cluster.words}")
    except KeyboardInterrupt:
        return results, True
    if failed:
        named = ", ".join(f"{name} ({why})" for name, why in sorted(failed.items())[:3])
        raise ClusterFailed(
            f"{len(failed)} of {len(unplayed)} files could not be played: {named}; the others are written, and the same"
            " command tries again"
        )
    return results, False


def _written(mix: Mix, file: Path, first: int, end: int, answer: bytes, seconds: float) -> FileResults:
    """Write a file that has come, and return its results."""
    with np.load(io.BytesIO(answer), allow_pickle=False) as arrays:
        states, endless = arrays["sums"].tolist()
        results = FileResults(arrays["finished"], arrays["scores"], states, endless, seconds)
        content = arrays["content"].tobytes()

    def check(unfinished: Path) -> None:
        if first // (end - first) % _ONE_IN:
            return
        games, seeds = list(read(unfinished)), mix.seeds(first, end)[results.finished].tolist()
        if [one.seed for one in games] != seeds or first_unsound(mix.game, games) is not None:
            raise ClusterFailed(f"{file.name} came with games that are not the simulation's, or do not replay")

    try:
        write_once(file, content, check)
    except OSError as error:
        raise ClusterFailed(f"cannot write {file}: {error.strerror or error}; the files before it are whole") from None
    return results
