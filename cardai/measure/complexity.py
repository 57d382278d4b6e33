"""How large a game's tree is, measured by playing: decisions with a choice, moves to choose from, log10 of the size.

report = measure(load("moska"), players=range(2, 9), games=10_000)
print(report.table()); report.figure(Path("complexity.svg"))
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardai.agents.spec import Agent
from cardai.agents.spec import agent as seated
from cardai.errors import positive
from cardai.game import Game
from cardai.show.figure import figure_path, save_figure
from cardai.show.grid import Fitting, gutter, stacked, with_notes
from cardai.stats import interval
from cardai.stats.deals import deal_seeds
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine, thread_count
from cardai.table.many import play

Progress = Callable[[int, int, str], None]
"""Called with (games done, games in all, what is being played) a few times a second."""


@dataclass(frozen=True)
class Row:
    """One number of players. A decision counts if its player had more than one legal move, whoever the player was.

    `decisions`: a game. `branching`: legal moves a decision. `power`: log10 of branching^decisions, both as means.
    `geometric`: mean over games of the sum of log10(legal moves), which is log10 of the geometric mean of the sizes.
    `truncated`: decisions whose moves were more than could be listed; they count with as many as were listed.
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
class Report:
    """The complexity of a game for some numbers of players."""

    game: str
    title: str
    version: int
    variant: str
    agent: str
    seed: int
    asked: int
    threads: int
    rows: tuple[Row, ...]
    interrupted: bool

    def as_json(self) -> dict[str, Any]:
        """Everything in this report and what it was measured on, as plain JSON types."""
        return plain({"kind": "complexity"} | asdict(self) | {"level": interval.LEVEL, "machine": machine()})

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        return with_notes(self._notes(), Fitting(*(self._grid(is_narrow) for is_narrow in (False, True))))

    def _grid(self, is_narrow: bool) -> Any:
        from rich import box
        from rich.table import Table

        has_references = any(row.reference is not None for row in self.rows)
        table = Table(
            title=f"{self.title}: complexity", title_justify="left", box=box.HORIZONTALS, padding=gutter(is_narrow)
        )
        table.add_column("players", justify="right", no_wrap=True)
        for column in ("decisions d", "branching b", "log10 b^d", "log10 geometric"):
            table.add_column(stacked(column, is_narrow), justify="right", no_wrap=True)
        if has_references:
            table.add_column("published", justify="right", no_wrap=True)
        table.add_column("n", justify="right", no_wrap=True)
        for row in self.rows:
            figures = [stacked(one, is_narrow) for one in (row.decisions, row.branching, row.power, row.geometric)]
            if has_references:
                figures.append("" if row.reference is None else f"{row.reference:g}")
            table.add_row(str(row.players), *figures, f"{row.decisions.n:,}")
        return table

    def figure(self, path: str | Path) -> None:
        """Draw log10 of the tree's size over the number of players; the file's ending says how: .svg, .png or .pdf.

        Raises CardaiError for another ending or a place that cannot be written to.
        """
        save_figure(figure_path(path), _drawn(self))

    def _notes(self) -> list[str]:
        notes = [
            "counted: decisions of all players with more than one legal move; b = moves there, d = decisions a game",
            "b^d takes the means of both; geometric is the mean over games of the sum of log10(moves), never more;",
            f"95 % intervals: bootstrap over games; all seats {self.agent}; seed {self.seed}, variant {self.variant},"
            f" {self.game} {self.version}, {sum(row.seconds for row in self.rows):.1f} s on {self.threads} threads",
        ]
        truncated = sum(row.truncated for row in self.rows)
        if truncated:
            notes.append(f"{truncated:,} decisions had more moves than could be listed; those listed were counted")
        endless = sum(row.endless for row in self.rows)
        if endless:
            notes.append(f"{endless:,} games did not end within the game's limit of moves and count nowhere")
        if self.interrupted:
            notes.append("stopped before the end: only finished games count")
        return notes


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
) -> Report:
    """Play `games` games for each number of players (default: all the game allows) and count the choices.

    `agent` sits in all seats (default "random"). `references` are published values of log10 by number of players,
    default the game's own. Ctrl-C ends with the games finished so far. Raises CardaiError for a number of players the
    game is not for, for games below 1, and for an unknown agent or variant.
    """
    games, threads = positive("games", games), thread_count(threads)
    players = list(dict.fromkeys(game.seats if players is None else players))
    for seats in players:
        game.options(seats, variant)
    player = seated(game, "random" if agent is None else agent)
    references = game.references.get("complexity", {}) if references is None else references
    rows: list[Row] = []
    for i, seats in enumerate(players):
        playing = _counted(progress, i * games, len(players) * games, f"{seats} players")
        rows.append(_measured(game, player, seats, games, seed, threads, variant, playing, references.get(seats)))
        if rows[-1].interrupted:
            break
    return Report(
        game=game.name,
        title=game.title,
        version=game.version,
        variant=game.default_variant if variant is None else variant,
        agent=player.label,
        seed=seed,
        asked=games,
        threads=threads,
        rows=tuple(rows),
        interrupted=rows[-1].interrupted if rows else False,
    )


def _counted(progress: Progress | None, done: int, total: int, text: str) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    progress(done, total, text)
    return lambda finished, _: progress(done + finished, total, text)


def _measured(
    game: Game,
    player: Agent,
    seats: int,
    games: int,
    seed: int,
    threads: int,
    variant: str | None,
    playing: Callable[[int, int], None] | None,
    reference: float | None,
) -> Row:
    lineups, seeds = np.zeros((games, seats), np.int64), deal_seeds(seed, games)
    results = play(game, [player], lineups, seeds, variant=variant, threads=threads, tally=True, progress=playing)
    tally = results.tally[results.finished]
    decisions, branching, power, geometric = _figures(tally, seed)
    return Row(
        players=seats,
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
    """Decisions, branching and both complexities from the counts of each game, f8[G, 4] as in `driver.Games`."""

    def branching(means: np.ndarray) -> np.ndarray:
        return means[:, 1] / np.maximum(means[:, 0], 1e-300)

    def power(means: np.ndarray) -> np.ndarray:
        return means[:, 0] * np.log10(np.maximum(branching(means), 1.0))

    statistics = (lambda means: means[:, 0], branching, power, lambda means: means[:, 2])
    if not len(tally):
        return [Estimate(np.nan, np.nan, np.nan, 0, 0)] * len(statistics)
    whole, drawn = tally.mean(axis=0)[None], interval.resampled_means(tally, seed)
    return [
        Estimate(float(statistic(whole)[0]), *interval.percentiles(statistic(drawn)), len(tally), len(tally))
        for statistic in statistics
    ]


def _drawn(report: Report) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    rows = [row for row in report.rows if row.power.n]
    players = [row.players for row in rows]
    for shift, label, name in (
        (-0.06, "mean branching ^ mean decisions", "power"),
        (0.06, "geometric mean", "geometric"),
    ):
        found = [getattr(row, name) for row in rows]
        errors = [[one.point - one.low for one in found], [one.high - one.point for one in found]]
        shifted = [seats + shift for seats in players]
        axes.errorbar(shifted, [one.point for one in found], np.maximum(errors, 0), fmt="o-", capsize=3, label=label)
    published = [(row.players, row.reference) for row in rows if row.reference is not None]
    if published:
        axes.plot(*zip(*published, strict=True), "x--", color="0.4", label="published")
    axes.set(title=f"{report.title}: size of the game tree", xlabel="players", xticks=players)
    axes.set_ylabel("log10 of the tree's size")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
