"""An agent's moves in worlds that somebody else holds, for agents that are made of other agents.

    inner = agent(game, "bot3")
    moves = moves_in(game, inner, worlds)

Each world's own random stream decides the agent's luck in it, so the same worlds get the same moves.
"""

import numpy as np

from cardai.agents.spec import Agent
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.kernel import driver
from cardai.kernel.driver import lend
from cardai.kernel.native import at, raw
from cardai.rule import STREAM, mixed, rule
from cardai.table.cast import cast_of, scratch_of
from cardai.table.lookahead import decide

_LUCK = 0xA5C1  # tells an agent's luck from the world's own


@rule
def take_luck(bits, streams):
    """Seed a stream for each of u8[n] numbers."""
    for i in range(len(bits)):
        streams[i].rng = mixed(bits[i] ^ np.uint64(_LUCK))


@rule
def ask_each(rules, cast, worlds, streams, count, scratch, chosen):
    """Let a player inside compiled code choose in each of `count` worlds; the first without a legal move, or -1."""
    for i in range(count):
        stream, move = at(streams, i), at(chosen, i)
        if driver.decide(rules, cast, 0, at(worlds, i), cast.params, 0, True, scratch, stream, move) == 0:
            return i
    return -1


def moves_in(game: Game, player: Agent, worlds: np.ndarray) -> np.ndarray:
    """What an agent plays in STATE[n], each a world of the seat to move: MOVE[n].

    It explores all along, if it explores. CardaiError for an agent with parameters that are drawn anew for each game,
    and where there is no legal move.
    """
    if player.randomised:
        raise CardaiError(f"agent {player.spec!r} draws its parameters anew for each game; name fixed ones")
    if player.choose is not None:
        return np.asarray(player.choose(game, worlds), game.move)
    worlds = np.ascontiguousarray(worlds)
    chosen, streams, places = np.zeros(len(worlds), game.move), np.zeros(len(worlds), STREAM), np.arange(len(worlds))
    take_luck(np.ascontiguousarray(worlds["rng"]), streams)
    if player.evaluator is not None:
        decide(game, player, worlds, streams, places, places, chosen)
        return chosen
    cast = cast_of(game, [player])
    scratch = scratch_of(game, cast)
    lent = lend(game.rules), lend(cast), raw(worlds), raw(streams), len(worlds), lend(scratch), raw(chosen)
    stuck = int(ask_each(*lent))
    if stuck >= 0:
        raise CardaiError(f"{game.name}: seat {int(worlds['turn'][stuck])} is to move and has no legal move")
    return chosen
