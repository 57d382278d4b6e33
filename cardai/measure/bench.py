"""Benchmarks on duplicate deals: every agent plays the same cards, and every agent plays each deal once in each seat.

    report = run_suite(load("moska"), agents=["bot3"], games=20_000)     # a game's published suite
    report = run_match(load("moska"), ["bot3", "random", "random", "bot2"], games=4_000)

Figures are in percent, or in the unit of an outcome of the game, with 95 % intervals by `cardai.stats.interval`.
The seeds of a run's deals are `deal_seeds(seed, deals, salt)`.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cardai.agents.endgame import Endgame
from cardai.agents.spec import Agent, agent
from cardai.agents.strategy import WorldSearch
from cardai.errors import CardaiError, positive, unknown, whole
from cardai.game import Game, Row, Suite, is_game
from cardai.kernel.doors import check_flag, check_function, check_list, check_path, check_text
from cardai.measure.bench_report import (
    BenchReport,
    MatchStanding,
    MissingRow,
    PairVerdict,
    SearchCost,
    SuiteResult,
)
from cardai.measure.duplicate import outcomes, outcomes_of_place, outcomes_of_places, play_rotated
from cardai.progress import Progress, begin_part
from cardai.stats import interval
from cardai.stats.deals import new_salt, whole_rotations
from cardai.stats.interval import Estimate
from cardai.stats.machine import thread_count
from cardai.stats.measure import Measure, measure_of
from cardai.table.many import Results

Outcomes = dict[str, np.ndarray]
"""What one agent got by each measure: f8[deals, rotations], NaN for a game that was not finished."""

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
) -> BenchReport[SuiteResult]:
    """Measure agents in every row of a suite: the game's first suite, or the one named.

    `agents`, `games` (for each row) and `variant` default to the suite's. Each row plays ceil(games / seats) deals, the
    same for every agent and row, and each deal in all rotations. Ctrl-C ends the run; the report then has the games
    finished so far.

    `salt`: any text; the same seed and salt give the same deals. By default it is empty, or drawn from the operating
    system if an agent runs Python code of somebody else's (`Agent.is_foreign`): such code could try the seeds that
    people choose. `isolate`: such code runs in a process of its own, which is sent worlds and nothing else.

    Raises CardaiError for an unknown suite, agent or variant, for games below 1, and for an agent in `agents` that fits
    no row. A row with an opponent that does not exist or does not fit is reported in `missing`, and so is an agent of
    the suite itself.
    """
    suite = _suite(is_game(game), suite_name)
    games, threads = positive("games", suite.games if games is None else games), thread_count(threads)
    seed = whole("seed", seed)
    check_flag("isolate", isolate)
    check_function("progress", progress)
    if agents is not None:
        check_list("agents", agents, str, "specs of agents")
    variant = _variant(game, suite.variant if variant is None else variant)
    for spec in agents or ():  # agents named by the caller must exist; those of the suite may come later
        _refuse_unfit(
            agent(game, spec, isolate=isolate), game, variant, {1 + len(row.opponents) for row in suite.rows.values()}
        )
    planned, missing = _planned(game, suite, agents or suite.agents, variant, isolate)
    salt = _salt(salt, (player for _, _, line_up in planned for player in line_up))

    total = sum(whole_rotations(games, len(line_up)) for _, _, line_up in planned)
    measures = [measure_of(game, name) for name in dict.fromkeys([suite.measure, *game.measures])]
    rows: list[SuiteResult] = []
    by_agent: dict[tuple[str, str], Outcomes] = {}
    done = 0
    for spec, name, line_up in planned:
        part = begin_part(progress, done, total, f"{line_up[0].label} in {name}")
        noted = _noted(game, measures)
        results, places = play_rotated(game, line_up, games, seed, variant, threads, part, salt=salt, noted=noted)
        own = {one.name: outcomes_of_place(places, 0, outcomes(one.name, results)) for one in measures}
        rows.append(_suite_result(suite, measures, spec, name, line_up, results, places, own, seed))
        by_agent[name, line_up[0].label] = own
        done += len(results.scores)
        if results.interrupted:
            break
    return BenchReport(
        kind="suite",
        game=game.name,
        version=game.version,
        variant=variant,
        title=_suite_title(game, suite_name),
        measure=suite.measure,
        measures=tuple(measures),
        seed=seed,
        salt=salt,
        asked=games,
        rotate=True,
        threads=threads,
        rows=tuple(rows),
        missing=tuple(missing),
        unplayed=len(planned) - len(rows),
        verdicts=_suite_verdicts(measures, by_agent),
        source=suite.source,
        claim_games=suite.claim_games,
        games=sum(row.figure.n for row in rows),
        endless=sum(row.endless for row in rows),
        seconds=sum(row.seconds for row in rows),
        decisions=sum(row.decisions for row in rows),
        interrupted=any(row.interrupted for row in rows),
    )


def run_match(
    game: Game,
    players: Sequence[str | Agent],
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
) -> BenchReport[MatchStanding]:
    """Play the agents of a line-up against each other: a spec or an agent for each seat, in order.

    Equal specs are one player with several places. With `rotate`, each deal is played in all rotations of the line-up,
    and games are rounded up to whole rotations; without it, each deal is played once with the seats as named. `record`:
    a file to write the games to; it may exist only with `overwrite`. `salt`, `isolate`: as in `run_suite`.

    Raises CardaiError for bad specs, seats, games, variant or file, before anything is played.
    """
    games, threads, seed = positive("games", games), thread_count(threads), whole("seed", seed)
    variant = _variant(is_game(game), variant)
    players = check_list("players", players, (str, Agent), "agents or specs of agents")
    check_flag("rotate", rotate)
    check_flag("overwrite", overwrite)
    check_flag("isolate", isolate)
    check_function("progress", progress)
    record = None if record is None else check_path("record", record)
    game.options(len(players), variant)
    line_up = _line_up(game, players, variant, isolate)
    salt = _salt(salt, line_up)
    specs = [player.spec for player in line_up]
    total = whole_rotations(games, len(line_up)) if rotate else games
    part = begin_part(progress, 0, total, " - ".join(specs))
    measures = [measure_of(game, name) for name in dict.fromkeys(["score", *(game.measures or ("win", "loss"))])]
    noted = _noted(game, measures)
    results, places = play_rotated(
        game, line_up, games, seed, variant, threads, part, rotate, record, overwrite, salt, noted
    )
    places_of = {spec: [place for place, named in enumerate(specs) if named == spec] for spec in dict.fromkeys(specs)}
    return BenchReport(
        kind="match",
        game=game.name,
        version=game.version,
        variant=variant,
        title=f"{game.title}: {' - '.join(player.label for player in line_up)}",
        measure="score",
        measures=tuple(measures),
        seed=seed,
        salt=salt,
        asked=games,
        rotate=rotate,
        threads=threads,
        rows=tuple(_standing(line_up[own[0]], own, measures, results, places) for own in places_of.values()),
        verdicts=_match_verdicts(game, line_up, results, places),
        games=int(results.finished.sum()),
        endless=int(results.endless.sum()),
        seconds=results.seconds,
        decisions=results.decisions,
        interrupted=results.interrupted,
    )


def _suite(game: Game, name: str | None) -> Suite:
    if name is None:
        return next(iter(game.suites.values())) if game.suites else _suite_against_random(game)
    if check_text("suite_name", name) not in game.suites and not (name == "random" and not game.suites):
        raise CardaiError(f"{game.name}: " + unknown("suite", name, game.suites or ("random",)))
    return game.suites[name] if name in game.suites else _suite_against_random(game)


def _suite_against_random(game: Game) -> Suite:
    """The suite of a game that has none of its own."""
    agents = ("random", *game.players, *(f"greedy:{heuristic}" for heuristic in game.heuristics))
    return Suite(
        about="against players who move at random",
        measure="score",
        rows={"random": Row(("random",) * (game.default_seats - 1))},
        agents=tuple(dict.fromkeys(agents)),
    )


def _suite_title(game: Game, name: str | None) -> str:
    shown = name or next(iter(game.suites), "random")
    return f"{game.title}, suite {shown}: {_suite(game, name).about}"


def _variant(game: Game, variant: str | None) -> str:
    game.options(None, variant)
    return game.default_variant if variant is None else variant


def _planned(
    game: Game, suite: Suite, specs: Sequence[str], variant: str, isolate: bool
) -> tuple[list[tuple[str, str, list[Agent]]], list[MissingRow]]:
    """The agent, row and line-up of everything to be played, and the rows that cannot be."""
    planned: list[tuple[str, str, list[Agent]]] = []
    missing: list[MissingRow] = []
    for spec, (name, row) in itertools.product(dict.fromkeys(specs), suite.rows.items()):
        try:
            planned.append((spec, name, _line_up(game, (spec, *row.opponents), variant, isolate)))
        except CardaiError as error:
            missing.append(MissingRow(spec, name, row.opponents, str(error)))
    return planned, missing


def _line_up(game: Game, players: Sequence[str | Agent], variant: str, isolate: bool) -> list[Agent]:
    """The agents of these specs. Raises CardaiError if one does not exist or does not fit the table."""
    agents = [agent(game, player, isolate=isolate) if isinstance(player, str) else player for player in players]
    for player in agents:
        player.check_fits(game, variant, len(agents))
    return agents


def _salt(salt: str | None, agents: Iterable[Agent]) -> str:
    """The salt of a run: the one given, or a new one if an agent runs code of somebody else's."""
    if salt is not None:
        return check_text("salt", salt)
    return new_salt() if any(player.is_foreign for player in agents) else ""


