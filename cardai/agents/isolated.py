"""Python agents in a process of their own, which is sent worlds, or an evaluator's rows, and nothing else.

A Python function in the same process can look at anything that the interpreter holds: the true state, the seeds, the
other agents. `Process` runs it elsewhere. What crosses is bytes of known lengths; nothing is unpickled. It is a wall
for what an agent may know, not a sandbox: the process has the rights of the user who started it.

A frame is one byte, the length of what follows as i64, and so many bytes. To the process go START, MOVES, SCORES and
FITS, from it come ANSWER and FAILED.
"""

import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from cardai.agents.evaluator import MOMENTS
from cardai.agents.function import FunctionEvaluator
from cardai.agents.own_code import evaluator_at, function_at
from cardai.agents.strategy import AgentFailed
from cardai.errors import BadArgument, CardaiError, place_of, positive, short, unknown
from cardai.files.reading import parse_json
from cardai.game import Game
from cardai.kernel.doors import check_text
from cardai.registry import load

START, MOVES, SCORES, FITS = b"i", b"m", b"s", b"f"
ANSWER, FAILED = b"a", b"e"
_MOST_TEXT = 10_000  # bytes of a message that are read
_HEAD = struct.Struct("<cq")


class Process:
    """A Python function or evaluator, named MODULE:OBJECT, in a process of its own.

    `role`: "agent" or "evaluator". `game_name`: what `cardai.registry.load` is given there. Raises CardaiError if the
    object cannot be imported, or is no function or evaluator. The process ends with the object.
    """

    def __init__(self, spec: str, target: str, role: str, game_name: str) -> None:
        self.spec = spec
        self._lock = threading.Lock()
        paths = [entry or str(Path.cwd()) for entry in sys.path]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cardai.agents.isolated"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True,
        )  # fmt: skip
        self._end = weakref.finalize(self, _end, self._process)
        request = {"spec": spec, "target": target, "role": role, "game": game_name}
        about = self.ask(START, json.dumps(request).encode(), None)
        try:
            self.about: Any = parse_json(about)
        except ValueError:
            raise _unreadable(spec) from None

    def ask(self, kind: bytes, content: bytes, expected: int | None) -> bytes:
        """Send a frame and return the answer. `expected`: its length in bytes; None: a text of any length.

        Raises AgentFailed or CardaiError, as the process says, and CardaiError if it has ended or answers otherwise.
        """
        with self._lock:
            assert self._process.stdin
            assert self._process.stdout
            try:
                self._process.stdin.write(_HEAD.pack(kind, len(content)) + content)
                self._process.stdin.flush()
                answer, length = _HEAD.unpack(_read(self._process.stdout, _HEAD.size))
                is_text = expected is None or answer == FAILED
                if answer not in (ANSWER, FAILED) or length not in (range(_MOST_TEXT + 1) if is_text else (expected,)):
                    self._end()  # what follows cannot be told from an answer
                    raise CardaiError(f"agent {self.spec!r}: its process sent {length} bytes that nobody asked for")
                content = _read(self._process.stdout, length)
                if answer == FAILED:
                    raise _failure(content, self.spec)
                return content
            except (OSError, EOFError, struct.error):
                self._end()
                code = self._process.returncode
                raise CardaiError(f"agent {self.spec!r}: its process has ended (exit status {code})") from None


def _failure(text: bytes, spec: str) -> CardaiError:
    """The exception that a message of the process stands for."""
    try:
        content = parse_json(text)
        sentence, place = str(content["message"]), content["place"]
    except (ValueError, KeyError, TypeError):
        return _unreadable(spec)
    return AgentFailed(sentence, place) if isinstance(place, int) else CardaiError(sentence)


def _unreadable(spec: str) -> CardaiError:
    return CardaiError(f"agent {spec!r}: its process sent a message that cannot be read")


def _read(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) != count:
        raise EOFError
    return content


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            with contextlib.suppress(OSError):  # what was not sent yet is lost with the process
                stream.close()


