"""Laws on plain Python: a second process runs the rules uncompiled (`CARDAI_JIT=0`) and must get the same results."""

import functools
import hashlib
import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cardai.conformance.compiled import Compiled
from cardai.conformance.law import Steps, law
from cardai.conformance.note import (
    Barred,
    bar,
    barred,
    last_call,
    note_call,
    note_files,
    note_place,
    pause_clock,
    take_up_note,
)
from cardai.conformance.steps import Patience, play_through
from cardai.conformance.testbed import LawError, Looked, Setup, Testbed, move_text, written
from cardai.game import Game, GameState, PerspectiveEncoder
from cardai.registry import load
from cardai.rule import JIT

UNWRITTEN = 0x5A  # the bytes of memory that no rule has written, in plain Python; compiled code has others
LATE = 256  # from this ply on, a count of plies no longer fits a byte
IMPOSSIBLE = (-100, -1, 61, 100)
"""Numbers for the fields of a move that a rule must not use as an index or a card without a look at them."""


@law
def plain_python_agrees(testbed: Testbed) -> Steps:
    """With CARDAI_JIT=0 the rules give the same states, moves, encodings, worlds, values and choices, byte for byte."""
    yield (seen := Looked(len(_cases(testbed)), "games"))
    answer, every = _ask(testbed), Patience()
    seen.done, seen.enough = answer["games"], answer["over"]
    for case in _cases(testbed):
        for where, digest, _ in _transcript(testbed.game, case, every, answer["digests"]):
            if answer["digests"].get(where, digest) != digest:
                raise LawError(f"{where} differs between compiled code and plain Python")
    return said_of_plain_python(answer)


@law
def plain_python_complains_of_nothing(testbed: Testbed) -> Steps:
    """With CARDAI_JIT=0 no rule raises or warns: no index out of range and no overflow, which compiled code hides."""
    yield (seen := Looked(len(_cases(testbed)), "games"))
    answer = _ask(testbed)
    if answer["error"]:
        raise LawError(answer["error"])
    seen.done, seen.enough = answer["games"], answer["over"]
    return said_of_plain_python(answer)


@law
def encodings_fit_a_byte(testbed: Testbed) -> Steps:
    """Encoders write only whole numbers from 0 to 255, so that no value wraps around."""
    yield (seen := Looked(len(_cases(testbed)), "games"))
    answer = _ask(testbed)
    if answer["misfit"]:
        raise LawError(answer["misfit"])
    seen.done, seen.enough = answer["games"], answer["over"]
    return said_of_plain_python(answer)


def said_of_plain_python(answer: dict[str, Any], done: str | None = None) -> str | None:
    """A law's remark on what plain Python left out. `done`: what was played, in words."""
    parts = [f"in the time it has, plain Python played {done or 'a part'}"] if answer["over"] else []
    parts += [answer["remark"]] if answer["remark"] else []
    return "; ".join(parts) or None


def _cases(testbed: Testbed) -> list[dict[str, Any]]:
    """The games that the other process plays again, as JSON types."""
    count = min(testbed.effort.plain_games, len(testbed.traces))
    total = max(count, min(len(testbed.setups), 2 * count))
    spread = set(np.linspace(0, len(testbed.traces) - 1, total).round().astype(int).tolist())
    lengths = [len(trace.moves) for trace in testbed.traces]
    spread.add(int(np.argmax(lengths)))  # counters are largest in the longest game
    for variant in testbed.game.variants:  # at the largest table every array is full
        setup = Setup(variant, max(testbed.game.seats))
        spread.update([i for i, trace in enumerate(testbed.traces) if trace.setup == setup][:1])
    return [
        {
            "variant": trace.setup.variant,
            "seats": trace.setup.seats,
            "seed": trace.seed,
            "moves": written(testbed.game, trace.moves).tolist(),
            "plies": trace.sampled(4),
        }
        for trace in (testbed.traces[i] for i in sorted(spread))
    ]


@functools.lru_cache(maxsize=1)  # the three laws share one process
def _ask(testbed: Testbed) -> dict[str, Any]:
    """The other process's answer: digests by place, the first error and the first misfit of a byte, and a remark."""
    return ask_plain_python(testbed, {"cases": _cases(testbed)})


