"""How large a game's tree is, estimated from played games: decisions a game, moves a decision, log10 of the size.

report = measure(load("moska"), players=range(2, 9), games=10_000)
print(cardai.cli.show.complexity.table(report))
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cardai.errors import positive
from cardai.game import Game
from cardai.playing.agents.spec import agent as agent_of
from cardai.playing.machine import thread_count
from cardai.playing.progress import Progress, begin_part
from cardai.playing.stats import interval
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.report import Report
from cardai.playing.table.many import Results, play


@dataclass(frozen=True)
class ComplexityRow:
    """The complexity of a game for one number of players. A decision counts if it has more than one legal move.

    - `decisions`: decisions of all players a game. `branching`: legal moves a decision.
    - `power`: log10 of branching^decisions, both as means over all games.
    - `geometric`: the mean over games of the sum of log10(legal moves); it is log10 of the geometric mean of the sizes.
    - `truncated`: decisions with more moves than the game can list. They count with the moves listed.
    - `endless`: games given up after the game's `max_plies` moves. They count in no figure.
    - `reference`: a published value of log10 of the size.
    """

    players: int
    decisions: Estimate
    branching: Estimate
    power: Estimate
    geometric: Estimate
    truncated: int
    endless: int
    seconds: float
    reference: float | None
    interrupted: bool


@dataclass(frozen=True)
class ComplexityReport(
    Report, drawn_by="cardai.cli.show.complexity:table", about={"kind": "complexity"}, on_machine=True
):
    """The complexity of a game for some numbers of players. `asked`: games asked for, for each of them."""

    game: str
    title: str
    version: int
    variant: str
    agent: str
    seed: int
    asked: int
    threads: int
    rows: tuple[ComplexityRow, ...]
    interrupted: bool


def measure(
    game: Game,
    players: Sequence[int] | None = None,
    games: int = 10_000,
    agent: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    variant: str | None = None,
    progress: Progress | None = None,
    references: Mapping[int, float] | None = None,
) -> ComplexityReport:
    """Play `games` games for each number of players (default: all the game allows) and count the decisions.

    `agent` sits in all seats (default "random"). `references`: published values of log10 of the tree's size by number
    of players (default: the game's own). Ctrl-C ends the run; the report then has the games finished so far.

    Raises CardaiError for a number of players the game is not for, for games below 1, and for an unknown agent or
    variant.
    """
    games, threads = positive("games", games), thread_count(threads)
    players = list(dict.fromkeys(game.seats if players is None else players))
    for seats in players:
        game.options(seats, variant)
    player = agent_of(game, "random" if agent is None else agent)
    references = game.references.get("complexity", {}) if references is None else references
    rows: list[ComplexityRow] = []
    for i, seats in enumerate(players):
        part = begin_part(progress, i * games, len(players) * games, f"{seats} players")
        lineups, seeds = np.zeros((games, seats), np.int64), deal_seeds(seed, games)
        results = play(game, [player], lineups, seeds, variant=variant, threads=threads, tally=True, progress=part)
        rows.append(_row(seats, results, seed, references.get(seats)))
        if rows[-1].interrupted:
            break
    return ComplexityReport(
        game=game.name,
        title=game.title,
        version=game.version,
        variant=game.canonical(variant),
        agent=player.label,
        seed=seed,
        asked=games,
        threads=threads,
        rows=tuple(rows),
        interrupted=rows[-1].interrupted if rows else False,
    )


def _row(players: int, results: Results, seed: int, reference: float | None) -> ComplexityRow:
    tally = results.tally[results.finished]
    decisions, branching, power, geometric = _figures(tally, seed)
    return ComplexityRow(
        players=players,
        decisions=decisions,
        branching=branching,
        power=power,
        geometric=geometric,
        truncated=int(tally[:, 3].sum()),
        endless=int(results.endless.sum()),
        seconds=results.seconds,
        reference=reference,
        interrupted=results.interrupted,
    )


def _figures(tally: np.ndarray, seed: int) -> list[Estimate]:
    """Decisions, branching, power and geometric, from each game's counts f8[G, 4] as in `driver.Games`."""

    def branching(means: np.ndarray) -> np.ndarray:
        return means[:, 1] / np.maximum(means[:, 0], 1e-300)

    def power(means: np.ndarray) -> np.ndarray:
        return means[:, 0] * np.log10(np.maximum(branching(means), 1.0))

    statistics = (lambda means: means[:, 0], branching, power, lambda means: means[:, 2])
    if not len(tally):
        return [interval.UNKNOWN] * len(statistics)
    whole, drawn = tally.mean(axis=0)[None], interval.resampled_means(tally, seed)
    return [
        Estimate(float(statistic(whole)[0]), *interval.percentiles(statistic(drawn)), len(tally), len(tally))
        for statistic in statistics
    ]
