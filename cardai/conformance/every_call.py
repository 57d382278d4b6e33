"""Laws on single calls, before all others: played move by move, every function of the game returns.

A game that crashes or hangs does so here first, where the call is known: the function, the game, the ply.
"""

from cardai.conformance.law import Steps, law
from cardai.conformance.plain_python import ask_plain_python, said_of_plain_python
from cardai.conformance.steps import play_through
from cardai.conformance.testbed import Counted, LawError, Looked, Setup, Testbed


@law
def plain_python_plays_through(testbed: Testbed) -> Steps:
    """Played move by move in plain Python (CARDAI_JIT=0), no function raises, runs for ever or fills the memory."""
    walks = [
        {"variant": setup.variant, "seats": setup.seats, "seed": int(testbed.seeds(setup, 1)[0])}
        for setup in _smallest_and_greatest(testbed)
    ]
    yield (seen := Looked(len(walks), "games"))
    answer = ask_plain_python(testbed, {"walks": walks})
    if answer["error"]:
        raise LawError(answer["error"])
    seen.done, seen.enough = answer["games"], answer["over"]
    return said_of_plain_python(answer, f"{answer['plies']} plies of {len(walks)} games")


@law
def every_call_returns(testbed: Testbed) -> Steps:
    """Played move by move, every function returns: none crashes, raises, runs for ever or fills the memory."""
    for setup in (seen := Counted(testbed.setups, "tables")):
        yield seen
        play_through(testbed.game, setup, int(testbed.seeds(setup, 1)[0]))


def _smallest_and_greatest(testbed: Testbed) -> list[Setup]:
    """The tables of the default variant with the fewest and the most seats. Plain Python is too slow for all."""
    sizes = sorted({testbed.game.seats[0], testbed.game.seats[-1]})
    return [Setup(testbed.game.default_variant, seats) for seats in sizes]
