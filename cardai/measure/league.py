"""Every shipped agent of every game against the others, with one rating for each.

    league = run_all(games=1_000)

`cardai.measure.pool` says which tables there are and which agents play there. Each deal is played by a line-up of the
table's pool in all rotations. In a game of teams an agent plays a whole team, and teams are rated like single players.
`cardai.measure.history` keeps the ratings of runs and compares them.

A league has no foreign agents (`Agent.is_foreign`) unless a plan of the caller's names some. At a table with one, no
deal is played twice, and deals have a salt, as in `cardai.measure.bench`.

With a budget of seconds, each agent is timed first, and plays at a table no more deals than it plays in that time: an
agent that is slow has fewer games, and one that cannot play a few deals has none and is named.
"""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.measure.duplicate import needs_own_deals, seeds_of
from cardai.measure.pool import ANCHOR, PlannedTable, draw_lineups, table_name, tables_of
from cardai.measure.speed import SelfPlay
from cardai.playing.agents.spec import Agent
from cardai.playing.machine import thread_count
from cardai.playing.progress import CountProgress, Progress, begin_part
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds, new_salt, rotations
from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.measure import label_of, measure_of
from cardai.playing.stats.ratings import rate
from cardai.playing.stats.report import Report
from cardai.playing.table.many import Results, play
from cardai.registry import available

GAMES = 10_000
"""The default number of games for each table."""
SECONDS = 10.0
"""The budget of `cardai bench --all` for each agent at each table: all of it ends within 20 minutes on two cores."""
FORMAT = "cardai league 1"

_SPEED_GAMES = 1, 8, 32, 128, 512, 2048  # at least, and one for each thread: played to time an agent
_SPEED_SECONDS = 0.3  # the first number of games that takes so long is played again, warm: that is the measurement


@dataclass(frozen=True)
class LeagueStanding:
    """One agent at one table.

    - `rating`: Elo points above `ANCHOR`; `score` and `loss`: in percent of its games, those of a team once; the
      score in the unit of the game's payoff if it has one.
    - `decisions_per_second`: with the agent in all seats, on all threads; one measurement, without an interval.
    - `cut`: whether the budget of seconds ended its games before the others'. `score.n` games were played.
    """

    agent: str
    spec: str
    about: str
    rating: Estimate
    score: Estimate
    loss: Estimate
    decisions_per_second: float
    cut: bool = False


@dataclass(frozen=True)
class LeagueTable:
    """What was played at one table.

    - `picked`: whether its ratings are about who comes "first" or "last"; `unrated`: why there are none, or "".
    - `endless`: games given up after the game's `max_plies` moves. They count in no figure.
    - `cut`: whether fewer deals were played than asked for, since the budgets of the agents were used up.
    - `salt`: made the deals together with the seed; empty if no agent runs code of somebody else's. Otherwise no deal
      was played twice.
    - `unit`: that of the scores, "" if they are in percent.
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
    cut: bool = False
    salt: str = ""
    unit: str = ""

    @property
    def name(self) -> str:
        """For people."""
        return table_name(self.game, self.variant, self.seats)


@dataclass(frozen=True)
class League(
    Report, drawn_by="cardai.cli.show.league:table", about={"format": FORMAT, "anchor": ANCHOR}, on_machine=True
):
    """What was played.

    - `asked`: games asked for at each table. Whole rotations make it a few more.
    - `budget`: the most seconds for each agent at each table; None if all games asked for were played.
    - `left_out`: what was not measured, each with the reason: models that fit no table, by "game: model", agents too
      slow for their budget, by "table: agent", and games that do not load.
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
    budget: float | None = None


@dataclass(frozen=True)
class LeaguePlan:
    """What is to be played: the tables, and what is left out, as in `League`."""

    tables: tuple[PlannedTable, ...]
    left_out: Mapping[str, str]

    def about(self, games: int, budget: float | None) -> str:
        """How long it takes at most, for people."""
        agents = sum(len(table.pool) for table in self.tables)
        places = f"{len(self.tables)} tables" if len(self.tables) != 1 else "1 table"
        what = f"{agents} agents at {places}, {games:,} games at each"
        if budget is None:
            return f"{what}; --seconds bounds the time, which slow agents may make hours"
        minutes = math.ceil(agents * budget / 60)
        return f"{what}, {budget:g} s at most for each agent: up to {minutes} min, and what compiling and timing take"


