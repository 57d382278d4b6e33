"""What judges positions from outside the core: a network, usually. The core asks; it knows nothing about networks.

A package that brings evaluators names a module in the entry-point group `cardai.evaluators`; it has three functions,
`find(game, name) -> Evaluator | None` (None: not one of mine), `known(game) -> dict[name, about]`, and
`set_device(name)`, which says where evaluators found from then on compute: "auto", "cpu" or "gpu".
"""

import functools
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from cardai.game import Game

ENTRY_POINTS = "cardai.evaluators"
MOMENTS = ("before_draw", "drawn")
"""Which states are judged: after a player's decision and before its chance, or once that is settled too."""


class Evaluator(Protocol):
    """Judges positions from the rows of one encoder of a game.

    `moment`: the states it was made for, one of `MOMENTS`. `batch`: how many rows it is best asked at once.
    """

    name: str
    encoder: str
    moment: str
    seats: int
    batch: int

    def score(self, rows: np.ndarray) -> Any:
        """How good each position is for the seat whose view it is: u8[n, width] -> f4[n] in [0, 1].

        The answer may be on its way still: `np.asarray` waits for it, and until then `rows` must not be changed.
        """
        ...

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it judges this game at a table of `seats`; a variant of None is not looked at."""
        ...


@functools.cache
def _sources() -> tuple[ModuleType, ...]:
    return tuple(entry.load() for entry in entry_points(group=ENTRY_POINTS))


def find_evaluator(game: Game, name: str) -> Evaluator | None:
    """The evaluator that goes by a name or lies at a path; None when nobody knows it, CardaiError when it is broken."""
    for source in _sources():
        found = source.find(game, name)
        if found is not None:
            return found
    return None


def known_evaluators(game: Game) -> dict[str, str]:
    """The evaluators that come with installed packages, with a line about each."""
    return {name: about for source in _sources() for name, about in source.known(game).items()}


def set_device(name: str) -> None:
    """Choose where evaluators compute from now on: "auto", "cpu" or "gpu". CardaiError where there is none."""
    if name != "auto":
        for source in _sources():
            source.set_device(name)
