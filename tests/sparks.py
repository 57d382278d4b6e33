"""Sparks: a small game with cards that are alike, for tests: places are counts of kinds.

1. The deck has, in each of three colours, three ones, two twos, two threes and a four. A hand has four cards.
2. In turn a seat plays a card face up and draws one as long as there are any, or it takes the last card played if that
   does not count. In the variant `taking` all seats together may take four, in the variant `plain` none.
3. A card counts if the lower ones of its colour have been played before it. All seats score the share that counts.

Everybody knows the cards that a seat has taken. So a kind may lie in a hand once for certain, and once more by chance.
`PLAIN` is the game without them, where the counts say how likely a world is.
"""

import numpy as np

from cardai.cards import any_kind
from cardai.dealing import weight_of
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
from cardai.rule import rule

COLOURS = "RGB"
RANKS = 4
KINDS = RANKS * len(COLOURS)
COPIES = (3, 2, 2, 1) * len(COLOURS)
SEATS = 3
HAND = 4
TAKES = 4
PLAY, TAKE = range(2)
NONE = -1
NAMES = tuple(f"{colour}{rank + 1}" for colour in COLOURS for rank in range(RANKS))

STATE = state_dtype(  # counts of kinds
    most_taken=(),  # option: how many cards all seats together may take
    taken=(),
    hands=(SEATS, KINDS),
    known=(SEATS, KINDS),  # cards of a hand that everybody has seen
    stock=KINDS,
    played=KINDS,
    built=len(COLOURS),  # the highest card that counts
    last=(),  # the last card played, or NONE if it counts
    drawing=(),
)
MOVE = move_dtype("kind", "card")


@rule
def draw(cards, hand, stream):
    card = any_kind(cards, stream)
    cards[card] -= 1
    hand[card] += 1


@rule
def deal(state):
    for card in range(KINDS):
        state.stock[card] = COPIES[card]
    for seat in range(state.seats):
        for _ in range(HAND):
            draw(state.stock, state.hands[seat], state)
    state.last = NONE


@rule
def legal(state, moves):
    n = 0
    for card in range(KINDS):
        if state.hands[state.turn, card] > 0:
            moves[n].kind = PLAY
            moves[n].card = card
            n += 1
    if state.taken < state.most_taken and state.last != NONE:
        moves[n].kind = TAKE
        moves[n].card = state.last
        n += 1
    return n


