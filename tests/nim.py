"""Nim: a pile of ten, of which each seat in turn takes one to three; who takes the last one wins."""

from flat import made_of

from cardai.game import Player, move_dtype, state_dtype
from cardai.rule import below, rule, uniform

PILE = state_dtype(pile=(), secret=())
TAKE = move_dtype("count")


@rule
def deal_pile(state):
    state.turn = 0
    state.pile = 10


@rule
def deal_any_pile(state):
    state.turn = 0
    state.pile = 5 + below(state, 5)


@rule
def legal_takes(state, moves):
    n = min(3, state.pile)
    for i in range(n):
        moves[i].count = i + 1
    return n


@rule
def take(state, move):
    state.pile -= move.count


@rule
def pass_turn(state):
    state.turn = 1 - state.turn if state.pile > 0 else -1


@rule
def lucky_turn(state):
    state.turn = below(state, 2) if state.pile > 0 else -1


@rule
def last_taker_wins(state, seat):
    return 1.0 if state.ply % 2 != seat else 0.0


@rule
def everybody_wins(state, seat):
    return 1.0


@rule
def nothing_hidden(state, seat, stream):
    pass


@rule
def secret_hidden(state, seat, stream):
    if seat == 1:
        state.secret = 1 + below(stream, 2)


@rule
def takes_one(world, move, params, stream):
    move.count = 1


@rule
def takes_any(world, move, params, stream):
    move.count = 1 + below(stream, min(3, world.pile))


@rule
def real_taker(world, move, params, stream):
    move.count = 1 + int(min(3, world.pile) * uniform(stream))


def nim(**changes):
    parts = {
        "name": "nim", "title": "Nim", "version": 1, "seats": range(2, 3), "state": PILE, "move": TAKE, "max_moves": 3,
        "max_plies": 10, "deal": deal_pile, "legal": legal_takes, "act": take, "settle": pass_turn,
        "score": last_taker_wins, "resample": nothing_hidden, "spell": lambda state, move: f"takes {move['count']}",
        "parse": lambda state, text: None, "show": lambda state, seat: "",
        "players": {"one": Player(takes_one, "takes one"), "any": Player(takes_any, "takes any number")},
    }  # fmt: skip
    return made_of(**(parts | changes))
