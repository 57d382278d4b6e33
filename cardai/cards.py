"""Cards and sets of cards, for rules and for text.

A card is a whole number: `card = 4 * rank + suit`, and rank 0 is the lowest. A set of cards is an int64 with one bit
for each card (52 bits never reach the sign), so `a | b` is the union of two sets, `a & b` what they share, `a & ~b`
what b lacks, and 0 the empty set. `docs/cards.md` has an example of everything below.

    one card        rank, suit
    make a set      single, full_deck, suit_cards, same_rank, ranks_of
    ask a set       has, count, lowest, highest, highest_rank
    draw            any_of
    blank           filled
    subsets         next_subset
    encode          put, put_by_suit
    names           DECK52, DECK36, Deck

All but the names are rules, which other rules may call. A rule goes through the cards of a set like this:

    while rest != 0:
        card = lowest(rest)
        rest &= ~single(card)
"""

from dataclasses import dataclass

from cardai.rule import below, count, highest, lowest, rule, write_bits

__all__ = [
    "DECK36", "DECK52", "Deck", "any_of", "count", "filled", "full_deck", "has", "highest", "highest_rank", "lowest",
    "next_subset", "put", "put_by_suit", "rank", "ranks_of", "same_rank", "single", "suit", "suit_cards",
]  # fmt: skip

_SYMBOLS = str.maketrans({**dict(zip("♣♦♥♠♧♢♡♤", "CDHSCDHS", strict=True)), "\ufe0f": None})
EVERY_RANK = 0x1111111111111  # the cards of suit 0


@rule
def single(card):
    """The set with this card only."""
    return 1 << card


@rule
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


@rule
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
    """The set of cards 0..size-1."""
    return (1 << size) - 1


@rule
def filled(cards, size):
    """A set with the lowest cards that are not in it added, up to `size` cards: stands for cards that are hidden."""
    missing = size - count(cards)
    if missing > 0:
        cards |= (1 << missing) - 1
        while count(cards) < size:
            cards |= cards + 1
    return cards


@rule
def any_of(cards, stream):
    """Returns a card drawn evenly from a set that is not empty. `stream`: a state or another random stream."""
    for _ in range(below(stream, count(cards))):
        cards &= cards - 1
    return lowest(cards)


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
def put(row, first, cards, size):
    """Write for each card below `size`, from `first` on, whether a set has it: 1 or 0. row: an encoder's, u8[width].

    Returns the place after the last value.
    """
    write_bits(row, first, cards, size)
    return first + size


@rule
def put_by_suit(row, first, cards, size, order):
    """Write the cards below `size` of a set as ranks x 4 suits, as `put` does, with the suits in another order.

    `order`: the suit that comes k-th is in its bits 2k and 2k + 1. Returns the place after the last value.
    """
    places = 0  # where each suit comes: that of suit s is in bits 2s and 2s + 1
    for k in range(4):
        places |= k << (2 * ((order >> (2 * k)) & 3))
    rest = cards & full_deck(size)
    while rest != 0:
        card = lowest(rest)
        row[first + (card & ~3) + ((places >> (2 * (card & 3))) & 3)] = 1
        rest &= rest - 1
    return first + size


@dataclass(frozen=True)
class Deck:
    """The names of the cards of a deck: a letter for each rank, the lowest first, and for each suit."""

    ranks: str = "23456789TJQKA"
    suits: str = "CDHS"

    @property
    def size(self) -> int:
        """How many cards the deck has."""
        return 4 * len(self.ranks)

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names of all cards, by number."""
        return tuple(self.name(card) for card in range(self.size))

    def name(self, card: int) -> str:
        """The name of a card, rank first: "6S"."""
        return self.ranks[int(card) >> 2] + self.suits[int(card) & 3]

    def names(self, cards: int) -> str:
        """The names of the cards of a set, the lowest first: "6S TH"."""
        return " ".join(self.name(card) for card in self.listed(cards))

    def listed(self, cards: int) -> list[int]:
        """The cards of a set as a list, the lowest first."""
        rest, found = int(cards) & ((1 << self.size) - 1), []
        while rest:  # by the lowest bit: most sets have few cards
            found.append((rest & -rest).bit_length() - 1)
            rest &= rest - 1
        return found

    def card(self, name: str) -> int:
        """Returns the card with a name, such as "6S".

        Lower case, the suit first ("s6"), "10" for "T" and symbols of suits ("6♠") are understood. Raises ValueError
        for a text that names no card.
        """
        text = name.strip().translate(_SYMBOLS)
        if text.isascii():
            text = text.upper()
        if "T" in self.ranks:
            text = text.replace("10", "T")
        for rank, suit in (text, text[::-1]) if len(text) == 2 else ():
            if rank in self.ranks and suit in self.suits:
                return 4 * self.ranks.index(rank) + self.suits.index(suit)
        ranks = f"a rank of {self.ranks} and a suit of {self.suits}"
        raise ValueError(f"{name!r} is not a card; a card is {ranks}: {self.name(self.size - 1)}")

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
