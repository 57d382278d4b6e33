"""Which claims a seat sees to be false, and which it can prove. Numbers refer to RULES.md.

A claim is *proven* if it is right in every deal that agrees with the public facts of rule 5.1 and with the own cards of
the half-suit (3.4). One such deal is the own hand together with the hidden cards, dealt to the other seats in one way
that fits (`deal_one_way`). Then it is asked whether a hidden card of the half-suit may lie anywhere else in another one
(`may_lie_elsewhere`).

The deals are flows. Each hidden card flows to a place, which is a seat: first into a *node* of the place, of which
there is one for each half-suit, then into the place, which takes as many cards as it has room. A place that must
have a card of a half-suit has at least one in that node. Two deals that fit differ by cycles: a card goes from place p
to q; q now has one card too many, and passes on another one of the same half-suit, or one of a half-suit of which it
can spare one; and so on, until p has a card back. So a card at p may lie elsewhere if and only if a chain of such moves
leads back to p. A card for which there is no room left is brought in by a chain of the same moves to a place with room
(an augmenting path).
"""

import numpy as np

from cardai.rules import rule
from cardai.rules.cards import count, has, lowest, single

from .deck import ALL_HALVES, CARDS, HALVES, NONE, SIX, card_of, cards_of, half_of

TWO_LEFT, FOUR_LEFT = 2, 4  # how far to the left the teammates sit


@rule
def live(state):
    """The half-suits that have not been claimed, as a set."""
    return ALL_HALVES & ~(state.won[0] | state.won[1] | state.won[2])


@rule
def live_cards(state):
    """The cards in hands."""
    cards, halves = 0, live(state)
    while halves != 0:
        cards |= cards_of(lowest(halves))
        halves &= halves - 1
    return cards


@rule
def shown(state):
    """5.1: the cards in hands whose holder all have seen."""
    cards = 0
    for seat in range(state.seats):
        cards |= state.known[seat]
    return cards


@rule
def room(state, seat):
    """How many cards of a hand have not been shown."""
    return count(state.hands[seat]) - count(state.known[seat])


# Claims that are not seen to be false.


@rule
def fitting_claims(state, seat, half, names):
    """3.3: write the claims of a live half-suit that the seat does not see to be false. Returns how many there are.

    `names`: int64[64], as in a move.
    """
    for step in range(1, state.seats, 2):
        if state.known[(seat + step) % state.seats] & cards_of(half) != 0:
            return 0
    n = 0
    for choice in range(single(SIX) if state.seats == 6 else 1):
        if is_fitting(state, seat, half, choice):
            names[n] = choice
            n += 1
    return n


@rule
def is_fitting(state, seat, half, names):
    """3.3: whether a claim agrees with the hand, the cards shown, the known lacks and the sizes of hands."""
    far = named_far(half, names)
    if far & state.hands[seat] != 0:
        return False
    near = cards_of(half) & ~far & ~state.hands[seat]
    return may_hold(state, (seat + TWO_LEFT) % state.seats, near, cards_of(half)) and (
        state.seats == 4 or may_hold(state, (seat + FOUR_LEFT) % state.seats, far, cards_of(half))
    )


@rule
def named_far(half, names):
    """The cards that a claim gives to the teammate at +4."""
    cards = 0
    for i in range(SIX):
        if has(names, i):
            cards |= single(card_of(half, i))
    return cards


@rule
def may_hold(state, seat, cards, among):
    """Whether a seat may have exactly these of some cards, by its cards shown, its lacks and the size of its hand."""
    new = cards & ~state.known[seat]
    return state.known[seat] & among & ~cards == 0 and new & state.lacks[seat] == 0 and count(new) <= room(state, seat)


# Claims that are proven.


@rule
def proven_claims(state, seat, names):
    """3.4: write the `names` of the proven claim of each half-suit, or NONE where there is none: int64[8]."""
    names[:] = NONE
    halves = not_excluded(state, seat)
    if halves == 0:
        return
    hidden = live_cards(state) & ~shown(state) & ~state.hands[seat]
    dealt, is_dealt = np.zeros(state.seats, np.int64), False
    while halves != 0:
        half = lowest(halves)
        halves &= halves - 1
        if hidden & cards_of(half) != 0:
            if not is_dealt and not deal_one_way(state, seat, hidden, dealt):
                return
            is_dealt = True
        dealt[seat] = state.hands[seat] & ~state.known[seat] & ~cards_of(half)  # nobody needs to know the other cards
        if is_fixed(state, seat, half, dealt):
            names[half] = names_by(state, seat, half, dealt)


@rule
def not_excluded(state, seat):
    """The live half-suits of which, at first sight, the own team may have all cards.

    No opponent has shown a card of them or must have one, and some teammate may have each card that the seat does not
    see.
    """
    elsewhere, due, possible = 0, 0, state.hands[seat]
    for other in range(state.seats):
        if (other - seat) % 2 != 0:
            elsewhere |= state.known[other]
            due |= state.must[other]
        elif other != seat:
            possible |= state.known[other]
            if room(state, other) > 0:
                possible |= ~state.lacks[other]
    halves, rest = 0, live(state) & ~due
    while rest != 0:
        half = lowest(rest)
        rest &= rest - 1
        if cards_of(half) & (elsewhere | ~possible) == 0:
            halves |= single(half)
    return halves


