"""Pairs: a small game of two teams, for tests.

Twelve cards, two of each rank; each seat is dealt two of them. In turn, beginning with a seat that is drawn, each plays
one. The team whose cards have the higher ranks in sum wins; equal sums are a tie.
"""

import numpy as np

from cardai.game import (
    Agents,
    Game,
    Learning,
    Outcome,
    PerspectiveEncoder,
    Player,
    Rules,
    Segment,
    Table,
    Text,
    move_dtype,
    state_dtype,
)
from cardai.rules import below, rule
from cardai.rules.cards import any_of, count, full_deck, has, highest, lowest, put, single

CARDS = 12
SEATS = 6
HAND = 2

STATE = state_dtype(hands=SEATS, played=SEATS, stock=())  # sets of cards
MOVE = move_dtype("card")


@rule
def deal(state):
    state.stock = full_deck(CARDS)
    for seat in range(state.seats):
        for _ in range(HAND):
            card = any_of(state.stock, state)
            state.hands[seat] |= single(card)
            state.stock &= ~single(card)
    state.turn = below(state, state.seats)


@rule
def legal(state, moves):
    n = 0
    for card in range(CARDS):
        if has(state.hands[state.turn], card):
            moves[n].card = card
            n += 1
    return n


@rule
def act(state, move):
    state.hands[state.turn] &= ~single(move.card)
    state.played[state.turn] = single(move.card)


@rule
def settle(state):
    state.turn = -1 if state.ply == state.seats else (state.turn + 1) % state.seats


@rule
def rank_played(state, seat):
    return lowest(state.played[seat]) // 2 if state.played[seat] != 0 else 0


@rule
def lead(state, seat):
    """How much higher the cards of the seat's team are in sum than those of the other team."""
    total = 0
    for other in range(state.seats):
        total += rank_played(state, other) if (other - seat) % 2 == 0 else -rank_played(state, other)
    return total


@rule
def score(state, seat):
    ahead = lead(state, seat)
    return 1.0 if ahead > 0 else 0.0 if ahead < 0 else 0.5


@rule
def resample(state, seat, stream):
    hidden = state.stock
    for other in range(state.seats):
        hidden |= state.hands[other] if other != seat else 0
    for other in range(state.seats):
        if other != seat:
            size = count(state.hands[other])
            state.hands[other] = 0
            for _ in range(size):
                card = any_of(hidden, stream)
                state.hands[other] |= single(card)
                hidden &= ~single(card)
    state.stock = hidden


@rule
def encode(state, seat, row):
    at = put(row, 0, state.hands[seat], CARDS)
    for other in range(state.seats):
        at = put(row, at, state.played[(seat + other) % state.seats], CARDS)


@rule
def own_rank(state, seat):
    return float(rank_played(state, seat))


@rule
def high(world, move, params, stream):
    move.card = highest(world.hands[world.turn])


@rule
def low(world, move, params, stream):
    move.card = lowest(world.hands[world.turn])


def layout(seats):
    return (Segment("hand", (CARDS,)), *(Segment(f"played, seat +{other}", (CARDS,)) for other in range(seats)))


def parse(state, text):
    move = np.zeros(1, MOVE)[0]
    move["card"] = int(text)
    return move


def show(state, seat):
    return f"hand {int(state.hands[seat]):b}; played {' '.join(f'{int(cards):b}' for cards in state.played)}"


GAME = Game(
    name="pairs",
    title="Pairs",
    version=1,
    seats=range(4, SEATS + 1, 2),
    default_seats=4,
    teams=2,
    state=STATE,
    move=MOVE,
    max_moves=HAND,
    max_plies=SEATS,
    score_sum=lambda seats: seats / 2,
    rules=Rules(deal, legal, act, settle, score, resample=resample),
    text=Text(spell=lambda state, move: str(int(move["card"])), parse=parse, show=show),
    table=Table(
        holdings=lambda state: [*map(int, state.hands), *map(int, state.played), int(state.stock)],
    ),
    learning=Learning(
        encoders={"cards": PerspectiveEncoder(layout, encode)},
        outcomes={"rank": Outcome(own_rank, "the rank of the card that the seat played", 0, CARDS // 2 - 1)},
    ),
    agents=Agents(
        players={"high": Player(high, "plays its higher card"), "low": Player(low, "plays its lower card")},
        heuristics={"own_rank": own_rank},
    ),
)
