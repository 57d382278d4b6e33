"""Dealing under constraints: as many deals as enumeration finds, each drawn as often as the others."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from cardai.errors import CardaiError
from cardai.rules import JIT, STREAM, dealing, rule
from cardai.rules.dealing import deal_chances, deal_count, deal_obliged, redeal

SIGMA = 2.0 * stats.norm.sf(5.0)  # the probability of 5 standard deviations
DECK = 20
HERE = Path(__file__).parent


class Problem(NamedTuple):
    """What `deal_obliged` is asked for."""

    cards: int
    sizes: np.ndarray
    banned: np.ndarray
    groups: np.ndarray
    must: np.ndarray


def sets(*cards):
    return np.array(cards, np.int64)


def listed(cards):
    return [card for card in range(62) if cards >> card & 1]


def stream_of(seed):
    stream = np.zeros(1, STREAM)[0]
    stream.rng = seed
    return stream


def problem_of(seed, most_cards=9):
    """A random problem; about one in three has no solution."""
    chance = np.random.default_rng(seed)
    places, n, group_count = chance.integers(1, 6), chance.integers(0, most_cards + 1), chance.integers(0, 4)
    cards = sum(1 << int(card) for card in chance.choice(DECK, n, replace=False))
    sizes = np.bincount(chance.integers(0, places, n), minlength=places).astype(np.int64)
    rate = chance.choice([0.0, 0.15, 0.3])
    banned = [sum(1 << card for card in range(DECK) if chance.random() < rate) for _ in range(places)]
    group_of = chance.integers(-1, group_count, DECK) if group_count else np.full(DECK, -1)
    groups = [sum(1 << card for card in range(DECK) if group_of[card] == group) for group in range(group_count)]
    must = [int(chance.integers(1 << group_count)) if chance.random() < 0.25 else 0 for _ in range(places)]
    return Problem(cards, sizes, sets(*banned), sets(*groups), sets(*must))


def fits(problem, hands):
    """Whether hands are what a problem asks for, said once more in plain words."""
    return all(
        hand.bit_count() == size
        and hand & int(banned) == 0
        and all(hand & int(group) for number, group in enumerate(problem.groups) if int(must) >> number & 1)
        for hand, size, banned, must in zip(hands, problem.sizes, problem.banned, problem.must, strict=True)
    )


def enumerated(problem):
    """All deals, by trying every place for every card."""
    hands, deals = [0] * len(problem.sizes), []

    def deal_rest(cards):
        if not cards:
            if fits(problem, hands):
                deals.append(tuple(hands))
            return
        for place, size in enumerate(problem.sizes):
            if hands[place].bit_count() < size and not int(problem.banned[place]) >> cards[0] & 1:
                hands[place] |= 1 << cards[0]
                deal_rest(cards[1:])
                hands[place] &= ~(1 << cards[0])

    deal_rest(listed(problem.cards))
    return deals


@rule
def draw_many(cards, sizes, banned, groups, must, stream, drawn):
    for i in range(len(drawn)):
        if not deal_obliged(cards, sizes, banned, groups, must, drawn[i], stream):
            return False
    return True


def drawn_from(problem, seed, n):
    """n deals, int64[n, places]."""
    drawn = np.zeros((n, len(problem.sizes)), np.int64)
    assert draw_many(*problem, stream_of(seed), drawn)
    return drawn


def surprise(problem, deals, seed, n):
    """The probability that even draws are as uneven as n draws are; each must be one of the deals."""
    found, counts = np.unique(drawn_from(problem, seed, n), axis=0, return_counts=True)
    assert {tuple(deal) for deal in found.tolist()} <= set(deals)
    return stats.chisquare([*counts, *[0] * (len(deals) - len(counts))]).pvalue


def are_even(problem, deals, seed):
    """Whether draws are even: a difference of 5 sigma counts if a second, larger sample has it too."""
    n = max(1000, 20 * len(deals))
    return surprise(problem, deals, seed, n) > SIGMA or surprise(problem, deals, seed + 1, 8 * n) > SIGMA


def test_there_are_as_many_deals_as_enumeration_finds():
    counts = []
    for seed in range(1000):
        problem = problem_of(seed, most_cards=6)
        counts.append(len(enumerated(problem)))
        assert deal_count(*problem) == counts[-1], problem
    assert counts.count(0) > 80
    assert sum(count > 10 for count in counts) > 80


def crowded_problem_of(seed):
    """A random problem in which nearly every card may lie in other ones of four to six places than the others."""
    chance = np.random.default_rng(seed)
    places, n = int(chance.integers(4, 7)), int(chance.integers(5, 8))
    cards = sum(1 << int(card) for card in chance.choice(DECK, n, replace=False))
    sizes = np.bincount(chance.integers(0, places, n), minlength=places).astype(np.int64)
    banned = [sum(1 << card for card in range(DECK) if chance.random() < 0.2) for _ in range(places)]
    groups = [sum(1 << card for card in range(DECK) if card % 3 == group) for group in range(3)]
    must = [int(chance.integers(8)) if chance.random() < 0.2 else 0 for _ in range(places)]
    return Problem(cards, sizes, sets(*banned), sets(*groups), sets(*must))


def test_cards_dealt_one_by_one_to_many_places_are_counted_and_drawn_as_enumeration_says():
    some = 0
    for seed in range(200):
        problem = crowded_problem_of(seed)
        deals = enumerated(problem)
        assert deal_count(*problem) == len(deals), problem
        chances, expected = np.full((len(problem.sizes), DECK), np.nan), np.zeros((len(problem.sizes), DECK))
        assert chances_of(*problem, chances) == bool(deals)
        for deal in deals:
            for place, hand in enumerate(deal):
                expected[place, listed(hand)] += 1 / len(deals)
        np.testing.assert_allclose(chances, expected, rtol=0, atol=1e-9, err_msg=str(problem))
        if 2 <= len(deals) <= 300:
            some += 1
            assert some > 30 or are_even(problem, deals, seed), problem
    assert some > 30


@rule
def chances_of(cards, sizes, banned, groups, must, chances):
    return deal_chances(cards, sizes, banned, groups, must, chances)


def test_chances_are_those_of_enumeration():
    for seed in range(70_000, 70_300):
        problem = problem_of(seed, most_cards=7)
        deals, chances = enumerated(problem), np.full((len(problem.sizes), DECK), np.nan)
        assert chances_of(*problem, chances) == bool(deals)
        expected = np.zeros_like(chances)
        for deal in deals:
            for place, hand in enumerate(deal):
                expected[place, listed(hand)] += 1 / len(deals)
        np.testing.assert_allclose(chances, expected, rtol=0, atol=1e-9, err_msg=str(problem))


def solvable(first_seed, number, most_cards=7):
    """Problems with their deals, of which there are 2 to 400."""
    seed = first_seed
    while number > 0:
        problem = problem_of(seed, most_cards)
        deals = enumerated(problem)
        if 2 <= len(deals) <= 400:
            yield seed, problem, deals
            number -= 1
        seed += 1


def test_every_deal_is_drawn_as_often_as_the_others():
    for seed, problem, deals in solvable(50_000, 80):
        assert are_even(problem, deals, seed), problem


def padded(problem):
    """The same problem with 40 cards more, which can lie in one place only: too many deals for int64 without bans."""
    places = len(problem.sizes)
    banned = problem.banned.copy()
    for card in range(DECK, DECK + 40):
        banned |= sets(*[0 if place == card % places else 1 << card for place in range(places)])
    sizes = problem.sizes + np.bincount(np.arange(DECK, DECK + 40) % places, minlength=places)
    cards = problem.cards | ((1 << 40) - 1) << DECK
    return problem._replace(cards=cards, sizes=sizes.astype(np.int64), banned=banned)


def test_deals_too_many_for_int64_are_drawn_evenly_too():
    tried = 0
    for seed, problem, small_deals in solvable(70_000, 40):
        large = padded(problem)
        if (
            dealing.unrestricted_count(int(large.cards).bit_count(), large.sizes, dealing.ROUGH_BINOMIALS)
            <= dealing.EXACT
        ):
            continue
        more = [large.cards & ~((1 << DECK) - 1) & ~int(banned) for banned in large.banned]
        deals = [tuple(hand | pad for hand, pad in zip(deal, more, strict=True)) for deal in small_deals]
        assert deal_count(*large) == len(deals)
        assert are_even(large, deals, seed), problem
        tried += 1
    assert tried > 20


# Hearts in the middle: seat 1 has no clubs, seat 2 no hearts, seat 3 neither spades nor the queen of hearts.
CLUBS, HEARTS, SPADES = (sum(1 << 4 * rank + suit for rank in range(13)) for suit in (0, 2, 3))
NONE = sets()
MIDDLE = Problem((1 << 39) - 1 << 13, sets(13, 13, 13), sets(CLUBS, HEARTS, SPADES | 1 << 42), NONE, NONE)
LARGE = [
    MIDDLE,
    MIDDLE._replace(groups=sets(CLUBS, SPADES & (1 << 30) - 1), must=sets(2, 3, 1)),
    MIDDLE._replace(sizes=sets(3, 0, 13, 5, 2, 16), banned=sets(CLUBS, 0, HEARTS, SPADES, 0, 1 << 50), must=NONE),
]


@pytest.mark.parametrize("problem", LARGE, ids=["bans", "obligations", "six places"])
def test_in_large_problems_each_card_lies_in_each_place_as_often_as_counting_says(problem):
    if len(problem.groups):
        problem = problem._replace(must=sets(2, 3, 1))
    n, total = 20_000 if len(problem.sizes) == 3 else 1000, deal_count(*problem)
    drawn = drawn_from(problem, 3, n)
    for place in range(len(problem.sizes)):
        for card in listed(problem.cards):
            elsewhere = problem.banned | np.where(np.arange(len(problem.sizes)) == place, 0, 1 << card)
            p = deal_count(*problem._replace(banned=elsewhere)) / total if problem.sizes[place] else 0.0
            share = (drawn[:, place] >> card & 1).mean()
            assert abs(share - p) <= 5 * np.sqrt(p * (1 - p) / n) + 1e-12, (place, card)


IMPOSSIBLE = {
    "more cards than places for them": Problem(7, sets(1, 1), sets(0, 0), NONE, NONE),
    "fewer cards than places for them": Problem(1, sets(1, 1), sets(0, 0), NONE, NONE),
    "a size below 0": Problem(1, sets(2, -1), sets(0, 0), NONE, NONE),
    "a card that is banned everywhere": Problem(3, sets(1, 1), sets(1, 1), NONE, NONE),
    "two cards for one place": Problem(3, sets(1, 1), sets(3, 0), NONE, NONE),
    "an obligation without a card": Problem(3, sets(1, 1), sets(0, 0), sets(4), sets(1, 0)),
    "one card for two obligations": Problem(3, sets(1, 1), sets(0, 0), sets(1, 2), sets(1, 1)),
    "an obligation without room": Problem(3, sets(2, 0), sets(0, 0), sets(1), sets(0, 1)),
}


@pytest.mark.parametrize("problem", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_if_no_deal_fits_nothing_is_dealt_and_the_rule_says_so(problem):
    dealt = np.full(len(problem.sizes), 5, np.int64)
    assert not deal_obliged(*problem, dealt, stream_of(1))
    assert dealt.tolist() == [0] * len(problem.sizes)
    assert deal_count(*problem) == 0


@pytest.mark.parametrize("function", [deal_count, deal_obliged])
def test_places_that_are_too_many_to_count_deals_are_refused(function):
    many = Problem((1 << 32) - 1, sets(*[1] * 32), sets(1, *[0] * 31), NONE, NONE)
    more = (np.zeros(32, np.int64), stream_of(1)) if function is deal_obliged else ()
    with pytest.raises(CardaiError, match="where cards are banned, the sizes of places have at most 62"):
        function(*many, *more)
    fewer = many._replace(cards=(1 << 31) - 1, sizes=sets(*[1] * 31), banned=sets(1, *[0] * 30))
    assert deal_obliged(*fewer, np.zeros(31, np.int64), stream_of(1)) if function is deal_obliged else True


def hearts_hands(seed):
    """Four hands of 13 cards, and cards that they truly lack, and some that all know."""
    chance = np.random.default_rng(seed)
    hands = [sum(1 << int(card) for card in part) for part in np.split(chance.permutation(52), 4)]
    lacks = [int(chance.integers(1 << 52)) & ~hand & int(chance.integers(1 << 52)) for hand in hands]
    known = [hand & int(chance.integers(1 << 52)) & int(chance.integers(1 << 52)) for hand in hands]
    return sets(*hands), sets(*known), sets(*lacks)


@pytest.mark.parametrize("seat", range(4))
def test_redeal_keeps_what_the_seat_knows_and_depends_on_nothing_else(seat):
    for seed in range(40):
        truth, known, lacks = hearts_hands(seed)
        world = truth.copy()
        assert redeal(world, known, lacks, seat, stream_of(seed))
        assert world[seat] == truth[seat]
        assert [hand.bit_count() for hand in world.tolist()] == [13] * 4
        assert np.bitwise_or.reduce(world) == (1 << 52) - 1
        assert (known & ~world == 0).all()
        assert [int(hand & lack) for hand, lack in zip(world, lacks, strict=True)] == [0] * 4
        assert world.tolist() != truth.tolist()
        again, from_world = truth.copy(), world.copy()
        redeal(again, known, lacks, seat, stream_of(seed + 1000))
        redeal(from_world, known, lacks, seat, stream_of(seed + 1000))
        assert again.tolist() == from_world.tolist()


def test_redeal_leaves_hidden_cards_nowhere_if_lacks_excludes_the_truth():
    hands = sets(0b11, 0b1100, 0b110000)
    assert not redeal(hands, sets(0, 0b100, 0), sets(0, 0b1000, 0b1000), 0, stream_of(1))
    assert hands.tolist() == [0b11, 0b100, 0]


SAMPLE = """
import numpy as np
from test_dealing import LARGE, drawn_from, padded, problem_of
from cardai.rules.dealing import deal_count
for problem in [*(problem_of(seed) for seed in range(200)), *LARGE[:1], padded(problem_of(2))]:
    deals = float(deal_count(*problem))
    print(deals, drawn_from(problem, 7, 3).tolist() if deals else "")
"""


@pytest.mark.skipif(not JIT, reason="compares compiled code with plain Python")
def test_plain_python_deals_what_compiled_code_deals():
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SAMPLE],
            env=os.environ | {"CARDAI_JIT": jit, "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for jit in "01"
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("[[") > 100
