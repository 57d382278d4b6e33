"""The files of a simulation, played on the machines of a cluster and written by this process alone.

Workers send the files' bytes. Each file is written under a temporary name, and gets its own if no file has it: so it
does no harm if a file is played twice. Some files are replayed here before they get their names.
"""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from cardai.data.mixture import FileResults, Mix
from cardai.data.record import Header, read
from cardai.data.simulated_file import TASK, request_of, unpacked
from cardai.data.soundness import first_unsound
from cardai.errors import CardaiError
from cardai.files.writing import interrupts_held, write_once
from cardai.stats.progress import Progress
from cardai.table.cluster.cluster import Cluster
from cardai.table.cluster.driving import ClusterFailed
from cardai.table.cluster.work import Answer

ONE_IN = 100
"""One file in so many is replayed here, and always the first."""
_MOST_WAITING = 32  # files that wait to be written, before no more are taken from the cluster


def play_files(
    cluster: Cluster,
    mix: Mix,
    shard: int,
    files: Mapping[int, tuple[Path, int, int]],
    before: int,
    asked: int,
    progress: Progress | None,
) -> tuple[dict[int, FileResults], bool]:
    """Play and write files: number -> (path, first game, end). Returns the results of each, and whether Ctrl-C came.

    `before`: the games of files that were there, of `asked`, for progress. Raises ClusterFailed if the cluster fails,
    if some files cannot be played, though only after all others are written, and if a file cannot be written.
    """
    results: dict[int, FileResults] = {}
    began, done, words = time.perf_counter(), before, f"simulating on {cluster.words}"
    if not files:
        return results, False

    def write(number: int, answer: Answer) -> FileResults:
        file, first, end = files[number]
        content, results_of_file = unpacked(answer.content)

        def check(unfinished: Path) -> None:
            if number == min(files) or _is_replayed(mix.seed, number):
                _replay(mix, unfinished, first, end, results_of_file)

        try:
            write_once(file, content, check)
        except OSError as error:
            raise ClusterFailed(
                f"cannot write {file}: {error.strerror or error}; the files before it are whole"
            ) from None
        except CardaiError as error:
            raise ClusterFailed(f"{file.name}, played on machine {answer.host}, is wrong: {error}") from None
        return results_of_file

    def count(number: int, results_of_file: FileResults) -> None:
        nonlocal done
        results[number] = results_of_file
        done += files[number][2] - files[number][1]
        if progress:
            progress(done, asked, words)

    def tell(text: str) -> None:
        if progress:
            progress(before, asked, text)

    writer = _Writing(write, count)
    try:
        with writer:
            failures = cluster.run(
                mix.game, list(mix.pool), TASK, request_of(mix, shard), files, writer.take, tell=tell
            )
    except KeyboardInterrupt:
        return results, True
    finally:
        mix.seconds += time.perf_counter() - began
    if failures:
        named = ", ".join(f"{files[number][0].name} ({why})" for number, why in sorted(failures.items())[:3])
        raise ClusterFailed(
            f"{len(failures)} of {len(files)} files could not be played: {named}; the others are written, and the same"
            " command tries again"
        )
    return results, False


class _Writing:
    """Writes files in a thread of its own, in the order in which they come. Use it in a `with` block.

    `write(number, answer)` runs there; `count(number, results)` is called here for each file that is written. What
    `write` raises is raised by the next `take`, or at the end of the block, when all that came has been written.
    """

    def __init__(self, write: Callable[[int, Answer], FileResults], count: Callable[[int, FileResults], None]) -> None:
        self._write, self._count = write, count
        self._waiting = deque[tuple[int, Future[FileResults]]]()
        self._thread = ThreadPoolExecutor(1, "files")

    def take(self, number: int, answer: Answer) -> None:
        """Have a file written. Waits while too many are."""
        with interrupts_held():
            self._waiting.append((number, self._thread.submit(self._write, number, answer)))
            self._count_written(_MOST_WAITING)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with interrupts_held():
            self._thread.shutdown()
            if kind is None or issubclass(kind, KeyboardInterrupt):
                self._count_written(0)

    def _count_written(self, most: int) -> None:
        """Count the files that are written, and wait until at most so many are not."""
        while self._waiting and (len(self._waiting) > most or self._waiting[0][1].done()):
            number, written = self._waiting.popleft()
            self._count(number, written.result())


def _is_replayed(seed: int, number: int) -> bool:
    digest = hashlib.blake2b(f"replayed {seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % ONE_IN == 0


def _replay(mix: Mix, file: Path, first: int, end: int, results: FileResults) -> None:
    """Raise CardaiError unless a file holds these games of the simulation, and they replay to their scores."""
    reader = read(file)
    if reader.header != Header.of(mix.game, list(mix.pool), mix.variant, mix.seats):
        raise CardaiError("its first line is that of another simulation")
    finished = results.finished
    seeds, lineups = mix.seeds(first, end)[finished], mix.lineups(first, end)[finished]
    games = list(reader)
    for recorded, seed, lineup in zip(games, seeds.tolist(), lineups.tolist(), strict=False):
        if recorded.seed != seed or recorded.lineup != tuple(lineup):
            raise CardaiError(f"game {recorded.number} is not the one that the simulation has there")
    if len(games) != len(seeds):
        raise CardaiError(f"it has {len(games)} games, not {len(seeds)}")
    unsound = first_unsound(mix.game, games, mix.variant, mix.seats)
    if unsound is not None:
        raise CardaiError(f"game {unsound} (seed {games[unsound].seed}) does not replay to its scores")
