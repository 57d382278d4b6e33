"""Crazy Eights with two packs: 104 cards that all differ, and a discard pile that is shuffled again.

This is an example of wide sets (`docs/cards.md`) and of piles that return (`docs/dealing.md`). Numbers in comments are
the rules of RULES.md in this folder.
"""

import numpy as np

from cardai.cards import (
    DECK52,
    Deck,
    add,
    any_of,
    as_int,
    assign,
    clear,
    count,
    filled,
    full_deck,
    next_card,
    put,
    rank,
    remove,
    single,
    suit,
    unite,
    words,
)
from cardai.dealing import deal_piles
from cardai.game import Game, Outcome, PerspectiveEncoder, Player, Segment, Zone, move_dtype, state_dtype
from cardai.rule import rule

DECK = Deck(packs=2)  # 1.1
PACK, CARDS = 52, 104
WORDS = words(CARDS)
SEATS = 7
HAND = 5  # 1.2
EIGHT = 6  # its rank
DRAWS = 5  # 2.3
PLAYS = 100  # 4.1
PLAY, DRAW, PASS, NAME = range(4)
SUITS = ("clubs", "diamonds", "hearts", "spades")

STATE = state_dtype(
    hands=(SEATS, WORDS),
    stock=WORDS,
    pile=WORDS,  # the discard pile without its top
    top=(),  # the card played last
    came=CARDS,  # 5.2: for each card, the shuffle that it comes from, 0 the first
    shuffles=(),  # how many there were after the first
    rank=(),  # the rank and suit to match
    suit=(),
    draws=(),  # cards drawn this turn
    owed=(),  # 1 between the decision to draw and the draw
    naming=(),  # 1 while the seat to move names a suit
    plays=(),  # cards played so far
    passes=(),  # 4.1: passes in a row with an empty stock
)
MOVE = move_dtype("kind", "card")  # NAME has a suit for its card; DRAW and PASS have 0


@rule
def deal(state):
    assign(state.stock, filled(state.stock, CARDS))
    for seat in range(state.seats):
        for _ in range(HAND):
            take(state, seat)
    state.top = any_of(state.stock, state)
    while rank(state.top % PACK) == EIGHT:
        state.top = any_of(state.stock, state)
    remove(state.stock, state.top)
    state.rank, state.suit = rank(state.top % PACK), suit(state.top)
    state.turn = 0


@rule
def take(state, seat):
    """A seat draws a card."""
    card = any_of(state.stock, state)
    remove(state.stock, card)
    add(state.hands[seat], card)


@rule
def may_play(state, card):
    """2.1"""
    return rank(card % PACK) == EIGHT or rank(card % PACK) == state.rank or suit(card) == state.suit


@rule
def legal(state, moves):
    n = 0
    if state.naming != 0:
        for named in range(4):
            n = write(moves, n, NAME, named)
        return n
    card = next_card(state.hands[state.turn], -1)
    while card >= 0:
        if may_play(state, card):
            n = write(moves, n, PLAY, card)
        card = next_card(state.hands[state.turn], card)
    if may_draw(state):
        return write(moves, n, DRAW, 0)
    return write(moves, n, PASS, 0)  # 2.4


@rule
def write(moves, n, kind, card):
    moves[n].kind = kind
    moves[n].card = card
    return n + 1


@rule
def may_draw(state):
    """2.3"""
    return count(state.stock) > 0 and state.draws < DRAWS


@rule
def act(state, move):
    if move.kind == PASS:
        state.passes = state.passes + 1 if count(state.stock) == 0 else 0
        state.draws = 0
        return
    state.passes = 0
    if move.kind == DRAW:
        state.owed = 1
    elif move.kind == NAME:
        state.suit = move.card
        state.naming = 0
    else:
        remove(state.hands[state.turn], move.card)
        add(state.pile, state.top)
        state.top = move.card
        state.rank, state.suit = rank(move.card % PACK), suit(move.card)
        state.naming = state.rank == EIGHT
        state.plays += 1
        state.draws = 0