@rule
def is_fixed(state, seat, half, dealt):
    """Whether all deals that fit give the hidden cards of a half-suit to the same teammates. `dealt`: one of them."""
    for other in range(state.seats):
        if dealt[other] & cards_of(half) != 0 and (
            (other - seat) % 2 != 0 or may_lie_elsewhere(state, seat, other, half, dealt)
        ):
            return False
    return True


@rule
def names_by(state, seat, half, dealt):
    """The names of a claim by a deal of the hidden cards."""
    names = 0
    if state.seats == 6:
        far = (seat + FOUR_LEFT) % state.seats
        for i in range(SIX):
            if has(state.known[far] | dealt[far], card_of(half, i)):
                names |= single(i)
    return names


# Deals as flows. A node is a number: 8 * place + half-suit.


@rule
def may_lie_elsewhere(state, seat, place, half, dealt):
    """Whether a card of a half-suit that a deal gives to a place lies elsewhere in another deal that fits.

    In all of them `seat`, another place, has the same cards of the half-suit.
    """
    cards, starts, barred = dealt[place] & cards_of(half), 0, single(HALVES * seat + half)
    for other in range(state.seats):
        if other != place and cards & ~state.lacks[other] != 0:
            starts |= single(HALVES * other + half)
    full, came_from = np.zeros(state.seats, np.int64), np.empty(CARDS, np.int64)
    return find_chain(state, dealt, full, starts & ~barred, barred, HALVES * place + half, came_from) != NONE


@rule
def deal_one_way(state, seat, hidden, dealt):
    """Deal the hidden cards to the other seats in one way that fits. Returns whether there is one.

    `dealt`: int64[seats], empty sets before.
    """
    free = np.zeros(state.seats, np.int64)
    for half in range(HALVES):  # a card to each place that must have one
        cards, duties = hidden & cards_of(half), 0
        for other in range(state.seats):
            free[other] = int(other != seat and has(state.must[other], half))
            duties += free[other]
        while duties > 0 and cards != 0:
            duties -= int(bring_in(state, seat, lowest(cards), dealt, free))
            cards &= cards - 1
        if duties > 0:
            return False
    restricted = 0
    for other in range(state.seats):
        if other != seat:
            free[other] = room(state, other) - count(dealt[other])
            hidden &= ~dealt[other]
            restricted |= state.lacks[other]
    return bring_all(state, seat, hidden & restricted, dealt, free) and bring_all(
        state, seat, hidden & ~restricted, dealt, free
    )


@rule
def bring_all(state, seat, cards, dealt, free):
    """Bring cards in, one by one. Returns whether there was a place for all."""
    while cards != 0:
        if not bring_in(state, seat, lowest(cards), dealt, free):
            return False
        cards &= cards - 1
    return True


@rule
def bring_in(state, seat, card, dealt, free):
    """Give a card to a place, and move others on if that makes room. Returns whether it was possible.

    `free`: int64[seats], the room left. Opponents come first: a claim fails soonest if they have a card of it.
    """
    starts, half = 0, half_of(card)
    for first in range(1, 3):
        for step in range(first, state.seats, 2):
            other = (seat + step) % state.seats
            if not has(state.lacks[other], card):
                if free[other] > 0:
                    dealt[other] |= single(card)
                    free[other] -= 1
                    return True
                starts |= single(HALVES * other + half)
    came_from = np.empty(CARDS, np.int64)
    node = find_chain(state, dealt, free, starts, 0, NONE, came_from)
    if node == NONE:
        return False
    free[node // HALVES] -= 1
    while came_from[node] != NONE:
        before = came_from[node]
        giver, taker = before // HALVES, node // HALVES
        if giver != taker:
            moved = dealt[giver] & cards_of(node % HALVES) & ~state.lacks[taker]
            dealt[giver] &= ~single(lowest(moved))
            dealt[taker] |= single(lowest(moved))
        node = before
    dealt[node // HALVES] |= single(card)
    return True


@rule
def find_chain(state, dealt, free, starts, barred, goal, came_from):
    """Look for a chain of moves from some nodes, each with a card too many, to the node `goal` or a place with room.

    `starts`, `barred`: sets of nodes; no chain goes to the barred ones. `free`: int64[seats], the room left.
    `came_from`: int64[48], written for each node that is reached: the node before it, NONE for a start. Returns the
    last node, or NONE if there is no chain.
    """
    reached, rest, places = starts | barred, starts, 0
    while rest != 0:
        node = lowest(rest)
        rest &= rest - 1
        came_from[node] = NONE
    rest = starts
    while rest != 0:
        node = lowest(rest)
        rest &= rest - 1
        place, half = node // HALVES, node % HALVES
        if node == goal or free[place] > 0:
            return node
        following, cards = 0, dealt[place] & cards_of(half)
        if cards != 0:
            for other in range(state.seats):
                if cards & ~state.lacks[other] != 0:
                    following |= single(HALVES * other + half)
        if not has(places, place):
            places |= single(place)
            following |= spared(state, place, dealt[place]) << (HALVES * place)
        following &= ~reached
        reached |= following
        rest |= following
        while following != 0:
            came_from[lowest(following)] = node
            following &= following - 1
    return NONE


@rule
def spared(state, place, cards):
    """The half-suits of which a place can give one of these cards away, as a set."""
    halves = 0
    for half in range(HALVES):
        if count(cards & cards_of(half)) > has(state.must[place], half):
            halves |= single(half)
    return halves
