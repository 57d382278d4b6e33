"""Worlds of Hearts: what a seat cannot know, dealt anew. Numbers refer to RULES.md."""

from cardai.cards import any_of, count, filled, single
from cardai.dealing import redeal
from cardai.rule import rule

from .rules import NONE, PASS, SEATS


@rule
def known_to(state, seat, other):
    """A61, A62: the cards that `seat` knows another seat holds: the two of clubs, and cards it has passed to it."""
    known = state.known[other]
    if state.leader != NONE and (seat + state.direction) % SEATS == other:
        known |= state.passed[seat] & state.hands[other]
    return known


@rule
def some_of(cards, number, stream):
    """A subset of `number` cards; each is equally likely."""
    chosen = 0
    for _ in range(number):
        chosen |= single(any_of(cards & ~chosen, stream))
    return chosen


@rule
def resample(state, seat, stream):
    known = state.known.copy()
    for other in range(SEATS):
        known[other] = known_to(state, seat, other)
    redeal(state.hands, known, state.lacks, seat, stream)
    for other in range(SEATS):
        if other != seat and state.passed[other] != 0:
            receiver = (other + state.direction) % SEATS
            if state.leader == NONE:
                state.passed[other] = some_of(state.hands[other], count(state.passed[other]), stream)
            elif receiver != seat:
                state.passed[other] = some_of(state.hands[receiver] | state.played[receiver], PASS, stream)


@rule
def blank(state, seat):
    for other in range(SEATS):
        if other != seat:
            state.hands[other] = filled(known_to(state, seat, other), count(state.hands[other]))
    for other in range(SEATS):
        if other != seat and (state.leader == NONE or (other + state.direction) % SEATS != seat):
            state.passed[other] = filled(0, count(state.passed[other]))
