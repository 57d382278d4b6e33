"""How good a hand of five to seven cards is: a whole number, higher for better hands, equal for equal ones.

Sets are taken apart by suit: the cards of suit s, moved down by s, are a set of ranks with a place every four bits.
Numbers in comments are the rules of RULES.md in this folder.
"""

from cardai.cards import EVERY_RANK, count, highest
from cardai.rule import rule

KINDS = (
    "high card", "a pair", "two pairs", "three of a kind", "a straight", "a flush", "a full house", "four of a kind",
    "a straight flush",
)  # fmt: skip
HIGH, PAIR, TWO_PAIRS, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(9)
DIGITS = 5  # ranks that break a tie, each a digit to base 16


@rule
def with_highest(number, ranks, n):
    """Append the n highest of a set of ranks to a number, as digits."""
    for _ in range(n):
        place = highest(ranks)
        number = 16 * number + (place >> 2)
        ranks &= ~(1 << place)
    return number


@rule
def straight_to(ranks):
    """The place of the highest card of the best straight in a set of ranks, one rank higher up, or -1."""
    ranks = ranks << 4 | ranks >> 48 & 1  # 4.2: an ace is the lowest card too
    run = ranks & ranks >> 4
    run = run & run >> 8 & ranks >> 16
    return highest(run) + 16 if run != 0 else -1


@rule
def valued(kind, number, digits):
    return (kind << 4 * DIGITS) + (number << 4 * (DIGITS - digits))


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
    if flush != 0 and straight_to(flush) >= 0:
        return valued(STRAIGHT_FLUSH, straight_to(flush) >> 2, 1)
    if four != 0:
        best = with_highest(0, four, 1)
        return valued(FOUR, with_highest(best, once & ~(1 << 4 * best), 1), 2)
    if thrice != 0:
        best = with_highest(0, thrice, 1)
        rest = twice & ~(1 << 4 * best)
        if rest != 0:
            return valued(FULL_HOUSE, with_highest(best, rest, 1), 2)
    if flush != 0:
        return valued(FLUSH, with_highest(0, flush, 5), 5)
    if straight_to(once) >= 0:
        return valued(STRAIGHT, straight_to(once) >> 2, 1)
    if thrice != 0:
        best = with_highest(0, thrice, 1)
        return valued(THREE, with_highest(best, once & ~(1 << 4 * best), 2), 3)
    if count(twice) >= 2:
        best = with_highest(0, twice, 2)
        rest = once & ~(1 << 4 * (best >> 4)) & ~(1 << 4 * (best & 15))
        return valued(TWO_PAIRS, with_highest(best, rest, 1), 3)
    if twice != 0:
        best = with_highest(0, twice, 1)
        return valued(PAIR, with_highest(best, once & ~(1 << 4 * best), 3), 4)
    return valued(HIGH, with_highest(0, once, 5), 5)


@rule
def kind_of(hand):
    """The kind of a hand by its strength, a place in `KINDS`."""
    return hand >> 4 * DIGITS
