"""Every shipped agent of every game against the others: one rating each, and the history of ratings.

    league = run_all(games=1_000)
    append(Path("history.jsonl"), league)

A *table* is a game with a variant and a number of seats: each game's usual one, and those that its shipped models were
made for. Who can sit down at a table is its pool: random and hand-written players, greedy heuristics, every model asked
as it was made to be, a short rollout, and kinds of agent that others bring when they are made of such a model's agent.
Nobody peeks. Each deal is played by a line-up of the pool in all rotations; line-ups are drawn so that everybody
sits down, and meets everybody else, about equally often.
"""

import itertools
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from cardai.agents.evaluator import known_evaluators
from cardai.agents.spec import ENTRY_POINTS, Agent, agent
from cardai.errors import CardaiError, positive
from cardai.game import Game
from cardai.measure.bench import Progress
from cardai.registry import available, load
from cardai.show.grid import Fitting, add_names, gutter, stacked, with_notes
from cardai.stats import interval
from cardai.stats.deals import deal_seeds, rotations
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine, thread_count
from cardai.stats.ratings import rate
from cardai.table.many import Results, play

GAMES = 10_000
"""Games a table, if nobody says otherwise."""
WORLDS = 10
"""Worlds of sampling agents and rollouts, as their specs say; with 100 they play better, in ten times the time."""
ANCHOR = "random"
"""Whose rating is 0."""
FORMAT = "cardai league 1"

_COST_GAMES = 8, 8, 32, 128, 512, 2048  # played one after the other to see an agent's speed; the first warm it up
_COST_SECONDS = 0.3  # the first that take so long count

Seat = tuple[str, int, str, int, str]
"""An agent at a table of a version of a game: (game, version, variant, seats, spec)."""


@dataclass(frozen=True)
class Standing:
    """One agent at one table. `rating` in Elo points above `ANCHOR`; `score` and `loss` in percent of its games.

    `decisions_per_second`: with all seats its own, on all threads; by the clock, without an interval.
    """

    agent: str
    spec: str
    about: str
    rating: Estimate
    score: Estimate
    loss: Estimate
    decisions_per_second: float