def _refuse_unfit(player: Agent, game: Game, variant: str, sizes: Collection[int]) -> None:
    """Raise CardaiError if the agent fits a table of none of these numbers of seats."""
    refusals = []
    for seats in sizes:
        try:
            player.check_fits(game, variant, seats)
        except CardaiError as error:
            refusals.append(error)
    if len(refusals) == len(sizes):
        raise refusals[0]


def _noted(game: Game, measures: Sequence[Measure]) -> list[str]:
    """The outcomes of a game that have to be noted for measures."""
    return [measure.name for measure in measures if measure.name in game.outcomes]


def _suite_result(
    suite: Suite,
    measures: Sequence[Measure],
    spec: str,
    name: str,
    line_up: Sequence[Agent],
    results: Results,
    places: np.ndarray,
    own: Outcomes,
    seed: int,
) -> SuiteResult:
    """The result of the first agent of a line-up, `own`. In rotation r, place 0 sits in seat r."""
    main, *others = measures
    figure, claim = interval.estimate(own[main.name]), suite.rows[name].claims.get(spec)
    claim_games, by_seat = (suite.claim_games if main.name in _OF_SHARES else 0), own[main.name].T
    return SuiteResult(
        agent=line_up[0].label,
        spec=spec,
        row=name,
        opponents=tuple(opponent.label for opponent in line_up[1:]),
        measure=suite.measure,
        figure=figure.scaled(main.scale),
        score=interval.estimate(outcomes_of_place(places, 0, outcomes("score", results))).scaled(100),
        by_seat=tuple(interval.estimate(column[:, None]).scaled(main.scale) for column in by_seat),
        seat_share=_means(outcomes(main.name, results), main.scale),
        claim=claim,
        claim_verdict=None
        if claim is None or not figure.n
        else interval.agreement(figure, claim / main.scale, claim_games),
        endless=int(results.endless.sum()),
        decisions=results.decisions,
        seconds=results.seconds,
        games_per_second=float(results.finished.sum() / results.seconds) if results.seconds else 0.0,
        seed=seed,
        interrupted=results.interrupted,
        search=_search_cost(line_up, results),
        beside={other.name: interval.estimate(own[other.name]).scaled(other.scale) for other in others},
    )


