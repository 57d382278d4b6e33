"""Record files: played games as JSON lines, which can be read, replayed and verified. A name in `.gz` compresses them.

- The first line says which game was played, and by which agents.
- Each line after it has a block of games: a column each of seeds, line-ups, scores and plies, and the moves. Replaying
  the moves gives the positions.
- The last line has a digest of all lines before it.
- Every line ends with a checksum of itself, so that `verify` can name the first line that was changed.

docs/records.md has an example, and says how moves become bytes.
"""

import contextlib
import gzip
import hashlib
import itertools
import json
import re
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeGuard

import numpy as np

from cardai.errors import BadArgument, CardaiError, IllegalMove, is_printable, short, unknown, whole
from cardai.files.kind import FIRST, foreign_kind
from cardai.files.reading import open_file, parse_json, parse_json_line
from cardai.files.writing import interrupts_held, remove_left_over, temporary
from cardai.game import Game, GameState, int_seed, is_game, move_dtype
from cardai.game.compiled.doors import (
    check_flag,
    check_function,
    check_indices,
    check_kind,
    check_list,
    check_number,
    check_path,
    check_records,
    check_seeds,
    check_text,
)
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.rules import lend
from cardai.playing.compiled.replay import BEFORE, NOTHING, Replay, replay_game
from cardai.playing.table.complaints import Complaints
from cardai.playing.table.ended import Sink
from cardai.records.lines import SUM, checksum, fields_of_moves, gzipped, packed_moves, signed, unpacked_moves
from cardai.registry import available, load

FORMAT = "cardai games 3"

_BEGIN = b'{"format":'
_SUM_LENGTH = len(SUM) + 16 + len(b'"}\n')
_NAME = re.compile(r"[\w-]{1,100}")
_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_BLOCK = 256  # games in a line, fewer if their moves could be too many
_MOST_AHEAD = 1 << 13  # how many games a thread may be ahead of the next game to be written
_MOST_HELD = 1 << 14  # the most games that wait for an earlier one
_MOST_MOVES = 1 << 25  # bytes of moves in a line, unpacked
_LONGEST_LINE = 1 << 26  # bytes; it has room for so many moves, however badly they are packed
_MOST_SEATS, _MOST_FIELDS = 62, 64
_NUMBERS = (int, float, np.integer, np.floating)


@dataclass(frozen=True)
class Header:
    """What the games of a file have in common.

    `agents`: the specs of the agents. `fields`: the fields of a move. `options`: the options of the variant.
    """

    game: str
    version: int
    variant: str
    options: dict[str, int]
    seats: int
    agents: tuple[str, ...]
    fields: tuple[str, ...]
    max_plies: int

    def load(self, rules: str | None = None) -> Game:
        """Load the game, by its name or from the path `rules`. Raises CardaiError if it cannot replay these games."""
        if rules is not None:
            check_text("rules", rules)
        if not rules and not _NAME.fullmatch(self.game):  # a file must not choose which code is run
            raise CardaiError(f"recorded with the game {short(self.game)}, which is not the name of a game")
        if not rules and self.game not in available():
            own = "(for a game of your own give its path: --rules, in Python rules= or game=)"
            raise CardaiError(f"{unknown('game', self.game, available())} {own}")
        game = load(rules or self.game)
        self.check(game)
        return game

    def check(self, game: Game) -> None:
        """Raise CardaiError unless games of this header can be played again on a game."""
        try:
            variant = game.canonical(self.variant)
        except CardaiError:  # the message compares it with the game's first one
            variant = game.default_variant
        here = Header.of(game, self.agents, variant, game.default_seats)
        for what in ("game", "version", "variant", "options", "fields"):
            recorded, now = getattr(self, what), getattr(here, what)
            if recorded != now:
                raise CardaiError(f"recorded with {what} {_words(recorded)}, but {game.name} here has {_words(now)}")
        if self.max_plies > game.max_plies:
            raise CardaiError(f"recorded with {self.max_plies} plies at most, but {game.name} has {game.max_plies}")
        if self.seats not in game.seats:
            raise CardaiError(f"recorded with {self.seats} seats, but {game.name} has {game.seats[0]}-{game.seats[-1]}")

    @classmethod
    def of(cls, game: Game, agents: Sequence[str], variant: str | None, seats: int) -> Self:
        """The header for games of a variant (None is the default one) with this number of seats."""
        is_game(game).options(whole("seats", seats), variant)
        chosen = game.canonical(variant)
        options = game.variant_options(chosen)
        names = tuple(game.move.names or ())
        specs = tuple(check_list("agents", agents, str, "specs of agents"))
        return cls(game.name, game.version, chosen, options, int(seats), specs, names, game.max_plies)


