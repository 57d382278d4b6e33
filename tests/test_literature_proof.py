"""Proofs of Literature (RULES.md, 3.4), which chains of cards find, against counts of all deals."""

import numpy as np
import pytest
from literature_positions import GAME

from cardai.games.literature.deck import DECK, NONE, cards_of
from cardai.games.literature.rules import ASK, CLAIM
from cardai.rules.dealing import deal_count

GROUPS = np.array([cards_of(half) for half in range(8)])


def by_chains(state, seat):
    """The names of the claims that the rules allow a seat in a window."""
    asked, names = state.copy(), [NONE] * 8
    asked.turn = asked.window = seat
    asked.closer, asked.giving = NONE, 0
    for move in GAME.moves(asked):
        if move["kind"] == CLAIM:
            names[int(move["what"])] = int(move["names"])
    return names


def by_counting(state, seat):
    """The names of the proven claims of a seat: no deal puts a card elsewhere that agrees with what all see then."""
    claimed = int(state.won[0] | state.won[1] | state.won[2])
    return [NONE if claimed >> half & 1 else names_if_counted(state, seat, half) for half in range(8)]


def names_if_counted(state, seat, half):
    seats, cards = int(state.seats), cards_of(half)
    hands, known = state.hands[:seats], state.known[:seats]
    if any(int(hands[other]) & cards for other in range(seats) if (other - seat) % 2):
        return NONE
    hidden = hands & ~known
    must, banned = state.must[:seats].copy(), state.lacks[:seats].copy()
    hidden[seat] &= ~cards  # all see the own cards of the half-suit
    must[seat] &= ~(1 << half)
    banned[seat] |= cards
    sizes = np.array([int(some).bit_count() for some in hidden])
    for other in range(seats):
        for card in DECK.listed(int(hidden[other]) & cards):
            elsewhere = banned.copy()
            elsewhere[other] |= 1 << card
            if deal_count(int(hidden.sum()), sizes, elsewhere, GROUPS, must) != 0:
                return NONE
    far = int(hands[(seat + 4) % seats]) if seats == 6 else 0
    return sum(1 << i for i, card in enumerate(DECK.listed(cards_of(half))) if far >> card & 1)


def positions(seats, games, first_ask):
    """Positions of games in which questions are asked that may be answered with yes, and claims are made late."""
    for seed in range(games):
        rng, state = np.random.default_rng(seed), GAME.new(seats, seed)
        while state.turn >= 0:
            if state.asks >= first_ask and rng.random() < 0.08:
                yield state
            moves = GAME.moves(state)
            if rng.random() < 0.6:
                moves = moves[moves["kind"] != CLAIM] if (moves["kind"] != CLAIM).any() else moves
            likely = [move for move in moves if move["kind"] == ASK and may_succeed(state, move)]
            state = GAME.play(state, rng.choice(likely or moves))


def may_succeed(state, move):
    seats = range(int(state.seats))
    asked, card = (int(state.turn) + int(move["step"])) % len(seats), int(move["what"])
    if int(state.lacks[asked]) >> card & 1:
        return False
    return not any(int(state.known[seat]) >> card & 1 for seat in seats if seat != asked)


@pytest.mark.parametrize(("seats", "games", "first_ask"), [(4, 16, 5), (6, 6, 50)])
def test_3_4_a_claim_is_proven_if_no_deal_contradicts_it(seats, games, first_ask):
    compared = right = 0
    for state in positions(seats, games, first_ask):
        for seat in range(seats):
            names = by_counting(state, seat)
            assert by_chains(state, seat) == names
            compared, right = compared + 1, right + (max(names) != NONE)
    assert compared > 500
    assert right > 30
