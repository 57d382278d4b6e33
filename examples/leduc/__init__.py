"""Leduc poker (Southey and others 2005): two rounds of betting, and a card in the middle after the first.

Six cards, two of each rank, a hand of one. Each seat puts one chip in. Seat 0 begins both rounds; a seat folds, calls
(or checks) or raises, by 2 chips in the first round and by 4 in the second, twice a round at most. A pair with the card
in the middle wins, then the higher rank; equal hands share the pot.
"""

from cardai.cards import any_of, full_deck, lowest, put, single
from cardai.game import Game, Outcome, PerspectiveEncoder, Segment, move_dtype, state_dtype
from cardai.rule import rule

CARDS, LONGEST, MOST_CHIPS, NONE = 6, 4, 13, -1  # LONGEST: the moves of a round
FOLD, CALL, RAISE = range(3)
NAMES, CARD_NAMES = ("folds", "calls", "raises"), ("J1", "J2", "Q1", "Q2", "K1", "K2", "none")

STATE = state_dtype(
    hands=2,  # a card is 2 * rank + suit
    middle=(),  # the card in the middle, or NONE
    chips=2,  # in the pot, by seat
    said=(2, LONGEST),  # the moves of both rounds as kind + 1
    count=(),  # moves in this round
    raises=(),  # raises in this round
    folded=(),  # the seat that has folded, or NONE
    shown=(),  # 1 at a showdown
)
MOVE = move_dtype("kind")


@rule
def deal(state):
    state.hands[0] = any_of(full_deck(CARDS), state)
    state.hands[1] = any_of(full_deck(CARDS) & ~single(state.hands[0]), state)
    state.chips[0] = 1
    state.chips[1] = 1
    state.middle = NONE
    state.folded = NONE


@rule
def legal(state, moves):
    n = 0
    least = FOLD if state.chips[state.turn] < state.chips[1 - state.turn] else CALL
    for kind in range(least, RAISE + 1 if state.raises < 2 else RAISE):
        moves[n].kind = kind
        n += 1
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
        state.middle = any_of(full_deck(CARDS) & ~single(state.hands[0]) & ~single(state.hands[1]), state)
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


@rule
def unseen(state, seat):
    return full_deck(CARDS) & ~single(state.hands[seat]) & ~(0 if state.middle == NONE else single(state.middle))


@rule
def resample(state, seat, stream):
    if state.shown == 0:
        state.hands[1 - seat] = any_of(unseen(state, seat), stream)


@rule
def blank(state, seat):
    if state.shown == 0:
        state.hands[1 - seat] = lowest(unseen(state, seat))


@rule
def encode(state, seat, row):
    at = put(row, 0, single(state.hands[seat]), CARDS)
    at = put(row, at, 0 if state.middle == NONE else single(state.middle), CARDS)
    at = put(row, at, single(state.hands[1 - seat]) if state.shown else 0, CARDS)
    for i in range(2 * LONGEST):
        at = put(row, at, single(state.said[i // LONGEST, i % LONGEST]) >> 1, 3)
    row[at] = state.turn == seat
    row[at + 1] = seat


def layout(seats):
    cards = [Segment(name, (CARDS,)) for name in ("own card", "middle card", "shown card")]
    return (*cards, Segment("moves", (2 * LONGEST * 3,)), Segment("own turn"), Segment("seat"))


def spell(state, move):
    return NAMES[int(move["kind"])]


def show(state, seat):
    own, other, middle = (CARD_NAMES[i] for i in (*state.hands[[seat, 1 - seat]], state.middle))
    said = "; ".join(words for half in state.said if (words := " ".join(NAMES[int(kind) - 1] for kind in half if kind)))
    cards = f"p{seat} holds {own}, p{1 - seat} {other if state.shown else 'a hidden card'}. In the middle: {middle}."
    return f"{cards} Said: {said}." if said else cards


def holdings(state):
    places = [*(1 << int(card) for card in state.hands), 1 << int(state.middle) if state.middle != NONE else 0]
    return [*places, (1 << CARDS) - 1 - sum(places)]


GAME = Game(
    name="leduc", title="Leduc poker", version=1, seats=range(2, 3), state=STATE, move=MOVE,
    max_moves=3, max_plies=2 * LONGEST,
    deal=deal, legal=legal, act=act, settle=settle, score=score, resample=resample, blank=blank,
    score_sum=lambda seats: 1.0,
    outcomes={"chips": Outcome(chips_won, "chips won", low=-MOST_CHIPS, high=MOST_CHIPS)},
    encoders={"bits": PerspectiveEncoder(layout, encode)},
    actions={(FOLD,): FOLD, (CALL,): CALL, (RAISE,): RAISE},
    spell=spell, show=show, holdings=holdings,
)  # fmt: skip
