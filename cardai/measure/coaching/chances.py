"""Where the cards that a seat cannot see may lie, and how likely, estimated from worlds of the seat.

A world deals anew all that the seat cannot know, so the share of worlds in which a card lies in a hand estimates the
chance that it is there, given what the rules let the seat know. What the choices of others suggest is not counted.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.game import Game, GameState, int_seed, listed_pieces
from cardai.kernel.chance import ANALYSIS, derived
from cardai.kernel.doors import check_seat
from cardai.stats.interval import LEVEL

WORLDS = 400
_FIRST = 3 << 30  # numbers of the streams: advice uses those below


@dataclass(frozen=True)
class Chances:
    """The shares of `worlds` worlds of `seat` in which each hidden card lies in each hand.

    - `cards`: the pieces whose place the seat does not know, in order.
    - `shares`: f8[cards, seats + 1]: in the hand of each seat, then anywhere else. A row sums to 1.
    """

    seat: int
    cards: tuple[int, ...]
    shares: np.ndarray
    worlds: int

    @property
    def margin(self) -> float:
        """How far a share may be off by chance: half of the widest 95 % interval."""
        return NormalDist().inv_cdf(0.5 + LEVEL / 2) * math.sqrt(0.25 / self.worlds)


def chances(game: Game, state: GameState, seat: int, seed: int, worlds: int = WORLDS) -> Chances:
    """Where hidden cards may lie, as `seat` may know. `state`: any state or world of that seat.

    Raises CardaiError for a game that does not say where its cards lie (`holdings`) or has no names for them.
    """
    if game.holdings is None or not game.pieces:
        raise CardaiError(f"{game.name} does not say which cards lie where (holdings, pieces): there are no chances")
    seats, count = int(state["seats"]), positive("worlds", worlds, 1 << 20)
    seat = check_seat("seat", seat, seats)
    base, held = int_seed(seed), np.zeros((len(game.pieces), seats + 1))
    for i in range(count):
        world = game.world(state, seat, int(derived(base, ANALYSIS, _FIRST + i)))
        places = [int(cards) for cards in game.holdings(world)]
        for place, cards in enumerate(places):
            held[listed_pieces(cards), min(place, seats)] += 1
    held /= count
    hidden = np.flatnonzero(((held > 0) & (held < 1)).any(axis=1))
    return Chances(seat, tuple(hidden.tolist()), held[hidden], count)
