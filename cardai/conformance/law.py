"""What a law is: a fact about every game, with the check that raises `LawError` where it does not hold."""

from collections.abc import Callable
from dataclasses import dataclass

from cardai.conformance.testbed import Testbed


@dataclass(frozen=True)
class Law:
    """A fact that holds for every game; `check` raises LawError where it does not."""

    name: str
    about: str
    check: Callable[[Testbed], None]


def law(check: Callable[[Testbed], None]) -> Law:
    """Make a law of a function: its name is the law's, the first line of its docstring is the fact."""
    assert check.__doc__ is not None
    return Law(check.__name__, check.__doc__.split("\n")[0].rstrip("."), check)
