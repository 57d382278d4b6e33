"""What verbs of the `cardai` command share: options, refusals, and how they print."""

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

from cyclopts import Parameter

if TYPE_CHECKING:
    from cardai.cli.show.progress import Line
    from cardai.game import Game

REFUSED, BROKEN_PIPE, INTERRUPTED = 2, 141, 130

GameName = Annotated[str, Parameter(help="A game's name (see `cardai games`), or the path of its folder or file.")]
Seed = Annotated[int, Parameter(help="Any whole number; the same seed gives the same games.")]
Variant = Annotated[str | None, Parameter(help="A variant of the game; the game's first variant if not given.")]
Threads = Annotated[int | None, Parameter(help="How many threads; one for each processor if not given.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of a table.")]
Agents = Annotated[list[str] | None, Parameter(name="--agent", negative="", help="An agent spec; may be repeated.")]
Figure = Annotated[Path | None, Parameter(help="Draw the figure into this file (.png, .svg or .pdf).")]
Overwrite = Annotated[bool, Parameter(negative="", help="Replace the file if it exists.")]
SeatCount = Annotated[int | None, Parameter(help="How many seats; the usual number if not given.")]
Rules = Annotated[str | None, Parameter(name="--rules", help="The game's path, if its name does not find it.")]
Salt = Annotated[
    str | None,
    Parameter(
        help="With the seed, repeats a run's deals; 'none' for none. Drawn anew, and secret, if code of yours plays."
    ),
]
Isolate = Annotated[
    bool,
    Parameter(
        negative="",
        help="Run python: agents in a process of their own, which is sent worlds only; as root, run these and process: "
        "agents as users of their own.",
    ),
]
ClusterAddress = Annotated[
    str | None,
    Parameter(name="--cluster", help="Play on a cluster: auto for the one this machine is in, or its HOST:PORT."),
]
Mixed = Annotated[bool, Parameter(negative="", help="Let networks compute on machines of several kinds (--cluster).")]
SpecList = Annotated[str | None, Parameter(help="One agent spec for each seat: bot3,random,random.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Computing:
    """Options of a verb whose agents may have networks."""

    device: Annotated[str, Parameter(help="Where networks compute: auto, cpu or gpu.")] = "auto"
    scorer: Annotated[str, Parameter(help="What computes networks: auto, native (compiled code) or jax.")] = "auto"

    def begin(self) -> None:
        """Compute there from now on. Unknown names are refused even if no network is used."""
        if self.device not in ("auto", "cpu", "gpu"):
            refuse(f"--device is auto, cpu or gpu, not {self.device!r}")
        if self.scorer not in ("auto", "native", "jax"):
            refuse(f"--scorer is auto, native or jax, not {self.scorer!r}")
        if (self.device, self.scorer) != ("auto", "auto"):
            from cardai.playing.agents.evaluator import set_device

            set_device(self.device, self.scorer)


@Parameter(name="*")
@dataclass(frozen=True)
class Sharing(Computing):
    """Options of a verb whose games a cluster may play."""

    cluster: ClusterAddress = None
    mixed: Mixed = False

    def joined(self) -> Any:
        """A block in which the cluster is joined, or nothing is without an address."""
        if self.cluster is None:
            if self.mixed:
                refuse("--mixed is for --cluster")
            return contextlib.nullcontext()
        from cardai.records.elsewhere import join

        return join(self.cluster, mixed=self.mixed, device=self.device, scorer=self.scorer)


@Parameter(name="*")
@dataclass(frozen=True)
class PlayOptions(Sharing):
    """Options of a verb that plays many games."""

    seed: Seed = 0
    threads: Threads = None
    variant: Variant = None

    def begin_games(self, games: int | None) -> None:
        """As `begin`. Refuses an impossible number of games, or of threads, before a game is loaded and compiled."""
        refuse_counts(games, self.threads)
        self.begin()


@Parameter(name="*")
@dataclass(frozen=True)
class MatchOptions(PlayOptions):
    """Options of a verb that plays agents against each other, which may run code of the user's."""

    salt: Salt = None
    isolate: Isolate = False

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `run_match` and `run_suite`."""
        salt = "" if self.salt == "none" else self.salt
        own = {name: getattr(self, name) for name in ("seed", "threads", "variant", "isolate")}
        return own | {"salt": salt}


HERE, PLAY_OPTIONS, MATCH_OPTIONS = Computing(), PlayOptions(), MatchOptions()


def load(name: str) -> "Game":
    """Returns a game by name or path, for a command that compiles its rules. Raises CardaiError if there is none."""
    from cardai import registry
    from cardai.playing.table import second_process

    game = registry.load(name)
    second_process.begin(_compile_driver)
    return game


def _compile_driver() -> None:
    from cardai.playing.table.many import compile_driver

    compile_driver()


def working(about: str, game: "Game | None" = None) -> "Line":
    """The progress line of a command's work."""
    from cardai.cli.show.progress import Line

    return Line(about, game)


def listed(specs: list[str] | None) -> list[str] | None:
    """All specs of an option that may be repeated and may hold several specs with commas between them."""
    return [spec for text in specs for spec in specs_of(text)] if specs else None


def specs_of(text: str) -> list[str]:
    from cardai.game.compiled.query import split

    specs = [spec.strip() for spec in split(repr(text), text, ",")]
    if not all(specs):
        refuse(f"{text!r} names an empty agent; specs are separated by single commas")
    return specs


def numbers_of(text: str) -> list[int]:
    """Numbers of players: "4", "2-8", "2,4,6"."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < 1000):
            refuse(f"{text!r} does not name numbers of players; write 4, or 2-8, or 2,4,6")
        numbers += range(int(first), int(last) + 1)
    return list(dict.fromkeys(numbers))


def refuse_given(options: dict[str, Any], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            refuse(f"{name} {str(value)!r} {why}")


def refuse_counts(games: int | None, threads: int | None) -> None:
    """Refuse impossible numbers before the game is loaded and compiled."""
    from cardai.errors import positive
    from cardai.playing.machine import thread_count

    if games is not None:
        positive("--games", games)
    thread_count(threads)


def error_type() -> type[Exception]:
    """CardaiError, imported when it is needed."""
    from cardai.errors import CardaiError

    return CardaiError


def refuse(sentence: str) -> NoReturn:
    raise error_type()(sentence)


def refused(sentence: str, code: int = REFUSED) -> int:
    from cardai.errors import printable

    try:
        print(f"cardai: {printable(sentence)}", file=sys.stderr)
    except OSError:  # where stderr cannot be written to, the exit code alone says it
        silence(sys.stderr)
    return code


def silence(stream: TextIO) -> None:
    """Let what could not be printed go nowhere, so that Python does not try and complain again when it exits."""
    with contextlib.suppress(OSError):  # a stream without a number of its own is none that Python would complain of
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def show(report: Any, as_json: bool) -> int:
    """Print a report as JSON or as its table (`cardai.playing.stats.report.Report`). Returns the exit code."""
    if as_json:
        print_json(report.as_json())
    else:
        announce(report.table())
    if getattr(report, "interrupted", False):
        print("interrupted: these are the games finished until then", file=sys.stderr)
        return INTERRUPTED
    return 0


def print_json(value: Any) -> None:
    import json

    from cardai.errors import printable

    print(printable(json.dumps(value, indent=2, ensure_ascii=False)))


def announce(value: Any) -> None:
    from cardai.cli.show.console import Output, say
    from cardai.playing.stats.report import WIDE

    if isinstance(value, str):
        say(value)
    else:
        Output(width=None if sys.stdout.isatty() else WIDE).print(value)
