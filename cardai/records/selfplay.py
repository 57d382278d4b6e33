"""Self-play simulations: the agent of each seat is drawn at random from a pool; games go into record files.

    pool = parse_pool(["bot3?randomised@3", "random@1"])
    simulate(game, pool, 10_000, out="games.jsonl.gz")
    simulate_shards(game, pool, 1_000_000, folder="games")  # goes on where it was stopped

Each game has its own deal, so that the states of a simulation differ as much as possible. Benchmarks never use these
deals. Only the pool and the seed decide the games; a longer simulation begins with the games of a shorter one.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from cardai.errors import CardaiError, positive
from cardai.game import Game
from cardai.game.compiled.query import split
from cardai.playing.agents.notation import parse
from cardai.playing.progress import CountProgress, Progress
from cardai.playing.table.many import BLOCK, Results, play
from cardai.records.elsewhere import Machines
from cardai.records.mixture import FileResults, Mix, Summary, is_weight
from cardai.records.record import RecordedGame
from cardai.records.simulation_folder import chosen_files, file_name, held_folder, keep_plan, refuse_strangers

SHARD = 10_000  # games in each file of `simulate_shards`


def parse_pool(texts: Sequence[str]) -> dict[str, float]:
    """Parse texts SPEC@WEIGHT into a pool, a dict of specs and weights. A spec without a weight has the weight 1.

    Raises CardaiError for a weight that is not a positive number, and for a spec named twice.
    """
    pool: dict[str, float] = {}
    for text in texts:
        *parts, weight = split(f"agent {text!r}", text, "@")
        spec, weight = ("@".join(parts), weight) if parts else (text, "1")
        try:
            number = float(weight)
        except ValueError:
            number = math.nan
        if not spec or not is_weight(number):
            raise CardaiError(f"{text!r} is not an agent with a weight; write bot3@2, or bot3 for the weight 1")
        spec = str(parse(spec))
        if spec in pool:
            raise CardaiError(f"the agent {spec!r} is named twice in the pool")
        pool[spec] = number
    return pool


def simulate(
    game: Game,
    pool: Mapping[str, float],
    games: int,
    *,
    out: str | Path,
    seed: int = 0,
    variant: str | None = None,
    seats: int | None = None,
    threads: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Summary:
    """Play games into one record file. `pool`: specs and weights, from which the agent of each seat is drawn.

    Raises CardaiError for a bad pool, number of seats, variant or file before any game is played. Ctrl-C ends the
    simulation; the file then has the games finished so far, and is marked as incomplete.
    """
    mix = Mix(game, pool, positive("games", games), seed, variant, seats, threads)
    interrupted = False
    with mix.writer(Path(out), overwrite, planned=games) as writer:
        for first in range(0, games, BLOCK):
            end = min(first + BLOCK, games)
            results = mix.play(first, end, writer, _played(progress, first, games), before=first)
            mix.count(first, end, FileResults.of(results))
            if interrupted := results.interrupted:
                break
    return mix.summary((str(out),) if mix.games else (), 0, interrupted)


def simulate_shards(
    game: Game,
    pool: Mapping[str, float],
    games: int,
    *,
    folder: str | Path,
    seed: int = 0,
    variant: str | None = None,
    seats: int | None = None,
    shard: int = SHARD,
    only: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    cluster: Machines | None = None,
) -> Summary:
    """Play games into a folder of record files with `shard` games each. A file is written whole or not at all.

    If a simulation was stopped, the same call continues with the first missing file, and ends with the same files. A
    simulation that has ended can be continued with more games. The folder's `simulation.json` describes it.

    `only`: the numbers of the files to play, "30-39" or "7", counted from 0, so that several machines share a
    simulation. Each writes into a folder of its own; their files, copied into one folder, are the whole simulation.

    `cluster`: the machines that play the files, which are the same.

    Raises CardaiError for a folder with another simulation or with other record files, for a damaged file in it, and
    for a folder into which another process is writing.
    """
    mix = Mix(game, pool, positive("games", games), seed, variant, seats, threads)
    place, starts = Path(folder), range(0, games, positive("shard", shard))
    ends = [(first, min(first + shard, games)) for first in starts]
    files = [place / file_name(*games_of_file) for games_of_file in ends]
    chosen = chosen_files(only, len(files))
    before, asked = chosen.start * shard, ends[chosen[-1]][1] - chosen.start * shard
    with held_folder(place):
        mix.names = keep_plan(place, mix.plan(shard), cluster.device_of(mix.agents) if cluster else None)
        refuse_strangers(place, files, shard, games)
        existing = [number for number in chosen if files[number].exists()]
        for number in existing:
            mix.check(files[number], *ends[number])
        missing = {number: (files[number], *ends[number]) for number in chosen if number not in set(existing)}
        if cluster:
            found = sum(end - first for first, end in (ends[number] for number in existing))
            note = progress and (lambda done, _, words: progress(found + done, asked, words))
            results, interrupted = cluster.play_files(mix, missing, note)
        else:
            results, interrupted = _play_here(mix, missing, before, asked, progress)
    for number in sorted(results):
        mix.count(*ends[number], results[number])
    done = [str(files[number]) for number in sorted([*existing, *results])]
    return mix.summary(done, len(existing), interrupted, asked)


def simulate_here(
    game: Game,
    pool: Mapping[str, float],
    games: int,
    *,
    seed: int = 0,
    variant: str | None = None,
    seats: int | None = None,
    threads: int | None = None,
) -> list[RecordedGame]:
    """Play the same games into memory, for small simulations. Leaves endless games out.

    Raises KeyboardInterrupt at Ctrl-C.
    """
    mix = Mix(game, pool, positive("games", games), seed, variant, seats, threads)
    seeds, lineups = mix.seeds(0, games), mix.lineups(0, games)
    results = play(game, mix.agents, lineups, seeds, variant=mix.variant, threads=mix.threads, record=True)
    if results.interrupted:
        raise KeyboardInterrupt
    return [
        RecordedGame(
            i, int(seeds[i]), mix.variant, tuple(lineups[i].tolist()), tuple(results.scores[i].tolist()), moves
        )
        for i, moves in enumerate(results.moves)
        if moves is not None
    ]


def _play_here(
    mix: Mix, missing: Mapping[int, tuple[Path, int, int]], before: int, asked: int, progress: Progress | None
) -> tuple[dict[int, FileResults], bool]:
    """Play files on this machine, one after the other. Returns the results of each, and whether Ctrl-C came."""
    results: dict[int, FileResults] = {}
    try:
        for number, (file, first, end) in missing.items():
            played = _play_shard(mix, file, first, end, _played(progress, first - before, asked))
            if played.interrupted:
                return results, True
            results[number] = FileResults.of(played)
    except KeyboardInterrupt:
        return results, True
    return results, False


def _play_shard(mix: Mix, file: Path, first: int, end: int, progress: CountProgress | None) -> Results:
    """Play the games of one file, which gets its name when all of them have ended."""
    with mix.writer(file) as writer:
        try:
            results = mix.play(first, end, writer, progress)
        except BaseException:
            writer.discard()
            raise
        if results.interrupted:
            writer.discard()
    return results


def _played(progress: Progress | None, before: int, games: int) -> CountProgress | None:
    return None if progress is None else lambda done, _: progress(before + done, games, "simulating")
