"""`cardai study`: a study of people by a protocol, from its plan to its report."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from cardai.app.cli import (
    HERE,
    LOCALLY,
    AsJson,
    Computing,
    Listening,
    Overwrite,
    Seed,
    _print,
    _print_json,
    _refuse,
    show,
)

if TYPE_CHECKING:
    from cardai.measure.protocol import Protocol
    from cardai.web.participants import Participants

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
    from cardai.measure.protocol import read_protocol

    return read_protocol(file), data or file.with_suffix(".sqlite")


@study.command
def new(
    file: Annotated[Path, Parameter(help="The protocol to write; it must not exist.")],
    games: Annotated[list[str], Parameter(help="What is played: a table each, against its strongest quick agent.")],
    /,
) -> int:
    """Write a protocol to begin with: its texts and numbers are yours to change."""
    from cardai.agents.strongest import strongest_without_search
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
        _refuse(f"cannot write {file}: {error.strerror}")
    _print(f"{file} is written; cardai study plan {file} says what it would show")
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
    from cardai.measure.plan import plan_study
    from cardai.registry import load
    from cardai.show.progress import Line

    protocol, _ = _read(file, None)
    wishes, persons, found = protocol.plan, protocol.persons_of, {}
    for table in protocol.tables:
        if not persons[table.game]:
            _refuse(f"{file} names no agents that stand for people at {table.game}: [plan] persons = [...]")
    for table in protocol.tables:
        game = load(table.game)
        with Line(f"planning table {table.code}", game) as progress:
            found[table.code] = plan_study(
                game, table.line_up, persons[game.name], wishes.people, wishes.games, protocol.measure,
                table.variant or None, trials, seed, progress,
            )  # fmt: skip
        if not json:
            show(found[table.code], json)
    if json:
        _print_json({code: report.as_json() for code, report in found.items()})
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
            _print(f"{name} {code} {home.rstrip('/')}/study#{code}")
    return 0


@study.command
def serve(
    file: File,
    /,
    *,
    listening: Listening = LOCALLY,
    data: Data = None,
    computing: Computing = HERE,
) -> int:
    """Run the study in the browser. The first start fixes its protocol."""
    from cardai.errors import lacking
    from cardai.show.progress import Line

    try:
        from cardai.web import serving
    except ModuleNotFoundError as error:
        raise lacking("cardai study", error.name, "web") from None
    computing.begin()
    protocol, kept = _read(file, data)
    with Line(f"compiling {', '.join(protocol.games)}"):
        offers = serving.ready_for(protocol)
    return serving.run(offers, kept, announce=_print, protocol=protocol, **vars(listening))


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
    from cardai.show.progress import Line
    from cardai.web.study import exports_of
    from cardai.web.study_report import export_study, measure_study, refuse_early

    computing.begin()
    with _opened(file, data) as (protocol, known):
        refuse_early(protocol, known)
        if export:
            with Line("playing the games again"):
                written = export_study(protocol, known, exports_of(known.store.path), overwrite)
            for place in () if json else written:
                _print(f"{place} is written")
        with Line("agents play the same deals") as progress:
            found = measure_study(protocol, known, progress)
    return show(found, json)


@contextmanager
def _opened(file: Path, data: Path | None) -> "Iterator[tuple[Protocol, Participants]]":
    """The protocol and the participants of a study, whose file is made by the first use."""
    from cardai.web.participants import Participants
    from cardai.web.store import Store

    protocol, kept = _read(file, data)
    with closing(Store(kept)) as store:
        yield protocol, Participants(store, protocol.digest)
