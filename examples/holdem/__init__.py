"""Limit Texas hold'em for two, as an example of a game that counts in chips.

Numbers in comments are the rules of RULES.md in this folder; `hands` says which hand is better.
"""

import numpy as np

from cardai.cards import DECK52, any_of, count, full_deck, lowest, put, single
from cardai.game import Game, Outcome, Payoff, PerspectiveEncoder, Player, Segment, Zone, move_dtype, state_dtype
from cardai.rule import rule

from .hands import KINDS, kind_of, strength

CARDS, BIG_BLIND, NONE = 52, 10, -1
ROUNDS, LONGEST, BETS = 4, 6, 4  # 2.1; the moves of a round at most; 3.4
MOST_CHIPS = BETS * (2 * 10 + 2 * 20)  # 5.1
FOLD, CALL, RAISE = range(3)
NAMES = ("folds", "calls", "raises")
ROUND_NAMES = ("before the flop", "after the flop", "after the turn", "after the river")

STATE = state_dtype(
    hands=2,
    board=(),
    chips=2,  # in the pot, by seat
    said=(ROUNDS, LONGEST),  # the moves of each round as kind + 1
    street=(),  # the round, from 0
    count=(),  # moves in this round
    bets=(),  # bets in this round
    folded=(),  # the seat that has folded, or NONE
    shown=(),  # 1 at a showdown
)
MOVE = move_dtype("kind")


@rule
def unseen(state, cards):
    """The cards that are neither on the board nor among these."""
    return full_deck(CARDS) & ~state.board & ~cards


@rule
def drawn(rest, size, stream):
    """A set of so many cards, drawn evenly."""
    chosen = 0
    for _ in range(size):
        chosen |= single(any_of(rest & ~chosen, stream))
    return chosen


@rule
def deal(state):
    state.hands[0] = drawn(full_deck(CARDS), 2, state)  # 1.3
    state.hands[1] = drawn(unseen(state, state.hands[0]), 2, state)
    state.chips[0] = BIG_BLIND  # 1.2
    state.chips[1] = BIG_BLIND // 2
    state.bets = 1  # 3.4
    state.folded = NONE
    state.turn = 1  # 2.2


@rule
def to_call(state):
    return state.chips[1 - state.turn] - state.chips[state.turn]


@rule
def legal(state, moves):
    n = 0
    for kind in range(FOLD if to_call(state) > 0 else CALL, RAISE + 1 if state.bets < BETS else RAISE):
        moves[n].kind = kind
        n += 1
    return n


@rule
def act(state, move):
    state.said[state.street, state.count] = move.kind + 1
    state.count += 1
    if move.kind == FOLD:
        state.folded = state.turn  # 3.1
        return
    state.chips[state.turn] += to_call(state)  # 3.2
    if move.kind == RAISE:
        state.chips[state.turn] += 10 if state.street < 2 else 20  # 3.3
        state.bets += 1


@rule
def settle(state):
    if state.folded != NONE:
        state.turn = -1
    elif state.count < 2 or state.chips[0] != state.chips[1]:
        state.turn = 1 - state.turn
    elif state.street == ROUNDS - 1:  # 4.1
        state.shown = 1
        state.revealed = 3
        state.turn = -1
    else:  # 3.5
        state.board |= drawn(unseen(state, state.hands[0] | state.hands[1]), 1 if state.street else 3, state)
        state.street += 1
        state.count = 0
        state.bets = 0
        state.revealed = 3
        state.turn = 0  # 2.2


@rule
def score(state, seat):
    """5.1: the chips that a seat has won."""
    ahead = 0
    if state.folded != NONE:
        ahead = -1 if state.folded == seat else 1
    else:
        own, other = strength(state.hands[seat] | state.board), strength(state.hands[1 - seat] | state.board)
        ahead = (own > other) - (own < other)
    return 1.0 * state.chips[1 - seat] if ahead > 0 else ahead * 1.0 * state.chips[seat]


@rule
def is_shown(state, seat):
    return state.shown != 0


@rule
def won_showdown(state, seat):
    return 0.5 + 0.5 * np.sign(score(state, seat))


@rule
def has_folded(state, seat):
    return 1.0 * (state.folded == seat)


@rule
def resample(state, seat, stream):
    if state.shown == 0:
        state.hands[1 - seat] = drawn(unseen(state, state.hands[seat]), 2, stream)


@rule
def blank(state, seat):
    if state.shown == 0:
        first = single(lowest(unseen(state, state.hands[seat])))
        state.hands[1 - seat] = first | single(lowest(unseen(state, state.hands[seat] | first)))


@rule
def equity(state, seat, worlds, stream):
    """The share of the pot that a seat wins at a showdown against a hand that is drawn evenly, in so many worlds."""
    own, total = state.hands[seat], 0
    for _ in range(worlds):
        board = state.board | drawn(unseen(state, own), 5 - count(state.board), stream)
        other = drawn(full_deck(CARDS) & ~board & ~own, 2, stream)
        mine, theirs = strength(own | board), strength(other | board)
        total += 1 + (mine > theirs) - (mine < theirs)
    return total / (2.0 * worlds)


