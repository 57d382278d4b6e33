"""The same deal for several people, each at a table of their own: same seat, same agents, same random streams.

A challenge has a code and is for a number of people. Whoever has the code sits down once. The deal, and how others did,
stay on the server until all have finished, or until somebody who has finished ends it without the others; then agents
play the deal in the same seat too.
"""

import secrets
from dataclasses import dataclass, replace
from typing import Any

from cardai.errors import BadArgument
from cardai.guests.web.guards import new_token
from cardai.guests.web.offers import Offer
from cardai.guests.web.store import Store, TableRow
from cardai.playing.agents.spec import Agent
from cardai.playing.table.one import OneGame

FEWEST, MOST = 2, 16  # people
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # none that are easily taken for one another
IDLE = 600.0  # seconds without a move in a challenge after which those who have finished may end it
_LENGTH = 10  # letters of a code


@dataclass(frozen=True)
class Standing:
    """How a challenge stands: for how many people it is, and the tables of those who have sat down.

    `ended`: whether it was ended before all had finished. `counted`: the tables whose scores count.
    """

    people: int
    rows: tuple[TableRow, ...]
    ended: bool
    counted: tuple[TableRow, ...]

    @property
    def finished(self) -> int:
        """How many have finished."""
        return len(self.counted)

    @property
    def is_over(self) -> bool:
        """Whether all have finished, or it was ended without the others."""
        return self.ended or self.finished >= self.people

    def table_of(self, person: int) -> str | None:
        """The id of a person's table, if they have one."""
        return next((row.id for row in self.rows if row.seats[seat_of(row)].person == person), None)


def new_code() -> str:
    """A code that nobody can guess."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def people_in(wish: object) -> int:
    """For how many people a browser wishes a challenge to be. Raises BadArgument for anything but a number of them."""
    if isinstance(wish, bool) or not isinstance(wish, int) or not FEWEST <= wish <= MOST:
        raise BadArgument(f"a challenge is for {FEWEST} to {MOST} people")
    return wish


def standing(store: Store, code: str) -> Standing | None:
    """How the challenge with a code stands. None if there is none."""
    found = store.challenge(code)
    if found is None:
        return None
    rows = tuple(row for table in found.tables if (row := store.table(table)) is not None)
    return Standing(found.people, rows, found.ended, tuple(row for row in rows if row.id in found.finished))


def seat_of(row: TableRow) -> int:
    """The seat of the person at a table of a challenge."""
    return next(seat for seat, found in enumerate(row.seats) if found.agent is None)


def another_table(first: TableRow, name: str, person: int, token: bytes, level: str) -> TableRow:
    """The row of a further table of the challenge that `first` belongs to, for another person."""
    place = seat_of(first)
    seats = [replace(row, name=name, person=person, token=token, level=level) if i == place else replace(row)
             for i, row in enumerate(first.seats)]  # fmt: skip
    return TableRow(
        new_token(), first.game, first.version, first.variant, first.secret, seats, first.pause,
        challenge=first.challenge,
    )  # fmt: skip


def results(offer: Offer, reached: Standing) -> dict[str, Any]:
    """What all who finished are shown: the scores of people, and of agents that play the deal in the same seat."""
    first = reached.rows[0]
    place, seated = seat_of(first), [row.agent for row in first.seats if row.agent is not None]
    payoff, done = offer.game.payoff, [(row, row.scores) for row in reached.counted if row.scores is not None]
    people = [[row.seats[place].name, float(payoff.of(scores[place]))] for row, scores in done]
    agents = [[offer.agents[key].label, _score_of(offer, first, place, offer.agents[key])]
              for key in dict.fromkeys(seated) if key in offer.agents]  # fmt: skip
    return {"people": people, "agents": agents}


def _score_of(offer: Offer, row: TableRow, place: int, player: Agent) -> float:
    """The score of an agent in the seat of the person, on the same deal."""
    agents = [player if seat.agent is None else offer.agent_of(seat.agent) for seat in row.seats]
    table = OneGame(offer.game, agents, row.seed or 0, row.variant)
    table.run()
    return float(offer.game.payoff.of(table.scores()[place]))
