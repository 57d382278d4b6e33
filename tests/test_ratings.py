"""Ratings: they maximise their likelihood, intervals cover the truth, and bounds are infinite where games set none."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cardai.errors import CardaiError
from cardai.playing.stats import ratings
from cardai.playing.stats.ratings import ELO, choices, fit, picks_last, rate

NAMES = "abcdefgh"


@pytest.fixture
def few_resamples(monkeypatch):
    monkeypatch.setattr(ratings, "RESAMPLES", 200)


def fitted(lineups, keys, players, virtual=1.0):
    lineups, keys = np.array(lineups), np.array(keys, float)
    return fit(choices(lineups, keys, np.arange(len(keys)), players), virtual)


def losers(rng, strengths, lineups):
    """Scores of games that one player loses, with the odds of the model: f8[G, seats]."""
    scores = np.ones(lineups.shape)
    for game, lineup in enumerate(lineups):
        odds = np.exp(-strengths[lineup])
        scores[game, rng.choice(len(lineup), p=odds / odds.sum())] = 0.0
    return scores


def line_ups(rng, players, seats, count):
    return np.array([rng.choice(players, seats, replace=False) for _ in range(count)])


def one_a_deal(lineups, scores):
    return np.asarray(lineups)[:, None], np.asarray(scores, float)[:, None]


def likeliest(lineups, scores, players, virtual):
    """The oracle: the same likelihood, written game by game and maximised by scipy."""

    def minus_likelihood(strengths):
        total = -virtual * np.sum(strengths / 2 - np.logaddexp(0, strengths))
        for lineup, score in zip(lineups, scores, strict=True):
            groups = [[lineup[i] for i in np.flatnonzero(score == one)] for one in sorted(set(score), reverse=True)]
            if len(groups) == 1:
                groups = [groups[0], []]
            for i, group in enumerate(groups[:-1]):
                there = [player for one in groups[i:] for player in one]
                lot = math.log(sum(math.exp(strengths[player]) for player in there))
                total -= np.mean([strengths[player] for player in group]) - lot
        return total

    return minimize(minus_likelihood, np.zeros(players), tol=1e-10).x


@pytest.mark.parametrize(("wins", "losses"), [(30, 10), (1, 1), (1, 500), (499, 1)])
def test_two_players_have_the_closed_form(wins, losses):
    strengths = fitted([[0, 1]] * (wins + losses), [[1, 0]] * wins + [[0, 1]] * losses, 2, virtual=1e-9)
    assert ELO * (strengths[0] - strengths[1]) == pytest.approx(400 * math.log10(wins / losses), abs=1e-4)


def test_a_draw_is_half_a_win_each():
    drawn = fitted([[0, 1]] * 6, [[1, 0]] * 3 + [[0, 1]] + [[0.5, 0.5]] * 2, 2)
    won = fitted([[0, 1]] * 6, [[1, 0]] * 4 + [[0, 1]] * 2, 2)
    assert drawn == pytest.approx(won)


@pytest.mark.parametrize("kind", ["rankings", "ties", "winners", "twice at a table"])
def test_the_fit_is_the_maximum_that_scipy_finds(kind):
    rng = np.random.default_rng(1)
    lineups = line_ups(rng, 5, 4, 60)
    if kind == "twice at a table":
        lineups = rng.integers(5, size=(60, 4))
    scores = np.argsort(rng.random((60, 4)) + 0.3 * lineups, axis=1).argsort(axis=1) / 3
    if kind == "ties":
        scores = np.round(scores * rng.random((60, 1)))
    if kind == "winners":
        scores = (scores == 1.0).astype(float)
    for virtual in (1.0, 5.0):
        oracle = likeliest(lineups.tolist(), scores, 5, virtual)
        assert fitted(lineups, scores, 5, virtual) == pytest.approx(oracle, abs=1e-4)


def test_games_with_one_loser_are_read_from_the_end():
    rng = np.random.default_rng(2)
    lineups = line_ups(rng, 5, 4, 80)
    scores = losers(rng, np.linspace(0, 2, 5), lineups)
    found = rate(*one_a_deal(lineups, scores), NAMES[:5], "a")
    oracle = -likeliest(lineups.tolist(), -scores, 5, 1.0)
    assert found.picked == "last"
    assert [one.point for one in found.figures] == pytest.approx(ELO * (oracle - oracle[0]), abs=0.1)


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_every_choice_is_among_players_not_placed_yet(keys):
    keys = np.array(keys)
    found = choices(np.tile(np.arange(3), (len(keys), 1)), keys, np.arange(len(keys)), 3)
    expected = [max(len(set(row)) - 1, 1) for row in keys.tolist()]  # the class left over is no choice, but in a draw
    assert np.bincount(found.deals, found.counts).tolist() == expected
    assert found.chosen.sum(axis=1) == pytest.approx(expected)
    assert found.members[found.sets].max() == 1


def test_the_end_with_fewer_ties_is_read():
    assert picks_last(np.array([[0.0, 1, 1, 1]]))
    assert not picks_last(np.array([[1.0, 0, 0, 0]]))
    assert not picks_last(np.array([[0.0, 1], [0.5, 0.5]]))
    assert not picks_last(np.array([[0.0, 1 / 3, 2 / 3, 1]]))


def test_intervals_contain_the_truth_about_as_often_as_they_say(few_resamples):
    strengths, hits = np.array([0.0, 0.5, 1.0]), 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        lineups = line_ups(rng, 3, 2, 150)
        found = rate(*one_a_deal(lineups, losers(rng, strengths, lineups)), NAMES[:3], "a", seed).figures
        hits += found[2].contains(ELO * 1.0)
    assert 0.88 <= hits / 100 <= 0.99


def test_the_deal_is_the_cluster(few_resamples):
    rng = np.random.default_rng(5)
    lineups = line_ups(rng, 3, 2, 200)
    scores = losers(rng, np.array([0.0, 0.5, 1.0]), lineups)
    alike = np.repeat(lineups[:, None], 8, axis=1), np.repeat(scores[:, None], 8, axis=1)
    apart = np.repeat(lineups, 8, axis=0)[:, None], np.repeat(scores, 8, axis=0)[:, None]
    once, eight, wrong = (
        rate(*games, NAMES[:3], "a").figures[2] for games in (one_a_deal(lineups, scores), alike, apart)
    )
    width = {"once": once.high - once.low, "eight": eight.high - eight.low, "wrong": wrong.high - wrong.low}
    assert width["eight"] == pytest.approx(width["once"], rel=0.15)  # the prior weighs less, no more
    assert width["wrong"] < width["once"] / 2
    assert (eight.n, eight.deals) == (8 * once.n, once.deals)


def test_a_player_without_a_loss_has_no_upper_bound_and_one_without_a_win_no_lower(few_resamples):
    pairs = [(0, 1), (1, 0), (2, 0), (2, 1), (0, 3), (1, 3)] * 10
    anchor, other, best, worst = rate(*one_a_deal(pairs, [[1, 0]] * len(pairs)), NAMES[:4], "a").figures
    assert (anchor.point, anchor.low, anchor.high) == (0, 0, 0)
    assert np.isfinite([other.low, other.high]).all()
    assert best.high == math.inf
    assert np.isfinite([best.point, best.low]).all()
    assert best.point > 300
    assert worst.low == -math.inf
    assert worst.point < -300
    many = rate(*one_a_deal(pairs * 10, [[1, 0]] * (10 * len(pairs))), NAMES[:4], "a").figures
    assert many[2].point > best.point + 200  # the prior holds it, and the games pull


def test_a_group_that_always_beats_another_has_no_upper_bound(few_resamples):
    within = [(0, 1), (1, 0), (2, 3), (3, 2)]
    between = list(itertools.product((2, 3), (0, 1)))
    found = rate(*one_a_deal((within + between) * 5, [[1, 0]] * 40), NAMES[:4], "a").figures
    assert [one.high == math.inf for one in found] == [False, False, True, True]
    assert all(one.low > -math.inf for one in found)
    tied = [[1, 0]] * 39 + [[0.5, 0.5]]
    assert all(one.high < math.inf for one in rate(*one_a_deal((within + between) * 5, tied), NAMES[:4], "a").figures)


def test_a_player_who_never_comes_last_has_no_upper_bound(few_resamples):
    rng = np.random.default_rng(6)
    lineups = line_ups(rng, 5, 4, 200)
    scores = losers(rng, np.array([0.0, 0.3, 0.6, 0.9, 50.0]), lineups)
    found = rate(*one_a_deal(lineups, scores), NAMES[:5], "a").figures
    assert [one.high == math.inf for one in found] == [False] * 4 + [True]
    assert found[4].point == max(one.point for one in found)


def test_players_who_have_not_met_are_refused():
    with pytest.raises(CardaiError, match="a, b never met c, d"):
        rate(*one_a_deal([(0, 1), (2, 3)], [[1, 0], [0, 1]]), NAMES[:4])
    with pytest.raises(CardaiError, match="a, b never met c"):
        rate(*one_a_deal([(0, 1), (1, 2)], [[1, 0], [np.nan, np.nan]]), NAMES[:3])


def test_games_that_were_not_played_count_in_no_rating():
    lineups, scores = one_a_deal([(0, 1)] * 3, [[1, 0], [np.nan, np.nan], [0, 1]])
    found = rate(lineups, scores, NAMES[:2], "a")
    assert found == rate(lineups[[0, 2]], scores[[0, 2]], NAMES[:2], "a")
    assert found.figures[1].n == 2


def test_without_an_anchor_the_mean_is_zero(few_resamples):
    found = rate(*one_a_deal([(0, 1), (1, 2), (0, 2), (2, 0)] * 5, [[1, 0]] * 20), NAMES[:3]).figures
    assert sum(one.point for one in found) == pytest.approx(0)


def test_one_deal_has_no_interval():
    _, other = rate(*one_a_deal([(0, 1)], [[0.5, 0.5]]), NAMES[:2], "a").figures
    assert other.point == pytest.approx(0)
    assert math.isnan(other.low)
    assert math.isnan(other.high)
