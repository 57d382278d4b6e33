"""The counts behind the laws on where cards lie: exact means, variances, and what counts as a place."""

import itertools
from math import comb

import follow
import numpy as np
import passing
import pytest
import small_game
import sparks

import cardai
from cardai.games.durak.text import cards_alike
from cardai.laws import evenness
from cardai.laws import testbed as beds
from cardai.laws.evidence import HINT, none_drawn, strictness
from cardai.laws.law import at_once
from cardai.laws.places import CardKinds

QUICK = beds.EFFORTS["quick"]


def test_none_of_some_cards_is_drawn_as_often_as_combinations_say():
    size, marked, drawn = (grid.ravel() for grid in np.meshgrid(range(1, 9), range(9), range(9), indexing="ij"))
    real = (marked <= size) & (drawn <= size)
    wanted = [comb(n - m, c) / comb(n, c) for n, m, c in zip(size[real], marked[real], drawn[real], strict=True)]
    np.testing.assert_allclose(none_drawn(size[real], marked[real], drawn[real]), wanted)


def test_more_counts_call_for_a_larger_difference():
    assert strictness(1) == HINT
    assert HINT < strictness(1000) < strictness(100_000) < 6


@pytest.mark.parametrize(
    ("copies", "kinds", "others"),
    [
        ((1,) * 16, (0, 4, 5, 9), (1, 2, 13)),
        ((1,) * 110, (0, 104, 5, 9), (1, 2, 73)),
        ((3, 2, 4), (0, 0, 2, 2), (1, 1)),
    ],
    ids=["ranks and suits", "many cards", "alike"],
)
def test_the_means_are_those_over_all_arrangements_of_each_class(copies, kinds, others):
    """Two classes of cards in three hands: all arrangements, listed, also where the cards of a class are alike."""
    deck = CardKinds(np.array(copies), (), max(copies) > 1)
    number, classes = np.bincount([*kinds, *others], minlength=deck.kinds), np.zeros((2, deck.kinds), bool)
    classes[0, list(kinds)], classes[1, list(others)] = True, True
    ways = [*itertools.product(itertools.permutations((1, 1, 2, 3)), itertools.permutations((1, 2, 2)[: len(others)]))]
    lie = np.zeros((evenness.ALL, len(ways), deck.kinds), np.uint8)
    for i, (some, rest) in enumerate(ways):
        np.add.at(lie[:, i], (list(some), list(kinds)), 1)
        np.add.at(lie[:, i], (list(rest), list(others)), 1)
    groups = np.arange(deck.kinds) % 4 == np.arange(4)[:, None]
    groups &= classes.any(axis=0)
    few, hands = np.arange(1, 4), slice(1, 4)
    counts = evenness._counts(deck, groups[:, None], lie, few, hands)
    means, variances = evenness._even(deck, classes, number, groups, lie, few, hands)
    np.testing.assert_allclose(means, np.repeat(means[:1], len(ways), axis=0), rtol=1e-6)
    np.testing.assert_allclose(counts.mean(axis=0), means[0], atol=1e-6)
    known = variances >= 0
    assert known.sum() == 2 * len(groups) * len(few)
    np.testing.assert_allclose(counts.var(axis=0)[known] * len(ways), variances[known], atol=1e-4)
    off, variance = evenness._even_pairs(deck, classes, number, lie, hands)
    np.testing.assert_allclose(np.triu(off), 0, atol=1e-4)
    held = lie[hands].astype(float)
    pairs = np.einsum("hna,hnb->nab", held, held)
    pairs[:, range(deck.kinds), range(deck.kinds)] = (held * (held - 1)).sum(axis=0) / 2
    assert (variance >= pairs.var(axis=0) * len(ways) - 1e-4)[np.triu_indices(deck.kinds)].all()
    if not deck.are_counts:
        np.testing.assert_allclose(np.triu(variance), np.triu(pairs.var(axis=0)) * len(ways), atol=1e-4)
    if not deck.is_ranked:
        off, variance = evenness._even_alone(deck, classes, number, lie[few])
        np.testing.assert_allclose(off, 0, atol=1e-4)
        np.testing.assert_allclose(variance, lie[few].astype(float).var(axis=1) * len(ways), atol=1e-4)


@pytest.mark.parametrize("tally", [evenness._uneven, evenness._kept])
@pytest.mark.parametrize("game", [small_game.GAME, passing.GAME, sparks.GAME, follow.GAME], ids=lambda game: game.name)
def test_what_is_counted_in_sound_games_is_off_by_one_standard_deviation(game, tally):
    found = at_once(evenness._of_views(tally, beds.Testbed(game, 1, QUICK), 0, 60, None))
    assert found is not None
    assert 0.7 < found.sigmas[found.variance > 20].std() < 1.3


def _word(dtype, field):
    """The place of the first number of a field among a state's numbers."""
    return dtype.fields[field][1] // 8


def test_cards_passed_on_count_as_a_place():
    game = cardai.load("hearts")
    (found,) = beds.Testbed(game, 0, QUICK).hidden_sets[4]
    assert found == beds.HiddenSets(_word(game.state, "passed"), 4, 1)
    assert [found.size for found in beds.Testbed(passing.GAME, 0, QUICK).hidden_sets[3]] == [3]
    assert not any(beds.Testbed(small_game.GAME, 0, QUICK).hidden_sets.values())


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
