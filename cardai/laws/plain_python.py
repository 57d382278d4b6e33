"""Laws on plain Python: a second process runs the rules uncompiled (`CARDAI_JIT=0`) and must get the same results."""

import functools
import hashlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Container, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import place_of
from cardai.game import Game, GameState, PerspectiveEncoder
from cardai.laws.compiled import Compiled
from cardai.laws.law import Steps, law
from cardai.laws.note import last_call, note_again, note_call, note_files, note_place, take_up_note
from cardai.laws.steps import Patience, play_through, questions, rewarded
from cardai.laws.testbed import LawError, Looked, Setup, Testbed, move_text, written
from cardai.registry import importing, load
from cardai.rules import JIT

UNWRITTEN = 0x5A  # the bytes of memory that no rule has written, in plain Python; compiled code has others
LATE = 256  # from this ply on, a count of plies no longer fits a byte
IMPOSSIBLE = (-100, -1, 61, 100)
"""Numbers for the fields of a move that a rule must not use as an index or a card without a look at them."""


@law
def plain_python_agrees(testbed: Testbed) -> Steps:
    """With CARDAI_JIT=0 the rules give the same states, moves, encodings, worlds, values and choices, byte for byte."""
    return in_plain_python(testbed, _cases, functools.partial(_differing, testbed.game))


@law
def plain_python_complains_of_nothing(testbed: Testbed) -> Steps:
    """With CARDAI_JIT=0 no rule raises or warns: no index out of range and no overflow, which compiled code hides."""
    return in_plain_python(testbed, _cases, lambda answer: answer["error"])


@law
def encodings_fit_a_byte(testbed: Testbed) -> Steps:
    """Encoders write only whole numbers from 0 to 255, so that no value wraps around."""
    return in_plain_python(testbed, _cases, lambda answer: answer["misfit"])


def in_plain_python(
    testbed: Testbed, work: Callable[[Testbed], dict[str, Any]], wrong: Callable[[dict[str, Any]], str | None]
) -> Steps:
    """The steps of a law that has another process play games in plain Python: `work`, as `answer` takes it.

    `wrong` gives what is wrong with the answer, in words, or None.
    """
    request = work(testbed)
    (games,) = request.values()
    yield (seen := Looked(len(games), "games"))
    found = _asked(testbed, json.dumps(request))
    if problem := wrong(found):
        raise LawError(problem)
    seen.done, seen.enough = found["games"], found["over"]
    played = f"in the time it has, plain Python played {found['plies']} plies of {len(games)} games"
    return "; ".join(([played] if found["over"] else []) + ([found["remark"]] if found["remark"] else [])) or None


def _differing(game: Game, answer: dict[str, Any]) -> str | None:
    """Which result of the other process is not that of compiled code, in words, or None."""
    digests, patience = answer["digests"], Patience()
    for case in answer["cases"]:
        for where, digest, _ in _transcript(game, case, patience, digests):
            if digests.get(where, digest) != digest:
                return f"{where} differs between compiled code and plain Python"
    return None


def _cases(testbed: Testbed) -> dict[str, Any]:
    """The games that the other process plays again, as JSON types."""
    count = min(testbed.effort.plain_games, len(testbed.traces))
    total = max(count, min(len(testbed.setups), 2 * count))
    spread = set(np.linspace(0, len(testbed.traces) - 1, total).round().astype(int).tolist())
    lengths = [len(trace.moves) for trace in testbed.traces]
    spread.add(int(np.argmax(lengths)))  # counters are largest in the longest game
    for variant in testbed.variants:  # at the largest table every array is full
        setup = Setup(variant, max(testbed.game.seats))
        spread.update([i for i, trace in enumerate(testbed.traces) if trace.setup == setup][:1])
    traces = [testbed.traces[i] for i in sorted(spread)]
    moves = [written(testbed.game, trace.moves).tolist() for trace in traces]
    cases = [
        {**vars(trace.setup), "seed": trace.seed, "moves": numbers, "plies": trace.sampled(4)}
        for trace, numbers in zip(traces, moves, strict=True)
    ]
    return {"cases": cases}


