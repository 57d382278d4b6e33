"""Cards and sets of cards, for rules and for text.

A card is a whole number: `card = 4 * rank + suit`, and rank 0 is the lowest. A set of cards is an int64 with one bit
for each card (62 cards never reach the sign), so `a | b` is the union of two sets, `a & b` what they share, `a & ~b`
what b lacks, and 0 the empty set. A set of more cards is wide: int64[words(size)], an array, which is changed in place.
`docs/cards.md` has an example of everything below.

    one card        rank, suit
    make a set      single, full_deck, suit_cards, same_rank, ranks_of
    ask a set       has, count, lowest, highest, highest_rank, next_card, sum_of
    draw            any_of, any_kind
    blank           filled
    subsets         next_subset
    trumps          beaters, weakest, trump_first
    encode          put, put_by_suit, suit_places, placed
    wide sets       words, add, remove, unite, subtract, intersect, assign, clear, meets
    text            as_int, DECK52, DECK36, Deck

`has`, `count`, `lowest`, `highest`, `next_card`, `sum_of`, `any_of`, `filled` and `put` take sets of both kinds. All
but `words` and what is for text are rules, which other rules may call. A rule goes through the cards of a set like
this:

    while rest != 0:
        card = lowest(rest)
        rest &= ~single(card)

or, without a copy of the set, through a set of any size:

    card = next_card(cards, -1)
    while card >= 0:
        card = next_card(cards, card)
"""

import functools
import string
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cardai.errors import CardaiError, short, whole
from cardai.rules import JIT, as_int, below, count, forms, highest, lowest, rule, write_bits
from cardai.rules import __file__ as rules_file
from cardai.rules.cards.wide import (
    add,
    assign,
    clear,
    drawn,
    filled_up,
    has_card,
    intersect,
    meets,
    next_of,
    put_words,
    remove,
    subtract,
    unite,
    words,
)

__all__ = [
    "DECK36", "DECK52", "Deck", "add", "any_kind", "any_of", "as_int", "assign", "beaters", "clear", "count",
    "filled", "full_deck", "has", "highest", "highest_rank", "intersect", "lowest", "meets", "next_card", "next_subset",
    "placed", "put", "put_by_suit", "rank", "ranks_of", "remove", "same_rank", "single", "subtract", "suit",
    "suit_cards", "suit_places", "sum_of", "trump_first", "unite", "weakest", "words",
]  # fmt: skip

SYMBOLS = str.maketrans({**dict(zip("♣♦♥♠♧♢♡♤", "CDHSCDHS", strict=True)), "\ufe0f": None})
EVERY_RANK = 0x1111111111111  # the cards of suit 0
MOST = 62  # cards of a set in one number
DECK_LIMIT = f"full_deck makes a set in one number, of at most {MOST} cards; filled makes a wide set (docs/cards.md)"
LIMIT = f"a set in one number has the cards 0 to {MOST - 1}, a wide set (docs/cards.md) any"


def _within_a_number(function: Any) -> Any:
    """A rule whose last argument is a card of a set in one number. Plain Python looks whether it is one."""
    if JIT:
        return rule(function)

    @functools.wraps(function)
    def checked(*arguments):
        card = arguments[-1]
        if not 0 <= card < MOST:
            frame: Any = sys._getframe(1)
            while frame.f_code.co_filename in (__file__, rules_file):
                frame = frame.f_back
            where = f"{frame.f_code.co_filename}, line {frame.f_lineno}"
            raise CardaiError(
                f"the rule {frame.f_code.co_name} calls {function.__name__} with card {card}; {LIMIT} ({where})"
            )
        return function(*arguments)

    return checked


@_within_a_number
def single(card):
    """The set with this card only."""
    return 1 << card


@forms({(1,): has_card}, _within_a_number)
def has(cards, card):
    """Whether a card is in a set."""
    return (cards >> card) & 1 != 0


@rule
def rank(card):
    """Returns the rank of a card. 0 is the lowest rank."""
    return card >> 2


@rule
def suit(card):
    """The suit of a card: 0..3."""
    return card & 3


@rule
def suit_cards(suit):
    """Returns the set of all cards of a suit, 0..3, in a deck of 13 ranks. Intersect it with a smaller deck."""
    return EVERY_RANK << suit


@_within_a_number
def same_rank(card):
    """The set of the four cards that have the rank of a card."""
    return 15 << (card & ~3)


@rule
def ranks_of(cards):
    """The set of all cards whose rank occurs in a set."""
    first = (cards | cards >> 1 | cards >> 2 | cards >> 3) & EVERY_RANK
    return first * 15


