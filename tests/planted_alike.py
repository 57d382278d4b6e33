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

from cardai.game import PerspectiveEncoder
from cardai.rules import below, rule
from cardai.rules.cards import any_of, count, single
from cardai.rules.dealing import weight_of

EVENLY, DEALT, KEPT = "hidden_cards_lie_evenly", "dealt_cards_lie_as_in_worlds", "worlds_keep_no_card_of_the_truth"
AFTER = "worlds_after_a_move_are_the_outcomes_of_worlds_before"
LISTED, CONSERVED, SEEN = "worlds_are_even", "cards_are_conserved", "encodings_are_the_same_in_every_world"


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


@rule
def high_cards_early(state, seat, stream):
    """In the first round the next hand has half a card too many of the upper half: ten percent of five."""
    tall.resample(state, seat, stream)
    if state.ply < state.seats and below(stream, 2) == 0:
        high_for_low(state, (seat + 1) % state.seats, stream)


@rule
def high_cards_late(state, seat, stream):
    """Once hands have three cards at most, the next one has ten percent too many of the upper half."""
    tall.resample(state, seat, stream)
    other = (seat + 1) % state.seats
    if tall.size(state.hands[other]) <= 3 and below(stream, 7) == 0:
        high_for_low(state, other, stream)


@rule
def high_cards_dealt(state):
    """Every second deal, seat 1 is dealt one card too many of the upper half."""
    tall.deal(state)
    if below(state, 2) == 0:
        high_for_low(state, 1, state)


@rule
def true_card_kept(state, seat, stream):
    """In one of six worlds the next hand keeps its highest card."""
    other = (seat + 1) % state.seats
    card = tall.NONE
    for held in range(tall.CARDS):
        if tall.holds(state.hands[other], held):
            card = held
    tall.resample(state, seat, stream)
    if card != tall.NONE and below(stream, 6) == 0 and tall.holds(state.stock, card):
        tall.take_out(state.stock, card)
        tall.put_in(state.hands[other], card)
        tall.move_any(state.hands[other], state.stock, stream)


TALL_EARLY = faulty(EVENLY, tall.GAME, resample=high_cards_early)
TALL_LATE = faulty(EVENLY, tall.GAME, resample=high_cards_late)
TALL_DEALT = faulty(DEALT, tall.GAME, deal=high_cards_dealt)
TALL_KEPT = faulty(KEPT, tall.GAME, resample=true_card_kept)
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
def even_counts(state, seat, stream):
    """Sparks: each arrangement of counts is as likely, as far as 24 tries go."""
    for _ in range(24):
        sparks.resample(state, seat, stream)
        if below(stream, 48) < 1 / weight_of(hidden_in(state)):
            return


@rule
def kinds_evenly(state, seat, stream):
    """Follow: hands are drawn kind by kind, each as likely, however many cards of it are left."""
    follow.resample(state, seat, stream)
    for other in range(state.seats):
        if other != seat:
            size = state.hands[other].sum()
            for card in range(follow.KINDS):
                for _ in range(state.hands[other, card]):
                    state.deck[state.deck_left] = card
                    state.deck_left += 1
            state.hands[other][:] = 0
            for _ in range(size):
                drawn = below(stream, follow.KINDS)
                while not (state.deck == drawn).any():
                    drawn = below(stream, follow.KINDS)
                take(state, drawn, other)


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


@rule
def never_two(state, seat, stream):
    """Sparks: no other hand has two cards of a kind, as far as 30 tries go."""
    for _ in range(30):
        sparks.resample(state, seat, stream)
        is_single = True
        for other in range(state.seats):
            for card in range(sparks.KINDS):
                if other != seat and state.hands[other, card] > max(1, state.known[other, card]):
                    is_single = False
        if is_single:
            return


@rule
def none_of_a_known_kind(state, seat, stream):
    """Sparks: a hand that has taken a card has no other one of its kind, as far as 30 tries go."""
    for _ in range(30):
        sparks.resample(state, seat, stream)
        is_single = True
        for other in range(state.seats):
            for card in range(sparks.KINDS):
                if other != seat and state.hands[other, card] > state.known[other, card] > 0:
                    is_single = False
        if is_single:
            return


@rule
def copy_kept(state, seat, stream):
    """Sparks: if the next hand has two cards of a kind, it keeps one of them in one of three worlds."""
    other, kept = (seat + 1) % state.seats, sparks.NONE
    for card in range(sparks.KINDS):
        if state.hands[other, card] > 1 and below(stream, 3) == 0:
            kept = card
    sparks.resample(state, seat, stream)
    if kept != sparks.NONE and state.hands[other, kept] == 0 and state.stock[kept] > 0:
        for card in range(sparks.KINDS):
            if state.hands[other, card] > state.known[other, card]:
                state.hands[other, card] -= 1
                state.stock[card] += 1
                state.hands[other, kept] += 1
                state.stock[kept] -= 1
                return


@rule
def taken_card_forgotten(state, seat, stream):
    """Sparks: the cards that other hands have taken are dealt anew too."""
    known = state.known.copy()
    state.known[:] = 0
    sparks.resample(state, seat, stream)
    state.known[:] = known


@rule
def known_weighed_too(state):
    """Sparks: a card that all know to be in a hand divides the weight like any other."""
    return weight_of(state.hands) * weight_of(state.stock.reshape((1, sparks.KINDS)))


