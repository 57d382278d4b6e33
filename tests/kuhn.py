"""Kuhn poker (Kuhn 1950) with its exact exploitability, for the tests of learners: what they learn has known answers.

Three cards, a hand of one. Each seat puts one chip in. A seat may pass or bet a chip; after a bet, pass is to fold and
bet to call. The higher card, or who is left, takes the pot.
"""

import itertools
from collections.abc import Callable

import numpy as np

from cardai.cards import put, single
from cardai.game import Game, PerspectiveEncoder, Player, Segment, move_dtype, state_dtype
from cardai.rule import below, rule

CARDS = 3
PASS, BET = range(2)
NAMES = ("pass", "bet")

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
def score(state, seat):
    if state.chips[0] == state.chips[1]:
        wins = state.cards[seat] > state.cards[1 - seat]
    else:
        wins = state.chips[seat] > state.chips[1 - seat]
    won = state.chips[1 - seat] if wins else -state.chips[seat]
    return 0.5 + won / 4


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


def parse(state, text):
    move = np.zeros(1, MOVE)[0]
    move["bets"] = NAMES.index(text)
    return move


def show(state, seat):
    other = f", the other card is {int(state.cards[1 - seat])}" if state.shown else ""
    said = " ".join(NAMES[int(state.bets) >> ply & 1] for ply in range(int(state.ply)))
    return f"You are seat {seat} and hold {int(state.cards[seat])}{other}. {said}"


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
    encoders={"bits": PerspectiveEncoder(layout, encode)},
    players={"honest": Player(honest, "bets and calls with the highest card only", sees="own")},
    actions={(PASS,): PASS, (BET,): BET},
    spell=spell,
    parse=parse,
    show=show,
)

# Exploitability, from Kuhn's rules alone: a history is the text of its moves, an information set a card and a history.

Strategy = Callable[[int, str], float]
"""(own card, history) -> the probability to bet."""

HISTORIES = (("", "pb"), ("p", "b"))
"""Where each seat decides."""


def won(cards: tuple[int, int], history: str) -> float | None:
    """What seat 0 has won in chips; None while the game goes on."""
    higher = 1 if cards[0] > cards[1] else -1
    return {"pp": higher, "bb": 2 * higher, "pbb": 2 * higher, "bp": 1, "pbp": -1}.get(history)


def value(strategies: tuple[Strategy, Strategy], cards: tuple[int, int], history: str = "") -> float:
    """What seat 0 wins in the mean."""
    ended = won(cards, history)
    if ended is not None:
        return ended
    seat = len(history) % 2
    bets = strategies[seat](cards[seat], history)
    return sum(
        chance * value(strategies, cards, history + move) for move, chance in (("p", 1 - bets), ("b", bets)) if chance
    )


def mean_value(strategies: tuple[Strategy, Strategy]) -> float:
    """The same over all deals."""
    return float(np.mean([value(strategies, cards) for cards in itertools.permutations(range(CARDS), 2)]))


def best_response_value(strategy: Strategy, seat: int) -> float:
    """The most that `seat` can win in the mean against a strategy of the other seat: the best of all pure ones."""
    places = [(card, history) for card in range(CARDS) for history in HISTORIES[seat]]
    found = []
    for choices in itertools.product((0.0, 1.0), repeat=len(places)):
        pure = dict(zip(places, choices, strict=True))
        answer: Strategy = lambda card, history, pure=pure: pure[card, history]  # noqa: E731
        won = mean_value((answer, strategy) if seat == 0 else (strategy, answer))
        found.append(won if seat == 0 else -won)
    return max(found)


def nash_conv(strategy: Strategy) -> float:
    """What both seats together could win by best responses to a strategy, in chips: 0 in equilibrium."""
    return best_response_value(strategy, 0) + best_response_value(strategy, 1)


def equilibrium(alpha: float) -> Strategy:
    """Kuhn's equilibria, 0 <= alpha <= 1/3."""
    bets = {
        (0, ""): alpha, (1, ""): 0, (2, ""): 3 * alpha, (0, "pb"): 0, (1, "pb"): alpha + 1 / 3, (2, "pb"): 1,
        (0, "p"): 1 / 3, (1, "p"): 0, (2, "p"): 1, (0, "b"): 0, (1, "b"): 1 / 3, (2, "b"): 1,
    }  # fmt: skip
    return lambda card, history: bets[card, history]


def strategy_of(chances: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Strategy:
    """The strategy of a policy: (rows u8[n, width], masks bool[n, 2]) -> f8[n, 2]."""
    places = [(card, history) for histories in HISTORIES for card in range(CARDS) for history in histories]
    rows = np.array([GAME.encode(state_at(card, history), len(history) % 2) for card, history in places])
    bets = chances(rows, np.ones((len(rows), 2), bool))[:, BET]
    known = dict(zip(places, bets.tolist(), strict=True))
    return lambda card, history: known[card, history]


def state_at(card: int, history: str) -> np.record:
    """A state in which the seat to move holds a card."""
    state = GAME.new()
    seat = len(history) % 2
    state.cards[seat], state.cards[1 - seat] = card, (card + 1) % CARDS
    for move in history:
        state = GAME.play(state, GAME.parse(state, NAMES["pb".index(move)]))
    return state
