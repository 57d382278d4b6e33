"""How many people and games a study of people needs, before anybody plays: agents of unequal strength stand for people.

Each agent plays at the study's table, and how it does there is its strength. Then studies are drawn: so many people,
each as strong as one of the agents, with so many games. What their interval over people would have shown is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cardai.errors import CardaiError, whole
from cardai.game import MEASURES, Game, is_game
from cardai.guests.web.protocol import Plan
from cardai.measure.duplicate import outcomes, outcomes_of_place, play_rotated
from cardai.playing.agents.spec import HUMAN, agent
from cardai.playing.progress import Progress
from cardai.playing.stats.deals import rotations
from cardai.playing.stats.interval import FEWEST_PEOPLE, Estimate, of_people
from cardai.playing.stats.measure import measure_of
from cardai.playing.stats.report import Report

POWER = 0.8
DRAWN = 1000  # studies of each size


@dataclass(frozen=True)
class PlanPerson:
    """An agent that stands for people: its mean at the study's table over `games`, in the unit of the measure."""

    spec: str
    mean: float
    games: int


@dataclass(frozen=True)
class PlanRow:
    """What studies of one size show, in the unit of the measure.

    - `people`, `games`: how many people, and games of each.
    - `width`: of the interval, in the median. `shows`: the difference from the truth that four of five studies would
      exclude: what is nearer cannot be told from it. `covers`: how many intervals contain the truth, in [0, 1].
    """

    people: int
    games: int
    width: float
    shows: float
    covers: float


@dataclass(frozen=True)
class StudyPlan(Report, drawn_by="cardai.guests.web.shown:plan", about={"kind": "plan"}):
    """Studies that were drawn, `drawn` of each size. `truth`: the mean of the agents that stand for people."""

    game: str
    variant: str
    line_up: tuple[str, ...]
    measure: str
    title: str
    scale: int
    seed: int
    drawn: int
    truth: float
    persons: tuple[PlanPerson, ...]
    rows: tuple[PlanRow, ...]


def plan_study(
    game: Game,
    line_up: Sequence[str],
    wishes: Plan,
    measure: str = "score",
    variant: str | None = None,
    trials: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
) -> StudyPlan:
    """What studies of the sizes in `wishes` would show, if people were as strong as its agents.

    `line_up`: the specs of the study's table, "human" in one seat, which goes round the table from game to game.
    `measure`: one of `MEASURES`. `trials`: the games by which the strength of an agent is found. Raises CardaiError for
    a table without one human, specs that do not fit, and fewer people than an interval needs.
    """
    places = [place for place, spec in enumerate(line_up) if spec == HUMAN]
    if len(places) != 1:
        raise CardaiError(f"the table of a plan has one seat for a person, {HUMAN!r}, not {len(places)}")
    persons, people, games = wishes.persons, wishes.people, wishes.games
    if measure not in MEASURES or not persons or not people or not games:
        raise CardaiError(f"a plan is for one of {', '.join(MEASURES)}, for persons, numbers of people and of games")
    for number in people:
        whole("people", number, FEWEST_PEOPLE)  # fewer have no interval
    for number in games:
        whole("games", number, 1)
    whole("trials", trials, 1)
    own, found, place = measure_of(is_game(game), measure), [], game.canonical(variant)
    for number, spec in enumerate(persons):
        if progress is not None:
            progress(number, len(persons), f"{spec} plays")
        found.append(_outcomes(game, line_up, places[0], spec, measure, place, trials, seed))
    truth = float(np.mean([got.mean() for got in found]))
    rng, rows = np.random.default_rng(seed), []
    for count in people:
        for each in games:
            studies = [_study(rng, found, count, each, own.low, own.high) for _ in range(DRAWN)]
            low, high = np.array([(study.low, study.high) for study in studies]).T
            away = np.quantile(np.maximum(high - truth, truth - low), POWER)
            covers = float(np.mean((low <= truth) & (truth <= high)))
            rows.append(PlanRow(count, each, float(np.median(high - low)), float(away), covers))
    tested = tuple(PlanPerson(spec, float(got.mean()), len(got)) for spec, got in zip(persons, found, strict=True))
    return StudyPlan(
        game.name, place, tuple(line_up), measure, own.title, own.scale, seed, DRAWN, truth, tested, tuple(rows)
    )


def _outcomes(
    game: Game, line_up: Sequence[str], place: int, spec: str, measure: str, variant: str, trials: int, seed: int
) -> np.ndarray:
    """What an agent in the person's place makes of games at the study's table, f8[games that ended]."""
    agents = [agent(game, spec if seat == place else other) for seat, other in enumerate(line_up)]
    turns = rotations(len(agents))
    results, sat = play_rotated(game, agents, turns, -(-trials // len(turns)), seed, variant, None, None)
    values = outcomes_of_place(sat, place, outcomes(game.payoff, measure, results.complete())).ravel()
    return values[np.isfinite(values)]


def _study(
    rng: np.random.Generator, found: Sequence[np.ndarray], people: int, games: int, low: float, high: float
) -> Estimate:
    """The estimate of a study of people, each as strong as one of the agents."""
    chosen = rng.integers(len(found), size=people)
    return of_people(np.array([rng.choice(found[who], games) for who in chosen]), low, high)
