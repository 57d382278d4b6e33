"""The laws that every game must keep, and the kit that tests them: `cardai check GAME`, or `check(game)`.

A law is a function that gets a `Testbed`: played games of every variant and number of seats, with all their states. It
raises `LawError`, which says where and what, if it finds the law broken. Laws on hidden information compare *views*:
all that a seat is shown (the row of every encoder, the text, its own legal moves). Most comparisons run on blocks of
states in compiled code (`compiled`); text is compared position by position.

The laws are in `play`, `moves`, `states`, `views`, `worlds`, `knowledge`, `induction`, `outputs` and
`plain_python`. Each of these modules is a section of `docs/conformance.md`.
"""

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cardai.conformance import induction, knowledge, moves, outputs, plain_python, play, states, views, worlds
from cardai.conformance.law import Law
from cardai.conformance.testbed import EFFORTS, LawError, Testbed
from cardai.errors import CardaiError, unknown
from cardai.game import Game
from cardai.table.complaints import Complaints

__all__ = ["EFFORTS", "LAWS", "Law", "LawError", "LawResult", "check"]

LAWS: dict[str, Law] = {
    law.name: law
    for module in (play, moves, states, views, worlds, knowledge, induction, outputs, plain_python)
    for law in vars(module).values()
    if isinstance(law, Law)
}
"""All laws by name, in the order in which they are tested."""


@dataclass(frozen=True)
class LawResult:
    """The result of testing a law. `problem` is None if it passed, else it names law, variant, seats, seed and ply."""

    law: str
    about: str
    passed: bool
    seconds: float
    problem: str | None


def check(
    game: Game,
    *,
    seed: int = 0,
    effort: str = "normal",
    laws: Sequence[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[LawResult]:
    """Test the laws on a game: all of them, or those named in `laws`. Returns a result for each.

    `effort` is "quick", "normal" (under a minute for every game here) or "thorough". The same seed tests the same
    games. `progress` is called with (law, laws done, laws in all). Raises CardaiError for an unknown law or effort.
    """
    if effort not in EFFORTS:
        raise CardaiError(unknown("effort", effort, EFFORTS))
    for name in laws or ():
        if name not in LAWS:
            raise CardaiError(unknown("law", name, LAWS))
    chosen = [LAWS[name] for name in (LAWS if laws is None else laws)]
    testbed = Testbed(game, seed, EFFORTS[effort])
    results = []
    for done, law in enumerate(chosen):
        if progress:
            progress(law.name, done, len(chosen))
        start = time.perf_counter()
        problem = _problem(law, testbed)
        results.append(LawResult(law.name, law.about, problem is None, time.perf_counter() - start, problem))
    if progress:
        progress("", len(chosen), len(chosen))
    return results


def _problem(law: Law, testbed: Testbed) -> str | None:
    try:
        with Complaints(testbed.game):
            law.check(testbed)
    except LawError as broken:
        return f"{law.name}: {broken}"
    except CardaiError as error:
        return f"{law.name}: {testbed.somewhere()}: {error}"
    except Exception as error:  # a game's own Python, such as a layout, may raise anything; the law reports it
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{law.name}: {testbed.somewhere()}: {error!r} ({Path(place.filename).name} line {place.lineno})"
    return None
