"""Phases of a game: they divide the rows of a dataset, say by the cards left in the deck."""

from collections.abc import Sequence

import numpy as np

from cardai.errors import CardaiError, unknown
from cardai.game import Game, Phase, Segment


def phases_in(game: Game, layout: Sequence[Segment]) -> dict[str, Phase]:
    """The game's phases that can be computed from rows of this layout, by name."""
    names = [segment.name for segment in layout]
    return {name: phase for name, phase in game.learning.phases.items() if phase.segment in names}


def phase_of(phase: Phase, layout: Sequence[Segment], rows: np.ndarray) -> np.ndarray:
    """The number of the phase that each row u8[n, width] is in: i8[n]. `phase.name` gives a number's name.

    Raises CardaiError if the layout does not have the phase's segment.
    """
    first = 0
    for segment in layout:
        if segment.name == phase.segment:
            sums = rows[:, first : first + segment.size].sum(axis=1, dtype=np.int64)
            return np.searchsorted(np.array(phase.cuts), sums) if phase.cuts else sums
        first += segment.size
    raise CardaiError(unknown("segment", phase.segment, [segment.name for segment in layout]))