@dataclass(frozen=True)
class Table:
    """What was played at one table. `picked`: whether its ratings are about who comes "first" or "last".

    `unrated` says why there are no ratings, if there are none. `endless`: games that count nowhere.
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
    standings: tuple[Standing, ...]
    unrated: str = ""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.game} ({self.variant}, {self.seats})"


@dataclass(frozen=True)
class Change:
    """An agent's rating now less its rating then, and "better", "worse" or "undecided"."""

    table: str
    spec: str
    difference: Estimate
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """Ratings beside those of another run, which `then` describes."""

    then: str
    changes: tuple[Change, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    same_pools: bool


@dataclass(frozen=True)
class League:
    """What was played. `asked`: games a table; whole rotations make it a few more.

    `left_out`: models, by "game: model", that fit no table, and games that do not load, each with the reason.
    `unplayed`: tables that were not finished.
    """

    seed: int
    asked: int
    threads: int
    tables: tuple[Table, ...]
    left_out: Mapping[str, str]
    unplayed: tuple[str, ...]
    seconds: float
    interrupted: bool
    comparison: Comparison | None = None

    def as_json(self) -> dict[str, Any]:
        """Everything here and what it was measured on, as plain JSON types; a bound that is infinite is null."""
        about = {"format": FORMAT, "anchor": ANCHOR, "level": interval.LEVEL, "machine": machine()}
        return plain(about | asdict(self))

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        grids = [Fitting(*(_grid(self, is_narrow) for is_narrow in (False, True)))]
        if self.comparison and self.comparison.changes:
            grids.append(_changes_grid(self.comparison))
        return with_notes(_notes(self), *grids)


@dataclass(frozen=True)
class _Planned:
    game: Game
    variant: str
    seats: int
    pool: tuple[Agent, ...]

    @property
    def name(self) -> str:
        return f"{self.game.name} ({self.variant}, {self.seats})"


def run_all(
    names: Sequence[str] | None = None,
    games: int = GAMES,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> League:
    """Play every table of the named games, by default all that are available, and rate everybody.

    Each table plays ceil(games / seats) deals; tables of as many seats play the same ones. Ctrl-C ends the run with the
    tables finished so far. CardaiError for games or threads below 1 and an unknown game that was named.
    """
    games, threads = positive("games", games), thread_count(threads)
    began, interrupted = time.perf_counter(), False
    left_out: dict[str, str] = {}
    planned: list[_Planned] = []
    tables: list[Table] = []
    try:
        for name in available() if names is None else names:
            planned += _plans(name, names is not None, left_out)
        total = sum(_rounded(games, plan.seats) for plan in planned)
        for i, plan in enumerate(planned):
            done = sum(_rounded(games, one.seats) for one in planned[:i])
            if progress:
                progress(done, total, plan.name)
            try:
                tables.append(_played(plan, games, seed, threads, _counted(progress, done, total, plan.name)))
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


def pool_of(game: Game) -> tuple[dict[str, Agent], dict[str, str]]:
    """The agents of a game's league by their specs, and the models that are none, with the reason.

    A model that was made for states before a draw is asked `greedy`, one for settled states `sampled` in `WORLDS`
    worlds.
    """
    specs = [ANCHOR, *game.players, *(f"greedy:{heuristic}" for heuristic in game.heuristics)]
    found = {spec: agent(game, spec) for spec in specs}
    refused = {}
    for model in known_evaluators(game):
        try:
            asked = agent(game, f"greedy:{model}")
            if asked.evaluator is not None and asked.evaluator.moment != "before_draw":
                asked = agent(game, f"sampled:{model}?worlds={WORLDS}")
            _tables_of(game, asked)
            found[asked.spec] = asked
        except CardaiError as error:
            refused[model] = str(error)
    for model in [one for one in found.values() if one.evaluator is not None]:
        for kind in sorted(entry.name for entry in entry_points(group=ENTRY_POINTS)):
            try:
                made = agent(game, f"{kind}:{model.spec}")
            except CardaiError:  # not a kind for this game, or not one that is made of another agent
                continue
            found[made.spec] = made
    rollout = f"rollout:{WORLDS}"
    found[rollout] = agent(game, rollout)
    return {spec: one for spec, one in found.items() if not one.peeks}, refused


def draw_lineups(players: int, seats: int, count: int, seed: int = 0) -> np.ndarray:
    """Line-ups of a pool, i64[count, seats]: everybody sits about equally often, and with everybody else.

    Each seat goes to whoever has met those already seated least, then to whoever has sat least, then by lot. Nobody
    sits twice at a table while somebody could sit there once.
    """
    rng = np.random.default_rng(seed)
    lineups, met, sat = np.zeros((count, seats), np.int64), np.zeros((players, players)), np.zeros(players)
    for lineup in lineups:
        places = np.zeros(players)
        for seat in range(seats):
            meetings = met[lineup[:seat]].sum(axis=0)
            chosen = np.lexsort((rng.random(players), sat, meetings if seat else sat, places))[0]
            lineup[seat] = chosen
            places[chosen] += 1
            sat[chosen] += 1
        np.add.at(met, (lineup[:, None], lineup[None, :]), 1)
    return lineups


def append(path: Path, league: League) -> None:
    """Add a finished league to a history, as one line of JSON with the date. CardaiError when it cannot be written."""
    line = {"date": datetime.now(UTC).isoformat(timespec="seconds")} | league.as_json()
    del line["comparison"]
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
    except OSError as error:
        raise _unwritable(path, error) from None


def check_history(path: Path) -> None:
    """Raise CardaiError unless a line can be added: the file is sound and can be written, or can be made."""
    is_new = not path.exists()
    try:
        with path.open("a", encoding="utf-8"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None
    if not is_new:
        read_history(path)


def read_history(path: Path) -> list[dict[str, Any]]:
    """The lines of a history, oldest first. CardaiError, which names the first damaged line, or the file."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise CardaiError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CardaiError(f"{path} is not a history of `cardai bench --all`: it is not text") from None
    found = []
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            run = json.loads(line)
            _ratings_in(run)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise CardaiError(f"{path}, line {number}: it is damaged, or no line of `cardai bench --all`") from None
        found.append(run)
    if text and not text.endswith("\n"):
        raise CardaiError(f"{path}, line {len(found)}: it does not end: something was cut off")
    return found


def last_run(path: Path) -> dict[str, Any]:
    """The last line of a history. CardaiError as `read_history`, and for one without a line."""
    found = read_history(path)
    if not found:
        raise CardaiError(f"{path} holds no run to compare with")
    return found[-1]


def compare(league: League, run: Mapping[str, Any]) -> League:
    """The league with each rating beside that of a line of a history.

    Differences are of two independent runs (Newcombe's square-and-add): on the same deals they are, if anything, too
    cautious. Only agents at the same table of the same version of a game are compared; who was there only now or only
    then is named; of an interrupted run, only at the tables that it finished.
    """
    then = _ratings_in(run)
    now = {_seat(table, one.spec): one.rating for table in league.tables for one in table.standings if one.rating.n}
    changes = [Change(_name(seat), seat[4], *_difference(now[seat], then[seat])) for seat in now if seat in then]
    finished = {table.name for table in league.tables}
    expected = [seat for seat in then if not league.interrupted or _name(seat) in finished]
    new, gone = [seat for seat in now if seat not in then], [seat for seat in expected if seat not in now]
    compared = {one.table for one in changes}
    found = Comparison(
        then=f"{run['date']}, commit {run['machine']['commit'] or 'unknown'}, seed {run['seed']}, "
        f"{run['asked']:,} games a table",
        changes=tuple(changes),
        new=tuple(f"{seat[4]} at {_name(seat)}" for seat in new),
        gone=tuple(f"{seat[4]} at {_name(seat)}" for seat in gone),
        same_pools=not any(_name(seat) in compared for seat in [*new, *gone]),
    )
    return replace(league, comparison=found)


def _plans(name: str, was_named: bool, left_out: dict[str, str]) -> list[_Planned]:
    """The tables of a game. A game or model that is left out is noted with the reason; a game that was named raises."""
    try:
        game = load(name)
        pool, refused = pool_of(game)
        left_out.update({f"{name}: {model}": reason for model, reason in refused.items()})
        places = {(game.default_variant, game.default_seats): None}
        for one in pool.values():
            places |= dict.fromkeys(_tables_of(game, one) if one.evaluator is not None else ())
        return [
            _Planned(game, variant, seats, tuple(one for one in pool.values() if _fits(one, game, variant, seats)))
            for variant, seats in places
        ]
    except CardaiError as error:
        if was_named:
            raise
        left_out[name] = str(error)
        return []


def _tables_of(game: Game, judge: Agent) -> list[tuple[str, int]]:
    """The variants and seats that an agent with a model fits; CardaiError with the last reason if there is none."""
    assert judge.evaluator is not None
    found, seats, reason = [], judge.evaluator.seats, CardaiError(f"{game.name} has no variant")
    for variant in game.variants:
        try:
            game.options(seats, variant)
            judge.check_fits(game, variant, seats)
            found.append((variant, seats))
        except CardaiError as error:
            reason = error
    if not found:
        raise reason
    return found


def _fits(one: Agent, game: Game, variant: str, seats: int) -> bool:
    try:
        one.check_fits(game, variant, seats)
    except CardaiError:
        return False
    return True


def _counted(progress: Progress | None, done: int, total: int, text: str) -> Callable[[int, int], None] | None:
    return (lambda finished, _: progress(done + finished, total, text)) if progress else None


def _rounded(games: int, seats: int) -> int:
    return -(-games // seats) * seats


def _played(plan: _Planned, games: int, seed: int, threads: int, playing: Callable[[int, int], None] | None) -> Table:
    """Play a table to its end; KeyboardInterrupt when somebody stops that."""
    deals, turns = -(-games // plan.seats), rotations(plan.seats)
    lineups = draw_lineups(len(plan.pool), plan.seats, deals, seed)[:, turns]  # [deals, rotations, seats]
    flat, seeds = lineups.reshape(-1, plan.seats), np.repeat(deal_seeds(seed, deals), plan.seats)
    results = _to_the_end(
        play(plan.game, plan.pool, flat, seeds, variant=plan.variant, threads=threads, progress=playing)
    )
    return _summed_up(plan, lineups, results, [_speed(plan, one, seed, threads) for one in plan.pool], seed)


def _speed(plan: _Planned, one: Agent, seed: int, threads: int) -> float:
    """The decisions a second of an agent that plays against itself."""
    speed = 0.0
    for i, games in enumerate(_COST_GAMES):
        lineups, seeds = np.zeros((games, plan.seats), np.int64), deal_seeds(seed, games)
        found = _to_the_end(play(plan.game, [one], lineups, seeds, variant=plan.variant, threads=threads))
        speed = found.decisions / found.seconds
        if i and found.seconds >= _COST_SECONDS:
            break
    return speed


def _to_the_end(results: Results) -> Results:
    """What was played; KeyboardInterrupt when that is not all, since `play` itself returns what is finished."""
    if results.interrupted:
        raise KeyboardInterrupt
    return results


def _summed_up(plan: _Planned, lineups: np.ndarray, results: Results, speeds: Sequence[float], seed: int) -> Table:
    scores = np.where(results.finished[:, None], results.scores, np.nan).reshape(lineups.shape)
    unknown = Estimate(math.nan, math.nan, math.nan, 0, 0)
    ratings, picked, unrated = (unknown,) * len(plan.pool), "", ""
    try:
        found = rate(lineups, scores, [one.spec for one in plan.pool], ANCHOR, seed)
        ratings, picked = found.figures, found.picked
    except CardaiError as error:  # some line-ups only go round in circles
        unrated = str(error)
    standings = []
    for i, (one, rating, speed) in enumerate(zip(plan.pool, ratings, speeds, strict=True)):
        own = np.where(lineups == i, scores, np.nan).reshape(len(lineups), -1)
        own = own[np.isfinite(own).any(axis=1)]
        lost = np.where(np.isnan(own), np.nan, own == 0.0)
        figures = rating, interval.estimate(own, seed).scaled(100), interval.proportion(lost).scaled(100)
        standings.append(Standing(one.label, one.spec, one.about, *figures, speed))
    standings.sort(key=lambda one: (math.isnan(one.rating.point), -one.rating.point, -one.score.point))
    return Table(
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


def _ratings_in(run: Mapping[str, Any]) -> dict[Seat, Estimate]:
    """The ratings in a line of a history. ValueError, KeyError, TypeError or AttributeError when it is none."""
    if run["format"] != FORMAT:
        raise ValueError(run["format"])
    found = {}
    for table in run["tables"]:
        place = str(table["game"]), int(table["version"]), str(table["variant"]), int(table["seats"])
        for one in table["standings"]:
            rating = one["rating"]
            if rating["point"] is None:
                continue
            low = -math.inf if rating["low"] is None else float(rating["low"])
            high = math.inf if rating["high"] is None else float(rating["high"])
            figure = Estimate(float(rating["point"]), low, high, int(rating["n"]), int(rating["deals"]))
            found[*place, str(one["spec"])] = figure
    _ = run["date"], run["machine"]["commit"], int(run["seed"]), int(run["asked"])
    return found


def _difference(now: Estimate, then: Estimate) -> tuple[Estimate, str]:
    """The difference of two independent figures, and the verdict on it."""
    point = now.point - then.point
    low = point - math.hypot(now.point - now.low, then.high - then.point)
    high = point + math.hypot(now.high - now.point, then.point - then.low)
    found = Estimate(point, low, high, min(now.n, then.n), min(now.deals, then.deals))
    if found.deals < interval.FEWEST_DEALS or not (low > 0 or high < 0):
        return found, "undecided"
    return found, "better" if low > 0 else "worse"


def _seat(table: Table, spec: str) -> Seat:
    return table.game, table.version, table.variant, table.seats, spec


def _name(seat: Seat) -> str:
    game, _, variant, seats, _ = seat
    return f"{game} ({variant}, {seats})"


def _unwritable(path: Path, error: OSError) -> CardaiError:
    return CardaiError(f"cannot write {path}: {error.strerror or error}")


def _points(figure: Estimate) -> str:
    """A rating for people: 812 (790 to 835), or with one bound only; the anchor's own is plain 0."""
    if math.isnan(figure.point):
        return "-"
    point, low, high = (
        str(round(one)) if math.isfinite(one) else "" for one in (figure.point, figure.low, figure.high)
    )
    if math.isnan(figure.low) or math.isnan(figure.high):
        return f"{point} (no interval)"
    if figure.low == figure.high:
        return point
    if low and high:
        return f"{point} ({low} to {high})"
    return f"{point} ({low} or more)" if low else f"{point} ({high} or less)" if high else f"{point} (no bound)"


def _grid(league: League, is_narrow: bool) -> Any:
    """One row an agent, a section a table; when narrow, intervals lie below figures, without losses and speed."""
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(title="Every agent on every game", title_justify="left", box=box.HORIZONTALS, padding=gutter(is_narrow))
    grid.add_column("table", no_wrap=True)
    add_names(grid, "agent", [one.agent for table in league.tables for one in table.standings])
    for header in ("rating", "score %") if is_narrow else ("rating", "score %", "loss %"):
        grid.add_column(header, justify="right", style="bold" if header == "rating" else None, no_wrap=True)
    grid.add_column("n", justify="right", no_wrap=True)
    if not is_narrow:
        grid.add_column("decisions/s", justify="right", no_wrap=True)
    for table in league.tables:
        grid.add_section()
        named = itertools.chain([stacked(table.name, is_narrow)], itertools.repeat(""))
        for one, name in zip(table.standings, named, strict=False):
            cells = [name, one.agent, stacked(_points(one.rating), is_narrow), stacked(one.score, is_narrow)]
            more = [] if is_narrow else [f"{one.decisions_per_second:,.0f}"]
            grid.add_row(*cells, *([] if is_narrow else [str(one.loss)]), f"{one.score.n:,}", *more)
    return grid


def _changes_grid(found: Comparison) -> Any:
    from rich import box
    from rich.table import Table as Grid

    grid = Grid(title=f"Ratings less those of {found.then}", title_justify="left", box=box.HORIZONTALS)
    grid.add_column("table", no_wrap=True)
    add_names(grid, "agent", [change.spec for change in found.changes])
    grid.add_column("points", justify="right", no_wrap=True)
    grid.add_column("verdict", no_wrap=True)
    for table, changes in itertools.groupby(found.changes, key=lambda change: change.table):
        grid.add_section()
        named = itertools.chain([table], itertools.repeat(""))
        for change, name in zip(changes, named, strict=False):
            grid.add_row(name, change.spec, _points(change.difference), change.verdict)
    return grid


def _notes(league: League) -> list[str]:
    played = sum(table.games for table in league.tables)
    notes = [
        f"rating: Elo points above {ANCHOR} at that table (Plackett-Luce), 95 % bootstrap over deals; it depends on "
        "who else is there",
        "score %, loss %: mean score and share of games with score 0, with 95 % intervals, against the whole pool",
        f"decisions/s: with all seats its own, on {league.threads} threads",
        f"seed {league.seed}, line-ups drawn evenly from the table's agents and turned round the table once a deal",
        f"{played:,} games, {league.seconds:.0f} s in all on {league.threads} threads",
    ]
    if any(math.isinf(bound) for bound in _bounds(league)):
        notes.append(
            f"or more, or less: no chain of wins leads from {ANCHOR} to this agent, or from it to {ANCHOR}; the point "
            "is held by a prior of one game"
        )
    notes += [f"{table.name}: no ratings: {table.unrated}" for table in league.tables if table.unrated]
    endless = sum(table.endless for table in league.tables)
    if endless:
        notes.append(f"{endless:,} games did not end within their game's limit of moves and count nowhere")
    notes += [f"{name} is left out: {reason}" for name, reason in league.left_out.items()]
    if league.comparison:
        notes += _comparison_notes(league.comparison)
    if league.interrupted:
        unplayed = f"; not played: {', '.join(league.unplayed)}" if league.unplayed else ""
        notes.append(f"stopped before the end: only finished tables count{unplayed}")
    return notes


def _comparison_notes(found: Comparison) -> list[str]:
    decided = sum(change.verdict != "undecided" for change in found.changes)
    notes = [
        f"{len(found.changes)} ratings compared with those of {found.then}: {decided} decided; "
        f"by chance about one in twenty is"
    ]
    if not found.same_pools:
        notes.append("not everybody plays in both runs, and a rating depends on who does")
    notes += [f"new: {', '.join(found.new)}"] if found.new else []
    notes += [f"gone: {', '.join(found.gone)}"] if found.gone else []
    return notes


def _bounds(league: League) -> list[float]:
    ratings = [one.rating for table in league.tables for one in table.standings]
    return [bound for rating in ratings for bound in (rating.low, rating.high)]
