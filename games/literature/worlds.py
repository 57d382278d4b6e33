"""What a seat cannot know in Literature, dealt anew for worlds. Numbers refer to RULES.md.

Hidden are the cards in other hands that have not been shown. Of these everybody knows which cards a hand lacks
(`lacks`), of which half-suits it has at least one (`must`), and how many there are. That is all (5.3), so worlds are
the deals that fit these facts, each as likely.
"""

import numpy as np

from cardai.rules import rule
from cardai.rules.dealing import deal_obliged

from .deck import HALVES, cards_of
from .proof import live_cards, room, shown


@rule
def hidden_places(state, seat):
    """What `cardai.rules.dealing` is asked: how the cards that a seat cannot see lie. (hidden, sizes, groups, must).

    `hidden`: these cards, a set. `sizes`, `must`: int64[seats], how many of them each other seat has, and the
    half-suits of which it must have one; for the seat itself both are 0. `groups`: int64[8], the half-suits.
    """
    sizes, must, groups = np.zeros(state.seats, np.int64), np.zeros(state.seats, np.int64), np.empty(HALVES, np.int64)
    for other in range(state.seats):
        if other != seat:
            sizes[other], must[other] = room(state, other), state.must[other]
    for half in range(HALVES):
        groups[half] = cards_of(half)
    return live_cards(state) & ~shown(state) & ~state.hands[seat], sizes, groups, must


@rule
def resample(state, seat, stream):
    hidden, sizes, groups, must = hidden_places(state, seat)
    dealt = np.empty(state.seats, np.int64)
    deal_obliged(hidden, sizes, state.lacks, groups, must, dealt, stream)
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = state.known[other] | dealt[other]
