"""Verbs of the `cardai` command: measuring agents and games."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from cardai.cli.verbs.shared import (
    HERE,
    MATCH_OPTIONS,
    Agents,
    AsJson,
    Computing,
    Figure,
    GameName,
    MatchOptions,
    PlayOptions,
    Rules,
    SeatCount,
    Seed,
    Threads,
    Variant,
    announce,
    listed,
    load,
    numbers_of,
    print_json,
    refuse,
    refuse_counts,
    refuse_given,
    show,
    working,
)

if TYPE_CHECKING:
    from cardai.game import Game

GROUP = "Measure"


def bench(
    game: GameName | None = None,
    /,
    *,
    all_games: Annotated[
        bool, Parameter(name="--all", negative="", help="Every agent of the game, or of all games, with ratings.")
    ] = False,
    only: Annotated[
        list[str] | None,
        Parameter(
            name="--game",
            negative="",
            help="With --all: a game's name or path, yours too; may be repeated. Without it all that come with cardai.",
        ),
    ] = None,
    suite: Annotated[str | None, Parameter(help="A suite of the game; the game's first suite if not given.")] = None,
    agent: Agents = None,
    games: Annotated[
        int | None,
        Parameter(help="Games for each row (the suite's number if not given); with --all, for each table."),
    ] = None,
    seconds: Annotated[
        float | None,
        Parameter(
            help="With --all: the most seconds for each agent at each table; slow agents play fewer deals. 10 if "
            "neither this nor --games is given; without it the figures of a seed repeat."
        ),
    ] = None,
    history: Annotated[Path | None, Parameter(help="With --all: append the result to this file, as one line.")] = None,
    measuring: MatchOptions = MATCH_OPTIONS,
    situations: Annotated[
        bool,
        Parameter(
            negative="",
            help="Ask the agents what they play in positions with a right answer, so often in each as --games says, or"
            " 20 times.",
        ),
    ] = False,
    json: AsJson = False,
) -> int:
    """Measure agents on a published suite of a game: duplicate deals, rotated seats, 95 % intervals."""
    from cardai.cli.show import bench as shown
    from cardai.measure import bench as benchmark

    measuring.begin_games(games)
    if all_games:
        options = {
            "--suite": suite,
            "--agent": ",".join(agent) if agent else None,
            "--variant": measuring.variant,
            "--salt": measuring.salt,
            "--isolate": measuring.isolate or None,
            "--cluster": measuring.cluster,
            "--situations": situations or None,
        }
        refuse_given(options, "is for a suite, not for --all")
        named = ([] if game is None else [game]) + (only or [])
        return _bench_all(named, games, seconds, measuring, history, json)
    refuse_given({"--game": ",".join(only) if only else None}, "needs --all")
    if game is None:
        refuse("bench needs a game (see `cardai games`), or --all for all games")
    refuse_given({"--history": history, "--seconds": seconds}, "needs --all")
    loaded = load(game)
    if situations:
        unused = {"--suite": suite, "--variant": measuring.variant, "--salt": measuring.salt}
        refuse_given(unused | {"--cluster": measuring.cluster}, "is not for --situations")
        return _situations(loaded, listed(agent), games, measuring, json)
    with working("playing", loaded) as progress, measuring.joined() as machines:
        report = benchmark.run_suite(
            loaded, suite, listed(agent), games, progress=progress, cluster=machines,
            on_result=lambda result: progress.note(shown.line(loaded, result)), **measuring.options,
        )  # fmt: skip
    return show(report, json)


def _situations(
    game: "Game", specs: list[str] | None, tries: int | None, measuring: MatchOptions, as_json: bool
) -> int:
    """Show how often agents find the right move in the situations of a game."""
    from cardai.measure.situations import TRIES, measure_situations
    from cardai.playing.agents.spec import agent

    with working("asking", game):
        asked = None if specs is None else [agent(game, spec, isolate=measuring.isolate) for spec in specs]
        report = measure_situations(game, asked, TRIES if tries is None else tries, measuring.seed)
    return show(report, as_json)


def _bench_all(
    named: list[str],
    games: int | None,
    seconds: float | None,
    playing: PlayOptions,
    history: Path | None,
    as_json: bool,
) -> int:
    """Rate all agents of the named games, or of all; says on stderr beforehand how long that takes at most."""
    from cardai.measure import history as ratings
    from cardai.measure import league

    if history:
        ratings.check_history(history)
    budget = league.SECONDS if games is None and seconds is None else seconds
    if budget is not None and not 0 < budget < float("inf"):
        refuse(f"--seconds must be above 0, not {budget:g}")
    games = league.GAMES if games is None else games
    with working("loading the agents"):
        plan = league.plan_all(named or None)
    print(plan.about(games, budget), file=sys.stderr)
    with working("playing") as progress:
        report = league.run_all(None, games, playing.seed, playing.threads, progress, budget, plan)
    if history and not report.interrupted:
        ratings.append(history, report)
    return show(report, as_json)


def perf(
    game: GameName,
    /,
    *,
    agent: Agents = None,
    seconds: Annotated[float, Parameter(help="How long each measurement takes, in seconds.")] = 1.0,
    repeats: Annotated[int, Parameter(help="How many measurements; the median is shown.")] = 5,
    seats: SeatCount = None,
    variant: Variant = None,
    threads: Annotated[int, Parameter(help="How many threads to compare with one.")] = 2,
    computing: Computing = HERE,
    json: AsJson = False,
) -> int:
    """Measure speed: the decisions and games a second of agents or the game's players, and operations of the rules."""
    from cardai.measure import perf as speed

    computing.begin()
    loaded = load(game)
    with working("measuring", loaded) as progress:
        report = speed.measure(loaded, seconds, repeats, progress, listed(agent) or (), seats, variant, threads)
    return show(report, json)


