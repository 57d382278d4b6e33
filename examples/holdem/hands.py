"""How good a hand of five to seven cards is: a whole number, higher for better hands, equal for equal ones.

Sets are taken apart by suit: the cards of suit s, moved down by s, are a set of ranks with a place every four bits.
Numbers in comments are the rules of RULES.md in this folder.
"""

from cardai.rules import rule
from cardai.rules.cards import EVERY_RANK, count, highest

KINDS = (
    "high card", "a pair", "two pairs", "three of a kind", "a straight", "a flush", "a full house", "four of a kind",
    "a straight flush",
)  # fmt: skip
HIGH, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(9)
DIGITS = 5  # ranks that break a tie, each a digit to base 16


@rule
def valued(kind, ranks, n, others, m):
    """The strength of a kind of hand, told from others by the n highest of some ranks and the m highest others."""
    number = kind
    for place in range(n + m):
        card = highest(ranks if place < n else others)
        number = 16 * number + (card >> 2)
        ranks &= ~(1 << card)
        others &= ~(1 << card)
    return number << 4 * (DIGITS - n - m)


@rule
def straight(ranks):
    """The highest rank of the best straight in a set of ranks, as a set one rank higher up, or 0."""
    ranks = ranks << 4 | ranks >> 48 & 1  # 4.2: an ace is the lowest card too
    run = ranks & ranks >> 4
    run = run & run >> 8 & ranks >> 16
    return 1 << highest(run) + 16 if run != 0 else 0


@rule
def strength(cards):
    """4.2: how good the best five of five to seven cards are."""
    clubs, diamonds = cards & EVERY_RANK, cards >> 1 & EVERY_RANK
    hearts, spades = cards >> 2 & EVERY_RANK, cards >> 3 & EVERY_RANK
    once = clubs | diamonds | hearts | spades
    red, black = diamonds & hearts, clubs & spades
    either = (diamonds | hearts) & (clubs | spades)
    twice = red | black | either
    thrice = red & (clubs | spades) | black & (diamonds | hearts)
    four = red & black
    flush = 0
    for suit in range(4):
        suited = cards >> suit & EVERY_RANK
        if count(suited) >= 5:
            flush = suited
    if straight(flush) != 0:
        return valued(STRAIGHT_FLUSH, straight(flush), 1, 0, 0)
    if four != 0:
        return valued(FOUR, four, 1, once, 1)
    if thrice != 0 and count(twice) > 1:
        return valued(FULL_HOUSE, thrice, 1, twice, 1)
    if flush != 0:
        return valued(FLUSH, flush, 5, 0, 0)
    if straight(once) != 0:
        return valued(STRAIGHT, straight(once), 1, 0, 0)
    if thrice != 0:
        return valued(THREE, thrice, 1, once, 2)
    if count(twice) > 1:
        return valued(TWO_PAIRS, twice, 2, once, 1)
    if twice != 0:
        return valued(PAIR, twice, 1, once, 3)
    return valued(HIGH, once, 5, 0, 0)


@rule
def kind_of(hand):
    """The kind of a hand by its strength, a place in `KINDS`."""
    return hand >> 4 * DIGITS
