"""`cardai exact`: agents measured against exact values, in four ways."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter

from cardai.cli.verbs import shared

GROUP = "Measure"  # the heading under which `cardai --help` lists it

exact = App(name="exact", help="Measure agents against exact values: grade, exploitability, endings, hands.")
Measured = Annotated[list[str], Parameter(name="--agent", negative="", help="An agent spec; may be repeated.")]


@exact.command
def grade(
    game: shared.GameName, /, *, agent: Measured, seed: shared.Seed = 0, computing: shared.Computing = shared.HERE,
    json: shared.AsJson = False,
) -> None:  # fmt: skip
    """Grade agents over the whole game tree of a small game without hidden cards."""
    from cardai.cli.show.progress import Line
    from cardai.guests.exact import shown
    from cardai.guests.exact.grade import grade
    from cardai.guests.exact.solution import solve

    computing.begin()
    loaded = shared.load(game)
    with Line("grading", loaded) as progress:
        solution = solve(loaded)
        reports = [grade(solution, spec, seed=seed, progress=progress) for spec in shared.listed(agent) or ()]
    _print_all(shown.grades, reports, json)


@exact.command
def exploitability(
    game: shared.GameName,
    /,
    *,
    agent: Measured,
    seats: shared.SeatCount = None,
    variant: shared.Variant = None,
    measure: Annotated[str, Parameter(help="What is won: score, or an outcome of the game.")] = "score",
    histories: Annotated[int, Parameter(help="The most histories that the tree may have.")] = 1_000_000,
    computing: shared.Computing = shared.HERE,
    json: shared.AsJson = False,
) -> None:
    """Measure how much a best response wins against agents, over the whole tree of a small game with chance."""
    from cardai.cli.show.progress import Line
    from cardai.guests.exact import shown
    from cardai.guests.exact.exploitability import exploitability
    from cardai.guests.exact.tree import GameTree

    computing.begin()
    loaded = shared.load(game)
    with Line("listing the tree", loaded):
        tree = GameTree.of(loaded, seats, variant, histories)
        reports = [exploitability(tree, spec, measure) for spec in shared.listed(agent) or ()]
    _print_all(shown.exploitabilities, reports, json)


def _print_all(table: Any, reports: list[Any], json: bool) -> None:
    """Print reports as JSON or in one table."""
    if json:
        shared.print_json([report.as_json() for report in reports])
    else:
        shared.announce(table(*reports))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Playing(shared.Computing):
    """Options of a verb that measures agents in games against each other."""

    seats: shared.SpecList
    games: Annotated[int, Parameter(help="How many games; rounded up to whole rotations.")] = 100
    nodes: Annotated[int | None, Parameter(help="The most positions visited for one decision, in one world.")] = None
    seed: shared.Seed = 0
    threads: shared.Threads = None
    variant: shared.Variant = None

    def measured(self, game: str, json: bool, **ending: Any) -> int:
        """Measure and print. Returns the exit code."""
        from cardai.cli.show.progress import Line
        from cardai.guests.exact.endings import measure_endings

        shared.refuse_counts(self.games, self.threads)
        self.begin()
        loaded, specs = shared.load(game), shared.specs_of(self.seats or "")
        ending |= {"variant": self.variant, "limit": self.nodes, "threads": self.threads}
        with Line("playing", loaded) as progress:
            report = measure_endings(loaded, specs, self.games, self.seed, progress=progress, **ending)
        return shared.show(report, json)


@exact.command
def endings(game: shared.GameName, /, *, playing: Playing, json: shared.AsJson = False) -> int:
    """Grade agents in endings without hidden cards, by perfect play, in games against each other."""
    return playing.measured(game, json)


@exact.command
def hands(
    game: shared.GameName,
    /,
    *,
    playing: Playing,
    last: Annotated[int, Parameter(help="How many plies before the end of each game are looked at.")] = 16,
    worlds: Annotated[int, Parameter(help="In how many worlds each decision is solved.")] = 20,
    json: shared.AsJson = False,
) -> int:
    """Grade the last decisions of agents by what their moves are worth with all cards open, in the mean over worlds."""
    return playing.measured(game, json, last=last, worlds=worlds)