def plan_all(names: Sequence[str] | None = None) -> LeaguePlan:
    """The tables of the named games, by default of all available games. A game may be named by its path.

    Raises CardaiError for an unknown name, and for two games of one name.
    """
    left_out: dict[str, str] = {}
    named = list(available()) if names is None else names
    tables: list[PlannedTable] = []
    places: dict[str, int] = {}
    for place, name in enumerate(named):
        for table in tables_of(name, names is not None, left_out):
            other = places.setdefault(table.game.name, place)
            if other != place:  # nobody could tell their figures apart
                both = f"{named[other]} and {name} are both games named {table.game.name!r}"
                raise CardaiError(f"{both}; name one of them only")
            tables.append(table)
    return LeaguePlan(tuple(tables), left_out)


def run_all(
    names: Sequence[str] | None = None,
    games: int = GAMES,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
    plan: LeaguePlan | None = None,
) -> League:
    """Play every table of the named games, by default of all available games, and rate all agents.

    Each table plays ceil(games / rotations) deals; tables with the same number of seats play the same deals. Rotations
    in which a small pool seats the same agents alike are one game and played once. Ctrl-C ends the run; the league then
    has the tables finished so far.

    `budget`: about how many seconds the decisions of each agent at each table may take, see the top of this module.
    Which deals an agent plays then depends on the speed of the machine; without a budget, the figures repeat. `plan`:
    what `plan_all` has made of the names.

    Raises CardaiError for games or threads below 1, a budget that is not above 0, and a named game that is unknown.
    """
    games, threads = positive("games", games), thread_count(threads)
    if budget is not None and not 0 < budget < math.inf:
        raise CardaiError(f"the budget must be a number of seconds above 0, not {budget:g}")
    began, interrupted = time.perf_counter(), False
    left_out: dict[str, str] = {}
    planned: Sequence[PlannedTable] = ()
    tables: list[LeagueTable] = []
    try:
        plan = plan or plan_all(names)
        planned, left_out = plan.tables, dict(plan.left_out)
        ends = [0, *itertools.accumulate(-(-games // table.sides) * table.sides for table in planned)]
        for table, done in zip(planned, ends, strict=False):
            part = begin_part(progress, done, ends[-1], table.name)
            try:
                tables.append(summarised(play_table(table, games, seed, threads, part, budget, left_out), seed))
            except CardaiError as error:  # a game or agent that breaks its contract costs its own table only
                left_out[table.name] = str(error)
    except KeyboardInterrupt:
        interrupted = True
    over = {*left_out, *(table.name for table in tables)}
    return League(
        seed=seed,
        asked=games,
        threads=threads,
        tables=tuple(tables),
        left_out=left_out,
        unplayed=tuple(table.name for table in planned if table.name not in over),
        seconds=time.perf_counter() - began,
        interrupted=interrupted,
        budget=budget,
    )


class Speed(NamedTuple):
    """How fast an agent plays in all seats, on all threads. `milliseconds`: of a processor, for one decision."""

    decisions_per_second: float
    seconds_a_game: float
    milliseconds: float


@dataclass(frozen=True)
class PlayedTable:
    """The games of a table, before anything is computed from them.

    - `lineups`: i64[deals, rotations, sides], places in the pool of `plan`; `scores`: f8 of the same shape, NaN for
      games that were not played or not finished.
    - `speeds`, `has_left`: of each agent of the pool, its speed, and whether it played all games that it might.
    - `cut`, `salt`: as in `LeagueTable`.
    """

    plan: PlannedTable
    lineups: np.ndarray
    scores: np.ndarray
    results: Results
    speeds: tuple[Speed, ...]
    has_left: tuple[bool, ...]
    cut: bool
    salt: str


def play_table(
    plan: PlannedTable,
    games: int,
    seed: int,
    threads: int,
    progress: CountProgress | None,
    budget: float | None,
    left_out: dict[str, str],
    salt: str = "",
    most: int | None = None,
    speeds: Mapping[str, Speed] | None = None,
) -> PlayedTable:
    """Time the agents of a table and play its deals. Agents too slow for the budget are noted in `left_out`.

    `salt`: makes other deals of the seed; drawn anew if an agent runs code of somebody else's. `most`: in how many
    deals an agent plays at most. `speeds`: of the agents by spec, if they have been timed. Raises KeyboardInterrupt at
    Ctrl-C, and CardaiError if fewer than two agents are quick enough.
    """
    salt = new_salt() if needs_own_deals(plan.pool) else salt
    # Timing seats an agent everywhere, so code that remembers must not meet these deals again.
    timing = int(deal_seeds(seed, 1, f"{salt} timing")[0]) if salt else seed
    speeds = speeds or {player.spec: speed_of(plan, player, timing, threads) for player in plan.pool}
    limits = None
    if budget is not None:
        plan = _within_budget(plan, speeds, budget, left_out)
        limits = [
            math.inf if player.spec == ANCHOR else int(budget / speeds[player.spec].seconds_a_game)
            for player in plan.pool
        ]
    if most is not None:
        limits = [min(limit, most) for limit in limits or [math.inf] * len(plan.pool)]
    asked = -(-games // plan.sides)
    lineup_of = draw_lineups(len(plan.pool), plan.sides, asked, seed, limits)
    deals, sat = len(lineup_of), np.bincount(lineup_of.reshape(-1), minlength=len(plan.pool))
    drawn = lineup_of[:, rotations(plan.sides)]  # [deals, rotations, sides]
    is_new = np.stack([(drawn[:, :turn] != drawn[:, [turn]]).any(axis=2).all(axis=1) for turn in range(plan.sides)], 1)
    lineups = np.tile(drawn, plan.seats // plan.sides)[is_new]
    seeds = seeds_of(plan.pool, rotations(plan.sides), deals, seed, salt)[is_new]
    results = play(
        plan.game, plan.pool, lineups, seeds, variant=plan.variant, threads=threads, progress=progress
    ).complete()
    scores = np.full(drawn.shape, np.nan)
    scores[is_new] = np.where(results.finished[:, None], results.scores, np.nan)[:, : plan.sides]
    return PlayedTable(
        plan=plan,
        lineups=drawn,
        scores=scores,
        results=results,
        speeds=tuple(speeds[player.spec] for player in plan.pool),
        has_left=tuple(limits is not None and sat[i] >= limits[i] and deals > 0 for i in range(len(plan.pool))),
        cut=deals < asked,
        salt=salt,
    )


def speed_of(plan: PlannedTable, player: Agent, seed: int, threads: int, least: float = _SPEED_SECONDS) -> Speed:
    """Time an agent that plays against itself, in as many games as take at least so many seconds."""
    alone = SelfPlay(plan.game, player, plan.seats, plan.variant)
    games, used, results = 0, 0.0, None
    for fewest in _SPEED_GAMES:
        games = max(fewest, threads)
        for _ in range(2):  # the first time it may have compiled something
            used = time.process_time()
            results = alone.play(games, threads, seed=seed)
            used = time.process_time() - used
            if results.seconds < least:
                break
        else:
            break
    assert results is not None
    return Speed(results.decisions / results.seconds, results.seconds / games, 1000 * used / results.decisions)


def _within_budget(
    plan: PlannedTable, speeds: Mapping[str, Speed], budget: float, left_out: dict[str, str]
) -> PlannedTable:
    """The table without the agents that cannot play a few deals in `budget` seconds, which `left_out` gets.

    A deal in all rotations takes an agent as long as a game against itself. The anchor of the ratings has no limit.
    Raises CardaiError if fewer than two agents are left.
    """
    slow = [
        player
        for player in plan.pool
        if player.spec != ANCHOR and budget / speeds[player.spec].seconds_a_game < interval.FEWEST_DEALS
    ]
    for player in slow:
        left_out[f"{plan.name}: {player.spec}"] = (
            f"too slow: {interval.FEWEST_DEALS} deals, the fewest that an interval is made of, take it"
            f" {interval.FEWEST_DEALS * speeds[player.spec].seconds_a_game:.3g} s, and its budget is {budget:g} s"
        )
    pool = tuple(player for player in plan.pool if player not in slow)
    if len(pool) < 2:
        raise CardaiError(f"all agents but {len(pool)} are too slow for a budget of {budget:g} s each")
    return replace(plan, pool=pool)


def summarised(played: PlayedTable, seed: int) -> LeagueTable:
    """The ratings of a table. `seed`: of the bootstrap."""
    plan, lineups, scores, results = played.plan, played.lineups, played.scores, played.results
    estimates, picked, unrated = (interval.UNKNOWN,) * len(plan.pool), "", ""
    try:
        ratings = rate(lineups, scores, [player.spec for player in plan.pool], ANCHOR, seed)
        estimates, picked = ratings.figures, ratings.picked
    except CardaiError as error:  # not all agents have met in finished games
        unrated = str(error)
    standings, payoff, scale = list[LeagueStanding](), plan.game.payoff, measure_of(plan.game, "score").scale
    columns = zip(plan.pool, estimates, played.speeds, played.has_left, strict=True)
    for i, (player, rating, speed, cut) in enumerate(columns):
        own = np.where(lineups == i, scores, np.nan).reshape(len(lineups), -1)
        own = own[np.isfinite(own).any(axis=1)]
        lost = np.where(np.isnan(own), np.nan, label_of(payoff, "loss", own))
        score = interval.estimate(payoff.of(own), seed).scaled(scale)
        figures = rating, score, interval.proportion(lost).scaled(100)
        about = player.label, player.spec, player.about
        standings.append(LeagueStanding(*about, *figures, speed.decisions_per_second, cut))
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
        cut=played.cut,
        salt=played.salt,
        unit=payoff.counted,
    )
