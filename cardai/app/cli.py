"""The `cardai` command: one verb a function. Each imports what it needs when it runs, so that `--help` costs nothing.

Exit codes: 0 done; 1 the answer is no (a law is broken, a game does not load); 2 refused, one sentence on stderr says
why; 130 interrupted, what was finished has been reported.
"""

import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from cyclopts import App, CycloptsError, Parameter

if TYPE_CHECKING:
    from cardai.game import Game

_WIDE = 140  # columns of a table that goes to a file or another program
REFUSED, BROKEN_PIPE, INTERRUPTED = 2, 141, 130


def _version() -> str:
    from importlib.metadata import version

    return version("cardai")


app = App(
    name="cardai",
    help="Card-game AI: fast simulation, honest hidden information, agents, benchmarks, and a table to play at.",
    version=_version,
    help_format="plaintext",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)

GameName = Annotated[str, Parameter(help="A game's name (see `cardai games`), or the path of its folder or file.")]
Seed = Annotated[int, Parameter(help="Any whole number; the same one gives the same games.")]
Variant = Annotated[str | None, Parameter(help="A variant of the game; its first one if not given.")]
Threads = Annotated[int | None, Parameter(help="Threads; as many as there are processors if not given.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON instead of a table.")]
Agents = Annotated[list[str] | None, Parameter(name="--agent", negative="", help="An agent spec; may be repeated.")]
Figure = Annotated[Path | None, Parameter(help="Draw the figure into this file (.png, .svg or .pdf).")]
Overwrite = Annotated[bool, Parameter(negative="", help="Write over the file if it exists.")]
Device = Annotated[str, Parameter(help="Where networks compute: auto, cpu or gpu.")]
SeatCount = Annotated[int | None, Parameter(help="How many seats; the usual number if not given.")]
Rules = Annotated[str | None, Parameter(name="--rules", help="The path of the game, if it is not known by its name.")]
SpecList = Annotated[str | None, Parameter(help="Agent specs, one a seat, separated by commas: bot3,random,random.")]


@functools.cache
def _add_verbs() -> None:
    """Add the verbs that other packages bring, `train` among them; they are imported when they run."""
    from importlib.metadata import entry_points

    for entry in sorted(entry_points(group="cardai.verbs"), key=lambda entry: entry.name):
        app.command(entry.value, name=entry.name, help=_first_line(entry.module, entry.attr))


