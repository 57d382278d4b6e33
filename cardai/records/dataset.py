"""Datasets: the states of recorded games as encoded rows, each with a label.

    data = collect(["games/"], Recipe(moment="before_draw", balance="loser"))
    training, validation, test = split(data)
    rows, labels = data.take(training[:1024]), data.labels[training[:1024]]

Each state is one that a seat has just moved into, encoded as that seat sees it. Its label says how the game ended for
the seat. Games are replayed by compiled code on all processors, and the rows are kept packed in memory.
"""

import bisect
import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import BadArgument, CardaiError, short, whole
from cardai.game import Game, Segment, is_game
from cardai.game.compiled.doors import check_function, check_indices, check_kind, check_list
from cardai.playing.machine import thread_count
from cardai.playing.progress import Progress
from cardai.playing.table.complaints import Complaints
from cardai.records import record
from cardai.records.packed import Growing, Packed, PackedRows
from cardai.records.recipe import Recipe
from cardai.records.record import Header, Reader, RecordedGame, check_recorded
from cardai.records.replay import Chunk, Harvest, Replayer
from cardai.rules import JIT

_SUFFIXES = (".jsonl", ".jsonl.gz")
_CHUNK = 16384  # moves replayed in one go


@dataclass(frozen=True)
class Dataset:
    """N states of G games, in the order of play, the states of a game side by side.

    - `labels`: f4[N] in [0, 1].
    - `seeds`: u8[G], the seed of each game; `game_of`: i4[N], the place of each state's game in `seeds`.
    - `recipe` names its encoder, and `layout` is that encoder's.
    - `replayed`: the number of states before `per_game` and `balance` of the recipe left some out.
    - `agents`: in how many seats each spec sat.
    - `digest`: a hash of the games, the recipe and the seed.
    """

    game: str
    version: int
    variant: str
    seats: int
    layout: tuple[Segment, ...]
    recipe: Recipe
    seed: int
    packed: PackedRows
    labels: np.ndarray
    game_of: np.ndarray
    seeds: np.ndarray
    replayed: int
    agents: Mapping[str, int]
    files: tuple[str, ...]
    digest: str

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def width(self) -> int:
        """The number of values in a row."""
        return self.packed.width

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The rows of the states at the indices i8[m]: u8[m, width]. Raises CardaiError for indices out of range."""
        return self.packed.take(check_indices("indices", indices, len(self)))

    def parts(self, size: int = 1 << 15) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The states in parts of at most `size`: their places i8[m], and their rows u8[m, width]."""
        for first in range(0, len(self), size):
            places = np.arange(first, min(first + size, len(self)))
            yield places, self.take(places)

    def about(self) -> dict[str, Any]:
        """A description in plain JSON types, for a model's metadata."""
        description = {name: getattr(self, name) for name in ("game", "version", "variant", "seats", "seed", "digest")}
        description |= {"recipe": asdict(self.recipe), "agents": dict(self.agents), "files": len(self.files)}
        if self.recipe.teacher:
            description["labels"] = "natural"  # its judge was shifted to natural play (`WorldSearch`)
        return description | {"games": len(self.seeds), "states": len(self), "replayed": self.replayed}


