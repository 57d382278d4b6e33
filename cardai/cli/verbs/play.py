"""Verbs of the `cardai` command: playing and looking at games."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cardai.cli.verbs.shared import (
    HERE,
    INTERRUPTED,
    MATCH_OPTIONS,
    AsJson,
    Computing,
    GameName,
    Isolate,
    MatchOptions,
    Overwrite,
    Rules,
    SpecList,
    Variant,
    announce,
    error_type,
    load,
    print_json,
    refuse,
    show,
    specs_of,
    working,
)

GROUP = "Play"


def match(
    game: GameName,
    /,
    *,
    seats: Annotated[str, Parameter(help="One agent spec for each seat: bot3,random,random.")],
    games: Annotated[int, Parameter(help="How many games; rounded up to whole rotations.")] = 1000,
    rotate: Annotated[bool, Parameter(help="Play each deal once with each agent in each seat.")] = True,
    record: Annotated[Path | None, Parameter(help="Write the games to this file (.jsonl or .jsonl.gz).")] = None,
    overwrite: Overwrite = False,
    measuring: MatchOptions = MATCH_OPTIONS,
    json: AsJson = False,
) -> int:
    """Play agents against each other and print each agent's mean score with a 95 % interval."""
    from cardai.measure import bench as benchmark

    measuring.begin_games(games)
    loaded = load(game)
    with working("playing", loaded) as progress, measuring.joined() as machines:
        report = benchmark.run_match(
            loaded, specs_of(seats), games, rotate=rotate, record=record, overwrite=overwrite, progress=progress,
            cluster=machines, **measuring.options,
        )  # fmt: skip
    return show(report, json)


def play(
    game: GameName,
    /,
    *,
    seats: SpecList = None,
    variant: Variant = None,
    seed: Annotated[int | None, Parameter(help="Any whole number; a new one each time if not given.")] = None,
    moves_from: Annotated[Path | None, Parameter(help="A file of inputs, one a line; # begins a comment.")] = None,
    record: Annotated[
        Path | None, Parameter(help="Write the finished game to this file (.jsonl or .jsonl.gz).")
    ] = None,
    overwrite: Overwrite = False,
    study: Annotated[
        bool, Parameter(negative="", help="Allow hint, why, chances and undo; the record says that they were allowed.")
    ] = False,
    judge: Annotated[
        str | None, Parameter(help="The agent that gives hints; the strongest at this table if not given.")
    ] = None,
    computing: Computing = HERE,
    isolate: Isolate = False,
) -> int:
    """Play a game at the keyboard: "human" in --seats is you."""
    import secrets

    from cardai.cli import keyboard

    computing.begin()
    loaded = load(game)
    with working("loading", loaded):
        loaded.compiler.rules  # noqa: B018 - compiled while the line says so
    specs = specs_of(seats) if seats else keyboard.default_seats(loaded, variant)
    seed = secrets.randbelow(10**12) if seed is None else seed
    unrecorded = "; it was not recorded" if record else ""
    try:
        scores = keyboard.play(
            loaded, specs, seed=seed, variant=variant, script=moves_from, record=record, overwrite=overwrite,
            isolate=isolate, study=study, judge=judge,
        )  # fmt: skip
    except KeyboardInterrupt:
        print(f"\ninterrupted: the game is not finished{unrecorded}", file=sys.stderr)
        return INTERRUPTED
    chosen = f" --variant {shlex.quote(variant)}" if variant else ""
    again = f"--seats {shlex.quote(','.join(specs))} --seed {seed}{chosen}"  # specs may hold & and brackets
    if scores is None:
        announce(f"You have left the game ({again}){unrecorded}.")
        return 0
    if record:
        found_by = "" if game == loaded.name else f" --rules {game}"
        announce(f"The game is in {record}; `cardai replay {record}{found_by}` prints it.")
    announce(f"The same deal again: {again}")
    return 0


def rules(game: GameName, /) -> None:
    """Print the rules of a game."""
    from cardai import registry
    from cardai.cli import rulebook
    from cardai.cli.show.console import Output

    loaded = registry.load(game)
    rulebook.show(registry.rules_of(loaded) + rulebook.options(loaded), Output())


def replay(
    file: Annotated[Path, Parameter(help="A file of recorded games.")],
    /,
    *,
    game: Annotated[int, Parameter(help="Which game, counted from 0.")] = 0,
    seat: Annotated[
        int | None,
        Parameter(help="Show what this seat, counted from 0, sees, and the moves of others as it is told of them."),
    ] = None,
    positions: Annotated[bool, Parameter(help="Show the table before each move too.")] = True,
    verify: Annotated[
        bool,
        Parameter(negative="", help="Only check every line, move and score of the file, and name the first wrong one."),
    ] = False,
    rules: Rules = None,
    json: AsJson = False,
) -> None:
    """Print a recorded game: every move, and the table before it as the seat to move sees it; or check the file."""
    if verify:
        _verify(file, rules, json)
        return
    if json:
        refuse("--json goes with --verify")
    from cardai.cli.show.suits import in_suits
    from cardai.cli.show.transcript import transcript
    from cardai.game.compiled.doors import check_seat
    from cardai.records import record

    reader = record.read(file)
    loaded = reader.load(rules)
    with working("reading games", loaded) as line:
        chosen = reader.game(game, line.share)
        loaded.compiler.rules  # noqa: B018 - compiled while the line says so
    if seat is not None:
        check_seat("seat", seat, len(chosen.lineup))
    try:
        text = "\n".join(transcript(loaded, reader.header, chosen, seat, positions))
    except error_type() as error:
        refuse(f"{file}, game {game}: {error}")
    announce(in_suits(text, loaded.table.pieces) if sys.stdout.isatty() else text)


def _verify(file: Path, rules: str | None, as_json: bool) -> None:
    from dataclasses import asdict

    from cardai.records import record

    game = record.read(file).load(rules)
    with working("replaying", game) as line:
        verified = record.verify(file, line.share, rules)
    if as_json:
        print_json(asdict(verified))
        return
    header = verified.header
    announce(
        f"{file} is sound: {verified.games} games of {header.game} {header.version} ({header.variant}, "
        f"{header.seats} seats), {verified.plies} moves, replayed in {verified.seconds:.1f} s"
    )
    if not verified.complete:
        announce("It is not complete: the run that wrote it was interrupted, or some of its games did not end.")
