"""Verbs of the `cardai` command: measuring agents and games."""

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from cardai.cli.verbs.shared import (
    ALONE,
    HERE,
    Agents,
    AsJson,
    Computing,
    Figure,
    GameName,
    Isolate,
    Rules,
    Salt,
    SeatCount,
    Seed,
    Sharing,
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
    salt_of,
    show,
    working,
)

GROUP = "Measure"


def strongest(
    game: GameName,
    /,
    *,
    agent: Agents = None,
    variant: Variant = None,
    seats: SeatCount = None,
    games: Annotated[int, Parameter(help="The most games of each agent in each round at each table.")] = 4000,
    seconds: Annotated[
        float, Parameter(help="The most seconds of each agent's decisions in each round at each table.")
    ] = 20.0,
    seed: Seed = 0,
    again: Annotated[bool, Parameter(negative="", help="Also measure tables whose agents are in the list.")] = False,
    out: Annotated[Path | None, Parameter(help="Write the list here, not beside the game's rules.")] = None,
    json: AsJson = False,
) -> int:
    """Measure which agents are the strongest for their time, and write the list that all other commands use."""
    from cardai.measure.strongest import measure

    refuse_counts(games, None)
    loaded = load(game)
    variants, counts = (None if variant is None else [variant]), (None if seats is None else [seats])
    with working("playing", loaded) as progress:
        report = measure(loaded, agent or (), variants, counts, games, seconds, seed, again, progress, out)
    return show(report, json)


def situations(
    game: GameName,
    /,
    *,
    agent: Agents = None,
    tries: Annotated[int, Parameter(help="How often each agent is asked in each situation, with other luck.")] = 20,
    seed: Seed = 0,
    isolate: Isolate = False,
    json: AsJson = False,
) -> int:
    """Ask agents what they play in positions with a right answer, and show how often they find it."""
    from cardai.measure.situations import measure_situations
    from cardai.playing.agents.spec import agent as agent_of

    loaded = load(game)
    agents = None if agent is None else [agent_of(loaded, spec, isolate=isolate) for spec in listed(agent) or ()]
    with working("asking", loaded):
        report = measure_situations(loaded, agents, tries, seed)
    return show(report, json)


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
    seed: Seed = 0,
    threads: Threads = None,
    variant: Variant = None,
    seconds: Annotated[
        float | None,
        Parameter(
            help="With --all: the most seconds for each agent at each table; slow agents play fewer deals. 10 if "
            "neither this nor --games is given; without it the figures of a seed repeat."
        ),
    ] = None,
    history: Annotated[Path | None, Parameter(help="With --all: append the result to this file, as one line.")] = None,
    against: Annotated[Path | None, Parameter(help="With --all: compare with the last line of this file.")] = None,
    sharing: Sharing = ALONE,
    salt: Salt = None,
    isolate: Isolate = False,
    json: AsJson = False,
) -> int:
    """Measure agents on a published suite of a game: duplicate deals, rotated seats, 95 % intervals."""
    from cardai.cli.show import bench as shown
    from cardai.measure import bench as benchmark

    refuse_counts(games, threads)
    sharing.begin()
    if all_games:
        options = {
            "--suite": suite,
            "--agent": ",".join(agent) if agent else None,
            "--variant": variant,
            "--salt": salt,
            "--isolate": isolate or None,
            "--cluster": sharing.cluster,
        }
        refuse_given(options, "is for a suite, not for --all")
        named = ([] if game is None else [game]) + (only or [])
        return _bench_all(named, games, seconds, seed, threads, history, against, json)
    refuse_given({"--game": ",".join(only) if only else None}, "needs --all")
    if game is None:
        refuse("bench needs a game (see `cardai games`), or --all for all games")
    refuse_given({"--history": history, "--against": against, "--seconds": seconds}, "needs --all")
    loaded = load(game)
    with working("playing", loaded) as progress, sharing.joined() as machines:
        report = benchmark.run_suite(
            loaded, suite, listed(agent), games, seed, threads, variant, progress, salt_of(salt), isolate, machines,
            lambda result: progress.note(shown.line(loaded, result)),
        )  # fmt: skip
    return show(report, json)