def collect(
    paths: Sequence[str | Path],
    recipe: Recipe,
    *,
    game: Game | str | None = None,
    seed: int = 0,
    threads: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Make a dataset of record files. A folder stands for all record files in it.

    - `game`: the game, or the path of its folder, if it cannot be loaded by the name in the files.
    - `seed` decides what the recipe draws. The states drawn from a game do not depend on the other games.
    - `limit`: take only the first `limit` states; None or 0 takes all.

    Raises CardaiError, which names the file, if the files differ in game, version, variant or number of seats, if a
    file is damaged, if the same game is in two places (a copied folder), or if a game does not replay to its scores;
    also if the recipe leaves no state.
    """
    _check(recipe, seed, threads, limit)
    check_function("progress", progress)
    if game is not None:
        check_kind("game", game, (Game, str), "a Game or a path")
    files = record_files(paths)
    readers = [record.read(file) for file in files]
    first = readers[0]
    for other in readers[1:]:
        _refuse_different(first, other)
    return _collected(
        first.load(game), first.header, _chunks_of(readers), recipe, seed, threads, limit, progress, files
    )


def collect_games(
    game: Game,
    games: Iterable[RecordedGame],
    recipe: Recipe,
    *,
    seed: int = 0,
    threads: int | None = None,
    limit: int | None = None,
) -> Dataset:
    """Make a dataset, as `collect` does, of games in memory, all of one variant and number of seats."""
    _check(recipe, seed, threads, limit)
    is_game(game)
    if not isinstance(games, Iterable) or isinstance(games, (str, bytes)):
        raise BadArgument(f"games must be recorded games, not {short(games)}")
    games = iter(games)
    first = next(games, None)
    if first is None:
        raise BadArgument("there is no game to collect states from")
    check_recorded(game, first)
    header = Header.of(game, [""], first.variant, len(first.lineup))

    def checked() -> Iterator[RecordedGame]:
        yield first
        for recorded in games:
            check_recorded(game, recorded)
            if (recorded.variant, len(recorded.lineup)) != (header.variant, header.seats):
                raise CardaiError(
                    f"games of variant {recorded.variant} with {len(recorded.lineup)} seats and of variant"
                    f" {header.variant} with {header.seats} cannot be mixed"
                )
            yield recorded

    return _collected(game, header, map(_unnamed, _chunked(checked())), recipe, seed, threads, limit, None, ())


def _unnamed(games: list[RecordedGame]) -> Chunk:
    """A chunk of games in memory, whose agents have no names."""
    agents = 1 + max(place for recorded in games for place in recorded.lineup)
    return Chunk("", ("",) * agents, games, 0.0)


def record_files(paths: Sequence[str | Path]) -> list[Path]:
    """Returns the record files at the paths. A folder stands for the record files in it, in the order of their names.

    Raises CardaiError for a folder without a record file, for a file named twice, and for no path at all.
    """
    files: list[Path] = []
    for path in map(Path, check_list("paths", paths, (str, Path), "paths of record files")):
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if _is_record(file))
            if not inside:
                raise CardaiError(f"there is no record file ({' or '.join(_SUFFIXES)}) in {path}")
            files += inside
        else:
            files.append(path)
    if not files:
        raise BadArgument("no record file was named")
    known: dict[Path, Path] = {}
    for path in files:
        try:
            place = path.resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a link to itself, a name with a null byte
            raise CardaiError(f"cannot read {path}: {str(error)[:200]}") from None
        if known.setdefault(place, path) is not path:
            raise CardaiError(f"{path} is named twice: its games would count twice")
    return files


def _check(recipe: Recipe, seed: int, threads: int | None, limit: int | None) -> None:
    """Raise CardaiError for what no data set can be made with."""
    check_kind("recipe", recipe, Recipe, "a Recipe")
    whole("seed", seed)
    thread_count(threads)
    if limit is not None:
        whole("limit", limit, 0)


def _is_record(path: Path) -> bool:
    return path.name.endswith(_SUFFIXES) and not path.name.startswith(".") and path.is_file()


def _collected(
    game: Game,
    header: Header,
    chunks: Iterator[Chunk],
    recipe: Recipe,
    seed: int,
    threads: int | None,
    limit: int | None,
    progress: Progress | None,
    files: Sequence[Path],
) -> Dataset:
    names = {id(encoder): name for name, encoder in game.learning.encoders.items()}
    recipe = replace(recipe, encoder=names[id(game.encoder(recipe.encoder))])
    replayer = Replayer(game, header, recipe, seed)
    gathered = _Gathered(replayer.width, limit or 2**62)
    layout = tuple(game.encoder(recipe.encoder).layout(header.seats))
    digest = hashlib.blake2b(digest_size=16)
    table = [header.game, header.version, header.variant, header.options, header.seats]
    columns = [[segment.name, *segment.shape] for segment in layout]
    digest.update(json.dumps([*table, asdict(recipe), seed, limit or 0, columns]).encode())
    with Complaints(game):
        for harvest in _in_order(replayer, chunks, thread_count(threads) if JIT else 1):
            gathered.add(harvest, digest)
            if progress:
                progress(round(100 * harvest.chunk.share), 100, f"{len(gathered.rows):,} states")
            if gathered.is_full:
                break
    gathered.trim()
    _refuse_same_games(gathered)
    if not len(gathered.rows):
        where = f"in {', '.join(map(str, files[:3]))}{' and more' if len(files) > 3 else ''} " if files else ""
        raise CardaiError(f"there is no state {where}that the recipe asks for")
    return Dataset(
        game=game.name,
        version=game.version,
        variant=header.variant,
        seats=header.seats,
        layout=layout,
        recipe=recipe,
        seed=seed,
        packed=gathered.rows,
        labels=gathered.labels.filled(),
        game_of=gathered.game_of.filled(),
        seeds=gathered.seeds.filled(),
        replayed=gathered.replayed,
        agents=gathered.agents,
        files=tuple(map(str, files)),
        digest=digest.hexdigest(),
    )


class _Gathered:
    """The rows of all chunks so far, at most `limit` of them."""

    def __init__(self, width: int, limit: int) -> None:
        self.limit, self.replayed, self.agents = limit, 0, dict[str, int]()
        self.rows = PackedRows(width)
        self.labels, self.game_of, self.seeds = Growing(np.float32), Growing(np.int32), Growing(np.uint64)
        self.marks = Growing(np.uint64)  # a hash of each game
        self.files: list[tuple[int, Path]] = []  # the place of each file's first game, and the file

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= self.limit

    def add(self, harvest: Harvest, digest: Any) -> None:
        """Add the rows of a chunk as far as they fit, and their games to the digest."""
        chunk, fits = harvest.chunk, self.limit - len(self.rows)
        games = chunk.games
        if len(harvest.labels) > fits:
            games = games[: harvest.games[fits - 1] + 1]
        self.rows.append(Packed(harvest.rows.bits[:fits], harvest.rows.columns, harvest.rows.values[:fits]))
        self.labels.append(harvest.labels[:fits])
        self.game_of.append(self.seeds.length + harvest.games[:fits])
        self.seeds.append(np.array([recorded.seed % 2**64 for recorded in games], np.uint64))
        self.replayed += harvest.available
        if isinstance(chunk.path, Path):
            if not self.files or self.files[-1][1] != chunk.path:
                self.files.append((self.marks.length, chunk.path))
            self.marks.append(np.array([_mark(chunk.agents, recorded) for recorded in games], np.uint64))
        for recorded in games:
            digest.update(repr((recorded.seed, recorded.scores)).encode())
            digest.update(recorded.moves.tobytes())
            for place in recorded.lineup if chunk.path else ():
                self.agents[chunk.agents[place]] = self.agents.get(chunk.agents[place], 0) + 1

    def trim(self) -> None:
        for column in (self.rows, self.labels, self.game_of, self.seeds):
            column.trim()


def _in_order(work: Callable[[Chunk], Harvest], chunks: Iterator[Chunk], threads: int) -> Iterator[Harvest]:
    """Yield the harvests in the order of the chunks. Threads work a few chunks ahead."""
    waiting: deque[Future[Harvest]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for chunk in chunks:
            waiting.append(pool.submit(work, chunk))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _chunked(games: Iterable[RecordedGame]) -> Iterator[list[RecordedGame]]:
    """The games in parts of about `_CHUNK` moves."""
    part, moves = list[RecordedGame](), 0
    for recorded in games:
        part.append(recorded)
        moves += 1 + len(recorded.moves)
        if moves >= _CHUNK:
            yield part
            part, moves = [], 0
    if part:
        yield part


def _chunks_of(readers: Sequence[Reader]) -> Iterator[Chunk]:
    """The games of files in chunks."""
    sizes = [reader.path.stat().st_size for reader in readers]
    total, before = max(1, sum(sizes)), 0
    for reader, size in zip(readers, sizes, strict=True):
        for games in _chunked(reader):
            yield Chunk(reader.path, reader.header.agents, games, (before + size * reader.share) / total)
        before += size


def _mark(agents: Sequence[str], recorded: RecordedGame) -> int:
    """A hash of a game: its seed, who played it, and its moves."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(repr((recorded.seed, [agents[place] for place in recorded.lineup])).encode())
    digest.update(recorded.moves.tobytes())
    return int.from_bytes(digest.digest(), "little")


def _refuse_same_games(gathered: "_Gathered") -> None:
    """Raise CardaiError if a game is twice in the files that were read."""
    marks = gathered.marks.filled()
    order = np.argsort(marks, kind="stable")
    twice = np.flatnonzero(marks[order][1:] == marks[order][:-1])
    if not len(twice):
        return
    second_places = order[twice + 1]
    one, two = int(order[twice[np.argmin(second_places)]]), int(second_places.min())
    starts = [start for start, _ in gathered.files]
    first, second = (gathered.files[bisect.bisect_right(starts, place) - 1] for place in (one, two))
    raise CardaiError(
        f"{second[1]}, game {two - second[0]}: the game with the seed {gathered.seeds.filled()[two]} is also in"
        f" {first[1]}, game {one - first[0]}: {len(twice):,} games would count twice"
    )


def _refuse_different(first: Reader, other: Reader) -> None:
    """Raise CardaiError if two files' states cannot be in one dataset."""
    for name in ("game", "version", "variant", "options", "seats", "fields"):
        one, two = getattr(first.header, name), getattr(other.header, name)
        if one != two:
            raise CardaiError(f"{other.path} was recorded with {name} {two}, but {first.path} with {one}")
