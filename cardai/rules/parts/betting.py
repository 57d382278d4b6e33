"""Betting in turn by two seats: who has put in how much, checks, bets, calls, raises and folds, and who wins the pot.

Fields, declared but for `count`: `chips`, what each seat has put in since the deal (whole chips); `folded`, the seat
that has folded, or NONE; `count`, the moves of this round so far; `said`, what was said in it, a word's number by round
and move, with the empty word first: `Word("", "folds", "calls", "raises", shape=(ROUNDS, MOVES))`. A new round begins
when the game sets `count` to 0. A move has a `kind`: FOLD, CALL, which is to check where nothing has to be paid, or
RAISE, which is to bet there. How much a raise is, and how many there may be, is the game's: with a number in the move
it is no-limit.
"""

from cardai.rules import rule
from cardai.rules.cards import count, has

NONE = -1
FOLD, CALL, RAISE = range(3)


@rule
def to_call(state):
    """The chips that the seat to move has to put in to stay in: 0 if it may check."""
    return state.chips[1 - state.turn] - state.chips[state.turn]


@rule
def pot(state):
    """The chips that both seats have put in."""
    return state.chips[0] + state.chips[1]


@rule
def add_bets(state, moves, may_raise):
    """Write the moves of the seat to move, for `legal`, and return their number. Nobody folds who may check."""
    n = 0
    for kind in range(FOLD if to_call(state) > 0 else CALL, RAISE + 1 if may_raise else RAISE):
        moves[n].kind = kind
        n += 1
    return n


@rule
def bet(state, kind, round, more):
    """The seat to move folds, calls, or calls and raises by `more` chips. `round`: 0 the first, for `said`."""
    state.said[round, state.count] = kind + 1
    state.count += 1
    if kind == FOLD:
        state.folded = state.turn
    else:
        state.chips[state.turn] += to_call(state) + (more if kind == RAISE else 0)


@rule
def round_over(state):
    """Whether this round of betting is over: a seat has folded, or both have moved and put in as much."""
    return state.folded != NONE or (state.count > 1 and to_call(state) == 0)


@rule
def end_hand(state, is_shown):
    """The game is over. All see the hands if `is_shown`: declare `shown`, a Flag, and hands that it `opens`."""
    state.shown = is_shown
    state.revealed = 3 if is_shown else 0
    state.turn = -1


@rule
def still_in(state):
    """The set of seats that have not folded."""
    return 3 if state.folded == NONE else 2 - state.folded


@rule
def won(state, seat, winners):
    """The chips that a seat wins where a set of seats share the pot: what it gets less what it has put in."""
    return (pot(state) / count(winners) if has(winners, seat) else 0.0) - state.chips[seat]
