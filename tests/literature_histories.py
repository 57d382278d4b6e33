"""Deals of Literature that agree with a history, listed without the game's own bookkeeping.

A history is a game from a small position in which nothing has been shown, with what everybody saw of it: asks with
answers, and claims with the holders of the six cards. A deal agrees with it if every ask was allowed in it and had the
same answer, and every claim showed the same holders.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, pairwise

import numpy as np
from literature_positions import GAME, position

from cardai.games.literature.deck import DECK, cards_of
from cardai.games.literature.rules import ASK, CLAIM


@dataclass
class History:
    """A game as everybody saw it. `first`: the position before the first move. Events: (state before, move, after).

    `fault(before, after)` changes the state after each move: a fault planted in what everybody knows.
    """

    first: np.record
    fault: Callable | None = None
    events: list = field(default_factory=list)

    @property
    def last(self):
        return self.events[-1][2] if self.events else self.first

    def play(self, move):
        before = self.last
        after = GAME.play(before, move)
        if self.fault:
            self.fault(before, after)
        self.events.append((before, move, after))


def small_position(rng, seats, live, variant, sizes=None):
    """A position with some live half-suits, dealt evenly to hands of these sizes, in which nothing has been shown."""
    deck = [card for half in live for card in DECK.listed(cards_of(half))]
    rng.shuffle(deck)
    if sizes is None:
        sizes = np.full(seats, len(deck) // seats)
        sizes[: len(deck) % seats] += 1
    bounds = np.cumsum([0, *sizes])
    hands = [DECK.names(sum(1 << card for card in deck[a:b])) for a, b in pairwise(bounds)]
    movers = [seat for seat in range(seats) if sizes[seat]]
    return position(hands, mover=int(rng.choice(movers)), variant=variant)


def played(rng, first, moves, claim_chance=0.5, fault=None):
    """A history of random moves, at most so many asks; a claim that can be made is made with some chance."""
    history = History(first, fault)
    while history.last.turn >= 0 and history.last.asks < moves:
        options = GAME.moves(history.last)
        claims = options[options["kind"] == CLAIM]
        others = options[options["kind"] != CLAIM]
        if len(claims) and (not len(others) or rng.random() < claim_chance):
            history.play(rng.choice(claims))
        else:
            history.play(rng.choice(others))
    return history


def listed(history, seat):
    """The hands of all deals that agree with a history and with the own hand of `seat`: i64[deals, 6]."""
    first = history.first
    hands = every_deal(tuple(int(hand) for hand in first.hands), seat)
    for before, move, after in history.events:
        hands = after_event(hands, before, move, after)
    return hands


@cache
def every_deal(hands, seat):
    """All deals of the hands of the other seats, of the same sizes: i64[deals, 6]."""
    deals = np.zeros((1, len(hands)), np.int64)
    left = np.array([DECK.listed(sum(hand for other, hand in enumerate(hands) if other != seat))])  # [deals, cards]
    for other, hand in enumerate(hands):
        if other == seat:
            deals[:, other] = hand
            continue
        places = range(left.shape[1])
        chosen = np.array(list(combinations(places, hand.bit_count())), np.int64)
        others = np.array([sorted({*places} - {*some}) for some in chosen.tolist()], np.int64)
        deals = np.repeat(deals, len(chosen), axis=0)
        deals[:, other] = (1 << left[:, chosen]).sum(axis=2).ravel()
        left = left[:, others].reshape(len(deals), -1)
    return deals


def after_event(hands, before, move, after):
    """The hands after a move, in the deals in which it was allowed and everybody saw the same."""
    if move["kind"] == ASK:
        asker, card = int(before.turn), 1 << int(move["what"])
        asked = (asker + int(move["step"])) % int(before.seats)
        half = next(cards_of(half) for half in range(8) if cards_of(half) & card)
        given = (hands[:, asked] & card) != 0
        fits = (hands[:, asker] & card == 0) & (hands[:, asker] & half != 0) & (given == bool(after.answer))
        hands = hands[fits].copy()
        if after.answer:
            hands[:, asked] &= ~card
            hands[:, asker] |= card
    elif move["kind"] == CLAIM:
        half = cards_of(int(move["what"]))
        fits = (hands & half == np.array(before.hands) & half).all(axis=1)
        hands = hands[fits] & ~half
    return hands
