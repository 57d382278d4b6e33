"""Kuhn poker (Kuhn 1950), the smallest poker: its whole tree is listed, and best responses are exact.

Three cards, a hand of one. Each seat puts one chip in. A seat may pass or bet a chip; after a bet, pass is to fold and
bet to call. The higher card, or who is left, takes the pot.
"""

from cardai.game import Agents, Game, Learning, Outcome, Player, Rules, Text, move_dtype
from cardai.game.declared import Each, Flag, Held, Number, State, Stock, Word
from cardai.rules import below, rule
from cardai.rules.cards import Deck, full_deck, single
from cardai.rules.parts.betting import end_hand, won
from cardai.rules.parts.standing import best_seats

CARDS = 3
PASS, BET = range(2)
NAMES = ("passes", "bets")

STATE = State(
    Deck("JQK", "S"), 2,
    cards=Held(opens="shown"),
    left=Stock("left over", size=1),
    chips=Each(Number("chips in the pot", high=2)),
    said=Word("", *NAMES, shape=(3,)),  # by ply
    shown=Flag(),  # at a showdown
)  # fmt: skip
MOVE = move_dtype("bets")


@rule
def deal(state):
    state.cards[0] = below(state, CARDS)
    state.cards[1] = (state.cards[0] + 1 + below(state, CARDS - 1)) % CARDS
    state.left = full_deck(CARDS) & ~single(state.cards[0]) & ~single(state.cards[1])
    state.chips[:] = 1


@rule
def legal(state, moves):
    for bets in range(2):
        moves[bets].bets = bets
    return 2


@rule
def act(state, move):
    state.said[state.ply - 1] = move.bets + 1  # the ply has been counted
    state.chips[state.turn] += move.bets


@rule
def settle(state):
    is_raised = state.ply == 2 and state.chips[0] < state.chips[1]  # a pass, a bet
    if state.ply > 1 and not is_raised:
        end_hand(state, state.chips[0] == state.chips[1])
    else:
        state.turn = 1 - state.turn


@rule
def chips_won(state, seat):
    has_folded = state.chips[0] != state.chips[1]
    return won(state, seat, best_seats(state.chips if has_folded else state.cards, 3))


@rule
def score(state, seat):
    return 0.5 + chips_won(state, seat) / 4


@rule
def honest(world, move, params, stream):
    move.bets = world.cards[world.turn] == CARDS - 1


GAME = Game(
    name="kuhn", title="Kuhn poker", version=1, seats=range(2, 3), state=STATE, move=MOVE, max_moves=2, max_plies=3,
    score_sum=lambda seats: 1.0,
    rules=Rules(deal, legal, act, settle, score),
    text=Text(spell=lambda state, move: NAMES[int(move["bets"])]),
    learning=Learning(
        outcomes={"chips": Outcome(chips_won, "chips won", low=-2, high=2)}, actions={(PASS,): PASS, (BET,): BET},
    ),
    agents=Agents({"honest": Player(honest, "bets and calls with the highest card only", sees="own")}),
)  # fmt: skip
