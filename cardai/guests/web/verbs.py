"""`cardai study`: a study of people by a protocol, from its plan to its report."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from cardai.cli.verbs.shared import (
    HERE,
    AsJson,
    Computing,
    GameName,
    Isolate,
    Overwrite,
    SeatCount,
    Seed,
    Variant,
    announce,
    load,
    print_json,
    refuse,
    show,
    specs_of,
)
from cardai.guests.web.listening import LOCALLY, Listening

if TYPE_CHECKING:
    from cardai.game import Game
    from cardai.guests.web.participants import Participants
    from cardai.guests.web.protocol import Protocol
    from cardai.guests.web.store import Store

GROUP = "Play"


study = App(name="study", help="Run a study of people by a protocol: plan it, serve it, and report what came of it.")
File = Annotated[Path, Parameter(help="The protocol, a file in TOML; the study's data lies beside it.")]
Data = Annotated[
    Path | None, Parameter(help="The file that keeps the study; FILE.sqlite beside the protocol if not given.")
]

BEGINNING = '''title = "A study of card play"
contact = "Write here who runs the study and how to reach them."
consent = """
You play games against programs, in the browser.
We keep your answers, your moves and when you made them, under a number and without your name.
You may stop at any time, and delete all of it yourself on this page."""
games_each = GAMES # of each person at most: here each table and seat once
measure = "score" # or "win", "loss", "share": what the study is about
level = "level"
references = ["random"] # agents that play the deals of people afterwards

[stop] # whichever comes first, fixed before anybody plays
people = 12
# until = 2030-12-31

[aids] # all off: as at a table of cards, nobody remembers for you
known_cards = false
hints = false

# [time] # seconds for a move, and for all moves of a game; who is late has a move made by the agent `late`
# move = 120
# late = "random"

[plan] # agents that stand for people in `cardai study plan`
persons = ["random"]

[[question]]
key = "level"
text = "How well do you play?"
choices = ["beginner", "intermediate", "advanced"]

[[question]]
key = "remarks"
when = "after"
text = "What did you think of the other players?"
'''
TABLE = """
[[table]]
code = "T{}"
game = "{}"
variant = "{}"
opponents = {}
"""


def _read(file: Path, data: Path | None) -> "tuple[Protocol, Path]":
    from cardai.guests.web.protocol import read_protocol

    return read_protocol(file), data or file.with_suffix(".sqlite")


@study.command
def new(
    file: Annotated[Path, Parameter(help="The protocol to write; it must not exist.")],
    games: Annotated[list[str], Parameter(help="What is played: a table each, against its strongest quick agent.")],
    /,
) -> int:
    """Write a protocol to begin with: its texts and numbers are yours to change."""
    from cardai.playing.agents.strongest import strongest_without_search
    from cardai.registry import load

    text, seats = BEGINNING, 0
    for number, name in enumerate(dict.fromkeys(games)):
        game = load(name)
        others = [strongest_without_search(game)] * (game.default_seats - 1)
        text += TABLE.format(number + 1, name, game.default_variant, dumps(others))
        seats += game.default_seats
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(text.replace("GAMES", str(seats)))
    except OSError as error:
        refuse(f"cannot write {file}: {error.strerror}")
    announce(f"{file} is written; cardai study plan {file} says what it would show")
    return 0


@study.command
def plan(
    file: File,
    /,
    *,
    trials: Annotated[int, Parameter(help="Games by which the strength of each agent is found.")] = 2000,
    seed: Seed = 0,
    json: AsJson = False,
) -> int:
    """Plan the study: what as many people and games as its [plan] names would show, with agents in their place."""
    from cardai.cli.show.progress import Line
    from cardai.guests.web.plan import plan_study
    from cardai.registry import load

    protocol, _ = _read(file, None)
    wishes, persons, found = protocol.plan, protocol.persons_of, {}
    for table in protocol.tables:
        if not persons[table.game]:
            refuse(f"{file} names no agents that stand for people at {table.game}: [plan] persons = [...]")
    for table in protocol.tables:
        game = load(table.game)
        with Line(f"planning table {table.code}", game) as progress:
            found[table.code] = plan_study(
                game, table.line_up, replace(wishes, persons=tuple(persons[game.name])), protocol.measure,
                table.variant or None, trials, seed, progress,
            )  # fmt: skip
        if not json:
            show(found[table.code], json)
    if json:
        print_json({code: report.as_json() for code, report in found.items()})
    return 0


@study.command
def codes(
    file: File,
    /,
    *,
    people: Annotated[int, Parameter(help="For how many further people.")],
    home: Annotated[str, Parameter(help="The address of the server, which the links begin with.")] = (
        "http://127.0.0.1:8000"
    ),
    data: Data = None,
) -> int:
    """Make codes for participants, and print them with links. Nobody can print them again."""
    from cardai.errors import whole

    with _opened(file, data) as (_, known):
        for name, code in known.add(whole("--people", people, 1, 1000)):
            announce(f"{name} {code} {home.rstrip('/')}/study#{code}")
    return 0


@study.command(name="serve")
def serve_study(
    file: File,
    /,
    *,
    listening: Listening = LOCALLY,
    data: Data = None,
    computing: Computing = HERE,
) -> int:
    """Run the study in the browser. The first start fixes its protocol."""
    from cardai.cli.show.progress import Line
    from cardai.errors import lacking

    try:
        from cardai.guests.web import serving
    except ModuleNotFoundError as error:
        raise lacking("cardai study", error.name, "web") from None
    computing.begin()
    protocol, kept = _read(file, data)
    with Line(f"compiling {', '.join(protocol.games)}"):
        offers = serving.ready_for(protocol)
    return serving.run(offers, kept, listening, announce, protocol=protocol)


@study.command
def report(
    file: File,
    /,
    *,
    data: Data = None,
    export: Annotated[
        bool, Parameter(negative="", help="Write CSV and record files too, into FILE.export beside the data.")
    ] = False,
    overwrite: Overwrite = False,
    json: AsJson = False,
    computing: Computing = HERE,
) -> int:
    """Report the study: its measure with intervals over people, learning, levels, and agents on the same deals."""
    from cardai.cli.show.progress import Line
    from cardai.guests.web.study import exports_of
    from cardai.guests.web.study_report import export_study, measure_study, refuse_early

    computing.begin()
    with _opened(file, data) as (protocol, known):
        refuse_early(protocol, known)
        if export:
            with Line("playing the games again"):
                written = export_study(protocol, known, exports_of(known.store.path), overwrite)
            for place in () if json else written:
                announce(f"{place} is written")
        with Line("agents play the same deals") as progress:
            found = measure_study(protocol, known, progress)
    return show(found, json)


@contextmanager
def _opened(file: Path, data: Path | None) -> "Iterator[tuple[Protocol, Participants]]":
    """The protocol and the participants of a study, whose file is made by the first use."""
    from cardai.guests.web.participants import Participants
    from cardai.guests.web.store import Store

    protocol, kept = _read(file, data)
    with closing(Store(kept)) as store:
        yield protocol, Participants(store, protocol.digest)


@study.command
def results(
    game: GameName,
    /,
    *,
    store: Annotated[Path, Parameter(help="The file that `cardai serve` keeps its games in.")] = Path(
        "cardai-tables.sqlite"
    ),
    export: Annotated[
        Path | None, Parameter(help="Write the finished games to record files in this folder instead.")
    ] = None,
    opponents: Annotated[
        str | None, Parameter(help="With --export: the agents that `cardai serve` was given as --opponents.")
    ] = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> int:
    """Report how people did at the tables of `cardai serve`, with intervals over people."""
    from cardai.guests.web.people import measure_people
    from cardai.guests.web.store import Store

    loaded = load(game)
    if not store.is_file():
        refuse(f"there is no file {store}; `cardai serve --data {store}` makes it")
    with closing(Store(store)) as kept:
        if export is None:
            return show(measure_people(kept, loaded), json)
        _export(loaded, kept, export, specs_of(opponents) if opponents else (), overwrite)
    return 0


def _export(game: "Game", store: "Store", folder: Path, opponents: Sequence[str], overwrite: bool) -> None:
    """Write the finished games of people to record files, and say which.

    Games are played again with the `opponents` that the server offered: the file does not choose which agents are
    loaded. Without any, with the game's own players.
    """
    from cardai.cli.show.progress import Line
    from cardai.guests.web.export import export
    from cardai.guests.web.offers import offer_of
    from cardai.playing.agents.by_game import named_by_game
    from cardai.registry import available

    if not folder.is_dir():
        refuse(f"cannot write to {folder}: there is no such folder")
    with Line("playing the games again", game):
        offer = offer_of(game, named_by_game(opponents, [game], others=available())[game.name])
        files, left_out = export(store, offer, folder, overwrite)
    for written in files:
        announce(f"{written} holds games of people; `cardai replay {written} --verify` checks it")
    if left_out:
        announce(
            f"{left_out} games were left out: they cannot be played again with today's rules and these --opponents"
        )
    if not files:
        announce("no finished games of people were found, apart from study games")


def serve(
    *games: GameName,
    opponents: Annotated[
        str | None,
        Parameter(help="Agents to play against: bot3,greedy:best, or by game: GAME=greedy:best,bot3,OTHER=random."),
    ] = None,
    seats: SeatCount = None,
    variant: Variant = None,
    listening: Listening = LOCALLY,
    new_tables: Annotated[
        int | None, Parameter(help="How many tables an address may set up in a minute; 10 if not given.")
    ] = None,
    data: Annotated[Path, Parameter(help="The file that keeps the games.")] = Path("cardai-tables.sqlite"),
    judge: Annotated[
        str | None,
        Parameter(help="The agent that gives hints at study tables; the strongest of each table if not given."),
    ] = None,
    computing: Computing = HERE,
    isolate: Isolate = False,
) -> int:
    """Play games in the browser: alone, with friends by a link, against any agents."""
    from cardai import registry
    from cardai.cli.show.progress import Line
    from cardai.errors import lacking

    try:
        from cardai.guests.web import serving
    except ModuleNotFoundError as error:
        raise lacking("cardai serve", error.name, "web") from None
    computing.begin()
    specs = specs_of(opponents) if opponents else ()
    chosen = [load(game) for game in games or registry.available()]
    with Line(f"compiling {', '.join(game.name for game in chosen)}"):
        offers = serving.ready(chosen, specs, variant, seats, isolate, judge)
    return serving.run(offers, data, listening, announce, judge=judge, new_tables=new_tables)
