"""Leduc poker (Southey and others 2005): two rounds of betting, and a card in the middle after the first.

Six cards, two of each rank, a hand of one. Each seat puts one chip in. Seat 0 begins both rounds; a seat folds, calls
(or checks) or raises, by 2 chips in the first round and by 4 in the second, twice a round at most. A pair with the card
in the middle wins, then the higher rank; equal hands share the pot.
"""

from cardai.cards import Deck, any_of, full_deck
from cardai.game import Game, Outcome
from cardai.game.declared import NONE, Card, Each, Flag, Held, Moves, Number, Seat, State, Stock, Word
from cardai.rule import rule

CARDS, LONGEST, MOST_CHIPS = 6, 4, 13  # LONGEST: the moves of a round

STATE = State(
    Deck("JQK", "HS"), 2,
    hands=Held(opens="shown"),
    stock=Stock(),
    middle=Card("in the middle"),
    chips=Each(Number("chips in the pot", high=MOST_CHIPS)),
    said=Word("", "folds", "calls", "raises", shape=(2, LONGEST)),  # in both rounds
    count=(),  # moves in this round
    raises=(),  # raises in this round
    folded=Seat(says="has folded"),
    shown=Flag(),  # at a showdown
)  # fmt: skip
MOVE = Moves("folds", "calls", "raises")
FOLD, CALL, RAISE = range(3)

add = MOVE.add
give = STATE.move("stock", "hands")
turn_up = STATE.move("stock", "middle")


@rule
def deal(state):
    state.stock = full_deck(CARDS)
    for seat in range(2):
        give(state, any_of(state.stock, state), seat)
        state.chips[seat] = 1
    state.middle = NONE
    state.folded = NONE


@rule
def legal(state, moves):
    n = 0
    least = FOLD if state.chips[state.turn] < state.chips[1 - state.turn] else CALL
    for kind in range(least, RAISE + 1 if state.raises < 2 else RAISE):
        n = add(moves, n, kind)
    return n


@rule
def act(state, move):
    seat, other = state.turn, 1 - state.turn
    state.said[0 if state.middle == NONE else 1, state.count] = move.kind + 1
    state.count += 1
    if move.kind == FOLD:
        state.folded = seat
    else:
        state.chips[seat] = state.chips[other]
    if move.kind == RAISE:
        state.chips[seat] += 2 if state.middle == NONE else 4
        state.raises += 1


@rule
def settle(state):
    is_called = state.count > 1 and state.chips[0] == state.chips[1]
    if state.folded != NONE or (is_called and state.middle != NONE):
        state.shown = state.folded == NONE
        state.revealed = 3 * state.shown
        state.turn = -1
    elif is_called:
        turn_up(state, any_of(state.stock, state))
        state.count = 0
        state.raises = 0
        state.revealed = 3
        state.turn = 0
    else:
        state.turn = 1 - state.turn


@rule
def chips_won(state, seat):
    own, other, pair = state.hands[seat] >> 1, state.hands[1 - seat] >> 1, state.middle >> 1
    ahead = (CARDS if own == pair else own) - (CARDS if other == pair else other)
    if state.folded == seat or (state.folded == NONE and ahead < 0):
        return float(-state.chips[seat])
    return float(state.chips[1 - seat]) if state.folded != NONE or ahead > 0 else 0.0


@rule
def score(state, seat):
    return 0.5 + chips_won(state, seat) / (2 * MOST_CHIPS)


GAME = Game(
    name="leduc", title="Leduc poker", version=1, seats=range(2, 3), state=STATE, move=MOVE,
    max_plies=2 * LONGEST,
    deal=deal, legal=legal, act=act, settle=settle, score=score,
    score_sum=lambda seats: 1.0,
    outcomes={"chips": Outcome(chips_won, "chips won", low=-MOST_CHIPS, high=MOST_CHIPS)},
)  # fmt: skip
