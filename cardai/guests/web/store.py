"""Tables, seats and moves in an SQLite file, so that nothing that a browser was told is lost when the server ends.

A game is kept as its seed and the moves of people: agents make their own moves again (`tables`). Every write is on disk
before it returns (write-ahead log, synchronous FULL). Moves that wait for the disk at the same time share a write.
"""

import json
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cardai.errors import CardaiError

LEFT, LATE, RESIGNED = "left", "late", "resigned"
"""Why an agent plays for a person: they left, did not answer in time, or gave up for good."""
_LAYOUT = 6  # of the file; one with another layout is refused
_SCHEMA = """
CREATE TABLE IF NOT EXISTS person (id INTEGER PRIMARY KEY, token BLOB NOT NULL UNIQUE, made REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS "table" (
    id TEXT PRIMARY KEY, game TEXT NOT NULL, version INTEGER NOT NULL, variant TEXT NOT NULL, secret BLOB NOT NULL,
    seed TEXT, pause REAL NOT NULL, made REAL NOT NULL, ended REAL, scores TEXT, study INTEGER NOT NULL,
    challenge TEXT REFERENCES challenge, takeover INTEGER NOT NULL, rematch TEXT) STRICT;
CREATE TABLE IF NOT EXISTS challenge (code TEXT PRIMARY KEY, people INTEGER NOT NULL, ended REAL) STRICT;
CREATE TABLE IF NOT EXISTS seat (
    table_id TEXT NOT NULL REFERENCES "table", seat INTEGER NOT NULL, agent TEXT, name TEXT NOT NULL, person INTEGER,
    token BLOB, invitation BLOB, nonce BLOB, level TEXT NOT NULL, gone TEXT NOT NULL,
    PRIMARY KEY (table_id, seat)) STRICT;
CREATE TABLE IF NOT EXISTS watcher (
    table_id TEXT NOT NULL REFERENCES "table", seat INTEGER NOT NULL, token BLOB, invitation BLOB,
    plays INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS move (
    table_id TEXT NOT NULL REFERENCES "table", ply INTEGER NOT NULL, seat INTEGER NOT NULL, fields TEXT NOT NULL,
    made REAL NOT NULL, agent TEXT, seconds REAL NOT NULL, PRIMARY KEY (table_id, ply)) STRICT;
CREATE TABLE IF NOT EXISTS study (digest TEXT NOT NULL, begun REAL NOT NULL, deleted INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS participant (
    number INTEGER PRIMARY KEY AUTOINCREMENT, code BLOB NOT NULL UNIQUE, agreed REAL, answers TEXT NOT NULL, seen REAL,
    stopped REAL) STRICT;
CREATE TABLE IF NOT EXISTS sitting (
    table_id TEXT PRIMARY KEY REFERENCES "table", participant INTEGER NOT NULL REFERENCES participant,
    number INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS table_by_game ON "table" (game, ended);
CREATE INDEX IF NOT EXISTS table_by_challenge ON "table" (challenge);
"""


@dataclass
class SeatRow:
    """Who sits in a seat: an agent by its key, or a person. Tokens and invitations are kept as SHA-256 only.

    - `level`: in a study, what the person answered to the question of its level; "" elsewhere.
    - `gone`: why an agent plays for the person now, `LEFT`, `LATE` or `RESIGNED`; "" if they play themselves.
    - `helpers`: the keys of agents that made moves for the person. They are kept with these moves.
    - `thought`: how long the person's moves took together, in seconds since each could be made.
    """

    agent: str | None = None
    name: str = ""
    person: int | None = None
    token: bytes | None = None
    invitation: bytes | None = None
    nonce: bytes | None = None
    level: str = ""
    gone: str = ""
    helpers: tuple[str, ...] = ()
    thought: float = 0.0


@dataclass
class TableRow:
    """A table as it is kept. `seed` is None before the deal; `scores` at the end.

    `moves`: (ply, fields) of people, and of agents that played for them. `takeover`: minutes without a move after which
    an agent plays for a person, 0 for never. `rematch`: the id of the next table of the same people.

    `study`: hints may be asked for and moves taken back, so the game counts in no figure. `challenge`: the code of the
    challenge that the table belongs to.
    """

    id: str
    game: str
    version: int
    variant: str
    secret: bytes
    seats: list[SeatRow]
    pause: float = 0.6
    seed: int | None = None
    moves: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    scores: tuple[float, ...] | None = None
    study: bool = False
    challenge: str | None = None
    takeover: int = 0
    rematch: str | None = None

    @property
    def person_seat(self) -> int:
        """The seat of the first person."""
        return next((seat for seat, row in enumerate(self.seats) if row.agent is None), 0)


