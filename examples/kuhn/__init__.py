"""Kuhn poker (Kuhn 1950), the smallest poker: its whole tree is listed, and best responses are exact.

Three cards, a hand of one. Each seat puts one chip in. A seat may pass or bet a chip; after a bet, pass is to fold and
bet to call. The higher card, or who is left, takes the pot.
"""

from cardai.cards import put, single
from cardai.game import Game, Outcome, PerspectiveEncoder, Player, Segment, move_dtype, state_dtype
from cardai.rule import below, rule

CARDS = 3
PASS, BET = range(2)
NAMES = ("passes", "bets")

STATE = state_dtype(
    cards=2,
    chips=2,  # in the pot, by seat
    bets=(),  # the set of plies at which somebody bet
    shown=(),  # 1 at a showdown
)
MOVE = move_dtype("bets")


@rule
def deal(state):
    state.cards[0] = below(state, CARDS)
    state.cards[1] = (state.cards[0] + 1 + below(state, CARDS - 1)) % CARDS
    state.chips[0] = 1
    state.chips[1] = 1


@rule
def legal(state, moves):
    for bets in range(2):
        moves[bets].bets = bets
    return 2


@rule
def act(state, move):
    if move.bets:
        state.bets |= single(state.ply - 1)  # the ply has been counted
        state.chips[state.turn] += 1


@rule
def settle(state):
    last = single(state.ply - 1)
    is_answered = state.bets & (last >> 1) != 0
    if is_answered or (state.ply > 1 and state.bets & last == 0):
        if state.chips[0] == state.chips[1]:
            state.shown = 1
            state.revealed = 3
        state.turn = -1
    else:
        state.turn = 1 - state.turn


@rule
def chips_won(state, seat):
    if state.chips[0] == state.chips[1]:
        wins = state.cards[seat] > state.cards[1 - seat]
    else:
        wins = state.chips[seat] > state.chips[1 - seat]
    return float(state.chips[1 - seat] if wins else -state.chips[seat])


@rule
def score(state, seat):
    return 0.5 + chips_won(state, seat) / 4


@rule
def resample(state, seat, stream):
    if state.shown == 0:
        state.cards[1 - seat] = (state.cards[seat] + 1 + below(stream, CARDS - 1)) % CARDS


@rule
def blank(state, seat):
    if state.shown == 0:
        state.cards[1 - seat] = (state.cards[seat] + 1) % CARDS


@rule
def encode(state, seat, row):
    at = put(row, 0, single(state.cards[seat]), CARDS)
    at = put(row, at, single(state.cards[1 - seat]) if state.shown else 0, CARDS)
    at = put(row, at, single(state.ply), 4)
    at = put(row, at, state.bets, 3)
    row[at] = state.turn == seat
    row[at + 1] = seat


def layout(seats):
    return (
        Segment("own card", (CARDS,)), Segment("shown card", (CARDS,)), Segment("ply", (4,)), Segment("bets", (3,)),
        Segment("own turn"), Segment("seat"),
    )  # fmt: skip


@rule
def honest(world, move, params, stream):
    move.bets = world.cards[world.turn] == CARDS - 1


def spell(state, move):
    return NAMES[int(move["bets"])]


def show(state, seat):
    other = f", the other card is {int(state.cards[1 - seat])}" if state.shown else ""
    said = " ".join(NAMES[int(state.bets) >> ply & 1] for ply in range(int(state.ply))) or "nothing"
    return f"You hold {int(state.cards[seat])}{other}. Said: {said}."


def holdings(state):
    hands = [1 << int(card) for card in state.cards]
    return [*hands, (1 << CARDS) - 1 - sum(hands)]


GAME = Game(
    name="kuhn",
    title="Kuhn poker",
    version=1,
    seats=range(2, 3),
    state=STATE,
    move=MOVE,
    max_moves=2,
    max_plies=3,
    deal=deal,
    legal=legal,
    act=act,
    settle=settle,
    score=score,
    resample=resample,
    blank=blank,
    score_sum=lambda seats: 1.0,
    outcomes={"chips": Outcome(chips_won, "chips won", low=-2, high=2)},
    encoders={"bits": PerspectiveEncoder(layout, encode)},
    players={"honest": Player(honest, "bets and calls with the highest card only", sees="own")},
    actions={(PASS,): PASS, (BET,): BET},
    spell=spell,
    show=show,
    holdings=holdings,
)
