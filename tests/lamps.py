"""Lamps: a small game in which nobody sees their own hand, for tests: hands are lists of cards that are alike.

1. The deck has, in each of two colours, three ones, two twos and a three. A hand has three cards, which all others see.
2. In turn a seat plays one of its cards, unseen, and draws one as long as there are any, or names a colour to the next
   seat, which learns of each of its cards whether it has this colour. All seats together may name four.
3. A card counts if the lower ones of its colour have been played before it. All seats score the share that counts.
"""

import numpy as np

from cardai.game import Game, Learning, PerspectiveEncoder, Rules, Segment, Table, Text, move_dtype, state_dtype
from cardai.rules import rule, shuffle
from cardai.rules.cards import has

RANKS = 3
KINDS = 2 * RANKS
COPIES = (3, 2, 1) * 2
CARDS = sum(COPIES)
SEATS = 3
HAND = 3
HINTS = 4
PLAY, HINT = range(2)
NONE = -1

STATE = state_dtype(
    hands=(SEATS, HAND),  # kinds, or NONE
    may_be=(SEATS, HAND),  # the set of kinds that a card may be for all that was said of it
    deck=CARDS,  # kinds; the next card is deck[deck_left - 1], NONE from there on
    deck_left=(),
    played=KINDS,
    built=2,
    hints=(),
    slot=(),  # from which a card is being played, or NONE
)
MOVE = move_dtype("kind", "number")


@rule
def draw(state, seat, slot):
    state.hands[seat, slot] = NONE
    state.may_be[seat, slot] = 0
    if state.deck_left > 0:
        state.deck_left -= 1
        state.hands[seat, slot] = state.deck[state.deck_left]
        state.may_be[seat, slot] = (1 << KINDS) - 1
        state.deck[state.deck_left] = NONE


@rule
def deal(state):
    for card in range(KINDS):
        for _ in range(COPIES[card]):
            state.deck[state.deck_left] = card
            state.deck_left += 1
    shuffle(state, state.deck, 0, CARDS)
    state.hands[:] = NONE
    for seat in range(state.seats):
        for slot in range(HAND):
            draw(state, seat, slot)
    state.slot = NONE


@rule
def legal(state, moves):
    n = 0
    for slot in range(HAND):
        if state.hands[state.turn, slot] != NONE:
            moves[n].kind = PLAY
            moves[n].number = slot
            n += 1
    for colour in range(2 if state.hints < HINTS else 0):
        moves[n].kind = HINT
        moves[n].number = colour
        n += 1
    return n


@rule
def act(state, move):
    if move.kind == PLAY:
        state.slot = move.number
        return
    state.hints += 1
    other = (state.turn + 1) % state.seats
    colour = ((1 << RANKS) - 1) << (move.number * RANKS)
    for slot in range(HAND):
        if state.hands[other, slot] != NONE:
            state.may_be[other, slot] &= colour if has(colour, state.hands[other, slot]) else ~colour


@rule
def settle(state):
    if state.slot != NONE:
        card = state.hands[state.turn, state.slot]
        state.played[card] += 1
        state.built[card // RANKS] += state.built[card // RANKS] == card % RANKS
        draw(state, state.turn, state.slot)
        state.slot = NONE
        state.revealed = (1 << state.seats) - 1
    else:
        state.revealed = 1 << ((state.turn + 1) % state.seats)
    state.turn = (state.turn + 1) % state.seats
    if state.hands[state.turn].max() == NONE:
        state.turn = -1


@rule
def score(state, seat):
    return state.built.sum() / KINDS


@rule
def resample(state, seat, stream):
    """Deal own cards and the deck anew until the own cards are what was said of them."""
    hidden = np.zeros(KINDS, np.int64)
    for i in range(state.deck_left):
        hidden[state.deck[i]] += 1
    for slot in range(HAND):
        if state.hands[seat, slot] != NONE:
            hidden[state.hands[seat, slot]] += 1
    state.deck_left = 0
    for card in range(KINDS):
        for _ in range(hidden[card]):
            state.deck[state.deck_left] = card
            state.deck_left += 1
    fits = False
    while not fits:
        shuffle(stream, state.deck, 0, state.deck_left)
        fits, at = True, state.deck_left
        for slot in range(HAND):
            if state.hands[seat, slot] != NONE:
                at -= 1
                fits = fits and has(state.may_be[seat, slot], state.deck[at])
    for slot in range(HAND):
        if state.hands[seat, slot] != NONE:
            state.deck_left -= 1
            state.hands[seat, slot] = state.deck[state.deck_left]
            state.deck[state.deck_left] = NONE


@rule
def weight(state):
    """All that is hidden is a list, which is drawn in one way."""
    return 1.0


@rule
def encode(state, seat, row):
    at = 0
    for other in range(state.seats):
        who = (seat + other) % state.seats
        for slot in range(HAND):
            row[at] = state.may_be[who, slot]
            if other > 0:
                row[at + HAND] = state.hands[who, slot] + 1
            at += 1
        at += HAND
    for card in range(KINDS):
        row[at + card] = state.played[card]
    row[at + KINDS] = state.deck_left
    row[at + KINDS + 1] = state.hints
    row[at + KINDS + 2] = state.turn == seat


def layout(seats):
    hands = [
        (Segment(f"said of seat +{seat}", (HAND,)), Segment(f"hand of seat +{seat}", (HAND,))) for seat in range(seats)
    ]
    others = Segment("played", (KINDS,)), Segment("deck left"), Segment("hints"), Segment("own turn")
    own = Segment("said of the own hand", (2 * HAND,))
    return own, *(segment for hand in hands[1:] for segment in hand), *others


def spell(state, move):
    return f"{'names' if move['kind'] else 'plays'} {int(move['number'])}"


def parse(state, text):
    kind, _, number = text.partition(" ")
    move = np.zeros(1, MOVE)[0]
    move["kind"], move["number"] = ("plays", "names").index(kind), int(number)
    return move


def show(state, seat):
    hands = [hand.tolist() for other, hand in enumerate(state.hands) if other != seat]
    told = f"hands {hands}; said {state.may_be.tolist()}; played {state.played.tolist()}"
    return f"{told}; {int(state.deck_left)} left; {int(state.hints)} named"


def counts(cards):
    return np.bincount(cards[cards != NONE], minlength=KINDS)


def holdings(state):
    return [*map(counts, state.hands), counts(state.deck), state.played]


GAME = Game(
    name="lamps",
    title="Lamps",
    version=1,
    seats=range(2, SEATS + 1),
    state=STATE,
    move=MOVE,
    max_moves=HAND + 2,
    max_plies=CARDS + HINTS,
    rules=Rules(deal, legal, act, settle, score, resample=resample, weight=weight),
    text=Text(spell=spell, parse=parse, show=show),
    table=Table(holdings=holdings, copies=COPIES),
    learning=Learning(
        encoders={"all": PerspectiveEncoder(layout, encode)},
    ),
)
