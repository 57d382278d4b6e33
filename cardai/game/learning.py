"""What networks see of a game and learn, and what is counted of it beside the score."""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardai.errors import CardaiError, place_of_function, short, whole
from cardai.rules import rule


@dataclass(frozen=True)
class Segment:
    """A named part of an encoding, of shape () for a value, (n,) for a list, (h, w) for a board or ranks x suits."""

    name: str
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The number of values."""
        return int(np.prod(self.shape, dtype=int))


MOST_SUITS = 6
"""Suits that may exchange names: they have 720 orders."""


@dataclass(frozen=True)
class PerspectiveEncoder:
    """A seat's view of a state as numbers.

    `layout(seats)` returns the segments in order. The rule `encode(state, seat, row)` fills `row`, u8[width], which
    holds zeros before. It may use only what `seat` may know; `cardai check` tests that. `by_suit(segment)` says which
    segments have a value for each suit along their last axis, in a game whose rules do not tell the names of the suits
    apart; None if it has no suits, or the encoder no names of them.
    """

    layout: Callable[[int], Sequence[Segment]]
    encode: Callable[..., None]
    by_suit: Callable[[Segment], bool] | None = None

    def width(self, seats: int) -> int:
        """The number of values for a table of `seats`, a whole number from 1 to 64. Else it raises CardaiError."""
        whole("seats", seats, 1, 64)
        segments = self.layout(seats)
        if not isinstance(segments, Sequence) or not all(isinstance(segment, Segment) for segment in segments):
            where = place_of_function(self.layout)
            raise CardaiError(f"layout returns {short(segments)}; it must return a tuple of Segment{where}")
        return sum(segment.size for segment in segments)

    def renamings(self, seats: int) -> np.ndarray:
        """The orders of a row's values in which suits have each other's names: i64[k, width], k = 24 for 4 suits.

        The first is the row's own; the first 4 give each suit each name once. Raises CardaiError if the encoder does
        not name suits.
        """
        width, places, first = self.width(seats), [], 0
        for segment in self.layout(seats):
            if self.by_suit is not None and self.by_suit(segment):
                places.append(np.arange(first, first + segment.size).reshape(-1, *segment.shape[-1:]))
            first += segment.size
        suits, found = places[0].shape[-1] if places else 0, []
        if not 2 <= suits <= MOST_SUITS or any(part.shape[1:] != (suits,) for part in places):
            shapes = ", ".join(str(part.shape[1:]) for part in places) or "none"
            raise CardaiError(
                f"by_suit must choose segments that end in the same 2 to {MOST_SUITS} suits, not {shapes}"
            )
        for names in suit_orders(suits):
            order = np.arange(width)
            for part in places:
                order[part] = part[:, names]
            found.append(order)
        return np.array(found)


def suit_orders(suits: int) -> list[np.ndarray]:
    """All orders of some suits: their own first, and among the first ones each suit once in each place."""
    orders = itertools.permutations(range(1, suits))
    return [np.roll((0, *others), turned) for others in orders for turned in range(suits)]


MEASURES = {
    "score": "mean score",
    "win": "share of games won: score 1, or a payoff above 0 in a game with a unit",
    "loss": "share of games lost: score 0, or a payoff below 0 in a game with a unit",
    "share": "share of the win: 1/k for each of the k seats with the best score of their table",
}
"""What can be measured of the scores of any game."""
TAKEN = {*MEASURES, "not_lost"}  # labels of any game (`cardai.records.recipe.LABELS`) have these names too


def _where_it_applies(of: Callable[..., float], applies: Callable[..., bool]) -> Any:
    """The rule that gives the number of `of` for seats to which it applies, and NaN for others."""

    @rule
    def value(state, seat):
        return 1.0 * of(state, seat) if applies(state, seat) else np.nan

    return value


@dataclass(frozen=True)
class Outcome:
    """What an ended game was for a seat beside its score: points in the game's own unit, or whether something happened.

    Also what a move brought its seat at once (`Game.rewards`). The rule `of(state, seat)` gives a number from `low` to
    `high` for a state of a game that is over, or for the settled state after the move. `about` says what it is. From 0
    to 1 it is a share, which tables show in percent. Networks can learn it as a label, see `as_label`.
    `scale`: the values (least, most) that labels are scaled by, if they are not `low` and `high`.
    `waits`: a reward is read off the state in which the seat moves next, or in which the game ends, and not off the one
    right after the move. So it can say how the trick ended to which a card went.
    `applies(state, seat)`: a rule that says whether it is asked about a seat at all, such as whether the seat was the
    soloist. Figures then count only such seats, and `of` is not asked about others, whose value is NaN.
    Raises CardaiError unless `low` < `high`, both finite, and those of `scale` lie between them.
    """

    of: Callable[..., float]
    about: str
    low: float = 0.0
    high: float = 1.0
    lower_is_better: bool = False
    scale: tuple[float, float] | None = None
    waits: bool = False
    applies: Callable[..., bool] | None = None

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise CardaiError(f"the range of an outcome must be finite and rise, not {self.low} to {self.high}")
        if self.scale is not None and not self.low <= self.scale[0] < self.scale[1] <= self.high:
            raise CardaiError(f"the scale of an outcome must rise within {self.low} to {self.high}, not {self.scale}")

    @functools.cached_property
    def rule(self) -> Callable[..., float]:
        """The rule that gives the value for a seat, and NaN where the outcome does not apply."""
        return self.of if self.applies is None else _where_it_applies(self.of, self.applies)

    def contains(self, values: Any) -> Any:
        """Whether values are in the declared range: bool[...]. NaN is not."""
        return (np.asarray(values) >= self.low) & (np.asarray(values) <= self.high)

    def as_label(self, values: np.ndarray) -> np.ndarray:
        """Values of the outcome as labels in [0, 1], of which higher ones are better.

        Raises CardaiError for a value outside of the scale.
        """
        low, high = self.scale or (self.low, self.high)
        shares = (np.asarray(values) - low) / (high - low)
        if self.scale is not None and ((shares < 0.0) | (shares > 1.0)).any():
            wrong = np.asarray(values)[(shares < 0.0) | (shares > 1.0)].flat[0]
            raise CardaiError(f"{wrong:g} {self.about} is no label: labels are scaled by {low:g} to {high:g}")
        return 1.0 - shares if self.lower_is_better else shares


@dataclass(frozen=True)
class Phase:
    """Divides states into phases of the game, by the sum of an encoder's segment. A model's figures are given by phase.

    The cuts (0, 20) give the phases "0", "1-20" and "over 20". Without cuts each sum is a phase of its own.
    """

    segment: str
    cuts: tuple[int, ...] = ()

    def name(self, number: int) -> str:
        """Returns the name of a phase. `number`: the number of the range, from 0. Without cuts it is the sum.

        Raises CardaiError for anything else.
        """
        number = whole("number", number, 0, len(self.cuts) if self.cuts else None)
        if not self.cuts:
            return str(number)
        if number == len(self.cuts):
            return f"over {self.cuts[-1]}"
        low, high = (self.cuts[number - 1] + 1 if number else 0), self.cuts[number]
        return str(high) if low == high else f"{low}-{high}"


@dataclass(frozen=True)
class Learning:
    """What networks see of a game and learn, and what is counted of it beside the score. All may be left out.

    `encoders` are views of a seat as numbers, by name; the first is the default.
    `actions` numbers the moves for networks with one output a move: it maps a move's fields to a number, 0 to n-1
    without gaps. Moves that are never legal together may share a number.
    `outcomes` are what an ended game was for a seat beside its score: points in the game's own unit, or events. They
    are measures of tables and labels of training data. `measures` are those that tables show beside the mean score,
    names of `MEASURES` or of outcomes. `tally` are the outcomes that the end of one game shows for each seat; without
    it, those among the `measures`.
    `rewards` are what a move brought its seat at once, read off the settled state after it, or by the time it moves
    next (`Outcome.waits`). They are labels of training data, beside the score or mixed with it.
    `phases` divide a game into parts by name, for the figures of models.
    """

    encoders: Mapping[str, PerspectiveEncoder] = field(default_factory=dict)
    actions: Mapping[tuple[int, ...], int] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    measures: tuple[str, ...] = ()
    tally: tuple[str, ...] = ()
    rewards: Mapping[str, Outcome] = field(default_factory=dict)
    phases: Mapping[str, Phase] = field(default_factory=dict)

    @property
    def tallied(self) -> list[str]:
        """The names of the outcomes that the end of one game shows for each seat."""
        return [*self.tally] or [name for name in self.measures if name in self.outcomes]
