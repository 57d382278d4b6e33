"""Crazy Eights with two packs: 104 cards that all differ, and a discard pile that is shuffled again.

This is an example of wide sets (`docs/cards.md`) and of piles that return (`docs/dealing.md`). Numbers in comments are
the rules of RULES.md in this folder.
"""

import numpy as np

from cardai.game import Agents, Game, Learning, Outcome, Player, Rules, Text
from cardai.game.declared import Card, Cards, Each, Flag, Hand, Moves, Number, Pile, Rank, State, Stock, Suit
from cardai.rules import rule
from cardai.rules.cards import Deck, any_of, count, filled, full_deck, has, next_card, rank, single, suit, sum_of
from cardai.rules.cards.wide import add, assign, clear, remove, unite, words
from cardai.rules.dealing import deal_piles
from cardai.rules.parts.standing import each_has

DECK = Deck(packs=2)  # 1.1
PACK, CARDS = 52, 104
WORDS = words(CARDS)
SEATS = 7
HAND = 5  # 1.2
EIGHT = 6  # its rank
DRAWS = 5  # 2.3
PLAYS = 100  # 4.1
VALUES = np.array([50 if rank == EIGHT else 10 if rank >= 9 else rank + 2 for rank in range(13) for _ in range(4)] * 2)

STATE = State(
    DECK, SEATS,
    hands=Hand(opens="end"),  # 4.1
    stock=Stock(),
    pile=Pile(look="pile", top="top"),  # without its top
    top=Card("top of the pile"),
    rank=Rank("rank to match"),
    suit=Suit("suit to match"),
    draws=Number("drawn this turn", high=DRAWS),
    owed=Flag("draw owed"),  # between the decision to draw and the draw
    naming=Flag("suit to be named"),
    plays=Number("played so far", high=PLAYS),
    passes=Number("passes in a row without a stock"),  # 4.1
    shuffles=Number("shuffles of the pile", high=PLAYS),
    came=CARDS,  # 5.2: for each card, the shuffle that it comes from, 0 the first
    old=Cards("held from before the last shuffle"),  # 5.2
    old_in=Each(Number("from before the last shuffle", high=CARDS)),  # 5.2
)  # fmt: skip
MOVE = Moves("plays {card}", "draws", "passes", "names {card:suit}")
PLAY, DRAW, PASS, NAME = range(4)

write = MOVE.add


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
    return write(moves, n, DRAW if may_draw(state) else PASS, 0)  # 2.4


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
        if has(state.old, move.card):
            remove(state.old, move.card)
            state.old_in[state.turn] -= 1
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
    clear(state.old)
    for seat in range(state.seats):
        unite(state.old, state.hands[seat])
        state.old_in[seat] = count(state.hands[seat])


@rule
def points(state, seat):
    """4.2"""
    return 1.0 * sum_of(state.hands[seat], VALUES)


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


@rule
def shedder(world, move, params, stream):
    """Play the card that counts most, an eight last; name the suit that it has most of; else draw, else pass."""
    hand, most = world.hands[world.turn], -1.0
    card = next_card(hand, -1)
    if world.naming != 0:
        of_suit = np.zeros(4)
        while card >= 0:
            of_suit[suit(card)] += rank(card % PACK) != EIGHT
            card = next_card(hand, card)
        move.kind, move.card = NAME, np.argmax(of_suit)
        return
    move.kind = DRAW if may_draw(world) else PASS
    while card >= 0:
        value = 0.5 if rank(card % PACK) == EIGHT else 1.0 * VALUES[card]
        if may_play(world, card) and value > most:
            most = value
            move.kind = PLAY
            move.card = card
        card = next_card(hand, card)


@rule
def few_points(state, seat):
    """Fewer points in the own hand are better."""
    return -points(state, seat)


def cards_alike(state):
    """5.2: cards of one shuffle."""
    came = state.came.tolist()
    return [sum(1 << card for card in range(CARDS) if came[card] == shuffle) for shuffle in set(came)]


GAME = Game(
    name="crazy", title="Crazy Eights with two packs", version=1, seats=range(6, SEATS + 1), default_seats=6,
    state=STATE, move=MOVE, max_moves=CARDS + 2, max_plies=15_000, cards_alike=cards_alike,
    score_sum=lambda seats: seats / 2,  # 4.2
    rules=Rules(deal, legal, act, settle, score, resample),
    text=Text(ending=each_has("Cards left", lambda state, seat: count(state.hands[seat]))),
    learning=Learning(
        outcomes={"points": Outcome(points, about="points left in hand", high=1200.0, lower_is_better=True)},
        measures=("win", "points"),
    ),
    agents=Agents({"shedder": Player(shedder, "plays what counts most, eights last")}, {"few_points": few_points}),
)  # fmt: skip
