"""Encoders: a seat's view of a Moska state as numbers. With four seats, `bitmap` is the thesis' 442 values."""

from cardai.cards import count, full_deck, has, put, put_by_suit, single, suit_cards
from cardai.game import Segment
from cardai.rule import rule

from .rules import ATTACK, DECK, END, HAND, NONE, TURN

CARDS = (13, 4)  # ranks x suits


def bitmap_layout(seats):
    return (
        Segment("deck"),
        Segment("hand sizes", (seats,)),
        Segment("ready", (seats,)),
        Segment("playing", (seats,)),
        Segment("deck card on table"),
        Segment("target", (seats,)),
        Segment("trump", (4,)),
        Segment("own seat", (seats,)),
        Segment("in the game", CARDS),
        Segment("table", CARDS),
        Segment("killed", CARDS),
        *(Segment(f"known of seat {seat}", CARDS) for seat in range(seats)),
        Segment("own hand", CARDS),
    )


@rule
def encode_bitmap(state, seat, row):
    fill_bitmap(state, seat, row)


@rule
def fill_bitmap(state, seat, row):
    """Write the values of `bitmap`. Returns the place after them."""
    seats = state.seats
    row[0] = state.deck_left
    for other in range(seats):
        row[1 + other] = count(state.hands[other])
        row[1 + seats + other] = has(state.ready, other)
        row[1 + 2 * seats + other] = has(state.playing, other)
    place = 1 + 3 * seats
    row[place] = state.barring != 0
    row[place + 1 + state.target] = 1
    row[place + 1 + seats + state.trump] = 1
    row[place + 5 + seats + seat] = 1
    place += 5 + 2 * seats
    place = put(row, place, full_deck(DECK) & ~state.discards, DECK)
    place = put(row, place, state.table, DECK)
    place = put(row, place, state.killed, DECK)
    for other in range(seats):
        place = put(row, place, state.known[other], DECK)
    return put(row, place, state.hands[seat], DECK)


def afterstate_layout(seats):
    return (
        *bitmap_layout(seats),
        Segment("about to draw"),
        Segment("about to turn"),
        Segment("ended without picking"),
        Segment("ended and picked"),
        Segment("turned", CARDS),
    )


@rule
def encode_afterstate(state, seat, row):
    """Write the values of `bitmap`, and what the mover's decision leaves to `settle`."""
    place = fill_bitmap(state, seat, row)
    row[place] = cards_to_draw(state)
    row[place + 1] = state.pending == TURN
    row[place + 2] = state.pending == END and state.picked == 0
    row[place + 3] = state.pending == END and state.picked != 0
    if state.turned != NONE:
        row[place + 4 + state.turned] = 1


def relative_layout(seats):
    others = range(1, seats)
    return (
        Segment("deck"),
        Segment("hand sizes", (seats,)),
        Segment("ready", (seats,)),
        Segment("playing", (seats,)),
        Segment("deck card on table"),
        Segment("target", (seats,)),
        Segment("about to draw"),
        Segment("about to turn"),
        Segment("ended without picking"),
        Segment("ended and picked"),
        Segment("own hand", CARDS),
        Segment("own known cards", CARDS),
        *(Segment(f"known of the {place}. on the left", CARDS) for place in others),
        Segment("in the game", CARDS),
        Segment("table", CARDS),
        Segment("killed", CARDS),
        Segment("bottom of the deck", CARDS),
        Segment("turned", CARDS),
    )


@rule
def encode_relative(state, seat, row):
    """Write everything that `afterstate` has, without regard to the names of seats and suits.

    Positions that differ only in these names get the same row. Seats are counted from the own seat to the left. The
    trump suit comes first, then the other suits by the highest card of the own hand.
    """
    seats = state.seats
    for i in range(seats):
        other = (seat + i) % seats
        row[1 + i] = count(state.hands[other])
        row[1 + seats + i] = has(state.ready, other)
        row[1 + 2 * seats + i] = has(state.playing, other)
    row[0] = state.deck_left
    place = 1 + 3 * seats
    row[place] = state.barring != 0
    row[place + 1 + (state.target - seat) % seats] = 1
    place += 1 + seats
    row[place] = cards_to_draw(state)
    row[place + 1] = state.pending == TURN
    row[place + 2] = state.pending == END and state.picked == 0
    row[place + 3] = state.pending == END and state.picked != 0
    order = suits_by_hand(state.hands[seat], state.trump)
    place = put_by_suit(row, place + 4, state.hands[seat], DECK, order)
    for i in range(seats):
        place = put_by_suit(row, place, state.known[(seat + i) % seats], DECK, order)
    place = put_by_suit(row, place, full_deck(DECK) & ~state.discards, DECK, order)
    place = put_by_suit(row, place, state.table, DECK, order)
    place = put_by_suit(row, place, state.killed, DECK, order)
    place = put_by_suit(row, place, single(state.trump_card) if state.deck_left else 0, DECK, order)
    put_by_suit(row, place, single(state.turned) if state.turned != NONE else 0, DECK, order)


@rule
def suits_by_hand(hand, trump):
    """The order of suits, trump first and then by the highest card in hand: the k-th is in bits 2k and 2k + 1."""
    order, taken = trump, 1 << trump
    for k in range(1, 4):
        best, strength = NONE, -1
        for each in range(4):
            held = (hand & suit_cards(each)) >> each
            if not has(taken, each) and held > strength:
                best, strength = each, held
        order |= best << (2 * k)
        taken |= 1 << best
    return order


@rule
def cards_to_draw(state):
    """2.3, 4.2: returns how many cards the mover is about to draw.

    It is 0 except in after-states of an opening, an attack or an end.
    """
    if state.turn < 0 or state.pending > ATTACK:
        return 0
    return max(0, min(HAND - count(state.hands[state.turn]), state.deck_left))
