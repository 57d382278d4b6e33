"""Faults in games of many cards (Tall), of like cards (Sparks, Follow, Lamps) and of uneven deals (Loaded).

Each is named with the law that must find it at normal effort, from any seed.
"""

import follow
import lamps
import loaded
import numpy as np
import sparks
import tall
from planting import changed, faulty

from cardai.cards import any_of
from cardai.dealing import some_of, weight_of  # noqa: F401 (in texts)
from cardai.game import PerspectiveEncoder
from cardai.rule import rule

EVENLY, DEALT, KEPT = "hidden_cards_lie_evenly", "dealt_cards_lie_as_in_worlds", "worlds_keep_no_card_of_the_truth"
AFTER = "worlds_after_a_move_are_the_outcomes_of_worlds_before"
LISTED, CONSERVED, SEEN = "listed_worlds_are_even", "cards_are_conserved", "encodings_are_the_same_in_every_world"


def seen_by(game, change):
    """The encoder of a game with a change, as `planting.changed` takes it."""
    ((name, encoder),) = game.learning.encoders.items()
    return {name: PerspectiveEncoder(encoder.layout, changed(encoder.encode, change))}


@rule
def any_in(cards, first, stream):
    """A card of a set among the WORD cards from `first` on, each as likely, or NONE."""
    part = cards[first // tall.WORD]
    return first + any_of(part, stream) if part != 0 else tall.NONE


@rule
def high_for_low(state, other, stream):
    """Tall: a card of a hand that is in the lower half for one of the stock that is in the upper half."""
    low, high = any_in(state.hands[other], 0, stream), any_in(state.stock, tall.WORD, stream)
    if low != tall.NONE and high != tall.NONE:
        tall.take_out(state.hands[other], low)
        tall.put_in(state.stock, low)
        tall.take_out(state.stock, high)
        tall.put_in(state.hands[other], high)


# In the first round the next hand has half a card too many of the upper half: ten percent of five.
TALL_EARLY = faulty(
    EVENLY,
    tall.GAME,
    resample="""... if state.ply < state.seats and below(stream, 2) == 0:
    high_for_low(state, (seat + 1) % state.seats, stream)""",
)
# Once hands have three cards at most, the next one has ten percent too many of the upper half.
TALL_LATE = faulty(
    EVENLY,
    tall.GAME,
    resample="""... other = (seat + 1) % state.seats
if size(state.hands[other]) <= 3 and below(stream, 7) == 0:
    high_for_low(state, other, stream)""",
)
# Every second deal, seat 1 is dealt one card too many of the upper half.
TALL_DEALT = faulty(DEALT, tall.GAME, deal="... if below(state, 2) == 0: high_for_low(state, 1, state)")
# In one of six worlds the next hand keeps its highest card.
TALL_KEPT = faulty(
    KEPT,
    tall.GAME,
    resample="""other, card = (seat + 1) % state.seats, NONE
for held in range(CARDS):
    if holds(state.hands[other], held):
        card = held
...
if card != NONE and below(stream, 6) == 0 and holds(state.stock, card):
    take_out(state.stock, card)
    put_in(state.hands[other], card)
    move_any(state.hands[other], state.stock, stream)""",
)
TALL_TWICE = faulty(
    CONSERVED,
    tall.GAME,
    holdings="as_set(state.played)] -> as_set(state.played) | as_set(state.hands[1]) >> 100 << 100]",
)
TALL_LOST = faulty(CONSERVED, tall.GAME, resample="original(state, seat, stream); state.stock[1] &= ~1 ... ")
TALL_SEEN = faulty(
    SEEN,
    tall.GAME,
    encoders=seen_by(tall.GAME, "... row[0] += holds(state.hands[(seat + 1) % state.seats], 103)"),
)


@rule
def hidden_in(state):
    hidden = np.zeros((sparks.SEATS + 1, sparks.KINDS), np.int64)
    hidden[: sparks.SEATS] = state.hands - state.known
    hidden[sparks.SEATS] = state.stock
    return hidden


@rule
def has_two(state, seat, known):
    """Sparks: whether another hand has two cards of a kind that are not all known, but `known` of them at least."""
    for other in range(state.seats):
        for card in range(sparks.KINDS):
            seen = state.known[other, card]
            if other != seat and seen >= known and state.hands[other, card] > max(1, seen):
                return True
    return False


def tried(times, until):
    """A change of `resample`: worlds are drawn again and again until something holds, as far as so many tries go."""
    return f"for _ in range({times - 1}):\n    original(state, seat, stream)\n    if {until}: return\n..."


EVEN_COUNTS = tried(24, "below(stream, 48) < 1 / weight_of(hidden_in(state))")
NEVER_TWO = tried(30, "not has_two(state, seat, 0)")
# Each arrangement of counts is as likely.
SPARKS_EVEN = faulty(EVENLY, sparks.GAME, resample=EVEN_COUNTS)
SPARKS_EVEN_LISTED = faulty(LISTED, sparks.GAME, resample=EVEN_COUNTS)
SPARKS_EVEN_COUNTED = faulty("worlds_are_even", sparks.PLAIN, resample=EVEN_COUNTS)
SPARKS_PLAIN_EVEN = faulty(LISTED, sparks.PLAIN, resample=EVEN_COUNTS)
# No other hand has two cards of a kind, and one that has taken a card has no other one of its kind.
SPARKS_NEVER_TWO = faulty(EVENLY, sparks.GAME, resample=NEVER_TWO)
SPARKS_NEVER_TWO_DEALT = faulty(DEALT, sparks.PLAIN, resample=NEVER_TWO)
SPARKS_NONE_OF_A_KNOWN_KIND = faulty(AFTER, sparks.GAME, resample=tried(30, "not has_two(state, seat, 1)"))
# If the next hand has two cards of a kind, it keeps one of them in one of three worlds.
SPARKS_COPY_KEPT = faulty(
    KEPT,
    sparks.GAME,
    resample="""other, kept = (seat + 1) % state.seats, NONE
for card in range(KINDS):
    if state.hands[other, card] > 1 and below(stream, 3) == 0:
        kept = card
...
if kept != NONE and state.hands[other, kept] == 0 and state.stock[kept] > 0:
    for card in range(KINDS):
        if state.hands[other, card] > state.known[other, card]:
            state.hands[other, card] -= 1
            state.stock[card] += 1
            state.hands[other, kept] += 1
            state.stock[kept] -= 1
            return""",
)
# The cards that other hands have taken are dealt anew too.
SPARKS_FORGOTTEN = faulty(
    AFTER, sparks.GAME, resample="known = state.known.copy(); state.known[:] = 0 ... state.known[:] = known"
)
SPARKS_UNWEIGHTED = faulty(LISTED, sparks.GAME, weight=None)
SPARKS_WRONG_WEIGHT = faulty("worlds_are_even", sparks.GAME, weight="state.hands - state.known -> state.hands.copy()")
SPARKS_NO_COPIES = faulty(LISTED, sparks.PLAIN, copies=(), holdings=None, chances=None)
SPARKS_TWICE = faulty(CONSERVED, sparks.GAME, holdings="state.played] -> state.played + (state.played == 1)]")
SPARKS_SEEN = faulty(
    SEEN, sparks.GAME, encoders=seen_by(sparks.GAME, "... row[0] += state.hands[(seat + 1) % state.seats, 0] > 1")
)
SPARKS_TOLD = faulty(
    "text_is_the_same_in_every_world",
    sparks.GAME,
    show='"hand {named(state.hands[seat])} -> "{int(state.hands.max())} hand {named(state.hands[seat])}',
)
SPARKS_CHANCES = faulty(
    "chances_are_those_of_worlds",
    sparks.GAME,
    chances="hidden * (unknown / max(1, hidden.sum())) -> (hidden > 0) * (unknown / max(1, (hidden > 0).sum()))",
)


@rule
def take(state, card, other):
    """Follow: a card of the deck goes to a hand; the last one of the deck takes its place."""
    for i in range(state.deck_left):
        if state.deck[i] == card:
            state.deck_left -= 1
            state.deck[i] = state.deck[state.deck_left]
            state.deck[state.deck_left] = follow.NONE
            state.hands[other, card] += 1
            return


# Hands are drawn kind by kind, each as likely, however many cards of it are left.
FOLLOW_EVEN_KINDS = faulty(
    EVENLY,
    follow.GAME,
    resample="""... for other in range(state.seats):
    if other != seat:
        size = state.hands[other].sum()
        for card in range(KINDS):
            for _ in range(state.hands[other, card]):
                state.deck[state.deck_left] = card
                state.deck_left += 1
        state.hands[other][:] = 0
        for _ in range(size):
            drawn = below(stream, KINDS)
            while not (state.deck == drawn).any():
                drawn = below(stream, KINDS)
            take(state, drawn, other)""",
)
# Once half the deck is drawn, the next hand gets a wild card of it for another in one of ten worlds.
FOLLOW_WILD = faulty(
    EVENLY,
    follow.GAME,
    resample="""... other = (seat + 1) % state.seats
if 2 * state.deck_left > CARDS or below(stream, 10) != 0:
    return
for i in range(state.deck_left):
    if state.deck[i] == WILD:
        for card in range(WILD):
            if state.hands[other, card] > 0:
                state.hands[other, card] -= 1
                state.hands[other, WILD] += 1
                state.deck[i] = card
                return""",
)
FOLLOW_UNWEIGHTED = faulty(LISTED, follow.GAME, weight=None)
# The next card of the deck is the lowest in one of eight worlds.
FOLLOW_DECK_IN_ORDER = faulty(
    LISTED,
    follow.GAME,
    resample="""... if state.deck_left > 1 and below(stream, 8) == 0:
    last = state.deck_left - 1
    for i in range(last):
        if state.deck[i] < state.deck[last]:
            state.deck[i], state.deck[last] = state.deck[last], state.deck[i]""",
)
FOLLOW_SEEN = faulty(
    SEEN, follow.GAME, encoders=seen_by(follow.GAME, "... row[0] += state.deck[max(0, state.deck_left - 1)] == WILD")
)


# In one of 8 worlds the first own card is exchanged for a lower one of the deck, if it may be that.
LAMPS_LOW = faulty(
    EVENLY,
    lamps.GAME,
    resample="""... if state.hands[seat, 0] != NONE and below(stream, 8) == 0:
    for i in range(state.deck_left):
        if state.deck[i] < state.hands[seat, 0] and state.may_be[seat, 0] >> state.deck[i] & 1:
            state.deck[i], state.hands[seat, 0] = state.hands[seat, 0], state.deck[i]""",
)
# What was said of the last own card is not looked at.
LAMPS_FORGOTTEN = faulty(
    AFTER,
    lamps.GAME,
    resample="""said = state.may_be[seat, HAND - 1]
state.may_be[seat, HAND - 1] = (1 << KINDS) - 1
...
state.may_be[seat, HAND - 1] = said""",
)
LAMPS_UNWEIGHTED = faulty(LISTED, lamps.GAME, weight=None)


# Each deal is as likely in one of two worlds.
LOADED_EVEN = faulty(
    EVENLY,
    loaded.GAME,
    resample="""... if below(stream, 2) != 0:
    held = count(state.hands[1 - seat])
    pool = state.stock | state.hands[1 - seat]
    state.hands[1 - seat] = some_of(pool, held, stream)
    state.stock = pool & ~state.hands[1 - seat]""",
)
LOADED_UNWEIGHTED = faulty(EVENLY, loaded.GAME, weight=None)

PLANTED = {
    name: game
    for name, game in globals().items()
    if name.isupper() and name.partition("_")[0] in ("TALL", "SPARKS", "FOLLOW", "LAMPS", "LOADED")
}
