"""Benchmarks on duplicate deals: the same cards for every agent, and every agent once in each seat of each deal.

    report = run_suite(load("moska"), agents=["bot3"], games=20_000)     # a game's published suite
    report = run_match(load("moska"), ["bot3", "random", "random", "bot2"], games=4_000)

Figures are in percent, with 95 % intervals by `cardai.stats.interval`.
The seeds of a run's deals are `deal_seeds(seed, deals)`.
"""

import contextlib
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cardai.agents.spec import Agent, agent
from cardai.errors import CardaiError, positive, unknown
from cardai.game import Game, Row, Suite
from cardai.show.grid import Fitting, add_names, gutter, stacked, with_notes
from cardai.stats import interval
from cardai.stats.deals import deal_seeds, rotations
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine, thread_count
from cardai.table.many import Results, play

Progress = Callable[[int, int, str], None]
"""Called with (games done, games in all, what is being played) a few times a second."""

MEASURES = {
    "loss": "share of games lost (score 0)",
    "win": "share of games won (score 1)",
    "score": "mean score",
}
LOWER_IS_BETTER = {"loss"}

_Playing = Callable[[int, int], None]


@dataclass(frozen=True)
class Measurement:
    """One agent in one row of a suite. Estimates are in percent.

    `by_seat[s]`: the agent's figure in seat s. `seat_share[s]`: the same measure for seat s over all games, whoever sat
    there. `endless`: games given up after the game's `max_plies` moves; they count in no figure.
    """

    agent: str
    spec: str
    row: str
    opponents: tuple[str, ...]
    measure: str
    figure: Estimate
    score: Estimate
    by_seat: tuple[Estimate, ...]
    seat_share: tuple[float, ...]
    claim: float | None
    claim_verdict: str | None
    endless: int
    decisions: int
    seconds: float
    games_per_second: float
    seed: int
    interrupted: bool


@dataclass(frozen=True)
class Missing:
    """A row that could not be played, and why."""

    agent: str
    row: str
    opponents: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Standing:
    """One player of a match, pooled over the places where it was named. Estimates are in percent of games."""

    agent: str
    spec: str
    places: int
    score: Estimate
    win: Estimate
    loss: Estimate
    by_seat: tuple[float, ...]


@dataclass(frozen=True)
class Verdict:
    """`one` against `other` on the same deals: the difference of their figures in percentage points, and a verdict.

    `row` is empty in a match, where both sat at the same table and the mean score is compared.
    """

    row: str
    one: str
    other: str
    difference: Estimate
    verdict: str


@dataclass(frozen=True)
class Report:
    """What was measured. `asked`: games asked for; the games of a row are whole rotations, hence a few more."""

    kind: str
    game: str
    version: int
    variant: str
    title: str
    measure: str
    seed: int
    asked: int
    rotate: bool
    threads: int
    rows: tuple[Any, ...]  # Measurement of a suite, Standing of a match
    missing: tuple[Missing, ...] = ()
    unplayed: int = 0
    verdicts: tuple[Verdict, ...] = ()
    source: str = ""
    claim_games: int = 0
    games: int = 0
    endless: int = 0
    seconds: float = 0.0
    decisions: int = 0
    interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        """Everything in this report and what it was measured on, as plain JSON types; figures in percent."""
        return plain(asdict(self) | {"level": interval.LEVEL, "machine": machine()})

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        return _suite_table(self) if self.kind == "suite" else _match_table(self)


