"""The participants of a study in its file: codes, consent, answers, what each plays, and the deletion of all of it.

Of a code only its SHA-256 is kept. A participant is known by their number, which nobody else ever gets.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cardai.errors import BadArgument, CardaiError
from cardai.guests.web.challenge import new_code
from cardai.guests.web.guards import digest
from cardai.guests.web.store import Store


@dataclass(frozen=True)
class Participant:
    """A person of the study.

    - `number`: from 1. `agreed`: when they agreed, in seconds since 1970, None before; `seen`, `stopped`: likewise.
    - `answers`: by the keys of questions. `tables`: the ids of their tables in their order.
    - `finished`: how many of these games are over.
    """

    number: int
    agreed: float | None
    answers: Mapping[str, str]
    seen: float | None
    stopped: float | None
    tables: tuple[str, ...]
    finished: int

    @property
    def name(self) -> str:
        """The pseudonym, under which pages, exports and reports know them."""
        return f"P{self.number:02}"


class Participants:
    """The participants in the file of a study. Its methods may be called from several threads."""

    def __init__(self, store: Store, protocol: str) -> None:
        """`protocol`: the digest of the protocol. Raises CardaiError if the study was begun with another one."""
        self.store = store
        with store.writing() as database:
            found = database.execute("SELECT digest FROM study").fetchall()
            if not found:
                database.execute("INSERT INTO study VALUES (?, ?, 0)", (protocol, time.time()))
        if found and found[0][0] != protocol:
            raise CardaiError(
                f"the study in {store.path} was begun with another protocol ({found[0][0][:12]}, this is"
                f" {protocol[:12]}): a study that runs keeps its protocol"
            )

    def add(self, people: int) -> list[tuple[str, str]]:
        """Make codes for so many further people. Returns their pseudonyms and codes, which are kept nowhere."""
        made = []
        with self.store.writing() as database:
            for _ in range(people):
                code = new_code()
                row = database.execute("INSERT INTO participant (code, answers) VALUES (?, '{}')", (digest(code),))
                made.append((f"P{row.lastrowid:02}", code))
        return made

    def of_code(self, code: str) -> Participant | None:
        """The participant with a code."""
        found = self.store.read("SELECT number FROM participant WHERE code = ?", digest(code))
        return self.of_number(found[0][0]) if found else None

    def of_number(self, number: int) -> Participant:
        """The participant with a number. Raises BadArgument if there is none, or none any more."""
        columns = "agreed, answers, seen, stopped"
        found = self.store.read(f"SELECT {columns} FROM participant WHERE number = ?", number)
        if not found:
            raise BadArgument("there is no such participant")
        agreed, answers, seen, stopped = found[0]
        played = self.store.read(
            'SELECT table_id, ended FROM sitting JOIN "table" ON id = table_id WHERE participant = ? ORDER BY number',
            number,
        )
        finished = sum(ended is not None for _, ended in played)
        return Participant(
            number, agreed, json.loads(answers), seen, stopped, tuple(row[0] for row in played), finished
        )

    def all(self) -> list[Participant]:
        """All participants in the order of their numbers."""
        return [self.of_number(number) for (number,) in self.store.read("SELECT number FROM participant ORDER BY 1")]

    @property
    def deleted(self) -> int:
        """How many people deleted their data. That is all that is known of them."""
        return int(self.store.read("SELECT deleted FROM study")[0][0])

    def note(self, number: int, column: str) -> None:
        """Keep that now is when a participant `agreed`, was last `seen`, or `stopped`."""
        assert column in ("agreed", "seen", "stopped")
        with self.store.writing() as database:
            database.execute(f"UPDATE participant SET {column} = ? WHERE number = ?", (time.time(), number))

    def answer(self, number: int, answers: Mapping[str, str]) -> None:
        """Keep answers of a participant, with those that they gave before."""
        known = {**self.of_number(number).answers, **answers}
        with self.store.writing() as database:
            values = (json.dumps(known, ensure_ascii=False), number)
            database.execute("UPDATE participant SET answers = ? WHERE number = ?", values)

    def sit(self, table: str, participant: int, number: int) -> None:
        """Keep that a table is a participant's game with a number, from 0."""
        with self.store.writing() as database:
            database.execute("INSERT INTO sitting VALUES (?, ?, ?)", (table, participant, number))

    def delete(self, number: int) -> Sequence[str]:
        """Delete a participant with all of their games, also from the bytes of the file. Returns their tables."""
        tables = self.of_number(number).tables
        with self.store.writing() as database:
            people = database.execute(
                "SELECT DISTINCT person FROM seat WHERE person IS NOT NULL AND table_id IN"
                " (SELECT table_id FROM sitting WHERE participant = ?)", (number,)
            ).fetchall()  # fmt: skip
            database.execute("DELETE FROM sitting WHERE participant = ?", (number,))
            for table in tables:
                for name in ("move", "seat", "watcher"):
                    database.execute(f"DELETE FROM {name} WHERE table_id = ?", (table,))
                database.execute('DELETE FROM "table" WHERE id = ?', (table,))
            database.executemany("DELETE FROM person WHERE id = ?", people)
            database.execute("DELETE FROM participant WHERE number = ?", (number,))
            database.execute("UPDATE study SET deleted = deleted + 1")
        self.store.rewrite()
        return tables
