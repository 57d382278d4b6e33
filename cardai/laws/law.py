"""What a law is: a statement about every game, and the function that tests it; and the result of a test."""

import functools
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from cardai.errors import CardaiError, place_of
from cardai.laws.note import note_place
from cardai.laws.testbed import Counted, LawError, Looked, Position, Setup, Stretch, Testbed, Trace, View
from cardai.playing.table.complaints import Complaints

FIRST_ROUND = 0.25  # the share of the time that is spent at most on one turn of each law
TURN = 0.3  # seconds of a further turn

T = TypeVar("T")
Steps = Generator[Looked, None, str | None]
"""A law at work. It says how far it has come before each thing that it looks at, and returns a remark or None."""

Verdict = Literal["holds", "broken", "not tested"]
Cause = Literal["field", "game", "part", "call"]
CAUSES: dict[Cause, str] = {
    "field": "a field is missing",
    "call": "the game crashed or did not return",
    "part": "not in the part that was looked at",
    "game": "nothing of the kind in this game",
}
"""Why laws are not tested. Only the first is a lack: with the field, the laws would see what the rules do."""

NOTHING_HIDDEN = "nothing is hidden in this game"


class NotTested(Exception):
    """A law found nothing to test. The message says why, and for the cause "field" what would make it testable."""

    def __init__(self, why: str, cause: Cause = "game") -> None:
        super().__init__(why)
        self.cause: Cause = cause


@dataclass(frozen=True)
class Law:
    """A statement that must be true of every game. `check` raises LawError if it finds that it is not.

    It is a generator (`Steps`), so that laws can take turns. It raises NotTested if a game offers nothing to test the
    law on, and may return a remark.
    """

    name: str
    about: str
    check: Callable[[Testbed], Steps]


@dataclass(frozen=True)
class LawResult:
    """The result of testing a law.

    `verdict` is "holds", "broken" or "not tested". `why` is "" for a law that holds; for a broken one it names law,
    variant, seats, seed and ply; for one that was not tested it says why not, and `cause` is a key of `CAUSES`, else
    "". A law that looked at nothing never holds. `remark` says what a law that holds left out, or is None. `looked` of
    `total` things were looked at: `what` says which, such as "positions". `cut` is True if the time was over before
    the law had looked at all.
    """

    law: str
    about: str
    verdict: Verdict
    seconds: float
    why: str = ""
    cause: Cause | Literal[""] = ""
    remark: str | None = None
    looked: int = 0
    total: int = 0
    what: str = ""
    cut: bool = False


def law(check: Callable[[Testbed], Steps]) -> Law:
    """Make a law of a function. The law has its name, and the first line of its docstring is the statement."""
    assert check.__doc__ is not None
    return Law(check.__name__, check.__doc__.split("\n")[0].rstrip("."), check)


def need(testbed: Testbed, fields: str) -> None:
    """Raise NotTested for a game that leaves out one of these fields of `Game`, given as names between spaces.

    By `holdings` laws see what other rules do. Other fields claim something themselves.
    """
    for field in fields.split():
        if not testbed.game.get(field):
            if field != "holdings":
                raise NotTested(f"the game has no `{field}`")
            if testbed.hides_something:
                raise NotTested("the game has no `holdings`: with it the laws count the cards of each place", "field")
            raise NotTested(NOTHING_HIDDEN)


def nothing_hidden(testbed: Testbed, why: str) -> NotTested:
    """What a law on hidden things raises that found none of its kind. `why`: the reason in a game that hides others."""
    return NotTested(why if testbed.hides_something else NOTHING_HIDDEN)


def each(
    what: str,
    things: Callable[[Testbed], Iterable[T]],
    needs: str = "",
    none: str = "",
    hidden: bool = False,
    least: int = 0,
) -> Callable[[Callable[[T], object]], Law]:
    """Make a law of a function that tests one thing; `what` are these things in the plural.

    The function returns False if the thing offers nothing to test. If all do, the law was not tested, and `none` says
    what there was none of, in a sentence: f"the game has no {what}" if not given. Nor was it tested in a game that
    leaves out a field of `Game` that the law `needs` (names between spaces). A law on what is `hidden` was not tested
    if it holds in a game that hides nothing. `least`: as for `Looked`.
    """

    def make(check: Callable[[T], object]) -> Law:
        @functools.wraps(check)
        def steps(testbed: Testbed) -> Steps:
            need(testbed, needs)
            tested = False
            for thing in (seen := Counted(things(testbed), what, least)):
                yield seen
                tested |= check(thing) is not False
            if not tested or (hidden and not testbed.hides_something):
                why = none or f"the game has no {what}"
                raise nothing_hidden(testbed, why) if hidden else NotTested(why)

        return law(steps)

    return make


