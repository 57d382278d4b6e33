"""Encoders: a seat's view of a Literature state as numbers. Numbers in comments are the rules of RULES.md."""

import numpy as np

from cardai.game import Segment
from cardai.rules import rule
from cardai.rules.cards import count, has, lowest, put
from cardai.rules.dealing import deal_chances

from .deck import CARDS, HALVES, NONE, SIX, card_of, cards_of
from .proof import live, live_cards, proven_claims, shown
from .rules import ASK, CLAIM, GIVE, NO_CLAIM
from .worlds import hidden_places

PLANE = (2 * SIX, 4)  # ranks x suits
KINDS = (ASK, CLAIM, NO_CLAIM, GIVE)
MOST = 255


def facts_layout(seats):
    every, others = range(seats), range(1, seats)
    return (
        Segment("own hand", PLANE),
        *(Segment(f"shown: seat +{step}", PLANE) for step in every),
        *(Segment(f"lacks: seat +{step}", PLANE) for step in every),
        *(Segment(f"may hold: seat +{step}", PLANE) for step in others),
        *(Segment(f"must have one of: seat +{step}", (HALVES,)) for step in every),
        Segment("cards in hand", (seats,)),
        Segment("half-suits of the own team", (HALVES,)),
        Segment("half-suits of the other team", (HALVES,)),
        Segment("half-suits of nobody", (HALVES,)),
        Segment("mover", (seats,)),
        Segment("window", (seats,)),
        Segment("closer", (seats,)),
        Segment("gives the turn away"),
        Segment("pending move", (len(KINDS),)),
        Segment("last asker", (seats,)),
        Segment("last asked", (seats,)),
        Segment("last card asked for", PLANE),
        Segment("last answer: yes, no", (2,)),
        Segment("claimant", (seats,)),
        Segment("half-suit being claimed", (HALVES,)),
        Segment("questions asked, halved"),
        Segment("options: any_seat, proof, wrong", (3,)),
    )