@functools.lru_cache(maxsize=1)  # three laws share one process
def _asked(testbed: Testbed, work: str) -> dict[str, Any]:
    """Start a process that runs the game's rules as plain Python, and return its answer to `work` (see `answer`)."""
    module, attribute = _home(testbed.game)
    request = {
        "path": sys.path,
        "module": module.__name__,
        "file": getattr(module, "__file__", None),
        "attribute": attribute,
        "note": note_files(),
        "patience": [testbed.effort.patience, testbed.effort.plain_seconds],
        **json.loads(work),
    }
    tree = str(Path(__file__).parents[2])
    program = f"import sys; sys.path.insert(0, {tree!r}); from cardai.laws.plain_python import answer; answer()"
    note_again(1)  # until the other process has loaded the game
    child = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", program],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        env={**os.environ, "CARDAI_JIT": "0"},
        check=False,
        pass_fds=note_files(),
    )
    if child.returncode != 0:
        note_again(-1)
        last = child.stderr.strip().splitlines()[-1:] or [f"exit status {child.returncode} and no message"]
        where = f" at {last_call()}" if last_call() else ""
        raise LawError(f"{testbed.somewhere()}: plain Python stopped with {last[0]}{where}")
    return json.loads(child.stdout.splitlines()[-1])


def _home(game: Game) -> tuple[Any, str]:
    """The module and the global name of a game, by which another process finds it. Raises LawError if it has none."""
    for module in sorted(sys.modules.values(), key=lambda module: getattr(module, "__name__", "") == "__main__"):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is game and getattr(module, "__file__", None):
                return module, name
    raise LawError(f"the game {game.name} is no global of a module, so no other process can load it")


def answer() -> None:
    """Entry point of the subprocess that runs the rules in plain Python.

    Reads a request from stdin and prints the answer as a line of JSON. The request's "cases" are recorded games that
    are played again, its "walks" games of random moves in which every function is called (`steps`).
    """
    request = json.load(sys.stdin)
    take_up_note(request["note"])
    sys.path[:] = request["path"]
    np.empty = _filled
    game = _game_at(request["module"], Path(request["file"]), request["attribute"])
    note_again(-1)
    walks, cases, patience = request.get("walks", ()), request.get("cases", ()), Patience(*request["patience"])
    report: dict[str, Any] = {"cases": cases, "digests": {}, "error": None, "misfit": None}
    try:
        for i, walk in enumerate(walks):
            patience.share(len(walks) - i)
            play_through(game, Setup(walk["variant"], walk["seats"]), walk["seed"], patience)
        for i, case in enumerate(cases):
            if patience.is_over and i:
                break
            patience.games += 1
            for where, digest, misfit in _transcript(game, case, patience):
                report["digests"][where] = digest
                report["misfit"] = report["misfit"] or misfit
    except LawError as error:
        report["error"] = str(error)
    report |= {"remark": patience.remark(), "over": patience.was_over, "plies": patience.plies, "games": patience.games}
    print(json.dumps(report))


def _filled(*arguments: Any, **options: Any) -> np.ndarray:
    """Takes the place of `np.empty` in plain Python: memory that nobody has written holds odd numbers."""
    array = np.zeros(*arguments, **options)
    array.view(np.uint8)[...] = UNWRITTEN
    return array


def _game_at(name: str, file: Path, attribute: str) -> Game:
    """A game by its module, or by its file if that name means another module (for a game loaded by its path)."""
    try:
        with importing(str(file)):
            module = importlib.import_module(name)
    except ImportError:
        return load(str(file))
    if Path(getattr(module, "__file__", None) or "").resolve() == file.resolve():
        return getattr(module, attribute)
    del sys.modules[name]
    return load(str(file))


