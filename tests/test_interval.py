import math

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as student

from cardai.playing.stats import by_deal, interval
from cardai.playing.stats.by_deal import DealSums
from cardai.playing.stats.interval import Estimate


def clustered(rng, deals, games, p, correlation):
    """Outcomes f8[deals, games] with mean p; those of a deal have the given correlation (beta-binomial)."""
    if correlation == 0:
        return (rng.random((deals, games)) < p).astype(float)
    a, b = p * (1 - correlation) / correlation, (1 - p) * (1 - correlation) / correlation
    return (rng.random((deals, games)) < rng.beta(a, b, (deals, 1))).astype(float)


@pytest.mark.parametrize(("successes", "n"), [(0, 20), (1, 20), (285, 2000), (7, 7), (1, 2), (0, 20_000)])
def test_wilson_agrees_with_scipy(successes, n):
    expected = binomtest(successes, n).proportion_ci(method="wilson")
    assert interval.wilson(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_one_game_a_deal_is_plain_wilson():
    outcomes = np.array([1.0] * 3 + [0.0] * 9)
    found, expected = interval.proportion(outcomes), binomtest(3, 12).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.n, found.deals, found.design_effect) == (12, 12, 1.0)


def test_the_design_effect_of_known_correlation_is_estimated():
    outcomes = clustered(np.random.default_rng(1), 20_000, 4, 0.3, 0.4)
    assert interval.design_effect(outcomes) == pytest.approx(1 + 3 * 0.4, abs=0.05)
    assert interval.design_effect(np.repeat(outcomes[:, :1], 4, axis=1)) == pytest.approx(4, abs=1e-3)


def test_the_design_effect_is_at_least_1_when_seats_share_one_loss():
    assert interval.design_effect(np.eye(4)) == 1.0


def test_a_single_deal_counts_as_one_game():
    found = interval.proportion(np.array([[1.0, 0.0, 1.0, 0.0]]))
    assert found.design_effect == 4
    assert found.high - found.low > 0.9


@pytest.mark.parametrize("p", [0.02, 0.14, 0.5])
@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("deals", [30, 500])
def test_the_interval_of_clustered_games_covers(p, correlation, deals):
    rng = np.random.default_rng(7)
    found = [interval.proportion(clustered(rng, deals, 4, p, correlation)) for _ in range(400)]
    covered = sum(one.contains(p) for one in found) / len(found)
    assert covered > 0.92
    assert covered < 0.995


def test_few_deals_widen_as_students_t_does():
    for deals in (6, 10, 30):
        assert 1.959964 / math.sqrt(interval._few_deals(deals, 0.95)) == pytest.approx(
            student.ppf(0.975, deals - 1), rel=0.01
        )


def test_games_not_played_are_left_out():
    outcomes = np.array([[1.0, 0.0], [1.0, np.nan], [np.nan, np.nan], [0.0, 0.0]])
    found = interval.proportion(outcomes)
    assert (found.point, found.n, found.deals) == (0.4, 5, 3)
    assert interval.mean(outcomes).point == 0.4
    nothing = interval.estimate(np.full((3, 2), np.nan))
    assert nothing.n == 0
    assert str(nothing) == "-"


def test_the_bootstrap_covers_means_of_clustered_games():
    rng, hits = np.random.default_rng(3), 0
    for repeat in range(200):
        outcomes = np.clip(0.5 + 0.2 * rng.standard_normal((60, 1)) + 0.1 * rng.standard_normal((60, 4)), 0, 1)
        hits += interval.mean(outcomes, seed=repeat).contains(0.5)
    assert 0.9 < hits / 200 < 0.99


def test_the_bootstrap_repeats_for_a_seed():
    outcomes = np.random.default_rng(0).random((50, 2))
    assert interval.mean(outcomes, seed=5) == interval.mean(outcomes, seed=5)
    assert interval.mean(outcomes, seed=5) != interval.mean(outcomes, seed=6)


def test_estimate_takes_wilson_for_zeros_and_ones_only():
    outcomes = np.array([[0.0, 1.0]] * 20)
    assert interval.estimate(outcomes) == interval.proportion(outcomes)
    drawn = np.where(np.arange(20)[:, None] % 2 == 0, outcomes, 0.5)
    assert interval.estimate(drawn) == interval.mean(drawn)


def test_verdicts_of_a_clear_difference_turn_with_the_direction():
    rng = np.random.default_rng(0)
    often, seldom = clustered(rng, 500, 4, 0.4, 0.1), clustered(rng, 500, 4, 0.2, 0.1)
    assert interval.compare(often, seldom).verdict == "better"
    assert interval.compare(seldom, often).verdict == "worse"
    assert interval.compare(often, seldom, lower_is_better=True).verdict == "worse"
    assert interval.compare(0.5 * often, 0.5 * seldom).verdict == "better"
    assert interval.compare(often, seldom).difference.point == pytest.approx(0.2, abs=0.03)


