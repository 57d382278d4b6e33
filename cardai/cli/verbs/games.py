"""Verbs of the `cardai` command: games and the machine."""

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from cardai.cli.verbs.shared import (
    Agents,
    AsJson,
    GameName,
    SeatCount,
    Seed,
    Variant,
    announce,
    load,
    print_json,
    refuse,
    refuse_counts,
    refuse_given,
    show,
    working,
)

if TYPE_CHECKING:
    from cardai.game import Game

GROUP = "Games"


def games(
    game: Annotated[str | None, Parameter(help="Show what follows from the declarations of this game.")] = None,
    /,
    *,
    seats: SeatCount = None,
    plies: Annotated[int | None, Parameter(help="Random moves before the position shown; 6 if not given.")] = None,
    seed: Annotated[int | None, Parameter(help="The seed of the position shown; 0 if not given.")] = None,
    json: AsJson = False,
) -> int:
    """List the games, or show one game's state, parts, a position as a seat sees it, and its encoder."""
    from cardai import registry
    from cardai.cli.show import declared
    from cardai.errors import CardaiError, whole

    if game is not None:
        plies = 6 if plies is None else whole("--plies", plies, 0)
        loaded = load(game)
        facts = declared.facts(loaded, loaded.default_seats if seats is None else seats, seed or 0, plies)
        return _print(facts, declared.table, json)
    refuse_given({"--seats": seats, "--plies": plies, "--seed": seed}, "needs a GAME")
    rows = []
    for name in registry.available():
        try:
            rows.append(described(registry.load(name)))
        except CardaiError as error:
            rows.append({"name": name, "error": str(error)})
    _print(rows, declared.games, json)
    return int(any("error" in row for row in rows))


def _print(facts: Any, table: Callable[[Any], Any], json: bool) -> int:
    """Print facts as JSON, or as what `table` makes of them."""
    if json:
        print_json(facts)
    else:
        announce(table(facts))
    return 0


def described(game: "Game") -> dict[str, Any]:
    lists = {"seats": list(game.seats), "variants": list(game.variants), "suites": list(game.agents.suites)}
    lists |= {"options": {name: [int(value) for value in values] for name, values in game.allowed.items()}}
    return {"name": game.name, "title": game.title, "version": game.version} | lists


@Parameter(name="*")
@dataclass(frozen=True)
class StrongestOptions:
    """Options of `cardai agents --measure`."""

    agent: Agents = None
    games: Annotated[int, Parameter(help="The most games of each agent in each round at each table.")] = 4000
    seconds: Annotated[
        float, Parameter(help="The most seconds of each agent's decisions in each round at each table.")
    ] = 20.0
    seed: Seed = 0
    again: Annotated[bool, Parameter(negative="", help="Also measure tables whose agents are in the list.")] = False
    out: Annotated[Path | None, Parameter(help="Write the list here, not beside the game's rules.")] = None


def agents(
    game: GameName,
    /,
    *,
    variant: Variant = None,
    seats: SeatCount = None,
    measure: Annotated[
        bool,
        Parameter(
            negative="",
            help="Measure who is the strongest for their time, at all tables or those named, and write the list that"
            " all other commands use. The options below go with it.",
        ),
    ] = False,
    measuring: StrongestOptions = StrongestOptions(),
    json: AsJson = False,
) -> int:
    """List the agents that can play a game, the strongest of a table first, and their parameters; or measure them."""
    if measure:
        return _measure(game, variant, seats, measuring, json)
    if measuring != StrongestOptions():
        refuse("--agent, --games, --seconds, --seed, --again and --out need --measure")
    from rich.table import Column, Table

    from cardai import registry
    from cardai.cli.show.tables import NOTE, picks_of
    from cardai.playing.agents.spec import list_specs
    from cardai.playing.agents.strongest import TIMES, measured_tables
    from cardai.playing.agents.strongest import strongest as strongest_of

    loaded = registry.load(game)
    seats = loaded.default_seats if seats is None else seats
    picked = {f"{time:g}": strongest_of(loaded, variant, seats, time) for time in TIMES}
    place = loaded.canonical(variant), seats
    tables = [table for table in measured_tables(loaded) if (table.variant, table.seats) == place]
    specs = list_specs(loaded)
    parameters = {name: dict(player.defaults) for name, player in loaded.agents.players.items()}
    if json:
        listed = [
            {"agent": spec, "about": about, "parameters": parameters.get(spec, {})} for spec, about in specs.items()
        ]
        measured = [asdict(table) for table in tables]
        print_json({"variant": place[0], "seats": seats, "strongest": picked, "measured": measured, "agents": listed})
        return 0
    if tables:
        announce(picks_of(loaded.name, tables))
        announce(f"{NOTE}. Measured: {tables[0].by}.")
    else:
        announce(f"People meet {picked['100']} here. `cardai agents {game} --measure` measures who is the strongest.")
    table = Table(Column("agent", no_wrap=True), "what it is", "parameters")
    for spec, about in specs.items():
        table.add_row(spec, about, " ".join(f"{name}={value:g}" for name, value in parameters.get(spec, {}).items()))
    announce(table)
    announce("Parameters are changed like this: NAME?p=0.5&q=2. Your own function plays as python:MODULE:FUNCTION.")
    return 0


