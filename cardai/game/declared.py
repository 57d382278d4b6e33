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
    GAME = Game(name="thirtyone", state=STATE, move=MOVE, rules=Rules(deal, legal, act, settle, score), ...)

*Places* hold cards: each card of the deck lies in one of them. *Facts* say something of the game or of cards that lie
elsewhere. What is hidden by its kind is in no view: a hand is seen by its own seat, a stock by nobody, all else by all.
A game that gives one of the derived fields itself (`resample`, `show`, an encoder) keeps its own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cardai.errors import unknown
from cardai.game import CORE_FIELDS, PerspectiveEncoder, Zone, views, worlds
from cardai.game.compiled.together import SEALED
from cardai.game.fields import (
    NONE,
    Card,
    Cards,
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
    Order,
    Pile,
    Rank,
    Seat,
    Seats,
    Slots,
    Stock,
    Suit,
    Word,
    renamed_sets,
)  # fmt: skip
from cardai.game.wording import Moves
from cardai.game.written import Source, written
from cardai.rules import WORD
from cardai.rules.cards import Deck

__all__ = [
    "NONE",
    "Card",
    "Cards",
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
    "Order",
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

    `deck`: the cards. `seats`: of the largest table. `copies`: how many cards of each kind there are, in a game whose
    cards are alike; a place of cards, and what is known of it, are then counts of each kind. `suits_alike`: whether no
    rule tells the names of the suits apart, so that networks may learn from each position under all names. A field that
    is no `Field` but the shape of numbers is seen by nobody.
    Raises CardaiError for a field that names another that there is not.
    """

    def __init__(
        self,
        deck: Deck,
        seats: int,
        /,
        copies: Sequence[int] = (),
        suits_alike: bool = False,
        **fields: Field | int | tuple[int, ...],
    ) -> None:
        super().__init__(deck, seats, copies, suits_alike, **fields)
        _STATES[id(self.dtype)] = self

    def with_deck(self, deck: Deck) -> "State":
        """The same fields with another deck, for a game of its own."""
        return State(deck, self.seats, self.copies, self.suits_alike, **self.given)

    @property
    def undeclared(self) -> list[str]:
        """The names of the game's own fields of which nothing is said, but for the choices that the core keeps."""
        names = self.dtype.names or ()
        return [name for name in names if name not in (*CORE_FIELDS, SEALED, *self.fields)]

    def turned(self, states: np.ndarray, by: int) -> np.ndarray:
        """States in which all seats have moved on by `by`, with all that they have: STATE[N], of one table size."""
        seats, found = int(states["seats"][0]), states.copy()
        for name, field in {**self.fields, SEALED: Field("number", each=True)}.items():
            if name not in (self.dtype.names or ()):
                continue
            if field.what in ("seat", "seats"):
                found[name] = _seats_turned(field, states[name], by, seats)
            if field.each:
                found[name][:, :seats] = np.roll(found[name][:, :seats], by, axis=1)
        found["turn"] = _seats_turned(Field("seat"), states["turn"], by, seats)
        found["revealed"] = _seats_turned(Field("seats"), states["revealed"], by, seats)
        return found

    def renamed(self, states: np.ndarray, names: Sequence[int]) -> np.ndarray:
        """States in which each suit has the name of another, STATE[N]. `names`: the new suit by the suit."""
        found, cards = states.copy(), np.array(self.deck.renamed(names))
        for name, field in self.fields.items():
            values = states[name]
            if field.what in ("card", "suit"):
                new = np.append(cards if field.what == "card" else np.array(names), NONE)  # NONE is the last
                found[name] = new[values]
            elif field.what == "counts":
                found[name][..., cards] = values
            elif field.what == "cards":
                found[name] = renamed_sets(values, cards, self.is_wide)
        return found

    def lying(self, name: str, states: np.ndarray) -> np.ndarray:
        """How many cards a field of states, STATE[N], names: i8[N, n, kinds], n is 1 or a place for each seat."""
        field, rows = self.fields[name], states[name]
        rows = rows if field.each else rows[:, None]
        if field.what == "counts":
            return rows
        if field.what == "card":
            rows = rows.reshape(*rows.shape[:2], -1)
            return (rows[..., None] == np.arange(self.kinds)).sum(axis=2)
        words = rows.reshape(*rows.shape[:2], -1)
        kinds = np.arange(self.kinds)
        word, bit = (kinds // WORD, kinds % WORD) if self.is_wide else (0 * kinds, kinds)
        return words[..., word] >> bit & 1

    def move(self, source: str, target: str) -> Callable[..., None]:
        """The rule that moves cards from a place to another, and keeps what all know of hands.

        It is `move(state, cards, from_seat, to_seat)` with only those seats whose place is one for each seat. `cards`:
        a set, or the number of the card if one of the two places holds one card. Where cards are alike, a set is
        `kind, number`: so many of a kind, those first that all know to be in the hand. Raises CardaiError for a place
        that there is not, for wide sets, and where a card goes unseen from a hand of which cards are known to another.
        """
        return _mover(self, source, target)

    def value(self, name: str) -> Callable[..., float]:
        """The rule `value(state, seat)`, for outcomes: a field as a number, of one for each seat that of the seat.

        Of a seat or of a set of seats it is whether the seat is among them, 1.0 or 0.0. Raises CardaiError for another
        field than a number, a seat or seats.
        """
        field, at = self.fields.get(name), f"state.{name}"
        if field is None or field.what not in ("number", "seat", "seats") or field.shape:
            self.refuse(f"value: {name} is no field declared as one number, a seat or seats, or Each of these")
        at = f"{at}[seat]" if field.each else at
        forms = {"number": at, "seat": f"({at} == seat)", "seats": f"({at} >> seat & 1)"}
        text = Source("def value(state, seat):")
        text.add(f"return 1.0 * {forms[field.what]}")
        return written(text, self.title)

    def hand_zone(self, record: Any, other: int, seat: int, note: str = "") -> Zone:
        """The hand of `other` as `seat` sees it, for a game with own `zones`. `note`: what is said of the seat."""
        return views.hand_zone(self, "hands", record, other, seat, note)

    def derived(self, move: Moves | np.dtype, given: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of `Game` that follow from the declarations, but for those that are given."""
        made: dict[str, Any] = {"state": self.dtype, "pieces": self.deck.all_names, "holdings": views.holdings(self)}
        if self.copies:
            made["copies"] = self.copies
            if any(one.known or (one.shape and one.sees != "all") for one in self.places.values()):
                made["weight"] = worlds.weight(self)
        made |= {"zones": views.zones(self), "show": views.show(self, next(iter(given["variants"].values()), {}))}
        if not given.get("resample"):
            made["resample"] = worlds.resample(self)
        if not given.get("blank"):
            made["blank"] = worlds.blank(self)
        if not given.get("encoders"):
            layout, encode, by_suit = views.encoder(self)
            made["encoders"] = {"planes": PerspectiveEncoder(layout, encode, by_suit if self.suits_alike else None)}
        if isinstance(move, Moves):
            made |= move.derived(self, given)
        return made


_STATES: dict[int, State] = {}


def state_of(dtype: np.dtype) -> State | None:
    """The declaration that a state's type was made from, None if it was made by `state_dtype`."""
    found = _STATES.get(id(dtype))
    return found if found is not None and found.dtype is dtype else None


def _seats_turned(field: Field, values: np.ndarray, by: int, seats: int) -> np.ndarray:
    """Seats, or sets of seats, that have moved on."""
    if field.what == "seat":
        return np.where(values == NONE, NONE, (values + by) % seats)
    return (values << by | values >> seats - by) & (1 << seats) - 1


def _mover(state: Declaration, source: str, target: str) -> Callable[..., None]:
    """The rule that moves cards between two places: see `cardai.game.declared.State.move`.

    What a card does to what all know, by who sees the places:
    - it leaves a hand: it is known there no longer;
    - from where all see it into a hand: all know that the hand has it;
    - unseen into a hand: that may hold again what it lacked.
    """
    places = {name: field for name, field in state.fields.items() if field.is_place}
    for name in (source, target):
        if name not in places:
            state.refuse(f"move: {unknown('place', name, places)}")
    old, new = places[source], places[target]
    if (state.is_wide and not state.copies) or old.shape or new.shape:
        state.refuse(f"move: {source} or {target} has an order or is a wide set; write this rule yourself")
    if old.known and new.sees != "all" and (new.known or new.sees == "nobody" or state.copies):
        state.refuse(
            f"move: a card that goes unseen from {source} to {target} may be one that all know to be in {source};"
            " write this rule yourself, with what they know then"
        )
    is_card = "card" in (old.what, new.what)
    cards = ["card"] if is_card else ["kind", "number"] if state.copies else ["cards"]
    seats = [name for name, field in (("from_seat", old), ("to_seat", new)) if field.each]
    text = Source(f"def move({', '.join(['state', *cards, *seats])}):")
    if is_card:
        text.add("kind, number = card, 1" if state.copies else "cards = single(card)")
    _change(state, source, "from_seat", text, goes=True)
    if old.known:
        _change(state, old.known, "from_seat", text, goes=True)
    _change(state, target, "to_seat", text)
    if new.known and old.sees == "all":
        _change(state, new.known, "to_seat", text)
    if new.lacks and old.sees != "all":
        text.add(f"state.{new.lacks}[to_seat] = 0")
    return written(text, state.title)


def _change(state: Declaration, name: str, seat: str, text: Source, goes: bool = False) -> None:
    """Write that cards come to lie in a field, or that they go: of those that all know, as many as there are."""
    field = state.fields[name]
    at = f"state.{name}[{seat}]" if field.each else f"state.{name}"
    if field.what == "card":
        text.add(f"{at} = NONE" if goes else f"{at} = card")
    elif field.what == "cards":
        text.add(f"{at} &= ~cards" if goes else f"{at} |= cards")
    elif field.is_place or not goes:
        text.add(f"{at}[kind] {'-' if goes else '+'}= number")
    else:
        text.add(f"{at}[kind] = max(0, {at}[kind] - number)")
