"""What a seat sees of a position as a network does, by segment, and what a hand-written player does in one."""

import numpy as np

from cardai.rules import STREAM


def segments(game, state, seat, encoder):
    """An encoding as {segment: values}, u8[size] each."""
    row, values, first = game.encode(state, seat, encoder), {}, 0
    for segment in game.encoder(encoder).layout(int(state["seats"])):
        values[segment.name] = row[first : first + segment.size]
        first += segment.size
    assert first == len(row)
    return values


def chosen(game, name, state, seed=0, **params):
    """The move of a player of the game in a position, which is legal. `params`: other values than its own."""
    player, move, stream = game.agents.players[name], np.zeros(1, game.move)[0], np.zeros(1, STREAM)[0]
    stream["rng"] = seed
    values = np.array([*(dict(player.defaults) | params).values(), 0.0][: max(1, len(player.defaults))])
    player.choose(state, move, values, stream)
    assert game.is_allowed(state, move)
    return move
