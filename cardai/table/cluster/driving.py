"""Which task goes to which machine, and what happens when a task, a worker or a machine fails. Knows no Ray.

    failures = carry_out(engine, range(100), send, take)

At most `A_CPU` tasks for each processor are out, so that a worker never waits for the driver, and few are lost with a
machine. A task may be played twice: the first answer counts, and another one must be equal.
"""

import hashlib
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cardai.errors import CardaiError
from cardai.table.cluster.work import DONE, REFUSED, Answer

A_CPU = 2
"""The most tasks that are out for each processor."""
MOST_FAILURES = 3
"""How often a task may fail by itself before it is given up."""
MOST_LOSSES = 4
"""How often the worker of a task may end before the task is given up: it is retried three times."""
SLOW, SLOWER = 10.0, 3.0
"""A task is late after so many seconds, and after so many times the median. Then another machine gets it too."""
_HOPELESS = 5  # tasks that were given up before any was done; then the others are not tried
_WAIT = 0.2  # seconds for which events are waited for
_ALONE = 20.0  # seconds without any machine before a run is given up


class ClusterFailed(CardaiError):
    """The cluster cannot go on, or some tasks failed again and again. What was done is kept."""

    exit_code = 1


@dataclass(frozen=True)
class Node:
    """A machine of the cluster: its name in the engine, its host's name, and how many tasks it runs at once."""

    name: str
    host: str
    slots: int


@dataclass(frozen=True)
class Event:
    """What happened to a task: its answer, or None if its worker was lost. `why`: how it was lost."""

    ticket: int
    answer: Answer | None
    why: str = ""


class Machines(Protocol):
    """What carries tasks to machines and brings their answers."""

    def nodes(self) -> Mapping[str, Node]:
        """The machines that are there now, by name."""
        ...

    def events(self, seconds: float) -> Iterable[Event]:
        """What has happened since the last call. Waits until something happens, at most so long."""
        ...

    def cancel(self, ticket: int) -> None:
        """Give a task up."""
        ...


@dataclass
class _Out:
    """A task that is out: its number, the machine and when it was sent."""

    number: int
    node: str
    since: float


@dataclass
class _Course:
    """What has happened to a task so far."""

    failures: int = 0
    losses: int = 0
    why: str = ""
    avoided: set[str] = field(default_factory=set)


