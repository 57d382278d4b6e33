"""A study of people by a protocol: who may play what next, what they are asked, and when it is over."""

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cardai.errors import BadArgument
from cardai.guests.web import commitment
from cardai.guests.web.guards import digest, flag_in, new_token, text_of
from cardai.guests.web.offers import Offer
from cardai.guests.web.participants import Participant, Participants
from cardai.guests.web.protocol import AFTER, ALWAYS, BEFORE, LONGEST_ANSWER, Protocol, Time
from cardai.guests.web.room import Room
from cardai.guests.web.store import SeatRow, TableRow
from cardai.playing.agents.spec import HUMAN, agent

ENTER, AGREE, PLAY, ASKED, DONE = "enter", "agree", "play", "asked", "done"
"""Where a participant is: without a code, before the consent, between games, at the last questions, at the end."""


def exports_of(data: Path) -> Path:
    """The folder in which the exports of a study lie, beside its data."""
    return data.with_suffix(".export")


def offers_for(protocol: Protocol) -> dict[str, Offer]:
    """What a study plays: its games with the agents of its tables."""
    offers = {}
    for name, game in protocol.games.items():
        tables = [table for table in protocol.tables if table.game == name]
        specs = dict.fromkeys([*(spec for table in tables for spec in table.opponents), *protocol.late])
        variants = dict.fromkeys(game.canonical(table.variant or None) for table in tables)
        agents = {spec: agent(game, spec) for spec in specs}
        offers[name] = Offer(name, game, agents, tuple(variants), len(tables[0].line_up))
    return offers


def words_of(time: Time) -> str:
    """What participants are told of the time they have; "" if it has no limit."""
    limits = [f"{_seconds(time.move)} for each move"] if time.move else []
    limits += [f"{_seconds(time.game)} for all your moves in a game together"] if time.game else []
    if not limits:
        return ""
    return (
        f"You have {' and '.join(limits)}. The clock runs while it is your turn, also if you close the page then."
        " When your time is over, a program makes the move for you."
    )


