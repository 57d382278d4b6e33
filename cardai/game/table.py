"""Where the pieces of a game lie: for pages that show it, for laws that count cards, for players who reckon chances."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cardai.errors import CardaiError, short, unknown, whole

LOOKS = ("row", "fan", "pile", "grid")
"""How the pieces of a `Zone` may lie."""


@dataclass(frozen=True)
class Zone:
    """A place on the table as one seat sees it: a hand, the stock, the board. Pages show a game by its zones.

    `pieces`: those face up, numbers of `Game.pieces`: a set (bit `1 << piece`), or a sequence if their order matters.
    `hidden`: how many further ones lie face down. `seat`: whose place it is, None for everybody's. `look`: one of
    `LOOKS`; a grid has a `shape` (rows, columns) and as many pieces, row by row. `note`: words beside the name
    ("target"). `marks`: words on single pieces ("X", "p2").

    Whoever paid attention knows more than lies open on a real table. `open`: those of `pieces` that lie open; None: all
    of them, but none in the fan of another seat. `reminder`: words beside the note that only say what has happened.
    Raises CardaiError for another look, a count below 0, a grid with another number of pieces than its shape has, and
    open pieces that are not among the pieces.
    """

    name: str
    pieces: int | Sequence[int] = 0
    hidden: int = 0
    seat: int | None = None
    look: str = "row"
    shape: tuple[int, int] = (0, 0)
    note: str = ""
    marks: Mapping[int, str] = field(default_factory=dict)
    open: int | Sequence[int] | None = None
    reminder: str = ""

    def __post_init__(self) -> None:
        if self.look not in LOOKS:
            raise CardaiError(unknown("look", self.look, LOOKS))
        whole("hidden", self.hidden, 0)
        if self.look == "grid" and len(self.listed) != self.shape[0] * self.shape[1]:
            raise CardaiError(f"the grid {short(self.name)} of shape {self.shape} has {len(self.listed)} pieces")
        if self.open and not {*_in_order(self.open)} <= {*self.listed}:
            raise CardaiError(f"pieces of {short(self.name)} that lie open must be among its pieces")

    @functools.cached_property
    def listed(self) -> list[int]:
        """The pieces that lie face up: those of a set from the lowest to the highest, those of a sequence in order."""
        return _in_order(self.pieces)

    @property
    def words(self) -> str:
        """The words beside the name: the note and the reminder."""
        return ", ".join(filter(None, (self.note, self.reminder)))

    def unaided(self, viewer: int) -> "Zone":
        """This place as it is on a real table to the seat `viewer`, who has to remember the rest.

        Pieces of a fan or a pile that do not lie open lie face down. In a row or a grid they are left out. Raises
        CardaiError for a viewer that is no seat's number.
        """
        viewer = whole("viewer", viewer, 0)
        is_own = self.look != "fan" or self.seat in (None, viewer)
        lying = self.pieces if self.open is None and is_own else self.open or 0
        shown, hidden = _in_order(lying), self.hidden
        if self.look in ("fan", "pile"):
            hidden += len(self.listed) - len(shown)
        marks = {piece: mark for piece, mark in self.marks.items() if piece in shown}
        return replace(self, pieces=lying, hidden=hidden, marks=marks, open=None, reminder="")


def _in_order(pieces: int | Sequence[int]) -> list[int]:
    return listed_pieces(int(pieces)) if isinstance(pieces, int | np.integer) else [int(piece) for piece in pieces]


def listed_pieces(pieces: int) -> list[int]:
    """The members of a set of pieces as a list, the lowest first. Raises CardaiError for a number below 0."""
    rest = whole("pieces", pieces, 0)
    found = []
    while rest:  # by the lowest bit: most sets have few members
        found.append((rest & -rest).bit_length() - 1)
        rest &= rest - 1
    return found


def counts_of(
    held: Sequence[Any], copies: Sequence[int] | np.ndarray, names: Sequence[str], what: str = "holdings"
) -> np.ndarray:
    """What `Game.holdings` gave where cards are alike, as int64[places, kinds].

    `names`: of the kinds; none for their numbers. Raises CardaiError, which calls it `what`, unless each place has a
    count for each kind and there are no more cards than `copies`.
    """
    rows, named = [], names or [f"kind {kind}" for kind in range(len(copies))]
    for place, counts in enumerate(held):
        if not hasattr(counts, "__len__") or isinstance(counts, str) or len(counts) != len(copies):
            raise CardaiError(f"{what}: place {place} is {short(counts)}; copies asks for {len(copies)} counts")
        if not (isinstance(counts, np.ndarray) and counts.dtype.kind == "i" and (counts >= 0).all()):
            of = f"{what}: place {place}: the count of"
            counts = [whole(f"{of} {name}", number, 0) for name, number in zip(named, counts, strict=True)]
        rows.append(counts)
    found = np.array(rows, np.int64).reshape(len(rows), len(copies))
    most = found.sum(axis=0)
    if (most > copies).any():
        kind = int(np.argmax(most > copies))
        listed = f"{what} lists {most[kind]} cards of {named[kind]} in all places"
        raise CardaiError(f"{listed}; copies says there are {copies[kind]}")
    return found


@dataclass(frozen=True)
class Table:
    """Where the pieces of a game lie, in plain Python. All of it may be left out; a declared state gives it.

    `pieces` are the names of the pieces (cards, cells) by number.
    `holdings(state)` lists the set of cards in each place whose size everybody knows: the hands first, in the order of
    the seats, then the deck, each pile. `cardai check` counts the cards with it.
    `copies`: how many cards of each piece the deck has, for a game in which cards are alike. Then a piece is a kind of
    card, a place of `holdings` is a sequence of counts, len(copies) whole numbers, and `chances` writes the expected
    number of cards of each kind in each hand. Without it there is one card of each piece, and a place is a set, an int.
    `chances(state, seat, shares)` writes the exact chance of each piece to be in each hand, float64[seats, pieces],
    over all deals that fit what `seat` knows.
    `zones(state, seat)` lists the places on the table as `seat` sees them, `picks(state, move)` is the set of pieces
    that a player points at to choose a move. With them a page has cards to tap; without them it shows the text of
    `show` and a list of moves.
    """

    pieces: Sequence[str] = ()
    holdings: Callable[[Any], Sequence[Any]] | None = None
    copies: Sequence[int] = ()
    chances: Callable[[Any, int, Any], None] | None = None
    zones: Callable[[Any, int], Sequence[Zone]] | None = None
    picks: Callable[[Any, Any], int] | None = None