def carry_out(
    machines: Machines,
    numbers: Iterable[int],
    send: Callable[[int, str], int],
    take: Callable[[int, Answer], None],
    *,
    must_agree: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> dict[int, str]:
    """Have the tasks of some numbers done. Returns those that failed again and again, each with the reason.

    `send(number, node)` sends a task to a machine and returns its ticket. `take(number, answer)` is called once for
    each task that is done, in any order. `must_agree`: two answers to one task must be equal.

    Raises ClusterFailed if no machine is left, if all machines refuse, and if two answers to one task differ.
    """
    drive = _Drive(machines, deque(numbers), send, take, must_agree, clock)
    try:
        drive.until_all_ended()
    finally:
        for ticket in drive.out:
            machines.cancel(ticket)
    return drive.failed


class _Drive:
    def __init__(
        self,
        machines: Machines,
        waiting: deque[int],
        send: Callable[[int, str], int],
        take: Callable[[int, Answer], None],
        must_agree: bool,
        clock: Callable[[], float],
    ) -> None:
        self.machines, self.waiting, self.send, self.take = machines, waiting, send, take
        self.must_agree, self.clock = must_agree, clock
        self.left = set(waiting)
        self.out: dict[int, _Out] = {}  # by ticket
        self.courses: dict[int, _Course] = {}
        self.done: dict[int, bytes] = {}  # a digest of the answer, if another one may come
        self.failed: dict[int, str] = {}
        self.refused: dict[str, str] = {}  # machines that may not play, with the reason
        self.seconds: deque[float] = deque(maxlen=1000)  # how long tasks were out
        self.seen = clock()  # when there was a machine last

    def until_all_ended(self) -> None:
        while self.left:
            nodes = {name: node for name, node in self.machines.nodes().items() if name not in self.refused}
            self._check(nodes)
            self._double_late(nodes)
            self._send_waiting(nodes)
            for event in self.machines.events(_WAIT):
                self._hear(event)
            if len(self.failed) >= _HOPELESS and not self.done:
                for number in self.left:
                    self.failed[number] = "it was not tried, since all before it failed"
                return

    def _check(self, nodes: Mapping[str, Node]) -> None:
        """Take back the tasks of machines that have gone. Raise ClusterFailed if none has been there for a while."""
        for ticket, out in list(self.out.items()):
            if out.node not in nodes:
                del self.out[ticket]
                self.machines.cancel(ticket)
                self._again(out.number)
        if nodes:
            self.seen = self.clock()
        elif self.refused:
            raise ClusterFailed(next(iter(self.refused.values())))
        elif self.clock() - self.seen > _ALONE:
            raise ClusterFailed("no machine of the cluster is left; what was finished is kept")

    def _send_waiting(self, nodes: Mapping[str, Node]) -> None:
        for _ in range(len(self.waiting)):
            number = self.waiting.popleft()
            node = self._free(nodes, self.courses.get(number, _Course()).avoided, A_CPU)
            if node is None:
                self.waiting.appendleft(number)
                return
            self._put_out(number, node)

    def _double_late(self, nodes: Mapping[str, Node]) -> None:
        """Send tasks that are late to another machine too: theirs may hang, or be unplugged."""
        if not self.seconds:
            return
        limit, now = max(SLOW, SLOWER * statistics.median(self.seconds)), self.clock()
        copies: dict[int, list[_Out]] = {}
        for out in self.out.values():
            if out.number in self.left:
                copies.setdefault(out.number, []).append(out)
        for number, outs in copies.items():
            if len(outs) == 1 and now - outs[0].since > limit:
                node = self._free(nodes, {outs[0].node}, A_CPU if self.waiting else 1)
                if node is not None:
                    self._put_out(number, node)

    def _free(self, nodes: Mapping[str, Node], avoided: set[str], a_slot: int) -> str | None:
        """The machine with the most room, of those that are not avoided, or of all if all are."""
        allowed = {name: node for name, node in nodes.items() if name not in avoided} or nodes
        load = dict.fromkeys(allowed, 0)
        for out in self.out.values():
            if out.node in load:
                load[out.node] += 1
        room = {name: (a_slot * node.slots - load[name]) / max(node.slots, 1) for name, node in allowed.items()}
        best = max(room, key=room.__getitem__, default=None)
        return best if best is not None and room[best] > 0 else None

    def _put_out(self, number: int, node: str) -> None:
        self.out[self.send(number, node)] = _Out(number, node, self.clock())

    def _hear(self, event: Event) -> None:
        out = self.out.pop(event.ticket, None)
        if out is None:  # of a task that was taken back
            return
        answer, course = event.answer, self.courses.setdefault(out.number, _Course())
        if answer is not None and answer.kind == DONE:
            self._hear_done(out, answer)
        elif answer is not None and answer.kind == REFUSED:
            self.refused[out.node] = answer.text
            self._again(out.number)
        elif answer is not None:
            course.failures, course.why = course.failures + 1, answer.text
            course.avoided.add(out.node)
            self._again(out.number)
        else:
            course.losses, course.why = course.losses + 1, f"its worker ended ({event.why})"
            course.avoided.add(out.node)
            self._again(out.number)

    def _hear_done(self, out: _Out, answer: Answer) -> None:
        copies = out.number in self.done or any(other.number == out.number for other in self.out.values())
        digest = hashlib.blake2b(answer.content, digest_size=16).digest() if copies else b""
        if out.number in self.done:
            if self.must_agree and digest != self.done[out.number]:
                raise ClusterFailed(f"task {out.number} was played twice, with two different results")
            return
        self.seconds.append(self.clock() - out.since)
        self.take(out.number, answer)
        self.done[out.number] = digest
        self.left.discard(out.number)

    def _again(self, number: int) -> None:
        """Have a task tried again, unless it is done, is out once more, or has failed too often."""
        course = self.courses.setdefault(number, _Course())
        if number not in self.left or any(out.number == number for out in self.out.values()):
            return
        if course.failures >= MOST_FAILURES or course.losses >= MOST_LOSSES:
            self.failed[number] = course.why
            self.left.discard(number)
        else:
            self.waiting.appendleft(number)
