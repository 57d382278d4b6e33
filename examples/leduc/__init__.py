"""Leduc poker (Southey and others 2005): two rounds of betting, and a card in the middle after the first.

Six cards, two of each rank, a hand of one. Each seat puts one chip in. Seat 0 begins both rounds; a seat folds, calls
(or checks) or raises, by 2 chips in the first round and by 4 in the second, twice a round at most. A pair with the card
in the middle wins, then the higher rank; equal hands share the pot.
"""

from cardai.game import Game, Learning, Outcome, Rules
from cardai.game.declared import NONE, Card, Each, Flag, Held, Moves, Number, Seat, State, Stock, Word
from cardai.rules import rule
from cardai.rules.cards import Deck, any_of, full_deck
from cardai.rules.parts.betting import RAISE, add_bets, bet, end_hand, round_over, still_in, won
from cardai.rules.parts.standing import best_seats

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
    return add_bets(state, moves, state.raises < 2)


@rule
def act(state, move):
    is_first = state.middle == NONE
    bet(state, move.kind, 0 if is_first else 1, 2 if is_first else 4)
    state.raises += move.kind == RAISE


@rule
def settle(state):
    if not round_over(state):
        state.turn = 1 - state.turn
    elif state.folded != NONE or state.middle != NONE:
        end_hand(state, state.folded == NONE)
    else:
        turn_up(state, any_of(state.stock, state))
        state.count = 0
        state.raises = 0
        state.revealed = 3
        state.turn = 0


@rule
def value_of(state, seat):
    """How good a hand is: a pair with the card in the middle is better than any rank."""
    own = state.hands[seat] >> 1
    return CARDS if own == state.middle >> 1 else own


@rule
def chips_won(state, seat):
    return won(state, seat, best_seats((value_of(state, 0), value_of(state, 1)), still_in(state)))


@rule
def score(state, seat):
    return 0.5 + chips_won(state, seat) / (2 * MOST_CHIPS)


GAME = Game(
    name="leduc", title="Leduc poker", version=1, seats=range(2, 3), state=STATE, move=MOVE, max_plies=2 * LONGEST,
    score_sum=lambda seats: 1.0,
    rules=Rules(deal, legal, act, settle, score),
    learning=Learning(outcomes={"chips": Outcome(chips_won, "chips won", low=-MOST_CHIPS, high=MOST_CHIPS)}),
)  # fmt: skip
