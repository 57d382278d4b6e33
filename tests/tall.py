"""Tall: a small game of 104 cards, for the tests of laws on games with more cards than a number has bits.

1. Each seat is dealt ten of 104 cards, numbered from 0; the others are the stock.
2. In turn each seat plays a card face up and, as long as the stock may be drawn from, draws one. After each round the
   highest card of the round takes a trick. The score is the share of tricks taken.
"""

import numpy as np

from cardai.game import (
    Agents,
    Game,
    Learning,
    PerspectiveEncoder,
    Player,
    Rules,
    Segment,
    Table,
    Text,
    Zone,
    move_dtype,
    state_dtype,
)
from cardai.rules import below, count, rule
from cardai.rules.cards import has, put, single

CARDS = 104
WORD = 52  # cards in a number of the state
SEATS = 3
HAND = 10
ROUNDS = 14
NONE = -1

STATE = state_dtype(
    hands=(SEATS, 2),  # card c is bit c % WORD of number c // WORD
    stock=2,
    played=2,
    table=SEATS,  # the card of each seat in this round, or NONE
    tricks=SEATS,
)
MOVE = move_dtype("card")


@rule
def holds(cards, card):
    return has(cards[card // WORD], card % WORD)


@rule
def put_in(cards, card):
    cards[card // WORD] |= single(card % WORD)


@rule
def take_out(cards, card):
    cards[card // WORD] &= ~single(card % WORD)


@rule
def size(cards):
    return count(cards[0]) + count(cards[1])


@rule
def member(cards, number):
    """The card of a set that has so many lower ones."""
    for card in range(CARDS):
        if holds(cards, card):
            if number == 0:
                return card
            number -= 1
    return NONE


@rule
def move_any(cards, to, stream):
    """Move an evenly drawn card from one set to another. Returns it."""
    card = member(cards, below(stream, size(cards)))
    take_out(cards, card)
    put_in(to, card)
    return card


@rule
def deal(state):
    for card in range(CARDS):
        put_in(state.stock, card)
    for seat in range(state.seats):
        state.table[seat] = NONE
        for _ in range(HAND):
            move_any(state.stock, state.hands[seat], state)


@rule
def legal(state, moves):
    n = 0
    for card in range(CARDS):
        if holds(state.hands[state.turn], card):
            moves[n].card = card
            n += 1
    return n


@rule
def act(state, move):
    take_out(state.hands[state.turn], move.card)
    put_in(state.played, move.card)
    state.table[state.turn] = move.card


@rule
def settle(state):
    if state.ply <= state.seats * (ROUNDS - HAND):
        move_any(state.stock, state.hands[state.turn], state)
        state.revealed = single(state.turn)
    state.turn = (state.turn + 1) % state.seats
    if state.turn == 0:
        best = 0
        for seat in range(state.seats):
            if state.table[seat] > state.table[best]:
                best = seat
        state.tricks[best] += 1
        state.table[:] = NONE
    if size(state.hands[state.turn]) == 0:
        state.turn = -1


@rule
def score(state, seat):
    return state.tricks[seat] / ROUNDS


@rule
def resample(state, seat, stream):
    sizes = np.zeros(SEATS, np.int64)
    for other in range(state.seats):
        if other != seat:
            sizes[other] = size(state.hands[other])
            state.stock |= state.hands[other]
            state.hands[other][:] = 0
    for other in range(state.seats):
        for _ in range(sizes[other]):
            move_any(state.stock, state.hands[other], stream)


@rule
def encode(state, seat, row):
    at = 0
    for word in range(2):
        at = put(row, at, state.hands[seat][word], WORD)
        at = put(row, at, state.played[word], WORD)
    for other in range(state.seats):
        row[at + other] = state.table[(seat + other) % state.seats] + 1
        row[at + state.seats + other] = state.tricks[(seat + other) % state.seats]
    row[at + 2 * state.seats] = state.turn == seat


def layout(seats):
    cards = ("hand, low", "played, low", "hand, high", "played, high")
    return (
        *(Segment(name, (WORD,)) for name in cards),
        Segment("table", (seats,)),
        Segment("tricks", (seats,)),
        Segment("own turn"),
    )


@rule
def highest_first(world, move, params, stream):
    for card in range(CARDS):
        if holds(world.hands[world.turn], card):
            move.card = card


def as_set(words):
    return int(words[0]) | int(words[1]) << WORD


def listed(words):
    return [card for card in range(CARDS) if as_set(words) >> card & 1]


def holdings(state):
    return [*map(as_set, state.hands), as_set(state.stock), as_set(state.played)]


def zones(state, seat):
    hands = [
        Zone("Hand", as_set(hand) if other == seat else 0, 0 if other == seat else as_set(hand).bit_count(), seat=other)
        for other, hand in enumerate(state.hands[: int(state.seats)])
    ]
    return [*hands, Zone("Played", as_set(state.played), look="pile")]


def show(state, seat):
    table = " ".join(str(card) for card in state.table)
    return f"hand {listed(state.hands[seat])}; played {listed(state.played)}; table {table}; tricks {state.tricks}"


def parse(state, text):
    move = np.zeros(1, MOVE)[0]
    move["card"] = int(text)
    return move


GAME = Game(
    name="tall",
    title="Tall",
    version=1,
    seats=range(2, SEATS + 1),
    state=STATE,
    move=MOVE,
    max_moves=HAND,
    max_plies=SEATS * ROUNDS,
    score_sum=lambda seats: 1.0,
    seats_alike=False,  # who plays last to a tie wins no tie
    rules=Rules(deal, legal, act, settle, score, resample=resample),
    text=Text(spell=lambda state, move: str(int(move["card"])), parse=parse, show=show),
    table=Table(
        holdings=holdings,
        pieces=tuple(map(str, range(CARDS))),
        zones=zones,
        picks=lambda state, move: 1 << int(move["card"]),
    ),
    learning=Learning(
        encoders={"cards": PerspectiveEncoder(layout, encode)},
    ),
    agents=Agents(
        players={"high": Player(highest_first, "plays its highest card")},
    ),
)
