"""Worlds of Literature (RULES.md, 5): they are exactly the deals that the history allows, and all are as likely."""

import math
from functools import cache

import numpy as np
import pytest
from literature_histories import History, listed, played, small_position
from literature_positions import GAME
from scipy.stats import chisquare

from cardai.games.literature import worlds
from cardai.games.literature.deck import NONE, cards_of
from cardai.games.literature.rules import CLAIM
from cardai.rules import STREAM, rule

FIVE_SIGMA = 5.7e-7
MOST_DEALS = 40_000  # that are listed for a problem
MOST_WORLDS = 400  # that are possible at its end


@rule
def draw_worlds(resample, states, seat, stream):
    for i in range(len(states)):
        resample(states[i], seat, stream)


def drawn(state, seat, n, seed=0, resample=worlds.resample):
    """`n` worlds of a seat, STATE[n]."""
    states, stream = np.repeat(np.array([state], GAME.state), n), np.zeros(1, STREAM)
    stream["rng"] = seed
    draw_worlds(resample, states, seat, stream[0])
    return states


def hidden_deals(hands, seat):
    """How many deals of hands there are for a seat that knows its own hand only."""
    sizes = [int(hand).bit_count() for other, hand in enumerate(hands) if other != seat]
    return math.factorial(sum(sizes)) // math.prod(math.factorial(size) for size in sizes)


@cache
def problems(number, fault=None):
    """Histories of small games and a seat that does not know all: (History, seat). `fault`: as in `History`."""
    rng, some = np.random.default_rng(7), []
    while len(some) < number:
        seats = 4 if len(some) % 4 else 6
        variant = ("article", "table", "article", "strict")[len(some) % 4]
        live = rng.choice(8, 2 if seats == 6 or rng.random() < 0.6 else 3, replace=False)
        sizes = rng.multinomial(6 * len(live) - seats, np.full(seats, 1 / seats)) + 1
        first = small_position(rng, seats, live, variant, sizes)
        seat = int(rng.integers(seats))
        if hidden_deals(first.hands[:seats], seat) > MOST_DEALS:
            continue
        history = played(rng, first, int(rng.integers(2, 20)), fault=fault)
        if history.last.turn != NONE and 1 < len(listed(history, seat)) <= MOST_WORLDS:
            some.append((history, seat))
    return some


def check_worlds(some, resample=worlds.resample):
    """Assert that worlds are all deals that the history allows, each as often. Returns the p-values of the counts."""
    values = []
    for place, (history, seat) in enumerate(some):
        possible = np.unique(marks(listed(history, seat)))
        states = drawn(history.last, seat, 25 * len(possible) + 200, place, resample)
        found, counts = np.unique(marks(states["hands"]), return_counts=True)
        assert found.tolist() == possible.tolist(), "worlds are not the deals that the history allows"
        values.append(chisquare(counts).pvalue)
    assert min(values) > FIVE_SIGMA, "some deals are drawn more often than others"
    return values


def marks(hands):
    """A number for each row of hands; others for other rows, but for a chance of about 1 in 2^60."""
    factors = np.random.default_rng(0).integers(1 << 62, size=6) | 1
    return (hands[:, :6] ^ hands[:, :6] >> 23) @ factors[: hands.shape[1]]


def test_5_3_worlds_are_the_deals_that_the_history_allows_and_even():
    check_worlds(problems(48))


def test_3_4_a_proven_claim_tells_nothing_but_where_the_six_cards_are():
    """In each deal in which the six cards lie where they do, the claim is proven and allowed, too.

    It was not so when a proof could use the claimant's other cards: in 2 of 23 cases the claim told more.
    """
    rng, cases = np.random.default_rng(3), 0
    while cases < 30:
        live, sizes = rng.choice(8, 3, replace=False), rng.permutation([6, 5, 4, 3])
        history = played(rng, small_position(rng, 4, live, "article", sizes), 30, claim_chance=1.0)
        for number, (before, move, _) in enumerate(history.events):
            if move["kind"] != CLAIM or before.closer != NONE:
                continue
            seat, half = int(rng.choice([seat for seat in range(4) if seat != before.turn])), int(move["what"])
            hands = listed(History(history.first, events=history.events[:number]), seat)
            hands = hands[(hands & cards_of(half) == before.hands & cards_of(half)).all(axis=1)]
            for deal in hands:
                state = before.copy()
                state.hands[:] = deal
                assert GAME.is_allowed(state, move)
            cases += len(hands) > 1


# Faults planted in what everybody knows (5.2), and in worlds.


def keeps_must(before, after):
    """Whoever gives a hidden card still must have one of its half-suit."""
    if after.answer == 1 and after.asks > before.asks:
        after.must[after.asked] = before.must[after.asked]


def forgets_who_lacks_a_card(before, after):
    """Nobody remembers that the player asked does not have the card."""
    if after.answer == 0 and after.asks > before.asks:
        after.lacks[after.asked] = before.lacks[after.asked]


def learns_nothing_from_an_ask(before, after):
    """An ask tells nothing of the half-suit."""
    after.must[after.asker] = before.must[after.asker] & after.must[after.asker]


def shows_all_cards_of_a_claimant(before, after):
    """A claim tells more than the six cards."""
    if after.claimant != NONE and after.won.sum() > before.won.sum():
        after.known[after.claimant] = after.hands[after.claimant]
        after.must[after.claimant] = 0
        after.lacks[:] &= ~after.hands[after.claimant]


@rule
def resample_without_must(state, seat, stream):
    """A fault: worlds in which a seat has no card of the half-suit that it asked for."""
    must = state.must.copy()
    state.must[:] = 0
    worlds.resample(state, seat, stream)
    state.must[:] = must


@rule
def resample_the_higher_of_two(state, seat, stream):
    """A fault: of two worlds the one with the higher hand on the left is taken."""
    worlds.resample(state, seat, stream)
    first = state.hands.copy()
    worlds.resample(state, seat, stream)
    left = (seat + 1) % state.seats
    if first[left] > state.hands[left]:
        state.hands[:] = first


@pytest.mark.parametrize(
    "fault",
    [
        keeps_must,
        forgets_who_lacks_a_card,
        learns_nothing_from_an_ask,
        shows_all_cards_of_a_claimant,
    ],
)
def test_a_fault_in_what_everybody_knows_is_found(fault):
    with pytest.raises(AssertionError, match="not the deals"):
        check_worlds(problems(48, fault))


@pytest.mark.parametrize(
    ("fault", "words"),
    [(resample_without_must, "not the deals"), (resample_the_higher_of_two, "not the deals|more often")],
)
def test_a_fault_in_worlds_is_found(fault, words):
    with pytest.raises(AssertionError, match=words):
        check_worlds(problems(48), fault)
