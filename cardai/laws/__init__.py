"""The laws that every game must keep, and the kit that tests them: `cardai check GAME`, or `check(game)`.

A law is a function that gets a `Testbed`: played games of every variant and number of seats, with all their states. It
raises `LawError`, which says where and what, if it finds the law broken. Laws on hidden information compare *views*:
all that a seat is shown (the row of every encoder, the text, its own legal moves). Most comparisons run on blocks of
states in compiled code (`compiled`); text is compared position by position.

The laws are in `play`, `moves`, `states`, `views`, `worlds`, `evenness`, `knowledge`,
`induction`, `declarations`, `outputs` and `plain_python`. Each of these modules is a section of `docs/conformance.md`.
They run in a process of their own (`child`), so that a game that crashes or hangs breaks a law and nothing else.
"""

import math
import sys
from collections.abc import Callable, Sequence

from cardai.errors import BadArgument, unknown, whole
from cardai.game import Game, is_game
from cardai.game.compiled.doors import check_flag, check_function, check_list, check_number, check_text
from cardai.laws import (
    declarations,
    evenness,
    induction,
    knowledge,
    moves,
    outputs,
    plain_python,
    play,
    states,
    views,
    worlds,
)
from cardai.laws.law import Law, LawResult, take_turns
from cardai.laws.testbed import EFFORTS, LawError, Testbed
from cardai.registry import refuse_in_import

__all__ = ["EFFORTS", "LAWS", "Law", "LawError", "LawResult", "check"]

_SECTIONS = (
    play, moves, states, views, worlds, evenness, knowledge, induction, declarations, outputs, plain_python,
)  # fmt: skip
LAWS = {law.name: law for section in _SECTIONS for law in vars(section).values() if isinstance(law, Law)}
"""All laws by name, in the order in which they are tested."""


def check(
    game: Game,
    *,
    seed: int = 0,
    effort: str = "normal",
    laws: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    isolated: bool = True,
    seconds: float | None = None,
    call_seconds: float = 20.0,
    memory: float = 2.0,
) -> list[LawResult]:
    """Test the laws on a game: all of them, or those named in `laws`. Returns a result for each.

    `variants`: texts of the variants to test, with options (`"podkidnoy?cards=24"`); all named variants if None.

    `effort` is "quick", "normal" or "thorough": how many games, positions and worlds are looked at. The same seed looks
    at the same ones in the same order. `seconds` is the time for all laws together, math.inf for no limit; if None, 25
    for "quick", 46 for "normal", and no limit for "thorough". Each law looks at a least amount, also if that takes
    longer; a law that could not look at all is `cut` (`LawResult`). What is looked at in more time includes what is
    looked at in less. `progress` is called with (law, laws done, laws in all).

    The laws run in a forked process. A law is broken if the game crashes in it, if one call of the game takes longer
    than `call_seconds`, or if the process takes more than `memory` GiB beyond what it began with. The seconds of a call
    are those of processors, without compiling, and those in which it sleeps: a busy machine breaks no law. After three
    such ends the other laws are not tested. Nor is a law that has nothing to look at in this game (`LawResult`).

    With `isolated=False`, and on other systems than Linux, the laws run in this process, for a debugger; then nothing
    protects it. A game whose Python code uses JAX or threads may need that too.

    Raises CardaiError for an unknown law, effort or variant, and for a rule that does not compile, with its line.
    """
    is_game(game)
    refuse_in_import("check")
    whole("seed", seed)
    check_function("progress", progress)
    if check_text("effort", effort) not in EFFORTS:
        raise BadArgument(unknown("effort", effort, EFFORTS))
    for name in () if laws is None else check_list("laws", laws, str, "names of laws"):
        if name not in LAWS:
            raise BadArgument(unknown("law", name, LAWS))
    if variants is not None:
        texts = check_list("variants", variants, str, "texts of variants")
        if not texts:
            raise BadArgument("variants must name a variant, or be None for all")
        variants = list(dict.fromkeys(map(game.canonical, texts)))
    check_flag("isolated", isolated)
    seconds = EFFORTS[effort].seconds if seconds is None else seconds
    if not (isinstance(seconds, float) and seconds == math.inf):
        check_number("seconds", seconds)
    check_number("call_seconds", call_seconds)
    check_number("memory", memory, 1 << 20)
    for name, value in (("seconds", seconds), ("call_seconds", call_seconds), ("memory", memory)):
        if not value > 0:
            raise BadArgument(f"{name} must be more than 0, not {value:g}")
    chosen = [LAWS[name] for name in (LAWS if laws is None else laws)]
    game.compile()
    testbed = Testbed(game, seed, EFFORTS[effort], variants)
    results: dict[str, LawResult] = {}

    def begins(law: Law) -> None:
        if progress:
            progress(law.name, len(results), len(chosen))

    def report(result: LawResult) -> None:
        results[result.law] = result
        if progress and len(results) == len(chosen):
            progress("", len(results), len(chosen))

    if isolated and sys.platform == "linux":
        from cardai.laws.child import test_all

        test_all(chosen, testbed, seconds, call_seconds, memory, report, begins)
    else:
        for result in take_turns(chosen, testbed, seconds, begins):
            report(result)
    return [results[law.name] for law in chosen]
