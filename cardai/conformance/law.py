"""What a law is: a statement about every game, and the function that tests it."""

from collections.abc import Callable
from dataclasses import dataclass

from cardai.conformance.testbed import Testbed


@dataclass(frozen=True)
class Law:
    """A statement that must be true of every game. `check` raises LawError if it finds that it is not.

    It may return a note on how it was tested, such as that a game offers nothing to test it on.
    """

    name: str
    about: str
    check: Callable[[Testbed], str | None]


def law(check: Callable[[Testbed], str | None]) -> Law:
    """Make a law of a function. The law has its name, and the first line of its docstring is the statement."""
    assert check.__doc__ is not None
    return Law(check.__name__, check.__doc__.split("\n")[0].rstrip("."), check)
