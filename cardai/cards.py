"""Cards and sets of cards.

A card is a whole number, rank first: `card = 4 * rank + suit`, rank 0 the lowest. A set of cards is an int64 with a
bit for each card; 52 bits never reach the sign. `count`, `lowest` and `highest` come from `cardai.rule`; iterate with

    while rest:
        card = lowest(rest)
        rest &= ~single(card)
"""

from dataclasses import dataclass

from cardai.rule import below, count, highest, lowest, rule

__all__ = [
    "DECK36", "DECK52", "Deck", "any_of", "count", "full_deck", "has", "highest", "highest_rank", "lowest",
    "next_subset", "put", "rank", "ranks_of", "same_rank", "single", "suit", "suit_cards",
]  # fmt: skip

EVERY_RANK = 0x1111111111111  # the first suit's cards


@rule
def single(card):
    """The set that holds one card."""
    return 1 << card


@rule
def has(cards, card):
    """Whether a set holds a card."""
    return (cards >> card) & 1 != 0


@rule
def rank(card):
    """A card's rank: 0 the lowest."""
    return card >> 2


@rule
def suit(card):
    """A card's suit: 0..3."""
    return card & 3


@rule
def suit_cards(suit):
    """All cards of a suit."""
    return EVERY_RANK << suit


@rule
def same_rank(card):
    """The four cards of a card's rank."""
    return 15 << (card & ~3)


@rule
def ranks_of(cards):
    """All cards whose rank occurs in a set."""
    first = (cards | cards >> 1 | cards >> 2 | cards >> 3) & EVERY_RANK
    return first * 15


@rule
def full_deck(size):
    """The set of cards 0..size-1."""
    return (1 << size) - 1


@rule
def any_of(cards, stream):
    """A card drawn evenly from a set that is not empty."""
    for _ in range(below(stream, count(cards))):
        cards &= cards - 1
    return lowest(cards)


@rule
def highest_rank(cards):
    """The rank of the highest card of a set, -1 for the empty set."""
    return highest(cards) >> 2 if cards else -1


@rule
def next_subset(chosen, cards, most):
    """The subset of `cards` with at most `most` cards that follows `chosen` in numeric order; 0 after the last.

    Starts from 0, so `chosen = next_subset(0, ...)` is the first that is not empty. Each step is a few instructions,
    however many subsets are too large.
    """
    if count(chosen) < most:
        return (chosen - cards) & cards
    return ((chosen | ~cards) + (chosen & -chosen)) & cards


@rule
def put(row, first, cards, size):
    """Write a set into an encoder's row, a value a card; the place after it."""
    for card in range(size):
        row[first + card] = (cards >> card) & 1
    return first + size


@dataclass(frozen=True)
class Deck:
    """Names of the cards of a deck: `ranks` from the lowest, `suits` in order."""

    ranks: str = "23456789TJQKA"
    suits: str = "CDHS"

    @property
    def size(self) -> int:
        """How many cards the deck has."""
        return 4 * len(self.ranks)

    def name(self, card: int) -> str:
        """A card's name, rank first: "6S"."""
        return self.ranks[int(card) >> 2] + self.suits[int(card) & 3]

    def names(self, cards: int) -> str:
        """The names of a set, lowest first: "6S TH"."""
        return " ".join(self.name(card) for card in self.listed(cards))

    def listed(self, cards: int) -> list[int]:
        """A set as a list of cards, lowest first."""
        return [card for card in range(self.size) if int(cards) >> card & 1]

    def card(self, name: str) -> int:
        """The card of a name; "10" and lower case are understood. Raises ValueError."""
        text = name.strip().upper().replace("10", "T")
        if len(text) != 2 or text[0] not in self.ranks or text[1] not in self.suits:
            raise ValueError(f"{name!r} is not a card; a card is a rank of {self.ranks} and a suit of {self.suits}: 6S")
        return 4 * self.ranks.index(text[0]) + self.suits.index(text[1])

    def cards(self, names: str) -> int:
        """The set of some names, separated by spaces or commas. Raises ValueError, also for a card named twice."""
        found = 0
        for name in names.replace(",", " ").split():
            bit = 1 << self.card(name)
            if found & bit:
                raise ValueError(f"{name!r} is named twice")
            found |= bit
        return found


DECK52 = Deck()
DECK36 = Deck(ranks="6789TJQKA")
