"""Self-play simulations: the agent of each seat is drawn at random from a pool; games go into record files.

    pool = parse_pool(["bot3?randomised@3", "random@1"])
    simulate(game, pool, 10_000, out="games.jsonl.gz")
    simulate_shards(game, pool, 1_000_000, folder="games")  # goes on where it was stopped

Each game has its own deal, so that the states of a simulation differ as much as possible. Benchmarks never use these
deals. Only the pool and the seed decide the games; a longer simulation begins with the games of a shorter one.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardai.agents.spec import agent
from cardai.data.record import Header, RecordedGame, Writer, read
from cardai.errors import CardaiError, positive, short
from cardai.files.reading import read_json
from cardai.files.writing import held, write_whole
from cardai.game import Game, int_seed
from cardai.rule import STREAM, mixed, rule, uniform
from cardai.stats import interval
from cardai.stats.deals import deal_seeds
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.stats.machine import thread_count
from cardai.stats.progress import Progress
from cardai.table.many import Results, play

SHARD = 10_000  # games in each file of `simulate_shards`
PLAN = "simulation.json"
FORMAT = "cardai simulation 1"

_DEALS, _SEATS = 0xDEA15, 0x5EA75  # keep the draws of deals and line-ups apart from those of benchmarks and players


@dataclass(frozen=True)
class Share:
    """The results of one agent of a pool, over all seats it was drawn for. Estimates are in percent."""

    agent: str
    spec: str
    weight: float
    seats: int
    score: Estimate
    win: Estimate
    loss: Estimate


@dataclass(frozen=True)
class Summary:
    """The result of a simulation.

    - `asked`: the number of games asked for; `games`: those played and finished by this call; `states`: their moves.
    - `endless`: games stopped after the game's `max_plies` moves; they are in no file.
    - `files`: all files of the simulation. `found` of them existed before; no other figure here counts their games.
    """

    game: str
    version: int
    variant: str
    seats: int
    seed: int
    asked: int
    games: int
    states: int
    endless: int
    agents: tuple[Share, ...]
    files: tuple[str, ...]
    found: int
    seconds: float
    interrupted: bool

    def as_json(self) -> dict[str, Any]:
        """Returns the summary as plain JSON types, with estimates in percent."""
        return plain(asdict(self) | {"level": interval.LEVEL})


def parse_pool(texts: Sequence[str]) -> dict[str, float]:
    """Parse texts SPEC@WEIGHT into a pool, a dict of specs and weights. A spec without a weight has the weight 1.

    Raises CardaiError for a weight that is not a positive number, and for a spec named twice.
    """
    pool: dict[str, float] = {}
    for text in texts:
        spec, at, weight = text.rpartition("@")
        if not at:
            spec, weight = text, "1"
        try:
            number = float(weight)
        except ValueError:
            number = math.nan
        if not spec or not _is_weight(number):
            raise CardaiError(f"{text!r} is not an agent with a weight; write bot3@2, or bot3 for the weight 1")
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
    mix = _Mix(game, pool, positive("games", games), seed, variant, seats, threads)
    with mix.writer(Path(out), overwrite, planned=games) as writer:
        results = mix.play(0, games, writer, _played(progress, 0, games))
    mix.count(0, games, results)
    return mix.summary((str(out),) if mix.games else (), 0, results.interrupted)


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
    threads: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Play games into a folder of record files with `shard` games each. A file is written whole or not at all.

    If a simulation was stopped, the same call continues with the first missing file, and ends with the same files. A
    simulation that has ended can be continued with more games. The folder's `simulation.json` describes it. Raises
    CardaiError for a folder with another simulation or with other record files, for a damaged file in it, and for a
    folder into which another process is writing.
    """
    mix = _Mix(game, pool, positive("games", games), seed, variant, seats, threads)
    place, firsts = Path(folder), range(0, games, positive("shard", shard))
    files = [place / f"games-{first:09d}-{min(first + shard, games) - 1:09d}.jsonl.gz" for first in firsts]
    done, found, interrupted = [], 0, False
    with _held(place):
        _keep_plan(place, mix.plan(shard))
        _refuse_strangers(place, files, shard, games)
        try:
            for first, file in zip(firsts, files, strict=True):
                end = min(first + shard, games)
                if file.exists():
                    mix.check(file, first, end)
                    found += 1
                else:
                    results = _play_shard(mix, file, first, end, _played(progress, first, games))
                    if results.interrupted:
                        raise KeyboardInterrupt
                    mix.count(first, end, results)
                done.append(str(file))
        except KeyboardInterrupt:
            interrupted = True
    return mix.summary(done, found, interrupted)


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
    mix = _Mix(game, pool, positive("games", games), seed, variant, seats, threads)
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


