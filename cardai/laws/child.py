"""Laws in a process of their own: a game that crashes, hangs or eats memory ends that process, and is told of.

The parent forks a child, which tests the laws one after another and sends each result through a pipe. Before each call
into the game the child writes a `Note` of it. The parent watches: a child that dies, that makes no further call for too
long, or whose memory grows too far, breaks the law that it was testing; the others go on in a new child.

The time of a call is what processors spend on it, and what it sleeps: waiting for a processor or a disk, as on a busy
machine, does not count, nor does compiling.

The child is forked, not started anew, so that it has the game as it is, also one that no other process could import,
and its compiled rules.
"""

import contextlib
import faulthandler
import json
import os
import re
import resource
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from cardai.errors import short
from cardai.laws.law import Law, LawResult, take_turns
from cardai.laws.note import Note, use_note
from cardai.laws.testbed import Testbed
from cardai.rules import JIT

MOST_DEATHS = 3  # children that die before the remaining laws are left out
_GLANCE = 0.05  # seconds between two looks at the child
_PYTHON = str(Path(os.__file__).parent)
_TREE = str(Path(__file__).parents[1])  # the core, whose lines are not the game's


class Died(Exception):
    """The child ended, or was ended, while it tested a law. The message says where and how."""


def test_all(
    laws: Sequence[Law],
    testbed: Testbed,
    seconds: float,
    call_seconds: float,
    memory: float,
    report: Callable[[LawResult], None],
    begins: Callable[[Law], None],
) -> None:
    """Test laws in child processes, in about so many seconds. `call_seconds`, `memory`: as for `check`.

    `report` is called with each result as soon as it is known, and `begins` with a law when it is its turn.
    """
    waiting, deaths = {law.name: law for law in laws}, 0
    end = time.monotonic() + seconds
    while waiting and deaths < MOST_DEATHS:
        left = max(0.0, end - time.monotonic())
        with contextlib.closing(_Child([*waiting.values()], testbed, left, (call_seconds, memory))) as child:
            law, start = next(iter(waiting.values())), time.monotonic()
            try:
                while waiting:
                    event = child.next_event()
                    if isinstance(event, LawResult):
                        del waiting[event.law]
                        report(event)
                    else:
                        law, start = waiting[event], time.monotonic()
                        begins(law)
            except Died as died:
                del waiting[law.name]
                report(LawResult(law.name, law.about, "broken", time.monotonic() - start, f"{law.name}: {died}"))
                deaths += 1
    for law in waiting.values():
        why = f"the game ended {deaths} laws before it by crashing or not returning"
        report(LawResult(law.name, law.about, "not tested", 0.0, why, "call"))


class _Child:
    """A child process that tests laws, and the parent's end of the pipe to it. `close` kills it.

    `limits`: the most seconds of a call, and GiB.
    """

    def __init__(self, laws: Sequence[Law], testbed: Testbed, seconds: float, limits: tuple[float, float]) -> None:
        sys.stdout.flush()  # or the child would print it again; first, since it may fail
        sys.stderr.flush()
        (self.call_seconds, self.most_memory), self.note = limits, Note()
        # What runs when the parent asks: in the child, and in plain Python if the child has started it.
        self.traces = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self.results, sending = os.pipe()
        ending, self.lifeline = os.pipe()
        # No Ctrl-C between the fork and the line that knows the child. Forking beside the threads of others is safe
        # here: the child calls none of them.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.pid = os.fork()
            if self.pid == 0:
                os.close(self.results)
                os.close(self.lifeline)
                self._serve(laws, testbed, seconds, sending, ending)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(sending)
        os.close(ending)
        self.received, self.status = b"", None
        self.usage = _Usage(self.pid)

    def close(self) -> None:
        self._signal(signal.SIGKILL)
        if self.status is None:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
        os.close(self.results)
        os.close(self.lifeline)
        for trace in self.traces:
            trace.close()
        self.note.close()

    def next_event(self) -> LawResult | str:
        """Wait for a result, or for the name of a law whose turn has begun. Raises Died if there will be none."""
        poll = select.poll()
        poll.register(self.results, select.POLLIN)
        calls, before, slept = -1, 0.0, 0.0  # `before`: the seconds of processors when the last call began
        while True:
            line, found, rest = self.received.partition(b"\n")
            if found:
                self.received = rest
                return _read(line)
            if poll.poll(1000 * _GLANCE):
                if self._receive():
                    continue
                time.sleep(_GLANCE)  # the child has closed the pipe: it has ended or is about to
            if self._has_ended():
                if b"\n" in self.received:
                    continue
                raise Died(self._how_it_ended())
            last, (noted, paused, _) = self.usage.seconds, self.note.read()
            self.usage.look()
            if noted != calls or paused:
                calls, before, slept = noted, self.usage.seconds, 0.0
            elif self.usage.sleeps and self.usage.seconds == last:
                slept += _GLANCE
            self._watch(self.usage.seconds - before + slept)

    def _receive(self) -> bool:
        """Take what the child has sent. Returns False if there is nothing and will be nothing."""
        data = os.read(self.results, 1 << 16)
        self.received += data
        return bool(data)

    def _watch(self, seconds: float) -> None:
        text = self.note.read()[2]
        if seconds > self.call_seconds:
            raise Died(f"{text} did not come back within {self.call_seconds:g} s{self._line()}")
        if self.usage.grown() > self.most_memory * (1 << 30):
            raise Died(f"{text} took more than {self.most_memory:.3g} GiB of memory{self._line()}")

    def _line(self) -> str:
        """The line of the game's Python that is running, in brackets. Returns "" if compiled code runs."""
        self._signal(signal.SIGUSR1)
        time.sleep(0.3)
        for trace in self.traces:
            trace.seek(0)
            if line := _line_of_the_game(trace.read().decode("utf-8", "replace")):
                return line
        return ""

    def _has_ended(self) -> bool:
        if self.status is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.status = status if pid else None
            if self.status is not None:
                while self._receive():
                    pass
        return self.status is not None

    def _how_it_ended(self) -> str:
        assert self.status is not None
        return f"{self.note.read()[2]} {ending_in_words(os.waitstatus_to_exitcode(self.status))}"

    def _signal(self, number: int) -> None:
        for send in (os.killpg, os.kill):  # the group is there a moment later than the process
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send(self.pid, number)
                return

    def _serve(self, laws: Sequence[Law], testbed: Testbed, seconds: float, results: int, ending: int) -> None:
        """Test laws, send the results and end the process. Runs in the child and never returns."""
        code = 70
        try:
            os.setpgid(0, 0)  # a group of its own, so that the processes that it starts end with it
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})  # is for the main thread, not for this one
            threading.Thread(target=_end_with, args=(ending,), daemon=True).start()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # who asks at the keyboard is not answered
            faulthandler.disable()
            use_note(self.note, *(trace.fileno() for trace in self.traces))
            if JIT:
                from cardai.rules.compiling import Watcher

                Watcher(lambda _: self.note.write(more=1), lambda: self.note.write(more=-1))

            def send(event: object) -> None:
                _send(results, json.dumps(event).encode() + b"\n")

            for result in take_turns(laws, testbed, seconds, lambda law: send(law.name)):
                send(asdict(result))
            code = 0
        except BaseException:  # a fault of the kit: nothing above this frame may run in the child
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)


