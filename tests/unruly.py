"""Low Hand with functions that crash, never return, or take all memory: each is a game that `cardai check` survives."""

import os
import time

import small_game
from planting import changed, made

from cardai.game import Game, PerspectiveEncoder
from cardai.rules import rule


@rule
def settle_writes_far_away(state):
    small_game.settle(state)
    if state.ply == 3:
        state.hands[1_000_000_000_000 + state.turn] = 1


@rule
def settle_endlessly(state):
    while state.ply == 3:
        state.top += 1
    small_game.settle(state)


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


def unruly(**functions) -> Game:
    return small_game.GAME.changed(**functions)


def slowly(function, waste="state.top -= spin(state)"):
    return changed(function, f"... {waste}", globals())


SLOW_ENCODE = unruly(
    encoders={"planes": PerspectiveEncoder(small_game.layout, slowly(small_game.encode, "row[0] += spin(state)"))}
)
SLOW = unruly(
    act=slowly(small_game.act),
    legal=changed(small_game.legal, "return n -> return n - spin(state)", globals()),
    is_legal=made("state, move", "return has(state.hands[state.turn], move.card) and not spin(state)", globals()),
    heuristics={"low_points": made("state, seat", "return 0.0 - spin(state)", globals())},
)
WILD_WRITE = unruly(settle=settle_writes_far_away)
ENDLESS_SETTLE = unruly(settle=settle_endlessly)
ENDLESS_RESAMPLE = unruly(resample=changed(small_game.resample, "... while seat == 1: state.top += 1"))
ENDLESS_SPELL = unruly(spell=spell_endlessly)
FULL_MEMORY = unruly(show=show_without_end)
FAILING_SHOW = unruly(show=show_nothing)
ASLEEP = unruly(show=show_asleep)
LEAVES = unruly(parse=parse_and_leave)
EXITS = unruly(parse=parse_and_exit)