def test_an_agent_is_undecided_against_itself():
    outcomes = clustered(np.random.default_rng(0), 500, 4, 0.3, 0.2)
    for one in (outcomes, 0.5 * outcomes):
        assert interval.compare(one, one).verdict == "undecided"


def test_no_verdict_on_few_deals():
    won, lost = np.ones((9, 4)), np.zeros((9, 4))
    assert interval.compare(won, lost).verdict == "undecided"
    assert interval.compare(np.ones((30, 4)), np.zeros((30, 4))).verdict == "better"


def test_four_rare_losses_against_none_are_undecided():
    none, few = np.zeros((5000, 4)), np.zeros((5000, 4))
    few[[10, 500, 900, 4000], 1] = 1
    assert interval.compare(none, few, lower_is_better=True).verdict == "undecided"
    few[1000:1100, 2] = 1
    assert interval.compare(none, few, lower_is_better=True).verdict == "better"


def test_pairing_by_deal_sharpens_a_comparison():
    rng = np.random.default_rng(2)
    luck = rng.random((800, 1))
    one = (luck < 0.30).astype(float) * np.ones((1, 4))
    other = (luck < 0.26).astype(float) * np.ones((1, 4))
    assert interval.compare(one, other).verdict == "better"
    assert interval.compare(one, rng.permutation(other)).verdict == "undecided"


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_interval_of_a_paired_difference_covers(scale):
    rng, hits = np.random.default_rng(11), 0
    for repeat in range(300):
        luck = rng.standard_normal((200, 1))
        one = (luck + rng.standard_normal((200, 3)) < -0.8).astype(float)
        other = (luck + rng.standard_normal((200, 3)) < -0.8).astype(float)
        hits += interval.compare(scale * one, scale * other, seed=repeat).difference.contains(0.0)
    assert 0.92 < hits / 300 < 0.99


def test_comparing_different_deals_is_refused():
    with pytest.raises(ValueError, match="3 and 4 deals"):
        interval.compare(np.zeros((3, 2)), np.zeros((4, 2)))


def test_an_exact_claim_agrees_inside_the_interval():
    figure = Estimate(0.25, 0.24, 0.26, 7000, 1750)
    assert interval.agreement(figure, 0.2599) == "agrees"
    assert interval.agreement(figure, 0.2601) == "lower"
    assert interval.agreement(figure, 0.2399) == "higher"


def test_a_claim_of_few_games_has_an_interval_too():
    figure = Estimate(0.25, 0.24, 0.26, 7000, 1750)
    assert interval.agreement(figure, 0.27, 2000) == "agrees"
    assert interval.agreement(figure, 0.27, 200_000) == "lower"


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(25.21, 24.63, 25.84, 9, 9), "25.2 (24.6-25.8)"),
        (Estimate(0.0, 0.0, 0.019, 9, 9), "0.00 (0.00-0.02)"),
        (Estimate(-2.41, -5.28, -0.013, 9, 9), "-2.41 (-5.28 to -0.01)"),
        (Estimate(50.0, math.nan, math.nan, 1, 1), "50.0 (no interval)"),
    ],
)
def test_an_estimate_is_written_with_its_interval(estimate, text):
    assert str(estimate) == text


def group(rng, people, spread, heavy):
    """Outcomes of people of unequal strength, f8[people, games]: 30 % in the mean, 10 to 200 games each."""
    scale = 0.3 * 0.7 / spread**2 - 1
    strengths = rng.beta(0.3 * scale, 0.7 * scale, people)
    games = np.clip(rng.lognormal(3.2, 0.9, people), 10, 200).astype(int)
    if heavy:
        games[:] = [200] + [10] * (people - 1)
    played = np.full((people, games.max()), np.nan)
    for row, (p, n) in enumerate(zip(strengths, games, strict=True)):
        played[row, :n] = rng.random(n) < p
    return played


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize("people", [5, 7, 12])
@pytest.mark.parametrize("spread", [0.05, 0.1, 0.15])
def test_the_interval_of_people_covers_what_people_like_these_score(people, spread, heavy):
    rng = np.random.default_rng(39)
    found = [interval.of_people(group(rng, people, spread, heavy)) for _ in range(1000)]
    assert 0.93 <= sum(one.contains(0.3) for one in found) / len(found) <= (0.98 if heavy else 0.97)


@pytest.mark.slow
@pytest.mark.parametrize("heavy", [False, True], ids=["games of their own", "one plays most"])
@pytest.mark.parametrize("people", [5, 7, 12])
def test_the_interval_of_people_covers_in_ten_thousand_studies(people, heavy):
    """`pytest -m slow -s tests/test_interval.py` prints what docs/study.md quotes."""
    for spread in (0.05, 0.1, 0.15):
        rng = np.random.default_rng([39, people, heavy, round(100 * spread)])
        found = [interval.of_people(group(rng, people, spread, heavy)) for _ in range(10_000)]
        covers, width = np.mean([one.contains(0.3) for one in found]), np.median([one.high - one.low for one in found])
        print(
            f"{people} people, {100 * spread:.0f} points apart, {heavy=}: covers {100 * covers:.1f} %, {width:.2f} wide"
        )
        assert 0.93 <= covers <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("people", [2, 3, 4, 5, 7, 12, 30])