@rule
def draw_lineups(seeds, key, bounds, lineups, stream):
    """Fill `lineups`, i8[G, seats], with indices into a pool of N agents.

    `bounds`: f8[N], the cumulative shares of the weights; the last is 1. A game's line-up depends only on its seed, the
    key u8[1] and the pool.
    """
    for game in range(len(seeds)):
        stream.rng = mixed(np.uint64(seeds[game]) ^ np.uint64(key[0]))
        for seat in range(lineups.shape[1]):
            drawn, place = uniform(stream), 0
            while drawn >= bounds[place]:
                place += 1
            lineups[game, seat] = place


class _Mix:
    """A simulation: its game, its pool, and the seeds and line-ups of its games. It counts results."""

    def __init__(
        self,
        game: Game,
        pool: Mapping[str, float],
        games: int,
        seed: int,
        variant: str | None,
        seats: int | None,
        threads: int | None,
    ) -> None:
        if not pool:
            raise CardaiError("the pool is empty: name an agent")
        for spec, weight in pool.items():
            if not _is_weight(weight):
                raise CardaiError(f"the weight of {spec!r} in the pool must be a number above 0, not {weight}")
        self.game, self.asked, self.seed = game, games, seed
        self.seats = game.default_seats if seats is None else seats
        self.variant = game.default_variant if variant is None else variant
        game.options(self.seats, self.variant)
        self.pool = dict(pool)
        self.agents = [agent(game, spec) for spec in pool]
        for member in self.agents:
            member.check_fits(game, self.variant, self.seats)
        self.threads = thread_count(threads)
        self._seeds = deal_seeds(int(mixed(int_seed(seed ^ _DEALS))), games)
        self._key = np.array([mixed(int_seed(seed ^ _SEATS))], np.uint64)
        self._bounds = np.cumsum(list(pool.values())) / sum(pool.values())
        self._bounds[-1] = 1.0
        self.games, self.states, self.endless, self.seconds = 0, 0, 0, 0.0
        self._seated, self._scores = [np.zeros((0, self.seats), np.int16)], [np.zeros((0, self.seats), np.float32)]

    def seeds(self, first: int, end: int) -> np.ndarray:
        return self._seeds[first:end]

    def lineups(self, first: int, end: int) -> np.ndarray:
        drawn, stream = np.zeros((end - first, self.seats), np.int64), np.zeros(1, STREAM)
        draw_lineups(self.seeds(first, end), self._key, self._bounds, drawn, stream[0])
        return drawn

    def writer(self, path: Path, overwrite: bool = False, planned: int | None = None) -> Writer:
        specs = list(self.pool)
        return Writer(path, self.game, specs, self.variant, self.seats, overwrite=overwrite, planned=planned)

    def play(self, first: int, end: int, writer: Writer, progress: Callable[[int, int], None] | None) -> Results:
        """Play the games first..end-1 into a file."""
        seeds, lineups = self.seeds(first, end), self.lineups(first, end)
        return play(
            self.game,
            self.agents,
            lineups,
            seeds,
            variant=self.variant,
            threads=self.threads,
            progress=progress,
            on_game=writer.in_order(lineups, seeds),
        )

    def count(self, first: int, end: int, results: Results) -> None:
        """Add the results of the games first..end-1, which have been played."""
        done = results.finished
        self.games += int(done.sum())
        self.states += int(results.plies[done].sum())
        self.endless += int(results.endless.sum())
        self.seconds += results.seconds
        self._seated.append(self.lineups(first, end)[done].astype(np.int16))
        self._scores.append(results.scores[done].astype(np.float32))

    def check(self, file: Path, first: int, end: int) -> None:
        """Raise CardaiError unless an existing file seems to hold the games first..end-1 of this simulation."""
        reader = read(file)
        if reader.header != Header.of(self.game, list(self.pool), self.variant, self.seats):
            raise CardaiError(f"{file} holds games of another simulation than {PLAN} in the same folder describes")
        recorded = next(iter(reader), None)
        if recorded is not None and recorded.seed not in self.seeds(first, end):
            raise CardaiError(f"{file} does not hold games {first:,} to {end - 1:,} of the simulation; move it away")

    def plan(self, shard: int) -> dict[str, Any]:
        header = Header.of(self.game, (), self.variant, self.seats)
        table = {name: getattr(header, name) for name in ("game", "version", "variant", "options", "seats")}
        return {"format": FORMAT, **table, "pool": self.pool, "seed": self.seed, "shard": shard}

    def summary(self, files: Sequence[str], found: int, interrupted: bool) -> Summary:
        return Summary(
            game=self.game.name,
            version=self.game.version,
            variant=self.variant,
            seats=self.seats,
            seed=self.seed,
            asked=self.asked,
            games=self.games,
            states=self.states,
            endless=self.endless,
            agents=self._shares(),
            files=tuple(files),
            found=found,
            seconds=self.seconds,
            interrupted=interrupted,
        )

    def _shares(self) -> tuple[Share, ...]:
        seated, scores = np.concatenate(self._seated), np.concatenate(self._scores)
        shares = []
        for place, (member, weight) in enumerate(zip(self.agents, self.pool.values(), strict=True)):
            sat = seated == place
            played = sat.any(axis=1)
            own = np.where(sat, scores, np.nan)[played].astype(float)
            ends = own, np.where(np.isnan(own), np.nan, own == 1.0), np.where(np.isnan(own), np.nan, own == 0.0)
            figures = (_estimate(outcomes).scaled(100) for outcomes in ends)
            shares.append(Share(member.label, member.spec, weight, int(sat.sum()), *figures))
        return tuple(shares)


