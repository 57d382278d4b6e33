"""A move in the words of a transcript: in full, or as one seat is told of it."""

import numpy as np

from cardai.game import Game, GameState
from cardai.game.compiled.together import told_of


def words_of(game: Game, state: GameState, move: np.record, seat: int | None = None) -> str:
    """Returns a move in words. `state`: before the move.

    Without `seat` the move is spelled in full. With it the words are what that seat is told, in a world of it, so that
    they say nothing that it cannot know.
    """
    if seat is None:
        return game.text.spell(state, move)
    return told_of(game, state, move, seat, game.world(state, seat, seed=int(state["ply"])))
