"""The deck of Literature: 48 cards in eight half-suits of six. Numbers refer to RULES.md.

Cards and sets of cards are those of `cardai.rules.cards`: card = 4 * rank + suit, rank 0 the ace, 5 the six, 6 the
eight and 11 the king; suits clubs, diamonds, hearts, spades. A half-suit is a number, suit + 4 * (rank >= 6). Its i-th
card, i from 0 to 5, has rank i or 6 + i.
"""

from cardai.rules import rule
from cardai.rules.cards import Deck, rank, suit

DECK = Deck(ranks="A2345689TJQK")  # 1.1
CARDS = 48
HALVES = 8
SIX = 6  # cards of a half-suit
ALL_HALVES = (1 << HALVES) - 1
LOW_CLUBS = 0x111111  # the half-suit 0, as a set of cards
NONE = -1


@rule
def half_of(card):
    """1.1: the half-suit of a card."""
    return suit(card) + 4 * (rank(card) >= SIX)


@rule
def card_of(half, i):
    """1.1: the i-th card of a half-suit, the lowest first."""
    return 4 * (SIX * (half >> 2) + i) + (half & 3)


@rule
def cards_of(half):
    """1.1: the six cards of a half-suit, as a set."""
    return LOW_CLUBS << card_of(half, 0)
