"""The laws every game keeps, and the kit that checks them: `cardai check GAME`, or `check(game)`.

A law is a function on a `Testbed`: games of every variant and seat count, played natively and laid out state by state.
It returns nothing when the law holds and raises `LawError`, which says where and what, when it does not. Hidden
information is judged by *views*: all a seat is shown (every encoder's row, the text, its own moves). What a law
compares in bulk it compares on blocks of records in compiled code (`compiled`); only text goes position by position.

The laws are in `play`, `moves`, `records`, `views`, `worlds`, `knowledge`, `answers` and `plain`, which are the
sections of `docs/conformance.md`.
"""

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cardai.conformance import knowledge, moves, outputs, plain_python, play, states, views, worlds
from cardai.conformance.law import Law
from cardai.conformance.testbed import EFFORTS, LawError, Testbed
from cardai.errors import CardaiError, unknown
from cardai.game import Game
from cardai.table.complaints import Complaints

__all__ = ["EFFORTS", "LAWS", "Law", "LawError", "LawResult", "check"]

LAWS: dict[str, Law] = {
    law.name: law
    for module in (play, moves, states, views, worlds, knowledge, outputs, plain_python)
    for law in vars(module).values()
    if isinstance(law, Law)
}
"""Every law by its name, in the order they are checked."""


@dataclass(frozen=True)
class LawResult:
    """What became of one law: `problem` is None, or names law, variant, seats, seed, ply and what was wrong."""

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
    """Try the laws on a game, all or those named; `progress` is called with (law, laws done, laws in all).

    `effort` is "quick", "normal" (under a minute for every game here) or "thorough". The same seed looks at the same
    games. Raises CardaiError for an unknown law or effort.
    """
    if effort not in EFFORTS:
        raise CardaiError(unknown("effort", effort, EFFORTS))
    for name in laws or ():
        if name not in LAWS:
            raise CardaiError(unknown("law", name, LAWS))
    chosen = [LAWS[name] for name in (LAWS if laws is None else laws)]
    testbed = Testbed(game, seed, EFFORTS[effort])
    verdicts = []
    for done, law in enumerate(chosen):
        if progress:
            progress(law.name, done, len(chosen))
        start = time.perf_counter()
        problem = _problem(law, testbed)
        verdicts.append(LawResult(law.name, law.about, problem is None, time.perf_counter() - start, problem))
    if progress:
        progress("", len(chosen), len(chosen))
    return verdicts


def _problem(law: Law, testbed: Testbed) -> str | None:
    try:
        with Complaints(testbed.game):
            law.check(testbed)
    except LawError as broken:
        return f"{law.name}: {broken}"
    except CardaiError as error:
        return f"{law.name}: {testbed.somewhere()}: {error}"
    except Exception as error:  # a game's own Python, a layout say, may raise anything: that is the finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{law.name}: {testbed.somewhere()}: {error!r} ({Path(place.filename).name} line {place.lineno})"
    return None
