"""Record files become rows and labels: games are replayed, and the states that a recipe asks for are encoded.

    data = collect(["games/"], Recipe(moment="before_draw", balance="loser"))
    training, validation, test = split(data)
    rows, labels = data.take(training[:1024]), data.labels[training[:1024]]

A state is one that a seat has just moved into, seen by that seat; its label is how the game ended for the seat. Replay
is compiled and runs on all processors; rows are held packed, a bit for each value that is never above 1.
"""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardai.agents.evaluator import MOMENTS
from cardai.agents.spec import explores_until
from cardai.data import record
from cardai.data.record import Header, Reader, RecordedGame
from cardai.errors import CardaiError, unknown
from cardai.game import Game, Phase, Segment, int_seed
from cardai.kernel.driver import ACT, DEAL, SCORE, SETTLE, exploring_plies, goes_on, is_among, legal_moves, lend
from cardai.kernel.native import (
    at,
    begin_ply,
    below_of,
    call_act,
    call_deal,
    call_encode,
    call_score,
    call_settle,
    clear_row,
    copy,
    get,
    get_float,
    seed_state,
    seed_stream,
    set,
    turn_of,
)
from cardai.rule import JIT, STREAM, mixed, rule
from cardai.stats.machine import thread_count
from cardai.table.complaints import Complaints

STATES = ("all", "choices")
BALANCES = ("natural", "loser")
LABELS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "score": lambda scores: scores,
    "win": lambda scores: scores == 1.0,
    "not_lost": lambda scores: scores > 0.0,
}

_SUFFIXES = (".jsonl", ".jsonl.gz")
_CHUNK = 16384  # moves replayed in one go
_LUCK, _PARTS = 0x5E1EC7ED, 0x5B117  # tell the streams of these draws from those that a game's seed gives the players

Progress = Callable[[int, int, str], None]
"""Called with (percent read, 100, what is being done) after each few thousand states."""


