"""Encoders: a seat's view of a Moska state as numbers. With four seats, `bitmap` is the thesis' 442 values."""

from cardai.game import Segment
from cardai.rules import rule
from cardai.rules.cards import (
    beaters,
    count,
    full_deck,
    has,
    lowest,
    placed,
    put,
    put_by_suit,
    ranks_of,
    single,
    suit_cards,
    suit_places,
    trump_first,
)

from .moves import killed_together
from .rules import ATTACK, DECK, END, HAND, NONE, TURN, left_of, unknown_to

CARDS = (13, 4)  # ranks x suits
WHOLE = 1 << 20  # a chance of 1, in whole numbers


DECIDED = (
    Segment("about to draw"),
    Segment("about to turn"),
    Segment("ended without picking"),
    Segment("ended and picked"),
)
"""What the mover's decision leaves to `settle`."""


def of_seats(seats):
    return (
        Segment("deck"),
        Segment("hand sizes", (seats,)),
        Segment("ready", (seats,)),
        Segment("playing", (seats,)),
        Segment("deck card on table"),
        Segment("target", (seats,)),
    )


def bitmap_layout(seats):
    return (
        *of_seats(seats),
        Segment("trump", (4,)),
        Segment("own seat", (seats,)),
        Segment("in the game", CARDS),
        Segment("table", CARDS),
        Segment("killed", CARDS),
        *(Segment(f"known of seat {seat}", CARDS) for seat in range(seats)),
        Segment("own hand", CARDS),
    )


def by_suit(segment):
    """Whether a segment of `bitmap` or `afterstate` has a value for each suit."""
    return segment.shape == CARDS or segment.name == "trump"


@rule
def put_seats(state, first, row):
    """Write the values of `of_seats`, from seat `first` on. Returns the place after them."""
    seats = state.seats
    row[0] = state.deck_left
    for i in range(seats):
        other = (first + i) % seats
        row[1 + i] = count(state.hands[other])
        row[1 + seats + i] = has(state.ready, other)
        row[1 + 2 * seats + i] = has(state.playing, other)
    place = 1 + 3 * seats
    row[place] = state.barring != 0
    row[place + 1 + (state.target - first) % seats] = 1
    return place + 1 + seats


@rule
def encode_bitmap(state, seat, row):
    place = put_seats(state, 0, row)
    row[place + state.trump] = 1
    row[place + 4 + seat] = 1
    place = put(row, place + 4 + state.seats, full_deck(DECK) & ~state.discards, DECK)
    place = put(row, place, state.table, DECK)
    place = put(row, place, state.killed, DECK)
    for other in range(state.seats):
        place = put(row, place, state.known[other], DECK)
    put(row, place, state.hands[seat], DECK)


def afterstate_layout(seats):
    return (
        *bitmap_layout(seats),
        *DECIDED,
        Segment("turned", CARDS),
    )


@rule
def encode_afterstate(state, seat, row):
    """Write the values of `bitmap`, and what the mover's decision leaves to `settle`."""
    encode_bitmap(state, seat, row)
    place = len(row) - 4 - DECK
    put_decided(state, row, place)
    if state.turned != NONE:
        row[place + 4 + state.turned] = 1


@rule
def put_decided(state, row, place):
    row[place] = cards_to_draw(state)
    row[place + 1] = state.pending == TURN
    row[place + 2] = state.pending == END and state.picked == 0
    row[place + 3] = state.pending == END and state.picked != 0


