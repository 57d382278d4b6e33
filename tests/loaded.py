"""Loaded: a small game whose deals are not equally likely, for tests of laws that weigh worlds.

1. Of twelve cards each of two seats gets four; the others stay in the stock, unseen. A hand is the likelier the lower
   its cards are: the card k counts 1 / (floor + k), a deal the product of the cards of both hands.
2. In turn the seats play a card face up. The highest card of all takes the game.
"""

from cardai.game import Game, Learning, PerspectiveEncoder, Rules, Segment, Table, Text, move_dtype, state_dtype
from cardai.rules import below, rule
from cardai.rules.cards import any_of, count, full_deck, highest, lowest, put, single

CARDS, SEATS, HAND = 12, 2, 4

STATE = state_dtype(floor=(), hands=SEATS, stock=(), played=SEATS)  # floor: an option, see 1
MOVE = move_dtype("card")


@rule
def odds(cards, floor):
    product = 1.0
    while cards != 0:
        product /= floor + lowest(cards)
        cards &= cards - 1
    return product


@rule
def drawn(pool, size, floor, stream):
    """Cards of the pool, each set of `size` cards as likely as its odds: drawn evenly until it may stay."""
    best, rest = 0, pool
    for _ in range(size):
        best |= single(lowest(rest))
        rest &= rest - 1
    while True:
        hand, rest = 0, pool
        for _ in range(size):
            card = any_of(rest, stream)
            hand |= single(card)
            rest &= ~single(card)
        if below(stream, 1 << 30) < odds(hand, floor) / odds(best, floor) * (1 << 30):
            return hand


@rule
def deal(state):
    cards = drawn(full_deck(CARDS), SEATS * HAND, state.floor, state)
    state.stock = full_deck(CARDS) & ~cards
    for _ in range(HAND):
        card = any_of(cards, state)
        state.hands[0] |= single(card)
        cards &= ~single(card)
    state.hands[1] = cards


@rule
def resample(state, seat, stream):
    pool = state.stock | state.hands[1 - seat]
    state.hands[1 - seat] = drawn(pool, count(state.hands[1 - seat]), state.floor, stream)
    state.stock = pool & ~state.hands[1 - seat]


@rule
def weight(state):
    return odds(state.hands[0] | state.hands[1], state.floor)


@rule
def legal(state, moves):
    n, hand = 0, state.hands[state.turn]
    while hand != 0:
        moves[n].card = lowest(hand)
        hand &= hand - 1
        n += 1
    return n


@rule
def act(state, move):
    state.hands[state.turn] &= ~single(move.card)
    state.played[state.turn] |= single(move.card)


@rule
def settle(state):
    state.turn = 1 - state.turn if state.ply < SEATS * HAND else -1


@rule
def score(state, seat):
    return 1.0 * (highest(state.played[seat]) > highest(state.played[1 - seat]))


@rule
def encode(state, seat, row):
    at = put(row, 0, state.hands[seat], CARDS)
    for step in range(SEATS):
        at = put(row, at, state.played[(seat + step) % SEATS], CARDS)
    row[at] = state.turn == seat
    row[at + 1] = state.floor


def layout(seats):
    sets = [Segment(name, (CARDS,)) for name in ("hand", "played by own seat", "played by the other")]
    return *sets, Segment("own turn"), Segment("floor")


def spell(state, move):
    return f"play {int(move['card'])}"


def show(state, seat):
    return f"hand {int(state.hands[seat]):b}; played {[f'{int(cards):b}' for cards in state.played]}"


def holdings(state):
    return [int(cards) for cards in (*state.hands, state.stock, *state.played)]


GAME = Game(
    name="loaded",
    title="Loaded",
    version=1,
    seats=range(SEATS, SEATS + 1),
    state=STATE,
    move=MOVE,
    max_moves=HAND,
    max_plies=SEATS * HAND,
    score_sum=lambda seats: 1.0,
    variants={"steep": {"floor": 1}, "gentle": {"floor": 12}},
    rules=Rules(deal, legal, act, settle, score, resample=resample, weight=weight),
    text=Text(spell=spell, show=show),
    table=Table(holdings=holdings),
    learning=Learning(
        encoders={"all": PerspectiveEncoder(layout, encode)},
    ),
)