def _seconds(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{seconds} seconds" if rest or minutes < 2 else f"{minutes} minutes"


def why_ended(protocol: Protocol, people: Sequence[Participant]) -> str:
    """Why no further game is begun in a study, by the rule that was fixed in advance; "" if games may be."""
    stop = protocol.stop
    if _is_late(protocol):
        return f"the study ended on {stop.until}"
    if stop.games and sum(len(person.tables) for person in people) >= stop.games:
        return "the study has all its games"
    if stop.people and sum(person.finished >= protocol.games_each for person in people) >= stop.people:
        return "the study has all its people"
    return ""


def is_over(protocol: Protocol, people: Sequence[Participant]) -> bool:
    """Whether no further game is begun and none is played, or the last day is over: what is not finished stays so."""
    playing = any(len(person.tables) > person.finished and person.stopped is None for person in people)
    return _is_late(protocol) or (bool(why_ended(protocol, people)) and not playing)


def _is_late(protocol: Protocol) -> bool:
    until = protocol.stop.until
    return until is not None and datetime.now(UTC).date() > until


class Study:
    """A study on the tables of a room, in whose file it is. Its methods may be called from several threads.

    `exports`: the folder of what was exported, which is emptied when somebody deletes their data. Raises CardaiError if
    the study was begun with another protocol.
    """

    def __init__(self, protocol: Protocol, room: Room) -> None:
        self.protocol, self.people = protocol, Participants(room.store, protocol.digest)
        self.room, self.exports = room, exports_of(room.store.path)
        self._joining = threading.Lock()

    # Participants.

    def enter(self, code: str) -> Participant:
        """The participant who comes with a code, on any device. Raises BadArgument if there is none."""
        found = self.people.of_code(code)
        if found is None:
            raise BadArgument("there is no participant with this code; look for a mistake in it")
        self.people.note(found.number, "seen")
        return found

    def agree(self, person: Participant, message: Mapping[str, Any]) -> None:
        """Keep that a participant agrees, with their answers to the questions before."""
        if not flag_in(message, "agrees"):
            raise BadArgument("nobody takes part without having agreed")
        self.people.answer(person.number, self._answers(message, BEFORE))
        self.people.note(person.number, "agreed")

    def answer(self, person: Participant, message: Mapping[str, Any]) -> None:
        """Keep the answers of a participant to the questions after the games."""
        if self.place(person) != ASKED:
            raise BadArgument("these questions are asked when you have played all your games, or have stopped")
        self.people.answer(person.number, self._answers(message, AFTER))

    def _answers(self, message: Mapping[str, Any], when: str) -> dict[str, str]:
        given = message.get("answers")
        if not isinstance(given, dict):
            raise BadArgument("answers is an object")
        answers = {}
        for question in self._questions(when):
            text = text_of(given, question.key, LONGEST_ANSWER).strip()
            if question.choices and text not in question.choices:
                raise BadArgument(f"choose one of {', '.join(question.choices)}: {question.text}")
            answers[question.key] = text
        return answers

    def _questions(self, when: str) -> list[Any]:
        return [question for question in self.protocol.questions if question.when == when]

    def stop(self, person: Participant, message: Mapping[str, Any]) -> None:
        """Let a participant stop: they play no further game, and what they have played counts."""
        if person.stopped is None:
            self.people.note(person.number, "stopped")

    def delete(self, person: Participant) -> list[str]:
        """Delete all that there is of a participant: answers, games with all moves, seats, code. Returns the tables.

        What was exported before is deleted as a whole, and can be exported again without them.
        """
        with self._joining:
            tables = self.people.delete(person.number)
            for table in tables:
                self.room.forget(table)
            if self.exports.is_dir():
                for file in [*self.exports.glob("*.csv"), *self.exports.glob("*.jsonl.gz")]:
                    file.unlink(missing_ok=True)
        return [*tables]

    # Games.

    def place(self, person: Participant) -> str:
        """Where a participant is: one of `AGREE`, `PLAY`, `ASKED` and `DONE`."""
        if person.agreed is None:
            return AGREE
        if self.running(person) is not None and person.stopped is None:
            return PLAY
        if not self.why_not(person):
            return PLAY
        asked = [question.key for question in self._questions(AFTER)]
        return ASKED if set(asked) - set(person.answers) else DONE

    def running(self, person: Participant) -> str | None:
        """The table at which a participant has a game that is not over, None if there is none."""
        return person.tables[-1] if len(person.tables) > person.finished else None

    def why_not(self, person: Participant) -> str:
        """Why a participant may begin no further game, in a sentence; "" if they may."""
        if person.agreed is None:
            return "nobody plays before they have agreed"
        if person.stopped is not None:
            return "you have stopped"
        if len(person.tables) >= self.protocol.games_each:
            return "you have played all your games"
        return self.why_ended

    @property
    def why_ended(self) -> str:
        """Why no further game is begun in the study; "" if games may be."""
        return why_ended(self.protocol, self.people.all())

    @property
    def is_over(self) -> bool:
        """Whether no further game is begun and none is played."""
        return is_over(self.protocol, self.people.all())

    def next(self, number: int, code: str) -> str:
        """The id of the table at which a participant goes on: their running game, or their next one.

        Raises BadArgument if they have none.
        """
        with self._joining:
            person = self.people.of_number(number)
            if person.stopped is not None:
                raise BadArgument("you have stopped")
            running = self.running(person)
            if running is not None:
                return running
            if why := self.why_not(person):
                raise BadArgument(why)
            place = len(person.tables)
            sitting = self.protocol.sitting(person.number - 1, place)
            offer = self.room.offers[sitting.table.game]
            known = self.room.store.add_person(digest(code))
            own = SeatRow(
                name="you", person=known, token=digest(code), level=person.answers.get(self.protocol.level, "")
            )
            seats = [own if spec == HUMAN else SeatRow(agent=spec) for spec in sitting.line_up]
            row = TableRow(
                new_token(), offer.key, offer.game.version, offer.game.canonical(sitting.table.variant or None),
                commitment.new_secret(), seats, self.protocol.pause,
            )  # fmt: skip
            self.room.add(row)
            self.people.sit(row.id, person.number, place)
            return row.id

    # What pages are told.

    def state(self, person: Participant) -> dict[str, Any]:
        """What a participant is shown beside their games."""
        protocol, place = self.protocol, self.place(person)
        when = {AGREE: BEFORE, ASKED: AFTER}.get(place, "")
        questions = [[one.key, one.text, list(one.choices)] for one in self._questions(when)]
        return {
            "place": place, "title": protocol.title, "contact": protocol.contact, "consent": protocol.consent.strip(),
            "time": words_of(protocol.time),
            "person": person.name, "questions": questions, "finished": person.finished, "most": protocol.games_each,
            "running": self.running(person), "why": self.why_not(person),
        }  # fmt: skip

    def progress(self) -> dict[str, Any]:
        """What the organiser is shown: how far everybody is, and nothing of how they did."""
        now, everybody = time.time(), self.people.all()
        rows = [
            [
                person.name,
                "has not come" if person.seen is None else "stopped" if person.stopped else self.place(person),
                person.finished,
                len(person.tables) - person.finished,
                None if person.seen is None else round(now - person.seen),
            ]
            for person in everybody
        ]
        return {
            "title": self.protocol.title, "digest": self.protocol.digest, "people": rows, "over": self.is_over,
            "why": self.why_ended, "deleted": self.people.deleted,
            "finished": sum(person.finished for person in everybody),
            "results": self.protocol.results == ALWAYS or self.is_over,
        }  # fmt: skip
