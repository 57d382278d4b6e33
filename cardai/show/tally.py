"""What each seat has at the end of one game: every figure with what it counts."""

from collections.abc import Mapping, Sequence

import numpy as np

from cardai.game import Game

SCORE = "score (0 to 1)"


def tally(game: Game, scores: Sequence[float], outcomes: Mapping[str, np.ndarray]) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns, and the figures of each seat as texts: the outcomes of `Game.tallied`, then the score.

    `scores`: f8[seats]. `outcomes`: f8[seats] by name, those of `game` at least that are tallied.
    """
    names = game.tallied
    heads = [*(game.outcomes[name].about for name in names), SCORE]
    rows = [[*(f"{outcomes[name][seat]:.4g}" for name in names), f"{score:.3g}"] for seat, score in enumerate(scores)]
    return heads, rows
