"""How many sets of cards may be played, without listing them. Rule numbers refer to RULES.md.

A hand of twenty cards has a million subsets. Counting them takes about a microsecond, so `moves.py` counts first.
"""

import math

import numpy as np

from cardai.rules import rule
from cardai.rules.cards import count, has, highest, lowest, same_rank, single, suit_cards

from .rules import DECK

RANKS = 13
OF_ALIKE = np.array([[math.comb(alike, taken) for taken in range(5)] for alike in range(5)])
"""OF_ALIKE[n, k]: in how many ways k cards can be taken of n cards of a rank."""


@rule
def count_subsets(cards, most):
    """How many subsets of `cards` have 1 to `most` cards."""
    size = count(cards)
    if most >= size:
        return (1 << size) - 1
    total, of_this_size = 0, 1
    for taken in range(1, most + 1):
        of_this_size = of_this_size * (size - taken + 1) // taken
        total += of_this_size
    return total


@rule
def count_openings(hand, most):
    """2.1: how many openings a hand has.

    `ways[n]`: how many sets of n cards there are in which each rank occurs at least twice.
    """
    ways, rest = np.zeros(DECK + 1, np.int64), hand
    ways[0] = 1
    while rest != 0:
        alike = count(rest & same_rank(lowest(rest)))
        rest &= ~same_rank(lowest(rest))
        for size in range(most, 1, -1):
            for taken in range(2, min(alike, size) + 1):
                ways[size] += ways[size - taken] * OF_ALIKE[alike, taken]
    total = count(hand)
    for size in range(2, most + 1):
        total += ways[size]
    return total


@rule
def count_kills(hand, table, trump):
    """3.1: how many kills there are, by a walk for all sets of cards at once.

    Each plain suit is walked from its lowest card upwards: a killer must find a lower target that is not yet killed.
    Targets left over (`owed`) must be killed by trumps. The trumps are walked from the highest card downwards: a target
    must find a higher killer that is still free. In the end as many killers must be free as targets are owed.

    `left[k]`: how many ways through a suit leave over k cards: targets not yet killed, or trumps that are still free.
    `owed[k]`: how many ways leave k targets of plain suits to the trumps. More than 13 are too many for the trumps.
    """
    owed, left = np.zeros(RANKS + 1, np.int64), np.zeros(RANKS + 1, np.int64)
    owed[0] = 1
    for plain in range(4):
        targets = table & suit_cards(plain)
        if plain != trump and targets != 0:
            left[:] = 0
            left[0] = 1
            rest = targets | (hand & suit_cards(plain))
            while rest != 0:
                card = lowest(rest)
                rest &= ~single(card)
                leave_or_take(has(targets, card), left)
            for total in range(RANKS, -1, -1):
                owed[total] *= left[0]
                for unkilled in range(1, total + 1):
                    owed[total] += owed[total - unkilled] * left[unkilled]
    left[:] = 0
    left[0] = 1
    rest = (hand | table) & suit_cards(trump)
    while rest != 0:
        card = highest(rest)
        rest &= ~single(card)
        leave_or_take(has(hand, card), left)
    kills = -1  # to take no card at all is no kill
    for free in range(RANKS + 1):
        kills += owed[free] * left[free]
    return kills


@rule
def leave_or_take(adds, left):
    """Count the ways after one more card of a suit is left out or taken. If taken, it `adds` a card or uses one up."""
    if adds:
        for k in range(RANKS, 0, -1):
            left[k] += left[k - 1]
    else:
        for k in range(RANKS):
            left[k] += left[k + 1]