@dataclass(frozen=True)
class RecordedGame:
    """One game of a file.

    `lineup`: indices into the header's `agents`. `moves`: MOVE[plies]. `scores`: each seat's score in [0, 1].
    """

    number: int
    seed: int
    variant: str
    lineup: tuple[int, ...]
    scores: tuple[float, ...]
    moves: np.ndarray


_Ended = tuple[int, list[int], list[float], int, tuple[bytes, ...]]
"""A game to be written: seed, line-up, scores, number of plies, and the fields of its moves."""


class Writer:
    """Writes games to a file. The file gets its name when it is closed, so a file with this name is always finished.

        with Writer("games.jsonl.gz", game, ["bot3", "random"], None, seats=4) as writer:
            play(game, agents, lineups, seeds, on_game=writer.in_order(lineups, seeds))

    - Raises CardaiError at once if the folder cannot be written to, if the file exists (unless `overwrite`), or if a
      spec holds control characters.
    - `planned`: the number of games expected. If fewer are written, since the run was interrupted or some games were
      endless, the last line marks the file as incomplete.
    - If an exception leaves the `with` block, the games written so far are kept and the file is marked as incomplete.
    - An incomplete file without any game is deleted, and so is a file that cannot be written to its end, as on a full
      disk. This raises CardaiError.
    """

    def __init__(
        self,
        path: str | Path,
        game: Game,
        agents: Sequence[str],
        variant: str | None,
        seats: int,
        *,
        overwrite: bool = False,
        planned: int | None = None,
    ) -> None:
        self.path, self.games, self.planned = check_path("path", path), 0, planned
        self._overwrite, self._move = overwrite, is_game(game).move
        self._digest = hashlib.blake2b(digest_size=16)
        self._ended = deque[tuple[list[int], list[_Ended]]]()  # games that have ended, with their indices
        self._held: dict[int, _Ended] = {}  # games that wait for an earlier one
        self._block: list[_Ended] = []  # the games of the next line
        self.next_index = 0  # of the game to be written next
        self._failure = ""  # why the file cannot be written
        self._writes = threading.Lock()
        check_flag("overwrite", overwrite)
        if planned is not None:
            whole("planned", planned, 0)
        header = Header.of(game, agents, variant, seats)
        self._header = header
        for spec in header.agents:
            if not is_printable(spec):
                raise CardaiError(f"cannot record games of the agent {short(spec)}: its spec holds control characters")
        self._in_line = min(_BLOCK, _MOST_MOVES // (game.max_plies * game.move.itemsize))
        if not self._in_line:
            raise CardaiError(f"cannot record {game.name}: games of {game.max_plies} plies are too long for a file")
        self._raw: BinaryIO = self._open()
        try:
            self._packs = self.path.suffix == ".gz"
            self._write(_line({"format": FORMAT} | {item.name: getattr(header, item.name) for item in fields(header)}))
        except BaseException:
            self.discard()
            raise

    def add(self, seed: int, lineup: Sequence[int], moves: np.ndarray, scores: Sequence[float]) -> None:
        """Write one finished game. `moves`: MOVE[plies]. `lineup`: indices into the agents. `scores`: f8[seats].

        Raises CardaiError for anything else.
        """
        with interrupts_held():
            self._add([self._game_of(seed, lineup, moves, scores)])

    def in_order(self, lineups: np.ndarray, seeds: np.ndarray, first: int = 0) -> "InOrder":
        """Return an `on_game` for `table.play` that writes games in the order of `seeds`, in whatever order they end.

        `first`: how many games other calls have played before these.

        Endless games leave gaps: if too many games wait for an earlier one, they are written without it. Raises
        CardaiError unless `lineups` are indices into the agents, i64[G, seats], and `seeds` G whole numbers.
        """
        lineups = check_indices("lineups", lineups, len(self._header.agents), (None, self._header.seats))
        return InOrder(self, lineups, check_seeds(seeds, len(lineups)), whole("first", first, 0))

    def close(self, complete: bool = True) -> None:
        """Write the last line and give the file its name.

        The file is marked as complete if `complete` is True and no planned game is missing.
        """
        check_flag("complete", complete)
        if self._raw.closed:
            return
        with interrupts_held():
            self._write_waiting()
            self._add([self._held[index] for index in sorted(self._held)])
            self._held.clear()
            self._write_block(self._block)
            complete = complete and self.games >= (self.planned or 0)
            if not complete and not self.games:
                self._raw.close()
                self._unfinished.unlink()
                return
            self._write(_line({"games": self.games, "complete": complete, "digest": self._digest.hexdigest()}))
            try:
                self._keep()
            except OSError as error:
                raise self._failed(error) from None

    def discard(self) -> None:
        """Remove what was written. The file does not get its name."""
        if not self._raw.closed:
            with contextlib.suppress(OSError):  # what is still to be written need not be
                self._raw.close()
            self._unfinished.unlink(missing_ok=True)

    def _open(self) -> BinaryIO:
        """Open what is written to, until the file has its name."""
        _refuse_existing(self.path, self._overwrite)
        remove_left_over(self.path.parent, self.path.name)
        self._unfinished = self.path.with_name(temporary(self.path.name))
        try:
            return self._unfinished.open("xb")
        except (OSError, ValueError) as error:  # ValueError: a name with a null byte
            raise CardaiError(f"cannot write {self.path}: {getattr(error, 'strerror', None) or error}") from None

    def _keep(self) -> None:
        """Close what was written to, and give it the file's name."""
        self._raw.close()
        _refuse_existing(self.path, self._overwrite)
        self._unfinished.replace(self.path)

    def _write_ended(self, indices: list[int], games: list[_Ended]) -> None:
        """Write games that have ended, and those that waited for them. Threads may call it at once."""
        self._ended.append((indices, games))
        if self._writes.acquire(blocking=False):  # another thread that writes now leaves this to the next
            try:
                self._write_waiting()
            finally:
                self._writes.release()

    def _write_waiting(self) -> None:
        """Write the games whose predecessors are written."""
        while self._ended:
            self._held.update(zip(*self._ended.popleft(), strict=True))
        if len(self._held) > _MOST_HELD:
            self.next_index = min(self._held)
        following = []
        while self.next_index in self._held:
            following.append(self._held.pop(self.next_index))
            self.next_index += 1
        self._add(following)

    def _game_of(self, seed: int, lineup: Any, moves: np.ndarray, scores: Any) -> _Ended:
        """A game to be written. Raises CardaiError for what is no game of this file."""
        if getattr(moves, "dtype", None) != self._move or np.ndim(moves) != 1:
            raise BadArgument(f"moves are {short(getattr(moves, 'dtype', moves))}, the game's are {self._move}")
        head = self._header
        lineup = check_indices("lineup", lineup, len(head.agents), (head.seats,)).tolist()
        fields = fields_of_moves(moves[None], np.zeros(1, np.int64), np.array([len(moves)]))[0]
        return int(int_seed(seed)), lineup, check_scores(scores, head.seats), len(moves), fields

    def _add(self, games: list[_Ended]) -> None:
        """Add some games to the next line, and write each line that is full."""
        self._block += games
        while len(self._block) >= self._in_line:
            full, self._block = self._block[: self._in_line], self._block[self._in_line :]
            self._write_block(full)

    def _write_block(self, games: list[_Ended]) -> None:
        """Write a line of games, if there are any."""
        if not games:
            return
        *columns, moves = zip(*games, strict=True)
        content = {"number": self.games} | dict(zip(("seeds", "lineups", "scores", "plies"), columns, strict=True))
        self.games += len(games)
        self._write(_line(content | {"moves": packed_moves(moves)}))

    def _write(self, lines: bytes) -> None:
        if self._raw.closed:  # another thread met the failure
            raise CardaiError(f"cannot write {self.path}: {self._failure or 'it is closed'}")
        try:
            self._raw.write(gzipped(lines) if self._packs else lines)
        except OSError as error:
            raise self._failed(error) from None
        self._digest.update(lines)

    def _failed(self, error: OSError) -> CardaiError:
        """Remove what was written, since the rest cannot be. Returns the error to raise."""
        self._failure = error.strerror or str(error)
        self.discard()
        self._unfinished.unlink(missing_ok=True)
        return CardaiError(f"cannot write {self.path}: {self._failure}; the games were not kept")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(complete=kind is None)


class InOrder(Sink):
    """Writes the games of a run in the order of their seeds. `Writer.in_order` makes it; `table.play` takes it."""

    def __init__(self, writer: Writer, lineups: np.ndarray, seeds: np.ndarray, first: int) -> None:
        self._writer, self._lineups, self._seeds, self._first = writer, lineups, seeds, first

    def __call__(self, index: int, moves: np.ndarray, scores: np.ndarray) -> None:
        """Write one game."""
        game = self._writer._game_of(self._seeds[index], self._lineups[index], moves, scores)
        with interrupts_held():
            self._writer._write_ended([self._first + int(index)], [game])

    def take(
        self, games: np.ndarray, slots: np.ndarray, plies: np.ndarray, logs: np.ndarray, scores: np.ndarray
    ) -> bool:
        """Write a block of games, see `Sink`."""
        if not ((scores >= 0.0) & (scores <= 1.0)).all():
            check_scores(scores[~((scores >= 0.0) & (scores <= 1.0)).all(axis=1)][0], scores.shape[1])
        moves = fields_of_moves(logs, slots, plies)
        columns = self._seeds[games].tolist(), self._lineups[games].tolist(), scores.tolist(), plies.tolist(), moves
        numbers = self._first + games
        self._writer._write_ended(numbers.tolist(), list(zip(*columns, strict=True)))
        return int(numbers.min()) > self._writer.next_index + _MOST_AHEAD


class Reader:
    """Iterates over the games of a file, in order. Raises CardaiError for the first wrong line, with the reason.

    `header` can be read at once. `games` counts the games read, `complete` is known after the last one. `line`: the
    number of the line just read; `share`: how much of the file has been read, 0 to 1.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = check_path("path", path)
        self.line, self.games, self.complete, self.share = 0, 0, False, 0.0
        lines = self._lines()
        self.header = self._read_header(lines)
        lines.close()
        self._move = move_dtype(*self.header.fields)

    def load(self, rules: Game | str | None = None) -> Game:
        """Load the game, by its name or from the path `rules`; or take this one.

        Raises CardaiError if it is unknown, or cannot play these games again.
        """
        try:
            if not isinstance(rules, Game):
                return self.header.load(rules)
            self.header.check(rules)
            return rules
        except CardaiError as error:
            raise CardaiError(f"{self.path}, line 1: {error}") from None

    def game(self, number: int, progress: Callable[[float], None] | None = None) -> RecordedGame:
        """Game `number`, counted from 0. The whole file is read, so that one that was edited anywhere is refused.

        `progress` is called with the share done. Raises CardaiError, too, if the file does not have that game.
        """
        found = None
        for recorded in self:
            found = recorded if recorded.number == number else found
            if progress:
                progress(self.share)
        if found is None:
            raise CardaiError(f"{self.path} has {self.games} games, counted from 0; there is no game {number}")
        return found

    def refuse(self, why: str) -> CardaiError:
        """Returns the error for the line just read. `why`: the reason."""
        return CardaiError(f"{self.path}, line {self.line}: {why}")

    def __iter__(self) -> Iterator[RecordedGame]:
        self.games, self.complete = 0, False
        lines = self._lines()
        try:
            for line in itertools.islice(lines, 1, None):
                if "digest" in line:
                    self._check_end(line)
                    for more in lines:
                        is_another = more.get("format") == FORMAT
                        what = "another record file begins here: files were put one after the other"
                        raise self.refuse(what if is_another else "there is more after the closing line")
                    return
                yield from self._games_of(line)
            raise CardaiError(f"{self.path} is truncated: it ends after line {self.line} without its closing line")
        finally:
            lines.close()

    def _lines(self) -> Generator[dict[str, Any]]:
        """The lines of the file, with checked checksums. `_before` is the digest of the lines before this one."""
        self.line, digest = 0, hashlib.blake2b(digest_size=16)
        try:
            with open_file(self.path) as packed, _unpacked(packed) as file:
                size = max(1, self.path.stat().st_size)
                while text := file.readline(_LONGEST_LINE):
                    self.line += 1
                    self.share = min(1.0, packed.tell() / size)
                    if self.line == 1 and not text.startswith(_BEGIN):
                        file.seek(0)
                        kind = foreign_kind(file.read(FIRST))
                        if kind:
                            raise CardaiError(f"{self.path} is not a record file: {kind}")
                    line = _checked(text, self.refuse, parse_json if self.line == 1 else parse_json_line)
                    self._before = digest.hexdigest()
                    digest.update(text)
                    yield line
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise CardaiError(f"{self.path}, line {self.line + 1}: cannot be unpacked ({error})") from None
        except OSError as error:
            raise CardaiError(f"cannot read {self.path}: {error.strerror or error}") from None

    def _read_header(self, lines: Iterator[dict[str, Any]]) -> Header:
        foreign = f"{self.path} is not a record file"
        line = next(lines, None)
        if line is None:
            raise CardaiError(f"{foreign}: it is empty")
        if line.get("format") != FORMAT:
            raise CardaiError(f"{foreign} of the format {FORMAT!r}: it says {short(line.get('format'))}")
        if not _is_header(line):
            raise CardaiError(f"{foreign}: its first line lacks a field, or has a field of the wrong type")
        if line["max_plies"] * 8 * len(line["fields"]) > _MOST_MOVES:
            raise CardaiError(f"{foreign}: {line['max_plies']} plies in a game are too many")
        values: dict[str, Any] = {item.name: line[item.name] for item in fields(Header)}
        values |= {name: tuple(line[name]) for name in ("agents", "fields")}
        return Header(**values)

    def _games_of(self, line: dict[str, Any]) -> Iterator[RecordedGame]:
        head, number = self.header, line.get("number")
        if number != self.games:
            if line.get("format") == FORMAT:
                raise self.refuse("another record file begins here: files were put one after the other")
            present = f"game {number}" if _is_count(number) else "something else"
            raise self.refuse(f"game {self.games} should be here, it is {present}: a line was deleted, added or moved")
        plies = self._column(line, "plies", int, 0, head.max_plies)
        seeds = self._column(line, "seeds", int, 0, 2**64 - 1)
        lineups = self._column(line, "lineups", int, 0, len(head.agents) - 1, head.seats)
        scores = self._column(line, "scores", float, -sys.float_info.max, sys.float_info.max, head.seats)
        if not 0 < len(plies) == len(seeds) == len(lineups) == len(scores):
            raise self.refuse("its columns differ in length, or have no game")
        if not isinstance(line.get("moves"), str) or sum(plies) * self._move.itemsize > _MOST_MOVES:
            raise self.refuse(f"the moves are missing, or {sum(plies)} plies in a line are too many")
        try:
            moves = unpacked_moves(line["moves"], self._move, sum(plies))
        except ValueError as error:
            raise self.refuse(str(error)) from None
        end = 0
        for seed, lineup, points, count in zip(seeds, lineups, scores, plies, strict=True):
            own, end = moves[end : end + count].copy(), end + count
            self.games += 1
            yield RecordedGame(self.games - 1, seed, head.variant, tuple(lineup), tuple(points), own)

    def _column(self, line: dict[str, Any], name: str, kind: type, low: float, high: float, width: int = 0) -> list:
        """A column of a line: for each game a number of a type from `low` to `high`, or a list of `width` of them."""
        values = line.get(name)
        if not isinstance(values, list) or (width and not all(_is_list(one, kind, width) for one in values)):
            raise self.refuse(f"the {name} are not a list, with {width or 1} numbers for each game")
        for one in itertools.chain.from_iterable(values) if width else values:
            if type(one) is not kind or not low <= one <= high:
                raise self.refuse(f"the {name} hold {short(one)}, which is not {low} to {high}")
        return values

    def _check_end(self, line: dict[str, Any]) -> None:
        if line.get("games") != self.games:
            raise self.refuse(f"the closing line counts {short(line.get('games'))} games, there are {self.games}")
        if line["digest"] != self._before:
            raise self.refuse("the digest is not that of the lines before it: a line was replaced")
        self.complete = line.get("complete") is True


@dataclass(frozen=True)
class Verified:
    """The result for a sound file: its lines are intact and its games replay to their scores. See `verify`."""

    header: Header
    games: int
    plies: int
    complete: bool
    seconds: float


def read(path: str | Path) -> Reader:
    """Open a record file. Raises CardaiError if it is not one."""
    return Reader(path)


def replay(
    game: Game, recorded: RecordedGame, on_position: Callable[[GameState, np.record, int], None] | None = None
) -> GameState:
    """Play a recorded game again. Returns its final state. Raises CardaiError if a move or the scores do not fit.

    `on_position(state, move, ply)` is called for each ply with the state before its move, which it may keep. If a move
    is illegal, it is called up to the position of that move.
    """
    check_recorded(game, recorded)
    check_function("on_position", on_position)
    moves, plies = recorded.moves, len(recorded.moves)
    space = replay_space(game, [recorded], BEFORE if on_position else NOTHING)
    states = space.states
    with Complaints(game):
        played = int(replay_game(lend(game.compiler.rules), lend(space), int_seed(recorded.seed), 0, plies))
    if on_position:
        for ply in range(played):
            on_position(states[1 + ply], moves[ply], ply)
    if played < plies:
        if on_position:
            on_position(states[:1].copy()[0], moves[played], played)
        raise CardaiError(_why_not(game, states[0], moves[played], played))
    if states[0]["turn"] >= 0:
        raise CardaiError(f"the game is not over after its {len(moves)} plies")
    points = tuple(game.points(states[0]).tolist())
    if points != recorded.scores:
        raise CardaiError(f"the scores are {list(points)}, not {list(recorded.scores)}")
    return states[0]


def replay_space(game: Game, games: Sequence[RecordedGame], moment: int, counts_choices: bool = False) -> Replay:
    """What compiled code replays games of one variant and number of seats in, one after the other."""
    longest = max(len(recorded.moves) for recorded in games)
    return Replay(
        blank=game.options(len(games[0].lineup), games[0].variant),
        moves=np.concatenate([np.ascontiguousarray(one.moves).view(np.int64) for one in games]).view(game.move),
        moment=moment,
        counts_choices=counts_choices,
        states=np.zeros(1 if moment == NOTHING else longest + 2, game.state),
        seats=np.zeros(longest + 1, np.int64),
        choices=np.zeros(longest + 1, np.int64),
        buffer=roomy(game.max_moves, game.move),
    )


def check_recorded(game: Game, recorded: RecordedGame) -> None:
    """Raise CardaiError unless the fields of a recorded game have the types and sizes that this game's have."""
    game = is_game(game)
    check_kind("recorded", recorded, RecordedGame, "a RecordedGame")
    lineup = check_list("lineup", recorded.lineup, (int, np.integer), "whole numbers, one for each seat")
    game.options(len(lineup), recorded.variant)
    _check_length("scores", check_list("scores", recorded.scores, _NUMBERS, "numbers, one for each seat"), len(lineup))
    int_seed(recorded.seed)
    moves = recorded.moves
    if isinstance(moves, np.ndarray) and moves.dtype != game.move:
        raise BadArgument(f"moves with the fields {moves.dtype.names} are not {game.name}'s")
    check_records("moves", moves, game.move, f"moves of {game.name}")


def check_scores(scores: Sequence[float], seats: int) -> list[float]:
    """Scores as a list of floats. Raises CardaiError unless there is a number in [0, 1] for each of `seats`."""
    found = check_list("scores", scores, _NUMBERS, "numbers in [0, 1], one for each seat")
    _check_length("scores", found, seats)
    return [check_number("scores", score, 1.0) for score in found]


def _check_length(what: str, found: Sequence[Any], seats: int) -> None:
    if len(found) != seats:
        raise BadArgument(f"{what} must be one for each of {seats} seats, not {len(found)}")


def verify(path: str | Path, progress: Callable[[float], None] | None = None, rules: str | None = None) -> Verified:
    """Check a whole file: its lines, that its game can be loaded, and that every game replays to its scores.

    `rules`: the path of the game, if it cannot be loaded by its name. `progress` is called with the share done, 0 to 1,
    a few times a second. Raises CardaiError, which names the first bad line and the reason.
    """
    start = reported = time.perf_counter()
    check_function("progress", progress)
    reader = read(path)
    game = reader.load(rules)
    plies = 0
    for recorded in reader:
        try:
            replay(game, recorded)
        except CardaiError as error:
            raise reader.refuse(f"game {recorded.number} (seed {recorded.seed}): {error}") from None
        plies += len(recorded.moves)
        now = time.perf_counter()
        if progress and now - reported > 0.2:
            progress(reader.share)
            reported = now
    return Verified(reader.header, reader.games, plies, reader.complete, time.perf_counter() - start)


def _why_not(game: Game, state: GameState, move: np.record, ply: int) -> str:
    try:
        game.play(state, move)
    except IllegalMove as error:
        return f"ply {ply}: {error}"
    raise AssertionError("a legal move was refused")


def _line(content: dict[str, Any]) -> bytes:
    return signed(_JSON.encode(content).encode()[:-1])


def _checked(
    text: bytes, refuse: Callable[[str], CardaiError], parse: Callable[[bytes], Any] = parse_json_line
) -> dict[str, Any]:
    """The content of a line. Raises what `refuse` returns for a reason if the line is not as it was written."""
    changed = _change(text)
    if changed:
        raise refuse(changed)
    body, end = text[:-_SUM_LENGTH], text[-_SUM_LENGTH:]
    if not (end.startswith(SUM) and end.endswith(b'"}\n')):
        raise refuse("the line does not end with a checksum")
    if end[len(SUM) : -3] != checksum(body):
        raise refuse("the line does not fit its checksum: it was edited or damaged")
    try:
        line = parse(body + b"}")
    except ValueError as error:
        raise refuse(f"the line is not a JSON object: {error}") from None
    if not isinstance(line, dict):
        raise refuse("the line is not a JSON object")
    return line


def _change(text: bytes) -> str:
    """What has happened to a line on its way, where that can be told without a doubt. Returns "" otherwise."""
    if not text.strip():
        return "the line is empty: something, such as an editor, added a line break"
    if text.endswith(b"\r\n"):
        return (
            "the line ends in CR LF, as on Windows: the file was converted by an editor, by git (core.autocrlf) or by"
            " FTP in text mode"
        )
    if not text.endswith(b"\n"):
        is_whole = text[-_SUM_LENGTH + 1 :] == SUM + checksum(text[: -_SUM_LENGTH + 1]) + b'"}'
        last = "the line is whole, but its line break is missing: something, such as an editor, removed it"
        return last if is_whole else "the line is cut off: the file is truncated"
    return ""


def _is_header(line: dict[str, Any]) -> bool:
    """Whether a first line has all fields of a header, each of the right type and possible in some game."""
    options, names = line.get("options"), line.get("fields")
    return (
        all(_is_count(line.get(name)) for name in ("version", "seats", "max_plies"))
        and line["seats"] <= _MOST_SEATS
        and isinstance(options, dict)
        and all(type(value) is int for value in options.values())
        and all(isinstance(line.get(name), str) for name in ("game", "variant"))
        and _is_list(line.get("agents"), str)
        and _is_list(names, str)
        and 1 <= len(set(names)) == len(names) <= _MOST_FIELDS
        and all(0 < len(name) < 100 for name in names)
    )


def _is_count(value: Any) -> TypeGuard[int]:
    return type(value) is int and value >= 0


def _is_list(value: Any, kind: type, length: int | None = None) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and all(type(one) is kind for one in value) and length in (None, len(value))


def _unpacked(file: BinaryIO) -> BinaryIO:
    """The content of an open file, which may be compressed."""
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return gzip.GzipFile(fileobj=file, mode="rb") if packed else file  # pyright: ignore[reportReturnType]


def _words(value: Any) -> str:
    text = " ".join(value) if isinstance(value, tuple | list) else str(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _refuse_existing(path: Path, overwrite: bool) -> None:
    if path.is_dir():
        raise CardaiError(f"cannot write {path}: it is a folder")
    if path.exists() and not overwrite:
        raise CardaiError(
            f"{path} exists already; choose another name, or overwrite it with --overwrite (in Python overwrite=True)"
        )