def moves_of(process: Process) -> Callable[[Game, np.ndarray], np.ndarray]:
    """The function for many tables that asks a process for the moves in STATE[n] worlds: MOVE[n]."""

    def choose(game: Game, worlds: np.ndarray) -> np.ndarray:
        size = len(worlds) * game.move.itemsize
        try:
            answer = process.ask(MOVES, np.ascontiguousarray(worlds).tobytes(), size)
        except AgentFailed as failure:
            if not 0 <= failure.place < len(worlds):  # the process names a world that it was not sent
                raise _unreadable(process.spec) from None
            raise
        return np.frombuffer(answer, game.move).copy()

    return choose


class IsolatedEvaluator(FunctionEvaluator):
    """An evaluator of `game` in a process of its own, which is sent rows.

    Raises CardaiError if the process says of its evaluator what cannot be.
    """

    is_foreign = is_isolated = True

    def __init__(self, game: Game, process: Process) -> None:
        about = process.about

        def asked(rows: np.ndarray) -> np.ndarray:
            content = rows.shape[1].to_bytes(8, "little") + np.ascontiguousarray(rows).tobytes()
            return np.frombuffer(process.ask(SCORES, content, 8 * len(rows)), np.float64)

        def check(variant: str | None, seats: int) -> None:
            process.ask(FITS, json.dumps([variant, seats]).encode(), 0)

        try:
            name, encoder, moment = (check_text(key, about[key]) for key in ("name", "encoder", "moment"))
            seats = None if about["seats"] is None else positive("seats", about["seats"])
            batch = positive("batch", about["batch"])
            game.encoder(encoder)
            if moment not in MOMENTS:
                raise BadArgument(unknown("moment", moment, MOMENTS))
        except (KeyError, TypeError):
            raise _unreadable(process.spec) from None
        except CardaiError as error:
            raise CardaiError(f"agent {process.spec!r}: its evaluator: {error}") from None
        super().__init__(game, name, asked, encoder, moment, batch, seats)
        object.__setattr__(self, "_check", check)

    _check: Callable[[str | None, int], None]

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it is asked about the game it was made for, and as the evaluator itself does."""
        super().check_fits(game, variant, seats)
        self._check(variant, seats)


# The process itself.


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer frames until the source ends."""
    request: dict[str, Any] = {}
    game: Any = None
    thing: Any = None
    while head := source.read(_HEAD.size):
        kind, length = _HEAD.unpack(head)
        content = source.read(length)
        try:
            if kind == START:
                request = parse_json(content)
                game = load(request["game"])
                thing, answer = _made(game, request["spec"], request["target"], request["role"])
            elif kind == MOVES:
                answer = np.asarray(thing(game, np.frombuffer(content, game.state).copy()), game.move).tobytes()
            elif kind == SCORES:
                rows = np.frombuffer(content, np.uint8, offset=8).reshape(-1, int.from_bytes(content[:8], "little"))
                answer = np.asarray(thing.score(rows)).astype(np.float64).tobytes()
            else:
                thing.check_fits(game, *parse_json(content))
                answer = b""
            sink.write(_HEAD.pack(ANSWER, len(answer)) + answer)
        except Exception as error:  # anything that somebody's code raises is said to the other side
            message = {"message": _sentence(error, request), "place": getattr(error, "place", None)}
            text = json.dumps(message).encode()
            sink.write(_HEAD.pack(FAILED, len(text)) + text)
        sink.flush()


def _made(game: Game, spec: str, target: str, role: str) -> tuple[Any, bytes]:
    """The function or evaluator of a name, and what the other side is told of it."""
    if role == "agent":
        return function_at(spec, target), b"{}"
    evaluator = evaluator_at(game, spec, target)
    told = {name: getattr(evaluator, name) for name in ("name", "encoder", "moment", "seats", "batch")}
    return evaluator, json.dumps(told).encode()


def _sentence(error: Exception, request: dict[str, Any]) -> str:
    if isinstance(error, CardaiError):
        return str(error)[:1000]
    return f"agent {request.get('spec')!r}: it raised {short(error, 300)}{place_of(error)}"


if __name__ == "__main__":
    frames, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what the agent reads and prints must not get among the frames
    os.dup2(2, 1)
    serve(frames, answers)
