"""A seat's view of a Moska state as numbers. Layout of `bitmap`: the thesis' 442 values for four seats."""

from cardai.cards import count, full_deck, has, put
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
    """Write the `bitmap` values; the place after them."""
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
    """`bitmap`, and what is pending between a decision and its chance."""
    place = fill_bitmap(state, seat, row)
    row[place] = cards_to_draw(state)
    row[place + 1] = state.pending == TURN
    row[place + 2] = state.pending == END and state.picked == 0
    row[place + 3] = state.pending == END and state.picked != 0
    if state.turned != NONE:
        row[place + 4 + state.turned] = 1


@rule
def cards_to_draw(state):
    """How many cards the mover is about to draw: 0 unless a play that draws has just been made (2.3, 4.2)."""
    if state.turn < 0 or state.pending > ATTACK:
        return 0
    return max(0, min(HAND - count(state.hands[state.turn]), state.deck_left))
