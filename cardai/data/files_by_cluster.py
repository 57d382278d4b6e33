"""The files of a simulation, played on the machines of a cluster and written by this process alone.

Workers send the files' bytes. Each file is written under a temporary name, and gets its own if no file has it: so it
does no harm if a file is played twice. Some files are replayed here before they get their names.
"""

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path

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

    def take(number: int, answer: Answer) -> None:
        nonlocal done
        file, first, end = files[number]
        content, results_of_file = unpacked(answer.content)

        def check(unfinished: Path) -> None:
            if number == min(files) or _is_replayed(mix.seed, number):
                _replay(mix, unfinished, first, end, results_of_file)

        try:
            with interrupts_held():
                write_once(file, content, check)
                results[number] = results_of_file
        except OSError as error:
            raise ClusterFailed(
                f"cannot write {file}: {error.strerror or error}; the files before it are whole"
            ) from None
        except CardaiError as error:
            raise ClusterFailed(f"{file.name}, played on machine {answer.host}, is wrong: {error}") from None
        done += end - first
        if progress:
            progress(done, asked, words)

    def tell(text: str) -> None:
        if progress:
            progress(before, asked, text)

    try:
        failures = cluster.run(mix.game, list(mix.pool), TASK, request_of(mix, shard), files, take, tell=tell)
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
