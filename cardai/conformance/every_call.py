"""Laws on single calls, before all others: played move by move, every function of the game returns.

A game that crashes or hangs does so here first, where the call is known: the function, the game, the ply.
"""

from cardai.conformance.law import law
from cardai.conformance.plain_python import ask_plain_python
from cardai.conformance.steps import play_through
from cardai.conformance.testbed import LawError, Setup, Testbed


@law
def plain_python_plays_through(testbed: Testbed) -> str | None:
    """Played move by move in plain Python (CARDAI_JIT=0), no function raises, runs for ever or fills the memory."""
    walks = [
        {"variant": setup.variant, "seats": setup.seats, "seed": int(testbed.seeds(setup, 1)[0])}
        for setup in _smallest_and_greatest(testbed)
    ]
    answer = ask_plain_python(testbed, {"walks": walks})
    if answer["error"]:
        raise LawError(answer["error"])
    return answer["remark"]


@law
def every_call_returns(testbed: Testbed) -> None:
    """Played move by move, every function returns: none crashes, raises, runs for ever or fills the memory."""
    for setup in testbed.setups:
        play_through(testbed.game, setup, int(testbed.seeds(setup, 1)[0]))


def _smallest_and_greatest(testbed: Testbed) -> list[Setup]:
    """The tables of the default variant with the fewest and the most seats. Plain Python is too slow for all."""
    sizes = sorted({testbed.game.seats[0], testbed.game.seats[-1]})
    return [Setup(testbed.game.default_variant, seats) for seats in sizes]
