"""What each seat has at the end of one game: every figure with what it counts, and a match by its rounds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cardai.cli.show.grid import add_figures, grid
from cardai.game import Game


def tally(game: Game, scores: Sequence[float], outcomes: Mapping[str, np.ndarray]) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns, and the figures of each seat as texts: the outcomes of `Learning.tallied`, then the
    score. An outcome that does not apply to a seat is "-".

    `scores`: f8[seats]. `outcomes`: f8[seats] by name, those of `game` at least that are tallied.
    """
    names, payoff = game.learning.tallied, game.payoff
    heads = [
        *(game.learning.outcomes[name].about for name in names),
        "score (0 to 1)" if payoff.is_share else payoff.unit,
    ]
    form = ".3g" if payoff.is_share else ".6g"
    rows = []
    for seat, score in enumerate(scores):
        values = [outcomes[name][seat] for name in names]
        rows.append([*("-" if np.isnan(value) else f"{value:.4g}" for value in values), f"{payoff.of(score):{form}}"])
    return heads, rows


def rounds_table(names: Sequence[str], match: Mapping[str, Any]) -> Any:
    """A rich renderable: what each seat got in each round, and in all. `match`: see `by_round` of a table."""
    table = grid()
    add_figures(table, "round", *names)
    for number, *points in [*match["rows"], ["in all", *match["total"]]]:
        table.add_row(number, *(f"{value:g}" for value in points))
    return table
