"""What a law is: a statement about every game, and the function that tests it; and the result of a test."""

import functools
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cardai.conformance.note import Barred, note_place
from cardai.conformance.testbed import Counted, LawError, Looked, Position, Setup, Testbed, Trace, View
from cardai.errors import CardaiError, place_of
from cardai.table.complaints import Complaints

FIRST_ROUND = 0.25  # the share of the time that is spent at most on one turn of each law
TURN = 0.3  # seconds of a further turn

T = TypeVar("T")
Steps = Generator[Looked, None, str | None]
"""A law at work. It says how far it has come before each thing that it looks at, and returns a remark or None."""


@dataclass(frozen=True)
class Law:
    """A statement that must be true of every game. `check` raises LawError if it finds that it is not.

    It is a generator (`Steps`), so that laws can take turns. It may return a remark, such as that a game offers nothing
    to test the law on.
    """

    name: str
    about: str
    check: Callable[[Testbed], Steps]


@dataclass(frozen=True)
class LawResult:
    """The result of testing a law. `problem` is None if it passed, else it names law, variant, seats, seed and ply.

    `tested` is False if the law was left out, since a function that it calls does not end, or since the game had
    crashed too often before; it has not passed then. `remark` says what the law could not test though it passed, or is
    None. `looked` of `total` things were looked at: `what` says which, such as "positions". `cut` is True if the time
    was over before the law had looked at all.
    """

    law: str
    about: str
    passed: bool
    seconds: float
    problem: str | None
    tested: bool = True
    remark: str | None = None
    looked: int = 0
    total: int = 0
    what: str = ""
    cut: bool = False


def law(check: Callable[[Testbed], Steps]) -> Law:
    """Make a law of a function. The law has its name, and the first line of its docstring is the statement."""
    assert check.__doc__ is not None
    return Law(check.__name__, check.__doc__.split("\n")[0].rstrip("."), check)


def each(
    what: str, things: Callable[[Testbed], Iterable[T]], needs: str = "", untested: str | None = None, least: int = 0
) -> Callable[[Callable[[T], object]], Law]:
    """Make a law of a function that tests one thing; `what` are these things in the plural.

    A game that leaves out a field of `Game` that the law `needs` (names between spaces) is not tested. `untested`: a
    remark for the case that the function returns True of none. `least`: as for `Looked`.
    """

    def make(check: Callable[[T], object]) -> Law:
        @functools.wraps(check)
        def steps(testbed: Testbed) -> Steps:
            if not all(getattr(testbed.game, field) for field in needs.split()):
                return None
            tested = 0
            for thing in (seen := Counted(things(testbed), what, least)):
                yield seen
                tested += check(thing) is True
            return None if tested else untested

        return law(steps)

    return make


def each_position(effort: str, needs: str = "") -> Callable[[Callable[[Position], object]], Law]:
    """Make a law of a function that tests a position. `effort`: the field of `Effort` with their number."""
    return each("positions", lambda testbed: testbed.positions(getattr(testbed.effort, effort)), needs)


def each_view(effort: str, needs: str = "", least: int = 0) -> Callable[[Callable[[View], object]], Law]:
    """Make a law of a function that tests a position as one seat sees it. `effort`: as for `each_position`."""
    return each("views", lambda testbed: testbed.views(getattr(testbed.effort, effort)), needs, least=least)


def each_game(needs: str = "", untested: str | None = None) -> Callable[[Callable[[Trace], object]], Law]:
    """Make a law of a function that tests a game that was played."""
    return each("games", lambda testbed: testbed.mixed(testbed.traces), needs, untested)


def each_table(check: Callable[[Testbed, Setup], object]) -> Law:
    """Make a law of a function that tests a variant with a number of seats."""
    tables = each("tables", lambda testbed: [(testbed, setup) for setup in testbed.setups])
    return tables(functools.wraps(check)(lambda table: check(*table)))


def at_once(steps: Generator[object, None, T]) -> T:
    """What a generator returns, run to its end: for a second sample, which is taken whole."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def take_turns(
    laws: Sequence[Law], testbed: Testbed, seconds: float, begins: Callable[[Law], None]
) -> Iterator[LawResult]:
    """Test laws in this process, and give each result as soon as it is known. `begins` is called before each turn.

    Each law looks at its least amount (`Looked.least`), and at more while its first turn lasts. What is left of
    the `seconds` goes in short turns to the law of which the least has been seen: the share that it has looked at,
    times the seconds that it took, is smallest. So cheap laws are tested whole, and a law that would take four times as
    long as another gets twice its time. A law goes through its things in an order that does not depend on the time.
    """
    end, first = time.perf_counter() + seconds, FIRST_ROUND * seconds / max(1, len(laws))
    at_work = [_Task(law, testbed) for law in laws]
    while at_work:
        task = min(at_work, key=lambda task: (task.seconds > 0, task.share * task.seconds))
        begins(task.law)
        task.go_on(TURN if task.seconds else first, end)
        if task.result:
            at_work.remove(task)
            yield task.result


class _Task:
    """A law that is being tested. `result` is None until it has been."""

    def __init__(self, law: Law, testbed: Testbed) -> None:
        self.law, self.testbed, self.seconds, self.result = law, testbed, 0.0, None
        self.steps = law.check(testbed)
        self.last: Looked | None = None  # how far the law has come, with what it looks at now
        self.looked: Looked | None = None  # the same where the law was cut first

    @property
    def share(self) -> float:
        """The share of things that have been looked at."""
        return self.last.done / max(1, self.last.total) if self.last else 0.0

    def go_on(self, seconds: float, end: float) -> None:
        """Test the law for some seconds, but not beyond the time `end`, and until it has looked at its least amount.

        After `end`, unless this is its first turn, it looks at nothing more and comes to its conclusion.
        """
        start = time.perf_counter()
        concludes = start >= end and self.seconds > 0
        note_place(self.testbed.somewhere().partition(", seed")[0], self.testbed.seed, "unknown")
        while self.result is None:
            if concludes and self.last is not None:
                self.looked = self.looked or self.last
                self.last.enough = True
            self._step()
            now = time.perf_counter()
            enough = self.last is None or self.last.done >= self.last.least
            if enough and not concludes and (now - start >= seconds or now >= end):
                break

    def _step(self) -> None:
        """Let the law look at one thing more, or conclude."""
        start, tested = time.perf_counter(), True
        problem = remark = None
        try:
            with Complaints(self.testbed.game):
                self.last = next(self.steps)
                return
        except StopIteration as done:
            remark = done.value
        except Barred as barred:
            problem, tested = f"not tested, since {barred}", False
        except LawError as broken:
            problem = str(broken)
        except CardaiError as error:
            problem = f"{self.testbed.somewhere()}: {error}"
        except (Exception, SystemExit) as error:  # a game's own Python, such as a layout, may raise anything
            problem = f"{self.testbed.somewhere()}: {error!r}{place_of(error)}"
        finally:
            self.seconds += time.perf_counter() - start
        looked = self.looked or self.last or Looked(0, "")
        cut = problem is None and looked.enough and looked.done < looked.total
        self.result = LawResult(
            law=self.law.name,
            about=self.law.about,
            passed=problem is None,
            seconds=self.seconds,
            problem=None if problem is None else f"{self.law.name}: {problem}",
            tested=tested,
            remark=remark,
            looked=looked.done,
            total=looked.total if cut else looked.done,
            what=looked.what,
            cut=cut,
        )