@dataclass(frozen=True)
class Recipe:
    """Which states become rows, and their labels. Raises CardaiError for what there is not.

    `encoder`: one of the game's, None for its first. `moment`: "before_draw", a player's decision made and chance not
    yet; "drawn", once that is settled too, without states in the middle of a decision and ended games, whose worth is
    known. `states`: "all", or "choices" for those after a move that had an alternative. `per_game`: at most so many of
    each game, drawn evenly; 0 is all. `balance`: "natural", or "loser" for all states of the seats with a game's lowest
    score and as many, at most, drawn evenly from the other seats'. `label`: "score", the seat's score at the end in
    [0, 1]; "win", 1 if it is 1; "not_lost", 1 unless it is 0. `agents`: only states of seats whose agent's spec begins
    with one of these, so that what is learned is how it goes on when they play on; none is all. `steady`: of a seat
    that explores up to some ply (`until` in its spec) only the states from its last exploring move on, so that what is
    learned is how good a move is, any move, when it is followed by serious ones.
    """

    encoder: str | None = None
    moment: str = "before_draw"
    states: str = "all"
    per_game: int = 0
    balance: str = "natural"
    label: str = "score"
    agents: tuple[str, ...] = ()
    steady: bool = False

    def __post_init__(self) -> None:
        choices = {"moment": MOMENTS, "states": STATES, "balance": BALANCES, "label": LABELS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise CardaiError(f"recipe: {unknown(name, getattr(self, name), known)}")
        if self.per_game < 0:
            raise CardaiError(f"recipe: per_game must be at least 0, not {self.per_game}")


class PackedRows:
    """Rows u8[n, width] in little memory: a bit for each value, and a byte besides in columns with values above 1."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.columns = np.zeros(0, np.int64)
        self._bits = _Growing(np.uint8, -(-width // 8))
        self._values = _Growing(np.uint8, 0)

    def __len__(self) -> int:
        return self._bits.length

    @property
    def nbytes(self) -> int:
        """The memory the rows take."""
        return self._bits.array.nbytes + self._values.array.nbytes

    def append(self, rows: "_Packed") -> None:
        """Add rows that `_pack` has packed; a column that has a value above 1 for the first time gets its bytes."""
        if not np.isin(rows.columns, self.columns).all():
            columns = np.union1d(self.columns, rows.columns)
            values = _Growing(np.uint8, len(columns))
            values.append(_columns(_Packed(self._bits.filled(), self.columns, self._values.filled()), columns))
            self.columns, self._values = columns, values
        self._bits.append(rows.bits)
        self._values.append(_columns(rows, self.columns))

    def trim(self) -> None:
        """Give back the memory that was kept for more rows."""
        self._bits.trim()
        self._values.trim()

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The rows at i8[m], u8[m, width]."""
        rows = np.unpackbits(np.take(self._bits.filled(), indices, axis=0), axis=1, count=self.width)
        if len(self.columns):
            rows[:, self.columns] = np.take(self._values.filled(), indices, axis=0)
        return rows


@dataclass(frozen=True)
class Dataset:
    """N states of G games. `labels`: f4[N] in [0, 1]; `game_of`: i4[N], each state's place in `seeds`: u8[G].

    States of a game lie together, in the order of play. `recipe` names its encoder. `replayed`: the states there were
    to choose from. `agents`: in how many seats each spec sat. `digest`: a hash of the games, the recipe and the seed.
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
        """The rows of some states, i8[m]: u8[m, width]."""
        return self.packed.take(indices)

    def about(self) -> dict[str, Any]:
        """What this is, as plain JSON types, for a model's metadata."""
        told = {name: getattr(self, name) for name in ("game", "version", "variant", "seats", "seed", "digest")}
        told |= {"recipe": asdict(self.recipe), "agents": dict(self.agents), "files": len(self.files)}
        return told | {"games": len(self.seeds), "states": len(self), "replayed": self.replayed}


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
    """The states of record files, and of all record files in folders.

    `game`: a game, or the path of one, if the files' game is not known by its name. `seed` decides which states are
    drawn where the recipe draws; a game's do not depend on the other games. `limit`: the first so many states; None or
    0 is all. Raises CardaiError, which names the file, for files that are not all of one game, version, variant and
    number of seats, for a file that is damaged or does not replay to its scores, and when there is no state.
    """
    files = record_files(paths)
    readers = [record.read(file) for file in files]
    first = readers[0]
    for other in readers[1:]:
        _refuse_different(first, other)
    if isinstance(game, Game):
        _refuse_game(first, game)
        played = game
    else:
        played = first.load(game)
    return _collected(_Source(played, readers[0].header), _read(readers), recipe, seed, threads, limit, progress, files)


def collect_games(
    game: Game,
    games: Iterable[RecordedGame],
    recipe: Recipe,
    *,
    seed: int = 0,
    threads: int | None = None,
    limit: int | None = None,
) -> Dataset:
    """The states of games in memory, all of one variant and number of seats; otherwise as `collect`."""
    games = iter(games)
    first = next(games, None)
    if first is None:
        raise CardaiError("there is no game to collect states from")
    header = Header.of(game, [""] * (1 + max(first.lineup)), first.variant, len(first.lineup))
    source = _Source(game, header)

    def chunks() -> Iterator[_Chunk]:
        chunk, moves = [first], len(first.moves)
        for one in games:
            if (one.variant, len(one.lineup)) != (header.variant, header.seats):
                raise CardaiError(
                    f"games of variant {one.variant} with {len(one.lineup)} seats and of variant {header.variant} with"
                    f" {header.seats} cannot be mixed"
                )
            chunk.append(one)
            moves += len(one.moves)
            if moves >= _CHUNK:
                yield _Chunk("", header.agents, chunk, 0.0)
                chunk, moves = [], 0
        if chunk:
            yield _Chunk("", header.agents, chunk, 1.0)

    return _collected(source, chunks(), recipe, seed, threads, limit, None, ())


def record_files(paths: Sequence[str | Path]) -> list[Path]:
    """The record files that paths name, folders replaced by the files in them, in order of their names.

    Raises CardaiError for a folder without any, for a file named twice, and when there is no path.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if _is_record(one))
            if not inside:
                raise CardaiError(f"there is no record file ({' or '.join(_SUFFIXES)}) in {path}")
            found += inside
        else:
            found.append(path)
    if not found:
        raise CardaiError("no record file was named")
    known: dict[Path, Path] = {}
    for path in found:
        if known.setdefault(path.resolve(), path) is not path:
            raise CardaiError(f"{path} is named twice: its games would count twice")
    return found


def _is_record(path: Path) -> bool:
    return path.name.endswith(_SUFFIXES) and not path.name.startswith(".") and path.is_file()


def split(
    data: Dataset, by: str = "game", parts: Sequence[float] = (0.92, 0.06, 0.02), seed: int = 0
) -> tuple[np.ndarray, ...]:
    """Divide the states into parts, i4 or i8[m] each: the shares expected of them: training, validation, test.

    By "game" a game's seed decides, so that all its states are in one part and stay there when games are added. By
    "state" each state is drawn for itself: states of a game are in several parts, which flatters the figures of the
    latter; it is here to show by how much. Raises CardaiError for other words and for shares that are not.
    """
    if by not in ("game", "state"):
        raise CardaiError(f"split: {unknown('way to split by', by, ('game', 'state'))}")
    if not parts or any(not 0 <= one <= 1 for one in parts) or abs(sum(parts) - 1) > 1e-9:
        raise CardaiError(f"split: the parts {', '.join(f'{one:g}' for one in parts)} are no shares that sum to 1")
    drawn = data.seeds if by == "game" else np.arange(len(data), dtype=np.uint64)
    places = np.zeros(len(drawn))
    scatter(drawn, np.array([mixed(int_seed(seed ^ _PARTS))], np.uint64), places)
    bounds = np.cumsum(parts)[:-1]
    part = np.searchsorted(bounds, places, side="right").astype(np.int8)
    if by == "game":
        part = part[data.game_of]
    kind = np.int32 if len(data) < 2**31 else np.int64
    return tuple(np.flatnonzero(part == one).astype(kind) for one in range(len(parts)))


def phases_in(game: Game, layout: Sequence[Segment]) -> dict[str, Phase]:
    """The game's phases that rows of this layout can be told apart by."""
    names = [segment.name for segment in layout]
    return {name: phase for name, phase in game.phases.items() if phase.segment in names}


def phase_of(phase: Phase, layout: Sequence[Segment], rows: np.ndarray) -> np.ndarray:
    """The phase each row u8[n, width] is in, i8[n]; `phase.name` says what a number means.

    Raises CardaiError when the layout lacks the phase's segment.
    """
    first = 0
    for segment in layout:
        if segment.name == phase.segment:
            sums = rows[:, first : first + segment.size].sum(axis=1, dtype=np.int64)
            return np.searchsorted(np.array(phase.cuts), sums) if phase.cuts else sums
        first += segment.size
    raise CardaiError(unknown("segment", phase.segment, [segment.name for segment in layout]))


class Order(NamedTuple):
    """A recipe as compiled code takes it."""

    seats: int
    drawn: bool
    choices: bool
    balanced: bool
    steady: bool
    per_game: int  # at least 1


class Job(NamedTuple):
    """G games to be replayed, P plies in all, L in the longest; and their chosen states, R of them, R <= P."""

    total: int
    luck: Any  # u8[1]: what is mixed into the seeds of the draws
    seeds: Any  # u8[G]
    ends: Any  # i64[G]: where the moves of game g end
    moves: Any  # MOVE[P]
    scores: Any  # f8[G, seats]
    wanted: Any  # i64[G]: the set of seats whose states are wanted
    untils: Any  # i64[G, seats]: `until` of each seat's player, -1 without
    limits: Any  # i64[seats]: the ply from which on each seat no longer explores
    latest: Any  # i64[seats]: the state each seat moved into last if it was exploring, else -1
    blank: Any  # STATE[1]: seats and options
    states: Any  # STATE[L + 1]: the one being played, then those that may be chosen
    movers: Any  # i64[L]: the seat that moved into each of these; -1 for one that is not kept after all
    marks: Any  # i64[L]: which of them are chosen
    buffer: Any  # MOVE[max_moves]
    streams: Any  # STREAM[1]
    found: Any  # i64[1]: states there were to choose from
    rows: Any  # u8[P, width]
    row_game: Any  # i64[P]
    row_seat: Any  # i64[P]


@rule
def replay_states(rules, order, job, game, first, end):
    """Play moves first..end-1 and keep the states a recipe speaks of; how many, -1 if the record is not sound."""
    state, kept = at(job.states, 0), 0
    copy(state, at(job.blank, 0), rules.state_size)
    seed_state(state, mixed(get(job.seeds, game)))
    call_deal(get(rules.calls, DEAL), state)
    for seat in range(order.seats):
        until = get(job.untils, game * order.seats + seat)
        set(job.limits, seat, exploring_plies(until, get(job.seeds, game)) if until >= 0 else 0)
        set(job.latest, seat, -1)
    for i in range(first, end):
        seat, move, after = turn_of(state), at(job.moves, i), at(job.states, 1 + kept)
        if seat < 0 or not is_among(rules, state, move, job.buffer, 0):
            return -1
        wanted = (get(job.wanted, game) >> seat) & 1 != 0
        explores = order.steady and i - first < get(job.limits, seat)
        if explores and get(job.latest, seat) >= 0:
            set(job.movers, get(job.latest, seat), -1)
            set(job.latest, seat, -1)
        if order.choices:
            wanted = wanted and abs(legal_moves(rules, state, job.buffer, 0)) > 1
        begin_ply(state)
        call_act(get(rules.calls, ACT), state, move)
        if wanted and not order.drawn:
            copy(after, state, rules.state_size)
        call_settle(get(rules.calls, SETTLE), state)
        if order.drawn:
            wanted = wanted and turn_of(state) >= 0 and not goes_on(state, seat)
            if wanted:
                copy(after, state, rules.state_size)
        if wanted:
            set(job.movers, kept, seat)
            set(job.latest, seat, kept if explores else -1)
            kept += 1
    if turn_of(state) >= 0:
        return -1
    for seat in range(order.seats):
        if call_score(get(rules.calls, SCORE), state, seat) != get_float(job.scores, game * order.seats + seat):
            return -1
    return kept


@rule
def thin(marks, count, mark, marked, most, stream):
    """Of `marked` places among `count` that have this mark, leave at most `most`, drawn evenly, with the mark 1."""
    wanted = min(most, marked)
    for i in range(count):
        if get(marks, i) == mark:
            is_taken = below_of(stream, marked) < wanted
            set(marks, i, 1 if is_taken else 0)
            wanted -= is_taken
            marked -= 1


@rule
def mark_chosen(order, job, game, kept):
    """Mark which of a game's states become rows."""
    stream, lowest, lost = at(job.streams, 0), 1.0, 0
    seed_stream(stream, mixed(np.uint64(get(job.seeds, game)) ^ np.uint64(get(job.luck, 0))))
    for seat in range(order.seats):
        lowest = min(lowest, get_float(job.scores, game * order.seats + seat))
    others = 0
    for i in range(kept):
        set(job.marks, i, 0)
        if get(job.movers, i) >= 0:
            is_lost = get_float(job.scores, game * order.seats + get(job.movers, i)) == lowest
            set(job.marks, i, 1 if is_lost or not order.balanced else 2)
            lost += is_lost
            others += not is_lost
    set(job.found, 0, get(job.found, 0) + lost + others)
    if order.balanced:
        thin(job.marks, kept, 2, others, lost, stream)
    chosen = 0
    for i in range(kept):
        chosen += get(job.marks, i)
    thin(job.marks, kept, 1, chosen, order.per_game, stream)


@rule
def harvest(rules, encode, order, job):
    """Replay all games of a job and encode the chosen states; how many rows, or -1 - g if game g is not sound."""
    first, rows = 0, 0
    for game in range(job.total):
        end = get(job.ends, game)
        kept = replay_states(rules, order, job, game, first, end)
        if kept < 0:
            return -1 - game
        mark_chosen(order, job, game, kept)
        for i in range(kept):
            if get(job.marks, i) == 1:
                seat = get(job.movers, i)
                clear_row(job.rows, rows)
                call_encode(encode, at(job.states, 1 + i), seat, job.rows, rows)
                set(job.row_game, rows, game)
                set(job.row_seat, rows, seat)
                rows += 1
        first = end
    return rows


@rule
def scatter(numbers, key, places):
    """A place in [0, 1) for each number, u8[n], as good as drawn: the same for the same number and key, u8[1]."""
    for i in range(len(numbers)):
        places[i] = np.int64(mixed(np.uint64(numbers[i]) ^ np.uint64(key[0])) >> np.uint64(11)) / 9007199254740992.0


class _Source(NamedTuple):
    game: Game
    header: Header


class _Chunk(NamedTuple):
    """Games replayed in one go, from one file; how much has been read once they are."""

    path: Path | str
    agents: tuple[str, ...]
    games: list[RecordedGame]
    share: float


class _Packed(NamedTuple):
    """Rows with a bit a value, u8[n, bytes], and the values, u8[n, c], of `columns`: i8[c]."""

    bits: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class _Harvest(NamedTuple):
    chunk: _Chunk
    rows: _Packed
    labels: np.ndarray  # f4[R]
    games: np.ndarray  # i8[R]: places in the chunk
    found: int


class _Replayer:
    """Replays chunks of games by a recipe; threads may share it."""

    def __init__(self, source: _Source, recipe: Recipe, seed: int) -> None:
        self.game, self.recipe, self.seats = source.game, recipe, source.header.seats
        encoder = self.game.encoder(recipe.encoder)
        self.width = encoder.width(self.seats)
        self.encode = self.game.entry("encode", encoder.encode)
        self.rules = self.game.rules
        self.blank = self.game.options(self.seats, source.header.variant)
        self.luck = np.array([mixed(int_seed(seed ^ _LUCK))], np.uint64)
        everything = 2**62
        self.order = Order(
            self.seats,
            recipe.moment == "drawn",
            recipe.states == "choices",
            recipe.balance == "loser",
            recipe.steady,
            recipe.per_game or everything,
        )

    def __call__(self, chunk: _Chunk) -> _Harvest:
        game, games = self.game, chunk.games
        lengths = [len(one.moves) for one in games]
        plies, longest = sum(lengths), max(lengths)
        scores = np.array([one.scores for one in games])
        job = Job(
            len(games),
            self.luck,
            np.array([one.seed % 2**64 for one in games], np.uint64),
            np.cumsum(lengths),
            np.concatenate([one.moves.view(np.int64) for one in games]).view(game.move),
            scores,
            np.array([self._wanted(chunk, one) for one in games], np.int64),
            self._untils(chunk),
            np.zeros(self.seats, np.int64),
            np.zeros(self.seats, np.int64),
            self.blank,
            np.zeros(longest + 2, game.state),
            np.zeros(longest + 1, np.int64),
            np.zeros(longest + 1, np.int64),
            np.zeros(game.max_moves, game.move),
            np.zeros(1, STREAM),
            np.zeros(1, np.int64),
            np.empty((plies + 1, self.width), np.uint8),
            np.empty(plies + 1, np.int64),
            np.empty(plies + 1, np.int64),
        )
        count = int(harvest(lend(self.rules), self.encode, self.order, lend(job)))
        if count < 0:
            raise _why_not(game, chunk, games[-1 - count])
        played = job.row_game[:count]
        labels = LABELS[self.recipe.label](scores[played, job.row_seat[:count]]).astype(np.float32)
        return _Harvest(chunk, _pack(job.rows[:count]), labels, played, int(job.found[0]))

    def _untils(self, chunk: _Chunk) -> np.ndarray:
        """Up to what each seat's player explores, i64[G, seats]; -1 throughout unless the recipe asks."""
        untils = np.array([explores_until(spec) if self.recipe.steady else -1 for spec in chunk.agents], np.int64)
        return untils[np.array([one.lineup for one in chunk.games])]

    def _wanted(self, chunk: _Chunk, game: RecordedGame) -> int:
        """The set of seats of a game whose states are wanted."""
        if not self.recipe.agents:
            return (1 << self.seats) - 1
        agents = [chunk.agents[place] for place in game.lineup]
        return sum(1 << seat for seat, spec in enumerate(agents) if spec.startswith(self.recipe.agents))


def _why_not(game: Game, chunk: _Chunk, recorded: RecordedGame) -> CardaiError:
    where = f"{chunk.path}, line {recorded.number + 2}: game" if chunk.path else "game"
    try:
        record.replay(game, recorded)
    except CardaiError as error:
        return CardaiError(f"{where} {recorded.number} (seed {recorded.seed}): {error}")
    raise AssertionError("a game was refused that replays")


def _collected(
    source: _Source,
    chunks: Iterator[_Chunk],
    recipe: Recipe,
    seed: int,
    threads: int | None,
    limit: int | None,
    progress: Progress | None,
    files: Sequence[Path],
) -> Dataset:
    if limit is not None and limit < 0:
        raise CardaiError(f"limit must be at least 0, not {limit}")
    game, header = source.game, source.header
    names = {id(encoder): name for name, encoder in game.encoders.items()}
    recipe = replace(recipe, encoder=names[id(game.encoder(recipe.encoder))])
    replayer = _Replayer(source, recipe, seed)
    gathered = _Gathered(replayer.width, limit or 2**62)
    digest = hashlib.blake2b(digest_size=16)
    layout = tuple(game.encoder(recipe.encoder).layout(header.seats))
    said = [header.game, header.version, header.variant, header.options, header.seats, asdict(recipe), seed, limit or 0]
    digest.update(json.dumps([*said, [[one.name, *one.shape] for one in layout]]).encode())
    with Complaints(game):
        for harvested in _in_order(replayer, chunks, thread_count(threads) if JIT else 1):
            gathered.add(harvested, digest)
            if progress:
                progress(round(100 * harvested.chunk.share), 100, f"{len(gathered.rows):,} states")
            if gathered.is_full:
                break
    gathered.trim()
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
    """What has been harvested so far, at most `limit` rows."""

    def __init__(self, width: int, limit: int) -> None:
        self.limit, self.replayed, self.agents = limit, 0, dict[str, int]()
        self.rows = PackedRows(width)
        self.labels, self.game_of, self.seeds = _Growing(np.float32), _Growing(np.int32), _Growing(np.uint64)

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= self.limit

    def add(self, harvested: _Harvest, digest: Any) -> None:
        chunk, fits = harvested.chunk, self.limit - len(self.rows)
        games = chunk.games
        if len(harvested.labels) > fits:
            games = games[: harvested.games[fits - 1] + 1]
        self.rows.append(_Packed(harvested.rows.bits[:fits], harvested.rows.columns, harvested.rows.values[:fits]))
        self.labels.append(harvested.labels[:fits])
        self.game_of.append(self.seeds.length + harvested.games[:fits])
        self.seeds.append(np.array([one.seed % 2**64 for one in games], np.uint64))
        self.replayed += harvested.found
        for one in games:
            digest.update(repr((one.seed, one.scores)).encode())
            digest.update(one.moves.tobytes())
            for place in one.lineup if chunk.path else ():
                self.agents[chunk.agents[place]] = self.agents.get(chunk.agents[place], 0) + 1

    def trim(self) -> None:
        for one in (self.rows, self.labels, self.game_of, self.seeds):
            one.trim()


def _in_order(work: Callable[[_Chunk], _Harvest], chunks: Iterator[_Chunk], threads: int) -> Iterator[_Harvest]:
    """The harvests in the order of the chunks, made by threads that are a little ahead."""
    waiting: deque[Future[_Harvest]] = deque()
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


def _read(readers: Sequence[Reader]) -> Iterator[_Chunk]:
    sizes = [reader.path.stat().st_size for reader in readers]
    total, before = max(1, sum(sizes)), 0
    for reader, size in zip(readers, sizes, strict=True):
        games: list[RecordedGame] = []
        plies = 0
        for one in reader:
            games.append(one)
            plies += len(one.moves)
            if plies >= _CHUNK:
                yield _Chunk(reader.path, reader.header.agents, games, (before + size * reader.share) / total)
                games, plies = [], 0
        before += size
        if games:
            yield _Chunk(reader.path, reader.header.agents, games, before / total)


_KEPT_ALIKE = ("game", "version", "variant", "options", "seats", "fields")


def _refuse_different(first: Reader, other: Reader) -> None:
    """Raise CardaiError if two files' states cannot lie in one dataset."""
    for name in _KEPT_ALIKE:
        one, two = getattr(first.header, name), getattr(other.header, name)
        if one != two:
            raise CardaiError(f"{other.path} was recorded with {name} {two}, but {first.path} with {one}")


def _refuse_game(reader: Reader, game: Game) -> None:
    """Raise CardaiError unless a file's games can be replayed on a game."""
    here = Header.of(game, (), reader.header.variant if reader.header.game == game.name else None, game.default_seats)
    for name in _KEPT_ALIKE:
        kept, now = getattr(reader.header, name), getattr(here, name)
        if name == "seats" and kept not in game.seats:
            raise CardaiError(f"{reader.path} was recorded with {kept} seats, which {game.name} is not for")
        if name != "seats" and kept != now:
            raise CardaiError(f"{reader.path} was recorded with {name} {kept}, but {game.name} here has {now}")


def _pack(rows: np.ndarray) -> _Packed:
    columns = np.flatnonzero(rows.max(axis=0, initial=0) > 1)
    return _Packed(np.packbits(rows, axis=1), columns, rows[:, columns])


def _columns(rows: _Packed, columns: np.ndarray) -> np.ndarray:
    """The values of some columns, u8[n, c], where only some of them may have more than their bits."""
    values = np.empty((len(rows.bits), len(columns)), np.uint8)
    for place, column in enumerate(columns.tolist()):
        held = np.searchsorted(rows.columns, column)
        if held < len(rows.columns) and rows.columns[held] == column:
            values[:, place] = rows.values[:, held]
        else:
            values[:, place] = rows.bits[:, column >> 3] >> (7 - (column & 7)) & 1
    return values


class _Growing:
    """An array that is added to at its end; it is lengthened in place, so that it is never held twice."""

    def __init__(self, dtype: Any, *width: int) -> None:
        self.array, self.length = np.empty((0, *width), dtype), 0

    def append(self, values: np.ndarray) -> None:
        end = self.length + len(values)
        if end > len(self.array):
            self.array.resize((end + end // 8, *self.array.shape[1:]), refcheck=False)
        self.array[self.length : end] = values
        self.length = end

    def trim(self) -> None:
        self.array.resize((self.length, *self.array.shape[1:]), refcheck=False)

    def filled(self) -> np.ndarray:
        return self.array[: self.length]
