"""Laws on single calls, before all others: played move by move, every function of the game returns.

A game that crashes or hangs does so here first, where the call is known: the function, the game, the ply.
"""

from cardai.conformance.law import law
from cardai.conformance.plain_python import ask_plain_python
from cardai.conformance.steps import play_through
from cardai.conformance.testbed import LawError, Setup, Testbed

_PLAIN_SETUPS = 4  # plain Python is slow


@law
def plain_python_plays_through(testbed: Testbed) -> None:
    """Played move by move in plain Python (CARDAI_JIT=0), no function raises, runs for ever or fills the memory."""
    walks = [
        {"variant": setup.variant, "seats": setup.seats, "seed": int(testbed.seeds(setup, 1)[0]), "plies": 10}
        for setup in _smallest_and_greatest(testbed)
    ]
    error = ask_plain_python(testbed, {"walks": walks})["error"]
    if error:
        raise LawError(error)


@law
def every_call_returns(testbed: Testbed) -> None:
    """Played move by move, every function returns: none crashes, raises, runs for ever or fills the memory."""
    for setup in testbed.setups:
        for seed in testbed.seeds(setup, 2):
            play_through(testbed.game, setup, int(seed), 3)


def _smallest_and_greatest(testbed: Testbed) -> list[Setup]:
    """The tables with the fewest and the most seats, of the first variants."""
    sizes = sorted({testbed.game.seats[0], testbed.game.seats[-1]})
    setups = [Setup(variant, seats) for variant in testbed.game.variants for seats in sizes]
    return setups[:_PLAIN_SETUPS]