SPARKS_EVEN = faulty(EVENLY, sparks.GAME, resample=even_counts)
SPARKS_EVEN_LISTED = faulty(LISTED, sparks.GAME, resample=even_counts)
SPARKS_PLAIN_EVEN = faulty(LISTED, sparks.PLAIN, resample=even_counts)
SPARKS_NEVER_TWO = faulty(EVENLY, sparks.GAME, resample=never_two)
SPARKS_NEVER_TWO_DEALT = faulty(DEALT, sparks.PLAIN, resample=never_two)
SPARKS_NONE_OF_A_KNOWN_KIND = faulty(AFTER, sparks.GAME, resample=none_of_a_known_kind)
SPARKS_COPY_KEPT = faulty(KEPT, sparks.GAME, resample=copy_kept)
SPARKS_FORGOTTEN = faulty(AFTER, sparks.GAME, resample=taken_card_forgotten)
SPARKS_UNWEIGHTED = faulty(LISTED, sparks.GAME, weight=None)
SPARKS_WRONG_WEIGHT = faulty(LISTED, sparks.GAME, weight=known_weighed_too)
SPARKS_NO_COPIES = faulty(LISTED, sparks.PLAIN, copies=(), holdings=None, chances=None)
SPARKS_TWICE = faulty(
    CONSERVED,
    sparks.GAME,
    holdings=lambda state: [*sparks.holdings(state)[:-1], state.played + (state.played == 1)],
)
SPARKS_SEEN = faulty(
    SEEN, sparks.GAME, encoders=seen_by(sparks.GAME, "... row[0] += state.hands[(seat + 1) % state.seats, 0] > 1")
)
SPARKS_TOLD = faulty(
    "text_is_the_same_in_every_world",
    sparks.GAME,
    show=lambda state, seat: f"{state.hands.max()} {sparks.GAME.text.show(state, seat)}",
)
SPARKS_CHANCES = faulty(
    "chances_are_those_of_worlds",
    sparks.GAME,
    chances="hidden * (unknown / max(1, hidden.sum())) -> (hidden > 0) * (unknown / max(1, (hidden > 0).sum()))",
)


@rule
def wild_cards_late(state, seat, stream):
    """Follow: once half the deck is drawn, the next hand gets a wild card of it for another in one of ten worlds."""
    follow.resample(state, seat, stream)
    other = (seat + 1) % state.seats
    if 2 * state.deck_left > follow.CARDS or below(stream, 10) != 0:
        return
    for i in range(state.deck_left):
        if state.deck[i] == follow.WILD:
            for card in range(follow.WILD):
                if state.hands[other, card] > 0:
                    state.hands[other, card] -= 1
                    state.hands[other, follow.WILD] += 1
                    state.deck[i] = card
                    return


@rule
def deck_in_order(state, seat, stream):
    """Follow: the next card of the deck is the lowest in one of eight worlds."""
    follow.resample(state, seat, stream)
    if state.deck_left > 1 and below(stream, 8) == 0:
        last = state.deck_left - 1
        for i in range(last):
            if state.deck[i] < state.deck[last]:
                state.deck[i], state.deck[last] = state.deck[last], state.deck[i]


FOLLOW_EVEN_KINDS = faulty(EVENLY, follow.GAME, resample=kinds_evenly)
FOLLOW_WILD = faulty(EVENLY, follow.GAME, resample=wild_cards_late)
FOLLOW_UNWEIGHTED = faulty(LISTED, follow.GAME, weight=None)
FOLLOW_DECK_IN_ORDER = faulty(LISTED, follow.GAME, resample=deck_in_order)
FOLLOW_SEEN = faulty(
    SEEN, follow.GAME, encoders=seen_by(follow.GAME, "... row[0] += state.deck[max(0, state.deck_left - 1)] == WILD")
)


@rule
def low_card_first(state, seat, stream):
    """Lamps: in one of 8 worlds the first own card is exchanged for a lower one of the deck, if it may be that."""
    lamps.resample(state, seat, stream)
    if state.hands[seat, 0] != lamps.NONE and below(stream, 8) == 0:
        for i in range(state.deck_left):
            if state.deck[i] < state.hands[seat, 0] and state.may_be[seat, 0] >> state.deck[i] & 1:
                state.deck[i], state.hands[seat, 0] = state.hands[seat, 0], state.deck[i]


@rule
def named_colour_forgotten(state, seat, stream):
    """Lamps: what was said of the last own card is not looked at."""
    said = state.may_be[seat, lamps.HAND - 1]
    state.may_be[seat, lamps.HAND - 1] = (1 << lamps.KINDS) - 1
    lamps.resample(state, seat, stream)
    state.may_be[seat, lamps.HAND - 1] = said


LAMPS_LOW = faulty(EVENLY, lamps.GAME, resample=low_card_first)
LAMPS_FORGOTTEN = faulty(AFTER, lamps.GAME, resample=named_colour_forgotten)
LAMPS_UNWEIGHTED = faulty(LISTED, lamps.GAME, weight=None)


@rule
def as_if_even(state, seat, stream):
    """Loaded: each deal is as likely in one of two worlds."""
    if below(stream, 2) == 0:
        loaded.resample(state, seat, stream)
        return
    pool, size = state.stock | state.hands[1 - seat], count(state.hands[1 - seat])
    state.hands[1 - seat] = 0
    for _ in range(size):
        card = any_of(pool, stream)
        state.hands[1 - seat] |= single(card)
        pool &= ~single(card)
    state.stock = pool


LOADED_EVEN = faulty(EVENLY, loaded.GAME, resample=as_if_even)
LOADED_UNWEIGHTED = faulty(EVENLY, loaded.GAME, weight=None)

PLANTED = {
    name: game
    for name, game in globals().items()
    if name.isupper() and name.partition("_")[0] in ("TALL", "SPARKS", "FOLLOW", "LAMPS", "LOADED")
}
