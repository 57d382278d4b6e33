"""What a law is: a statement about every game, and the function that tests it; and the result of a test."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cardai.conformance.note import note_place
from cardai.conformance.testbed import LawError, Testbed
from cardai.errors import CardaiError
from cardai.table.complaints import Complaints


@dataclass(frozen=True)
class Law:
    """A statement that must be true of every game. `check` raises LawError if it finds that it is not.

    It may return a remark, such as that a game offers nothing to test the law on.
    """

    name: str
    about: str
    check: Callable[[Testbed], str | None]


@dataclass(frozen=True)
class LawResult:
    """The result of testing a law. `problem` is None if it passed, else it names law, variant, seats, seed and ply.

    `tested` is False if the law was left out, since the game had crashed too often before; it has not passed then.
    `remark` says what the law could not test though it passed, or is None.
    """

    law: str
    about: str
    passed: bool
    seconds: float
    problem: str | None
    tested: bool = True
    remark: str | None = None


def law(check: Callable[[Testbed], str | None]) -> Law:
    """Make a law of a function. The law has its name, and the first line of its docstring is the statement."""
    assert check.__doc__ is not None
    return Law(check.__name__, check.__doc__.split("\n")[0].rstrip("."), check)


def tested(law: Law, testbed: Testbed) -> LawResult:
    """Test a law in this process."""
    start = time.perf_counter()
    note_place(testbed.somewhere().partition(", seed")[0], testbed.seed, "unknown")
    problem, remark = _verdict(law, testbed)
    return LawResult(law.name, law.about, problem is None, time.perf_counter() - start, problem, remark=remark)


def _verdict(law: Law, testbed: Testbed) -> tuple[str | None, str | None]:
    """What is wrong with the game, and the law's remark."""
    try:
        with Complaints(testbed.game):
            return None, law.check(testbed)
    except LawError as broken:
        return f"{law.name}: {broken}", None
    except CardaiError as error:
        return f"{law.name}: {testbed.somewhere()}: {error}", None
    except (Exception, SystemExit) as error:  # a game's own Python, such as a layout, may raise anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name} line {place.lineno}"
        return f"{law.name}: {testbed.somewhere()}: {error!r} ({where})", None