def _search_cost(line_up: Sequence[Agent], results: Results) -> SearchCost | None:
    """What the search of the first agent of a line-up cost, None if it does not search over worlds."""
    plan = line_up[0].strategy
    plan = plan.inner.strategy if isinstance(plan, Endgame) else plan
    if not isinstance(plan, WorldSearch):
        return None
    assert results.thinking is not None
    seconds, decisions = results.thinking[0].tolist()
    exploits = plan.assumed in [opponent.spec for opponent in line_up[1:]]
    return SearchCost(1000 * seconds / decisions if decisions else 0.0, int(decisions), plan.assumed, exploits)


def _standing(
    player: Agent, own: Sequence[int], measures: Sequence[Measure], results: Results, places: np.ndarray
) -> MatchStanding:
    """The standing of a player that has the places `own` of the line-up."""

    def pooled(measure: str, scale: int = 100) -> Estimate:
        return interval.estimate(outcomes_of_places(places, own, outcomes(measure, results))).scaled(scale)

    is_own = np.isin(places.reshape(results.scores.shape), own)
    score, win, loss = (pooled(measure) for measure in ("score", "win", "loss"))
    by_seat = _means(np.where(is_own, outcomes("score", results), np.nan))
    others = (measure for measure in measures if measure.name not in ("score", "win", "loss"))
    beside = {measure.name: pooled(measure.name, measure.scale) for measure in others}
    return MatchStanding(player.label, player.spec, len(own), score, win, loss, by_seat, beside)


