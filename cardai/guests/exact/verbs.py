"""`cardai exact`: agents measured against exact values, in four ways."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter

from cardai.app import cli

GROUP = "Measure"  # the heading under which `cardai --help` lists it

exact = App(name="exact", help="Measure agents against exact values: grade, exploitability, endings, hands.")
Measured = Annotated[list[str], Parameter(name="--agent", negative="", help="An agent spec; may be repeated.")]


@exact.command
def grade(
    game: cli.GameName, /, *, agent: Measured, seed: cli.Seed = 0, computing: cli.Computing = cli.HERE,
    json: cli.AsJson = False,
) -> None:  # fmt: skip
    """Grade agents over the whole game tree of a small game without hidden cards."""
    from cardai.guests.exact import shown
    from cardai.guests.exact.grade import grade
    from cardai.guests.exact.solution import solve
    from cardai.show.progress import Line

    computing.begin()
    loaded = cli.load(game)
    with Line("grading", loaded) as progress:
        solution = solve(loaded)
        reports = [grade(solution, spec, seed=seed, progress=progress) for spec in cli._listed(agent) or ()]
    _print_all(shown.grades, reports, json)


@exact.command
def exploitability(
    game: cli.GameName,
    /,
    *,
    agent: Measured,
    seats: cli.SeatCount = None,
    variant: cli.Variant = None,
    measure: Annotated[str, Parameter(help="What is won: score, or an outcome of the game.")] = "score",
    histories: Annotated[int, Parameter(help="The most histories that the tree may have.")] = 1_000_000,
    computing: cli.Computing = cli.HERE,
    json: cli.AsJson = False,
) -> None:
    """Measure how much a best response wins against agents, over the whole tree of a small game with chance."""
    from cardai.guests.exact import shown
    from cardai.guests.exact.exploitability import exploitability
    from cardai.guests.exact.tree import GameTree
    from cardai.show.progress import Line

    computing.begin()
    loaded = cli.load(game)
    with Line("listing the tree", loaded):
        tree = GameTree.of(loaded, seats, variant, histories)
        reports = [exploitability(tree, spec, measure) for spec in cli._listed(agent) or ()]
    _print_all(shown.exploitabilities, reports, json)


def _print_all(table: Any, reports: list[Any], json: bool) -> None:
    """Print reports as JSON or in one table."""
    if json:
        cli._print_json([report.as_json() for report in reports])
    else:
        cli._print(table(*reports))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Playing(cli.Computing):
    """Options of a verb that measures agents in games against each other."""

    seats: cli.SpecList
    games: Annotated[int, Parameter(help="How many games; rounded up to whole rotations.")] = 100
    nodes: Annotated[int | None, Parameter(help="The most positions visited for one decision, in one world.")] = None
    seed: cli.Seed = 0
    threads: cli.Threads = None
    variant: cli.Variant = None

    def measured(self, game: str, json: bool, **ending: Any) -> int:
        """Measure and print. Returns the exit code."""
        from cardai.guests.exact.endings import measure_endings
        from cardai.show.progress import Line

        cli._refuse_counts(self.games, self.threads)
        self.begin()
        loaded, specs = cli.load(game), cli._specs(self.seats or "")
        ending |= {"variant": self.variant, "limit": self.nodes, "threads": self.threads}
        with Line("playing", loaded) as progress:
            report = measure_endings(loaded, specs, self.games, self.seed, progress=progress, **ending)
        return cli.show(report, json)


@exact.command
def endings(game: cli.GameName, /, *, playing: Playing, json: cli.AsJson = False) -> int:
    """Grade agents in endings without hidden cards, by perfect play, in games against each other."""
    return playing.measured(game, json)


@exact.command
def hands(
    game: cli.GameName,
    /,
    *,
    playing: Playing,
    last: Annotated[int, Parameter(help="How many plies before the end of each game are looked at.")] = 16,
    worlds: Annotated[int, Parameter(help="In how many worlds each decision is solved.")] = 20,
    json: cli.AsJson = False,
) -> int:
    """Grade the last decisions of agents by what their moves are worth with all cards open, in the mean over worlds."""
    return playing.measured(game, json, last=last, worlds=worlds)
