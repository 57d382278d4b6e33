"""A program that plays, in a process of its own: lines of JSON over its standard input and output (docs/protocol.md).

    process = Process("process:./bot", ["./bot"], {"role": "agent", ...})
    answers = process.ask([{"type": "move", ...}, {"type": "move", ...}])

A question has an id, and its answer names that; an answer without an id is to the oldest question that waits. What the
program sends is trusted in nothing: it is a line of bounded length, a JSON object, an answer to a question, in time.
Whatever else it does is said in one sentence, and the process is ended with all that it started.

It is a wall for what an agent may know, not a sandbox: the program has the rights of a user, and no other program gives
it more (`no_new_privs`). The memory of this process is closed to that user (`PR_SET_DUMPABLE`). The administrator reads
any memory, so isolated programs that the administrator starts run as users of their own. `openings` says where the wall
has gaps.
"""

import contextlib
import ctypes
import gc
import itertools
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

from cardai.errors import CardaiError, short
from cardai.files.reading import parse_json_line
from cardai.registry import refuse_in_import

VERSION = 1
"""The version of the protocol."""
SECONDS = 60.0
"""How long a program may take for an answer, if its spec says nothing else; it has as long, or more, to start."""
MOST_SECONDS = 86_400.0
LONGEST_LINE = 1 << 20  # bytes of an answer
_MOST_EXTRA = 100  # requests of a program within one question
_CHUNK = 1 << 18  # bytes that are sent or received at once
_GRACE_SECONDS = 0.5  # a process whose input has been closed has so long to end by itself
_NOT_DUMPABLE, _NO_NEW_PRIVILEGES = (4, 0), (38, 1)  # PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS: <linux/prctl.h>
_USERS = range(61184, 65520)  # users without an account, by the convention of systemd

Extra = Callable[[int, Mapping[str, Any]], Mapping[str, Any] | None]
"""extra(index, answer): what is sent to a program that answers question number `index` by a request, None if it is an
answer."""


