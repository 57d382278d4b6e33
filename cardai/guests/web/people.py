"""How people have done at the tables of a store: what a person like them scores, with intervals over people.

Games of one person are not independent, so each person counts once, however many games they played. Study games count
in no figure. Games that were dealt and not finished are counted both ways: left out, and as the worst score. So are,
for a person, games in which an agent made some of their moves; for the others at the table such an agent is one of the
opponents.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardai.game import Game
from cardai.guests.web.store import RESIGNED, Store, TableRow
from cardai.playing.stats.interval import Estimate, of_people
from cardai.playing.stats.measure import label_of, win_shares
from cardai.playing.stats.report import Report


@dataclass(frozen=True)
class Figures:
    """Means over people of the means of their games; the bounds are NaN for fewer than `FEWEST_PEOPLE`.

    - `score`: in the unit of the game's payoff. `share`: of the win, 1/k for each of the k seats (of teams, the k
      teams) with the best score of the table.
    - `loss`: the share of games with score 0. None in a game whose tables do not count losses (`Learning.measures`):
      there a score of 0 is no loss, or is that of most seats.
    """

    score: Estimate
    share: Estimate
    loss: Estimate | None


@dataclass(frozen=True)
class PeopleRow(Figures):
    """How people did at tables of one variant, number of seats and set of opponents, in finished games.

    - `games`: games of a person that were finished; `people`: who played them; `unfinished`: games that were not, or in
      which an agent made some of their moves.
    - `with_all`: the figures with unfinished games as the worst score and no win.
    - `fair_score`: the mean score of a seat, None if the game does not promise it; `fair_share`: the share of the win
      of equal players, 1 / seats or 1 / teams; `fair_loss`: how often a seat lost, of all seats in the finished games.
    """

    variant: str
    seats: int
    opponents: tuple[str, ...]
    games: int
    people: int
    unfinished: int
    with_all: Figures
    fair_score: float | None
    fair_share: float
    fair_loss: float | None


@dataclass(frozen=True)
class PeopleReport(Report, drawn_by="cardai.guests.web.shown:people", about={"kind": "people"}):
    """The rows of a game, the most games first.

    `teams`: how many teams play, 0 if each seat plays for itself. `unit`: that of the payoff, "" for scores. `study`:
    games that were left out because hints were allowed.
    """

    game: str
    title: str
    teams: int
    rows: tuple[PeopleRow, ...]
    study: int
    unit: str = ""


def measure_people(store: Store, game: Game) -> PeopleReport:
    """How people did at the tables of a game. Rows are of games that people played in the present version of it."""
    groups: dict[tuple[str, int, tuple[str, ...]], list[_PersonalGame]] = {}
    study = 0
    for row in _tables(store, game):
        if row.study:
            study += 1
            continue
        for place, seat in enumerate(row.seats):
            if seat.agent is None and seat.person is not None:
                is_own = row.scores is not None and not seat.helpers and seat.gone != RESIGNED
                others = [other for other in row.seats if other is not seat]
                opponents = {other.agent for other in others if other.agent}.union(*(one.helpers for one in others))
                games = groups.setdefault((row.variant, len(row.seats), tuple(sorted(opponents))), [])
                games.append(_PersonalGame(seat.person, place, np.array(row.scores) if is_own else None))
    rows = [_row(game, *key, games) for key, games in groups.items()]
    rows.sort(key=lambda row: -row.games)
    unit = game.payoff.counted
    return PeopleReport(game.name, game.title, game.teams, tuple(rows), study, unit)


def _tables(store: Store, game: Game) -> Iterable[TableRow]:
    for table in store.dealt(game.name):
        row = store.table(table)
        if row is not None and row.version == game.version:
            yield row


class _PersonalGame(NamedTuple):
    """A game of a person: their seat, and the scores of all seats, None if it was not finished."""

    person: int
    place: int
    scores: np.ndarray | None


def _row(game: Game, variant: str, seats: int, opponents: tuple[str, ...], games: list[_PersonalGame]) -> PeopleRow:
    finished = [one for one in games if one.scores is not None]
    own, total = _figures(game, finished), game.score_sum(seats)
    lost = [np.mean(label_of(game.payoff, "loss", np.array(one.scores))) for one in finished]
    return PeopleRow(
        **vars(own),
        variant=variant,
        seats=seats,
        opponents=opponents,
        games=len(finished),
        people=len({one.person for one in finished}),
        unfinished=len(games) - len(finished),
        with_all=_figures(game, games),
        fair_score=None if total is None else total / seats,
        fair_share=1 / (game.teams or seats),
        fair_loss=float(np.mean(lost)) if lost and own.loss is not None else None,
    )


def _figures(game: Game, games: list[_PersonalGame]) -> Figures:
    """The figures of games. One that was not finished has the worst score and no part of the win."""
    counts_losses, payoff = not game.learning.measures or "loss" in game.learning.measures, game.payoff
    own = [(one.person, np.array(0.0 if one.scores is None else one.scores[one.place])) for one in games]
    score = [(person, float(payoff.of(one))) for person, one in own]
    share = [(one.person, 0.0 if one.scores is None else share_of(game, one.scores, one.place)) for one in games]
    loss = [(person, float(label_of(payoff, "loss", one))) for person, one in own]
    lost = over_people(loss) if counts_losses else None
    return Figures(over_people(score, payoff.low, payoff.high), over_people(share), lost)


def share_of(game: Game, scores: np.ndarray, place: int) -> float:
    """The share of the win of a seat, in a game of teams of its team, whose seats score alike."""
    sides = scores[: game.teams] if game.teams else scores
    return float(win_shares(sides)[place % len(sides)])


def by_person(values: Iterable[tuple[Any, float]]) -> dict[Any, list[float]]:
    """The values of each person, of (person, value)."""
    found: dict[Any, list[float]] = {}
    for person, value in values:
        found.setdefault(person, []).append(value)
    return found


def over_people(values: Iterable[tuple[Any, float]], least: float = 0.0, most: float = 1.0) -> Estimate:
    """What a person scores in the mean, of games (person, value from `least` to `most`)."""
    found = by_person(values)
    table = np.full((len(found), max(map(len, found.values()), default=1)), np.nan)
    for row, own in zip(table, found.values(), strict=True):
        row[: len(own)] = own
    return of_people(table, least, most)
