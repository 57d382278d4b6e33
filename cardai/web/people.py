"""How people have done at the tables of a store, with intervals that take a person's games together.

Games of one person are not independent, so a person is a cluster. Study games count in no figure. Games that were dealt
and not finished are counted both ways: left out, and as the worst score.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from cardai.game import Game
from cardai.stats.interval import Estimate, estimate, proportion
from cardai.stats.jsonable import plain
from cardai.web.store import LEVELS, Store, TableRow

FEWEST = 10  # people, for an interval that speaks of others too


@dataclass(frozen=True)
class PeopleRow:
    """How people did at tables of one variant, number of seats and set of opponents.

    - `games`: games of a person that were finished; `people`: who played them; `unfinished`: games that were not.
    - `score`: the mean score, `loss`: the share of score 0, of finished games; `score_with_all`, `loss_with_all`: with
      unfinished games as score 0. The bounds are NaN if fewer than `FEWEST` people played.
    - `levels`: the same for the people of each level that was stated, see `PeopleLevel`; empty if nobody stated one.
    - `fair_score`: the mean score of a seat, None if the game does not promise it; `fair_share`: 1 / seats.
    """

    variant: str
    seats: int
    opponents: tuple[str, ...]
    games: int
    people: int
    unfinished: int
    score: Estimate
    loss: Estimate
    score_with_all: Estimate
    loss_with_all: Estimate
    fair_score: float | None
    fair_share: float
    levels: tuple["PeopleLevel", ...] = ()


@dataclass(frozen=True)
class PeopleLevel:
    """How those people did who said of themselves before the game that they play at this `level`; "" if they said none.

    The figures are those of `PeopleRow`, of finished games.
    """

    level: str
    games: int
    people: int
    score: Estimate
    loss: Estimate


@dataclass(frozen=True)
class PeopleReport:
    """The rows of a game, the most games first. `study`: games that were left out because hints were allowed."""

    game: str
    title: str
    rows: tuple[PeopleRow, ...]
    study: int

    def as_json(self) -> dict[str, Any]:
        """This report as plain JSON types."""
        return plain({"kind": "people"} | asdict(self))


def measure_people(store: Store, game: Game) -> PeopleReport:
    """How people did at the tables of a game. Rows are of games that people played in the present version of it."""
    groups: dict[tuple[str, int, tuple[str, ...]], list[_PersonalGame]] = {}
    study = 0
    for row in _tables(store, game):
        if row.study:
            study += 1
            continue
        opponents = tuple(sorted({seat.agent for seat in row.seats if seat.agent is not None}))
        games = groups.setdefault((row.variant, len(row.seats), opponents), [])
        for place, seat in enumerate(row.seats):
            if seat.agent is None and seat.person is not None:
                score = math.nan if row.scores is None else row.scores[place]
                games.append(_PersonalGame(seat.person, score, seat.level))
    rows = [_row(game, *key, games) for key, games in groups.items() if games]
    return PeopleReport(game.name, game.title, tuple(sorted(rows, key=lambda row: -row.games)), study)


def _tables(store: Store, game: Game) -> Iterable[TableRow]:
    for table in store.dealt(game.name):
        row = store.table(table)
        if row is not None and row.version == game.version:
            yield row


class _PersonalGame(NamedTuple):
    """A game of a person: their score, NaN if it was not finished, and the level that they stated."""

    person: int
    score: float
    level: str


def _row(game: Game, variant: str, seats: int, opponents: tuple[str, ...], games: list[_PersonalGame]) -> PeopleRow:
    finished = [(one.person, one.score) for one in games if not math.isnan(one.score)]
    everything = [(one.person, 0.0 if math.isnan(one.score) else one.score) for one in games]
    total = game.score_sum(seats)
    return PeopleRow(
        variant,
        seats,
        opponents,
        len(finished),
        len({person for person, _ in finished}),
        len(games) - len(finished),
        _estimated(finished),
        _estimated(finished, losses=True),
        _estimated(everything),
        _estimated(everything, losses=True),
        None if total is None else total / seats,
        1 / seats,
        tuple(_levels(games)),
    )


def _levels(games: list[_PersonalGame]) -> Iterator[PeopleLevel]:
    """The figures of each level, if any was stated."""
    stated = {one.level for one in games}
    for level in (*LEVELS, "") if stated - {""} else ():
        finished = [(one.person, one.score) for one in games if one.level == level and not math.isnan(one.score)]
        if finished:
            people = len({person for person, _ in finished})
            yield PeopleLevel(level, len(finished), people, _estimated(finished), _estimated(finished, losses=True))


def _estimated(games: list[tuple[int, float]], losses: bool = False) -> Estimate:
    """The mean over games with an interval over people, without one if there are fewer than `FEWEST`."""
    by_person: dict[int, list[float]] = {}
    for person, score in games:
        by_person.setdefault(person, []).append(float(score == 0.0) if losses else score)
    table = np.full((len(by_person), max(map(len, by_person.values()), default=1)), np.nan)
    for values, row in zip(by_person.values(), table, strict=True):
        row[: len(values)] = values
    found = proportion(table) if losses else estimate(table)
    if len(by_person) < FEWEST:
        return Estimate(found.point, math.nan, math.nan, found.n, found.deals, found.design_effect)
    return found