@rule
def full_deck(size):
    """The set of cards 0..size-1, size at most 62. Raises CardaiError for more: `filled` makes a wide one."""
    if size > MOST:
        raise CardaiError(DECK_LIMIT)
    return (1 << size) - 1


@forms({(1,): filled_up})
def filled(cards, size):
    """A set with the lowest cards that are not in it added, up to `size` cards: stands for cards that are hidden.

    A wide set is left as it is: the result is another one.
    """
    missing = size - count(cards)
    if missing > 0:
        cards |= (1 << missing) - 1
        while count(cards) < size:
            cards |= cards + 1
    return cards


@forms({(1,): drawn})
def any_of(cards, stream):
    """Returns a card drawn evenly from a set that is not empty. `stream`: a state or another random stream."""
    for _ in range(below(stream, count(cards))):
        cards &= cards - 1
    return lowest(cards)


@rule
def any_kind(counts, stream):
    """Returns a kind drawn from counts of kinds, int64[kinds] with a sum above 0: each card is as likely."""
    pick, kind = below(stream, counts.sum()), 0
    while pick >= counts[kind]:
        pick -= counts[kind]
        kind += 1
    return kind


@forms({(1,): next_of})
def next_card(cards, card):
    """The lowest card of a set that is higher than `card`, -1 if there is none. From -1 on it goes through the set."""
    rest = cards >> (card + 1)
    return card + 1 + lowest(rest) if rest != 0 else -1


@rule
def sum_of(cards, values):
    """The sum of what the cards of a set are worth. `values`: by card, an array; 0 for the empty set."""
    total, card = 0, next_card(cards, -1)
    while card >= 0:
        total += values[card]
        card = next_card(cards, card)
    return total


@rule
def highest_rank(cards):
    """Returns the rank of the highest card of a set, or -1 for the empty set."""
    return highest(cards) >> 2 if cards else -1


@rule
def next_subset(chosen, cards, most):
    """Returns the next subset of `cards` after `chosen` that has at most `most` cards, or 0 after the last one.

    Subsets come in the order of increasing integer value.
    Start with `chosen = next_subset(0, cards, most)`, the first subset that is not empty. Each step takes a few
    instructions, however many subsets are too large.
    """
    if count(chosen) < most:
        return (chosen - cards) & cards
    return ((chosen | ~cards) + (chosen & -chosen)) & cards


@rule
def beaters(card, trump):
    """The cards that beat `card`, in a deck of 13 ranks: higher ones of its suit, and all trumps if it is no trump."""
    higher = suit_cards(suit(card)) & ~(single(card) * 2 - 1)
    return higher if suit(card) == trump else higher | suit_cards(trump)


@rule
def weakest(cards, trump):
    """The weakest card of a set that is not empty: the lowest plain card, or the lowest trump if there is no other."""
    plain = cards & ~suit_cards(trump)
    return lowest(plain if plain != 0 else cards)


@rule
def trump_first(hand, trump):
    """The order of suits, for `put_by_suit`: trump, then the others by their highest card in hand, then as they are."""
    order, taken = trump, 1 << trump
    for k in range(1, 4):
        best, strength = -1, -1
        for each in range(4):
            held = (hand & suit_cards(each)) >> each
            if not has(taken, each) and held > strength:
                best, strength = each, held
        order |= best << (2 * k)
        taken |= 1 << best
    return order


@forms({(1, 0, 1): put_words})
def put(row, first, cards, size):
    """Write for each card below `size`, from `first` on, whether a set has it: 1 or 0. row: an encoder's, u8[width].

    Returns the place after the last value.
    """
    write_bits(row, first, cards, size)
    return first + size


@rule
def suit_places(order):
    """Where each suit comes in an order: the place of suit s is in bits 2s and 2s + 1, as suit k of `order` in 2k."""
    places = 0
    for k in range(4):
        places |= k << (2 * ((order >> (2 * k)) & 3))
    return places


@rule
def placed(card, places):
    """Where a card stands among ranks x 4 suits if its suits are at other places (`suit_places`)."""
    return (card & ~3) + ((places >> (2 * (card & 3))) & 3)


@rule
def put_by_suit(row, first, cards, size, order):
    """Write the cards below `size` of a set as ranks x 4 suits, as `put` does, with the suits in another order.

    `order`: the suit that comes k-th is in its bits 2k and 2k + 1. Returns the place after the last value.
    """
    places = suit_places(order)
    rest = cards & full_deck(size)
    while rest != 0:
        row[first + placed(lowest(rest), places)] = 1
        rest &= rest - 1
    return first + size