def _measure(game: str, variant: str | None, seats: int | None, chosen: StrongestOptions, json: bool) -> int:
    """Measure a game's tables, all or those of a variant or number of seats."""
    from cardai.measure.strongest import measure

    refuse_counts(chosen.games, None)
    loaded = load(game)
    variants, counts = (None if variant is None else [variant]), (None if seats is None else [seats])
    with working("playing", loaded) as progress:
        report = measure(
            loaded, chosen.agent or (), variants, counts, chosen.games, chosen.seconds, chosen.seed, chosen.again,
            progress, chosen.out,
        )  # fmt: skip
    return show(report, json)


def check(
    game: GameName,
    /,
    *,
    law: Annotated[list[str] | None, Parameter(negative="", help="Only this law; may be repeated.")] = None,
    variant: Annotated[
        list[str] | None,
        Parameter(negative="", help="Only this variant, with options or without; may be repeated. All if not given."),
    ] = None,
    effort: Annotated[str, Parameter(help="How many games are tried: quick, normal or thorough.")] = "normal",
    seed: Seed = 0,
    seconds: Annotated[
        float | None, Parameter(help="Seconds for all laws: 25 for quick, 46 for normal, no limit for thorough.")
    ] = None,
    time_limit: Annotated[
        float, Parameter(help="Seconds that one call of the game may take: of processors, and asleep.")
    ] = 20.0,
    memory_limit: Annotated[float, Parameter(help="GiB of memory that the game may take.")] = 2.0,
    strict: Annotated[
        bool, Parameter(negative="", help="Fail, too, if a law is not tested because the game leaves out a field.")
    ] = False,
    verbose: Annotated[bool, Parameter(negative="", help="Name every law, and what it looked at.")] = False,
    json: AsJson = False,
) -> int:
    """Test whether a game keeps the laws of the contract. Any game can be tested, yours too.

    A game that crashes or does not return breaks a law. A law that finds nothing to test in a game is not tested, which
    is no failure. Where the seconds do not suffice, laws look at a part of what they would look at, and say so.
    """
    from cardai.cli.show import laws as shown
    from cardai.laws import check

    loaded = load(game)
    with working("checking", loaded) as line:
        verdicts = check(
            loaded, effort=effort, seed=seed, laws=law, variants=variant, seconds=seconds, call_seconds=time_limit,
            memory=memory_limit, progress=lambda name, done, total: line(done, total, name),
        )  # fmt: skip
    if json:
        print_json([asdict(verdict) for verdict in verdicts])
    else:
        announce(shown.report(loaded.name, verdicts, verbose))
    return any(verdict.verdict == "broken" or (strict and verdict.cause == "field") for verdict in verdicts)


def new_game(
    name: Annotated[str, Parameter(help="The game's name: letters, digits and _.")],
    /,
    *,
    folder: Annotated[Path, Parameter(help="The folder in which the game's folder is made.")] = Path(),
) -> None:
    """Write a small complete game, from which to build your own."""
    from cardai.cli import scaffold

    place = scaffold.create(name, folder)
    path = place if place.is_absolute() else f"./{place}"
    announce(f"{place} holds a small complete game. Replace its parts one by one, and check the game as you go:")
    announce(f"  cardai check {path}\n  cardai play {path}")
    announce(f"Of its test, replace TestSampleGame; the rest is true of any rules: pytest {path} (pip install pytest)")


def doctor(
    *games: Annotated[str, Parameter(help="With --warm: names or paths of games; all games without.")],
    warm: Annotated[
        bool, Parameter(negative="", help="Compile games ahead, for an image of a container or for CI.")
    ] = False,
    clear_cache: Annotated[bool, Parameter(negative="", help="Delete all compiled rules.")] = False,
    json: AsJson = False,
) -> int:
    """Report what cardai runs on here, and whether each game loads and plays; or compile games ahead."""
    from cardai import registry
    from cardai.cli import doctor as examination

    if clear_cache:
        from cardai.rules.keeping import forget

        print(f"deleted {forget() / 1e6:.1f} MB of compiled rules", file=sys.stderr)
    if warm:
        found = [registry.load(name) for name in games or registry.available()]
        return _print(examination.warm(found), examination.table, json)
    refuse_given({"game": ",".join(games) or None}, "needs --warm")
    facts = examination.examine(load)
    _print(facts, examination.table, json)
    return int(not facts["healthy"])