def ask_plain_python(testbed: Testbed, work: dict[str, Any]) -> dict[str, Any]:
    """Start a process that runs the game's rules as plain Python, and return its answer to `work` (see `answer`)."""
    module, attribute = _home(testbed.game)
    request = {
        "path": sys.path,
        "module": module.__name__,
        "file": getattr(module, "__file__", None),
        "attribute": attribute,
        "note": note_files(),
        "patience": [testbed.effort.patience, testbed.effort.plain_seconds],
        "barred": barred(),
        **work,
    }
    program = "from cardai.conformance.plain_python import answer; answer()"
    tree = str(Path(__file__).parents[2])
    pause_clock(1)  # until the other process has loaded the game
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys; sys.path[:0] = {[tree]!r}; {program}"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        env={**os.environ, "CARDAI_JIT": "0"},
        check=False,
        pass_fds=note_files(),
    )
    if child.returncode != 0:
        pause_clock(-1)
        last = child.stderr.strip().splitlines()[-1:] or [f"exit status {child.returncode} and no message"]
        where = f" at {last_call()}" if last_call() else ""
        raise LawError(f"{testbed.somewhere()}: plain Python stopped with {last[0]}{where}")
    found = json.loads(child.stdout.splitlines()[-1])
    if found["barred"]:
        raise Barred(found["barred"])
    return found


def _home(game: Game) -> tuple[Any, str]:
    """The module and the global name of a game, by which another process finds it. Raises LawError if it has none."""
    for module in sorted(sys.modules.values(), key=lambda module: module.__name__ == "__main__"):
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
    bar(request["barred"])
    sys.path[:] = request["path"]
    np.empty = _filled
    game = _game_at(request["module"], Path(request["file"]), request["attribute"])
    pause_clock(-1)
    report: dict[str, Any] = {"digests": {}, "error": None, "misfit": None, "barred": None}
    patience = Patience(*request["patience"])
    try:
        walks = request.get("walks", ())
        for i, walk in enumerate(walks):
            patience.share(len(walks) - i)
            play_through(game, Setup(walk["variant"], walk["seats"]), walk["seed"], patience)
        for i, case in enumerate(request.get("cases", ())):
            if patience.is_over and i:
                break
            patience.games += 1
            for where, digest, misfit in _transcript(game, case, patience):
                report["digests"][where] = digest
                report["misfit"] = report["misfit"] or misfit
    except (PlainError, LawError) as error:
        report["error"] = str(error)
    except Barred as refused:
        report["barred"] = str(refused)
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
        module = importlib.import_module(name)
    except ImportError:
        return load(str(file))
    if Path(getattr(module, "__file__", None) or "").resolve() == file.resolve():
        return getattr(module, attribute)
    del sys.modules[name]
    return load(str(file))


class PlainError(Exception):
    """A rule raised or warned in plain Python. The message says where."""


def _transcript(
    game: Game, case: dict[str, Any], patience: Patience, among: Container[str] | None = None
) -> Iterator[tuple[str, str, str | None]]:
    """Digests of what the rules compute in one game: (place, digest, what does not fit a byte, or None).

    Questions for which no patience is left are left out, and those that are not `among` places, if they are given.
    """
    setup, compiled = Setup(case["variant"], case["seats"]), Compiled(game)
    moves = np.array(case["moves"], np.int64).reshape(len(case["moves"]), -1).view(game.move).reshape(-1)
    start = f"{setup}, seed {case['seed']}, ply"
    where = f"{start} 0: deal"
    note_place(setup, case["seed"], 0)
    try:
        state = game.new(setup.seats, case["seed"], setup.variant)
        yield where, _digest(state), None
        for ply, move in enumerate(moves):
            for name, question, misfit in _questions(compiled, state, ply) if ply in case["plies"] else ():
                where = f"{start} {ply}: {name}"
                if not patience.is_left_for(name) or (among is not None and where not in among):
                    continue
                note_place(setup, case["seed"], ply)
                note_call(name)
                found = patience.timed(name, question)
                wrong = patience.timed(name, misfit, found) if misfit else None
                yield where, _digest(found), f"{where} {wrong}" if wrong else None
            where = f"{start} {ply}: {move_text(game, state, move)}"
            note_place(setup, case["seed"], ply)
            seat, state = int(state["turn"]), compiled.moved(np.array([state]), move)[0]
            yield where, _digest(state), None
            for name, reward in game.rewards.items():
                where = f"{start} {ply + 1}: reward {name}"
                yield where, _digest(compiled.outcomes(np.array([state]), seat, reward)), None
        where = f"{start} {len(moves)}: score"
        yield where, _digest(np.array([compiled.values(np.array([state]), s) for s in range(setup.seats)])), None
        for name, outcome in game.outcomes.items():
            where = f"{start} {len(moves)}: outcome {name}"
            found = [compiled.outcomes(np.array([state]), s, outcome) for s in range(setup.seats)]
            yield where, _digest(np.array(found)), None
    except Exception as error:  # whatever a rule raises, the law reports it, with its place
        place = traceback.extract_tb(error.__traceback__)[-1]
        source = f"{Path(place.filename).name} line {place.lineno}"
        raise PlainError(f"{where} raises {error!r} in plain Python ({source})") from error