def test_few_people_say_little_of_people_of_two_kinds(people, monkeypatch):
    """Four in five lose 20 % of their games, one in five loses 70 %, so 30 % in the mean; few meet one of the fifth."""
    monkeypatch.setattr(interval, "FEWEST_PEOPLE", 2)
    rng, found = np.random.default_rng(39), []
    for _ in range(10_000):
        loses = np.where(rng.random(people) < 0.2, 0.7, 0.2)
        found.append(interval.of_people((rng.random((people, 37)) < loses[:, None]).astype(float)))
    covers, width = np.mean([one.contains(0.3) for one in found]), np.median([one.high - one.low for one in found])
    print(f"{people} people of two kinds: covers {100 * covers:.1f} %, {width:.2f} wide")
    assert 0.75 < covers < (0.88 if 2 < people < 10 else 0.99)
    assert width > 0.5 or people > 4


def test_people_count_once_in_any_unit_and_few_have_no_interval():
    games = np.array([[10.0, 20.0, np.nan], [40.0, np.nan, np.nan]] * 3)
    found, shares = interval.of_people(games, 0, 50), interval.of_people(games / 50)
    assert found.point == pytest.approx(27.5)
    assert (found.n, found.deals) == (9, 6)
    assert (found.low, found.high) == pytest.approx((50 * shares.low, 50 * shares.high))
    assert 0 < found.low < 27.5 < found.high < 50
    assert math.isnan(interval.of_people(games[:4], 0, 50).low)
    alike = interval.of_people(np.zeros((6, 10)))
    assert alike.low == 0 < alike.high < 0.2
    assert interval.of_people(np.zeros((0, 1))).n == 0


class Counts:
    """A stream of random numbers that draws how often rows come, and no row."""

    def __init__(self, seed):
        self.multinomial = np.random.Generator(np.random.PCG64(seed)).multinomial


def test_of_many_deals_it_is_drawn_how_often_each_outcome_comes(monkeypatch):
    """Every game of 300,000 was drawn 2,000 times, which took longer than the games."""
    outcomes = np.random.default_rng(1).choice([0.0, 0.5, 1.0], (70_000, 2), p=[0.3, 0.1, 0.6])
    monkeypatch.setattr(interval.np.random, "default_rng", Counts)
    found, spread = interval.mean(outcomes), outcomes.mean(axis=1).std() / math.sqrt(len(outcomes))
    assert (found.n, found.deals, found.point) == (140_000, 70_000, pytest.approx(outcomes.mean()))
    assert (found.low, found.high) == pytest.approx(
        (found.point - 1.96 * spread, found.point + 1.96 * spread), abs=0.1 * spread
    )


def test_few_and_many_deals_are_resampled_alike(monkeypatch):
    columns = np.random.default_rng(2).integers(0, 3, (900, 2)).astype(float)
    one_by_one = interval.resampled_means(columns, 0)
    monkeypatch.setattr(interval, "MOST_DEALS", 800)
    counted = interval.resampled_means(columns, 0)
    assert counted.mean(axis=0) == pytest.approx(one_by_one.mean(axis=0), abs=0.003)
    assert np.cov(counted.T) == pytest.approx(np.cov(one_by_one.T), abs=1e-4)
    monkeypatch.setattr(interval, "MOST_DEALS", 5)  # more different rows than that
    assert np.array_equal(interval.resampled_means(columns, 0), one_by_one)


@pytest.mark.parametrize("binary", [True, False])
def test_outcomes_that_are_summed_as_they_come_give_the_same_estimates(binary, monkeypatch):
    for module in (by_deal, interval):
        monkeypatch.setattr(module, "MOST_DEALS", 1000)
    rng, tally = np.random.default_rng(3), DealSums(2)
    one, other = rng.choice([0.0, 1.0] if binary else [0.0, 0.25, 1.0], (2, 6000, 3))
    one[rng.random(one.shape) < 0.2] = np.nan
    for first in range(0, 6000, 300):
        tally.add([one[first : first + 300], other[first : first + 300]])
    first, second = tally.of(0), tally.of(1)
    assert len(first.sums) < 1000
    for found, expected in (
        (interval.estimate(first), interval.estimate(one)),
        (interval.compare(first, second).difference, interval.compare(one, other).difference),
    ):
        assert (found.n, found.deals) == (expected.n, expected.deals)
        assert (found.point, found.low, found.high, found.design_effect) == pytest.approx(
            (expected.point, expected.low, expected.high, expected.design_effect)
        )
    assert interval.compare(first, second).verdict == interval.compare(one, other).verdict