def _estimate(outcomes: np.ndarray) -> Estimate:
    """Returns the mean of outcomes f8[G, seats], with its interval. Seats of other agents are NaN. A game is a cluster.

    If all outcomes are 0 or 1, it is Wilson's interval. Otherwise it is a normal one: there are enough games for it,
    and too many for a bootstrap.
    """
    values = outcomes[np.isfinite(outcomes)]
    if ((values == 0) | (values == 1)).all():
        return interval.proportion(outcomes)
    sums, sizes = np.nansum(outcomes, axis=1), np.isfinite(outcomes).sum(axis=1)
    games, point = len(sums), float(values.mean())
    if games < 2:
        return Estimate(point, math.nan, math.nan, len(values), games)
    spread = math.sqrt(games / (games - 1) * float(((sums - point * sizes) ** 2).sum())) / len(values)
    half = interval.NormalDist().inv_cdf(0.5 + interval.LEVEL / 2) * spread
    return Estimate(point, max(point - half, 0.0), min(point + half, 1.0), len(values), games)


def _play_shard(mix: _Mix, file: Path, first: int, end: int, progress: Callable[[int, int], None] | None) -> Results:
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


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Make the folder and hold it for this process."""
    with ExitStack() as held_folder:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held_folder.enter_context(held(folder, f"another process is writing games into {folder}"))
        except (OSError, ValueError) as error:  # ValueError: a name with a null byte
            raise CardaiError(f"cannot write {folder}: {getattr(error, 'strerror', None) or error}") from None
        yield


def _keep_plan(folder: Path, plan: dict[str, Any]) -> None:
    """Write the description of a simulation into its folder. Raises CardaiError if the folder has another one."""
    file = folder / PLAN
    if file.exists():
        _refuse_other(file, read_json(file), plan)
        return
    try:
        write_whole(file, f"{json.dumps(plan, indent=2, ensure_ascii=False)}\n".encode())
    except OSError as error:
        raise CardaiError(f"cannot write {error.filename or file}: {error.strerror or error}") from None


def _refuse_other(file: Path, written: Any, plan: dict[str, Any]) -> None:
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise CardaiError(f"{file} is damaged: its format is not {FORMAT!r}")
    for name, wanted in plan.items():
        existing = written.get(name)
        if existing != wanted or (isinstance(existing, dict) and list(existing) != list(wanted)):  # order decides draws
            raise CardaiError(
                f"{file.parent} holds a simulation with {name} {_in_words(existing)}, not {_in_words(wanted)}"
            )


def _refuse_strangers(folder: Path, files: Sequence[Path], shard: int, games: int) -> None:
    for file in sorted(folder.glob("[!.]*.jsonl*")):
        if file not in files and file.suffix != ".part":
            raise CardaiError(f"{file} does not belong to a simulation of {games:,} games in files of {shard:,}")


def _in_words(value: Any) -> str:
    if isinstance(value, dict) and all(type(number) in (int, float) for number in value.values()):
        return ", ".join(f"{name}@{number:g}" for name, number in value.items()) or "none"
    return value if isinstance(value, str) else short(value)


def _is_weight(number: float) -> bool:
    return math.isfinite(number) and number > 0


def _played(progress: Progress | None, before: int, games: int) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, _: progress(before + done, games, "simulating")
