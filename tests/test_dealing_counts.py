"""Dealing cards that are alike, sets of more than 62 cards, and piles: as exact enumeration of physical deals says."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from test_dealing import SIGMA, Problem, enumerated, problem_of, sets, stream_of

from cardai.errors import CardaiError
from cardai.rules import rule
from cardai.rules.cards import words
from cardai.rules.dealing import deal_chances, deal_count, deal_hidden, deal_obliged, deal_piles, redeal

NO_GROUPS = np.zeros(0, np.int64)


class Alike(NamedTuple):
    """What `deal_obliged` is asked for, of kinds: `cards` are counts."""

    cards: np.ndarray
    sizes: np.ndarray
    banned: np.ndarray
    groups: np.ndarray
    must: np.ndarray


def alike_problem_of(seed, most_cards=8):
    """A random problem with copies; about one in three has no solution."""
    chance = np.random.default_rng(seed)
    places, kinds, group_count = chance.integers(2, 5), chance.integers(1, 6), chance.integers(0, 3)
    cards = chance.integers(0, 4, kinds)
    while cards.sum() > most_cards:
        cards[chance.integers(kinds)] = 0
    sizes = np.bincount(chance.integers(0, places, cards.sum()), minlength=places).astype(np.int64)
    rate = chance.choice([0.0, 0.2, 0.35])
    banned = [sum(1 << kind for kind in range(kinds) if chance.random() < rate) for _ in range(places)]
    group_of = chance.integers(-1, group_count, kinds) if group_count else np.full(kinds, -1)
    groups = [sum(1 << kind for kind in range(kinds) if group_of[kind] == group) for group in range(group_count)]
    must = [int(chance.integers(1 << group_count)) if chance.random() < 0.3 else 0 for _ in range(places)]
    return Alike(cards.astype(np.int64), sizes, sets(*banned), sets(*groups), sets(*must))


def kinds_of(problem):
    """The kind of each physical card."""
    return np.repeat(np.arange(len(problem.cards)), problem.cards)


def physical(problem):
    """The same problem with all cards told apart."""
    kinds = kinds_of(problem)

    def told_apart(sets_of_kinds):
        return sets(*[sum(1 << i for i, k in enumerate(kinds) if int(cards) >> k & 1) for cards in sets_of_kinds])

    cards = (1 << len(kinds)) - 1
    return Problem(cards, problem.sizes, told_apart(problem.banned), told_apart(problem.groups), problem.must)


def as_counts(problem, hands):
    """Hands of physical cards as counts of kinds."""
    kinds, width = kinds_of(problem), len(problem.cards)
    return tuple(
        tuple(np.bincount(kinds[[i for i in range(len(kinds)) if hand >> i & 1]], minlength=width).tolist())
        for hand in hands
    )


def weights_of(problem):
    """How many physical deals become each state."""
    return Counter(as_counts(problem, deal) for deal in enumerated(physical(problem)))


@rule
def draw_many(cards, sizes, banned, groups, must, stream, drawn):
    for i in range(len(drawn)):
        if not deal_obliged(cards, sizes, banned, groups, must, drawn[i], stream):
            return False
    return True


def drawn_alike(problem, seed, n):
    """n deals as tuples of tuples of counts."""
    drawn = np.zeros((n, len(problem.sizes), len(problem.cards)), np.int64)
    assert draw_many(*problem, stream_of(seed), drawn)
    return [tuple(map(tuple, deal)) for deal in drawn.tolist()]


def surprise(weights, found):
    """The probability that draws with these weights are as far from them as those found; each must be possible."""
    counts = Counter(found)
    assert set(counts) <= set(weights)
    expected = np.array([*weights.values()], float) * len(found) / sum(weights.values())
    return stats.chisquare([counts[state] for state in weights], expected).pvalue


def are_weighted(problem, weights, seed, draw=drawn_alike):
    """Whether draws have these weights: a difference of 5 sigma counts if a second, larger sample has it too."""
    n = max(1000, 12 * sum(weights.values()))
    return any(surprise(weights, draw(problem, seed + i, n * (1, 4)[i])) > SIGMA for i in range(2))


def weighted_problems(first_seed, number):
    """Problems with the weights of their states, 2 to 60 of them, which 2 to 400 deals become."""
    seed = first_seed
    while number > 0:
        problem = alike_problem_of(seed)
        weights = weights_of(problem)
        if 2 <= len(weights) <= 60 and sum(weights.values()) <= 400:
            yield seed, problem, weights
            number -= 1
        seed += 1


def test_every_deal_of_alike_cards_is_as_likely_as_exact_physical_deals():
    unequal = 0
    for seed, problem, weights in weighted_problems(1000, 60):
        unequal += len(set(weights.values())) > 1
        assert are_weighted(problem, weights, seed), problem
    assert unequal > 30


def test_deals_of_alike_cards_are_counted_as_physical_ones():
    counts = []
    for seed in range(400):
        problem = alike_problem_of(seed, most_cards=7)
        deals = enumerated(physical(problem))
        counts.append(len(deals))
        assert deal_count(*problem) == len(deals), problem
        chances = np.full((len(problem.sizes), len(problem.cards)), np.nan)
        assert bool(deal_chances(*problem, chances)) == bool(deals)
        expected = np.zeros_like(chances)
        for deal in deals:
            expected += np.array(as_counts(problem, deal)) / len(deals)
        np.testing.assert_allclose(chances, expected, rtol=0, atol=1e-9, err_msg=str(problem))
    assert counts.count(0) > 40
    assert sum(count > 10 for count in counts) > 70


# Wide sets: the problems of `test_dealing`, with its 20 cards spread over 108.

SPREAD = np.random.default_rng(7).permutation(108)[:20]
WORDS = words(108)


def wide(cards):
    """A set of the 20 cards of a problem as a wide set."""
    spread = sum(1 << int(SPREAD[card]) for card in range(20) if int(cards) >> card & 1)
    return [spread >> 60 * i & (1 << 60) - 1 for i in range(WORDS)]


def wide_problem(problem):
    as_wide = [np.array([wide(cards) for cards in part], np.int64).reshape(-1, WORDS) for part in problem[2:4]]
    return np.array(wide(problem.cards)), problem.sizes, *as_wide, problem.must


def drawn_wide(problem, seed, n):
    drawn = np.zeros((n, len(problem.sizes), WORDS), np.int64)
    assert draw_many(*wide_problem(problem), stream_of(seed), drawn)
    return [tuple(map(tuple, deal)) for deal in drawn.tolist()]


def test_every_deal_of_a_wide_set_is_as_likely():
    seed, tried = 5000, 0
    while tried < 60:
        problem, seed = problem_of(seed, 7), seed + 1
        deals = enumerated(problem)
        assert deal_count(*wide_problem(problem)) == len(deals)
        if 2 <= len(deals) <= 200:
            tried += 1
            weights = Counter(tuple(tuple(wide(hand)) for hand in deal) for deal in deals)
            assert are_weighted(problem, weights, seed, drawn_wide), problem
    chances = np.full((len(problem.sizes), 108), np.nan)
    assert deal_chances(*wide_problem(problem), chances)
    expected = np.zeros_like(chances)
    for deal in deals:
        for place, hand in enumerate(deal):
            expected[place, [SPREAD[card] for card in range(20) if hand >> card & 1]] += 1 / len(deals)
    np.testing.assert_allclose(chances, expected, rtol=0, atol=1e-9)


@rule
def deal_tables(deck, sizes, banned, stream, drawn):
    for i in range(len(drawn)):
        if not deal_hidden(deck, sizes, banned, drawn[i], stream):
            return False
    return True


def shares_of_tables(cards, hands, banned, n):
    """How often each of 104 or 108 cards lies in each hand of seven cards, and in the stock: f8[hands + 1, cards]."""
    deck = np.array([((1 << cards) - 1) >> 60 * i & (1 << 60) - 1 for i in range(WORDS)])
    drawn = np.zeros((n, hands + 1, WORDS), np.int64)
    assert deal_tables(deck, sets(*[7] * hands, cards - 7 * hands), banned, stream_of(cards), drawn)
    return in_places(drawn, cards).mean(axis=0)


def in_places(drawn, cards):
    """Which cards of wide sets lie where: [n, places, cards]."""
    octets = np.ascontiguousarray(drawn).view(np.uint8).reshape(*drawn.shape, 8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")
    return bits[..., :60].reshape(*drawn.shape[:2], -1)[..., :cards]


def sigmas(shares, expected, n):
    """How far shares are from what is expected, and those of early cards against late ones, in standard deviations."""
    cards = shares.shape[1]
    single = (shares - expected) / np.sqrt(np.maximum(expected * (1 - expected), 1e-12) / n)
    early = (shares - expected)[:, : cards // 2].sum(axis=1)
    spread = np.sqrt((expected * (1 - expected))[:, : cards // 2].sum(axis=1) / n)
    return max(np.abs(single).max(), np.abs(early / spread).max())


@pytest.mark.parametrize("cards", [104, 108])
def test_with_bans_each_card_of_two_packs_lies_as_often_as_counting_says(cards):
    """A hand without the cards 0, 4, 8 ..., one without the last twenty: the chances are those of `deal_chances`."""
    n, banned = 2000, np.zeros((4, WORDS), np.int64)
    for place, lacked in ((0, range(0, cards, 4)), (2, range(cards - 20, cards))):
        for card in lacked:
            banned[place, card // 60] |= 1 << card % 60
    deck = np.array([((1 << cards) - 1) >> 60 * i & (1 << 60) - 1 for i in range(WORDS)])
    expected = np.zeros((4, cards))
    none = np.zeros((0, WORDS), np.int64)
    assert deal_chances(deck, sets(7, 7, 7, cards - 21), banned, none, NO_GROUPS, expected)
    np.testing.assert_allclose(expected.sum(axis=0), 1, atol=1e-9)
    assert expected[0, 4] == expected[2, cards - 1] == 0
    assert sigmas(shares_of_tables(cards, 3, banned, n), expected, n) < 5


# Piles that return.


@rule
def draw_piles(piles, sizes, banned, stream, drawn):
    for i in range(len(drawn)):
        if not deal_piles(piles, sizes, banned, drawn[i], stream):
            return False
    return True


def pile_problem_of(seed):
    """Two or three piles of up to four cards each, and how many each of three places has of each: sets in numbers."""
    chance = np.random.default_rng(seed)
    number = chance.integers(2, 4)
    sizes = np.array([np.bincount(chance.integers(0, 3, chance.integers(1, 5)), minlength=3) for _ in range(number)])
    deck, piles = [int(card) for card in chance.permutation(20)], []
    for size in sizes.sum(axis=1):
        piles.append(sum(1 << deck.pop() for _ in range(size)))
    rate = chance.choice([0.0, 0.2])
    banned = [sum(1 << card for card in range(20) if chance.random() < rate) for _ in range(3)]
    return sets(*piles), sizes.astype(np.int64), sets(*banned)


def enumerated_piles(piles, sizes, banned):
    """All deals, as hands: one of each pile in all combinations."""
    deals = [(0, 0, 0)]
    for pile, of_pile in zip(piles, sizes, strict=True):
        parts = enumerated(Problem(int(pile), of_pile, banned, NO_GROUPS, np.zeros(3, np.int64)))
        deals = [tuple(a | b for a, b in zip(deal, part, strict=True)) for deal in deals for part in parts]
    return deals


def drawn_piles(problem, seed, n):
    drawn = np.zeros((n, 3), np.int64)
    assert draw_piles(*problem, stream_of(seed), drawn)
    return [*map(tuple, drawn.tolist())]


def drawn_wide_piles(problem, seed, n):
    piles, sizes, banned = problem
    drawn = np.zeros((n, 3, WORDS), np.int64)
    assert draw_piles(np.array([*map(wide, piles)]), sizes, np.array([*map(wide, banned)]), stream_of(seed), drawn)
    back = {tuple(wide(1 << card)): 1 << card for card in range(20)}
    single = [(np.array(key), card) for key, card in back.items()]
    return [tuple(sum(card for key, card in single if (key & hand).any()) for hand in deal) for deal in drawn]


@pytest.mark.parametrize("draw", [drawn_piles, drawn_wide_piles])
def test_every_deal_of_piles_that_returned_is_as_likely(draw):
    tried = 0
    for seed in range(1000):
        problem = pile_problem_of(seed)
        deals = enumerated_piles(*problem)
        if 2 <= len(deals) <= (200 if draw is drawn_piles else 40):
            tried += 1
            assert are_weighted(problem, Counter(deals), seed, draw), problem
        if tried == (60 if draw is drawn_piles else 20):
            return
    raise AssertionError("too few problems have a solution")


def test_piles_of_alike_cards_are_dealt_as_exact_physical_deals():
    piles, sizes, banned = np.array([[2, 1, 0], [1, 2, 1]]), np.array([[1, 1, 1], [0, 2, 2]]), sets(0, 1, 0)
    weights = Counter()
    for first in enumerated(physical(Alike(piles[0], sizes[0], banned, NO_GROUPS, sets(0, 0, 0)))):
        for second in enumerated(physical(Alike(piles[1], sizes[1], banned, NO_GROUPS, sets(0, 0, 0)))):
            parts = [
                as_counts(Alike(pile, *[None] * 4), deal) for pile, deal in zip(piles, (first, second), strict=True)
            ]
            weights[tuple(tuple(np.add(a, b).tolist()) for a, b in zip(*parts, strict=True))] += 1

    def draw(problem, seed, n):
        drawn = np.zeros((n, 3, 3), np.int64)
        assert draw_piles(*problem, stream_of(seed), drawn)
        return [tuple(map(tuple, deal)) for deal in drawn.tolist()]

    assert len(set(weights.values())) > 1
    assert are_weighted((piles, sizes, banned), weights, 3, draw)


def test_a_pile_whose_sizes_do_not_add_up_is_dealt_to_nobody():
    dealt = np.full(2, 5, np.int64)
    assert not deal_piles(sets(0b11, 0b100), np.array([[1, 1], [1, 1]]), sets(0, 0), dealt, stream_of(1))
    assert dealt.tolist() == [0, 0]


# Whole hands.


def test_redeal_of_counts_keeps_what_the_seat_knows():
    chance = np.random.default_rng(1)
    for seed in range(60):
        cards = chance.permutation(np.repeat(np.arange(24), 2))
        hands = np.array([np.bincount(cards[12 * i : 12 * i + 12], minlength=24) for i in range(4)])
        known = np.minimum(hands, chance.integers(0, 2, (4, 24)) * chance.integers(0, 2, (4, 24)))
        lacks = sets(*[sum(1 << k for k in range(24) if hand[k] == 0 and chance.random() < 0.4) for hand in hands])
        world, seat = hands.copy(), seed % 4
        assert redeal(world, known, lacks, seat, stream_of(seed))
        assert (world.sum(axis=1) == 12).all()
        assert (world.sum(axis=0) == 2).all()
        assert (world[seat] == hands[seat]).all()
        assert (world >= known).all()
        assert all(
            (world[i] - known[i])[k] == 0 for i in range(4) for k in range(24) if i != seat and lacks[i] >> k & 1
        )
        again, from_world = hands.copy(), world.copy()
        redeal(again, known, lacks, seat, stream_of(seed + 1000))
        redeal(from_world, known, lacks, seat, stream_of(seed + 1000))
        assert (again == from_world).all()


def test_redeal_of_wide_sets_keeps_what_the_seat_knows():
    chance = np.random.default_rng(2)
    for seed in range(30):
        parts = np.split(chance.permutation(104), 4)
        holders = np.zeros((4, 120), bool)
        for i, part in enumerate(parts):
            holders[i, part] = True
        known = holders & (chance.random((4, 120)) < 0.2)
        lacks = ~holders & (chance.random((4, 120)) < 0.3)

        def packed(flags):
            return np.array(
                [[sum(1 << i for i in np.flatnonzero(word)) for word in row.reshape(2, 60)] for row in flags]
            )

        world, seat = packed(holders), seed % 4
        assert redeal(world, packed(known), packed(lacks), seat, stream_of(seed))
        there = in_places(world[None], 120)[0].astype(bool)
        assert (there.sum(axis=1) == 26).all()
        assert (there.sum(axis=0)[:104] == 1).all()
        assert (there[seat] == holders[seat]).all()
        assert (there | ~known).all()
        assert not (there & lacks & ~known)[np.arange(4) != seat].any()
        assert not (there == holders).all()


def test_without_bans_the_sizes_may_be_as_large_as_they_are():
    cards, dealt = np.full(54, 6), np.zeros((9, 54), np.int64)
    assert deal_hidden(cards, sets(*[36] * 9), sets(*[0] * 9), dealt, stream_of(1))
    assert (dealt.sum(axis=1) == 36).all()
    assert (dealt.sum(axis=0) == 6).all()
    with pytest.raises(CardaiError, match="at most 62 binary digits"):
        deal_hidden(cards, sets(*[36] * 9), sets(1, *[0] * 8), dealt, stream_of(1))
