"""Figures: their intervals over networks, differences of two, and what is shown of them."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from cardai.experiments.machinery.findings import Measurement, difference, of_estimate, over_seeds
from cardai.experiments.machinery.words import carried, is_open, listed, shown, size_of, worded


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=40))
def test_the_interval_over_seeds_is_students(figures):
    found = over_seeds(figures)
    assert found.point == pytest.approx(np.mean(figures))
    half = reference.t.ppf(0.975, len(figures) - 1) * np.std(figures, ddof=1) / math.sqrt(len(figures))
    assert found.high - found.point == pytest.approx(half, rel=1e-3, abs=1e-9)
    assert (found.n, found.counted) == (len(figures), "networks")


def test_one_seed_has_no_interval():
    assert over_seeds([3.0]) == Measurement(3.0, n=1, counted="networks")
    assert over_seeds([]).point is None


def test_a_difference_of_independent_figures_adds_their_errors_squared():
    found = difference(Measurement(20.0, 17.0, 22.0, 400), Measurement(10.0, 9.0, 14.0, 300))
    assert (found.point, found.low, found.high, found.n) == (10.0, 5.0, pytest.approx(10 + 5**0.5), 300)
    assert difference(Measurement(20.0, n=4), Measurement(10.0, 9.0, 14.0, 300)) == Measurement(10.0, n=4)


def test_few_deals_give_no_interval():
    estimate = {"point": 0.5, "low": 0.2, "high": 0.8, "n": 36, "deals": 9}
    assert of_estimate(estimate, 100) == Measurement(50.0, None, None, 36)
    assert of_estimate(estimate | {"deals": 10}, 100) == Measurement(50.0, 20.0, 80.0, 36)


@pytest.mark.parametrize(
    ("figure", "places", "expected"),
    [
        (Measurement(16.04, 15.52, 16.48, 9), 1, "16.0 (15.5-16.5)"),
        (Measurement(0.02, 0.01, 0.04, 9), 1, "0.02 (0.01-0.04)"),
        (Measurement(-0.5, -1.0, 0.25, 9), 1, "-0.5 (-1.0 to 0.2)"),
        (Measurement(12345.6), 0, "12,346"),
        (Measurement(None), 1, "-"),
    ],
)
def test_figures_are_shown_with_as_many_places_as_they_bear(figure, places, expected):
    assert shown(figure, places) == expected


@pytest.mark.parametrize(
    ("figure", "places", "expected"),
    [
        (Measurement(12.41, 11.68, 13.1, 9), 1, "12.4 % (11.7 to 13.1)"),
        (Measurement(-0.35, -0.6, -0.1, 9), 2, "-0.35 % (-0.60 to -0.10)"),
        (Measurement(3.0, n=1), 0, "3 %"),
        (Measurement(None), 1, "not measured"),
    ],
)
def test_figures_in_sentences_have_their_unit_and_interval(figure, places, expected):
    assert worded(asdict(figure), places, " %") == expected


def test_a_difference_is_open_if_it_may_be_0_and_its_size_has_no_sign():
    assert is_open(asdict(Measurement(1.0, -0.2, 2.2, 5)))
    assert is_open(asdict(Measurement(1.0)))
    assert not is_open(asdict(Measurement(1.0, 0.2, 1.8, 5)))
    assert not is_open(asdict(Measurement(-1.0, -1.8, -0.2, 5)))
    turned = size_of(asdict(Measurement(-1.0, -1.8, -0.2, 5)))
    assert (turned["point"], turned["low"], turned["high"]) == (1.0, 0.2, 1.8)


def test_names_are_listed_as_in_a_sentence():
    assert [listed(names) for names in ([], ["2"], ["2", "3"], [*"238"])] == ["none", "2", "2 and 3", "2, 3 and 8"]


@pytest.mark.parametrize(
    ("low", "high", "most", "digits"),
    [
        (11.7, 13.1, 2, 1),  # half a width of 0.7
        (2.24, 3.53, 2, 1),
        (0.10, 0.60, 2, 2),
        (94.2, 94.5, 2, 2),
        (13, 18, 1, 1),
        (10, 18, 1, 0),
        (0.00012, 0.00018, 6, 6),
        (5.0, 5.0, 3, 3),  # exact
        (14.2, 14.3, 1, 1),  # never more than the row says
    ],
)
def test_a_figure_has_as_many_digits_as_its_interval_carries(low, high, most, digits):
    assert carried(low, high, most) == digits
