"""The same deal for several people, each at a table of their own: same seat, same agents, same random streams.

A challenge has a code and is for a number of people. Whoever has the code sits down once. The deal, and how others did,
stay on the server until all have finished, or until somebody who has finished ends it without the others; then agents
play the deal in the same seat too.
"""

import secrets
from dataclasses import replace
from typing import Any

from cardai.guests.web.guards import new_token
from cardai.guests.web.offers import Offer
from cardai.guests.web.store import ChallengeRow, TableRow
from cardai.playing.agents.spec import Agent
from cardai.playing.table.one import OneGame

FEWEST, MOST = 2, 16  # people
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # none that are easily taken for one another
IDLE = 600.0  # seconds without a move in a challenge after which those who have finished may end it
_LENGTH = 10  # letters of a code


def new_code() -> str:
    """A code that nobody can guess."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def another_table(first: TableRow, name: str, person: int, token: bytes) -> TableRow:
    """The row of a further table of the challenge that `first` belongs to, for another person."""
    place = first.person_seat
    seats = [replace(row, name=name, person=person, token=token) if i == place else replace(row)
             for i, row in enumerate(first.seats)]  # fmt: skip
    return TableRow(
        new_token(), first.game, first.version, first.variant, first.secret, seats, first.pause,
        challenge=first.challenge,
    )  # fmt: skip


def results(offer: Offer, reached: ChallengeRow) -> dict[str, Any]:
    """What all who finished are shown: the scores of people, and of agents that play the deal in the same seat."""
    first = reached.tables[0]
    place, seated = first.person_seat, [row.agent for row in first.seats if row.agent is not None]
    payoff, done = offer.game.payoff, [(row, row.scores) for row in reached.finished if row.scores is not None]
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