def _transcript(
    game: Game, case: dict[str, Any], patience: Patience, among: Container[str] | None = None
) -> Iterator[tuple[str, str, str | None]]:
    """Digests of what the rules compute in one game: (place, digest, what does not fit a byte, or None).

    Raises LawError, which says where, if a rule raises or warns.
    Questions for which no patience is left are left out, and those that are not `among` places, if they are given.
    """
    setup, compiled = Setup(case["variant"], case["seats"]), Compiled(game)
    moves = np.array(case["moves"], np.int64).reshape(len(case["moves"]), -1).view(game.move).reshape(-1)
    start, moved = f"{setup}, seed {case['seed']}, ply", set[int]()
    where = f"{start} 0: deal"
    note_place(setup, case["seed"], 0)
    try:
        states = np.array([game.new(setup.seats, case["seed"], setup.variant)])
        yield where, _digest(states), None
        for ply, move in enumerate(moves):
            for name, question, misfit in _questions(compiled, states, ply) if ply in case["plies"] else ():
                where = f"{start} {ply}: {name}"
                if not patience.is_left_for(name) or (among is not None and where not in among):
                    continue
                note_place(setup, case["seed"], ply)
                note_call(name)
                found = patience.timed(name, question)
                wrong = patience.timed(name, misfit, found) if misfit else None
                yield where, _digest(found), f"{where} {wrong}" if wrong else None
            where = f"{start} {ply}: {move_text(game, states[0], move)}"
            note_place(setup, case["seed"], ply)
            seat, states = int(states[0]["turn"]), compiled.moved(states, move)
            moved.add(seat)
            patience.plies += 1
            yield where, _digest(states), None
            for name, of in rewarded(game, states[0], seat, moved):
                where = f"{start} {ply + 1}: reward {name} for seat {of}"
                yield where, _digest(compiled.values(states, of, f"reward {name}")), None
        for what in ("score", *(f"outcome {name}" for name in game.learning.outcomes)):
            where = f"{start} {len(moves)}: {what}"
            yield where, _digest([compiled.values(states, seat, what) for seat in range(setup.seats)]), None
    except Exception as error:  # whatever a rule raises, the law reports it, with its place
        raise LawError(f"{where} raises {error!r} in plain Python{place_of(error)}") from error


def _questions(compiled: Compiled, states: np.ndarray, ply: int) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """What the rules compute for a position: (name, the computation, a function that checks its values or None)."""
    game, seats = compiled.game, range(int(states[0]["seats"]))
    if game.rules.is_legal:
        odd = impossible(compiled.moves(states)[:2])
        yield "is_legal of impossible moves", lambda: compiled.allowed(states, odd), None
    for seat in seats:
        for name, question in questions(game, states, seat, ply).items():
            if not name.startswith("encoder "):
                yield f"{name} for seat {seat}", partial(question, compiled), None
    for late in (None, *sorted({LATE, game.max_plies - 1} if game.max_plies > LATE else ())):
        later = states.copy()
        later["ply"] = states["ply"] if late is None else late  # as in a game that has gone round in circles
        for (name, encoder), seat in product(game.learning.encoders.items(), seats):
            what = f"encoder {name} for seat {seat}{'' if late is None else f', if this were ply {late},'}"
            yield what, partial(compiled.encoded, later, seat, name), partial(_misfit, encoder, later[0], seat)


def impossible(moves: np.ndarray) -> np.ndarray:
    """Copies of moves in which one field has a number that few games use: is_legal is asked about any move."""
    names = moves.dtype.names or ()
    found = np.repeat(moves, len(names) * len(IMPOSSIBLE))
    for i, move in enumerate(found):
        move[names[i // len(IMPOSSIBLE) % len(names)]] = IMPOSSIBLE[i % len(IMPOSSIBLE)]
    return found


def _misfit(encoder: PerspectiveEncoder, state: GameState, seat: int, rows: np.ndarray) -> str | None:
    """Returns which value of a row does not fit a byte, in words, or None. Only plain Python can tell."""
    if JIT:
        return None
    meant = np.zeros(rows.shape[1], np.int64)
    encoder.encode(state.copy(), seat, meant)
    wrong = np.flatnonzero(meant != rows[0])
    return f"writes {meant[wrong[0]]} into a byte (value {wrong[0]})" if len(wrong) else None


def _digest(found: Any) -> str:
    return hashlib.blake2b(np.asarray(found).tobytes(), digest_size=8).hexdigest()
