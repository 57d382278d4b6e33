"""The protocol of a study of people: all that is fixed before anybody plays, as a file in TOML.

Who plays what in which order follows from the file: a Williams design, so that over people each line-up and seat stands
equally often in each place of the order, and after each other one.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cardai.errors import CardaiError, is_printable, short, unknown, whole
from cardai.files.reading import read_toml
from cardai.files.settings import made
from cardai.game import MEASURES, Game
from cardai.playing.agents.by_game import named_by_game
from cardai.playing.agents.spec import HUMAN, agent
from cardai.registry import load

BEFORE, AFTER = "before", "after"
AT_THE_END, ALWAYS = "at the end", "always"
LONGEST_PAUSE, LONGEST_ANSWER = 5.0, 400
SHORTEST_TIME, LONGEST_TIME = 5, 24 * 3600  # seconds
_CODE = re.compile(r"[A-Za-z0-9]{1,12}")


@dataclass(frozen=True)
class Aids:
    """What a table does for its people beside the rules.

    - `known_cards`: it shows what they could remember: known cards of others, cards that were cleared, earlier moves.
    - `hints`: it names good moves. `evaluation`: it shows how each seat stands. `undo`: moves are taken back.
    - `review`: a finished game may be looked at again.
    """

    known_cards: bool = False
    hints: bool = False
    evaluation: bool = False
    undo: bool = False
    review: bool = False


@dataclass(frozen=True)
class Stop:
    """When no further game is begun: `people` have played all theirs, so many `games` were begun, or a day is over.

    Whichever comes first; 0 and None for never. The day `until` itself belongs to the study, in universal time.
    """

    people: int = 0
    games: int = 0
    until: date | None = None


@dataclass(frozen=True)
class Time:
    """How long a person may think, in seconds, 0 for as long as they like.

    - `move`: for a move. `game`: for all moves of a game together.
    - `late`: the agent that makes a move for whoever has no time left.
    """

    move: int = 0
    game: int = 0
    late: str = "random"

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return bool(self.move or self.game)

    def lefts(self, thought: float) -> tuple[float, float]:
        """What whoever has `thought` so long in a game has left for their next move and for the game, in seconds.

        Infinite where there is no limit.
        """
        game = max(0.0, self.game - thought) if self.game else math.inf
        return min(self.move or math.inf, game), game


@dataclass(frozen=True)
class StudyTable:
    """A table of a study: its `code`, under which people and exports know it, and agents in all seats but one."""

    code: str
    game: str
    opponents: tuple[str, ...]
    variant: str = ""

    @property
    def line_up(self) -> tuple[str, ...]:
        """The spec of each seat, the person first."""
        return (HUMAN, *self.opponents)


@dataclass(frozen=True)
class StudyQuestion:
    """A question to each participant, `when` they have agreed or have played all games.

    With `choices` one of them is the answer, otherwise a text of at most `LONGEST_ANSWER` letters.
    """

    key: str
    text: str
    when: str = BEFORE
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """How `cardai study plan` stands for people: agents of unequal strength, and the sizes of the studies it draws."""

    persons: tuple[str, ...] = ()
    people: tuple[int, ...] = (5, 7, 12, 30)
    games: tuple[int, ...] = (20, 40, 100)


@dataclass(frozen=True)
class Sitting:
    """What a participant plays: at which table, and in which seat."""

    table: StudyTable
    seat: int

    @property
    def line_up(self) -> tuple[str, ...]:
        """The spec of each seat."""
        before = len(self.table.line_up) - self.seat
        return (*self.table.line_up[before:], *self.table.line_up[:before])


@dataclass(frozen=True)
class Protocol:
    """All that is fixed before anybody plays.

    - `title`, `contact`, `consent`: what participants read before they agree.
    - `tables`: what is played; `games_each`: how many games of each person at most; `seed`: of their order.
    - `pause`: seconds before each move of an agent. `aids`, `time`, `stop`, `questions`: see there.
    - `measure`: one of `MEASURES`, what the study is about. `level`: the key of the question whose answer is the level
      of a person, "" for none. `references`: agents that play the deals of people afterwards, in their seats;
      in a study of several games `hearts=careful` is one of Hearts, and so are those after it.
    - `results`: `AT_THE_END` or `ALWAYS`, when results may be seen.
    """

    called: ClassVar[str] = "protocol"

    title: str
    contact: str
    consent: str
    tables: tuple[StudyTable, ...]
    games_each: int
    stop: Stop
    seed: int = 0
    pause: int | float = 0.6
    aids: Aids = Aids()
    time: Time = Time()
    questions: tuple[StudyQuestion, ...] = ()
    measure: str = "score"
    level: str = ""
    references: tuple[str, ...] = ()
    results: str = AT_THE_END
    plan: Plan = Plan()

    @property
    def digest(self) -> str:
        """What is kept with the data: SHA-256 of all that the file says, without its comments and its order."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True, default=str).encode()).hexdigest()

    @property
    def late(self) -> tuple[str, ...]:
        """The agent that makes moves for whoever has no time left, if there is a limit."""
        return (self.time.late,) if self.time.is_limited else ()

    @property
    def games(self) -> dict[str, Game]:
        """The games that are played, by name."""
        return {name: load(name) for name in dict.fromkeys(table.game for table in self.tables)}

    @property
    def references_of(self) -> dict[str, list[str]]:
        """The references of each game by its name. Raises CardaiError for games that are not played here."""
        return named_by_game(self.references, [*self.games.values()], what="references:")

    @property
    def persons_of(self) -> dict[str, list[str]]:
        """The agents that stand for people in the plan of each game by its name. Raises as `references_of`."""
        return named_by_game(self.plan.persons, [*self.games.values()], what="plan: persons:")

    def sitting(self, person: int, number: int) -> Sitting:
        """What the participant with this number plays as their game `number`; both count from 0."""
        cells = [Sitting(table, seat) for table in self.tables for seat in range(len(table.line_up))]
        rows = williams(len(cells))
        block, place = divmod(number, len(cells))
        row = rows[(person + block) % len(rows)]
        return cells[np.random.default_rng([self.seed, block]).permutation(len(cells))[row[place]]]