def _means(outcomes: np.ndarray, scale: int = 100) -> tuple[float, ...]:
    """Returns each column's mean times `scale`, or NaN for a column without a game."""
    played = np.isfinite(outcomes)
    means = np.where(played, outcomes, 0.0).sum(axis=0) / np.where(played.any(axis=0), played.sum(axis=0), np.nan)
    return tuple(float(scale * mean) for mean in means)


def _suite_verdicts(
    measures: Sequence[Measure], by_agent: Mapping[tuple[str, str], Outcomes]
) -> tuple[PairVerdict, ...]:
    """Returns the verdicts on each pair of agents in each row. `by_agent`: (row, agent) -> outcomes by measure."""
    verdicts: list[PairVerdict] = []
    for measure, row in itertools.product(measures, dict.fromkeys(row for row, _ in by_agent)):
        in_row = {label: own[measure.name] for (name, label), own in by_agent.items() if name == row}
        verdicts += _verdicts(measure, row, in_row)
    return tuple(verdicts)


def _match_verdicts(
    game: Game, line_up: Sequence[Agent], results: Results, places: np.ndarray
) -> tuple[PairVerdict, ...]:
    """The verdicts on each pair of players by their mean scores and by the game's measures."""
    specs, verdicts = [player.spec for player in line_up], list[PairVerdict]()
    own = {player.label: [i for i, spec in enumerate(specs) if spec == player.spec] for player in line_up}
    for name in dict.fromkeys(["score", *game.measures]):
        by_seat = outcomes(name, results)
        pooled = {label: outcomes_of_places(places, chosen, by_seat) for label, chosen in own.items()}
        verdicts += _verdicts(measure_of(game, name), "", pooled)
    return tuple(verdicts)


def _verdicts(measure: Measure, row: str, by_agent: Mapping[str, np.ndarray]) -> Iterator[PairVerdict]:
    """Returns the verdict on each agent against each other one, with each pair in both orders."""
    opposite = {"better": "worse", "worse": "better", "undecided": "undecided"}
    for one, other in itertools.combinations(by_agent, 2):
        comparison = interval.compare(by_agent[one], by_agent[other], lower_is_better=measure.lower_is_better)
        ahead = comparison.difference.scaled(measure.scale)
        yield PairVerdict(row, one, other, ahead, comparison.verdict, measure.name)
        behind = replace(ahead, point=-ahead.point, low=-ahead.high, high=-ahead.low)
        yield PairVerdict(row, other, one, behind, opposite[comparison.verdict], measure.name)