@dataclass(frozen=True)
class Deck:
    """The names of the cards of a deck.

    `ranks`: the lowest first, `suits`: a letter or a name each. `others`: cards without a suit, such as jokers, which
    come after them. Card `len(suits) * rank + suit` has this rank and suit. `packs`: of several packs whose cards are
    told apart, each card has the letter of its pack: "a7H" and "b7H" are the sevens of hearts of two packs, and the
    second pack begins after the last card of the first. Packs whose cards are alike are one pack (`Table.copies`).
    Raises CardaiError for two cards of one name, and for other numbers of packs than 1 to 26.
    """

    ranks: Sequence[str] = "23456789TJQKA"
    suits: Sequence[str] = "CDHS"
    packs: int = 1
    others: Sequence[str] = ()

    def __post_init__(self) -> None:
        whole("packs", self.packs, 1, len(string.ascii_lowercase))
        for number, name in enumerate(self.all_names):
            if self.all_names.index(name) != number:
                raise CardaiError(f"two cards of a deck are called {short(name)}")

    @property
    def size(self) -> int:
        """How many cards the deck has."""
        return self.packs * self._pack

    @property
    def _pack(self) -> int:
        return len(self.suits) * len(self.ranks) + len(self.others)

    @property
    def suit_words(self) -> tuple[str, ...]:
        """What the suits are called in a sentence: "clubs" for C, and others as they are."""
        words = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
        return tuple(words.get(suit, suit) for suit in self.suits)

    @functools.cached_property
    def all_names(self) -> tuple[str, ...]:
        """The names of all cards, by number."""
        one = [rank + suit for rank in self.ranks for suit in self.suits] + [*self.others]
        marks = string.ascii_lowercase[: self.packs] if self.packs > 1 else [""]
        return tuple(mark + name for mark in marks for name in one)

    def renamed(self, names: Sequence[int]) -> list[int]:
        """The card that each card becomes when suits have other names: `names[suit]` is the new one of a suit.

        Cards without a suit stay what they are.
        """
        suits, found = len(self.suits), list[int]()
        for card in range(self.size):
            number = card % self._pack
            has_suit = number < suits * len(self.ranks)
            found.append(card - number % suits + names[number % suits] if has_suit else card)
        return found

    @functools.cached_property
    def _numbers(self) -> dict[str, int]:
        """The cards by all that they may be called, letters in upper case."""
        found = {}
        suited = len(self.suits) * len(self.ranks)
        for card, name in enumerate(self.all_names):
            in_pack = card % self._pack
            mark = name[:1] if self.packs > 1 else ""
            ways = [name]
            if in_pack < suited:
                rank, suit = divmod(in_pack, len(self.suits))
                ways.append(mark + self.suits[suit] + self.ranks[rank])
            found |= {way.upper(): card for way in ways}
        return found

    def name(self, card: int) -> str:
        """The name of a card, rank first: "6S"."""
        return self.all_names[int(card)]

    def names(self, cards: Any) -> str:
        """The names of the cards of a set, of any size, the lowest first: "6S TH"."""
        return " ".join(self.name(card) for card in self.listed(cards))

    def listed(self, cards: Any) -> list[int]:
        """The cards of a set, of any size, as a list, the lowest first."""
        rest, found = as_int(cards) & ((1 << self.size) - 1), []
        while rest:  # by the lowest bit: most sets have few cards
            found.append((rest & -rest).bit_length() - 1)
            rest &= rest - 1
        return found

    def card(self, name: str) -> int:
        """Returns the card with a name, such as "6S".

        Lower case, the suit first ("s6"), "10" for "T" and symbols of suits ("6♠") are understood. Raises ValueError
        for a text that names no card.
        """
        text = name.strip().translate(SYMBOLS)
        if text.isascii():
            text = text.upper()
        if "T" in self.ranks:
            text = text.replace("10", "T")
        if text not in self._numbers:
            raise ValueError(f"{name!r} is not a card; {self._in_words}: {self.name(self.size - 1)}")
        return self._numbers[text]

    @property
    def _in_words(self) -> str:
        ranks, suits = (names if isinstance(names, str) else ", ".join(names) for names in (self.ranks, self.suits))
        packs = f"a pack, a to {string.ascii_lowercase[self.packs - 1]}, " if self.packs > 1 else ""
        others = f", or {' or '.join(self.others)}" if self.others else ""
        return f"a card is {packs}a rank of {ranks} and a suit of {suits}{others}"

    def cards(self, names: str) -> int:
        """The set of the named cards, separated by spaces or commas.

        Raises ValueError for a text that names no card, and for a card named twice.
        """
        named = 0
        for name in names.replace(",", " ").split():
            bit = 1 << self.card(name)
            if named & bit:
                raise ValueError(f"{name!r} is named twice")
            named |= bit
        return named


DECK52 = Deck()
DECK36 = Deck(ranks="6789TJQKA")
