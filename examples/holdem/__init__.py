"""Limit Texas hold'em for two, as an example of a game that counts in chips.

Numbers in comments are the rules of RULES.md in this folder; `hands` says which hand is better.
"""

import numpy as np

from cardai.game import Agents, Game, Learning, Outcome, Payoff, Player, Rules, Text
from cardai.game.declared import NONE, Each, Flag, Hand, Moves, Number, Pile, Seat, State, Stock, Word
from cardai.rules import rule
from cardai.rules.cards import DECK52, count, full_deck
from cardai.rules.dealing import some_of
from cardai.rules.parts.betting import (
    CALL,
    FOLD,
    RAISE,
    add_bets,
    bet,
    end_hand,
    pot,
    round_over,
    still_in,
    to_call,
    won,
)
from cardai.rules.parts.standing import best_seats

from .hands import KINDS, kind_of, strength

CARDS, BIG_BLIND = 52, 10
ROUNDS, LONGEST, BETS = 4, 6, 4  # 2.1; the moves of a round at most; 3.4
MOST_CHIPS = BETS * (2 * 10 + 2 * 20)  # 5.1

STATE = State(
    DECK52, 2,
    hands=Hand(opens="shown", size=2),
    stock=Stock(),
    board=Pile(),
    street=Word("before the flop", "after the flop", "after the turn", "after the river", name="round"),
    said=Word("", "folds", "calls", "raises", shape=(ROUNDS, LONGEST)),  # in each round
    count=(),  # moves in this round
    bets=(),  # bets in this round
    chips=Each(Number("chips in the pot", high=MOST_CHIPS)),
    button=Seat(says="has the button"),
    folded=Seat(says="has folded"),
    shown=Flag(),  # at a showdown
)  # fmt: skip
MOVE = Moves("folds", "calls", "raises")

give = STATE.move("stock", "hands")
turn_up = STATE.move("stock", "board")


@rule
def deal(state):
    state.stock = full_deck(CARDS)
    for seat in range(2):
        give(state, some_of(state.stock, 2, state), seat)  # 1.3
    state.chips[0] = BIG_BLIND  # 1.2
    state.chips[1] = BIG_BLIND // 2
    state.bets = 1  # 3.4
    state.folded = NONE
    state.button = 1
    state.turn = state.button  # 2.2


@rule
def legal(state, moves):
    return add_bets(state, moves, state.bets < BETS)


@rule
def act(state, move):
    bet(state, move.kind, state.street, 10 if state.street < 2 else 20)  # 3.1 to 3.3
    state.bets += move.kind == RAISE


@rule
def settle(state):
    if not round_over(state):
        state.turn = 1 - state.turn
    elif state.folded != NONE or state.street == ROUNDS - 1:  # 4.1
        end_hand(state, state.folded == NONE)
    else:  # 3.5
        turn_up(state, some_of(state.stock, 1 if state.street else 3, state))
        state.street += 1
        state.count = 0
        state.bets = 0
        state.revealed = 3
        state.turn = 0  # 2.2


@rule
def strength_of(state, seat):
    """4.2: how good a hand is at a showdown; 0 before."""
    return strength(state.hands[seat] | state.board) if state.shown != 0 else 0


@rule
def score(state, seat):
    """5.1: the chips that a seat has won."""
    return won(state, seat, best_seats((strength_of(state, 0), strength_of(state, 1)), still_in(state)))


@rule
def won_showdown(state, seat):
    return 0.5 + 0.5 * np.sign(score(state, seat))


@rule
def equity(state, seat, worlds, stream):
    """The share of the pot that a seat wins at a showdown against a hand that is drawn evenly, in so many worlds."""
    own, total = state.hands[seat], 0
    for _ in range(worlds):
        board = state.board | some_of(full_deck(CARDS) & ~state.board & ~own, 5 - count(state.board), stream)
        other = some_of(full_deck(CARDS) & ~board & ~own, 2, stream)
        mine, theirs = strength(own | board), strength(other | board)
        total += 1 + (mine > theirs) - (mine < theirs)
    return total / (2.0 * worlds)


@rule
def steady(world, move, params, stream):
    """Raise with a strong hand, call if the pot pays for it."""
    price = to_call(world)
    share = equity(world, world.turn, max(1, int(params[2])), stream) - params[1] * (world.bets - 1) * (price > 0)
    if world.bets < BETS and share > params[0]:
        move.kind = RAISE
    elif price == 0 or share * (pot(world) + price) >= price:
        move.kind = CALL
    else:
        move.kind = FOLD


def spell(state, move):
    kind, is_even = int(move["kind"]), state["chips"][0] == state["chips"][1]
    if kind == CALL and is_even:
        return "checks"
    return "bets" if kind == RAISE and is_even and state["street"] else MOVE.words[kind]  # 1.2: the blinds are a bet


def ending(state):
    gains = [float(score(state, seat)) for seat in range(2)]
    if state["folded"] != NONE:
        return f"p{state['folded']} folds, p{1 - state['folded']} wins {max(gains):g} chips."
    best = "they share the pot" if not gains[0] else f"p{int(gains[1] > 0)} wins {max(gains):g} chips"
    kinds = [KINDS[int(kind_of(strength_of(state, seat)))] for seat in range(2)]
    hands = [f"{DECK52.names(state['hands'][seat])} ({kinds[seat]})" for seat in range(2)]
    return f"p0 has {hands[0]}, p1 {hands[1]}; {best}."


GAME = Game(
    name="holdem", title="Limit Texas hold'em", version=1, seats=range(2, 3), state=STATE, move=MOVE,
    max_plies=ROUNDS * LONGEST, payoff=Payoff(-MOST_CHIPS, MOST_CHIPS, "chips"), score_sum=lambda seats: 0.0,  # 5.1
    seats_alike=False,  # 1.2
    rules=Rules(deal, legal, act, settle, score),
    text=Text(spell=spell, ending=ending),
    learning=Learning(
        outcomes={
            "showdown": Outcome(won_showdown, "won at showdowns, a tie as half", applies=STATE.value("shown")),
            "folded": Outcome(STATE.value("folded"), "folded", lower_is_better=True),
        },
        measures=("showdown", "folded"), tally=("showdown",),
    ),
    agents=Agents({"steady": Player(
        steady, "raises from a share of the pot of raise_at, less doubt for a bet; calls if the pot pays for it",
        {"raise_at": 0.6, "doubt": 0.1, "worlds": 40.0}, sees="own",
    )}),
)  # fmt: skip