def _line_of_the_game(stack: str) -> str:
    """The innermost line of a stack in brackets, unless it is the core's. Python's and other packages' do not count."""
    for file, line in re.findall(r'File "(.+?)", line (\d+)', stack):
        if file.startswith(_TREE):
            return ""
        if "site-packages" not in file and not file.startswith((_PYTHON, "<")):
            return f" ({Path(file).name} line {line})"
    return ""


def _read(line: bytes) -> LawResult | str:
    try:
        read = json.loads(line)
        return read if isinstance(read, str) else LawResult(**read)
    except (ValueError, TypeError) as error:
        raise Died(f"the game overwrote memory: the result arrived as {short(line)}") from error


def ending_in_words(code: int) -> str:
    """How a process ended, by its exit status, negative for a signal: "crashed (SIGSEGV)"."""
    if code >= 0:
        return f"ended the process with exit status {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return "was killed from outside, perhaps for want of memory" if name == "SIGKILL" else f"crashed ({name})"


def _end_with(ending: int) -> None:
    """Kill this process and those that it started when the parent has ended, and with it the pipe's other end."""
    os.read(ending, 1)
    os.killpg(0, signal.SIGKILL)


def _send(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


class _Usage:
    """What a process, the first of its group, and those that it started use. `look` looks again.

    `memory`: in bytes. `seconds`: of processors. `sleeps`: whether no thread runs, or waits for a processor or a disk.
    """

    def __init__(self, pid: int) -> None:
        self.pid, self.memory, self.seconds, self.sleeps = pid, 0, 0.0, False
        self.look()
        self.first = self.memory

    def grown(self) -> int:
        return self.memory - self.first

    def look(self) -> None:
        """Look again. What cannot be told, since a process has just ended, stays as it was."""
        with contextlib.suppress(OSError):
            self._look()

    def _look(self) -> None:
        (own, own_states), *others = _processes_from(str(self.pid))
        # A process that has only just begun still shares its parent's memory (vfork): that is counted once.
        counted = [own, *(other for other, _ in others if other[_SIZE] != own[_SIZE])]
        self.memory = sum(int(stat[_PAGES]) for stat in counted) * resource.getpagesize()
        ticks = sum(int(number) for stat, _ in ((own, ""), *others) for number in stat[_TICKS])
        self.seconds = ticks / os.sysconf("SC_CLK_TCK")
        self.sleeps = _WORKING.isdisjoint(own_states + "".join(states for _, states in others))


_WORKING = frozenset("RD")  # runs or waits for a processor, and waits for a disk
_TICKS, _SIZE, _PAGES = slice(11, 15), 20, 21  # in /proc/PID/stat behind the name; ended processes it waited for count


def _processes_from(pid: str) -> Iterator[tuple[list[str], str]]:
    """A process and all that it started, by Linux: what /proc/PID/stat says behind the name, its threads' states."""
    stat, threads = _stat(Path("/proc", pid)), [*Path("/proc", pid, "task").iterdir()]
    yield stat, "".join(_stat(thread)[0] for thread in threads)
    for thread in threads:
        for child in (thread / "children").read_text().split():
            yield from _processes_from(child)


def _stat(place: Path) -> list[str]:
    return (place / "stat").read_text().rpartition(")")[2].split()
