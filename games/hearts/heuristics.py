"""Hand-written evaluations of a Hearts position for a seat, by what the seat knows. Numbers refer to RULES.md.

`hand_risk` estimates how many points a hand will still cost. It looks at each suit apart. If nobody leads anything
else, the seat plays its lowest card of the suit in the first round of the suit, the next in the second, and so on. A
card takes its trick if no other seat has to play above it: another seat does that if it has a higher card and no
lower one. With h cards above and l below among the three other hands, about m = 3 (1 - (2/3)^h) of the seats have a
higher card, and each has no lower one with probability (2/3)^l. So the card takes its trick with probability
(1 - (2/3)^l)^m. What the trick costs depends on the cards that void seats throw on it.
"""

import math

import numpy as np

from cardai.rules import rule
from cardai.rules.cards import count, highest, lowest, single, suit_cards

from .rules import (
    ALL_HEARTS,
    HEARTS,
    NONE,
    POINT_CARDS,
    QUEEN,
    QUEEN_OF_SPADES,
    SEATS,
    SPADES,
    penalty,
    table_cards,
    taker,
    unseen_by,
)

ELSEWHERE = 2 / 3  # the chance that a card in three hands is not in a certain one of them

WEIGHTS = {
    "later": 0.27,  # what a card counts for each lower one of its suit in the hand: later rounds may not come
    "gone": 2.0,  # how many cards of a suit the other hands lose in a round of it
    "void": 0.17,  # what it is worth to have no card of a suit
    "heart": 0.98,  # the points of a card that a void seat throws
    "queen": 20.31,  # the same, added while somebody else has the queen of spades
    "over": 2.94,  # the cost of a trick taken with the king or ace of spades while somebody else has the queen
    "own": 9.54,  # what it costs to hold the queen without another spade
    "guard": 0.62,  # what each other spade leaves of that
}
"""The weights of `hand_risk`, which are the first parameters of the player `careful`."""

LATER, GONE, VOID, HEART, QUEEN_THROWN, OVER, OWN, GUARD = range(len(WEIGHTS))
USUAL = np.array(list(WEIGHTS.values()))


@rule
def taking_chance(above, below):
    """The chance that a card takes its trick, with so many cards above it and below it in three other hands."""
    return (1.0 - ELSEWHERE**below) ** (3.0 * (1.0 - ELSEWHERE**above))


@rule
def thrown_points(unseen, weights):
    """The points that a seat throws on a trick whose suit it does not have."""
    points = weights[HEART] if unseen & ALL_HEARTS != 0 else 0.0
    return points + weights[QUEEN_THROWN] if unseen & QUEEN != 0 else points


@rule
def suit_risk(cards, unseen, kind, thrown, weights):
    """The points that the cards of a suit will cost. `cards`, `unseen`: those of the suit in the hand and in others."""
    if cards == 0:
        return -weights[VOID]
    total, reach, played, rest = 0.0, 1.0, 0.0, cards
    others = 1.0 * count(unseen)
    while rest != 0:
        card = lowest(rest)
        rest &= rest - 1
        left = max(0.0, 1.0 - played / others) if others > 0 else 0.0
        below = count(unseen & (single(card) - 1))
        voids = 3.0 * ELSEWHERE ** (others * left)
        points = voids * thrown
        if kind == HEARTS:
            points += 4.0 - voids
        elif card > QUEEN_OF_SPADES and kind == SPADES and unseen & QUEEN != 0:
            points += weights[OVER]
        total += reach * points * taking_chance((others - below) * left, below * left)
        reach *= weights[LATER]
        played += weights[GONE]
    if cards & QUEEN != 0 and unseen != 0:
        total += weights[OWN] * weights[GUARD] ** (count(cards) - 1.0)
    return total


@rule
def hand_risk(hand, unseen, weights):
    """The points that a hand will cost. `unseen`: the cards in other hands. `weights`: f8[at least len(WEIGHTS)]."""
    thrown, total = thrown_points(unseen, weights), 0.0
    for kind in range(4):
        total += suit_risk(hand & suit_cards(kind), unseen & suit_cards(kind), kind, thrown, weights)
    return total


@rule
def points_so_far(state, seat):
    """4.1: the points that a seat has taken in this round, counted as less than 0.

    Those on the table count if its card takes them so far.
    """
    cards = state.taken[seat]
    if state.leader != NONE and state.table[state.leader] != NONE and taker(state) == seat:
        cards |= table_cards(state)
    return -float(penalty(cards))


@rule
def danger(state, seat):
    """The points taken so far and those that the hand will cost, counted as less than 0."""
    kept = state.hands[seat] & ~state.passed[seat] if state.leader == NONE else state.hands[seat]
    unseen = unseen_by(state, seat) | (state.hands[seat] & ~kept)
    return points_so_far(state, seat) - hand_risk(kept, unseen, USUAL)


# To take all points.

HOPE = (-0.69, -1.67, -1.90, 1.28, 0.23)  # the coefficients of `moon_hope`


@rule
def losers(cards, unseen):
    """How many of a suit's cards will lose their trick if the seat plays them from the top, on average."""
    total, played, rest, others = 0.0, 0.0, cards, 1.0 * count(unseen)
    while rest != 0:
        card = highest(rest)
        rest &= ~single(card)
        left = max(0.0, 1.0 - played / others) if others > 0 else 0.0
        above = count(unseen & ~(single(card) - 1)) * left
        total += 1.0 - ELSEWHERE**above
        played += 3.0
    return total


@rule
def hand_losers(hand, unseen):
    """How many cards of a hand will lose their trick, on average."""
    total = 0.0
    for kind in range(4):
        total += losers(hand & suit_cards(kind), unseen & suit_cards(kind))
    return total


@rule
def moon_lost(state, seat):
    """Whether another seat has points, or is sure to get some from the trick on the table."""
    for other in range(SEATS):
        if other != seat and state.taken[other] & POINT_CARDS != 0:
            return True
    laid = state.leader != NONE and state.table[seat] != NONE
    return laid and table_cards(state) & POINT_CARDS != 0 and taker(state) != seat


@rule
def moon_hope(state, seat):
    """4.2: the chance that a seat takes all points if it tries to, 0 to 1.

    A logistic regression on the roots of how many hearts and other cards will lose, on the share of the points taken
    and on the cards left. It was fitted to 167 000 positions of `careful` when it tries at every turn, against three
    who duck or are careful; of those with a hope of 0.5 to 0.6, 49 % became moons, of those above 0.7, 83 %.
    """
    if moon_lost(state, seat):
        return 0.0
    if state.taken[seat] & POINT_CARDS == POINT_CARDS:
        return 1.0
    kept = state.hands[seat] & ~state.passed[seat] if state.leader == NONE else state.hands[seat]
    unseen = unseen_by(state, seat) | (state.hands[seat] & ~kept)
    hearts = losers(kept & ALL_HEARTS, unseen & ALL_HEARTS)
    others = hand_losers(kept, unseen) - hearts
    taken = penalty(state.taken[seat]) / 26.0
    hope = HOPE[0] + HOPE[1] * math.sqrt(others) + HOPE[2] * math.sqrt(hearts) + HOPE[3] * taken + HOPE[4] * count(kept)
    return 1.0 / (1.0 + math.exp(-hope))
