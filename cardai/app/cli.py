"""The `cardai` command: one function for each verb. A verb imports what it needs when it runs, so `--help` is quick.

Exit codes: 0 done; 1 the answer is no (a law is broken, a game does not load), or a cluster failed; 2 refused, and one
sentence on stderr says why; 130 interrupted, and what was finished until then has been reported.

Another package brings a verb by an entry point in the group `cardai.verbs`: `name = "module:function"`, or a cyclopts
`App` of that name. The first line of the function's docstring, or the App's `help`, is shown in `cardai --help`, under
the heading that the module names with `GROUP = "Learn"` (a heading in `GROUPS`; "Other" if it names none). Both are
read from the source: `--help` imports no such module.
"""

import contextlib
import errno
import functools
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError

if TYPE_CHECKING:
    from cardai.game import Game

REFUSED, BROKEN_PIPE, INTERRUPTED = 2, 141, 130

PLAY, MEASURE, LEARN, GAMES, EXPERIMENTS, OTHER = (
    Group.create_ordered(name) for name in ("Play", "Measure", "Learn", "Games", "Experiments", "Other")
)
GROUPS = {group.name: group for group in (PLAY, MEASURE, LEARN, GAMES, EXPERIMENTS, OTHER)}
"""The headings of `cardai --help`, in order."""


def _version() -> str:
    from importlib.metadata import version

    return version("cardai")


app = App(
    name="cardai",
    help="Card-game AI: fast simulation, hidden information that stays hidden, agents, benchmarks, a table to play at.",
    version=_version,
    group_commands=OTHER,
    help_format="plaintext",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)

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
    Parameter(name="--cluster", help="Play on a Ray cluster: auto for the one this machine is in, or its HOST:PORT."),
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
            _refuse(f"--device is auto, cpu or gpu, not {self.device!r}")
        if self.scorer not in ("auto", "native", "jax"):
            _refuse(f"--scorer is auto, native or jax, not {self.scorer!r}")
        if (self.device, self.scorer) != ("auto", "auto"):
            from cardai.agents.evaluator import set_device

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
                _refuse("--mixed is for --cluster")
            return contextlib.nullcontext()
        from cardai.table.cluster.cluster import Cluster

        return Cluster(self.cluster, mixed=self.mixed, device=self.device, scorer=self.scorer)


@Parameter(name="*")
@dataclass(frozen=True)
class Listening:
    """Options of a verb that serves pages, named as the arguments of `cardai.web.serving.run`."""

    host: Annotated[str, Parameter(help="The address to listen at; 0.0.0.0 lets other machines in.")] = "127.0.0.1"
    port: Annotated[int, Parameter(help="The port to listen at; 0 for any free one.")] = 8000
    names: Annotated[
        list[str] | None,
        Parameter("--name", negative="", help="A host name under which browsers find this server; may be repeated."),
    ] = None
    proxies: Annotated[
        list[str] | None,
        Parameter("--behind-proxy", negative="", help="A proxy's address, believed about who asks; may be repeated."),
    ] = None
    path: Annotated[str, Parameter(help="Where the proxy shows this server, like /cards.")] = ""


HERE, ALONE, LOCALLY = Computing(), Sharing(), Listening()


@functools.cache
def add_verbs() -> None:
    """Add the verbs that other packages bring, for example `train`. Their modules are imported when they run."""
    from cardai.files.entries import brought

    for name, entry in brought("cardai.verbs").items():
        about, group = read_verb(entry.module, entry.attr)
        app.command(entry.value, name=name, help=about, group=group)


def read_verb(module: str, verb: str) -> tuple[str | None, Group | None]:
    """The first line of a verb's docstring and the group that its module names, both read from the source.

    Of a verb with verbs of its own, `verb = App(name=..., help="...")`, it is the text of `help`.
    """
    import ast
    from importlib.util import find_spec

    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return None, None
    about = group = None
    try:
        source = ast.parse(Path(spec.origin).read_text("utf-8"))
    except (OSError, SyntaxError):  # the verb fails when it is used; --help and the other verbs work
        return None, None
    for node in source.body:
        if isinstance(node, ast.FunctionDef) and node.name == verb:
            about = (ast.get_docstring(node) or "").partition("\n")[0]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GROUP":
            group = GROUPS.get(ast.literal_eval(node.value))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == verb and isinstance(node.value, ast.Call):
            about = next((ast.literal_eval(one.value) for one in node.value.keywords if one.arg == "help"), None)
    return about, group


def main() -> None:
    """The console script."""
    is_heard = sys.stdout is not None
    _open_closed_streams()
    sys.exit(run(sys.argv[1:]) if is_heard else _refused("standard output is closed: there is nowhere to print to"))


