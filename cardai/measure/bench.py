"""Benchmarks on duplicate deals: every agent plays the same cards, and every agent plays each deal once in each seat.

Equal agents may be in several seats. Rotations that seat them alike are one game, which is played once.

    report = run_suite(load("moska"), agents=["bot3"], games=20_000)     # a game's published suite
    report = run_match(load("moska"), ["bot3", "random", "random", "bot2"], games=4_000)

Figures are in percent, or in the unit of an outcome of the game, with 95 % intervals by
`cardai.playing.stats.interval`. The seeds of a run's deals are `deal_seeds(seed, deals, salt)`.

If an agent runs code of somebody else's, which may remember, no deal is played twice: see `cardai.measure.duplicate`.
In a suite all rows then have deals of their own, and so has each agent with such code; the other agents play the deals
of the first one, so that they are compared on the same deals.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import BadArgument, CardaiError, positive, unknown, whole
from cardai.files.writing import interrupts_held
from cardai.game import MEASURED, Game, Row, Suite, is_game
from cardai.game.compiled.doors import check_flag, check_function, check_list, check_path, check_text
from cardai.measure.bench_report import (
    BenchReport,
    MatchStanding,
    MissingRow,
    PairVerdict,
    SearchCost,
    SuiteResult,
)
from cardai.measure.duplicate import (
    at_the_table,
    line_up_of,
    needs_own_deals,
    outcomes,
    outcomes_of_places,
    play_rotated,
    sides,
    unsealed,
)
from cardai.playing.agents.endgame import Endgame
from cardai.playing.agents.notation import Greedy, Spec
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import TreeSearch, WorldSearch
from cardai.playing.agents.strongest import strongest_without_search
from cardai.playing.machine import thread_count
from cardai.playing.progress import Progress, begin_part
from cardai.playing.stats import interval
from cardai.playing.stats.by_deal import Deals, DealSums
from cardai.playing.stats.deals import distinct_rotations, new_salt
from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.measure import Measure, WonLostTied, decided, leads, measure_of
from cardai.playing.table.many import BLOCK, Results
from cardai.records.elsewhere import Machines, check_machines
from cardai.records.record import Writer

Outcomes = dict[str, Deals]
"""What one agent got by each measure."""

_OF_SHARES = {"win", "loss", "share"}  # measures whose published figures are taken as shares of games


def run_suite(
    game: Game,
    suite_name: str | None = None,
    agents: Sequence[str] | None = None,
    games: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    variant: str | None = None,
    progress: Progress | None = None,
    salt: str | None = None,
    isolate: bool = False,
    cluster: Machines | None = None,
    on_result: Callable[[SuiteResult], None] | None = None,
) -> BenchReport[SuiteResult]:
    """Measure agents in every row of a suite: the game's first suite, or the one named.

    `agents`, `games` (for each row) and `variant` default to the suite's; if no suite is named either, the strongest
    agent without a search plays too (`cardai.playing.agents.strongest`). Each row plays ceil(games / rotations) deals,
    the same for every agent, and each deal in all rotations. Ctrl-C ends the run; the report then has the games
    finished so far.

    `salt`: any text; the same seed and salt give the same deals. By default it is empty, or drawn from the operating
    system if an agent runs code of somebody else's (`Agent.is_foreign`): such code could try the seeds that people
    choose. `isolate`: as in `cardai.playing.agents.spec.agent`. `cluster`: the machines that play; the figures are the
    same. `on_result`: called with each result when its games are played.

    Raises CardaiError for an unknown suite, agent or variant, for games below 1, and for an agent in `agents` that fits
    no row. A row with an opponent that does not exist or does not fit is reported in `missing`, and so is an agent of
    the suite itself.
    """
    suite = _suite(is_game(game), suite_name)
    variant = suite.variant if variant is None else variant
    run = _Run.of(game, variant, suite.games if games is None else games, seed, threads, progress, isolate, cluster)
    variant = run.variant
    check_function("on_result", on_result)
    if agents is not None:
        check_list("agents", agents, str, "specs of agents")
    line_ups = {name: line_up_of(row, game.teams) for name, row in suite.rows.items()}
    for spec in agents or ():  # agents named by the caller must exist; those of the suite may come later
        named, sizes = agent(game, spec, isolate=isolate), [len(one) for one in line_ups.values()]
        if not any(seats in game.seats and named.fits(game, variant, seats) for seats in sizes):
            named.check_fits(game, variant, sizes[0])
    strongest = () if agents or suite_name else _strongest(game, line_ups, variant)
    added = [spec for spec in strongest if spec not in suite.agents]
    planned, missing = _planned(game, line_ups, (*(agents or suite.agents), *added), run)
    missing = [gap for gap in missing if gap.agent not in added]  # one is for tables of another size
    dealing = _Dealing.of([plan.line_up for plan in planned], salt)
    total = sum(plan.games for plan in planned)
    measures = _measures(game, suite.measure, game.learning.measures, map(len, line_ups.values()))
    noted = _noted(game, measures)
    rows: list[SuiteResult] = []
    by_agent: dict[tuple[str, str], Outcomes] = {}
    done = 0
    interrupted = False
    try:
        for plan in planned:
            part = begin_part(progress, done, total, f"{plan.measured.label} in {plan.row}")
            own_salt = f"{dealing.salt} {plan.row} {_number(planned, plan)}" if dealing.own_deals else dealing.salt
            results, places = play_rotated(
                game, plan.line_up, plan.turns, plan.deals, run.seed, variant, run.threads, part, salt=own_salt,
                noted=noted, cluster=cluster, own_deals=dealing.own_deals,
            )  # fmt: skip
            with interrupts_held():
                tally = _Tally(game, len(plan.line_up), {"score", *(one.name for one in measures)}, [plan.counted])
                tally.add(results, places)
                rows.append(_suite_result(game, suite, measures, plan, results, places, tally, run.seed))
                by_agent[plan.row, plan.measured.label] = tally.of(0)
                done += plan.games
            if on_result is not None:
                on_result(rows[-1])
            if results.interrupted:
                break
    except KeyboardInterrupt:  # between the games of two agents
        if not rows:
            raise
        interrupted = True
    title = f"{game.title}, suite {suite_name or next(iter(game.agents.suites), 'random')}: {suite.about}"
    return run.report(
        "suite", title, measures, rows, dealing, rows, interrupted, missing=tuple(missing),
        unplayed=len(planned) - len(rows), verdicts=_verdicts(measures, by_agent), source=suite.source,
        claim_games=suite.claim_games,
    )  # fmt: skip


def run_match(
    game: Game,
    players: Sequence[str | Spec | Agent],
    games: int = 100,
    seed: int = 0,
    threads: int | None = None,
    variant: str | None = None,
    rotate: bool = True,
    record: Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    salt: str | None = None,
    isolate: bool = False,
    cluster: Machines | None = None,
) -> BenchReport[MatchStanding]:
    """Play the agents of a line-up against each other: a spec or an agent for each seat, in order.

    Equal specs are one player with several places. With `rotate`, each deal is played in all rotations of the line-up
    that seat different players, and games are rounded up to whole rotations; without it, each deal is played once with
    the seats as named. `record`: a file to write the games to; it may exist only with `overwrite`. `salt`, `isolate`,
    `cluster`: as in `run_suite`.

    Raises CardaiError for bad specs, seats, games, variant or file, before anything is played.
    """
    run = _Run.of(game, variant, games, seed, threads, progress, isolate, cluster)
    check_list("players", players, (str, Spec, Agent), "agents or specs of agents")
    check_flag("rotate", rotate)
    check_flag("overwrite", overwrite)
    record = None if record is None else check_path("record", record)
    game.options(len(players), run.variant)
    line_up = _line_up(game, players, run.variant, isolate)
    dealing = _Dealing.of([line_up], salt)
    specs = [player.spec for player in line_up]
    turns = distinct_rotations(specs) if rotate else np.arange(len(specs))[None]
    deals = -(-run.games // len(turns))
    measures = _measures(game, "score", game.learning.measures or ("win", "loss"), [len(specs)])
    players, own = list({player.spec: player for player in line_up}.values()), dict[str, list[int]]()
    for place, spec in enumerate(specs):
        own.setdefault(spec, []).append(place)
    names = {"score", "win", "loss", *(one.name for one in measures)}
    tally = _Tally(game, len(specs), names, [sides(places, game.teams) for places in own.values()])
    total, block = deals * len(turns), deals if cluster else max(1, BLOCK // len(turns))
    interrupted = False
    written = None
    if record is not None:
        agents = list(dict.fromkeys(specs))
        written = Writer(record, game, agents, run.variant, len(specs), overwrite=overwrite, planned=total)
    with written or contextlib.nullcontext() as writer:
        try:
            for first in range(0, deals, block):
                part = begin_part(progress, first * len(turns), total, " - ".join(specs))
                results, places = play_rotated(
                    game, line_up, turns, min(block, deals - first), run.seed, run.variant, run.threads, part, writer,
                    dealing.salt, _noted(game, measures), first=first, cluster=cluster,
                )  # fmt: skip
                with interrupts_held():
                    tally.add(results, places)
                if results.interrupted:
                    break
        except KeyboardInterrupt:  # between two blocks
            if not tally.games:
                raise
            interrupted = True
    by_agent = {("", player.label): tally.of(number) for number, player in enumerate(players)}
    rows = [_standing(measures, player, len(own[player.spec]), tally, number) for number, player in enumerate(players)]
    compared = [one for one in measures if one.name in ("score", *game.learning.measures)]
    title = f"{game.title}: {' - '.join(player.label for player in line_up)}"
    return run.report(
        "match", title, measures, rows, dealing, [tally], interrupted, rotate=rotate,
        verdicts=_verdicts(compared, by_agent),
    )  # fmt: skip


@dataclass(frozen=True)
class _Run:
    """What suites and matches are asked for alike: see `run_suite`. `games` are those of a row."""

    game: Game
    variant: str
    games: int
    seed: int
    threads: int
    isolate: bool
    cluster: Machines | None

    @classmethod
    def of(
        cls,
        game: Game,
        variant: str | None,
        games: int,
        seed: int,
        threads: int | None,
        progress: Progress | None,
        isolate: bool,
        cluster: Machines | None,
    ) -> "_Run":
        """Raises CardaiError for what cannot be asked for."""
        games, threads, seed = positive("games", games), thread_count(threads), whole("seed", seed)
        is_game(game).options(None, variant)
        check_flag("isolate", isolate)
        check_function("progress", progress)
        check_machines(cluster)
        return cls(game, game.canonical(variant), games, seed, threads, isolate, cluster)

    def report(
        self,
        kind: str,
        title: str,
        measures: Sequence[Measure],
        rows: Sequence[Any],
        dealing: "_Dealing",
        parts: Sequence[Any],
        interrupted: bool,
        rotate: bool = True,
        **others: Any,
    ) -> BenchReport[Any]:
        """The report, with the sums over `parts`, which are rows or tallies."""
        sums = {name: sum(getattr(one, name) for one in parts) for name in ("games", "endless", "seconds", "decisions")}
        interrupted = interrupted or any(one.interrupted for one in parts)
        return BenchReport(
            kind, self.game.name, self.game.version, self.variant, title, measures[0].name, tuple(measures), self.seed,
            dealing.salt, self.games, rotate, self.cluster.slots if self.cluster else self.threads, tuple(rows),
            interrupted=interrupted, own_deals=dealing.own_deals, unsealed=dealing.unsealed, **sums, **others,
        )  # fmt: skip


@dataclass(frozen=True)
class _Dealing:
    """How deals are made: their salt, and what is in a report of `own_deals` and `unsealed`."""

    salt: str
    own_deals: bool
    unsealed: tuple[str, ...]

    @classmethod
    def of(cls, line_ups: Sequence[Sequence[Agent]], salt: str | None) -> "_Dealing":
        """`salt`: the one given, None for a new one if an agent runs code of somebody else's."""
        own_deals = any(map(needs_own_deals, line_ups))
        chosen = (new_salt() if own_deals else "") if salt is None else check_text("salt", salt)
        return cls(chosen, own_deals, unsealed(line_ups, salt))