@dataclass(frozen=True)
class ChallengeRow:
    """A challenge as it is kept.

    - `people`: for how many it is. `ended`: whether it was ended before all of them had finished.
    - `tables`: those who have sat down, the oldest first. `finished`: those whose games were over before it was ended.
    """

    people: int
    ended: bool
    tables: tuple[TableRow, ...]
    finished: tuple[TableRow, ...]

    @property
    def is_over(self) -> bool:
        """Whether all have finished, or it was ended without the others."""
        return self.ended or len(self.finished) >= self.people

    def table_of(self, person: int) -> str | None:
        """The id of a person's table, if they have one."""
        return next((row.id for row in self.tables if row.seats[row.person_seat].person == person), None)


@dataclass
class _Addition:
    """A move that waits to be written: its table, ply, seat, fields, agent and seconds, and what came of it."""

    move: tuple[str, int, int, Sequence[int], str | None, float]
    is_done: bool = False
    problem: sqlite3.Error | None = None


class Store:
    """The file. Its methods may be called from several threads. Raises CardaiError if the file cannot be used."""

    def __init__(self, path: str | Path) -> None:
        self.path, self._lock = Path(path), threading.Lock()
        self._waiting: deque[_Addition] = deque()  # moves to be written by whoever has the lock next
        try:
            self._database = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.execute("PRAGMA foreign_keys = ON")
            self._check_layout()
            self._check_damage()
            self._database.executescript(_SCHEMA)
            self._database.execute(f"PRAGMA user_version = {_LAYOUT}")
        except sqlite3.Error as error:
            raise CardaiError(f"cannot keep games in {self.path}: {error}") from None

    def _check_damage(self) -> None:
        """Raise CardaiError for a file with damaged pages or entries, or with rows that belong to none."""
        (what,) = self._database.execute("PRAGMA integrity_check(1)").fetchone()
        if what != "ok" or self._database.execute("PRAGMA foreign_key_check").fetchone():
            what = what.replace("\n", " ") if what != "ok" else "entries belong to a table that is not there"
            raise CardaiError(f"{self.path} is damaged: {what}")

    def _check_layout(self) -> None:
        """Raise CardaiError for a file that another version of cardai has written, or another program."""
        (layout,) = self._database.execute("PRAGMA user_version").fetchone()
        (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and layout != _LAYOUT:
            raise CardaiError(
                f"{self.path} was not written by this version of cardai: its layout is {layout}, not {_LAYOUT}"
            )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction. What it wrote is on disk when the block is left."""
        with self._lock:
            try:
                self._database.execute("BEGIN IMMEDIATE")
                yield self._database
                self._database.execute("COMMIT")
            except BaseException as error:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise CardaiError(f"cannot write to {self.path}: {error}") from None
                raise

    def read(self, question: str, *values: object) -> list[tuple]:
        """The rows that answer a question in SQL."""
        with self._lock:
            try:
                return self._database.execute(question, values).fetchall()
            except sqlite3.Error as error:
                raise CardaiError(f"cannot read {self.path}: {error}") from None

    def rewrite(self) -> None:
        """Write the whole file anew, so that nothing of what was deleted is left in its bytes."""
        with self._lock:
            try:
                self._database.execute("VACUUM")
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                raise CardaiError(f"cannot write to {self.path}: {error}") from None

    # People.

    def person(self, token: bytes | None) -> int | None:
        """The person with a token."""
        found = self.read("SELECT id FROM person WHERE token = ?", token) if token else []
        return found[0][0] if found else None

    def add_person(self, token: bytes) -> int:
        """Keep a person, unless they are known by this token. Returns their number."""
        with self.writing() as database:
            database.execute("INSERT OR IGNORE INTO person (token, made) VALUES (?, ?)", (token, time.time()))
            ((number,),) = database.execute("SELECT id FROM person WHERE token = ?", (token,)).fetchall()
            return int(number)

    # Tables.

    def add_table(self, table: TableRow) -> None:
        """Keep a new table with its seats."""
        with self.writing() as database:
            database.execute(
                'INSERT INTO "table" (id, game, version, variant, secret, seed, pause, made, study, challenge,'
                " takeover) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    table.id, table.game, table.version, table.variant, table.secret,
                    None if table.seed is None else str(table.seed), table.pause, time.time(), table.study,
                    table.challenge, table.takeover,
                ),
            )  # fmt: skip
            for seat, row in enumerate(table.seats):
                _write_seat(database, table.id, seat, row)
            for ply, fields in table.moves:  # of a game that is taken up in the middle, at which one person sits
                _write_move(database, table.id, ply, table.person_seat, fields)

    def set_seat(self, table_id: str, seat: int, row: SeatRow) -> None:
        """Keep who sits in a seat now."""
        with self.writing() as database:
            _write_seat(database, table_id, seat, row)

    def change(self, table: TableRow, name: str, value: str | int | float) -> None:
        """Change the `seed`, the `pause` or the `rematch` of a table: in the file first, then in its row."""
        assert name in ("seed", "pause", "rematch")
        with self.writing() as database:
            values = (str(value) if name == "seed" else value, table.id)  # a seed is too large for a number of SQLite
            database.execute(f'UPDATE "table" SET {name} = ? WHERE id = ?', values)
        setattr(table, name, value)

    def add_move(
        self, table_id: str, ply: int, seat: int, fields: Sequence[int], agent: str | None = None, seconds: float = 0.0
    ) -> None:
        """Keep a person's move, or that of an agent that plays for them, and how many seconds the table waited for it.

        It is on disk when this returns.
        """
        addition = _Addition((table_id, ply, seat, fields, agent, seconds))
        self._waiting.append(addition)
        with self._lock:
            if not addition.is_done:
                self._add_waiting()
        if addition.problem is not None:
            raise CardaiError(f"cannot write to {self.path}: {addition.problem}")

    def _add_waiting(self) -> None:
        """Write all moves that wait, in one transaction: a disk takes as long for many as for one."""
        additions = []
        while self._waiting:  # others may add to it meanwhile: one by one nothing is lost
            additions.append(self._waiting.popleft())
        try:
            self._database.execute("BEGIN IMMEDIATE")
            for addition in additions:
                try:
                    _write_move(self._database, *addition.move)
                except sqlite3.Error as error:  # only this move is refused
                    addition.problem = error
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            for addition in additions:
                addition.problem = error
        for addition in additions:
            addition.is_done = True

    def take_back(self, table_id: str, ply: int) -> None:
        """Forget the moves of people from a ply on; the game is not finished any more."""
        with self.writing() as database:
            database.execute("DELETE FROM move WHERE table_id = ? AND ply >= ?", (table_id, ply))
            database.execute('UPDATE "table" SET ended = NULL, scores = NULL WHERE id = ?', (table_id,))

    def finish(self, table_id: str, scores: Sequence[float]) -> None:
        """Keep the scores of a finished game."""
        with self.writing() as database:
            values = (time.time(), json.dumps([float(score) for score in scores]), table_id)
            database.execute('UPDATE "table" SET ended = ?, scores = ? WHERE id = ?', values)

    def table(self, table_id: str) -> TableRow | None:
        """A table with its seats and moves."""
        columns = "id, game, version, variant, secret, pause, study, challenge, takeover, rematch, seed, scores"
        found = self.read(f'SELECT {columns} FROM "table" WHERE id = ?', table_id)
        if not found:
            return None
        *head, pause, study, challenge, takeover, rematch, seed, scores = found[0]
        columns = "agent, name, person, token, invitation, nonce, level, gone"
        seats = self.read(f"SELECT {columns} FROM seat WHERE table_id = ? ORDER BY seat", table_id)
        columns = "ply, fields, seat, agent, seconds"
        moves = self.read(f"SELECT {columns} FROM move WHERE table_id = ? ORDER BY ply", table_id)
        helpers = {(seat, agent): None for _, _, seat, agent, _ in moves if agent is not None}
        return TableRow(
            *head,
            seats=[
                SeatRow(
                    *row,
                    helpers=tuple(agent for seat, agent in helpers if seat == place),
                    thought=sum(seconds for _, _, seat, _, seconds in moves if seat == place),
                )
                for place, row in enumerate(seats)
            ],
            pause=pause,
            study=bool(study),
            challenge=challenge,
            takeover=takeover,
            rematch=rematch,
            seed=None if seed is None else int(seed),
            moves=[(ply, tuple(json.loads(fields))) for ply, fields, *_ in moves],
            scores=None if scores is None else tuple(json.loads(scores)),
        )

    def dealt(self, game: str) -> list[str]:
        """The tables of a game at which a person sat and that were dealt, study tables too, the oldest first."""
        found = self.read(
            'SELECT id FROM "table" WHERE game = ? AND seed IS NOT NULL AND EXISTS'
            ' (SELECT * FROM seat WHERE table_id = "table".id AND agent IS NULL) ORDER BY made, id', game
        )  # fmt: skip
        return [row[0] for row in found]

    # Challenges.

    def add_challenge(self, code: str, people: int) -> None:
        """Keep a new challenge for so many people."""
        with self.writing() as database:
            database.execute("INSERT INTO challenge VALUES (?, ?, NULL)", (code, people))

    def challenge(self, code: str) -> ChallengeRow | None:
        """The challenge with a code. None if there is none."""
        found = self.read("SELECT people, ended FROM challenge WHERE code = ?", code)
        if not found:
            return None
        people, ended = found[0]
        found = self.read('SELECT id, ended FROM "table" WHERE challenge = ? ORDER BY made, id', code)
        tables = [(row, when) for table, when in found if (row := self.table(table)) is not None]
        finished = tuple(row for row, when in tables if when is not None and (ended is None or when <= ended))
        return ChallengeRow(int(people), ended is not None, tuple(row for row, _ in tables), finished)

    def end_challenge(self, code: str, idle: float) -> bool:
        """End a challenge, unless somebody sat down or moved in it in the last `idle` seconds.

        Returns whether it is ended.
        """
        with self.writing() as database:
            ((latest,),) = database.execute(
                'SELECT max(max("table".made), ifnull(max(move.made), 0)) FROM "table" LEFT JOIN move'
                ' ON move.table_id = "table".id WHERE challenge = ?', (code,)
            ).fetchall()  # fmt: skip
            now = time.time()
            if latest is not None and now - latest < idle:
                return False
            database.execute("UPDATE challenge SET ended = ? WHERE code = ? AND ended IS NULL", (now, code))
        return True

    # Spectators, and further devices of those who play.

    def invite_watcher(self, table_id: str, seat: int, invitation: bytes, most: int, plays: bool = False) -> bool:
        """Keep an invitation to watch a seat, or to play in it too. Returns False if it has `most` others and links."""
        with self.writing() as database:
            values = (table_id, seat, invitation, plays, table_id, seat, most)
            fewer = "(SELECT count(*) FROM watcher WHERE table_id = ? AND seat = ?) < ?"
            return bool(database.execute(f"INSERT INTO watcher SELECT ?, ?, NULL, ?, ? WHERE {fewer}", values).rowcount)

    def watcher_invited(self, table_id: str, invitation: bytes) -> bool | None:
        """Whether an invitation that nobody has used is to play too. None if it is none."""
        found = self.read("SELECT plays FROM watcher WHERE table_id = ? AND invitation = ?", table_id, invitation)
        return bool(found[0][0]) if found else None

    def accept_watcher(self, table_id: str, invitation: bytes, token: bytes) -> int | None:
        """Use up an invitation to watch or play too. Returns the seat, or None if there is no such invitation."""
        with self.writing() as database:
            where = "WHERE table_id = ? AND invitation = ?"
            found = database.execute(f"SELECT seat FROM watcher {where}", (table_id, invitation)).fetchall()
            values = (token, table_id, invitation)
            database.execute(f"UPDATE watcher SET token = ?, invitation = NULL {where}", values)
        return found[0][0] if found else None

    def watched(self, table_id: str, token: bytes) -> tuple[int, bool] | None:
        """The seat that the owner of a token may watch, and whether they play in it too."""
        found = self.read("SELECT seat, plays FROM watcher WHERE table_id = ? AND token = ?", table_id, token)
        return (found[0][0], bool(found[0][1])) if found else None


def _write_move(
    database: sqlite3.Connection, table_id: str, ply: int, seat: int, fields: Sequence[int], agent: str | None = None,
    seconds: float = 0.0,
) -> None:  # fmt: skip
    written = json.dumps([int(number) for number in fields])
    values = (table_id, ply, seat, written, time.time(), agent, seconds)
    database.execute("INSERT INTO move VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _write_seat(database: sqlite3.Connection, table_id: str, seat: int, row: SeatRow) -> None:
    values = (table_id, seat, row.agent, row.name, row.person, row.token, row.invitation, row.nonce, row.level)
    database.execute("INSERT OR REPLACE INTO seat VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, row.gone))
