"""The counts behind the laws on where cards lie: exact means, variances, and what counts as a place."""

import itertools
from math import comb

import numpy as np
import passing
import pytest
import small_game

import cardai
from cardai.conformance import evenness
from cardai.conformance import testbed as beds
from cardai.conformance.evidence import HINT, none_drawn, strictness
from cardai.conformance.law import at_once
from cardai.games.durak.text import cards_alike

QUICK = beds.EFFORTS["quick"]


def test_none_of_some_cards_is_drawn_as_often_as_combinations_say():
    size, marked, drawn = (grid.ravel() for grid in np.meshgrid(range(1, 9), range(9), range(9), indexing="ij"))
    real = (marked <= size) & (drawn <= size)
    wanted = [comb(n - m, c) / comb(n, c) for n, m, c in zip(size[real], marked[real], drawn[real], strict=True)]
    np.testing.assert_allclose(none_drawn(size[real], marked[real], drawn[real]), wanted)


def test_more_counts_call_for_a_larger_difference():
    assert strictness(1) == HINT
    assert HINT < strictness(1000) < strictness(100_000) < 6


def test_the_means_are_those_over_all_arrangements_of_each_class():
    """Two classes of cards in three hands: 24 x 6 arrangements, listed."""
    classes = np.zeros((2, beds.CARDS), bool)
    classes[0, [0, 4, 5, 9]], classes[1, [1, 2, 13]] = True, True
    first, second = (np.flatnonzero(cards) for cards in classes)
    lie = np.zeros((evenness.ALL, 144, beds.CARDS), bool)
    for i, (some, others) in enumerate(itertools.product(*map(itertools.permutations, ((1, 1, 2, 3), (1, 2, 2))))):
        lie[list(some), i, first] = True
        lie[list(others), i, second] = True
    groups = np.arange(beds.CARDS) % 4 == np.arange(4)[:, None]
    groups &= classes.any(axis=0)
    few, hands = np.arange(1, 4), slice(1, 4)
    counts = evenness._counts(groups[:, None], lie, few, hands)
    means, variances = evenness._even(classes, groups, lie, few, hands)
    np.testing.assert_allclose(means, np.repeat(means[:1], 144, axis=0), rtol=1e-6)
    np.testing.assert_allclose(counts.mean(axis=0), means[0], atol=1e-6)
    known = variances >= 0
    assert known.sum() == 2 * len(groups) * len(few)
    np.testing.assert_allclose(counts.var(axis=0)[known] * 144, variances[known], atol=1e-4)
    chance, variance = evenness._even_pairs(classes, lie, hands)
    together = evenness._together(lie[hands].astype(np.float32))
    np.testing.assert_allclose(np.triu(together, 1), np.triu(chance, 1), atol=1e-4)
    np.testing.assert_allclose(np.triu(variance, 1), np.triu(chance * (1 - chance / 144), 1), atol=1e-4)


@pytest.mark.parametrize("tally", [evenness._uneven, evenness._kept])
@pytest.mark.parametrize("game", [small_game.GAME, passing.GAME], ids=["low_hand", "pass_left"])
def test_what_is_counted_in_sound_games_is_off_by_one_standard_deviation(game, tally):
    found = at_once(evenness._of_views(tally, beds.Testbed(game, 1, QUICK), 0, 60, None))
    assert found is not None
    assert 0.7 < found.sigmas[found.variance > 20].std() < 1.3


def _word(dtype, field):
    """The place of the first number of a field among a state's numbers."""
    return dtype.fields[field][1] // 8


def test_cards_passed_on_count_as_a_place():
    game = cardai.load("hearts")
    (found,) = beds.Testbed(game, 0, QUICK).aside[4]
    assert found == (_word(game.state, "passed"), 4)
    assert [size for _, size in beds.Testbed(passing.GAME, 0, QUICK).aside[3]] == [3]
    assert not any(beds.Testbed(small_game.GAME, 0, QUICK).aside.values())


def test_durak_says_which_cards_a_rule_tells_apart():
    state = cardai.load("durak").new(3, 5, "podkidnoy")
    trumps, deck = 0x111111111 << int(state["trump"]), (1 << 36) - 1
    state["lowest_trump"] = 4 + int(state["trump"])
    lowest = 1 << int(state["trump"])
    assert sorted(cards_alike(state)) == sorted([lowest, deck & ~lowest])  # 5.4
    state["suit_limit"] = 4
    suits = [0x111111111 << suit for suit in range(4)]
    assert sorted(cards_alike(state)) == sorted([lowest, *(cards & ~lowest for cards in suits)])  # 5.5
    state["lowest_trump"] = -1
    assert trumps in cards_alike(state)
