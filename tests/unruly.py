"""Low Hand with functions that crash, never return, or take all memory: each is a game that `cardai check` survives."""

import os
import threading
import time
from dataclasses import replace

import small_game

from cardai.game import Game, PerspectiveEncoder
from cardai.rule import rule


@rule
def settle_writes_far_away(state):
    small_game.settle(state)
    if state.ply == 3:
        state.hands[1_000_000_000_000 + state.turn] = 1


@rule
def deal_endlessly(state):
    while state.seats > 0:
        state.deck_left += 1


@rule
def legal_endlessly(state, moves):
    n = 0
    while state.turn >= 0:
        n = 1 - n
        moves[n].kind = n
    return n


@rule
def settle_endlessly(state):
    while state.ply == 3:
        state.top += 1
    small_game.settle(state)


@rule
def resample_endlessly(state, seat, stream):
    small_game.resample(state, seat, stream)
    while seat == 1:
        state.top += 1


@rule
def encode_endlessly(state, seat, row):
    while state.seats > 0:
        row[0] += 1


def spell_endlessly(state, move):
    while True:
        pass


def show_without_end(state, seat):
    lines = []
    while True:
        lines.append("x" * 10_000_000)


def show_nothing(state, seat):
    return f"{1 // (int(state['ply']) % 3)} cards"


def show_asleep(state, seat):
    time.sleep(1000)


def parse_in_a_deadlock(state, text):
    lock = threading.Lock()
    with lock, lock:
        return small_game.parse(state, text)


def parse_and_leave(state, text):
    os._exit(3)


def parse_and_exit(state, text):
    raise SystemExit(4)


# Rules that are slow, some 3 ms a call.

SPINS = 1_000_000


@rule
def spin(state):
    """Waste time. The bits are never 0 (xorshift), which a compiler does not see."""
    bits = state.ply + 1
    for _ in range(SPINS):
        bits ^= bits << 13
        bits ^= (bits >> 7) & (1 << 57) - 1
        bits ^= bits << 17
    return bits == 0


@rule
def deal_slowly(state):
    small_game.deal(state)
    state.top -= spin(state)


@rule
def legal_slowly(state, moves):
    return small_game.legal(state, moves) - spin(state)


@rule
def is_legal_slowly(state, move):
    return small_game.has(state.hands[state.turn], move.card) and not spin(state)


@rule
def act_slowly(state, move):
    small_game.act(state, move)
    state.top -= spin(state)


@rule
def simplify_slowly(state):
    state.top -= spin(state)


@rule
def is_open_slowly(state):
    return spin(state)


@rule
def resample_slowly(state, seat, stream):
    small_game.resample(state, seat, stream)
    state.top -= spin(state)


@rule
def blank_slowly(state, seat):
    small_game.blank(state, seat)
    state.top -= spin(state)


@rule
def encode_slowly(state, seat, row):
    small_game.encode(state, seat, row)
    row[0] += spin(state)


@rule
def low_points_slowly(state, seat):
    return small_game.low_points(state, seat) - spin(state)


@rule
def low_slowly(world, move, params, stream):
    small_game.low(world, move, params, stream)
    move.card -= spin(world)


def unruly(**functions) -> Game:
    return small_game.GAME.changed(**functions)


SLOW_ENCODE = unruly(encoders={"planes": PerspectiveEncoder(small_game.layout, encode_slowly)})
SLOW = unruly(
    deal=deal_slowly,
    legal=legal_slowly,
    is_legal=is_legal_slowly,
    act=act_slowly,
    simplify=simplify_slowly,
    is_open=is_open_slowly,
    resample=resample_slowly,
    blank=blank_slowly,
    encoders=SLOW_ENCODE.learning.encoders,
    heuristics={"low_points": low_points_slowly},
    players={"low": replace(small_game.GAME.agents.players["low"], choose=low_slowly)},
)


WILD_WRITE = unruly(settle=settle_writes_far_away)
ENDLESS_DEAL = unruly(deal=deal_endlessly)
ENDLESS_LEGAL = unruly(legal=legal_endlessly)
ENDLESS_SETTLE = unruly(settle=settle_endlessly)
ENDLESS_RESAMPLE = unruly(resample=resample_endlessly)
ENDLESS_ENCODE = unruly(encoders={"planes": PerspectiveEncoder(small_game.layout, encode_endlessly)})
ENDLESS_SPELL = unruly(spell=spell_endlessly)
FULL_MEMORY = unruly(show=show_without_end)
FAILING_SHOW = unruly(show=show_nothing)
ASLEEP = unruly(show=show_asleep)
DEADLOCK = unruly(parse=parse_in_a_deadlock)
LEAVES = unruly(parse=parse_and_leave)
EXITS = unruly(parse=parse_and_exit)