def _bench_all(
    named: list[str],
    games: int | None,
    seconds: float | None,
    seed: int,
    threads: int | None,
    history: Path | None,
    against: Path | None,
    as_json: bool,
) -> int:
    """Rate all agents of the named games, or of all; says on stderr beforehand how long that takes at most."""
    from cardai.measure import history as ratings
    from cardai.measure import league

    earlier = ratings.last_run(against) if against else None
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
        report = league.run_all(None, games, seed, threads, progress, budget, plan)
    if earlier:
        report = ratings.compare(report, earlier)
    if history and not report.interrupted:
        ratings.append(history, report)
    return show(report, as_json)


def perf(
    game: GameName,
    /,
    *,
    agent: Annotated[
        str | None, Parameter(help="Measure this agent, which has a model, and its network alone in a loop.")
    ] = None,
    seconds: Annotated[float, Parameter(help="How long each measurement takes, in seconds.")] = 1.0,
    repeats: Annotated[int, Parameter(help="How many measurements; the median is shown.")] = 5,
    seats: SeatCount = None,
    variant: Variant = None,
    threads: Annotated[int | None, Parameter(help="How many threads to compare with one; 2 if not given.")] = None,
    computing: Computing = HERE,
    json: AsJson = False,
) -> None:
    """Measure speed: decisions and games a second, or with --agent the rows a second of its network."""
    from cardai.measure import network_share
    from cardai.measure import perf as speed

    if agent:
        refuse_given({"--threads": threads}, "is not for --agent")
    computing.begin()
    loaded = load(game)
    options: dict[str, Any] = {"seats": seats, "variant": variant}
    with working("measuring", loaded) as progress:
        if agent:
            report = network_share.measure(loaded, agent, seconds, repeats, progress, **options)
        else:
            report = speed.measure(
                loaded, seconds, repeats, progress, threads=2 if threads is None else threads, **options
            )
    show(report, json)


def complexity(
    game: GameName,
    /,
    *,
    players: Annotated[str | None, Parameter(help="Numbers of players: 4, or 2-8, or 2,4,6; all if not given.")] = None,
    games: Annotated[int, Parameter(help="Games for each number of players.")] = 10_000,
    agent: Annotated[str, Parameter(help="The agent that plays all seats.")] = "random",
    seed: Seed = 0,
    threads: Threads = None,
    variant: Variant = None,
    figure: Figure = None,
    json: AsJson = False,
) -> int:
    """Estimate the size of a game's tree for each number of players, from played games."""
    from cardai.cli.show import complexity as shown
    from cardai.cli.show.figure import figure_path, save_figure
    from cardai.measure import complexity as tree

    refuse_counts(games, threads)
    loaded = load(game)
    numbers = numbers_of(players) if players else None
    if figure:
        figure_path(figure)
    with working("playing", loaded) as progress:
        report = tree.measure(loaded, numbers, games, agent, seed, threads, variant, progress)
    if figure:
        save_figure(figure, shown.figure(report))
    return show(report, json)


def perft(
    game: GameName,
    /,
    *,
    depth: Annotated[int | None, Parameter(help="How many moves; to the end of the game if not given.")] = None,
    seats: SeatCount = None,
    seed: Seed = 0,
    variant: Variant = None,
    json: AsJson = False,
) -> None:
    """Count the sequences of legal moves (perft), to compare with another implementation of the rules."""
    from cardai.measure.perft import perft as counted

    loaded = load(game)
    with working("counting", loaded):
        counts = counted(loaded, depth, seats, variant, seed=seed)
    if json:
        print_json({"game": loaded.name, "version": loaded.version, "seed": seed, "counts": counts})
        return
    for moves, count in enumerate(counts):
        announce(f"{moves:>3}  {count:,}".replace(",", " "))


def analyse(
    file: Annotated[Path, Parameter(help="A file of recorded games.")],
    /,
    *,
    game: Annotated[int, Parameter(help="Which game, counted from 0.")] = 0,
    agent: Annotated[
        str | None, Parameter(help="Judge with this agent: greedy:EVALUATOR or sampled:EVALUATOR.")
    ] = None,
    model: Annotated[str | None, Parameter(help="Or with this model; if neither is given, the game's first.")] = None,
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
            file, agent, number=game, model=model, rules=rules, seed=seed, top=top, seat=seat, progress=progress
        )
    if figure:
        save_figure(figure, shown.figure(report))
    return show(report, json)
