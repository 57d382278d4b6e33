# ruff: noqa: N802 - the words for fields look like types, so that `seat` and `card` stay free for variables
"""The fields of a declared state: what each is and who sees it. `cardai.game.declared` says how they are used.

A place that is a set of cards, and what is known of it, is counts of each kind in a state whose cards are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from cardai.errors import CardaiError, unknown, whole
from cardai.game import state_dtype
from cardai.rules import WORD
from cardai.rules.cards import MOST, Deck
from cardai.rules.cards import wide as wide_sets

NONE = -1
"""No card, no seat, no suit, no rank, no word."""
END = "end"
"""What hands are opened by that all see when the game is over."""


@dataclass(frozen=True)
class Field:
    """What a field of a state is. Made by the functions of this module.

    - `what`: "cards" (a set), "counts" (of each kind), "card", "seat", "seats", "suit", "rank", "number" or "word".
    - `sees`: "all", "own" (its seat), "others" (all but its seat) or "nobody".
    - `name`: for people; the name of the field if empty. `is_place`: whether cards lie in it.
    - `each`: whether there is one for each seat. `shape`: of each one, () for a single number.
    - `known`, `lacks`: of hands, the fields that say what all know of them. `opens`: the field that is not 0 once all
      see them. `top`: the field with the card that lies on a pile. `look`: see `cardai.game.Zone`.
    - `low`, `high`: the range of a number, or of a place's size. `words`: of a word, by number. `says`: what is said of
      the seat, such as "has knocked". `of`: the field of hands that a fact is about.
    """

    what: str
    sees: str = "all"
    name: str = ""
    is_place: bool = False
    each: bool = False
    shape: tuple[int, ...] = ()
    known: str = ""
    lacks: str = ""
    opens: str = ""
    top: str = ""
    look: str = "row"
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()
    says: str = ""
    of: str = ""
    is_option: bool = False

    @property
    def is_flag(self) -> bool:
        """Whether it is 0 or 1, which says whether something is so."""
        return self.what == "number" and (self.low, self.high) == (0, 1) and not self.shape


# Places


def Hand(name: str = "Hand", known: str = "", lacks: str = "", opens: str = "", size: int = 0) -> Field:
    """The hand of each seat, a set of cards that its own seat sees.

    `known`, `lacks`: the fields declared as `Known` and `Lacks` it, if the game has them. `opens`: a field of the
    state; while it is not 0, all see all hands. With `opens="end"` they do when the game is over. `size`: how many
    cards a hand has at any time, which the encoder then leaves out; 0 if that changes.
    """
    return Field("cards", "own", name, True, True, (), known, lacks, opens, look="fan", low=size, high=size)


def Held(name: str = "Hand", opens: str = "") -> Field:
    """The one card of each seat, which its own seat sees: its number."""
    return Field("card", "own", name, True, True, opens=opens, look="fan")


def Slots(number: int, name: str = "Hand") -> Field:
    """Cards in a row before each seat, which the others see and it does not: the kind of each, or NONE."""
    return Field("card", "others", name, True, True, (whole("number", number, 1),), look="row")


def Stock(name: str = "Stock", size: int = 0) -> Field:
    """Cards that nobody has seen, a set: they have no order until one is drawn.

    `size`: how many there are at any time, which the encoder then leaves out; 0 if that changes.
    """
    return Field("cards", "nobody", name, True, low=size, high=size, look="pile")


def Order(size: int, name: str = "Deck") -> Field:
    """Cards that nobody sees, in their order: `size` cards, NONE where there are none any more."""
    return Field("card", "nobody", name, True, shape=(whole("size", size, 1),), look="pile")


def Pile(name: str = "", look: str = "row", top: str = "") -> Field:
    """Cards that all see, a set. `top`: the field with the card that lies on them, which is not one of them."""
    return Field("cards", "all", name, True, top=top, look=look)


def Card(name: str = "", is_place: bool = True) -> Field:
    """A card that all see, or NONE. `is_place`: False if it lies elsewhere, so that this is only a fact about it."""
    return Field("card", "all", name, is_place)


# Facts


def Known(hands: str) -> Field:
    """The cards of each hand that everybody knows to be there, although they lie hidden again."""
    return Field("cards", of=hands, each=True)


def Lacks(hands: str) -> Field:
    """Cards that no hand can hold beside those that are known, for each seat: it has shown that it has none."""
    return Field("cards", of=hands, each=True)


def Cards(name: str = "", sees: str = "all", shape: tuple[int, ...] = ()) -> Field:
    """Cards that lie elsewhere, of which this says something that all know: a set, or what each of some may be.

    `sees`: "own" if only its seat knows it.
    """
    return Field("cards", sees, name, shape=shape)


def Number(name: str = "", low: int = 0, high: int = 255, shape: tuple[int, ...] = ()) -> Field:
    """A whole number that all know, from `low` to `high`: at most 255 apart."""
    whole("high", high, low, low + 255)
    return Field("number", name=name, low=low, high=high, shape=shape)


def Flag(name: str = "", says: str = "") -> Field:
    """Whether something is so, 0 or 1. `says`: the words for it, such as "has passed"."""
    return Field("number", name=name, high=1, says=says)


def Word(*words: str, name: str = "", shape: tuple[int, ...] = ()) -> Field:
    """One of some words, by its number; NONE for none, and so is an empty word: `Word("", "folds", "calls")`."""
    return Field("word", name=name, words=words, shape=shape)


def Seat(name: str = "", says: str = "") -> Field:
    """A seat, or NONE. `says`: what is said of it, such as "has knocked"."""
    return Field("seat", name=name, says=says)


def Seats(name: str = "", says: str = "") -> Field:
    """A set of seats."""
    return Field("seats", name=name, says=says)


def Suit(name: str = "") -> Field:
    """A suit, or NONE."""
    return Field("suit", name=name)


def Rank(name: str = "") -> Field:
    """A rank, or NONE."""
    return Field("rank", name=name)


def Option(name: str = "", low: int = 0, high: int = 255) -> Field:
    """An option of a variant (`Game.variants`), which stays what it is."""
    return replace(Number(name, low, high), is_option=True)


def Each(field: Field) -> Field:
    """One such field for each seat: `tricks=Each(Number())`."""
    return replace(field, each=True)


class Declaration:
    """The fields of a state, and its type. `cardai.game.declared.State` is what games use."""

    def __init__(
        self,
        deck: Deck,
        seats: int,
        /,
        copies: Sequence[int] = (),
        suits_alike: bool = False,
        **fields: Field | int | tuple[int, ...],
    ) -> None:
        self.deck, self.seats, self.copies = deck, whole("seats", seats, 1, 62), tuple(copies)
        self.suits_alike = suits_alike
        self.given = fields
        self.fields = {name: one for name, one in fields.items() if isinstance(one, Field)}
        self.kinds, self.title = deck.size, "game"
        self.is_wide = self.kinds > MOST
        of_cards = {*(one.known for one in self.fields.values()), *self.places} if self.copies else set()
        for name, field in self.fields.items():
            if name in of_cards and field.what == "cards":
                self.fields[name] = replace(field, what="counts")
            for part in ("known", "lacks", "opens", "top", "of"):
                if getattr(field, part) not in ("", *self.fields) and (part, field.opens) != ("opens", END):
                    wrong = unknown("field", getattr(field, part), self.fields)
                    raise CardaiError(f"State: {name}: {part}: {wrong}")
        self.dtype = state_dtype(**{name: self._shape(one) for name, one in (fields | self.fields).items()})

    def _shape(self, field: Field | int | tuple[int, ...]) -> Any:
        if not isinstance(field, Field):  # kept by the core (`sealed`), or seen by nobody and read by rules only
            return field
        own = field.shape
        if field.what == "counts":
            own = (self.kinds,)
        elif field.what == "cards" and self.is_wide:
            own = (*own, wide_sets.words(self.kinds))
        return (self.seats, *own) if field.each else own

    def label(self, name: str) -> str:
        """What people call a field."""
        return self.fields[name].name or name.replace("_", " ")

    @property
    def places(self) -> dict[str, Field]:
        """The fields that cards lie in: hands first, then what nobody sees, then what lies open."""
        order = {"own": 0, "others": 0, "nobody": 1, "all": 2}
        found = {name: one for name, one in self.fields.items() if one.is_place}
        return dict(sorted(found.items(), key=lambda item: order[item[1].sees]))

    @property
    def facts(self) -> dict[str, Field]:
        """The fields that cards do not lie in, but for those that only say what all see of hands."""
        of_hands = {name for one in self.places.values() for name in (one.known, one.lacks, one.opens)}
        return {name: one for name, one in self.fields.items() if not one.is_place and name not in of_hands}

    def refuse(self, why: str) -> NoReturn:
        """Raises CardaiError, which names the game."""
        raise CardaiError(f"{self.title}: {why}")


def renamed_sets(values: np.ndarray, cards: np.ndarray, is_wide: bool) -> np.ndarray:
    """Sets, i64[N], or wide ones, i64[N, words], whose cards have become others: card k has become `cards[k]`."""
    sets, word = (values, WORD) if is_wide else (values[..., None], MOST)
    found = np.zeros_like(sets)
    for card, new in enumerate(cards.tolist()):
        found[..., new // word] |= (sets[..., card // word] >> card % word & 1) << new % word
    return found if is_wide else found[..., 0]
