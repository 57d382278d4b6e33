"""What a seat cannot know in Hearts: dealt anew for worlds, written over for players. Numbers refer to RULES.md.

Hidden are the cards in other hands and the cards that others pass on. A seat knows all cards played, who holds 2C once
the play begins, what each seat cannot hold (`lacks`), the cards that it passed on itself, and those passed to it.

Worlds are even. `redeal` counts the deals of the hidden cards, so that each is equally likely. The hands after the
exchange, together with the cards that each seat passed on, come from exactly one deal. So each other seat may have
passed on any three of the 13 cards that its receiver had: 286 choices, the same number for every deal.
"""

import numpy as np

from cardai.rules import rule
from cardai.rules.cards import count, filled
from cardai.rules.dealing import redeal, some_of

from .rules import NONE, SEATS


@rule
def known_to(state, seat, other):
    """6.1, 6.2: the cards that `seat` knows to be in the hand of another seat: 2C, and cards that it passed to it."""
    known = state.known[other]
    if state.leader != NONE and (seat + state.direction) % SEATS == other:
        known |= state.passed[seat] & ~state.played[other]
    return known


@rule
def is_pass_hidden(state, other, seat):
    """Whether `seat` does not know which cards `other` has chosen to pass or has passed on."""
    if other == seat or state.passed[other] == 0:
        return False
    return state.leader == NONE or (other + state.direction) % SEATS != seat


@rule
def may_be_passed(state, other):
    """The cards of which those that `other` passes are some: its hand, later the 13 cards that its receiver had."""
    if state.leader == NONE:
        return state.hands[other]
    receiver = (other + state.direction) % SEATS
    return state.hands[receiver] | state.played[receiver]


@rule
def resample(state, seat, stream):
    known = np.empty(SEATS, np.int64)
    for other in range(SEATS):
        known[other] = known_to(state, seat, other)
    redeal(state.hands, known, state.lacks, seat, stream)
    for other in range(SEATS):
        if is_pass_hidden(state, other, seat):
            state.passed[other] = some_of(may_be_passed(state, other), count(state.passed[other]), stream)


@rule
def blank(state, seat):
    for other in range(SEATS):
        if other != seat:
            state.hands[other] = filled(known_to(state, seat, other), count(state.hands[other]))
        if is_pass_hidden(state, other, seat):
            state.passed[other] = filled(0, count(state.passed[other]))
