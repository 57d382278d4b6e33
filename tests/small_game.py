"""Low Hand: a small game with hidden hands, for the tests of the conformance kit.

Sixteen cards; the lowest hand wins. In turn, a seat discards a card face up and draws from the deck, or takes the top
of the discards (everybody sees what) and discards another card, or, once all have had a turn, stops the game. The game
also ends with the deck, or after `TURNS` turns.
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
    Zone,
    move_dtype,
    state_dtype,
)
from cardai.rules import rule, shuffle
from cardai.rules.cards import Deck, any_of, count, filled, full_deck, has, highest, lowest, put, rank, single

CARDS = 16
SEATS = 4
TURNS = 20
NONE = -1
DECK = Deck(ranks="2345")

STATE = state_dtype(
    hand_size=(),  # option
    hands=SEATS,
    deck=CARDS,  # the next card is deck[deck_left - 1]; NONE where no card is left
    deck_left=(),
    discards=(),
    top=(),  # the last discard, or NONE
    drawing=(),  # whether the seat to move has yet to draw
    stopped=(),
    known=SEATS,  # of each hand, the cards that everybody has seen
)
MOVE = move_dtype("kind", "card")
STOP, DRAW, TAKE = range(3)


@rule
def deal(state):
    for card in range(CARDS):
        state.deck[card] = card
    shuffle(state, state.deck, 0, CARDS)
    state.deck_left = CARDS
    for seat in range(state.seats):
        for _ in range(state.hand_size):
            state.hands[seat] |= single(take_next(state))
    state.top = NONE


@rule
def take_next(state):
    state.deck_left -= 1
    card = state.deck[state.deck_left]
    state.deck[state.deck_left] = NONE
    return card


@rule
def legal(state, moves):
    n = 0
    if state.ply >= state.seats:
        moves[n].kind = STOP
        moves[n].card = 0
        n += 1
    for kind in range(DRAW, TAKE + 1 if state.top != NONE else TAKE):
        for card in range(CARDS):
            if has(state.hands[state.turn], card):
                moves[n].kind = kind
                moves[n].card = card
                n += 1
    return n


@rule
def act(state, move):
    seat = state.turn
    if move.kind == STOP:
        state.stopped = 1
        return
    if move.kind == TAKE:
        state.hands[seat] |= single(state.top)
        state.known[seat] |= single(state.top)
        state.discards &= ~single(state.top)
    state.hands[seat] &= ~single(move.card)
    state.known[seat] &= ~single(move.card)
    state.discards |= single(move.card)
    state.top = move.card
    state.drawing = move.kind == DRAW


@rule
def settle(state):
    if state.drawing != 0:
        state.hands[state.turn] |= single(take_next(state))
        state.revealed = single(state.turn)
        state.drawing = 0
    if state.stopped != 0 or state.deck_left == 0 or state.ply == TURNS:
        state.turn = -1
    else:
        state.turn = (state.turn + 1) % state.seats


@rule
def points(cards):
    total = 0
    while cards:
        total += rank(lowest(cards))
        cards &= cards - 1
    return total


@rule
def score(state, seat):
    winners, own = 0, points(state.hands[seat])
    for other in range(state.seats):
        if points(state.hands[other]) < own:
            return 0.0
        winners += points(state.hands[other]) == own
    return 1.0 / winners


@rule
def chances(state, seat, shares):
    """All cards that a seat cannot place are equally likely in each place."""
    hidden = full_deck(CARDS) & ~state.discards & ~state.hands[seat]
    for other in range(state.seats):
        hidden &= ~state.known[other]
    for other in range(state.seats):
        certain = state.hands[seat] if other == seat else state.known[other]
        unknown = 0 if other == seat else count(state.hands[other]) - count(state.known[other])
        for card in range(CARDS):
            shares[other, card] = 1.0 * has(certain, card)
            if has(hidden, card):
                shares[other, card] = unknown / count(hidden)


@rule
def resample(state, seat, stream):
    pool = full_deck(CARDS) & ~state.discards & ~state.hands[seat]
    for other in range(state.seats):
        pool &= ~state.known[other]
    for other in range(state.seats):
        if other != seat:
            hidden = count(state.hands[other]) - count(state.known[other])
            state.hands[other] = state.known[other]
            for _ in range(hidden):
                card = any_of(pool, stream)
                state.hands[other] |= single(card)
                pool &= ~single(card)
    for i in range(state.deck_left):
        state.deck[i] = any_of(pool, stream)
        pool &= ~single(state.deck[i])


@rule
def blank(state, seat):
    for other in range(state.seats):
        if other != seat:
            state.hands[other] = filled(state.known[other], count(state.hands[other]))
    for i in range(state.deck_left):
        state.deck[i] = 0


@rule
def encode(state, seat, row):
    at = put(row, 0, state.hands[seat], CARDS)
    at = put(row, at, state.discards, CARDS)
    at = put(row, at, single(state.top) if state.top != NONE else 0, CARDS)
    for other in range(state.seats):
        at = put(row, at, state.known[(seat + other) % state.seats], CARDS)
    row[at] = state.deck_left
    row[at + 1] = state.turn == seat


def layout(seats):
    planes = ("own hand", "discards", "top", *(f"known, seat +{i}" for i in range(seats)))
    return (*(Segment(name, (4, 4)) for name in planes), Segment("deck left"), Segment("own turn"))


@rule
def low_points(state, seat):
    return -float(points(state.hands[seat]))


@rule
def low(world, move, params, stream):
    hand = world.hands[world.turn]
    move.card = highest(hand)
    if world.ply >= world.seats and points(hand) <= params[0]:
        move.kind = STOP
        move.card = 0
    elif world.top != NONE and rank(world.top) < rank(highest(hand)):
        move.kind = TAKE
    else:
        move.kind = DRAW


def spell(state, move):
    return ("stops", "draws for ", "takes for ")[int(move["kind"])] + (DECK.name(move["card"]) if move["kind"] else "")


def parse(state, text):
    kind, _, card = text.partition(" for ")
    move = np.zeros(1, MOVE)[0]
    move["kind"] = ("stops", "draws", "takes").index(kind)
    move["card"] = DECK.card(card) if card else 0
    return move


def show(state, seat):
    known = ", ".join(f"{s}: {DECK.names(state.known[s])}" for s in range(int(state.seats)))
    top = DECK.name(state.top) if state.top != NONE else "none"
    return f"hand {DECK.names(state.hands[seat])}; {int(state.deck_left)} in the deck; top {top}; known {known}"


def zones(state, seat):
    hands = []
    for other in range(int(state.seats)):
        hand = int(state.hands[other])
        shown = hand if other == seat else int(state.known[other])
        hands.append(Zone("Hand", shown, hand.bit_count() - shown.bit_count(), seat=other, look="fan"))
    return [*hands, Zone("Deck", hidden=int(state.deck_left)), Zone("Discards", int(state.discards), look="pile")]


def picks(state, move):
    taken = 1 << int(state.top) if move["kind"] == TAKE else 0
    return taken | (1 << int(move["card"]) if move["kind"] != STOP else 0)


def holdings(state):
    deck = sum(1 << int(card) for card in state.deck[: int(state.deck_left)])
    return [*(int(hand) for hand in state.hands), deck, int(state.discards)]


GAME = Game(
    name="low_hand",
    title="Low Hand",
    version=1,
    seats=range(2, 5),
    state=STATE,
    move=MOVE,
    max_moves=9,
    max_plies=TURNS,
    score_sum=lambda seats: 1.0,
    variants={"three": {"hand_size": 3}, "two": {"hand_size": 2}},
    rules=Rules(deal, legal, act, settle, score, resample=resample, blank=blank),
    text=Text(spell=spell, parse=parse, show=show),
    table=Table(holdings=holdings, chances=chances, pieces=DECK.all_names, zones=zones, picks=picks),
    learning=Learning(
        encoders={"planes": PerspectiveEncoder(layout, encode, lambda segment: segment.shape == (4, 4))},
    ),
    agents=Agents(
        players={"low": Player(low, "gets rid of its highest card", {"stop_at": 2.0}, sees="own")},
        heuristics={"low_points": low_points},
    ),
)