def run_suite(
    game: Game,
    suite_name: str | None = None,
    agents: Sequence[str] | None = None,
    games: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    variant: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Measure agents in every row of a suite: the game's first, or the one named.

    `agents`, `games` (a row) and `variant` default to the suite's. Each row plays ceil(games / seats) deals, the same
    for every agent and row; the line-up moves round the table once a deal. Raises CardaiError for an unknown suite,
    agent or variant, for games below 1, and for a named agent that fits no row. A row whose opponents, or an agent of
    the suite, do not exist or do not fit is reported in `missing`. Ctrl-C ends the run with the games finished so far.
    """
    suite = _suite(game, suite_name)
    games, threads = positive("games", suite.games if games is None else games), thread_count(threads)
    variant = _variant(game, suite.variant if variant is None else variant)
    for spec in agents or ():  # an agent somebody asked for must be there; one of the suite may come later
        _refuse_unfit(agent(game, spec), game, variant, {1 + len(row.opponents) for row in suite.rows.values()})
    pairs = itertools.product(dict.fromkeys(agents or suite.agents), suite.rows.items())
    planned: list[tuple[str, str, list[Agent]]] = []
    missing: list[Missing] = []
    for spec, (name, row) in pairs:
        try:
            planned.append((spec, name, _seated(game, (spec, *row.opponents), variant)))
        except CardaiError as error:
            missing.append(Missing(spec, name, row.opponents, str(error)))

    total = sum(_rounded(games, len(seated)) for _, _, seated in planned)
    rows: list[Measurement] = []
    outcomes: dict[tuple[str, str], np.ndarray] = {}
    done = 0
    for spec, name, seated in planned:
        playing = _counted(progress, done, total, f"{seated[0].label} in {name}")
        results, holder = _play_rotated(game, seated, games, seed, variant, threads, playing)
        rows.append(_measured(suite, spec, name, seated, results, holder, seed))
        outcomes[name, seated[0].label] = _held(holder, 0, _outcomes(suite.measure, results))
        done += len(results.scores)
        if results.interrupted:
            break
    return Report(
        kind="suite",
        game=game.name,
        version=game.version,
        variant=variant,
        title=_suite_title(game, suite_name),
        measure=suite.measure,
        seed=seed,
        asked=games,
        rotate=True,
        threads=threads,
        rows=tuple(rows),
        missing=tuple(missing),
        unplayed=len(planned) - len(rows),
        verdicts=_suite_verdicts(suite.measure, outcomes),
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
    specs: Sequence[str],
    games: int = 100,
    seed: int = 0,
    threads: int | None = None,
    variant: str | None = None,
    rotate: bool = True,
    record: Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Play a line-up against itself: one spec a seat, in order. Equal specs are one player with several places.

    With `rotate`, each deal is played once for every turn of the line-up round the table (games are rounded up to whole
    rotations); without, each deal is played once as named. `record` writes the games to a file, which may exist only
    with `overwrite`. Raises CardaiError for bad specs, seats, games, variant or file, before anything is played.
    """
    games, threads = positive("games", games), thread_count(threads)
    variant = _variant(game, variant)
    game.options(len(specs), variant)
    seated = _seated(game, specs, variant)
    playing = _counted(progress, 0, _rounded(games, len(seated)) if rotate else games, " - ".join(specs))
    results, holder = _play_rotated(game, seated, games, seed, variant, threads, playing, rotate, record, overwrite)
    rows = tuple(
        _standing(spec, [place for place, one in enumerate(specs) if one == spec], seated, results, holder)
        for spec in dict.fromkeys(specs)
    )
    return Report(
        kind="match",
        game=game.name,
        version=game.version,
        variant=variant,
        title=f"{game.title}: {' - '.join(one.label for one in seated)}",
        measure="score",
        seed=seed,
        asked=games,
        rotate=rotate,
        threads=threads,
        rows=rows,
        verdicts=_match_verdicts(specs, seated, results, holder),
        games=int(results.finished.sum()),
        endless=int(results.endless.sum()),
        seconds=results.seconds,
        decisions=results.decisions,
        interrupted=results.interrupted,
    )


def _suite(game: Game, name: str | None) -> Suite:
    if name is None:
        return next(iter(game.suites.values())) if game.suites else _suite_against_random(game)
    if name not in game.suites and not (name == "random" and not game.suites):
        raise CardaiError(f"{game.name}: " + unknown("suite", name, game.suites or ("random",)))
    return game.suites[name] if name in game.suites else _suite_against_random(game)


def _suite_against_random(game: Game) -> Suite:
    """What a game without a suite of its own is measured by."""
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


def _seated(game: Game, specs: Sequence[str], variant: str) -> list[Agent]:
    """The agents of a line-up; CardaiError for one that does not exist or does not fit the table."""
    found = [agent(game, spec) for spec in specs]
    for one in found:
        one.check_fits(game, variant, len(found))
    return found


def _refuse_unfit(one: Agent, game: Game, variant: str, sizes: Collection[int]) -> None:
    """CardaiError for an agent that fits a table of none of these sizes."""
    refusals = []
    for seats in sizes:
        try:
            one.check_fits(game, variant, seats)
        except CardaiError as error:
            refusals.append(error)
    if len(refusals) == len(sizes):
        raise refusals[0]


def _rounded(games: int, seats: int) -> int:
    return -(-games // seats) * seats


def _counted(progress: Progress | None, done: int, total: int, text: str) -> _Playing | None:
    if progress is None:
        return None
    progress(done, total, text)
    return lambda finished, _: progress(done + finished, total, text)


def _play_rotated(
    game: Game,
    seated: Sequence[Agent],
    games: int,
    seed: int,
    variant: str,
    threads: int,
    playing: _Playing | None,
    rotate: bool = True,
    record: Path | None = None,
    overwrite: bool = False,
) -> tuple[Results, np.ndarray]:
    """Play a line-up on duplicate deals; the results, and which place of the line-up sat in each seat of each game.

    The latter is i64[deals, rotations, seats]; game d * rotations + r is rotation r of deal d. Agents with one spec are
    one agent to the table, so that an outside player is asked for all its seats at once.
    """
    seats = len(seated)
    turns = rotations(seats) if rotate else np.arange(seats)[None]
    deals = -(-games // len(turns))
    holder = np.tile(turns, (deals, 1))
    seeds = np.repeat(deal_seeds(seed, deals), len(turns))
    different = {one.spec: one for one in seated}
    place = {spec: i for i, spec in enumerate(different)}
    lineups = np.array([place[one.spec] for one in seated])[holder]
    with _recorder(record, game, tuple(different), variant, lineups, seeds, overwrite) as on_game:
        results = play(
            game,
            list(different.values()),
            lineups,
            seeds,
            variant=variant,
            threads=threads,
            progress=playing,
            on_game=on_game,
        )
    return results, holder.reshape(deals, len(turns), seats)


@contextlib.contextmanager
def _recorder(
    path: Path | None,
    game: Game,
    specs: tuple[str, ...],
    variant: str,
    lineups: np.ndarray,
    seeds: np.ndarray,
    overwrite: bool,
) -> Iterator[Callable[..., None] | None]:
    if path is None:
        yield None
        return
    from cardai.data.record import Writer

    with Writer(path, game, specs, variant, lineups.shape[1], overwrite=overwrite, planned=len(seeds)) as writer:
        yield writer.in_order(lineups, seeds)


def _outcomes(measure: str, results: Results) -> np.ndarray:
    """What each seat got in each game, f8[G, seats]; NaN where a game was not finished."""
    scores = results.scores
    values = {"loss": scores == 0.0, "win": scores == 1.0, "score": scores}[measure].astype(float)
    values[~results.finished] = np.nan
    return values


def _held(holder: np.ndarray, place: int, outcomes: np.ndarray) -> np.ndarray:
    """The outcomes of one place of the line-up, f8[deals, rotations]."""
    deals, turns, seats = holder.shape
    seat = np.argmax(holder == place, axis=2)
    return np.take_along_axis(outcomes.reshape(deals, turns, seats), seat[:, :, None], axis=2)[:, :, 0]


def _measured(
    suite: Suite, spec: str, name: str, seated: Sequence[Agent], results: Results, holder: np.ndarray, seed: int
) -> Measurement:
    everyone = _outcomes(suite.measure, results)
    own = _held(holder, 0, everyone)  # rotation r is also the seat it was played in
    figure, claim = _estimate(suite.measure, own), suite.rows[name].claims.get(spec)
    behind = suite.claim_games if suite.measure != "score" else 0
    return Measurement(
        agent=seated[0].label,
        spec=spec,
        row=name,
        opponents=tuple(one.label for one in seated[1:]),
        measure=suite.measure,
        figure=figure.scaled(100),
        score=_estimate("score", _held(holder, 0, _outcomes("score", results))).scaled(100),
        by_seat=tuple(_estimate(suite.measure, own[:, seat]).scaled(100) for seat in range(own.shape[1])),
        seat_share=_shares(everyone),
        claim=claim,
        claim_verdict=None if claim is None or not figure.n else interval.agreement(figure, claim / 100, behind),
        endless=int(results.endless.sum()),
        decisions=results.decisions,
        seconds=results.seconds,
        games_per_second=_rate(results),
        seed=seed,
        interrupted=results.interrupted,
    )


def _standing(
    spec: str, places: Sequence[int], seated: Sequence[Agent], results: Results, holder: np.ndarray
) -> Standing:
    def pooled(measure: str) -> Estimate:
        return _estimate(measure, _pooled(holder, places, _outcomes(measure, results))).scaled(100)

    scores = np.where(np.isin(holder.reshape(results.scores.shape), places), _outcomes("score", results), np.nan)
    return Standing(
        seated[places[0]].label, spec, len(places), pooled("score"), pooled("win"), pooled("loss"), _shares(scores)
    )


def _pooled(holder: np.ndarray, places: Sequence[int], outcomes: np.ndarray) -> np.ndarray:
    return np.concatenate([_held(holder, place, outcomes) for place in places], axis=1)


def _estimate(measure: str, outcomes: np.ndarray) -> Estimate:
    return interval.estimate(outcomes) if measure == "score" else interval.proportion(outcomes)


def _shares(outcomes: np.ndarray) -> tuple[float, ...]:
    """Each column's mean in percent, NaN for one without a game."""
    played = np.isfinite(outcomes)
    means = np.where(played, outcomes, 0.0).sum(axis=0) / np.where(played.any(axis=0), played.sum(axis=0), np.nan)
    return tuple(float(100 * one) for one in means)


def _rate(results: Results) -> float:
    return float(results.finished.sum() / results.seconds) if results.seconds else 0.0


def _suite_verdicts(measure: str, outcomes: Mapping[tuple[str, str], np.ndarray]) -> tuple[Verdict, ...]:
    found = []
    for row in dict.fromkeys(row for row, _ in outcomes):
        found += _verdicts(measure, row, {label: values for (name, label), values in outcomes.items() if name == row})
    return tuple(found)


def _match_verdicts(
    specs: Sequence[str], seated: Sequence[Agent], results: Results, holder: np.ndarray
) -> tuple[Verdict, ...]:
    scores = _outcomes("score", results)
    pooled = {
        one.label: _pooled(holder, [place for place, spec in enumerate(specs) if spec == one.spec], scores)
        for one in seated
    }
    return tuple(_verdicts("score", "", pooled))


def _verdicts(measure: str, row: str, outcomes: Mapping[str, np.ndarray]) -> Iterator[Verdict]:
    """Each agent against each other one, both ways round."""
    turned = {"better": "worse", "worse": "better", "undecided": "undecided"}
    for one, other in itertools.combinations(outcomes, 2):
        found = interval.compare(outcomes[one], outcomes[other], lower_is_better=measure in LOWER_IS_BETTER)
        ahead = found.difference.scaled(100)
        yield Verdict(row, one, other, ahead, found.verdict)
        behind = replace(ahead, point=-ahead.point, low=-ahead.high, high=-ahead.low)
        yield Verdict(row, other, one, behind, turned[found.verdict])


def _suite_table(report: Report) -> Any:
    tables = [_suite_grid(report, is_narrow) for is_narrow in (False, True)]
    return with_notes(_suite_notes(report), Fitting(*tables))


def _suite_grid(report: Report, is_narrow: bool) -> Any:
    """One row an agent, in sections; when narrow, intervals lie below their figures, without games a second."""
    from rich import box
    from rich.table import Table

    labels = list(dict.fromkeys(row.agent for row in report.rows))
    has_claims = any(row.claim is not None for row in report.rows)
    table = Table(title=report.title, title_justify="left", box=box.HORIZONTALS, padding=gutter(is_narrow))
    table.add_column("against", no_wrap=True)
    add_names(table, "agent", [*map(_agent_cell, report.rows), *(gap.agent for gap in report.missing)])
    table.add_column(f"{report.measure} %", justify="right", style="bold", no_wrap=True)
    if has_claims:
        table.add_column("claimed", justify="right", no_wrap=True)
    if len(labels) > 1:
        table.add_column(f"than {labels[0]}", width=max(len("undecided"), len(labels[0])), overflow="fold")
    table.add_column("by seat", justify="right")
    table.add_column("n", justify="right", no_wrap=True)
    if not is_narrow:
        table.add_column("games/s", justify="right", no_wrap=True)
    for name in dict.fromkeys(row.row for row in (*report.rows, *report.missing)):
        table.add_section()
        against = name
        for row in (row for row in report.rows if row.row == name):
            cells = [against, _agent_cell(row), stacked(row.figure, is_narrow)]
            if has_claims:
                claim = "" if row.claim is None else f"{row.claim:g} {row.claim_verdict or ''}"
                cells.append(stacked(claim, is_narrow))
            if len(labels) > 1:
                cells.append(_marked(_verdict_of(report, name, row.agent, labels[0])))
            cells += [_seats([seat.point for seat in row.by_seat]), f"{row.figure.n:,}"]
            table.add_row(*cells, *([] if is_narrow else [f"{row.games_per_second:,.0f}"]))
            against = ""
        for gap in (gap for gap in report.missing if gap.row == name):
            table.add_row(against, gap.agent, "not available", style="dim")
            against = ""
    return table


def _match_table(report: Report) -> Any:
    standings = Fitting(*(_standings_grid(report, is_narrow) for is_narrow in (False, True)))
    if len(report.rows) == 1:
        return with_notes(_notes(report), standings)
    return with_notes(_notes(report), standings, _pairs_grid(report))


def _standings_grid(report: Report, is_narrow: bool) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=report.title, title_justify="left", box=box.HORIZONTALS, padding=gutter(is_narrow))
    ranked = {
        row.agent if row.places == 1 else f"{row.places} x {row.agent}": row
        for row in sorted(report.rows, key=lambda row: -row.score.point)
    }
    add_names(table, "player", ranked)
    for measure in ("score", "win", "loss"):
        table.add_column(f"{measure} %", justify="right", style="bold" if measure == "score" else None, no_wrap=True)
    table.add_column("score by seat", justify="right")
    table.add_column("n", justify="right", no_wrap=True)
    for name, row in ranked.items():
        figures = (stacked(one, is_narrow) for one in (row.score, row.win, row.loss))
        table.add_row(name, *figures, _seats(row.by_seat), f"{row.score.n:,}")
    return table


def _pairs_grid(report: Report) -> Any:
    """Each pair of players once, the first named against the second."""
    from rich import box
    from rich.table import Table

    table = Table(title="Mean score, on the same deals", title_justify="left", box=box.HORIZONTALS)
    order = [row.agent for row in sorted(report.rows, key=lambda row: -row.score.point)]
    add_names(table, "player", order)
    add_names(table, "less", order)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for one, other in itertools.combinations(order, 2):
        found = next((v for v in report.verdicts if (v.one, v.other) == (one, other)), None)
        if found:
            table.add_row(one, other, str(found.difference), _marked(found.verdict))
    return table


def _seats(figures: Sequence[float]) -> str:
    return " ".join("-" if math.isnan(one) else f"{one:.0f}" for one in figures)


def _verdict_of(report: Report, row: str, one: str, other: str) -> str:
    found = (v.verdict for v in report.verdicts if (v.row, v.one, v.other) == (row, one, other))
    return next(found, "")


def _marked(verdict: str) -> str:
    colour = {"better": "green", "worse": "red", "undecided": "yellow"}.get(verdict)
    return f"[{colour}]{verdict}[/]" if colour else verdict


def _agent_cell(row: Measurement) -> str:
    stopped = " (stopped)" if row.interrupted else ""
    return f"{row.agent}{' *' if _is_mirror(row) else ''}{stopped}"


def _is_mirror(row: Measurement) -> bool:
    return set(row.opponents) == {row.agent}


def _lineup(opponents: Sequence[str]) -> str:
    counts = {one: opponents.count(one) for one in opponents}
    return " + ".join(one if number == 1 else f"{number} x {one}" for one, number in counts.items())


def _suite_notes(report: Report) -> list[str]:
    notes = [f"{report.measure} %: {MEASURES[report.measure]}, {_interval_words(report)}", *_notes(report)]
    opponents = {row.row: row.opponents for row in (*report.rows, *report.missing)}
    notes += [f"{name}: against {_lineup(others)}" for name, others in opponents.items()]
    if any(row.claim is not None for row in report.rows):
        behind = f"; {report.claim_games:,} games each" if report.claim_games else ""
        notes.append(
            f"claimed: {report.source or 'by the suite'}{behind}; ours agrees, is lower or higher beyond its interval"
        )
    if any(_is_mirror(row) for row in report.rows):
        notes.append("* every seat plays alike: the rotations of a deal are one game, seen from each seat")
    notes += [f"{gap.row}, {gap.agent}: not available: {gap.reason}" for gap in report.missing]
    if report.unplayed:
        notes.append(f"stopped: {report.unplayed} rows were not begun")
    return notes


def _notes(report: Report) -> list[str]:
    turn = "the line-up turned round the table once a deal" if report.rotate else "seats as named, one game a deal"
    notes = [
        f"{report.game} {report.version}, variant {report.variant}, seed {report.seed}, the same deals for all, {turn}",
        f"{report.games:,} games in {report.seconds:.1f} s on {report.threads} threads",
    ]
    if report.kind == "match":
        notes.insert(0, f"all in percent, {_interval_words(report)}")
    asked = {row.figure.n if report.kind == "suite" else report.games for row in report.rows}
    if not report.interrupted and not report.endless and asked - {report.asked}:
        notes.append(f"{report.asked:,} games were asked for: rounded up to whole rotations")
    if report.endless:
        notes.append(f"{report.endless:,} games did not end within the game's limit of moves and count nowhere")
    if report.interrupted:
        notes.append("stopped before the end: only finished games count")
    return notes


def _interval_words(report: Report) -> str:
    if report.kind == "match":
        return "95 % intervals: Wilson with the deal as cluster, or a bootstrap over deals for scores between 0 and 1"
    kind = "bootstrap over deals" if report.measure == "score" else "Wilson with the deal as cluster"
    return f"95 % interval ({kind})"