def _open_closed_streams() -> None:
    """Open the standard streams that the caller closed, or the next file that is opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def run(tokens: Sequence[str]) -> int:
    """Run one command line. Returns its exit code."""
    add_verbs()
    try:
        code = app(tokens)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except UnknownCommandError as error:
        from cardai.errors import unknown

        verbs = [name for name in (error.app or app).resolved_commands() if not name.startswith("-")]
        return _refused(unknown("command", (error.unused_tokens or tokens)[0], verbs))
    except CycloptsError as error:
        return _refused(" ".join(str(error).split()))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        return _refused("there is not enough memory for that")
    except OSError as error:
        return _failed(error)
    except Exception as error:
        if isinstance(error, _error()):
            return _refused(str(error), getattr(error, "exit_code", REFUSED))
        raise  # a bug in cardai: show its traceback


_OUTSIDE = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EBADF,
    errno.EMFILE, errno.ENFILE, errno.EISDIR, errno.ENAMETOOLONG, errno.ENXIO, errno.EAGAIN,
)  # fmt: skip
"""Failures of a disk, a terminal or the system, which no code can prevent. Others are bugs in cardai."""


def _failed(error: OSError) -> int:
    """Refuse what the system did not do. Returns the exit code. Raises `error` again if it is a bug in cardai."""
    if isinstance(error, BrokenPipeError):  # the program that reads has ended, as `head` does
        _silence(sys.stdout)
        return BROKEN_PIPE
    if error.errno not in _OUTSIDE:
        raise error
    why = error.strerror or error
    if error.filename is not None:
        return _refused(f"cannot use {error.filename}: {why}")
    _silence(sys.stdout)  # a stream: those that read and write files name them
    return _refused(f"cannot print: {why}")


def _silence(stream: TextIO) -> None:
    """Let what could not be printed go nowhere, so that Python does not try and complain again when it exits."""
    with contextlib.suppress(OSError):  # a stream without a number of its own is none that Python would complain of
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@app.command(group=GAMES)
def games(*, json: AsJson = False) -> int:
    """List the games."""
    from rich.table import Table

    from cardai import registry
    from cardai.errors import CardaiError

    rows, exit_code = [], 0
    for name in registry.available():
        try:
            rows.append(_described(registry.load(name)))
        except CardaiError as error:
            rows.append({"name": name, "error": str(error)})
            exit_code = 1
    if json:
        _print_json(rows)
        return exit_code
    table = Table("game", "title", "version", "seats", "variants", "suites")
    for row in rows:
        if "error" in row:
            table.add_row(row["name"], row["error"])
        else:
            seats = f"{row['seats'][0]}-{row['seats'][-1]}" if len(row["seats"]) > 1 else str(row["seats"][0])
            lists = ", ".join(row["variants"]), ", ".join(row["suites"])
            table.add_row(row["name"], row["title"], str(row["version"]), seats, *lists)
    _print(table)
    for row in rows:
        if row.get("options"):
            print(f"Options of {row['name']}: {', '.join(row['options'])}")
    print("An option is set as in --variant 'NAME?option=value&option=value'; cardai rules GAME lists the values.")
    return exit_code


@app.command(group=GAMES)
def show_game(
    game: GameName,
    /,
    *,
    seats: SeatCount = None,
    plies: Annotated[int, Parameter(help="Random moves before the position that is shown.")] = 6,
    seed: Seed = 0,
    json: AsJson = False,
) -> None:
    """Show what follows from a game's declared state: fields, parts, a position as a seat sees it, its encoder."""
    from cardai.errors import whole
    from cardai.show.declared import facts, table

    whole("--plies", plies, 0)
    loaded = load(game)
    shown = facts(loaded, loaded.default_seats if seats is None else seats, seed, plies)
    if json:
        _print_json(shown)
    else:
        _print(table(shown))


@app.command(group=GAMES)
def agents(game: GameName, /, *, variant: Variant = None, seats: SeatCount = None, json: AsJson = False) -> None:
    """List the agents that can play a game, the strongest of a table first, and their parameters."""
    from rich.table import Column, Table

    from cardai import registry
    from cardai.agents.spec import list_specs
    from cardai.agents.strongest import TIMES, measured_tables
    from cardai.agents.strongest import strongest as strongest_of
    from cardai.show.strongest import NOTE, picks_of

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
        _print_json({"variant": place[0], "seats": seats, "strongest": picked, "measured": measured, "agents": listed})
        return
    if tables:
        _print(picks_of(loaded.name, tables))
        _print(f"{NOTE}. Measured: {tables[0].by}.")
    else:
        _print(f"People meet {picked['100']} here. `cardai strongest {game}` measures who is the strongest.")
    table = Table(Column("agent", no_wrap=True), "what it is", "parameters")
    for spec, about in specs.items():
        table.add_row(spec, about, " ".join(f"{name}={value:g}" for name, value in parameters.get(spec, {}).items()))
    _print(table)
    _print("Parameters are changed like this: NAME?p=0.5&q=2. Your own function plays as python:MODULE:FUNCTION.")