@rule
def encode_facts(state, seat, row):
    """What the seat knows: its hand, and for all seats what everybody knows (5.1), seats counted from its own."""
    seats = state.seats
    hidden = live_cards(state) & ~shown(state) & ~state.hands[seat]
    place = put(row, 0, state.hands[seat], CARDS)
    for step in range(seats):
        place = put(row, place, state.known[(seat + step) % seats], CARDS)
    for step in range(seats):
        place = put(row, place, state.lacks[(seat + step) % seats], CARDS)
    for step in range(1, seats):
        other = (seat + step) % seats
        may = hidden & ~state.lacks[other] if count(state.hands[other]) > count(state.known[other]) else 0
        place = put(row, place, may | state.known[other], CARDS)
    for step in range(seats):
        place = put(row, place, state.must[(seat + step) % seats], HALVES)
    for step in range(seats):
        row[place + step] = count(state.hands[(seat + step) % seats])
    place += seats
    for owner in (seat % 2, 1 - seat % 2, 2):
        place = put(row, place, state.won[owner], HALVES)
    for other in (state.mover, state.window, state.closer):
        place = put_seat(row, place, other, seat, seats)
    row[place] = state.giving
    if state.pending != NONE:
        row[place + 1 + state.pending] = 1
    place += 1 + len(KINDS)
    place = put_seat(row, place, state.asker, seat, seats)
    place = put_seat(row, place, state.asked, seat, seats)
    if state.card != NONE:
        row[place + state.card] = 1
    row[place + CARDS] = state.answer == 1
    row[place + CARDS + 1] = state.answer == 0
    place += CARDS + 2
    claims = state.pending == CLAIM
    place = put_seat(row, place, state.claimant if claims else NONE, seat, seats)
    if claims:
        row[place + state.claimed] = 1
    place += HALVES
    row[place] = min(MOST, state.asks // 2)
    row[place + 1] = state.any_seat
    row[place + 2] = state.proof
    row[place + 3] = state.wrong


@rule
def put_seat(row, place, other, seat, seats):
    """Write a seat as one of `seats` values, counted from the own one; nothing for NONE. Returns the place after."""
    if other != NONE:
        row[place + (other - seat) % seats] = 1
    return place + seats


def chances_layout(seats):
    return (
        *facts_layout(seats),
        Segment("chance that the pending question is answered with yes, in 255ths"),
        Segment("cards of each half-suit expected in the own team, in 255ths of six", (HALVES,)),
        Segment("half-suits that the seat can prove", (HALVES,)),
        *(Segment(f"chance of each card, in 255ths: seat +{step}", PLANE) for step in range(1, seats)),
    )


@rule
def encode_chances(state, seat, row):
    """The facts and what follows from them: exact chances by all deals that fit what the seat knows, and proofs."""
    encode_facts(state, seat, row)
    seats = state.seats
    place = len(row) - (seats - 1) * CARDS - 2 * HALVES - 1
    chances, names = np.empty((seats, CARDS)), np.empty(HALVES, np.int64)
    card_chances(state, seat, chances)
    if state.pending == ASK:
        row[place] = in_a_byte(chances[state.asked, state.card])
    proven_claims(state, seat, names)
    for half in range(HALVES):
        expected = 0.0
        for i in range(SIX):
            for other in range(seat % 2, seats, 2):
                expected += chances[other, card_of(half, i)] / SIX
        row[place + 1 + half] = in_a_byte(expected)
        row[place + 1 + HALVES + half] = names[half] != NONE
    place += 1 + 2 * HALVES
    for step in range(1, seats):
        other = (seat + step) % seats
        for card in range(CARDS):
            row[place + card] = in_a_byte(chances[other, card])
        place += CARDS


@rule
def in_a_byte(chance):
    """A chance in 255ths."""
    return np.int64(MOST * chance + 0.5)


@rule
def card_chances(state, seat, chances):
    """Write the chance of each card to be in each hand, as the seat knows: float64[seats, 48]."""
    hidden, sizes, groups, must = hidden_places(state, seat)
    deal_chances(hidden, sizes, state.lacks[: state.seats], groups, must, chances)
    for other in range(state.seats):
        cards = state.known[other] if other != seat else state.hands[seat]
        while cards != 0:
            chances[other, lowest(cards)] = 1.0
            cards &= cards - 1


# The encoding of the article, with true facts: its program begins the views of others with no cards of their own.

LACKS, MIGHT, HAS = 1, 2, 3


def article_layout(seats):
    views = ("own view", *(f"what seat {other} is known to know" for other in range(seats)))
    return (
        *(
            segment
            for view in views
            for segment in (
                Segment(f"{view}: its seat, cards in each hand", (1 + seats,)),
                *(
                    part
                    for other in range(seats)
                    for part in (
                        Segment(f"{view}: seat {other}: 1 lacks, 2 may have, 3 has", PLANE),
                        Segment(f"{view}: seat {other}: least number of each half-suit", (HALVES,)),
                    )
                ),
            )
        ),
        Segment("question asked: asker, asked, suit 1-4, rank 1-13", (4,)),
    )


@rule
def encode_article(state, seat, row):
    """The article's five views of all hands, and the question that has been asked and not answered."""
    place = put_view(state, seat, seat, state.hands[seat], row, 0)
    for other in range(state.seats):
        place = put_view(state, other, NONE, 0, row, place)
    if state.pending == ASK:
        rank = state.card // 4
        row[place] = state.asker
        row[place + 1] = state.asked
        row[place + 2] = 1 + state.card % 4
        row[place + 3] = 1 + rank + (rank >= SIX)  # there is no seven


@rule
def put_view(state, number, own, hand, row, place):
    """Write the view of a seat, first its number and the sizes of all hands, from what everybody knows (5.1).

    `own`: the seat whose `hand` is known besides, or NONE. Returns the place after the view.
    """
    row[place] = number
    for other in range(state.seats):
        row[place + 1 + other] = count(state.hands[other])
    place += 1 + state.seats
    elsewhere = ~live_cards(state) | shown(state) | hand
    for other in range(state.seats):
        has_cards = hand if other == own else state.known[other]
        is_open = other == own or count(state.hands[other]) == count(state.known[other])
        may = 0 if is_open else ~(elsewhere | state.lacks[other])
        for card in range(CARDS):
            row[place + card] = HAS if has(has_cards, card) else MIGHT if has(may, card) else LACKS
        place += CARDS
        for half in range(HALVES):
            least = count(has_cards & cards_of(half))
            if other != own and has(state.must[other] & live(state), half):
                least += 1
            row[place + half] = least
        place += HALVES
    return place
