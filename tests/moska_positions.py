"""Positions of Moska of all kinds and sizes, made up from a stream of cardai's own, for tests of its lists of moves."""

import numpy as np

import cardai
from cardai.games.moska import rules
from cardai.rules import STREAM, below, shuffle

GAME = cardai.load("moska")
ROLES = OPENER, ATTACKER, TARGET = range(3)


def positions(count, largest, seed):
    """`count` positions in which the seat to move has 1 to `largest` cards, at most 40."""
    stream = np.zeros(1, STREAM).view(np.recarray)[0]
    stream.rng = seed
    return [_position(stream, largest) for _ in range(count)]


def _position(stream, largest):
    cards = np.arange(rules.DECK)
    shuffle(stream, cards, 0, rules.DECK)
    role, variant = below(stream, 3), ("thesis", "appendix")[below(stream, 2)]
    sizes = [1 + below(stream, largest), 1 + below(stream, 6), below(stream, 4), below(stream, 3)]
    if role == OPENER:
        sizes[1] = sizes[2] = 0
    ends = np.cumsum(sizes)
    hand, table, killed, deck = (
        sum(1 << int(card) for card in cards[end - size : end]) for end, size in zip(ends, sizes, strict=True)
    )
    other = sum(1 << int(card) for card in cards[ends[-1] :])
    state = GAME.options(2, variant)[0]
    state.turn, state.target = 0, 0 if role == TARGET else 1
    state.hands[0], state.hands[1], state.table, state.killed = hand, other, table, killed
    state.deck[:] = rules.NONE
    state.deck[: sizes[3]] = rules_cards(deck)
    state.deck_left, state.trump = sizes[3], below(stream, 4)
    state.bout_deck = below(stream, 2) or sizes[3] > 0
    state.trump_card = state.deck[0] if sizes[3] else state.trump
    state.turned, state.last, state.pending = rules.NONE, rules.NONE, rules.SKIP
    state.playing, state.drawn, state.ready = 3, 3, 2 * below(stream, 2)
    state.ply = below(stream, 1000)
    return state


def rules_cards(cards):
    """The cards of a set, the lowest first."""
    return [card for card in range(rules.DECK) if cards >> card & 1]