@rule
def steady(world, move, params, stream):
    """Raise with a strong hand, call if the pot pays for it."""
    price, pot = to_call(world), world.chips[0] + world.chips[1]
    share = equity(world, world.turn, max(1, int(params[2])), stream) - params[1] * (world.bets - 1) * (price > 0)
    if world.bets < BETS and share > params[0]:
        move.kind = RAISE
    elif price == 0 or share * (pot + price) >= price:
        move.kind = CALL
    else:
        move.kind = FOLD


@rule
def encode(state, seat, row):
    own, other = state.hands[seat], state.hands[1 - seat] if state.shown else 0
    at = put(row, 0, own, CARDS)
    at = put(row, at, state.board, CARDS)
    at = put(row, at, other, CARDS)
    for i in range(ROUNDS * LONGEST):
        at = put(row, at, single(state.said[i // LONGEST, i % LONGEST]) >> 1, 3)
    if state.street > 0:
        row[at + kind_of(strength(own | state.board))] = 1
    at += len(KINDS)
    row[at] = state.chips[seat]
    row[at + 1] = state.chips[1 - seat]
    row[at + 2] = state.turn == seat
    row[at + 3] = seat


def layout(seats):
    planes = [Segment(name, (13, 4)) for name in ("own hand", "board", "shown hand")]
    values = [Segment(name) for name in ("own chips", "other chips", "to move", "button")]
    return (*planes, Segment("moves", (ROUNDS * LONGEST * 3,)), Segment("kind of hand", (len(KINDS),)), *values)


def spell(state, move):
    kind = int(move["kind"])
    if kind == CALL and state["chips"][0] == state["chips"][1]:
        return "checks"
    return "bets" if kind == RAISE and state["bets"] == 0 else NAMES[kind]


def bets_said(state):
    """The moves of each round that has begun, as "calls raises calls"."""
    return [" ".join(NAMES[int(kind) - 1] for kind in said if kind) for said in state["said"][: state["street"] + 1]]


def show(state, seat):
    own, other = (DECK52.names(state["hands"][place]) for place in (seat, 1 - seat))
    board = DECK52.names(state["board"]) if state["board"] else "none"
    lines = [f"Board: {board}. In the pot: p0 {state['chips'][0]}, p1 (button) {state['chips'][1]} chips."]
    lines += [f"{ROUND_NAMES[i]}: {said or 'nobody has moved'}" for i, said in enumerate(bets_said(state))]
    made = f", {kind_held(state, seat)}" if state["board"] else ""
    return "\n".join([*lines, f"Your hand: {own}{made}. The other hand: {other if state['shown'] else 'hidden'}."])


def kind_held(state, seat):
    return KINDS[int(strength(int(state["hands"][seat]) | int(state["board"]))) >> 20]


def ending(state):
    gains = [float(score(state, seat)) for seat in range(2)]
    if state["folded"] != NONE:
        return f"p{state['folded']} folds, p{1 - state['folded']} wins {max(gains):g} chips."
    best = "they share the pot" if not gains[0] else f"p{int(gains[1] > 0)} wins {max(gains):g} chips"
    hands = [f"{DECK52.names(state['hands'][seat])} ({kind_held(state, seat)})" for seat in range(2)]
    return f"p0 has {hands[0]}, p1 {hands[1]}; {best}."


def zones(state, seat):
    places = []
    for other in (seat, 1 - seat):
        is_open = other == seat or state["shown"]
        cards, note = int(state["hands"][other]) if is_open else 0, f"{state['chips'][other]} chips in the pot"
        places.append(Zone("Hand", cards, 0 if is_open else 2, seat=other, look="fan", note=note))
    return [*places, Zone("Board", int(state["board"]), note=ROUND_NAMES[int(state["street"])])]


def holdings(state):
    hands = [int(hand) for hand in state["hands"]]
    return [*hands, int(state["board"]), full_deck(CARDS) & ~int(state["board"]) & ~hands[0] & ~hands[1]]


GAME = Game(
    name="holdem", title="Limit Texas hold'em", version=1, seats=range(2, 3), state=STATE, move=MOVE,
    max_moves=3, max_plies=ROUNDS * LONGEST,
    deal=deal, legal=legal, act=act, settle=settle, score=score, resample=resample, blank=blank,
    payoff=Payoff(-MOST_CHIPS, MOST_CHIPS, "chips"),
    score_sum=lambda seats: 0.0,  # 5.1
    seats_alike=False,  # 1.2
    outcomes={
        "showdown": Outcome(won_showdown, "won at showdowns, a tie as half", applies=is_shown),
        "folded": Outcome(has_folded, "folded", lower_is_better=True),
    },
    measures=("showdown", "folded"), tally=("showdown",),
    encoders={"cards": PerspectiveEncoder(layout, encode)},
    players={
        "steady": Player(
            steady, "raises from a share of the pot of raise_at, less doubt for a bet; calls if the pot pays for it",
            {"raise_at": 0.6, "doubt": 0.1, "worlds": 40.0}, sees="own",
        )
    },
    actions={(FOLD,): FOLD, (CALL,): CALL, (RAISE,): RAISE},
    spell=spell, show=show, pieces=DECK52.all_names, zones=zones, ending=ending, holdings=holdings,
)  # fmt: skip
