"""5.3: what the state of Literature says is known is all that the history of the game tells.

Only the deal is hidden. So the deals that fit a history can be found by trying all: deal the cards that have not been
shown in every way, play the game again from each deal, and keep those in which every question was allowed and had the
same answer. They must be exactly the deals that fit the facts in the state. History and facts are evaluated here in
plain words, not by the rules' own functions.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest

from cardai.games.literature import rules
from cardai.registry import load

GAME = load("literature")
MOST = 1000  # deals of the hidden cards that are tried in a position


class Question(NamedTuple):
    asker: int
    asked: int
    card: int
    answer: int


class Claim(NamedTuple):
    half: int


def half_of(card):
    """The half-suit of a card: its suit, + 4 for 8 to K (rank 6 and more)."""
    return card % 4 + 4 * (card // 4 >= 6)


HALF_CARDS = [sum(1 << card for card in range(48) if half_of(card) == half) for half in range(8)]


def listed(cards):
    return [card for card in range(48) if int(cards) >> card & 1]


def hidden_deals(state, viewer):
    """Every way to deal the cards that `viewer` cannot see to the others, i64[N, seats] of sets; None if too many."""
    seats = int(state["seats"])
    others = [seat for seat in range(seats) if seat != viewer]
    hidden = {seat: int(state["hands"][seat]) & ~int(state["known"][seat]) for seat in others}
    cards = [1 << card for card in listed(sum(hidden.values()))]
    sizes = [hidden[seat].bit_count() for seat in others]
    if math.factorial(len(cards)) // math.prod(math.factorial(size) for size in sizes) > MOST:
        return None
    deals = [(sum(cards), ())]  # the cards that are left, and the hands dealt so far
    for size in sizes:
        deals = [
            (left & ~hand, (*dealt, hand))
            for left, dealt in deals
            for hand in map(sum, itertools.combinations([card for card in cards if card & left], size))
        ]
    table = np.zeros((len(deals), seats), np.int64)
    table[:, others] = [dealt for _, dealt in deals]
    return table


def those_of_history(state, start, history, viewer, deals):
    """Which deals agree with all that happened: bool[N]. `start`: the true hands after the deal, i64[seats]."""
    hidden_now = sum(int(state["hands"][seat]) & ~int(state["known"][seat]) for seat in range(int(state["seats"])))
    hidden_now &= ~int(state["hands"][viewer])
    hands = np.array(start, np.int64)[None, : int(state["seats"])] & ~np.int64(hidden_now) | deals
    fits = np.ones(len(deals), bool)
    for event in history:
        if isinstance(event, Claim):
            hands &= ~np.int64(HALF_CARDS[event.half])
            continue
        card, asker, asked = np.int64(1 << event.card), event.asker, event.asked
        fits &= hands[:, asker] & card == 0
        fits &= hands[:, asker] & HALF_CARDS[half_of(event.card)] != 0
        fits &= (hands[:, asked] & card != 0) == bool(event.answer)
        if event.answer:
            hands[:, asked] &= ~card
            hands[:, asker] |= card
    return fits


def those_of_facts(state, must, deals):
    """Which deals agree with the facts in the state: bool[N]."""
    fits = np.ones(len(deals), bool)
    for seat in range(int(state["seats"])):
        fits &= deals[:, seat] & int(state["lacks"][seat]) == 0
        for half in range(8):
            if int(must[seat]) >> half & 1:
                fits &= deals[:, seat] & HALF_CARDS[half] != 0
    return fits


def own_facts_apart(must, viewer):
    """The facts without those about the viewer's own hand, which it sees."""
    rest = np.array(must).copy()
    rest[viewer] = 0
    return rest


def positions(variant, seats, seed):
    """Random games with few hopeless questions: (state, first hands, history) after each ply."""
    rng = np.random.default_rng([seed, seats])
    state = GAME.new(seats, seed, variant)
    start, history = state["hands"].copy(), []
    while int(state["turn"]) != -1:
        moves = GAME.moves(state)
        asker = int(state["turn"])
        asks, claims = moves["kind"] == rules.ASK, moves["kind"] == rules.CLAIM
        open_asks = asks & (state["lacks"][(asker + moves["step"]) % seats] >> moves["what"] & 1 == 0)
        wanted = claims if claims.any() and rng.random() < 0.6 else open_asks if open_asks.any() else asks
        move = rng.choice(moves[wanted] if wanted.any() else moves)
        state = GAME.play(state, move)
        if int(move["kind"]) == rules.ASK:
            asked = (asker + int(move["step"])) % seats
            history.append(Question(asker, asked, int(move["what"]), int(state["answer"])))
        elif int(move["kind"]) == rules.CLAIM:
            history.append(Claim(int(move["what"])))
        yield state, start, list(history)


def compared(variant, seats, games, keep_must=False):
    """How many positions were compared, and in how many the two sets of deals differ.

    `keep_must`: a mistake on purpose. The fact that a seat must have a card of a half-suit stays when it gives one.
    """
    compared_positions = differing = 0
    for seed in range(games):
        kept = np.zeros(6, np.int64)
        for ply, (state, start, history) in enumerate(positions(variant, seats, seed)):
            gone = sum(1 << half for half in range(8) if any(event == Claim(half) for event in history))
            kept = (kept | state["must"]) & ~gone
            if ply % 3 or int(state["turn"]) == -1:
                continue
            for viewer in range(seats):
                deals = hidden_deals(state, viewer)
                if deals is None or len(deals) < 2:
                    continue
                must = own_facts_apart(kept if keep_must else state["must"], viewer)
                told = those_of_history(state, start, history, viewer, deals)
                known = those_of_facts(state, must, deals)
                assert told.any()
                compared_positions += 1
                differing += bool((told != known).any())
    return compared_positions, differing


@pytest.mark.parametrize(("variant", "seats", "games"), [("table", 4, 40), ("article", 4, 12), ("table", 6, 20)])
def test_the_facts_in_the_state_are_all_that_the_history_tells(variant, seats, games):
    positions_compared, differing = compared(variant, seats, games)
    assert positions_compared > 300
    assert differing == 0


def test_a_fact_that_outlives_a_given_card_is_told_apart():
    positions_compared, differing = compared("table", 4, 20, keep_must=True)
    assert differing > 0.02 * positions_compared


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "seats"), [("table", 4), ("article", 4), ("strict", 4), ("table", 6)])
def test_the_facts_in_the_state_are_all_that_the_history_tells_in_many_games(variant, seats):
    positions_compared, differing = compared(variant, seats, 400)
    assert positions_compared > 2000
    assert differing == 0
