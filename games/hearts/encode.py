"""Encoders: a seat's view of a Hearts state as numbers. Numbers in comments are the rules of RULES.md."""

from cardai.game import Segment
from cardai.rules import rule
from cardai.rules.cards import count, has, lowest, put, rank, single, suit, suit_cards

from .rules import (
    CARDS,
    DECK,
    JACK_OF_DIAMONDS,
    NONE,
    QUEEN_OF_SPADES,
    SEATS,
    choices,
    penalty,
    table_cards,
    taker,
    unseen_by,
)
from .worlds import known_to

PLANE = (13, 4)  # ranks x suits
MOST = 255


def relative_layout(seats):
    return (
        Segment("own hand", PLANE),
        Segment("own passed", PLANE),
        Segment("received", PLANE),
        Segment("legal", PLANE),
        *(Segment(f"may hold: seat +{step}", PLANE) for step in range(1, SEATS)),
        *(Segment(f"surely holds: seat +{step}", PLANE) for step in range(1, SEATS)),
        *(Segment(f"suits lacked: seat +{step}", (4,)) for step in range(1, SEATS)),
        *(Segment(f"table: seat +{step}", PLANE) for step in range(SEATS)),
        *(Segment(f"played before: seat +{step}", PLANE) for step in range(SEATS)),
        Segment("points taken", (SEATS,)),
        Segment("has points", (SEATS,)),
        Segment("alone with points", (SEATS,)),
        Segment("took the queen", (SEATS,)),
        Segment("took the jack", (SEATS,)),
        Segment("tricks taken", (SEATS,)),
        Segment("total above the lowest", (SEATS,)),
        Segment("points left to the limit"),
        Segment("direction", (SEATS,)),
        Segment("to move", (SEATS,)),
        Segment("leader", (SEATS,)),
        Segment("takes the trick", (SEATS,)),
        Segment("passing"),
        Segment("broken"),
        Segment("points on the table"),
        Segment("cards on the table"),
        Segment("tricks done", (14,)),
        Segment("moon", (3,)),
        Segment("aim", (4,)),
        Segment("options", (9,)),
    )


@rule
def encode_relative(state, seat, row):
    """Write all that the seat knows, with the seats counted from the own one to the left.

    While passing, "own passed" has the cards chosen so far, and "own hand" the others. In an after-state the card just
    played lies on the table, and "takes the trick" says who takes it if nobody beats that.
    """
    is_passing = state.leader == NONE
    place = put(row, 0, state.hands[seat] & ~state.passed[seat] if is_passing else state.hands[seat], CARDS)
    place = put(row, place, state.passed[seat], CARDS)
    place = put(row, place, received(state, seat) & state.hands[seat], CARDS)
    place = put(row, place, legal_cards(state, seat), CARDS)
    place = put_others(state, seat, row, place)
    for step in range(SEATS):
        card = state.table[(seat + step) % SEATS]
        if card != NONE:
            row[place + card] = 1
        place += CARDS
    for step in range(SEATS):
        other = (seat + step) % SEATS
        card = state.table[other]
        place = put(row, place, state.played[other] & ~(single(card) if card != NONE else 0), CARDS)
    place = put_points(state, seat, row, place)
    place = put_trick(state, seat, row, place)
    put_options(state, row, place)


@rule
def received(state, seat):
    """The cards passed to a seat in this round; none before the exchange and if cards are held."""
    if state.leader == NONE or state.direction == 0:
        return 0
    return state.passed[(seat - state.direction) % SEATS]


@rule
def legal_cards(state, seat):
    """The cards that a seat may choose now; none in an after-state of its own play."""
    if state.turn != seat or (state.leader != NONE and state.table[seat] != NONE):
        return 0
    return choices(state)


@rule
def put_others(state, seat, row, place):
    """Write the cards that each other seat may hold, those that each surely holds, and the suits that each lacks."""
    unseen = unseen_by(state, seat)
    for step in range(1, SEATS):
        unseen &= ~known_to(state, seat, (seat + step) % SEATS)
    left, across, right = (seat + 1) % SEATS, (seat + 2) % SEATS, (seat + 3) % SEATS
    of_left, of_across = may_hold(state, seat, left, unseen), may_hold(state, seat, across, unseen)
    may = (of_left, of_across, may_hold(state, seat, right, unseen))
    for cards in may:
        place = put(row, place, cards, CARDS)
    for i in range(3):
        elsewhere = may[(i + 1) % 3] | may[(i + 2) % 3]
        place = put(row, place, surely_holds(state, seat, (left + i) % SEATS, may[i], elsewhere), CARDS)
    for i in range(3):
        for kind in range(4):
            row[place + 4 * i + kind] = may[i] & suit_cards(kind) == 0
    return place + 12


@rule
def may_hold(state, seat, other, unseen):
    """The cards that another seat may hold. unseen: the cards of the others whose places are not known."""
    known = known_to(state, seat, other)
    return known | (unseen & ~state.lacks[other] if count(state.hands[other]) > count(known) else 0)