def complexity(
    game: GameName,
    /,
    *,
    players: Annotated[str | None, Parameter(help="Numbers of players: 4, or 2-8, or 2,4,6; all if not given.")] = None,
    games: Annotated[int | None, Parameter(help="Games for each number of players; 10,000 if not given.")] = None,
    agent: Annotated[str | None, Parameter(help="The agent that plays all seats; random if not given.")] = None,
    seed: Seed = 0,
    threads: Threads = None,
    variant: Variant = None,
    figure: Figure = None,
    perft: Annotated[
        int | None,
        Parameter(
            help="Instead count the sequences of up to so many legal moves (perft), to compare with another"
            " implementation of the rules."
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Estimate the size of a game's tree for each number of players, from played games."""
    from cardai.cli.show import complexity as shown
    from cardai.cli.show.figure import figure_path, save_figure
    from cardai.measure import complexity as tree

    refuse_counts(games, threads)
    loaded = load(game)
    numbers = numbers_of(players) if players else None
    if perft is not None:
        unused = {"--games": games, "--agent": agent, "--threads": threads, "--figure": figure}
        refuse_given(unused, "is not for --perft")
        return _perft(loaded, perft, numbers, seed, variant, json)
    if figure:
        figure_path(figure)
    with working("playing", loaded) as progress:
        report = tree.measure(loaded, numbers, games or 10_000, agent or "random", seed, threads, variant, progress)
    if figure:
        save_figure(figure, shown.figure(report))
    return show(report, json)


def _perft(game: "Game", depth: int, players: list[int] | None, seed: int, variant: str | None, as_json: bool) -> int:
    """Print how many sequences of 0, 1, ... `depth` legal moves there are."""
    from cardai.measure.perft import perft

    if players and len(players) > 1:
        refuse("--perft counts for one number of players")
    with working("counting", game):
        counts = perft(game, depth, players[0] if players else None, variant, seed=seed)
    if as_json:
        print_json({"game": game.name, "version": game.version, "seed": seed, "counts": counts})
    for moves, count in enumerate(() if as_json else counts):
        announce(f"{moves:>3}  {count:,}".replace(",", " "))
    return 0


def analyse(
    file: Annotated[Path, Parameter(help="A file of recorded games.")],
    /,
    *,
    game: Annotated[int, Parameter(help="Which game, counted from 0.")] = 0,
    agent: Annotated[
        str | None, Parameter(help="Judge with this agent: greedy:EVALUATOR, sampled:EVALUATOR or rollout:N.")
    ] = None,
    top: Annotated[int, Parameter(help="How many moves to mark.")] = 5,
    seat: Annotated[
        int | None,
        Parameter(
            help="Show what this seat, counted from 0, may know: the moves of others as it is told of them, and values"
            " of its own positions only, since those of others come from what they know."
        ),
    ] = None,
    figure: Figure = None,
    rules: Rules = None,
    seed: Annotated[int, Parameter(help="Any whole number; it decides which worlds are sampled.")] = 0,
    computing: Computing = HERE,
    json: AsJson = False,
) -> int:
    """Show how good each seat's position was through a recorded game, and the moves that changed it most."""
    from cardai.cli.show import analysis as shown
    from cardai.cli.show.figure import figure_path, save_figure
    from cardai.measure import analysis
    from cardai.records import record

    computing.begin()
    if figure:
        figure_path(figure)
    with working("reading games", record.read(file).load(rules)) as progress:
        report = analysis.analyse_file(
            file, agent, number=game, rules=rules, seed=seed, top=top, seat=seat, progress=progress
        )
    if figure:
        save_figure(figure, shown.figure(report))
    return show(report, json)
