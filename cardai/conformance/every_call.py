"""Laws on single calls, before all others: played move by move, every function of the game returns.

A game that crashes or hangs does so here first, where the call is known: the function, the game, the ply.
"""

from typing import Any

from cardai.conformance.law import Steps, each_table, law
from cardai.conformance.plain_python import in_plain_python
from cardai.conformance.steps import play_through
from cardai.conformance.testbed import Setup, Testbed


@law
def plain_python_plays_through(testbed: Testbed) -> Steps:
    """Played move by move in plain Python (CARDAI_JIT=0), no function raises, runs for ever or fills the memory.

    One game with the fewest seats and one with the most, of the first variant: plain Python is too slow for all.
    """
    return in_plain_python(testbed, _walks, lambda answer: answer["error"])


def _walks(testbed: Testbed) -> dict[str, Any]:
    tables = [Setup(next(iter(testbed.variants)), n) for n in sorted({testbed.game.seats[0], testbed.game.seats[-1]})]
    return {"walks": [{**vars(setup), "seed": int(testbed.seeds(setup, 1)[0])} for setup in tables]}


@each_table()
def every_call_returns(testbed: Testbed, setup: Setup) -> None:
    """Played move by move, every function returns: none crashes, raises, runs for ever or fills the memory."""
    play_through(testbed.game, setup, int(testbed.seeds(setup, 1)[0]))