@rule
def surely_holds(state, seat, other, may, elsewhere):
    """The cards that another seat surely holds. may: those that it may hold. elsewhere: those that the others may."""
    if count(may) == count(state.hands[other]):
        return may
    return known_to(state, seat, other) | (may & ~elsewhere)


@rule
def put_points(state, seat, row, place):
    """Write what each seat has taken in this round, and the totals (5.1)."""
    with_points, least, most = 0, state.totals[0], state.totals[0]
    for other in range(SEATS):
        with_points += penalty(state.taken[other]) > 0
        least, most = min(least, state.totals[other]), max(most, state.totals[other])
    for step in range(SEATS):
        other = (seat + step) % SEATS
        points = penalty(state.taken[other])
        row[place + step] = points
        row[place + SEATS + step] = points > 0
        row[place + 2 * SEATS + step] = points > 0 and with_points == 1
        row[place + 3 * SEATS + step] = has(state.taken[other], QUEEN_OF_SPADES)
        row[place + 4 * SEATS + step] = has(state.taken[other], JACK_OF_DIAMONDS)
        row[place + 5 * SEATS + step] = state.tricks[other]
        row[place + 6 * SEATS + step] = min(MOST, state.totals[other] - least)
    place += 7 * SEATS
    row[place] = min(MOST, max(0, state.limit - most))
    return place + 1


@rule
def put_trick(state, seat, row, place):
    """Write the direction of the pass, whose turn it is and the trick on the table."""
    row[place + state.direction] = 1
    place += SEATS
    if state.turn != NONE:
        row[place + (state.turn - seat) % SEATS] = 1
    place += SEATS
    table, done = table_cards(state), 0
    for other in range(SEATS):
        done += state.tricks[other]
    if state.leader != NONE:
        row[place + (state.leader - seat) % SEATS] = 1
        if table != 0:
            row[place + SEATS + (taker(state) - seat) % SEATS] = 1
    place += 2 * SEATS
    row[place] = state.leader == NONE
    row[place + 1] = state.broken
    row[place + 2] = penalty(table)
    row[place + 3] = count(table)
    row[place + 4 + done] = 1
    return place + 18


@rule
def put_options(state, row, place):
    """Write the options of the variant, so that one model can play several."""
    row[place + state.moon] = 1
    row[place + 3] = 1  # 7.2: a round counts as its match
    row[place + 7] = state.passing != 0
    row[place + 8] = state.limit != 0
    row[place + 9] = state.queen_breaks
    row[place + 10] = state.jack
    row[place + 11] = state.must_break
    row[place + 12] = state.no_points_first
    row[place + 13] = state.lead_for_queen
    row[place + 14] = state.no_trick_bonus
    row[place + 15] = state.any_club


# The encodings of the paper: cards suit by suit, 2C 3C ... AS.

PLACES = 5
IN_HAND, WITH_OTHERS, LAID, LAID_BY_OTHERS, GONE = range(PLACES)


def play_layout(seats):
    return (Segment("where each card is", (CARDS, PLACES)),)


@rule
def encode_play(state, seat, row):
    """The paper's 52 one-hot vectors: in hand, in another hand, laid to this trick by the seat, by others, gone."""
    elsewhere, table = unseen_by(state, seat), table_cards(state)
    own = single(state.table[seat]) if state.table[seat] != NONE else 0
    put_suit_by_suit(row, IN_HAND, PLACES, state.hands[seat])
    put_suit_by_suit(row, WITH_OTHERS, PLACES, elsewhere)
    put_suit_by_suit(row, LAID, PLACES, own)
    put_suit_by_suit(row, LAID_BY_OTHERS, PLACES, table & ~own)
    put_suit_by_suit(row, GONE, PLACES, DECK & ~(state.hands[seat] | elsewhere | table))


@rule
def put_suit_by_suit(row, first, step, cards):
    """Write 1 for each card of a set, from `first` on, `step` values a card, in the order 2C 3C ... AC 2D ... AS."""
    while cards != 0:
        card = lowest(cards)
        row[first + step * (13 * suit(card) + rank(card))] = 1
        cards &= cards - 1


def pass_layout(seats):
    return Segment("in hand", (CARDS,)), Segment("chosen", (CARDS,))


@rule
def encode_pass(state, seat, row):
    """The paper's two vectors of 52: the cards in hand, and those chosen to be passed on."""
    put_suit_by_suit(row, 0, 1, dealt(state, seat))
    put_suit_by_suit(row, CARDS, 1, state.passed[seat])


@rule
def encode_dealt(state, seat, row):
    """The 13 cards that the seat was dealt, written as by `encode_play`: the row stays the same for the whole round."""
    held = dealt(state, seat)
    put_suit_by_suit(row, IN_HAND, PLACES, held)
    put_suit_by_suit(row, WITH_OTHERS, PLACES, DECK & ~held)


@rule
def dealt(state, seat):
    """The 13 cards that a seat was dealt in this round, before the exchange."""
    if state.leader == NONE:
        return state.hands[seat]
    return (state.hands[seat] | state.played[seat]) & ~received(state, seat) | state.passed[seat]
