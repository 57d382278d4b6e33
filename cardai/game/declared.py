"""A game's state and moves, declared: each field says once what it is and who sees it, and the rest follows from that.

    STATE = State(
        DECK52, seats=4,
        hands=Hand(known="known"),
        known=Known("hands"),
        stock=Stock(),
        discards=Pile("discard pile", look="pile"),
        knocker=Seat(says="has knocked"),
    )
    MOVE = Moves("draws", "takes {card}", "knocks", "discards {card}")
    GAME = Game(name="thirtyone", state=STATE, move=MOVE, deal=deal, ...)

*Places* hold cards: each card of the deck lies in one of them. *Facts* say something of the game or of cards that lie
elsewhere. What is hidden by its kind is in no view: a hand is seen by its own seat, a stock by nobody, all else by all.
A game that gives one of the derived fields itself (`resample`, `show`, an encoder) keeps its own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cardai.cards import Deck
from cardai.game import PerspectiveEncoder, views, worlds
from cardai.game.fields import (
    NONE,
    Card,
    Cards,
    Counts,
    Declaration,
    Each,
    Field,
    Flag,
    Hand,
    Held,
    Known,
    Lacks,
    Number,
    Option,
    Pile,
    Rank,
    Seat,
    Seats,
    Slots,
    Stock,
    Suit,
    Word,
)  # fmt: skip
from cardai.game.moving import mover
from cardai.game.wording import Moves

__all__ = [
    "NONE",
    "Card",
    "Cards",
    "Counts",
    "Each",
    "Field",
    "Flag",
    "Hand",
    "Held",
    "Known",
    "Lacks",
    "Moves",
    "Number",
    "Option",
    "Pile",
    "Rank",
    "Seat",
    "Seats",
    "Slots",
    "State",
    "Stock",
    "Suit",
    "Word",
]  # fmt: skip


class State(Declaration):
    """A game's state, declared. Give it to `Game` as `state`.

    `deck`: the cards. `seats`: of the largest table. `copies`: how many cards of each piece there are, in a game whose
    cards are alike. Raises CardaiError for a field that names another that there is not.
    """

    def __init__(
        self, deck: Deck, /, seats: int, copies: Sequence[int] = (), **fields: Field | int | tuple[int, ...]
    ) -> None:
        super().__init__(deck, seats, copies, **fields)
        _DECLARED[id(self.dtype)] = self

    def move(self, source: str, target: str) -> Callable[..., None]:
        """The rule that moves cards from a place to another, and keeps what all know of hands.

        It is `move(state, cards, from_seat, to_seat)` with only those seats whose place is one for each seat. `cards`:
        a set, or the number of the card if one of the two places holds one card. Raises CardaiError for a place that
        there is not, for wide sets, and where a card goes unseen from a hand of which cards are known to another.
        """
        return mover(self, source, target)

    def derived(self, move: Moves | np.dtype, given: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of `Game` that follow from the declarations, but for those that are given."""
        made: dict[str, Any] = {"state": self.dtype, "pieces": self.deck.all_names, "holdings": views.holdings(self)}
        if self.copies:
            made["copies"] = self.copies
        made |= {"zones": views.zones(self), "show": views.show(self)}
        if not given.get("resample"):
            made["resample"] = worlds.resample(self)
        if not given.get("blank"):
            made["blank"] = worlds.blank(self)
        if not given.get("encoders"):
            layout, encode = views.encoder(self)
            made["encoders"] = {"fields": PerspectiveEncoder(layout, encode)}
        if isinstance(move, Moves):
            made |= move.derived(self, given)
        return made


_DECLARED: dict[int, State] = {}


def declaration_of(dtype: np.dtype) -> State | None:
    """The declaration that a state's type was made from, None if it was made by `state_dtype`."""
    found = _DECLARED.get(id(dtype))
    return found if found is not None and found.dtype is dtype else None