@app.command(group=MEASURE)
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
    from cardai.show.progress import Line

    _refuse_counts(games, None)
    loaded = load(game)
    variants, counts = (None if variant is None else [variant]), (None if seats is None else [seats])
    with Line("playing", loaded) as progress:
        report = measure(loaded, agent or (), variants, counts, games, seconds, seed, again, progress, out)
    return show(report, json)


@app.command(group=LEARN)
def tune(
    game: GameName,
    player: Annotated[str, Parameter(help="A hand-written player, and the values to begin with: keeper?ask_at=0.1.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="The folder of the search; the same command goes on in it.")],
    against: Annotated[
        list[str] | None,
        Parameter(negative="", help="An agent for the other seats; may be repeated. The player itself if not given."),
    ] = None,
    only: Annotated[
        list[str] | None, Parameter(negative="", help="A parameter to tune; may be repeated. All if not given.")
    ] = None,
    variant: Variant = None,
    seats: SeatCount = None,
    trial_games: Annotated[int, Parameter(help="Games of each trial, against each of the others.")] = 400,
    games: Annotated[int, Parameter(help="Games that choose the result, and as many that measure it.")] = 4000,
    minutes: Annotated[float, Parameter(help="How long this call searches.")] = 10.0,
    generations: Annotated[int, Parameter(help="Stop after this many generations in all; 0 sets no limit.")] = 0,
    seed: Seed = 0,
    threads: Threads = None,
    json: AsJson = False,
) -> int:
    """Tune a hand-written player's parameters by CMA-ES; the same command goes on with a search."""
    from cardai.measure.tune import tune
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
    loaded = load(game)
    with Line("tuning", loaded) as progress:
        result = tune(
            loaded, player, against or (), folder=out, only=only or (), variant=variant, seats=seats,
            trial_games=trial_games, games=games, minutes=minutes, generations=generations, seed=seed, threads=threads,
            progress=progress,
        )  # fmt: skip
    return show(result, json)


@app.command(group=MEASURE)
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
    from cardai.agents.spec import agent as agent_of
    from cardai.measure.situations import measure_situations
    from cardai.show.progress import Line

    loaded = load(game)
    agents = None if agent is None else [agent_of(loaded, spec, isolate=isolate) for spec in _listed(agent) or ()]
    with Line("asking", loaded):
        report = measure_situations(loaded, agents, tries, seed)
    return show(report, json)


@app.command(group=MEASURE)
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
    from cardai.measure import bench as benchmark
    from cardai.show import suite as shown
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
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
        _refuse_given(options, "is for a suite, not for --all")
        named = ([] if game is None else [game]) + (only or [])
        return _bench_all(named, games, seconds, seed, threads, history, against, json)
    _refuse_given({"--game": ",".join(only) if only else None}, "needs --all")
    if game is None:
        _refuse("bench needs a game (see `cardai games`), or --all for all games")
    _refuse_given({"--history": history, "--against": against, "--seconds": seconds}, "needs --all")
    loaded = load(game)
    with Line("playing", loaded) as progress, sharing.joined() as machines:
        report = benchmark.run_suite(
            loaded, suite, _listed(agent), games, seed, threads, variant, progress, _salt(salt), isolate, machines,
            lambda result: progress.note(shown.line(loaded, result)),
        )  # fmt: skip
    return show(report, json)


def _salt(given: str | None) -> str | None:
    return "" if given == "none" else given


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
    from cardai.show.progress import Line

    earlier = ratings.last_run(against) if against else None
    if history:
        ratings.check_history(history)
    budget = league.SECONDS if games is None and seconds is None else seconds
    if budget is not None and not 0 < budget < float("inf"):
        _refuse(f"--seconds must be above 0, not {budget:g}")
    games = league.GAMES if games is None else games
    with Line("loading the agents"):
        plan = league.plan_all(named or None)
    print(plan.about(games, budget), file=sys.stderr)
    with Line("playing") as progress:
        report = league.run_all(None, games, seed, threads, progress, budget, plan)
    if earlier:
        report = ratings.compare(report, earlier)
    if history and not report.interrupted:
        ratings.append(history, report)
    return show(report, as_json)


def _refuse_given(options: dict[str, Any], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            _refuse(f"{name} {str(value)!r} {why}")


@app.command(group=PLAY)
def match(
    game: GameName,
    /,
    *,
    seats: Annotated[str, Parameter(help="One agent spec for each seat: bot3,random,random.")],
    games: Annotated[int, Parameter(help="How many games; rounded up to whole rotations.")] = 1000,
    seed: Seed = 0,
    rotate: Annotated[bool, Parameter(help="Play each deal once with each agent in each seat.")] = True,
    record: Annotated[Path | None, Parameter(help="Write the games to this file (.jsonl or .jsonl.gz).")] = None,
    overwrite: Overwrite = False,
    threads: Threads = None,
    variant: Variant = None,
    sharing: Sharing = ALONE,
    salt: Salt = None,
    isolate: Isolate = False,
    json: AsJson = False,
) -> int:
    """Play agents against each other and print each agent's mean score with a 95 % interval."""
    from cardai.measure import bench as benchmark
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
    sharing.begin()
    loaded = load(game)
    with Line("playing", loaded) as progress, sharing.joined() as machines:
        report = benchmark.run_match(
            loaded,
            _specs(seats),
            games,
            seed=seed,
            threads=threads,
            variant=variant,
            rotate=rotate,
            record=record,
            overwrite=overwrite,
            progress=progress,
            salt=_salt(salt),
            isolate=isolate,
            cluster=machines,
        )
    return show(report, json)


@app.command(group=LEARN)
def selfplay(
    game: GameName,
    /,
    *,
    agent: Annotated[
        list[str],
        Parameter(name="--agent", negative="", help="An agent spec with its weight, as in bot3@2; may be repeated."),
    ],
    out: Annotated[
        Path, Parameter(help="A file (.jsonl or .jsonl.gz), or a folder, in which a stopped run is resumed.")
    ],
    games: Annotated[int, Parameter(help="How many games.")] = 10_000,
    only: Annotated[
        str | None,
        Parameter(help="Of a folder's files of 10 000 games, play those of these numbers: 30-39, counted from 0."),
    ] = None,
    seed: Seed = 0,
    seats: SeatCount = None,
    overwrite: Overwrite = False,
    threads: Threads = None,
    variant: Variant = None,
    sharing: Sharing = ALONE,
    json: AsJson = False,
) -> int:
    """Record games to train on: the agent in each seat of each game is drawn by weight."""
    from cardai.data import selfplay as simulation
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
    sharing.begin()
    pool = simulation.parse_pool(_listed(agent) or [])
    loaded = load(game)
    options: dict[str, Any] = {"seed": seed, "variant": variant, "seats": seats, "threads": threads}
    is_file = out.name.endswith((".jsonl", ".jsonl.gz"))
    if is_file:
        _refuse_given({"--only": only, "--cluster": sharing.cluster}, "is for folders; --out names a file here")
    elif overwrite:
        _refuse(f"--overwrite is for files; {out} is the name of a folder")
    with Line("simulating", loaded) as progress, sharing.joined() as machines:
        options |= {"progress": progress}
        if is_file:
            summary = simulation.simulate(loaded, pool, games, out=out, overwrite=overwrite, **options)
        else:
            summary = simulation.simulate_shards(
                loaded, pool, games, folder=out, only=only, cluster=machines, **options
            )
    return show(summary, json)


@app.command(group=PLAY)
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

    from cardai.app import keyboard
    from cardai.show.progress import Line

    computing.begin()
    loaded = load(game)
    with Line("loading", loaded):
        loaded.compiler.rules  # noqa: B018 - compiled while the line says so
    specs = _specs(seats) if seats else keyboard.default_seats(loaded, variant)
    seed = secrets.randbelow(10**12) if seed is None else seed
    unrecorded = "; it was not recorded" if record else ""
    try:
        scores = keyboard.play(
            loaded,
            specs,
            seed=seed,
            variant=variant,
            script=moves_from,
            record=record,
            overwrite=overwrite,
            isolate=isolate,
            study=study,
            judge=judge,
        )
    except KeyboardInterrupt:
        print(f"\ninterrupted: the game is not finished{unrecorded}", file=sys.stderr)
        return INTERRUPTED
    chosen = f" --variant {shlex.quote(variant)}" if variant else ""
    again = f"--seats {shlex.quote(','.join(specs))} --seed {seed}{chosen}"  # specs may hold & and brackets
    if scores is None:
        _print(f"You have left the game ({again}){unrecorded}.")
        return 0
    if record:
        found_by = "" if game == loaded.name else f" --rules {game}"
        _print(f"The game is in {record}; `cardai replay {record}{found_by}` prints it.")
    _print(f"The same deal again: {again}")
    return 0


@app.command(group=PLAY)
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
    from cardai.errors import lacking
    from cardai.show.progress import Line

    try:
        from cardai.web import serving
    except ModuleNotFoundError as error:
        raise lacking("cardai serve", error.name, "web") from None
    computing.begin()
    specs = _specs(opponents) if opponents else ()
    chosen = [load(game) for game in games or registry.available()]
    with Line(f"compiling {', '.join(game.name for game in chosen)}"):
        offers = serving.ready(chosen, specs, variant, seats, isolate, judge)
    return serving.run(offers, data, announce=_print, judge=judge, new_tables=new_tables, **vars(listening))


@app.command(group=MEASURE)
def people(
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
    from cardai.app import people as people_report

    loaded = load(game)
    report = people_report.report_on(loaded, store)
    if export is not None:
        people_report.export_to(loaded, store, export, _specs(opponents) if opponents else (), overwrite, _print)
        return 0
    return show(report, json)


@app.command(group=MEASURE)
def plan(
    game: GameName,
    /,
    *,
    seats: Annotated[str, Parameter(help="The table of the study: human in one seat, agent specs in the others.")],
    persons: Annotated[str, Parameter(help="Agents that stand for people of unequal strength: bot1,bot3,greedy:best.")],
    people: Annotated[str, Parameter(help="Numbers of people, divided by commas.")] = "5,7,12,30",
    games: Annotated[str, Parameter(help="Numbers of games of each person, divided by commas.")] = "20,40,100",
    measure: Annotated[str, Parameter(help="score, win, loss or share.")] = "score",
    variant: Variant = None,
    trials: Annotated[int, Parameter(help="Games by which the strength of each agent is found.")] = 2000,
    seed: Seed = 0,
    json: AsJson = False,
) -> int:
    """Plan a study of people: how much studies of each size would show, with agents in the place of people."""
    from cardai.measure.plan import plan_study
    from cardai.show.progress import Line

    loaded, counts, each = load(game), _numbers(people), _numbers(games)
    with Line("planning", loaded) as progress:
        report = plan_study(
            loaded, _specs(seats), _specs(persons), counts, each, measure, variant, trials, seed, progress
        )
    return show(report, json)


app.command(
    "cardai.app.study:study", name="study", help="Run a study of people by a protocol, and report on it.", group=MEASURE
)


@app.command(group=LEARN)
def export(
    game: GameName,
    source: Annotated[list[str], Parameter(help="With --onnx, a model; otherwise record files or folders of them.")],
    /,
    *,
    onnx: Annotated[Path | None, Parameter(help="Write the model as ONNX, for programs without cardai.")] = None,
    parquet: Annotated[Path | None, Parameter(help="Write rows and labels of the games as Parquet.")] = None,
    npz: Annotated[Path | None, Parameter(help="Write them as NumPy arrays.")] = None,
    csv: Annotated[Path | None, Parameter(help="Write them as CSV, and FILE.json about them.")] = None,
    encoder: Annotated[str | None, Parameter(help="How states become rows; the game's first encoder if none.")] = None,
    label: Annotated[str, Parameter(help="score, win, not_lost, share, or an outcome of the game.")] = "score",
    moment: Annotated[str, Parameter(help="before_draw or drawn: which states become rows.")] = "before_draw",
    per_game: Annotated[int, Parameter(help="The most states of a game; 0 takes all.")] = 0,
    limit: Annotated[int, Parameter(help="The most states of all; 0 takes all.")] = 0,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> int:
    """Export a model as ONNX, or the rows and labels of recorded games as Parquet, npz or CSV."""
    from cardai.app.export import export_model, export_rows
    from cardai.data.recipe import Recipe

    wanted = {"onnx": onnx, "parquet": parquet, "npz": npz, "csv": csv}
    files = [(kind, file) for kind, file in wanted.items() if file is not None]
    if len(files) != 1:
        _refuse("say what to write by one of --onnx, --parquet, --npz and --csv")
    ((kind, file),) = files
    if file.exists() and not overwrite:
        _refuse(f"{file} exists; --overwrite replaces it")
    loaded = load(game)
    if kind == "onnx" and len(source) != 1:
        _refuse(f"--onnx writes one model, not {len(source)}")
    if kind == "onnx":
        _print(export_model(loaded, source[0], file))
    else:
        recipe = Recipe(encoder, moment, per_game=per_game, label=label)
        _print(export_rows(loaded, source, recipe, kind, file, limit, seed))
    return 0


@app.command(group=PLAY)
def rules(game: GameName, /) -> None:
    """Print the rules of a game."""
    from cardai import registry
    from cardai.app import rulebook
    from cardai.show.console import Output

    loaded = registry.load(game)
    rulebook.show(registry.rules_of(loaded) + rulebook.options(loaded), Output())


@app.command(group=MEASURE)
def perf(
    game: GameName,
    /,
    *,
    agent: Annotated[
        str | None, Parameter(help="Measure this agent, which has a model, and its network alone in a loop.")
    ] = None,
    seconds: Annotated[
        float | None,
        Parameter(help="How long each measurement takes, in seconds; 1 if not given, 60 with --cluster."),
    ] = None,
    repeats: Annotated[int, Parameter(help="How many measurements; the median is shown.")] = 5,
    seats: SeatCount = None,
    variant: Variant = None,
    threads: Annotated[int | None, Parameter(help="How many threads to compare with one; 2 if not given.")] = None,
    sharing: Sharing = ALONE,
    json: AsJson = False,
) -> None:
    """Measure speed: decisions and games a second, or with --agent the rows a second of its network.

    With --cluster: the games a second of a cluster, beside those that its processors play alone.
    """
    from cardai.measure import cluster_share, network_share
    from cardai.measure import perf as speed
    from cardai.show.progress import Line

    if agent or sharing.cluster:
        _refuse_given({"--threads": threads}, "is not for --agent or --cluster")
    sharing.begin()
    loaded = load(game)
    if seconds is None:
        seconds = 60.0 if sharing.cluster else 1.0
    options: dict[str, Any] = {"seats": seats, "variant": variant}
    with Line("measuring", loaded) as progress, sharing.joined() as machines:
        if machines is not None:
            report = cluster_share.measure(loaded, machines, agent or "random", seconds, progress)
        elif agent:
            report = network_share.measure(loaded, agent, seconds, repeats, progress, **options)
        else:
            report = speed.measure(
                loaded, seconds, repeats, progress, threads=2 if threads is None else threads, **options
            )
    show(report, json)


@app.command(group=GAMES)
def check(
    game: GameName,
    /,
    *,
    law: Annotated[list[str] | None, Parameter(negative="", help="Only this law; may be repeated.")] = None,
    variant: Annotated[
        list[str] | None,
        Parameter(negative="", help="Only this variant, with options or without; may be repeated. All if not given."),
    ] = None,
    effort: Annotated[
        str | None, Parameter(help="How many games are tried: quick, normal (if not given) or thorough.")
    ] = None,
    seed: Seed = 0,
    seconds: Annotated[
        float | None, Parameter(help="Seconds for all laws: 25 for quick, 46 for normal, no limit for thorough.")
    ] = None,
    watch: Annotated[
        bool,
        Parameter(
            negative="", help="Test again after each edit of the game's files: quick effort, 5 seconds, till Ctrl-C."
        ),
    ] = False,
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
    from dataclasses import asdict

    from cardai.app import watching

    options: dict[str, Any] = {
        "effort": effort or ("quick" if watch else "normal"),
        "seed": seed,
        "laws": law,
        "variants": variant,
        "seconds": 5.0 if watch and seconds is None else seconds,
        "call_seconds": time_limit,
        "memory": memory_limit,
    }
    if watch:
        from cardai.errors import CardaiError

        if json or strict:
            raise CardaiError(
                "--watch prints texts for people and never ends: it goes neither with --json nor --strict"
            )
        watching.watch(game, options, verbose)
    verdicts = watching.checked(load(game), options, verbose, is_quiet=json)
    if json:
        _print_json([asdict(verdict) for verdict in verdicts])
    return any(verdict.verdict == "broken" or (strict and verdict.cause == "field") for verdict in verdicts)


@app.command(group=MEASURE)
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
    from cardai.measure import complexity as tree
    from cardai.show import complexity as shown
    from cardai.show.figure import figure_path, save_figure
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
    loaded = load(game)
    numbers = _numbers(players) if players else None
    if figure:
        _refuse_unwritable(figure_path(figure).parent)
    with Line("playing", loaded) as progress:
        report = tree.measure(loaded, numbers, games, agent, seed, threads, variant, progress)
    if figure:
        save_figure(figure, shown.figure(report))
    return show(report, json)


@app.command(group=MEASURE)
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
    from cardai.show.progress import Line

    loaded = load(game)
    with Line("counting", loaded):
        counts = counted(loaded, depth, seats, variant, seed=seed)
    if json:
        _print_json({"game": loaded.name, "version": loaded.version, "seed": seed, "counts": counts})
        return
    for moves, count in enumerate(counts):
        _print(f"{moves:>3}  {count:,}".replace(",", " "))


@app.command(group=PLAY)
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
    svg: Annotated[Path | None, Parameter(help="Draw the game into this SVG file, a position a second.")] = None,
    rules: Rules = None,
) -> None:
    """Print a recorded game: every move, and the table before it as the seat to move sees it."""
    from cardai.data import record
    from cardai.files.writing import write_text
    from cardai.kernel.doors import check_seat
    from cardai.show.picture import film
    from cardai.show.progress import Line
    from cardai.show.suits import in_suits
    from cardai.show.transcript import transcript

    reader = record.read(file)
    loaded = reader.load(rules)
    chosen = None
    with Line("reading games", loaded) as line:
        for recorded in reader:  # read to the end, so that an edited file is refused wherever it was edited
            if recorded.number == game:
                chosen = recorded
            line.share(reader.share)
        loaded.compiler.rules  # noqa: B018 - compiled while the line says so
    if chosen is None:
        _refuse(f"{file} has {reader.games} games, counted from 0; there is no game {game}")
    if seat is not None:
        check_seat("seat", seat, len(chosen.lineup))
    try:
        if svg is not None:
            write_text(svg, film(loaded, chosen, seat))
            lines = [f"The game is drawn in {svg}."]
        else:
            lines = transcript(loaded, reader.header, chosen, seat, positions)
    except _error() as error:
        _refuse(f"{file}, game {game}: {error}")
    text = "\n".join(lines)
    _print(in_suits(text, loaded.table.pieces) if sys.stdout.isatty() else text)


@app.command(group=LEARN)
def transcript(
    file: Annotated[Path, Parameter(help="A file of recorded games.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="The file to write: one JSON object a line for each decision.")],
    seat: Annotated[
        int | None, Parameter(help="Only the decisions of this seat, counted from 0; of all seats if not given.")
    ] = None,
    rules: Rules = None,
    overwrite: Overwrite = False,
) -> None:
    """Write recorded games as text: what a seat was shown and told before each of its moves, and the move."""
    from cardai.data.seen import write_seen
    from cardai.show.progress import Line

    with Line("writing") as line:
        count = write_seen(file, out, seat, rules, overwrite, lambda done, total: line.share(done / total))
    _print(f"{count:,} decisions are in {out}.")


@app.command(group=MEASURE)
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
    from cardai.data import record
    from cardai.measure import analysis
    from cardai.show import analysis as shown
    from cardai.show.figure import figure_path, save_figure
    from cardai.show.progress import Line

    computing.begin()
    if figure:
        _refuse_unwritable(figure_path(figure).parent)
    with Line("reading games", record.read(file).load(rules)) as progress:
        report = analysis.analyse_file(
            file, agent, number=game, model=model, rules=rules, seed=seed, top=top, seat=seat, progress=progress
        )
    if figure:
        save_figure(figure, shown.figure(report))
    return show(report, json)


@app.command(group=PLAY)
def verify(
    file: Annotated[Path, Parameter(help="A file of recorded games.")], /, *, rules: Rules = None, json: AsJson = False
) -> None:
    """Check every line, move and score of a file of recorded games, and name the first line that is wrong."""
    from dataclasses import asdict

    from cardai.data import record
    from cardai.show.progress import Line

    game = record.read(file).load(rules)
    with Line("replaying", game) as line:
        verified = record.verify(file, line.share, rules)
    if json:
        _print_json(asdict(verified))
        return
    header = verified.header
    _print(
        f"{file} is sound: {verified.games} games of {header.game} {header.version} ({header.variant}, "
        f"{header.seats} seats), {verified.plies} moves, replayed in {verified.seconds:.1f} s"
    )
    if not verified.complete:
        _print("It is not complete: the run that wrote it was interrupted, or some of its games did not end.")


@app.command(group=GAMES)
def new_game(
    name: Annotated[str, Parameter(help="The game's name: letters, digits and _.")],
    /,
    *,
    folder: Annotated[Path, Parameter(help="The folder in which the game's folder is made.")] = Path(),
) -> None:
    """Write a small complete game, from which to build your own."""
    from cardai.app import scaffold

    place = scaffold.create(name, folder)
    path = place if place.is_absolute() else f"./{place}"
    _print(f"{place} holds a small complete game. Replace its parts one by one, and check the game as you go:")
    _print(f"  cardai check {path}\n  cardai play {path}")
    _print(f"Of its test, replace TestSampleGame; the rest is true of any rules: pytest {path} (pip install pytest)")


@app.command(group=GAMES)
def warm(
    *games: Annotated[str, Parameter(help="Names or paths of games; all games without.")], json: AsJson = False
) -> None:
    """Compile games ahead, for an image of a container or for CI, so that nobody waits for it later."""
    from cardai import registry
    from cardai.app import warm as ahead

    report = ahead.warm([registry.load(name) for name in games or registry.available()])
    if json:
        _print_json(report)
        return
    for name, seconds in report["games"].items():
        _print(f"{name}: ready after {seconds:.1f} s")
    _print(f"{report['cache_megabytes']:.1f} MB of compiled code in {report['cache_folder']}")


@app.command(group=GAMES)
def doctor(
    *,
    clear_cache: Annotated[bool, Parameter(negative="", help="Delete all compiled rules.")] = False,
    json: AsJson = False,
) -> int:
    """Report what cardai runs on here, and whether each game loads and plays."""
    from rich.table import Table

    from cardai.app import doctor as examination

    if clear_cache:
        freed = examination.clear_cache()
        print(f"deleted {freed / 1e6:.1f} MB of compiled rules", file=sys.stderr)
    facts = examination.examine(load)
    if json:
        _print_json(facts)
        return 0 if facts["healthy"] else 1
    table = Table(show_header=False)
    for name, value in facts.items():
        if name == "games":
            for game, state in value.items():
                table.add_row(f"game {game}", state)
        else:
            table.add_row(name.replace("_", " "), str(value))
    _print(table)
    return 0 if facts["healthy"] else 1


def load(name: str) -> "Game":
    """Returns a game by name or path, for a command that compiles its rules. Raises CardaiError if there is none."""
    from cardai import registry
    from cardai.table import second_process

    game = registry.load(name)
    second_process.begin(game, _compile_driver)
    return game


def _compile_driver() -> None:
    from cardai.table.many import compile_driver

    compile_driver()


def _described(game: "Game") -> dict[str, Any]:
    lists = {"seats": list(game.seats), "variants": list(game.variants), "suites": list(game.agents.suites)}
    lists |= {"options": {name: [int(value) for value in values] for name, values in game.allowed.items()}}
    return {"name": game.name, "title": game.title, "version": game.version} | lists


def _listed(specs: list[str] | None) -> list[str] | None:
    """All specs of an option that may be repeated and may hold several specs with commas between them."""
    return [spec for text in specs for spec in _specs(text)] if specs else None


def _specs(text: str) -> list[str]:
    from cardai.kernel.query import split

    specs = [spec.strip() for spec in split(repr(text), text, ",")]
    if not all(specs):
        _refuse(f"{text!r} names an empty agent; specs are separated by single commas")
    return specs


def _numbers(text: str) -> list[int]:
    """Numbers of players: "4", "2-8", "2,4,6"."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < 1000):
            _refuse(f"{text!r} does not name numbers of players; write 4, or 2-8, or 2,4,6")
        numbers += range(int(first), int(last) + 1)
    return list(dict.fromkeys(numbers))


def _refuse_counts(games: int | None, threads: int | None) -> None:
    """Refuse impossible numbers before the game is loaded and compiled."""
    from cardai.errors import positive
    from cardai.stats.machine import thread_count

    if games is not None:
        positive("--games", games)
    thread_count(threads)


def _refuse_unwritable(folder: Path) -> None:
    """Refuse a folder that cannot be written to, before anything is computed."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        _refuse(f"cannot write to {folder}: {error.strerror or error}")


def _error() -> type[Exception]:
    """CardaiError, imported when it is needed."""
    from cardai.errors import CardaiError

    return CardaiError


def _refuse(sentence: str) -> NoReturn:
    raise _error()(sentence)


def _refused(sentence: str, code: int = REFUSED) -> int:
    from cardai.errors import printable

    try:
        print(f"cardai: {printable(sentence)}", file=sys.stderr)
    except OSError:  # where stderr cannot be written to, the exit code alone says it
        _silence(sys.stderr)
    return code


def show(report: Any, as_json: bool) -> int:
    """Print a report as JSON or as its table (`cardai.stats.report.Report`). Returns the exit code."""
    if as_json:
        _print_json(report.as_json())
    else:
        _print(report.table())
    if getattr(report, "interrupted", False):
        print("interrupted: these are the games finished until then", file=sys.stderr)
        return INTERRUPTED
    return 0


def _print_json(value: Any) -> None:
    import json

    from cardai.errors import printable

    print(printable(json.dumps(value, indent=2, ensure_ascii=False)))


def _print(value: Any) -> None:
    from cardai.show.console import Output, say
    from cardai.stats.report import WIDE

    if isinstance(value, str):
        say(value)
    else:
        Output(width=None if sys.stdout.isatty() else WIDE).print(value)