def _first_line(module: str, function: str) -> str | None:
    """The first line of a function's docstring, read from the source: importing it would cost what --help must not."""
    import ast
    from importlib.util import find_spec

    found = find_spec(module)
    if found is None or found.origin is None:
        return None
    for node in ast.parse(Path(found.origin).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return (ast.get_docstring(node) or "").partition("\n")[0]
    return None


def main() -> None:
    """The console script."""
    sys.path.append(
        str(Path.cwd())
    )  # where somebody's python:MODULE:FUNCTION lies, and the last place that is looked in
    sys.exit(run(sys.argv[1:]))


def run(tokens: Sequence[str]) -> int:
    """Run one command line; its exit code."""
    _add_verbs()
    try:
        code = app(tokens)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except CycloptsError as error:
        return _refused(" ".join(str(error).split()))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        return _refused("there is not enough memory for that")
    except BrokenPipeError:  # the reader has left, as `head` does; Python must not complain at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        if isinstance(error, _error()):
            return _refused(str(error))
        raise  # a bug: its traceback is wanted


@app.command
def games(*, json: AsJson = False) -> int:
    """List the games."""
    from rich.table import Table

    from cardai.errors import CardaiError
    from cardai.registry import available

    found, broken = [], 0
    for name in available():
        try:
            found.append(_described(load(name)))
        except CardaiError as error:
            found.append({"name": name, "error": str(error)})
            broken = 1
    if json:
        _print_json(found)
        return broken
    table = Table("game", "title", "version", "seats", "variants", "suites")
    for one in found:
        if "error" in one:
            table.add_row(one["name"], one["error"])
        else:
            seats = f"{one['seats'][0]}-{one['seats'][-1]}" if len(one["seats"]) > 1 else str(one["seats"][0])
            lists = ", ".join(one["variants"]), ", ".join(one["suites"])
            table.add_row(one["name"], one["title"], str(one["version"]), seats, *lists)
    _print(table)
    return broken


@app.command
def agents(game: GameName, /, *, json: AsJson = False) -> None:
    """List the agents that can play a game, with the parameters they take."""
    from rich.table import Table

    from cardai.agents.spec import list_specs

    loaded = load(game)
    specs = list_specs(loaded)
    parameters = {name: dict(player.defaults) for name, player in loaded.players.items()}
    if json:
        _print_json([{"agent": s, "about": about, "parameters": parameters.get(s, {})} for s, about in specs.items()])
        return
    table = Table("agent", "what it is", "parameters")
    for spec, about in specs.items():
        table.add_row(spec, about, " ".join(f"{name}={value:g}" for name, value in parameters.get(spec, {}).items()))
    _print(table)
    _print("Change parameters like this: NAME?p=0.5&q=2. A function of yours plays as python:MODULE:FUNCTION.")


@app.command
def bench(
    game: GameName | None = None,
    /,
    *,
    all_games: Annotated[
        bool, Parameter(name="--all", negative="", help="Every agent on every game instead, with ratings.")
    ] = False,
    suite: Annotated[str | None, Parameter(help="A suite of the game; its first one if not given.")] = None,
    agent: Agents = None,
    games: Annotated[
        int | None, Parameter(help="Games a row, the suite's number if not given; with --all games a table, 10 000.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    variant: Variant = None,
    history: Annotated[Path | None, Parameter(help="With --all: append the result to this file, as a line.")] = None,
    against: Annotated[Path | None, Parameter(help="With --all: compare with the last line of such a file.")] = None,
    device: Device = "auto",
    json: AsJson = False,
) -> int:
    """Measure agents in a published suite of a game: duplicate deals, rotated seats, 95 % intervals."""
    from cardai.measure import bench as benchmark
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
    _compute_on(device)
    if all_games and game is not None:
        _refuse(f"bench takes a game, here {game!r}, or --all, not both")
    if all_games:
        own = {"--suite": suite, "--agent": ",".join(agent) if agent else None, "--variant": variant}
        _refuse_given(own, "is for one game; --all plays every game")
        return _bench_all(games, seed, threads, history, against, json)
    if game is None:
        _refuse("bench needs a game (see `cardai games`), or --all for every one")
    _refuse_given({"--history": history, "--against": against}, "goes with --all")
    loaded = load(game)
    with Line("playing", loaded) as progress:
        report = benchmark.run_suite(loaded, suite, _listed(agent), games, seed, threads, variant, progress)
    return show(report, json)


def _bench_all(
    games: int | None, seed: int, threads: int | None, history: Path | None, against: Path | None, as_json: bool
) -> int:
    from cardai.measure import league
    from cardai.show.progress import Line

    then = league.last_run(against) if against else None
    if history:
        league.check_history(history)
    with Line("playing") as progress:
        found = league.run_all(None, games or league.GAMES, seed, threads, progress)
    if then:
        found = league.compare(found, then)
    if history and not found.interrupted:
        league.append(history, found)
    return show(found, as_json)


def _refuse_given(options: dict[str, Any], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            _refuse(f"{name} {str(value)!r} {why}")


@app.command
def match(
    game: GameName,
    /,
    *,
    seats: Annotated[str, Parameter(help="Agent specs, one a seat, separated by commas: bot3,random,random.")],
    games: Annotated[int, Parameter(help="How many games; rounded up to whole rotations.")] = 1000,
    seed: Seed = 0,
    rotate: Annotated[bool, Parameter(help="Play each deal once with everybody in each seat.")] = True,
    record: Annotated[Path | None, Parameter(help="Write the games to this file (.jsonl or .jsonl.gz).")] = None,
    overwrite: Overwrite = False,
    threads: Threads = None,
    variant: Variant = None,
    device: Device = "auto",
    json: AsJson = False,
) -> int:
    """Play agents against each other and say who did how well."""
    from cardai.measure import bench as benchmark
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
    _compute_on(device)
    loaded = load(game)
    with Line("playing", loaded) as progress:
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
        )
    return show(report, json)


@app.command
def selfplay(
    game: GameName,
    /,
    *,
    agent: Annotated[
        list[str],
        Parameter(name="--agent", negative="", help="An agent spec with its weight, as in bot3@2; may be repeated."),
    ],
    out: Annotated[Path, Parameter(help="A file (.jsonl or .jsonl.gz), or a folder, in which a stopped run goes on.")],
    games: Annotated[int, Parameter(help="How many games.")] = 10_000,
    seed: Seed = 0,
    seats: SeatCount = None,
    overwrite: Overwrite = False,
    threads: Threads = None,
    variant: Variant = None,
    device: Device = "auto",
    json: AsJson = False,
) -> int:
    """Record games to learn from: the agent of each seat of each game is drawn by weight."""
    from cardai.data import selfplay as simulation
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
    _compute_on(device)
    pool = simulation.parse_pool(_listed(agent) or [])
    loaded = load(game)
    options: dict[str, Any] = {"seed": seed, "variant": variant, "seats": seats, "threads": threads}
    with Line("simulating", loaded) as progress:
        if out.name.endswith((".jsonl", ".jsonl.gz")):
            summary = simulation.simulate(
                loaded, pool, games, out=out, overwrite=overwrite, progress=progress, **options
            )
        elif overwrite:
            _refuse(f"--overwrite is for files; {out} is the name of a folder")
        else:
            summary = simulation.simulate_shards(loaded, pool, games, folder=out, progress=progress, **options)
    return show(summary, json)


@app.command
def play(
    game: GameName,
    /,
    *,
    seats: SpecList = None,
    variant: Variant = None,
    seed: Annotated[int | None, Parameter(help="Any whole number; a new one each time if not given.")] = None,
    moves_from: Annotated[Path | None, Parameter(help="A file of inputs, a line each; # begins a comment.")] = None,
    device: Device = "auto",
) -> None:
    """Play a game at the keyboard: "human" in --seats is you."""
    import secrets

    from cardai.app import keyboard
    from cardai.show.progress import Line

    _compute_on(device)
    loaded = load(game)
    with Line("", loaded):
        loaded.rules  # noqa: B018 - compiled while the line says so
    specs = _specs(seats) if seats else keyboard.default_seats(loaded)
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    points = keyboard.play(loaded, specs, seed=seed, variant=variant, script=moves_from)
    again = f"--seats {','.join(specs)} --seed {seed}"
    _print(f"You have left the game ({again})." if points is None else f"The same deal again: {again}")


@app.command
def perf(
    game: GameName,
    /,
    *,
    agent: Annotated[
        str | None, Parameter(help="Measure this agent with a model instead, beside its network in a bare loop.")
    ] = None,
    seconds: Annotated[float, Parameter(help="How long each measurement takes.")] = 1.0,
    repeats: Annotated[int, Parameter(help="How many measurements each median is taken of.")] = 5,
    seats: SeatCount = None,
    variant: Variant = None,
    device: Device = "auto",
    json: AsJson = False,
) -> None:
    """Measure how fast a game is played, in decisions and games a second, or in rows a second by a network."""
    from cardai.measure import bottleneck
    from cardai.measure import perf as speed
    from cardai.show.progress import Line

    _compute_on(device)
    loaded = load(game)
    with Line("measuring", loaded) as progress:
        if agent:
            report = bottleneck.measure(loaded, agent, seconds, repeats, progress, seats=seats, variant=variant)
        else:
            report = speed.measure(loaded, seconds, repeats, progress, seats=seats, variant=variant)
    show(report, json)


@app.command
def check(
    game: GameName,
    /,
    *,
    law: Annotated[list[str] | None, Parameter(negative="", help="Only this law; may be repeated.")] = None,
    effort: Annotated[str, Parameter(help="How hard to look: quick, normal or thorough.")] = "normal",
    seed: Seed = 0,
    json: AsJson = False,
) -> int:
    """Check that a game keeps the laws of the contract: the tests anybody's game gets for nothing."""
    from dataclasses import asdict

    from cardai import conformance
    from cardai.show.progress import Line

    loaded = load(game)
    with Line("checking", loaded) as line:
        verdicts = conformance.check(
            loaded, seed=seed, effort=effort, laws=law, progress=lambda name, done, total: line(done, total, name)
        )
    broken = [one for one in verdicts if not one.passed]
    if json:
        _print_json([asdict(one) for one in verdicts])
        return bool(broken)
    for one in verdicts:
        _print(f"{'holds ' if one.passed else 'BROKEN'} {one.law}")
    for one in broken:
        _print(f"\n{one.law}: {one.about}.\n{one.problem}")
    _print(f"{loaded.name}: {len(verdicts) - len(broken)} of {len(verdicts)} laws hold")
    return bool(broken)


@app.command
def complexity(
    game: GameName,
    /,
    *,
    players: Annotated[str | None, Parameter(help="How many: 4, or 2-8, or 2,4,6; all the game allows.")] = None,
    games: Annotated[int, Parameter(help="Games for each number of players.")] = 10_000,
    agent: Annotated[str, Parameter(help="Who plays the games.")] = "random",
    seed: Seed = 0,
    threads: Threads = None,
    variant: Variant = None,
    figure: Figure = None,
    json: AsJson = False,
) -> int:
    """Estimate the size of a game's tree by number of players, from played games."""
    from cardai.measure import complexity as tree
    from cardai.show.progress import Line

    _refuse_counts(games, threads)
    loaded = load(game)
    numbers = _numbers(players) if players else None
    if figure:
        _refuse_unwritable(tree.figure_path(figure).parent)
    with Line("playing", loaded) as progress:
        report = tree.measure(loaded, numbers, games, agent, seed, threads, variant, progress)
    if figure:
        report.figure(figure)
    return show(report, json)


@app.command
def perft(
    game: GameName,
    /,
    *,
    depth: Annotated[int | None, Parameter(help="How many moves deep; to the end of the game if not given.")] = None,
    seats: SeatCount = None,
    seed: Seed = 0,
    variant: Variant = None,
    json: AsJson = False,
) -> None:
    """Count the sequences of legal moves: the first thing to compare with another implementation of the rules."""
    from cardai.measure import exact
    from cardai.show.progress import Line

    loaded = load(game)
    with Line("counting", loaded):
        counts = exact.perft(loaded, depth, seats, variant, seed=seed)
    if json:
        _print_json({"game": loaded.name, "version": loaded.version, "seed": seed, "counts": counts})
        return
    for moves, count in enumerate(counts):
        _print(f"{moves:>3}  {count:,}".replace(",", " "))


@app.command
def grade(
    game: GameName,
    /,
    *,
    agent: Annotated[list[str], Parameter(name="--agent", negative="", help="An agent spec; may be repeated.")],
    seed: Seed = 0,
    device: Device = "auto",
    json: AsJson = False,
) -> None:
    """Grade agents exactly, over the whole tree of a small game without hidden cards."""
    from cardai.measure import exact
    from cardai.show.progress import Line

    _compute_on(device)
    loaded = load(game)
    with Line("grading", loaded) as progress:
        solution = exact.solve(loaded)
        grades = [exact.grade(solution, spec, seed=seed, progress=progress) for spec in _listed(agent) or ()]
    if json:
        _print_json([one.as_json() for one in grades])
    else:
        _print(exact.compare(grades))


@app.command
def replay(
    file: Annotated[Path, Parameter(help="A file of recorded games.")],
    /,
    *,
    game: Annotated[int, Parameter(help="Which game, counted from 0.")] = 0,
    rules: Rules = None,
) -> None:
    """Print a recorded game as a transcript: a line a move."""
    from cardai.data import record

    reader = record.read(file)
    loaded = reader.load(rules)
    chosen = None
    for recorded in reader:  # all of it: an edited file is refused, wherever it was edited
        if recorded.number == game:
            chosen = recorded
    if chosen is None:
        _refuse(f"{file} has {reader.games} games, counted from 0; there is no game {game}")
    moves: list[str] = []
    try:
        record.replay(
            loaded,
            chosen,
            lambda state, move, ply: moves.append(f"{ply:>4}  p{int(state['turn'])} {loaded.spell(state, move)}"),
        )
    except _error() as error:
        _refuse(f"{file}, game {game}: {error}")
    head = reader.header
    _print(f"{loaded.name} {head.version} ({chosen.variant}), game {game}, seed {chosen.seed}")
    for seat, place in enumerate(chosen.lineup):
        _print(f"p{seat} is {head.agents[place]}")
    _print("\n".join(moves))
    for seat, score in enumerate(chosen.scores):
        _print(f"p{seat} scores {score:g}")


@app.command
def analyse(
    file: Annotated[Path, Parameter(help="A file of recorded games.")],
    /,
    *,
    game_number: Annotated[int, Parameter(help="Which game, counted from 0.")] = 0,
    agent: Annotated[str | None, Parameter(help="An agent that judges: greedy:JUDGE or sampled:JUDGE.")] = None,
    model: Annotated[str | None, Parameter(help="Or a model; the first that comes for the game if not given.")] = None,
    top: Annotated[int, Parameter(help="How many moves are marked.")] = 5,
    figure: Figure = None,
    rules: Rules = None,
    seed: Annotated[int, Parameter(help="Any whole number; it decides which worlds are looked at.")] = 0,
    device: Device = "auto",
    json: AsJson = False,
) -> int:
    """Show how good each seat's position was through a recorded game, and the moves that changed it most."""
    from cardai.data import record
    from cardai.measure import analyse as analysis
    from cardai.show.figure import figure_path
    from cardai.show.progress import Line

    _compute_on(device)
    if figure:
        _refuse_unwritable(figure_path(figure).parent)
    with Line("reading games", record.read(file).load(rules)) as progress:
        found = analysis.of_file(
            file, agent, number=game_number, model=model, rules=rules, seed=seed, top=top, progress=progress
        )
    if figure:
        found.figure(figure)
    return show(found, json)


@app.command
def verify(
    file: Annotated[Path, Parameter(help="A file of recorded games.")], /, *, rules: Rules = None, json: AsJson = False
) -> None:
    """Check a file of recorded games: every line, every move, every score; the first bad line is named."""
    from dataclasses import asdict

    from cardai.data import record
    from cardai.show.progress import Line

    game = record.read(file).load(rules)
    with Line("replaying", game) as line:
        found = record.verify(file, line.share, rules)
    if json:
        _print_json(asdict(found))
        return
    head = found.header
    _print(
        f"{file} is sound: {found.games} games of {head.game} {head.version} ({head.variant}, {head.seats} seats), "
        f"{found.plies} moves, replayed in {found.seconds:.1f} s"
    )
    if not found.complete:
        _print("It is not complete: the run that wrote it was cut short, or some of its games were endless.")


@app.command
def new_game(
    name: Annotated[str, Parameter(help="The game's name: letters, digits and _.")],
    /,
    *,
    folder: Annotated[Path, Parameter(help="Where its folder is made.")] = Path(),
) -> None:
    """Write a small complete game to begin your own with."""
    from cardai.app import scaffold

    place = scaffold.create(name, folder)
    path = place if place.is_absolute() else f"./{place}"
    _print(f"{place} holds a small complete game. Make it yours part by part, and check it as you go:")
    _print(f"  cardai check {path}\n  cardai play {path}")


@app.command
def doctor(
    *,
    clear_cache: Annotated[bool, Parameter(negative="", help="Delete all compiled rules.")] = False,
    json: AsJson = False,
) -> int:
    """Say what cardai runs on here, and whether compiled rules load."""
    from rich.table import Table

    from cardai.app import doctor as examination

    if clear_cache:
        freed = examination.clear_cache()
        print(f"deleted {freed / 1e6:.1f} MB of compiled rules", file=sys.stderr)
    found = examination.examine(load)
    if json:
        _print_json(found)
        return 0 if found["healthy"] else 1
    table = Table(show_header=False)
    for name, value in found.items():
        if name == "games":
            for game, state in value.items():
                table.add_row(f"game {game}", state)
        else:
            table.add_row(name.replace("_", " "), str(value))
    _print(table)
    return 0 if found["healthy"] else 1


def load(name: str) -> "Game":
    """A game by name or path. Raises CardaiError."""
    from cardai import registry

    return registry.load(name)


def _described(game: "Game") -> dict[str, Any]:
    lists = {"seats": list(game.seats), "variants": list(game.variants), "suites": list(game.suites)}
    return {"name": game.name, "title": game.title, "version": game.version} | lists


def _listed(specs: list[str] | None) -> list[str] | None:
    """Specs given one by one or with commas between them."""
    return [one for text in specs for one in _specs(text)] if specs else None


def _specs(text: str) -> list[str]:
    specs = [one.strip() for one in text.split(",")]
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
    """Refuse such numbers before the game is loaded, let alone compiled."""
    from cardai.errors import positive
    from cardai.stats.machine import thread_count

    if games is not None:
        positive("--games", games)
    thread_count(threads)


def _refuse_unwritable(folder: Path) -> None:
    """Refuse a folder that could not be written to, before anything is computed for it."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        _refuse(f"cannot write to {folder}: {error.strerror or error}")


def _compute_on(device: str) -> None:
    """Choose where networks compute; a name that is none is refused even if nobody asks a network."""
    if device not in ("auto", "cpu", "gpu"):
        _refuse(f"--device is auto, cpu or gpu, not {device!r}")
    if device != "auto":
        from cardai.agents.evaluator import set_device

        set_device(device)


def _error() -> type[Exception]:
    """CardaiError, whose module brings Numba with it: too much for `--help`."""
    from cardai.errors import CardaiError

    return CardaiError


def _refuse(sentence: str) -> NoReturn:
    raise _error()(sentence)


def _refused(sentence: str) -> int:
    print(f"cardai: {sentence}", file=sys.stderr)
    return REFUSED


def show(report: Any, as_json: bool) -> int:
    """Print a report; its exit code."""
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

    print(json.dumps(value, indent=2, ensure_ascii=False))


def _print(value: Any) -> None:
    from rich.console import Console

    if isinstance(value, str) and not sys.stdout.isatty():
        print(value)
    elif isinstance(value, str):  # a terminal would break lines in the middle of a word
        Console().print(value, markup=False, highlight=False, emoji=False)
    else:
        Console(width=None if sys.stdout.isatty() else _WIDE).print(value)
