"""`cardai exact`: agents measured against exact values, in four ways."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter

from cardai.app.cli import (
    HERE,
    AsJson,
    Computing,
    GameName,
    SeatCount,
    Seed,
    Threads,
    Variant,
    _listed,
    _print,
    _print_json,
    _refuse_counts,
    _specs,
    load,
    show,
)

GROUP = "Measure"  # the heading under which `cardai --help` lists it

exact = App(name="exact", help="Measure agents against exact values: grade, exploitability, endings, hands.")
Measured = Annotated[list[str], Parameter(name="--agent", negative="", help="An agent spec; may be repeated.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Playing(Computing):
    """Options of a verb that measures agents in games against each other."""

    seats: Annotated[str, Parameter(help="One agent spec for each seat: greedy:best,bot3,bot3,bot3.")]
    games: Annotated[int, Parameter(help="How many games; rounded up to whole rotations.")] = 100
    nodes: Annotated[int | None, Parameter(help="The most positions visited for one decision, in one world.")] = None
    seed: Seed = 0
    threads: Threads = None
    variant: Variant = None

    def measured(self, game: str, json: bool, **ending: int) -> int:
        """Measure and print. Returns the exit code."""
        from cardai.guests.exact.endings import measure_endings
        from cardai.show.progress import Line

        _refuse_counts(self.games, self.threads)
        self.begin()
        loaded, specs = load(game), _specs(self.seats)
        options = {"variant": self.variant, "limit": self.nodes, "threads": self.threads, **ending}
        with Line("playing", loaded) as progress:
            report = measure_endings(loaded, specs, self.games, self.seed, progress=progress, **options)  # pyright: ignore[reportArgumentType]
        return show(report, json)


@exact.command
def grade(
    game: GameName, /, *, agent: Measured, seed: Seed = 0, computing: Computing = HERE, json: AsJson = False
) -> int:
    """Grade agents over the whole game tree of a small game without hidden cards."""
    from cardai.guests.exact import shown
    from cardai.guests.exact.grade import grade
    from cardai.guests.exact.solution import solve
    from cardai.show.progress import Line

    computing.begin()
    loaded = load(game)
    with Line("grading", loaded) as progress:
        solution = solve(loaded)
        reports = [grade(solution, spec, seed=seed, progress=progress) for spec in _listed(agent) or ()]
    return _show_all(shown.grades, reports, json)


@exact.command
def exploitability(
    game: GameName,
    /,
    *,
    agent: Measured,
    seats: SeatCount = None,
    variant: Variant = None,
    measure: Annotated[str, Parameter(help="What is won: score, or an outcome of the game.")] = "score",
    histories: Annotated[int, Parameter(help="The most histories that the tree may have.")] = 1_000_000,
    computing: Computing = HERE,
    json: AsJson = False,
) -> int:
    """Measure how much a best response wins against agents, over the whole tree of a small game with chance."""
    from cardai.guests.exact import shown
    from cardai.guests.exact.exploitability import exploitability
    from cardai.guests.exact.tree import GameTree
    from cardai.show.progress import Line

    computing.begin()
    loaded = load(game)
    with Line("listing the tree", loaded):
        tree = GameTree.of(loaded, seats, variant, histories)
        reports = [exploitability(tree, spec, measure=measure) for spec in _listed(agent) or ()]
    return _show_all(shown.exploitabilities, reports, json)


@exact.command
def endings(game: GameName, /, *, playing: Playing, json: AsJson = False) -> int:
    """Grade agents in endings without hidden cards, by perfect play, in games against each other."""
    return playing.measured(game, json)


@exact.command
def hands(
    game: GameName,
    /,
    *,
    playing: Playing,
    last: Annotated[int, Parameter(help="How many plies before the end of each game are looked at.")] = 16,
    worlds: Annotated[int, Parameter(help="In how many worlds each decision is solved.")] = 20,
    json: AsJson = False,
) -> int:
    """Grade the last decisions of agents by what their moves are worth with all cards open, in the mean over worlds."""
    return playing.measured(game, json, last=last, worlds=worlds)


def _show_all(draw: Callable[..., Any], reports: list[Any], json: bool) -> int:
    """Print reports in one table. Returns the exit code."""
    if json:
        _print_json([report.as_json() for report in reports])
    else:
        _print(draw(*reports))
    return 0
