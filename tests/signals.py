"""Signals: a small game with choices at the same time, for tests. A move has two fields, and some seats choose alone.

1. Three seats, four rounds. In round r seat r % 3 is the caller.
2. The caller calls 0 or 1 first, openly and alone. Then the two others choose at the same time a number of 0 to 2 and
   whether they double it; with call 1 the number must not be 0.
3. When both have chosen, all see it. The higher amount scores a point; equal ones score one for the caller.
4. The score is the share of the four points.
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
    Text,
    move_dtype,
    state_dtype,
)
from cardai.rules import rule

SEATS, ROUNDS, NONE = 3, 4, -1

STATE = state_dtype(
    number=(),  # of the round
    call=(),  # what the caller has called, or NONE
    amounts=SEATS,  # chosen in this round, by seat
    points=SEATS,
    sealed=(SEATS, 3),
)
MOVE = move_dtype("number", "doubled")


@rule
def deal(state):
    state.call = NONE
    state.turn = 0


@rule
def together(state):
    return 0 if state.call == NONE else 7 & ~(1 << state.number % SEATS)


@rule
def legal(state, moves):
    n, most = 0, 2 if state.call == NONE else 6
    for choice in range(most):
        number, doubled = (choice, 0) if state.call == NONE else (choice // 2, choice % 2)
        if state.call != 1 or number > 0:
            moves[n].number = number
            moves[n].doubled = doubled
            n += 1
    return n


@rule
def act(state, move):
    if state.call == NONE:
        state.call = move.number
    else:
        state.amounts[state.turn] = move.number * (1 + move.doubled)


@rule
def settle(state):
    caller = state.number % SEATS
    one, other = (caller + 1) % SEATS, (caller + 2) % SEATS
    if state.turn == caller:
        state.turn = other
        return
    if state.amounts[one] != state.amounts[other]:
        state.points[one if state.amounts[one] > state.amounts[other] else other] += 1
    else:
        state.points[caller] += 1
    for seat in range(SEATS):
        state.amounts[seat] = 0
    state.call = NONE
    state.number += 1
    state.turn = state.number % SEATS if state.number < ROUNDS else -1


@rule
def score(state, seat):
    return state.points[seat] / ROUNDS


@rule
def resample(state, seat, stream):
    return


@rule
def blank(state, seat):
    return


@rule
def encode(state, seat, row):
    row[0] = state.number
    row[1] = state.call + 1
    for step in range(SEATS):
        row[2 + step] = state.points[(seat + step) % SEATS]
        row[5 + step] = state.sealed[(seat + step) % SEATS, 0]
    row[8] = state.turn == seat


def layout(seats):
    parts = ("points", "has chosen")
    seen = [Segment(f"{part} of seat +{step}") for part in parts for step in range(SEATS)]
    return (Segment("round"), Segment("call"), *seen, Segment("to move"))


@rule
def taken(state, seat):
    return 1.0 * state.points[seat]


@rule
def highest(world, move, params, stream):
    move.number = 1 if world.call == NONE else 2
    move.doubled = world.call != NONE


def spell(state, move):
    if state.call == NONE:
        return f"calls {int(move['number'])}"
    return f"{int(move['number'])}{' doubled' if move['doubled'] else ''}"


def parse(state, text):
    words = text.removeprefix("calls ").split()
    return np.array([(int(words[0]), len(words) > 1)], MOVE)[0]


def show(state, seat):
    chosen = [other for other in range(SEATS) if state.sealed[other, 0]]
    return f"p{seat}, round {state.number}, call {state.call}, points {state.points.tolist()}, chosen: {chosen}"


GAME = Game(
    name="signals",
    title="Signals",
    version=1,
    seats=range(SEATS, SEATS + 1),
    default_seats=SEATS,
    state=STATE,
    move=MOVE,
    max_moves=6,
    max_plies=3 * ROUNDS,
    score_sum=lambda seats: 1.0,
    seats_alike=False,
    rules=Rules(deal, legal, act, settle, score, resample=resample, blank=blank, together=together),
    text=Text(spell=spell, parse=parse, show=show),
    learning=Learning(
        encoders={"all": PerspectiveEncoder(layout, encode)},
        actions={(number, doubled): 2 * number + doubled for number in range(3) for doubled in range(2)},
    ),
    agents=Agents(
        heuristics={"points": taken}, players={"highest": Player(highest, about="chooses the most", sees="own")}
    ),
)
