"""Follow: a small game with cards that are alike and a deck in order, for tests: states weigh unequally.

1. The deck has two cards of each of four numbers in three colours, and three wild cards. A hand has four.
2. In turn a seat plays a card of the colour or the number of the last one, or a wild card, or it draws a card.
3. The game ends when a hand or the deck is empty. The smallest hands share the win.
"""

import numpy as np

from cardai.game import (
    Agents,
    Game,
    Learning,
    PerspectiveEncoder,
    Player,
    Rules,
    Segment,
    Table,
    Text,
    move_dtype,
    state_dtype,
)
from cardai.rules import rule, shuffle
from cardai.rules.dealing import weight_of

COLOURS = 3
NUMBERS = 4
WILD = COLOURS * NUMBERS
KINDS = WILD + 1
COPIES = (2,) * WILD + (3,)
CARDS = sum(COPIES)
SEATS = 3
HAND = 4
NONE = -1  # no card; as a move, to draw one

STATE = state_dtype(
    hands=(SEATS, KINDS),  # counts of kinds
    deck=CARDS,  # kinds; the next card is deck[deck_left - 1], NONE from deck[deck_left] on
    deck_left=(),
    discards=KINDS,
    top=(),
    drawing=(),
)
MOVE = move_dtype("card")


@rule
def fill(state, cards, stream):
    """Make the deck of these cards, shuffled."""
    state.deck_left = 0
    for card in range(KINDS):
        for _ in range(cards[card]):
            state.deck[state.deck_left] = card
            state.deck_left += 1
    shuffle(stream, state.deck, 0, state.deck_left)


@rule
def draw(state, seat):
    state.deck_left -= 1
    state.hands[seat, state.deck[state.deck_left]] += 1
    state.deck[state.deck_left] = NONE


@rule
def deal(state):
    cards = np.zeros(KINDS, np.int64)
    for card in range(KINDS):
        cards[card] = COPIES[card]
    state.deck[:] = NONE
    fill(state, cards, state)
    for seat in range(state.seats):
        for _ in range(HAND):
            draw(state, seat)
    state.top = NONE


@rule
def follows(top, card):
    return (
        top == NONE
        or card == WILD
        or top == WILD
        or card // NUMBERS == top // NUMBERS
        or card % NUMBERS == top % NUMBERS
    )


@rule
def legal(state, moves):
    moves[0].card = NONE
    n = 1
    for card in range(KINDS):
        if state.hands[state.turn, card] > 0 and follows(state.top, card):
            moves[n].card = card
            n += 1
    return n


@rule
def act(state, move):
    state.drawing = move.card == NONE
    if move.card != NONE:
        state.hands[state.turn, move.card] -= 1
        state.discards[move.card] += 1
        state.top = move.card


@rule
def settle(state):
    seat = state.turn
    if state.drawing != 0:
        draw(state, seat)
        state.revealed = 1 << seat
        state.drawing = 0
    state.turn = (seat + 1) % state.seats
    if state.hands[seat].sum() == 0 or state.deck_left == 0:
        state.turn = -1


@rule
def score(state, seat):
    winners, own = 0, state.hands[seat].sum()
    for other in range(state.seats):
        if state.hands[other].sum() < own:
            return 0.0
        winners += state.hands[other].sum() == own
    return 1.0 / winners


@rule
def resample(state, seat, stream):
    hidden, sizes = np.zeros(KINDS, np.int64), np.zeros(SEATS, np.int64)
    for i in range(state.deck_left):
        hidden[state.deck[i]] += 1
    for other in range(state.seats):
        if other != seat:
            sizes[other] = state.hands[other].sum()
            hidden += state.hands[other]
            state.hands[other][:] = 0
    fill(state, hidden, stream)
    for other in range(state.seats):
        for _ in range(sizes[other]):
            draw(state, other)


@rule
def weight(state):
    """The deck is a list: its kinds divide nothing."""
    return weight_of(state.hands)


@rule
def encode(state, seat, row):
    for card in range(KINDS):
        row[card] = state.hands[seat, card]
        row[KINDS + card] = state.discards[card]
    row[2 * KINDS] = state.top + 1
    row[2 * KINDS + 1] = state.deck_left
    for other in range(state.seats):
        row[2 * KINDS + 2 + other] = state.hands[(seat + other) % state.seats].sum()
    row[2 * KINDS + 2 + state.seats] = state.turn == seat


def layout(seats):
    cards = tuple(Segment(name, (KINDS,)) for name in ("hand", "discards"))
    return (*cards, Segment("top"), Segment("deck left"), Segment("sizes", (seats,)), Segment("own turn"))


@rule
def eager(world, move, params, stream):
    """Plays if it can."""
    move.card = NONE
    for card in range(KINDS):
        if world.hands[world.turn, card] > 0 and follows(world.top, card):
            move.card = card


def spell(state, move):
    return str(int(move["card"])) if move["card"] != NONE else "draws"


def parse(state, text):
    move = np.zeros(1, MOVE)[0]
    move["card"] = NONE if text == "draws" else int(text)
    return move


def show(state, seat):
    sizes = " ".join(str(int(hand.sum())) for hand in state.hands)
    cards = f"hand {state.hands[seat].tolist()}; discards {state.discards.tolist()}"
    return f"{cards}; hands of {sizes}; {int(state.deck_left)} in the deck; top {int(state.top)}"


def holdings(state):
    deck = np.bincount(state.deck[: int(state.deck_left)], minlength=KINDS)
    return [*state.hands, deck, state.discards]


GAME = Game(
    name="follow",
    title="Follow",
    version=1,
    seats=range(2, SEATS + 1),
    state=STATE,
    move=MOVE,
    max_moves=KINDS + 1,
    max_plies=2 * CARDS,
    score_sum=lambda seats: 1.0,
    rules=Rules(deal, legal, act, settle, score, resample=resample, weight=weight),
    text=Text(spell=spell, parse=parse, show=show),
    table=Table(holdings=holdings, copies=COPIES),
    learning=Learning(
        encoders={"counts": PerspectiveEncoder(layout, encode)},
    ),
    agents=Agents(
        players={"eager": Player(eager, "plays if it can")},
    ),
)
