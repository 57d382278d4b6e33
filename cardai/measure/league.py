"""Every shipped agent of every game against the others, with one rating for each.

    league = run_all(games=1_000)

`cardai.measure.pool` says which tables there are and which agents play there. Each deal is played by a line-up of the
table's pool in all rotations. In a game of teams an agent plays a whole team, and teams are rated like single players.
`cardai.measure.history` keeps the ratings of earlier runs and compares with them.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cardai.agents.spec import Agent
from cardai.errors import CardaiError, positive
from cardai.measure.pool import ANCHOR, PlannedTable, draw_lineups, table_name, tables_of
from cardai.registry import available
from cardai.stats import interval
from cardai.stats.deals import deal_seeds, rotations, whole_rotations
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine, thread_count
from cardai.stats.progress import CountProgress, Progress, begin_part
from cardai.stats.ratings import rate
from cardai.stats.report import Report
from cardai.table.many import Results, play

GAMES = 10_000
"""The default number of games for each table."""
FORMAT = "cardai league 1"

_SPEED_GAMES = 8, 8, 32, 128, 512, 2048  # played one after the other to time an agent; the first warm it up
_SPEED_SECONDS = 0.3  # the first games that take so long are the measurement


@dataclass(frozen=True)
class LeagueStanding:
    """One agent at one table.

    - `rating`: Elo points above `ANCHOR`; `score` and `loss`: in percent of its games, those of a team once.
    - `decisions_per_second`: with the agent in all seats, on all threads; one measurement, without an interval.
    """

    agent: str
    spec: str
    about: str
    rating: Estimate
    score: Estimate
    loss: Estimate
    decisions_per_second: float


@dataclass(frozen=True)
class LeagueTable:
    """What was played at one table.

    - `picked`: whether its ratings are about who comes "first" or "last".
    - `endless`: games given up after the game's `max_plies` moves. They count in no figure.
    - `unrated`: why there are no ratings; empty if there are.
    """

    game: str
    version: int
    variant: str
    seats: int
    picked: str
    games: int
    deals: int
    endless: int
    seconds: float
    decisions: int
    standings: tuple[LeagueStanding, ...]
    unrated: str = ""

    @property
    def name(self) -> str:
        """For people."""
        return table_name(self.game, self.variant, self.seats)


@dataclass(frozen=True)
class RatingChange:
    """The rating of an agent at a table less its rating in an earlier run, and "better", "worse" or "undecided"."""

    table: str
    spec: str
    difference: Estimate
    verdict: str


@dataclass(frozen=True)
class RatingComparison:
    """The ratings of a league compared with those of an earlier run, which `then` describes.

    `new`, `gone`: agents that only this run, or only the earlier one, has. `same_pools`: whether the compared tables
    have the same agents in both runs.
    """

    then: str
    changes: tuple[RatingChange, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    same_pools: bool


@dataclass(frozen=True)
class League(Report, drawn_by="cardai.show.league:table"):
    """What was played.

    - `asked`: games asked for at each table. Whole rotations make it a few more.
    - `left_out`: models that fit no table, by "game: model", and games that do not load, each with the reason.
    - `unplayed`: tables that were not finished.
    """

    seed: int
    asked: int
    threads: int
    tables: tuple[LeagueTable, ...]
    left_out: Mapping[str, str]
    unplayed: tuple[str, ...]
    seconds: float
    interrupted: bool
    comparison: RatingComparison | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns this league and the machine it was measured on as plain JSON types. An infinite bound is null."""
        about = {"format": FORMAT, "anchor": ANCHOR, "level": interval.LEVEL, "machine": machine()}
        return plain(about | asdict(self))