class Process:
    """A program in a process of its own.

    `command`: the program and its arguments. `hello`: what it is told first. `seconds`: how long it may take for each
    answer. `user`: the number of the user that it is to run as, which the administrator may choose. `about` is what it
    said of itself. Raises CardaiError if it cannot be started, or does not greet. The process ends with the object.
    """

    def __init__(
        self,
        spec: str,
        command: Sequence[str],
        hello: Mapping[str, Any],
        seconds: float = SECONDS,
        environment: Mapping[str, str] | None = None,
        user: int | None = None,
    ) -> None:
        if sys.platform == "win32":
            raise CardaiError(f"agent {spec!r}: programs and isolated agents do not run on Windows")
        refuse_in_import(f"the agent {spec}, which runs in a process of its own,")
        self.spec = spec
        self._lock, self._numbers, self._tables = threading.Lock(), itertools.count(1), itertools.count(1)
        close_memory()
        self._user = os.geteuid() if user is None else user
        try:
            with ThreadPoolExecutor(1) as starter:  # a thread's own: what it gives up, the others keep
                self._process = starter.submit(_started, command, environment, user).result()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CardaiError(f"agent {spec!r}: cannot start {command[0]!r}: {reason}") from None
        assert self._process.stdin
        assert self._process.stdout
        self._out, self._in = self._process.stdin.fileno(), self._process.stdout.fileno()
        for handle in (self._out, self._in):
            os.set_blocking(handle, False)
        self._unsent, self._unread = bytearray(), bytearray()
        self._end = weakref.finalize(self, _end, self._process)
        _STARTED.add(self)
        self._time, self._deadline = max(seconds, SECONDS), 0.0
        self.about: dict[str, Any] = self.ask([{"type": "hello", "cardai": VERSION, "seconds": seconds, **hello}])[0]
        self._time = seconds
        version = self.about.get("cardai")
        if version != VERSION:
            self._refuse(
                f'it must greet with {{"cardai":{VERSION}}}, the version of the protocol, not {short(version)}'
            )
        if "error" in self.about:
            self._refuse(str(self.about["error"])[:1000])

    def new_table(self) -> int:
        """Return a number that no other table of this process has."""
        return next(self._tables)

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message that needs no answer."""
        with self._lock:
            if self._end.alive:
                self._unsent += _line(message)
                with contextlib.suppress(OSError):  # the next question says what is wrong
                    self._send()

    def ask(
        self, questions: Sequence[Mapping[str, Any]], extra: Extra = lambda index, answer: None
    ) -> list[dict[str, Any]]:
        """Ask questions at once and return the answers, in their order.

        Raises CardaiError if the program breaks the protocol, ends, or answers nothing for its time.
        """
        with self._asking():
            waiting = {self._put(question): index for index, question in enumerate(questions)}
            answers: list[dict[str, Any]] = [{} for _ in waiting]
            extras: dict[int, int] = {}
            self._begin_to_wait()
            while waiting:
                number, answer = self._next(waiting)
                index = waiting[number]
                more = extra(index, answer)
                if more is None:
                    answers[index] = answer
                    del waiting[number]
                    self._begin_to_wait()
                    continue
                extras[index] = extras.get(index, 0) + 1
                if extras[index] > _MOST_EXTRA:
                    self._refuse(f"it asked more than {_MOST_EXTRA} times before it answered")
                self._unsent += _line({**more, "id": number})
            self._refuse_what_came_unasked()
            return answers

    def ask_bytes(self, question: Mapping[str, Any], content: bytes, expected: int) -> bytes | dict[str, Any]:
        """Ask a question with bytes after it. Returns the `expected` number of bytes, or an answer with an error.

        The answer may come in parts, each of them in time. Raises CardaiError as `ask`.
        """
        with self._asking():
            number, received = self._put({**question, "bytes": len(content)}), bytearray()
            self._unsent += content
            self._begin_to_wait()
            while len(received) < expected:
                _, answer = self._next({number: 0})
                if "error" in answer:
                    return answer
                length = answer.get("bytes")
                if type(length) is not int or not 0 < length <= expected - len(received):
                    self._refuse(f"it answered {short(answer)} where {expected - len(received)} bytes were expected")
                while len(self._unread) < length:
                    self._wait()
                received += self._unread[:length]
                del self._unread[:length]
                self._begin_to_wait()
            self._refuse_what_came_unasked()
            return bytes(received)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """A block in which one caller talks with the program. An error in it ends the program."""
        with self._lock:
            if not self._end.alive:
                raise self._ended("output")
            try:
                with contextlib.suppress(BlockingIOError):
                    self._unread += os.read(self._in, _CHUNK)
                self._refuse_what_came_unasked()
                yield
            except BaseException:  # also Ctrl-C: what it answers later would be taken for something else
                self._end()
                raise

    def _put(self, question: Mapping[str, Any]) -> int:
        """Put a question among what is to be sent, and return its number."""
        number = next(self._numbers)
        self._unsent += _line({**question, "id": number})
        return number

    def _begin_to_wait(self) -> None:
        self._deadline = time.monotonic() + self._time

    def _refuse_what_came_unasked(self) -> None:
        if self._unread.strip():
            self._refuse(f"it sent {_shown(self._unread)}, which nobody asked for")

    def _next(self, waiting: Mapping[int, int]) -> tuple[int, dict[str, Any]]:
        """The next answer, and the number of the question that it answers."""
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0 or not self._unread[:end].strip():
            if end >= 0:
                del self._unread[: end + 1]  # an empty line
                searched = 0
                continue
            searched = len(self._unread)
            if searched > LONGEST_LINE:
                break
            self._wait()
        line = bytes(self._unread[:end])
        if not 0 <= end <= LONGEST_LINE:
            self._refuse(f"it sent a line of more than {LONGEST_LINE:,} bytes")
        del self._unread[: end + 1]
        try:
            answer = parse_json_line(line)
        except ValueError as error:
            self._refuse(f"it sent {_shown(line)}: {error}")
        if not isinstance(answer, dict):
            self._refuse(f"it sent {_shown(line)}, which is no JSON object")
        number = answer.get("id", next(iter(waiting)))
        if type(number) is not int or number not in waiting:
            self._refuse(f"it answered question {short(number)}, which does not wait for an answer")
        return number, answer

    def _wait(self) -> None:
        """Send and receive what can be sent and received now."""
        poll = select.poll()
        poll.register(self._in, select.POLLIN)
        if self._unsent:
            poll.register(self._out, select.POLLOUT)
        left = self._deadline - time.monotonic()
        if left <= 0 or not poll.poll(1000 * left):
            self._refuse(f"it did not answer within {self._time:g} s")
        with contextlib.suppress(BlockingIOError):
            received = os.read(self._in, _CHUNK)
            if not received:
                raise self._ended("output")
            self._unread += received
        try:
            self._send()
        except OSError:
            raise self._ended("input") from None

    def _send(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                del self._unsent[: os.write(self._out, self._unsent[:_CHUNK])]

    def _refuse(self, what: str) -> NoReturn:
        self._end()
        raise CardaiError(f"agent {self.spec!r}: {what}")

    def _ended(self, closed: str) -> CardaiError:
        """The error for a program that has ended, or has closed its input or output."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_SECONDS if self._end.alive else 0)
        code, was_alive = self._process.poll(), self._end.alive
        self._end()
        if code is None and was_alive:
            return CardaiError(f"agent {self.spec!r}: it closed its {closed}")
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit status {code}"
        return CardaiError(f"agent {self.spec!r}: its process has ended ({how})")


