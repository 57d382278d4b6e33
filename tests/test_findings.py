"""Verdicts on claims: what is reproduced, beaten, missed or undecided, and what is shown of a figure."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from cardai.experiments.machinery.findings import (
    BEATEN,
    MISSED,
    REPRODUCED,
    UNDECIDED,
    Claim,
    Finding,
    Measurement,
    difference,
    direction,
    of_estimate,
    over_seeds,
    verdict,
)
from cardai.experiments.machinery.words import carried, is_open, listed, shown, size_of, worded
from cardai.stats.interval import wilson


@pytest.mark.parametrize(
    ("point", "half", "claim", "expected"),
    [
        (14.0, 0.5, Claim(14.25, games=2000), REPRODUCED),
        (16.5, 0.5, Claim(14.25, games=2000), MISSED),
        (12.0, 0.5, Claim(14.25, games=2000), BEATEN),
        (16.0, 0.5, Claim(14.25), MISSED),  # a claim without games is exact
        (15.0, 5.0, Claim(14.25, games=2000), UNDECIDED),  # it could be anything that matters
        (99.0, 0.2, Claim(92.0, better="higher"), BEATEN),
        (90.0, 0.2, Claim(92.0, better="higher"), MISSED),
        (12.0, 0.5, Claim(14.25, better="neither"), MISSED),
        (16.5, 0.5, Claim(14.25, better="neither"), MISSED),
        (3.0, 1.0, direction("higher", "better"), REPRODUCED),
        (-3.0, 1.0, direction("higher", "better"), MISSED),
        (0.5, 1.0, direction("higher", "better"), UNDECIDED),
        (-3.0, 1.0, direction("lower", "less"), REPRODUCED),
        (0.5, 1.0, direction("neither", "no better"), REPRODUCED),
        (0.5, 4.0, direction("neither", "no better"), UNDECIDED),
        (3.0, 1.0, direction("neither", "no better"), MISSED),
    ],
)
def test_a_verdict_follows_from_the_interval_of_the_difference(point, half, claim, expected):
    assert verdict(Measurement(point, point - half, point + half, 1000), claim) == expected


def test_without_an_interval_nothing_is_decided_and_without_a_claim_nothing_is_said():
    assert verdict(Measurement(14.0, n=5), Claim(14.25)) == UNDECIDED
    assert verdict(Measurement(None), Claim(14.25)) == UNDECIDED
    assert verdict(Measurement(14.0, 13.0, 15.0, 100), None) == ""


def test_the_error_of_the_claim_counts():
    figure = Measurement(15.0, 14.6, 15.4, 20_000)
    assert verdict(figure, Claim(14.25)) == MISSED
    assert verdict(figure, Claim(14.25, games=2000)) == REPRODUCED
    low, high = Claim(14.25, games=2000).bounds()
    assert (low, high) == pytest.approx([100 * bound for bound in wilson(285, 2000)])


@given(st.floats(5, 95), st.floats(0.1, 5), st.floats(5, 95))
def test_lower_and_higher_are_mirror_images(point, half, value):
    figure, turned = (
        Measurement(point, point - half, point + half, 9),
        Measurement(-point, -point - half, -point + half, 9),
    )
    assert verdict(figure, Claim(value)) == verdict(turned, Claim(-value, better="higher"))


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


def test_a_row_as_json_has_its_verdict():
    row = Finding("lost", "NN2", "B1", Measurement(14.0, 13.5, 14.5, 20_000), Claim(14.25, games=2000)).as_json()
    assert row["verdict"] == REPRODUCED
    assert row["claim"]["games"] == 2000
    assert row["figure"] == {"point": 14.0, "low": 13.5, "high": 14.5, "n": 20_000, "counted": "games"}


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
    assert [listed(names) for names in ([], ["2"], ["2", "3"], ["2", "3", "8"])] == [
        "none",
        "2",
        "2 and 3",
        "2, 3 and 8",
    ]


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