@rule
def settle(state):
    if state.owed != 0:
        state.owed = 0
        take(state, state.turn)
        state.draws += 1
        state.revealed = single(state.turn)
        state.midway = 1
        shuffle_again(state)
        return
    if count(state.hands[state.turn]) == 0 or state.plays == PLAYS or state.passes > state.seats:  # 4.1
        state.turn = -1
        state.revealed = full_deck(state.seats)
        return
    shuffle_again(state)
    if state.naming != 0:
        state.midway = 1
    else:
        state.turn = (state.turn + 1) % state.seats


@rule
def shuffle_again(state):
    """3.1"""
    if count(state.stock) > 0 or count(state.pile) == 0:
        return
    state.shuffles += 1
    card = next_card(state.pile, -1)
    while card >= 0:
        state.came[card] = state.shuffles
        card = next_card(state.pile, card)
    assign(state.stock, state.pile)
    clear(state.pile)


@rule
def points(state, seat):
    """4.2"""
    total, card = 0.0, next_card(state.hands[seat], -1)
    while card >= 0:
        total += worth(card)
        card = next_card(state.hands[seat], card)
    return total


@rule
def worth(card):
    high = rank(card % PACK)
    return 50 if high == EIGHT else 10 if high >= 9 else high + 2


@rule
def score(state, seat):
    total, mine = 0.0, points(state, seat)
    for other in range(state.seats):
        if other != seat:
            theirs = points(state, other)
            total += 1.0 if theirs > mine else 0.5 if theirs == mine else 0.0
    return total / (state.seats - 1)


@rule
def resample(state, seat, stream):
    if state.turn < 0:
        return
    piles = np.zeros((state.shuffles + 1, WORDS), np.int64)
    sizes = np.zeros((state.shuffles + 1, state.seats + 1), np.int64)
    banned = np.zeros((state.seats + 1, WORDS), np.int64)
    dealt = np.zeros((state.seats + 1, WORDS), np.int64)
    for other in range(state.seats):
        if other != seat:
            gather(state, state.hands[other], other, piles, sizes)
    gather(state, state.stock, state.seats, piles, sizes)
    deal_piles(piles, sizes, banned, dealt, stream)  # 5.2
    for other in range(state.seats):
        unite(state.hands[other], dealt[other])
    unite(state.stock, dealt[state.seats])


@rule
def gather(state, cards, place, piles, sizes):
    """Move the cards of a place to the piles of the shuffles that they come from."""
    card = next_card(cards, -1)
    while card >= 0:
        add(piles[state.came[card]], card)
        sizes[state.came[card], place] += 1
        card = next_card(cards, card)
    clear(cards)


