"""Games in which cards are alike say how many of each kind there are; places are counts, and states have weights."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import small_game
from small_game import GAME

from cardai.cli.show.advice import chances_table
from cardai.errors import CardaiError
from cardai.measure.coaching.chances import chances
from cardai.rules import rule
from cardai.rules.dealing import weight_of

RANKS = len(GAME.table.pieces) // 4


def ranks_of_places(state):
    """The places of Low Hand, as if cards of one rank were alike."""
    places = [[0] * RANKS for _ in small_game.holdings(state)]
    for counts, cards in zip(places, small_game.holdings(state), strict=True):
        for card in range(4 * RANKS):
            counts[card // 4] += cards >> card & 1
    return places


ALIKE = GAME.changed(
    name="alike",
    copies=(4,) * RANKS,
    holdings=ranks_of_places,
    pieces=tuple("23456789TJQKA"[:RANKS]),
    chances=None,
)


def dealt(kinds, sizes):
    """What places of so many cards may hold, each a sorted tuple of kinds, and how many deals become it."""
    cards = [kind for kind, copies in enumerate(kinds) for _ in range(copies)]
    found = Counter()
    for order in permutations(range(len(cards))):
        places, first = [], 0
        for size in sizes:
            places.append(tuple(sorted(cards[card] for card in order[first : first + size])))
            first += size
        found[tuple(places)] += 1
    return found


def of_places(copies, places):
    """A game whose state is nothing but the places that it was made for."""
    return ALIKE.changed(copies=copies, pieces=tuple("ABCDEFGH"[: len(copies)]), holdings=lambda state: places)


def test_the_weight_of_a_state_is_the_number_of_deals_that_become_it():
    copies, sizes = (3, 2, 2), (2, 3, 2)
    deals = dealt(copies, sizes)
    ways = {}
    for places in deals:
        counts = [[place.count(kind) for kind in range(3)] for place in places]
        ways[places] = of_places(copies, counts).weigh(GAME.new())
    assert len(ways) > 15
    ratio = {deals[places] / ways[places] for places in deals}
    assert len(ratio) == 1  # the order in which cards come to a hand, which is the same for all
    assert len(set(ways.values())) > 3


@rule
def weight_of_hands(hands):
    return weight_of(hands)


def test_where_the_deck_is_a_list_the_weight_is_that_of_the_hands():
    copies, sizes = (3, 2, 2), (2, 2, 1, 1, 1)  # two hands, and a deck of three cards in order
    ratio = {
        round(number / weight_of_hands(np.array([[hand.count(k) for k in range(3)] for hand in places[:2]])), 9)
        for places, number in dealt(copies, sizes).items()
    }
    assert len(ratio) == 1


def test_cards_that_no_place_lists_are_in_one_place_more():
    assert of_places((3, 2), [[1, 0], [1, 1]]).weigh(GAME.new()) == 3 * 2 * 2
    assert of_places((3, 2), [[1, 0], [1, 1], [1, 1]]).weigh(GAME.new()) == 3 * 2 * 2


def test_many_cards_have_a_weight():
    places = [[1] * 54] * 8
    assert of_places_of_108(places) == pytest.approx(float(np.prod([40320.0] * 54)))


def of_places_of_108(places):
    game = ALIKE.changed(copies=(8,) * 54, pieces=tuple(map(str, range(54))), holdings=lambda state: places)
    return game.weigh(GAME.new())


@rule
def twice(state):
    return 2.0 + state.turn


@rule
def never(state):
    return 0.0 * state.turn


def test_a_game_may_weigh_its_states_itself():
    state = GAME.new(seed=3)
    assert GAME.changed(weight=twice).weigh(state) == 2.0 + state.turn
    assert GAME.weigh(state) == 1.0
    with pytest.raises(CardaiError, match=r"the rule weight gives 0\.0; it must be a finite number above 0"):
        GAME.changed(weight=never).weigh(state)


@rule
def of_nothing(state, seat):
    return 1.0


def test_a_weight_of_other_parameters_is_refused():
    with pytest.raises(CardaiError, match=r"weight takes \(state\), but the rule is of_nothing\(state, seat\)"):
        GAME.changed(weight=of_nothing).weigh(GAME.new())


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"copies": (4, 0, 4)}, r"copies\[1\] must be at least 1, not 0"),
        ({"copies": (4, 1.5)}, r"copies\[1\] must be a whole number, not 1.5"),
        ({"copies": (4, 4)}, f"copies has 2 numbers, but there are {RANKS} pieces"),
        ({"holdings": None}, "copies says what holdings counts, so the game needs holdings too"),
    ],
)
def test_copies_that_cannot_be_are_refused(changes, complaint):
    with pytest.raises(CardaiError, match=complaint):
        ALIKE.changed(**changes)


@pytest.mark.parametrize(
    ("places", "complaint"),
    [
        ([5, 6], "holdings: place 0 is 5; copies asks for 2 counts"),
        ([[1, 1, 1]], r"holdings: place 0 is \[1, 1, 1\]; copies asks for 2 counts"),
        ([[1, 1], [1, 3]], "holdings lists 4 cards of .* in all places; copies says there are 2"),
        ([[1, -1]], "holdings: place 0: the count of .* must be at least 0, not -1"),
        ([[2, 1], [2, 1]], "holdings lists 4 cards of .* in all places; copies says there are 3"),
    ],
)
def test_places_that_are_no_counts_are_refused(places, complaint):
    with pytest.raises(CardaiError, match=complaint):
        of_places((3, 2), places).weigh(GAME.new())


def test_pieces_in_places_are_listed():
    state = GAME.new(seed=1)
    alike, told_apart = ALIKE.lying(state), GAME.lying(state)
    assert [[card // 4 for card in place] for place in told_apart] == alike
    assert sorted(card for place in told_apart for card in place) == list(range(len(GAME.table.pieces)))
    wide = GAME.changed(holdings=lambda state: [1 << 104 | 1, 0])
    assert wide.lying(state) == [[0, 104], []]
    with pytest.raises(CardaiError, match="does not say where its cards lie"):
        GAME.changed(holdings=None, chances=None).lying(state)


def test_the_chances_of_kinds_are_expected_numbers():
    state = GAME.new(seed=1)
    seats = int(state["seats"])
    estimated, single = chances(ALIKE, state, 0, 1), chances(GAME.changed(chances=None), state, 0, 1)
    sums = np.zeros((RANKS, seats + 1))
    certain = np.array(ranks_of_places(state))[0]
    np.add.at(sums, np.array(single.cards) // 4, single.shares)
    sums[:, 0] += certain
    np.testing.assert_allclose(estimated.shares, sums[list(estimated.cards)], atol=1e-9)
    np.testing.assert_allclose(estimated.shares.sum(axis=1), 4)
    assert "cards expected, the mean of 400 worlds" in str(chances_table(ALIKE, estimated).renderables[-1])