def each_position(effort: str, **how: Any) -> Callable[[Callable[[Position], object]], Law]:
    """Make a law of a function that tests a position. `effort`: the field of `Effort` with their number."""
    return each("positions", lambda testbed: testbed.positions(getattr(testbed.effort, effort)), **how)


def each_view(effort: str, **how: Any) -> Callable[[Callable[[View], object]], Law]:
    """Make a law of a function that tests a position as one seat sees it. `effort`: as for `each_position`."""
    return each("views", lambda testbed: testbed.views(getattr(testbed.effort, effort)), **how)


def each_stretch(**how: Any) -> Callable[[Callable[[Stretch], object]], Law]:
    """Make a law of a function that tests some plies of a game in a row as one seat sees them."""
    return each("stretches of games", Testbed.stretches, **how)


def each_game(needs: str = "", **how: Any) -> Callable[[Callable[[Trace], object]], Law]:
    """Make a law of a function that tests a game that was played."""
    return each("games", lambda testbed: testbed.mixed(testbed.traces), needs, **how)


def each_end(needs: str = "", **how: Any) -> Callable[[Callable[[Trace], object]], Law]:
    """Make a law of a function that tests a game that was played, or steered to a rare end."""
    games = each("games", lambda testbed: testbed.games_and_rare_ends, needs, **how)

    def make(check: Callable[[Trace], object]) -> Law:
        return games(functools.wraps(check)(lambda game: False if (trace := game()) is None else check(trace)))

    return make


def each_table(needs: str = "", **how: Any) -> Callable[[Callable[[Testbed, Setup], object]], Law]:
    """Make a law of a function that tests a variant with a number of seats."""
    tables = each("tables", lambda testbed: [(testbed, setup) for setup in testbed.setups], needs, **how)
    return lambda check: tables(functools.wraps(check)(lambda table: check(*table)))


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
    end, first = time.process_time() + seconds, FIRST_ROUND * seconds / max(1, len(laws))
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
        return self.last.done / max(1, self.last.total) if self.last else 0.0

    def go_on(self, seconds: float, end: float) -> None:
        """Test the law for some seconds, but not beyond the time `end`, and until it has looked at its least amount.

        After `end`, unless this is its first turn, it looks at nothing more and comes to its conclusion.
        """
        start = time.process_time()
        concludes = start >= end and self.seconds > 0
        note_place(self.testbed.somewhere().partition(", seed")[0], self.testbed.seed, "unknown")
        while self.result is None:
            if concludes and self.last is not None:
                self.looked = self.looked or self.last
                self.last.enough = True
            self._step()
            now = time.process_time()
            enough = self.last is None or self.last.done >= self.last.least
            if enough and not concludes and (now - start >= seconds or now >= end):
                break

    def _step(self) -> None:
        start, remark = time.process_time(), None
        verdict: Verdict = "broken"
        why, cause = "", ""
        try:
            with Complaints(self.testbed.game):
                self.last = next(self.steps)
                return
        except StopIteration as done:
            verdict, remark = "holds", done.value
        except NotTested as nothing:
            verdict, why, cause = "not tested", str(nothing), nothing.cause
        except LawError as broken:
            why = str(broken)
        except CardaiError as error:
            why = f"{self.testbed.somewhere()}: {error}"
        except (Exception, SystemExit) as error:  # a game's own Python, such as a layout, may raise anything
            why = f"{self.testbed.somewhere()}: {error!r}{place_of(error)}"
        finally:
            self.seconds += time.process_time() - start
        looked = self.looked or self.last or Looked(0, "")
        is_whole = verdict == "broken" or why == NOTHING_HIDDEN
        cut = not is_whole and looked.enough and looked.done < looked.total
        if verdict == "holds" and not looked.done:
            missed = f"the time was over before any {looked.what}" if cut else ""
            verdict, why, cause = "not tested", missed or f"the game has no {looked.what or 'such thing'}", "game"
        self.result = LawResult(
            law=self.law.name,
            about=self.law.about,
            verdict=verdict,
            seconds=self.seconds,
            why=f"{self.law.name}: {why}" if verdict == "broken" else why,
            cause="part" if cut and cause == "game" else cause,
            remark=remark,
            looked=looked.done,
            total=looked.total if cut else looked.done,
            what=looked.what,
            cut=cut,
        )
