"""Encoders: a seat's view of a Durak state as numbers."""

from cardai.game import Segment
from cardai.rules import rule
from cardai.rules.cards import count, has, put, put_by_suit, trump_first

from .rules import ACTIONS, DECK, NONE, WHOLE_DECK, choices, deck_left, next_to_add

CARDS = (DECK // 4, 4)  # ranks x suits


def relative_layout(seats, cards=CARDS):
    others = range(1, seats)
    return (
        Segment("deck"),
        Segment("room for attack cards"),
        Segment("taking"),
        Segment("bout over"),
        Segment("hand sizes", (seats,)),
        Segment("playing", (seats,)),
        Segment("passed", (seats,)),
        Segment("attacker", (seats,)),
        Segment("defender", (seats,)),
        Segment("last right to add", (seats,)),
        Segment("to move", (seats,)),
        Segment("own hand", cards),
        Segment("own known cards", cards),
        *(Segment(f"known of the {place}. on the left", cards) for place in others),
        Segment("attacks", cards),
        Segment("unbeaten", cards),
        Segment("beats", cards),
        Segment("discards", cards),
        Segment("bottom of the deck", cards),
        Segment("legal cards", cards),
        Segment("no card is legal"),
    )


def whole_layout(seats):
    return relative_layout(seats, (WHOLE_DECK // 4, 4))


@rule
def encode_relative(state, seat, row):
    write_relative(state, seat, row, DECK)


@rule
def encode_whole(state, seat, row):
    write_relative(state, seat, row, WHOLE_DECK)


@rule
def write_relative(state, seat, row, cards):
    """Write everything that the seat knows, without regard to the names of seats and suits.

    Positions that differ only in these names get the same row. Seats are counted from the own seat to the left. The
    trump suit comes first, then the other suits by the highest card of the own hand; suits not held keep their order.
    In an after-state, "bout over" and "legal cards" say what the mover's decision has ended or left open.
    `cards`: the cards of the deck, DECK or WHOLE_DECK.
    """
    seats = state.seats
    row[0] = deck_left(state)
    row[1] = state.limit - count(state.attacks)
    row[2] = state.taking
    row[3] = is_bout_over(state)
    for i in range(seats):
        other = (seat + i) % seats
        row[4 + i] = count(state.hands[other])
        row[4 + seats + i] = has(state.playing, other)
        row[4 + 2 * seats + i] = has(state.passed, other)
    place = 4 + 3 * seats
    row[place + (state.attacker - seat) % seats] = 1
    row[place + seats + (state.defender - seat) % seats] = 1
    row[place + 2 * seats + (state.lead - seat) % seats] = 1
    if state.turn >= 0:
        row[place + 3 * seats + (state.turn - seat) % seats] = 1
    order = trump_first(state.hands[seat], state.trump)
    place = put_by_suit(row, place + 4 * seats, state.hands[seat], cards, order)
    for i in range(seats):
        place = put_by_suit(row, place, state.known[(seat + i) % seats], cards, order)
    place = put_by_suit(row, place, state.attacks, cards, order)
    place = put_by_suit(row, place, state.unbeaten, cards, order)
    place = put_by_suit(row, place, state.beats, cards, order)
    place = put_by_suit(row, place, state.discards, cards, order)
    place = put_by_suit(row, place, state.bottom, cards, order)
    actions = choices(state, seat)
    row[put_by_suit(row, place, actions, cards, order)] = actions >> cards


@rule
def is_bout_over(state):
    """Whether the decision just made ends the bout. Only valid in after-states."""
    return state.attacks != 0 and (state.unbeaten == 0 or state.taking != 0) and next_to_add(state) == NONE


def report_layout(seats):
    """The 181 values of the student report (RULES.md), the same for every number of seats."""
    return (
        Segment("legal moves", (ACTIONS,)),
        Segment("attacks", CARDS),
        Segment("beats", CARDS),
        Segment("own hand", CARDS),
        Segment("discards", CARDS),
    )


@rule
def encode_report(state, seat, row):
    place = put(row, 0, choices(state, seat), ACTIONS)
    place = put(row, place, state.attacks, DECK)
    place = put(row, place, state.beats, DECK)
    place = put(row, place, state.hands[seat], DECK)
    put(row, place, state.discards, DECK)