def _suite(game: Game, name: str | None) -> Suite:
    if name is None:
        return next(iter(game.agents.suites.values())) if game.agents.suites else _suite_against_random(game)
    if check_text("suite_name", name) not in game.agents.suites and not (name == "random" and not game.agents.suites):
        raise BadArgument(f"{game.name}: " + unknown("suite", name, game.agents.suites or ("random",)))
    return game.agents.suites[name] if name in game.agents.suites else _suite_against_random(game)


def _strongest(game: Game, line_ups: Mapping[str, Sequence[str]], variant: str) -> list[str]:
    """The strongest agents without a search, for the sizes of the tables of a suite."""
    sizes = dict.fromkeys(len(line_up) for line_up in line_ups.values() if len(line_up) in game.seats)
    return list(dict.fromkeys(strongest_without_search(game, variant, seats) for seats in sizes))


def _suite_against_random(game: Game) -> Suite:
    """The suite of a game that has none of its own."""
    agents = ("random", *game.agents.players, *(str(Greedy(heuristic)) for heuristic in game.agents.heuristics))
    seats = game.default_seats
    others = ("random",) * (seats - (seats // game.teams if game.teams else 1))
    return Suite(
        about="against players who move at random" if others else "in all seats, which are one team",
        measure="score",
        rows={"random": Row(others)} if others else {"itself": Row((MEASURED,) * seats)},
        agents=tuple(dict.fromkeys(agents)),
    )


@dataclass(frozen=True)
class _Plan:
    """An agent in a row of a suite, and how the row is played.

    - `own`: the places of the measured agent; `partners`, `opponents`: the agents in the other places of its team and
      of other teams.
    - `counted`: groups of places that count once a game each. One group has the measured agent's own places. If others
      play as it does, several rotations of the row are one game, in which there is a group for each of them.
    - `turns`: who sits where in the rotations that each deal is played in.
    """

    spec: str
    row: str
    line_up: list[Agent]
    own: list[int]
    partners: tuple[Agent, ...]
    opponents: tuple[Agent, ...]
    counted: list[list[int]]
    turns: np.ndarray
    deals: int

    @property
    def measured(self) -> Agent:
        """The agent that is measured."""
        return self.line_up[self.own[0]]

    @property
    def games(self) -> int:
        """How many games are played."""
        return self.deals * len(self.turns)


def _planned(
    game: Game, line_ups: Mapping[str, Sequence[str]], specs: Sequence[str], run: _Run
) -> tuple[list[_Plan], list[MissingRow]]:
    """The agents in all rows that they can play, and the rows that cannot be played."""
    planned: list[_Plan] = []
    missing: list[MissingRow] = []
    for spec, (row, named) in itertools.product(dict.fromkeys(specs), line_ups.items()):
        own = [place for place, name in enumerate(named) if name == MEASURED]
        beside, against = _others(named, own, game.teams)
        try:
            line_up = _line_up(game, [spec if name == MEASURED else name for name in named], run.variant, run.isolate)
        except CardaiError as error:
            opponents, partners = (tuple(named[place] for place in places) for places in (against, beside))
            missing.append(MissingRow(spec, row, opponents, str(error), len(own), partners))
            continue
        seated = [player.spec for player in line_up]
        all_turns = len(distinct_rotations([None if place in own else name for place, name in enumerate(seated)]))
        turns = distinct_rotations(seated)
        again = range(0, all_turns, len(turns))  # the rotations that are the same game as the first one
        partners, opponents = (tuple(line_up[place] for place in places) for places in (beside, against))
        counted = [[(place + turn) % len(seated) for place in own] for turn in again]
        deals = -(-run.games // all_turns)
        planned.append(_Plan(spec, row, line_up, own, partners, opponents, counted, turns, deals))
    return planned, missing


def _others(line_up: Sequence[str], own: Sequence[int], teams: int) -> tuple[list[int], list[int]]:
    """The places of an agent's partners, those of its teams that are not its own, and of its opponents."""
    others = [place for place in range(len(line_up)) if place not in own]
    own_teams = {place % teams for place in own} if teams else set()
    partners = [place for place in others if teams and place % teams in own_teams]
    return partners, [place for place in others if place not in partners]


def _line_up(game: Game, players: Sequence[str | Spec | Agent], variant: str, isolate: bool) -> list[Agent]:
    """The agents of these specs. Raises CardaiError if one does not exist or does not fit the table."""
    agents = [agent(game, player, isolate=isolate) for player in players]
    for player in agents:
        player.check_fits(game, variant, len(agents))
    return agents


def _number(planned: Sequence[_Plan], plan: _Plan) -> int:
    """Which deals of its row a plan has, if none may be played twice: the number of foreign plans of the row before it.

    Plans without code of somebody else's have the deals of the first one with such code.
    """
    foreign = [other for other in planned if other.row == plan.row and needs_own_deals(other.line_up)]
    return next((number for number, other in enumerate(foreign) if other is plan), 0)


def _measures(game: Game, main: str, beside: Iterable[str], tables: Iterable[int]) -> list[Measure]:
    """The measures of a report on tables of so many seats, `main` first.

    Where all tables have two sides, games won, lost and tied are counted (`WonLostTied`): that says what the measures
    "win", "loss" and "share" would say beside the main one.
    """
    if all(_has_two_sides(game, seats) for seats in tables):
        beside = (name for name in beside if name not in _OF_SHARES)
    return [measure_of(game, name) for name in dict.fromkeys([main, *beside])]


def _has_two_sides(game: Game, seats: int) -> bool:
    return (game.teams or seats) == 2


def _noted(game: Game, measures: Sequence[Measure]) -> list[str]:
    """The outcomes of a game that have to be noted for measures."""
    return [measure.name for measure in measures if measure.name in game.learning.outcomes]


def _suite_result(
    game: Game,
    suite: Suite,
    measures: Sequence[Measure],
    plan: _Plan,
    results: Results,
    places: np.ndarray,
    tally: "_Tally",
    seed: int,
) -> SuiteResult:
    """The result of the measured agent, whose games are in `tally`."""
    main, *others = measures
    figure, claim = tally.figure(main.name), suite.rows[plan.row].claims.get(plan.spec)
    claim_games = suite.claim_games if main.name in _OF_SHARES else 0
    by_seat = outcomes(game.payoff, main.name, results)
    is_own = np.isin(places.reshape(by_seat.shape), np.concatenate(plan.counted))
    seats = np.where(is_own, by_seat, np.nan).reshape(places.shape)
    return SuiteResult(
        agent=plan.measured.label,
        spec=plan.spec,
        row=plan.row,
        opponents=tuple(opponent.label for opponent in plan.opponents),
        measure=suite.measure,
        figure=figure.scaled(main.scale),
        score=tally.figure("score").scaled(measure_of(game, "score").scale),
        by_seat=tuple(interval.estimate(seats[:, :, seat]).scaled(main.scale) for seat in range(places.shape[2])),
        seat_share=_means(by_seat, main.scale),
        claim=claim,
        claim_verdict=None
        if claim is None or not figure.n
        else interval.agreement(figure, claim / main.scale, claim_games),
        games=tally.games,
        endless=tally.endless,
        decisions=tally.decisions,
        seconds=tally.seconds,
        games_per_second=float(tally.games / tally.seconds) if tally.seconds else 0.0,
        seed=seed,
        interrupted=tally.interrupted,
        search=_search_cost(plan, results),
        beside={other.name: tally.figure(other.name).scaled(other.scale) for other in others},
        places=len(plan.own),
        partners=tuple(partner.label for partner in plan.partners),
        ends=tally.ends(),
    )


def _standing(measures: Sequence[Measure], player: Agent, places: int, tally: "_Tally", number: int) -> MatchStanding:
    scales = {"win": 100, "loss": 100} | {one.name: one.scale for one in measures}
    figures = {name: tally.figure(name, number).scaled(scale) for name, scale in scales.items()}
    score, win, loss = (figures.pop(name) for name in ("score", "win", "loss"))
    by_seat = tuple(float(scales["score"] * mean) for mean in tally.by_seat(number))
    return MatchStanding(player.label, player.spec, places, score, win, loss, by_seat, figures, tally.ends(number))


def _search_cost(plan: _Plan, results: Results) -> SearchCost | None:
    """What the search of the measured agent cost, None if it does not search over worlds."""
    search = plan.measured.strategy
    search = search.inner.strategy if isinstance(search, Endgame) else search
    if not isinstance(search, WorldSearch | TreeSearch):
        return None
    assert results.thinking is not None
    specs = [player.spec for player in at_the_table(plan.line_up)]
    seconds, decisions = results.thinking[specs.index(plan.measured.spec)].tolist()
    exploits = search.assumed in [other.spec for other in (*plan.partners, *plan.opponents)]
    return SearchCost(1000 * seconds / decisions if decisions else 0.0, int(decisions), search.assumed, exploits)


class _Tally:
    """What players of a line-up got, summed as blocks of deals come.

    `groups`: for each player, the groups of places that count once a game each (`outcomes_of_places`).
    """

    def __init__(self, game: Game, seats: int, measures: set[str], groups: Sequence[Sequence[Sequence[int]]]) -> None:
        self._game, self._groups, self._has_ends = game, groups, _has_two_sides(game, seats)
        self._by_deal = {name: DealSums(len(groups)) for name in measures}
        self._decided = DealSums(len(groups))
        self._ends = np.zeros((len(groups), 3), int)  # won, lost, tied
        self._by_seat = np.zeros((2, len(groups), seats))  # sums of scores, and numbers of games
        self.games = self.endless = self.decisions = 0
        self.seconds, self.interrupted = 0.0, False

    def add(self, results: Results, places: np.ndarray) -> None:
        """Add the games of further deals. `places`: i64[deals, rotations, seats], as `play_rotated` returns them."""
        by_measure = {name: outcomes(self._game.payoff, name, results) for name in self._by_deal}
        for name, values in by_measure.items():
            self._by_deal[name].add([outcomes_of_places(places, own, values) for own in self._groups])
        if self._has_ends:
            ahead = leads(by_measure["score"])
            own_leads = [outcomes_of_places(places, own, ahead) for own in self._groups]
            self._decided.add([decided(own) for own in own_leads])
            self._ends += [[(own > 0.0).sum(), (own < 0.0).sum(), (own == 0.0).sum()] for own in own_leads]
        is_own = [np.isin(places.reshape(results.scores.shape), np.concatenate(own)) for own in self._groups]
        is_own = np.array(is_own) & results.finished[:, None]
        self._by_seat += np.where(is_own, by_measure["score"], 0.0).sum(axis=1), is_own.sum(axis=1)
        self.games += int(results.finished.sum())
        self.endless += int(results.endless.sum())
        self.decisions += results.decisions
        self.seconds += results.seconds
        self.interrupted = results.interrupted

    def of(self, number: int) -> Outcomes:
        """What a player got."""
        return {name: sums.of(number) for name, sums in self._by_deal.items()}

    def figure(self, name: str, number: int = 0) -> Estimate:
        """The mean of a player by a measure."""
        return interval.estimate(self._by_deal[name].of(number))

    def by_seat(self, number: int) -> np.ndarray:
        """The mean score of a player in each seat, f8[seats], NaN where it never sat."""
        sums, sizes = self._by_seat[:, number]
        return sums / np.where(sizes, sizes, np.nan)

    def ends(self, number: int = 0) -> WonLostTied | None:
        """The games that a player won, lost and tied, None if there are more than two sides."""
        if not self._has_ends:
            return None
        won, lost, tied = self._ends[number].tolist()
        return WonLostTied(won, lost, tied, interval.proportion(self._decided.of(number)).scaled(100))


def _means(outcomes: np.ndarray, scale: int = 100) -> tuple[float, ...]:
    """Returns each column's mean times `scale`, or NaN for a column without a game."""
    played = np.isfinite(outcomes)
    means = np.where(played, outcomes, 0.0).sum(axis=0) / np.where(played.any(axis=0), played.sum(axis=0), np.nan)
    return tuple(float(scale * mean) for mean in means)


def _verdicts(measures: Sequence[Measure], by_agent: Mapping[tuple[str, str], Outcomes]) -> tuple[PairVerdict, ...]:
    """The verdicts on each pair of agents in each row, in both orders. `by_agent`: by row and agent."""
    opposite = {"better": "worse", "worse": "better", "undecided": "undecided"}
    verdicts: list[PairVerdict] = []
    for measure, row in itertools.product(measures, dict.fromkeys(row for row, _ in by_agent)):
        own = {label: sums[measure.name] for (name, label), sums in by_agent.items() if name == row}
        for one, other in itertools.combinations(own, 2):
            comparison = interval.compare(own[one], own[other], lower_is_better=measure.lower_is_better)
            ahead = comparison.difference.scaled(measure.scale)
            behind = replace(ahead, point=-ahead.point, low=-ahead.high, high=-ahead.low)
            verdicts += [
                PairVerdict(row, one, other, ahead, comparison.verdict, measure.name),
                PairVerdict(row, other, one, behind, opposite[comparison.verdict], measure.name),
            ]
    return tuple(verdicts)
