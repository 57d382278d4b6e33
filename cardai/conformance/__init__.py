"""The laws that every game must keep, and the kit that tests them: `cardai check GAME`, or `check(game)`.

A law is a function that gets a `Testbed`: played games of every variant and number of seats, with all their states. It
raises `LawError`, which says where and what, if it finds the law broken. Laws on hidden information compare *views*:
all that a seat is shown (the row of every encoder, the text, its own legal moves). Most comparisons run on blocks of
states in compiled code (`compiled`); text is compared position by position.

The laws are in `every_call`, `play`, `moves`, `states`, `views`, `worlds`, `evenness`, `knowledge`,
`induction`, `outputs` and `plain_python`. Each of these modules is a section of `docs/conformance.md`. They run in a
process of their own (`child`), so that a game that crashes or hangs breaks a law and nothing else.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from cardai.conformance import (
    evenness,
    every_call,
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
from cardai.conformance.law import Law, LawResult, tested
from cardai.conformance.testbed import EFFORTS, LawError, Testbed
from cardai.errors import CardaiError, unknown, whole
from cardai.game import Game, is_game
from cardai.kernel.doors import check_flag, check_function, check_list, check_number, check_text

__all__ = ["EFFORTS", "LAWS", "Law", "LawError", "LawResult", "check"]

LAWS: dict[str, Law] = {
    law.name: law
    for module in (
        every_call,
        play,
        moves,
        states,
        views,
        worlds,
        evenness,
        knowledge,
        induction,
        outputs,
        plain_python,
    )
    for law in vars(module).values()
    if isinstance(law, Law)
}
"""All laws by name, in the order in which they are tested."""


def check(
    game: Game,
    *,
    seed: int = 0,
    effort: str = "normal",
    laws: Sequence[str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    isolated: bool = True,
    seconds: float = 60.0,
    memory: float = 2.0,
) -> list[LawResult]:
    """Test the laws on a game: all of them, or those named in `laws`. Returns a result for each.

    `effort` is "quick", "normal" (under a minute for every game here) or "thorough". The same seed tests the same
    games. `progress` is called with (law, laws done, laws in all).

    The laws run in a forked process. A law is broken if the game crashes in it, if one call of the game takes longer
    than `seconds`, or if the process takes more than `memory` GiB beyond what it began with. After three such ends the
    remaining laws are not tested. With `isolated=False`, and on systems without fork, the laws run in this process, for
    a debugger; then nothing protects it. A game whose Python code uses JAX or threads may need that too.

    Raises CardaiError for an unknown law or effort, and for a rule that does not compile, with its line.
    """
    is_game(game)
    whole("seed", seed)
    check_function("progress", progress)
    if check_text("effort", effort) not in EFFORTS:
        raise CardaiError(unknown("effort", effort, EFFORTS))
    for name in () if laws is None else check_list("laws", laws, str, "names of laws"):
        if name not in LAWS:
            raise CardaiError(unknown("law", name, LAWS))
    check_flag("isolated", isolated)
    check_number("seconds", seconds)
    check_number("memory", memory, 1 << 20)
    if not (seconds > 0 and memory > 0):
        raise CardaiError(f"a game needs time and memory, not {seconds:g} s and {memory:g} GiB")
    chosen = [LAWS[name] for name in (LAWS if laws is None else laws)]
    game.compile()
    testbed = Testbed(game, seed, EFFORTS[effort])
    results: list[LawResult] = []

    def report(result: LawResult | None) -> None:
        if result is not None:
            results.append(result)
        if progress:
            following = chosen[len(results)].name if len(results) < len(chosen) else ""
            progress(following, len(results), len(chosen))

    report(None)
    if isolated and hasattr(os, "fork"):
        from cardai.conformance.child import LIMITS, test_all

        test_all(chosen, testbed, replace(LIMITS, call=seconds, memory=int(memory * (1 << 30))), report)
    else:
        for law in chosen:
            report(tested(law, testbed))
    return results
