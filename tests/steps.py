"""Steps: the least game that can go wrong, for tests of the table and of generic players.

Two seats in turn stay or go one step up; who reaches `goal` scores 1. At `trap` nobody has a legal move.
"""

import numpy as np

from cardai.game import Agents, Game, Player, Rules, Text, move_dtype, state_dtype
from cardai.rules import rule, uniform

STATE = state_dtype(goal=(), trap=(), height=(), moved=())
MOVE = move_dtype("step")


@rule
def deal(state):
    state.turn = 0


@rule
def legal(state, moves):
    if state.height == state.trap:
        return 0
    for step in range(2):
        moves[step].step = step
    return 2


@rule
def act(state, move):
    state.height += move.step


@rule
def settle(state):
    state.moved = state.turn
    state.turn = -1 if state.height >= state.goal else 1 - state.turn


@rule
def score(state, seat):
    return 1.0 if seat == state.moved else 0.0


@rule
def resample(state, seat, stream):
    pass


@rule
def stay(world, move, params, stream):
    move.step = 0


@rule
def climb(world, move, params, stream):
    move.step = 1


@rule
def leap(world, move, params, stream):
    move.step = 7 if world.height == 3 else 1


@rule
def all_of_them(world, move, params, stream):
    """Goes by all its parameters, so that it would notice if there were more than it has."""
    total = 0.0
    for value in params:
        total += value
    move.step = 1 if uniform(stream) < total else 0


@rule
def two_of_them(world, move, params, stream):
    move.step = 1 if uniform(stream) < params[0] + params[1] else 0


@rule
def counted(world, move, params, stream):
    """Go up in a share of the moves that the count says, 0 unless it is a whole number from 1 to 5."""
    is_count = params[0] == np.floor(params[0]) and 1 <= params[0] <= 5
    move.step = 1 if is_count and uniform(stream) < params[0] / 5 else 0


GAME = Game(
    name="steps",
    title="Steps",
    version=1,
    seats=range(2, 3),
    state=STATE,
    move=MOVE,
    max_moves=2,
    max_plies=2000,
    variants={"low": {"goal": 10, "trap": -1}, "high": {"goal": 700, "trap": -1}, "trapped": {"goal": 10, "trap": 5}},
    rules=Rules(deal, legal, act, settle, score, resample=resample),
    text=Text(
        spell=lambda state, move: f"steps {int(move['step'])}",
        parse=lambda state, text: np.zeros(1, MOVE)[0],
        show=lambda state, seat: f"at {int(state.height)}",
    ),
    agents=Agents(
        players={
            "random": Player(stay, "goes nowhere: with it a game never ends"),
            "climb": Player(climb, "goes up"),
            "leap": Player(leap, "leaps, which is not allowed"),
            "one": Player(all_of_them, "goes up now and then", {"p": 0.2}),
            "counted": Player(counted, "the same by a count", {"fifths": 3}),
            "two": Player(two_of_them, "the same with two parameters", {"p": 0.1, "q": 0.3}),
        },
    ),
)