def relative_layout(seats):
    others = range(1, seats)
    return (
        *of_seats(seats),
        *DECIDED,
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
    place = put_seats(state, seat, row)
    put_decided(state, row, place)
    order = trump_first(state.hands[seat], state.trump)
    place = put_by_suit(row, place + 4, state.hands[seat], DECK, order)
    for i in range(state.seats):
        place = put_by_suit(row, place, state.known[(seat + i) % state.seats], DECK, order)
    place = put_by_suit(row, place, full_deck(DECK) & ~state.discards, DECK, order)
    place = put_by_suit(row, place, state.table, DECK, order)
    place = put_by_suit(row, place, state.killed, DECK, order)
    place = put_by_suit(row, place, single(state.trump_card) if state.deck_left else 0, DECK, order)
    put_by_suit(row, place, single(state.turned) if state.turned != NONE else 0, DECK, order)


def tactical_layout(seats):
    return (
        *relative_layout(seats),
        Segment("unseen killers of own card", CARDS),
        Segment("chance in percent that the victim kills own card", CARDS),
        Segment("own card of a rank in play", CARDS),
        Segment("two of a rank", (13,)),
        Segment("three of a rank", (13,)),
        Segment("own killers of card on table", CARDS),
        Segment("chance in percent that the target kills card on table", CARDS),
        Segment("rank in play", (13,)),
        Segment("unseen cards"),
        Segment("unseen trumps"),
        Segment("unseen cards of a rank in play"),
        Segment("table cards that the own hand kills together"),
        Segment("hidden cards", (seats,)),
        Segment("known cards of a rank in play", (seats,)),
    )


@rule
def encode_tactical(state, seat, row):
    """Write everything that `relative` has, and who can kill what and who can play along: 3.1, 2.2, counted out.

    The *victim* is the target, or the next one if the seat itself is the target. A chance takes each unseen card to be
    as likely in any place.
    """
    encode_relative(state, seat, row)
    first = len(row) - 5 * DECK - 3 * 13 - 4 - 2 * state.seats
    hand = state.hands[seat]
    places = suit_places(trump_first(hand, state.trump))
    victim = left_of(state, seat) if state.target == seat else state.target
    unseen, in_play = unknown_to(state, seat), ranks_of(state.table | state.killed)
    hidden = count(unseen)
    rest = hand
    while rest != 0:
        card = lowest(rest)
        place = first + placed(card, places)
        killers = beaters(card, state.trump)
        row[place] = count(killers & unseen)
        row[place + DECK] = chance_to_hold(state, victim, killers, unseen, hidden)
        row[place + 2 * DECK] = has(in_play, card)
        rest &= rest - 1
    place = first + 3 * DECK
    for rank in range(13):
        of_rank = count(hand & (15 << (4 * rank)))
        row[place + rank] = of_rank >= 2
        row[place + 13 + rank] = of_rank >= 3
    place += 26
    rest = state.table
    while rest != 0:
        card = lowest(rest)
        killers = beaters(card, state.trump)
        row[place + placed(card, places)] = count(killers & hand)
        if state.target != seat:
            row[place + DECK + placed(card, places)] = chance_to_hold(state, victim, killers, unseen, hidden)
        rest &= rest - 1
    place += 2 * DECK
    for rank in range(13):
        row[place + rank] = has(in_play, 4 * rank)
    place += 13
    row[place] = hidden
    row[place + 1] = count(unseen & suit_cards(state.trump))
    row[place + 2] = count(unseen & in_play)
    row[place + 3] = killed_together(hand, state.table, state.trump)
    for i in range(state.seats):
        other = (seat + i) % state.seats
        row[place + 4 + i] = count(state.hands[other]) - count(state.known[other])
        row[place + 4 + state.seats + i] = count(in_play & (hand if i == 0 else state.known[other]))


@rule
def chance_to_hold(state, other, cards, unseen, hidden):
    """The chance in percent that another seat holds one of these cards. `hidden`: how many cards are unseen."""
    if state.known[other] & cards != 0:
        return 100
    places, without, none = count(state.hands[other]) - count(state.known[other]), hidden - count(unseen & cards), WHOLE
    for i in range(places):
        none = none * max(0, without - i) // max(1, hidden - i)
    return 100 - none * 100 // WHOLE


@rule
def cards_to_draw(state):
    """2.3, 4.2: returns how many cards the mover is about to draw.

    It is 0 except in after-states of an opening, an attack or an end.
    """
    if state.turn < 0 or state.pending > ATTACK:
        return 0
    return max(0, min(HAND - count(state.hands[state.turn]), state.deck_left))
