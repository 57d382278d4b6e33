"""Where the cards that a seat cannot see may lie, and how likely, given what the rules let the seat know.

A game that counts deals gives the chances exactly (`Table.chances`). Otherwise they are estimated: a world deals anew
all that the seat cannot know, so the share of worlds in which a card lies in a hand estimates the chance that it is
there. What the choices of others suggest is not counted.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.game import Game, GameState, int_seed
from cardai.game.compiled.chance import ANALYSIS, derived
from cardai.game.compiled.doors import check_seat
from cardai.playing.stats.interval import LEVEL

WORLDS = 400
_ROUNDING = 1e-9  # exact chances are correct to about the twelfth digit
_FIRST = 3 << 30  # numbers of the streams: advice uses those below


@dataclass(frozen=True)
class Chances:
    """How likely each hidden card lies in each hand, as far as `seat` may know.

    - `cards`: the pieces whose place the seat does not know, in order.
    - `shares`: f8[cards, seats + 1]: in the hand of each seat, then anywhere else. A row sums to 1, or to the copies of
      the card (`Table.copies`): then it is how many are expected there.
    - `worlds`: the number of worlds from which the shares are estimated; 0 if they are exact.
    """

    seat: int
    cards: tuple[int, ...]
    shares: np.ndarray
    worlds: int

    @property
    def is_exact(self) -> bool:
        """Whether the shares are exact chances."""
        return self.worlds == 0

    @property
    def margin(self) -> float:
        """How far a share may be off by chance: half of the widest 95 % interval. 0 for exact chances."""
        return 0.0 if self.is_exact else NormalDist().inv_cdf(0.5 + LEVEL / 2) * math.sqrt(0.25 / self.worlds)


def chances(game: Game, state: GameState, seat: int, seed: int, worlds: int = WORLDS) -> Chances:
    """Where hidden cards may lie, as `seat` may know. `state`: any state or world of that seat.

    `worlds`: how many to estimate from, if the game gives no exact chances; `seed` decides them.

    Raises CardaiError for a game that does not say where its cards lie (`holdings`) or has no names for them.
    """
    if game.table.holdings is None or not game.table.pieces:
        raise CardaiError(f"{game.name} does not say which cards lie where (holdings, pieces): there are no chances")
    seats, count = int(state["seats"]), positive("worlds", worlds, 1 << 20)
    seat = check_seat("seat", seat, seats)
    base = int_seed(seed)
    if game.table.chances is not None:
        return _exact(game, state, seat, base)
    worlds_of_seat = (game.world(state, seat, int(derived(base, ANALYSIS, _FIRST + i))) for i in range(count))
    held = np.array([_held(game, world, seats) for world in worlds_of_seat])
    return _of_hidden(seat, (held != held[0]).any(axis=(0, 2)), held.sum(axis=0) / count, count)


def _exact(game: Game, state: GameState, seat: int, base: int) -> Chances:
    """The chances that the game gives. What they leave of a card lies outside of the hands."""
    assert game.table.chances is not None
    world, seats = game.world(state, seat, int(derived(base, ANALYSIS, _FIRST))), int(state["seats"])
    shares = np.zeros((seats, len(game.table.pieces)))
    game.table.chances(world, seat, shares)
    elsewhere = (game.table.copies or 1.0) - shares.sum(axis=0)
    held = np.vstack([shares, elsewhere]).T
    whole = np.round(held)
    held = np.where(np.abs(held - whole) < _ROUNDING, whole, held)
    varies = (held != whole).any(axis=1)
    if len(game.table.copies):  # of cards that are alike, a whole number may be expected and yet be uncertain
        varies |= (held != _held(game, world, seats)).any(axis=1)
    return _of_hidden(seat, varies, held, 0)


def _held(game: Game, world: GameState, seats: int) -> np.ndarray:
    """How many cards of each piece are in the hand of each seat, then anywhere else: f8[pieces, seats + 1]."""
    held = np.zeros((len(game.table.pieces), seats + 1))
    for place, pieces in enumerate(game.lying(world)):
        np.add.at(held[:, min(place, seats)], pieces, 1)
    return held


def _of_hidden(seat: int, varies: np.ndarray, held: np.ndarray, worlds: int) -> Chances:
    """The shares of the pieces whose place is not certain, of those of all pieces, f8[pieces, seats + 1]."""
    hidden = np.flatnonzero(varies)
    return Chances(seat, tuple(hidden.tolist()), held[hidden], worlds)