def layout(seats):
    planes = ["own hand", "pile", "top", "from before the last shuffle"]
    values = ["cards", "of them from before the last shuffle", "to move"]
    return (
        *(Segment(name, (CARDS // 4, 4)) for name in planes),  # the thirteen ranks of pack a, then those of pack b
        *(Segment(f"{name} to match", (size,)) for name, size in (("rank", 13), ("suit", 4))),
        *(Segment(f"{name}: seat +{step}") for step in range(seats) for name in values),
        *(Segment(name) for name in ("stock", "draws", "draw owed", "names a suit", "plays")),
    )


@rule
def encode(state, seat, row):
    place = put(row, 0, state.hands[seat], CARDS)
    place = put(row, place, state.pile, CARDS)
    row[place + state.top] = 1
    place += CARDS
    row[place + CARDS + state.rank] = 1
    row[place + CARDS + 13 + state.suit] = 1
    old, place = place, place + CARDS + 17
    for step in range(state.seats):
        other = (seat + step) % state.seats
        row[place] = count(state.hands[other])
        card = next_card(state.hands[other], -1)
        while card >= 0:
            if state.came[card] < state.shuffles:  # which these are, everybody knows of all hands together: 5.2
                row[old + card] = 1
                row[place + 1] += 1
            card = next_card(state.hands[other], card)
        row[place + 2] = state.turn == other
        place += 3
    row[place] = count(state.stock)
    row[place + 1] = state.draws
    row[place + 2] = state.owed
    row[place + 3] = state.naming
    row[place + 4] = state.plays


@rule
def shedder(world, move, params, stream):
    """Play the card that counts most, an eight last; name the suit that it has most of; else draw, else pass."""
    hand, most = world.hands[world.turn], -1.0
    if world.naming != 0:
        move.kind = NAME
        for named in range(4):
            number, card = 0.5, next_card(hand, -1)
            while card >= 0:
                number += suit(card) == named and rank(card % PACK) != EIGHT
                card = next_card(hand, card)
            if number > most:
                most = number
                move.card = named
        return
    move.kind = DRAW if may_draw(world) else PASS
    card = next_card(hand, -1)
    while card >= 0:
        value = 0.5 if rank(card % PACK) == EIGHT else 1.0 * worth(card)
        if may_play(world, card) and value > most:
            most = value
            move.kind = PLAY
            move.card = card
        card = next_card(hand, card)


@rule
def few_points(state, seat):
    """Fewer points in the own hand are better."""
    return -points(state, seat)


def holdings(state):
    hands = [as_int(hand) for hand in state.hands[: state.seats]]
    return [*hands, as_int(state.stock), as_int(state.pile) | 1 << int(state.top)]


def cards_alike(state):
    """5.2: cards of one shuffle."""
    came = state.came.tolist()
    return [sum(1 << card for card in range(CARDS) if came[card] == shuffle) for shuffle in set(came)]


def spell(state, move):
    kind, card = int(move["kind"]), int(move["card"])
    return (f"plays {DECK.name(card)}" if kind == PLAY else "draws", "draws", "passes", f"names {SUITS[card % 4]}")[
        kind
    ]


def to_match(state):
    if state.rank == EIGHT and not state.naming:
        return f"an eight, {SUITS[int(state.suit)]} named"
    return DECK52.name(4 * int(state.rank) + int(state.suit))


def show(state, seat):
    lines = [f"To match: {to_match(state)}. {count_of(state.stock)} cards in the stock, {int(state.plays)} played."]
    for other in range(int(state.seats)):
        cards = DECK.listed(state.hands[other])
        old = sum(int(state.came[card]) < state.shuffles for card in cards)
        ended = f": {DECK.names(state.hands[other])}" if state.turn < 0 else ""
        lines.append(f"p{other}: {len(cards)} cards, {old} from before the last shuffle{ended}.")
    return "\n".join([*lines, f"Your hand: {DECK.names(state.hands[seat])}."])


def count_of(cards):
    return as_int(cards).bit_count()


def zones(state, seat):
    hands = []
    for other in range(int(state.seats)):
        hand = as_int(state.hands[other])
        shown = hand if other == seat or state.turn < 0 else 0
        hands.append(Zone("Hand", shown, (hand & ~shown).bit_count(), seat=other, look="fan"))
    order = [*DECK.listed(state.pile), int(state.top)]
    pile = Zone("Pile", order, look="pile", open=order[-1:], note=f"to match: {to_match(state)}")
    return [*hands, Zone("Stock", hidden=count_of(state.stock), look="pile"), pile]


def picks(state, move):
    return 1 << int(move["card"]) if move["kind"] == PLAY else 0


def ending(state):
    return f"Cards left: {', '.join(f'p{seat} {count_of(state.hands[seat])}' for seat in range(int(state.seats)))}."


GAME = Game(
    name="crazy",
    title="Crazy Eights with two packs",
    version=1,
    seats=range(6, SEATS + 1),
    default_seats=6,
    state=STATE,
    move=MOVE,
    max_moves=CARDS + 2,
    max_plies=15_000,
    deal=deal,
    legal=legal,
    act=act,
    settle=settle,
    score=score,
    resample=resample,
    score_sum=lambda seats: seats / 2,  # 4.2
    cards_alike=cards_alike,
    encoders={"planes": PerspectiveEncoder(layout, encode)},
    players={"shedder": Player(shedder, about="plays what counts most, eights last")},
    heuristics={"few_points": few_points},
    outcomes={"points": Outcome(points, about="points left in hand", high=1200.0, lower_is_better=True)},
    measures=("win", "points"),
    spell=spell,
    show=show,
    pieces=DECK.all_names,
    zones=zones,
    picks=picks,
    ending=ending,
    holdings=holdings,
)