_STARTED: "weakref.WeakSet[Process]" = weakref.WeakSet()


def started(
    spec: str,
    command: Sequence[str],
    hello: Mapping[str, Any],
    seconds: float,
    environment: Mapping[str, str] | None = None,
    isolate: bool = False,
) -> Process:
    """Start a program. Arguments and errors are those of `Process`.

    `isolate`: if the administrator starts it, it runs as a user of its own. If it does not come to its greeting as
    that, since it cannot read its own files, it runs as the administrator, which `openings` says.
    """
    if isolate and sys.platform == "linux" and os.geteuid() == 0:
        with contextlib.suppress(CardaiError):
            return Process(spec, command, hello, seconds, environment, _unused_user())
    return Process(spec, command, hello, seconds, environment)


def openings() -> list[str]:
    """What programs that run now could read beyond what they are sent: sentences, none if the system forbids it."""
    if _STARTED:
        gc.collect()  # a match that was refused may have left a program to nobody, which ends with its object
    programs, sentences = [process for process in list(_STARTED) if process._end.alive], set()
    for program in programs:
        if _may_read(program._user, os.getpid()):
            user = ", run as root," if program._user == 0 else ""
            sentences.add(f"{program.spec}{user} could read cardai's memory")
            continue
        readable = [one for one in programs if one is not program and _may_read(program._user, one._process.pid)]
        sentences |= {f"{program.spec} could read the memory of {other.spec}" for other in readable}
    return sorted(sentences)


def _may_read(user: int, process: int) -> bool:
    """Whether the system lets a user read the memory and the input of a process."""
    try:  # a closed memory belongs to the administrator
        return user in (0, Path(f"/proc/{process}/mem").stat().st_uid)
    except OSError:  # on systems other than Linux nothing is known
        return True


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _shown(line: bytes | bytearray) -> str:
    return short(line[:1000].strip().split(b"\n")[0].decode("utf-8", "replace"))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, and all that it has started in its session."""
    for stream in (process.stdin, process.stdout):
        if stream:
            with contextlib.suppress(OSError):  # what was not sent yet is lost with the process
                stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)
    with contextlib.suppress(OSError):  # there is nobody left
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _started(
    command: Sequence[str], environment: Mapping[str, str] | None, user: int | None
) -> "subprocess.Popen[bytes]":
    """A program that gains no rights by other programs, such as sudo. Called in a thread that does nothing else."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(*_NO_NEW_PRIVILEGES, 0, 0, 0)
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )


def _unused_user() -> int:
    """A user that no account has, and no process."""
    import pwd  # not on Windows

    used = {account.pw_uid for account in pwd.getpwall()}
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):  # it has just ended
            used.add(entry.stat().st_uid)
    return secrets.choice([user for user in _USERS if user not in used])


def close_memory() -> None:
    """Have the system refuse other processes of this user to read the memory of this one, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(*_NOT_DUMPABLE, 0, 0, 0)