@rule
def act(state, move):
    seat, card = state.turn, move.card
    state.last = NONE
    if move.kind == TAKE:
        state.played[card] -= 1
        state.hands[seat, card] += 1
        state.known[seat, card] += 1
        state.taken += 1
        return
    state.hands[seat, card] -= 1
    if state.known[seat, card] > 0:
        state.known[seat, card] -= 1
    state.played[card] += 1
    if state.built[card // RANKS] == card % RANKS:
        state.built[card // RANKS] += 1
    else:
        state.last = card
    state.drawing = 1


@rule
def settle(state):
    if state.drawing != 0 and state.stock.sum() > 0:
        draw(state.stock, state.hands[state.turn], state)
        state.revealed = 1 << state.turn
    state.drawing = 0
    state.turn = (state.turn + 1) % state.seats
    if state.hands[state.turn].sum() == 0:
        state.turn = -1


@rule
def score(state, seat):
    return state.built.sum() / KINDS


@rule
def resample(state, seat, stream):
    sizes = np.zeros(SEATS, np.int64)
    for other in range(state.seats):
        if other != seat:
            sizes[other] = state.hands[other].sum() - state.known[other].sum()
            state.stock += state.hands[other] - state.known[other]
            state.hands[other] = state.known[other]
    for other in range(state.seats):
        for _ in range(sizes[other]):
            draw(state.stock, state.hands[other], stream)


@rule
def weight(state):
    """A card that was taken is a certain one, so it divides nothing."""
    hidden = np.zeros((SEATS + 1, KINDS), np.int64)
    hidden[:SEATS] = state.hands - state.known
    hidden[SEATS] = state.stock
    return weight_of(hidden)


@rule
def encode(state, seat, row):
    for card in range(KINDS):
        row[card] = state.hands[seat, card]
        row[KINDS + card] = state.played[card]
        for other in range(state.seats):
            row[(2 + other) * KINDS + card] = state.known[(seat + other) % state.seats, card]
    at = (2 + state.seats) * KINDS
    for colour in range(len(COLOURS)):
        row[at + colour] = state.built[colour]
    row[at + 3] = state.taken
    row[at + 4] = state.turn == seat
    row[at + 5] = state.last + 1


def layout(seats):
    cards = ("hand", "played", *(f"known, seat +{seat}" for seat in range(seats)))
    return (
        *(Segment(name, (KINDS,)) for name in cards),
        Segment("built", (3,)),
        Segment("taken"),
        Segment("own turn"),
        Segment("last"),
    )


@rule
def careful(world, move, params, stream):
    """Plays a card that counts, else any."""
    for card in range(KINDS):
        if world.hands[world.turn, card] > 0:
            move.card = card
            if world.built[card // RANKS] == card % RANKS:
                return


def spell(state, move):
    return f"{'takes' if move['kind'] else 'plays'} {NAMES[int(move['card'])]}"


def parse(state, text):
    kind, _, card = text.partition(" ")
    move = np.zeros(1, MOVE)[0]
    move["kind"], move["card"] = ("plays", "takes").index(kind), NAMES.index(card)
    return move


def listed(counts):
    return [card for card in range(KINDS) for _ in range(int(counts[card]))]


def named(counts):
    return " ".join(NAMES[card] for card in listed(counts))


def show(state, seat):
    known = "; ".join(named(cards) for cards in state.known)
    left = f"{int(state.stock.sum())} left, {int(state.taken)} taken, last {int(state.last)}"
    return f"hand {named(state.hands[seat])}; known {known}; played {named(state.played)}; {left}"


def holdings(state):
    return [*state.hands, state.stock, state.played]


def zones(state, seat):
    hands = []
    for other in range(int(state.seats)):
        shown = state.hands[other] if other == seat else state.known[other]
        hands.append(Zone("Hand", listed(shown), int(state.hands[other].sum() - shown.sum()), seat=other, look="fan"))
    return [*hands, Zone("Stock", hidden=int(state.stock.sum())), Zone("Played", listed(state.played), look="pile")]


def chances(state, seat, shares):
    """How many cards of each kind are expected in each hand: the hidden ones are as likely to lie in each place."""
    hidden = state.stock.copy()
    for other in range(int(state.seats)):
        if other != seat:
            hidden += state.hands[other] - state.known[other]
    for other in range(int(state.seats)):
        unknown = state.hands[other].sum() - state.known[other].sum()
        expected = state.known[other] + hidden * (unknown / max(1, hidden.sum()))
        shares[other] = state.hands[seat] if other == seat else expected


GAME = Game(
    name="sparks",
    title="Sparks",
    version=1,
    seats=range(2, SEATS + 1),
    state=STATE,
    move=MOVE,
    max_moves=HAND + TAKES + 1,
    max_plies=sum(COPIES) + 2 * TAKES,
    variants={"taking": {"most_taken": TAKES}, "plain": {}},
    rules=Rules(deal, legal, act, settle, score, resample=resample, weight=weight),
    text=Text(spell=spell, parse=parse, show=show),
    table=Table(
        holdings=holdings,
        copies=COPIES,
        chances=chances,
        pieces=NAMES,
        zones=zones,
        picks=lambda state, move: 1 << int(move["card"]),
    ),
    learning=Learning(
        encoders={"counts": PerspectiveEncoder(layout, encode)},
    ),
    agents=Agents(
        players={"careful": Player(careful, "plays a card that counts, else any")},
    ),
)

PLAIN = GAME.changed(weight=None, variants={"plain": {}})