def williams(size: int) -> np.ndarray:
    """A Williams design, i64[rows, size]: each number stands in each place, and after each other one, equally often.

    It has `size` rows, twice as many if `size` is odd.
    """
    zigzag = np.array([(place + 1) // 2 if place % 2 else -(place // 2) for place in range(size)]) % size
    rows = (zigzag + np.arange(size)[:, None]) % size
    return np.concatenate([rows, rows[:, ::-1]]) if size % 2 else rows


def read_protocol(path: Path) -> Protocol:
    """The protocol in a file. Raises CardaiError, in a sentence, for anything that no study could be run by."""
    content = read_toml(path)
    try:
        return protocol_of(content)
    except CardaiError as error:
        raise CardaiError(f"{path}: {error}") from None


def protocol_of(content: Mapping[str, Any]) -> Protocol:
    """The protocol that a file holds. Raises CardaiError for what is missing, unknown or does not fit."""
    if {"tables", "questions"} & content.keys():
        raise CardaiError("tables are written as [[table]], questions as [[question]]")
    plural = {"table": "tables", "question": "questions"}
    protocol = made(Protocol, {plural.get(name, name): value for name, value in content.items()})
    _check(protocol)
    return protocol


def _check(protocol: Protocol) -> None:
    """Raise CardaiError for a protocol by which no study could be run."""
    for name in ("title", "contact", "consent"):
        text = getattr(protocol, name)
        if not text.strip() or not is_printable(text):
            raise CardaiError(f"{name} is a text that can be printed, and not empty")
    whole("games_each", protocol.games_each, 1)
    if not 0 <= protocol.pause <= LONGEST_PAUSE:
        raise CardaiError(f"pause is 0 to {LONGEST_PAUSE:g} seconds, not {protocol.pause:g}")
    if protocol.measure not in MEASURES:
        raise CardaiError(unknown("measure", protocol.measure, MEASURES))
    if protocol.results not in (AT_THE_END, ALWAYS):
        raise CardaiError(f"results is {AT_THE_END!r} or {ALWAYS!r}, not {short(protocol.results)}")
    whole("stop: people", protocol.stop.people, 0)
    whole("stop: games", protocol.stop.games, 0)
    if protocol.stop == Stop():
        raise CardaiError("stop says when the study ends: people, games or until, fixed before it begins")
    _check_time(protocol)
    _check_tables(protocol)
    _check_questions(protocol)


def _check_time(protocol: Protocol) -> None:
    for name in ("move", "game"):
        if seconds := whole(f"time: {name}", getattr(protocol.time, name), 0, LONGEST_TIME):
            whole(f"time: {name}", seconds, SHORTEST_TIME, LONGEST_TIME)
    if protocol.time.is_limited and protocol.aids.undo:
        raise CardaiError("undo is an aid without a limit of time: moves that are taken back have cost theirs")


def _check_tables(protocol: Protocol) -> None:
    if not protocol.tables:
        raise CardaiError("a study has at least one [[table]]")
    codes = [table.code for table in protocol.tables]
    for table in protocol.tables:
        if not _CODE.fullmatch(table.code) or codes.count(table.code) > 1:
            raise CardaiError(f"a table's code is 1 to 12 letters and figures, unlike the others, not {table.code!r}")
        game = load(table.game)
        seats, variant = len(table.line_up), table.variant or None
        game.options(seats, variant)
        if game.table.zones is None and not protocol.aids.known_cards:
            raise CardaiError(f"{game.name} is shown as text: known_cards can be off only in games with zones")
        others = (*protocol.references_of[game.name], *protocol.persons_of[game.name], *protocol.late)
        for spec in (*table.opponents, *others):
            agent(game, spec).check_fits(game, game.canonical(variant), seats)
        for spec in protocol.late:
            if not agent(game, spec).answers_anywhere:
                raise CardaiError(f"time: late is an agent that is fair and answers in any position, not {spec!r}")


def _check_questions(protocol: Protocol) -> None:
    keys = [question.key for question in protocol.questions]
    for question in protocol.questions:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", question.key) or keys.count(question.key) > 1:
            raise CardaiError(f"a question's key is small letters and figures, unlike the others, not {question.key!r}")
        if question.when not in (BEFORE, AFTER):
            raise CardaiError(f"question {question.key}: when is {BEFORE!r} or {AFTER!r}, not {question.when!r}")
        if not all(is_printable(text) and text for text in (question.text, *question.choices)):
            raise CardaiError(f"question {question.key} has a text that cannot be printed")
    first = {question.key for question in protocol.questions if question.when == BEFORE and question.choices}
    if protocol.level and protocol.level not in first:
        raise CardaiError(f"level is the key of a question before the games, with choices, not {protocol.level!r}")