def run_all(
    names: Sequence[str] | None = None,
    games: int = GAMES,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> League:
    """Play every table of the named games, by default of all available games, and rate all agents.

    Each table plays ceil(games / rotations) deals; tables with the same number of seats play the same deals. Rotations
    in which a small pool seats the same agents alike are one game and played once. Ctrl-C ends the run; the league then
    has the tables finished so far. Raises CardaiError for games or threads below 1 and for a named game that is
    unknown.
    """
    games, threads = positive("games", games), thread_count(threads)
    began, interrupted = time.perf_counter(), False
    left_out: dict[str, str] = {}
    planned: list[PlannedTable] = []
    tables: list[LeagueTable] = []
    try:
        for name in available() if names is None else names:
            planned += tables_of(name, names is not None, left_out)
        total = sum(whole_rotations(games, plan.sides) for plan in planned)
        for i, plan in enumerate(planned):
            done = sum(whole_rotations(games, earlier.sides) for earlier in planned[:i])
            part = begin_part(progress, done, total, plan.name)
            try:
                tables.append(_play_table(plan, games, seed, threads, part))
            except CardaiError as error:  # a game or agent that breaks its contract costs its own table only
                left_out[plan.name] = str(error)
    except KeyboardInterrupt:
        interrupted = True
    over = {*left_out, *(table.name for table in tables)}
    return League(
        seed=seed,
        asked=games,
        threads=threads,
        tables=tuple(tables),
        left_out=left_out,
        unplayed=tuple(plan.name for plan in planned if plan.name not in over),
        seconds=time.perf_counter() - began,
        interrupted=interrupted,
    )


def _play_table(plan: PlannedTable, games: int, seed: int, threads: int, progress: CountProgress | None) -> LeagueTable:
    """Play all deals of a table and time its agents. Raises KeyboardInterrupt at Ctrl-C."""
    deals = -(-games // plan.sides)
    drawn = draw_lineups(len(plan.pool), plan.sides, deals, seed)[:, rotations(plan.sides)]  # [deals, rotations, sides]
    is_new = np.stack([(drawn[:, :turn] != drawn[:, [turn]]).any(axis=2).all(axis=1) for turn in range(plan.sides)], 1)
    lineups, seeds = np.tile(drawn, plan.seats // plan.sides)[is_new], np.repeat(deal_seeds(seed, deals), plan.sides)
    results = _complete(
        play(
            plan.game,
            plan.pool,
            lineups,
            seeds[is_new.reshape(-1)],
            variant=plan.variant,
            threads=threads,
            progress=progress,
        )
    )
    scores = np.full(drawn.shape, np.nan)
    scores[is_new] = np.where(results.finished[:, None], results.scores, np.nan)[:, : plan.sides]
    speeds = [_speed(plan, player, seed, threads) for player in plan.pool]
    return _summarise(plan, drawn, scores, results, speeds, seed)


def _speed(plan: PlannedTable, player: Agent, seed: int, threads: int) -> float:
    """The decisions a second of an agent that plays against itself."""
    speed = 0.0
    for i, games in enumerate(_SPEED_GAMES):
        lineups, seeds = np.zeros((games, plan.seats), np.int64), deal_seeds(seed, games)
        results = _complete(play(plan.game, [player], lineups, seeds, variant=plan.variant, threads=threads))
        speed = results.decisions / results.seconds
        if i and results.seconds >= _SPEED_SECONDS:
            break
    return speed


def _complete(results: Results) -> Results:
    """Returns the results. Raises KeyboardInterrupt if `play` was interrupted."""
    if results.interrupted:
        raise KeyboardInterrupt
    return results


def _summarise(
    plan: PlannedTable,
    lineups: np.ndarray,
    scores: np.ndarray,
    results: Results,
    speeds: Sequence[float],
    seed: int,
) -> LeagueTable:
    """The ratings of a table by the agents and the scores of its sides, both [deals, rotations, sides]."""
    unknown = Estimate(math.nan, math.nan, math.nan, 0, 0)
    estimates, picked, unrated = (unknown,) * len(plan.pool), "", ""
    try:
        ratings = rate(lineups, scores, [player.spec for player in plan.pool], ANCHOR, seed)
        estimates, picked = ratings.figures, ratings.picked
    except CardaiError as error:  # not all agents have met in finished games
        unrated = str(error)
    standings = []
    for i, (player, rating, speed) in enumerate(zip(plan.pool, estimates, speeds, strict=True)):
        own = np.where(lineups == i, scores, np.nan).reshape(len(lineups), -1)
        own = own[np.isfinite(own).any(axis=1)]
        lost = np.where(np.isnan(own), np.nan, own == 0.0)
        figures = rating, interval.estimate(own, seed).scaled(100), interval.proportion(lost).scaled(100)
        standings.append(LeagueStanding(player.label, player.spec, player.about, *figures, speed))
    standings.sort(key=lambda one: (math.isnan(one.rating.point), -one.rating.point, -one.score.point))
    return LeagueTable(
        game=plan.game.name,
        version=plan.game.version,
        variant=plan.variant,
        seats=plan.seats,
        picked=picked,
        games=int(results.finished.sum()),
        deals=len(lineups),
        endless=int(results.endless.sum()),
        seconds=results.seconds,
        decisions=results.decisions,
        standings=tuple(standings),
        unrated=unrated,
    )