def _questions(compiled: Compiled, state: GameState, ply: int) -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """What the rules compute for a position: (name, the computation, a function that checks its values or None)."""
    game, one = compiled.game, np.array([state])
    yield "legal", lambda: compiled.moves(one), None
    yield "is_legal", lambda: compiled.allowed(one, compiled.moves(one)[:8]), None
    if game.is_open is not None:
        yield "is_open", lambda: compiled.opened(one), None
        if game.simplify is not None and compiled.opened(one)[0]:
            yield "simplify", lambda: compiled.simplified(one), None
    if game.is_legal:
        yield "is_legal of impossible moves", lambda: compiled.allowed(one, impossible(compiled.moves(one)[:2])), None
    for s in range(int(state["seats"])):
        yield f"resample for seat {s}", functools.partial(compiled.worlds, one, s, 2, ply), None
        if game.blank is not None:
            yield f"blank for seat {s}", functools.partial(compiled.blanked, one, s), None
        for name, encoder in game.encoders.items():
            misfit = functools.partial(_misfit, encoder, state, s)
            yield f"encoder {name} for seat {s}", functools.partial(game.encode, state, s, name), misfit
            for late in sorted({LATE, game.max_plies - 1}) if game.max_plies > LATE else ():
                later = _at_ply(state, late)
                misfit = functools.partial(_misfit, encoder, later, s)
                what = f"encoder {name} for seat {s}, if this were ply {late},"
                yield what, functools.partial(game.encode, later, s, name), misfit
        for name, heuristic in game.heuristics.items():
            yield f"heuristic {name} for seat {s}", functools.partial(compiled.values, one, s, heuristic), None
    for name, player in game.players.items():
        yield f"player {name}", functools.partial(_choice, compiled, one, name, player.sees == "own", ply), None


def _choice(compiled: Compiled, one: np.ndarray, player: str, sees_own: bool, ply: int) -> np.ndarray:
    """What a player of the game does in a state, STATE[1], given what the seat to move may see."""
    seat = int(one["turn"][0])
    return compiled.choices(
        compiled.blanked(one, seat) if sees_own else compiled.worlds(one, seat, 1, ply), player, ply
    )


def _at_ply(state: GameState, ply: int) -> GameState:
    """A copy of a state with another number of moves played, as in a game that has gone round in circles."""
    later = state.copy()
    later["ply"] = ply
    return later


def impossible(moves: np.ndarray) -> np.ndarray:
    """Copies of moves in which one field has a number that few games use: is_legal is asked about any move."""
    names = moves.dtype.names or ()
    found = np.repeat(moves, len(names) * len(IMPOSSIBLE))
    for i, move in enumerate(found):
        move[names[i // len(IMPOSSIBLE) % len(names)]] = IMPOSSIBLE[i % len(IMPOSSIBLE)]
    return found


def _misfit(encoder: PerspectiveEncoder, state: GameState, seat: int, row: np.ndarray) -> str | None:
    """Returns which value of a row does not fit a byte, in words, or None. Only plain Python can tell."""
    if JIT:
        return None
    meant = np.zeros(len(row), np.int64)
    encoder.encode(np.array([state])[0], seat, meant)
    wrong = np.flatnonzero(meant != row)
    return f"writes {meant[wrong[0]]} into a byte (value {wrong[0]})" if len(wrong) else None


def _digest(found: Any) -> str:
    return hashlib.blake2b(np.asarray(found).tobytes(), digest_size=8).hexdigest()
