"""Verdicts on claims: what is reproduced, better, missed, undecided or undecidable, and what would decide it."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardai.experiments.machinery.findings import Claim, Measurement, direction
from cardai.experiments.machinery.verdicts import (
    BETTER,
    MISSED,
    REPRODUCED,
    UNDECIDABLE,
    UNDECIDED,
    Verdict,
    judge,
    judged,
)
from cardai.playing.stats.interval import wilson


def around(point, half, n=1000, counted="games"):
    return Measurement(point, point - half, point + half, n, counted)


def verdict(figure, claim):
    (found,) = judge([(figure, claim)])
    return found.verdict


def test_where_no_difference_is_seen_at_all_no_number_of_games_is_named():
    """It would have 33 digits here, more than a result may hold."""
    assert judge([(around(9e-16, 15.9, 2, "repeats"), direction("higher", "better"))]) == [Verdict(UNDECIDED)]


@pytest.mark.parametrize(
    ("point", "half", "claim", "expected"),
    [
        (14.0, 0.5, Claim(14.25, games=2000), REPRODUCED),
        (15.0, 0.5, Claim(14.25), REPRODUCED),  # different, but by less than matters
        (16.5, 0.5, Claim(14.25), MISSED),  # a claim without games is exact
        (16.5, 0.5, Claim(14.25, games=2000), MISSED),
        (12.0, 0.5, Claim(14.25, games=2000), BETTER),
        (15.0, 5.0, Claim(14.25, games=2000), UNDECIDED),  # it could be anything that matters
        (15.6, 0.5, Claim(14.25, games=2000), UNDECIDABLE),
        (99.0, 0.2, Claim(92.0, better="higher"), BETTER),
        (89.0, 0.2, Claim(92.0, better="higher"), MISSED),
        (11.0, 0.5, Claim(14.25, better="neither"), MISSED),
        (17.5, 0.5, Claim(14.25, better="neither"), MISSED),
        (3.0, 1.0, direction("higher", "better"), REPRODUCED),
        (-3.0, 1.0, direction("higher", "better"), MISSED),
        (0.5, 1.0, direction("higher", "better"), UNDECIDED),
        (-3.0, 1.0, direction("lower", "less"), REPRODUCED),
        (0.5, 1.0, direction("neither", "no better"), REPRODUCED),
        (0.5, 4.0, direction("neither", "no better"), UNDECIDED),
        (4.0, 1.0, direction("neither", "no better"), MISSED),
    ],
)
def test_a_verdict_follows_from_the_interval_of_the_difference(point, half, claim, expected):
    assert verdict(around(point, half), claim) == expected


def test_without_an_interval_nothing_is_decided():
    assert verdict(Measurement(14.0, n=5), Claim(14.25)) == UNDECIDED
    assert judge([(Measurement(None), Claim(14.25))]) == [Verdict(UNDECIDED)]


def test_the_error_of_the_claim_counts():
    figure = Measurement(17.0, 16.6, 17.4, 20_000)
    assert verdict(figure, Claim(14.25, within=1.0)) == MISSED
    assert verdict(figure, Claim(14.25, games=200, within=1.0)) == UNDECIDABLE
    source = Claim(14.25, games=2000).measured(figure)
    assert (source.low, source.high) == pytest.approx([100 * bound for bound in wilson(285, 2000)])


def test_a_mean_has_the_error_that_ours_would_have_from_as_many_games():
    figure = around(6.0, 0.1, n=4000)
    source = Claim(6.3, games=1000, is_mean=True).measured(figure)
    assert (source.low, source.high) == pytest.approx((6.1, 6.5))
    spread = around(80.0, 2.0, n=9, counted="networks")
    source = Claim(65.0, games=1, is_mean=True).measured(spread)  # of one network
    assert (source.low, source.high) == pytest.approx((59.0, 71.0))


@given(st.floats(5, 95), st.floats(0.1, 5), st.floats(5, 95))
def test_lower_and_higher_are_mirror_images(point, half, value):
    assert verdict(around(point, half), Claim(value)) == verdict(around(-point, half), Claim(-value, better="higher"))


def row(table, name, column, figure, claim):
    return {
        "table": table, "name": name, "column": column, "figure": asdict(figure), "claim": claim and asdict(claim)
    }  # fmt: skip


def test_figures_of_a_line_are_tested_together_and_other_lines_by_themselves():
    claim = Claim(25.0, within=0.5)
    just = around(26.0, 0.9)  # alone it differs: 1.0 by 0.9
    alone = judged(
        [row("T", "A", "B1", just, claim), row("T", "B", "B1", just, claim), row("U", "A", "B1", just, claim)]
    )
    assert [found["verdict"] for found in alone] == [MISSED] * 3
    line = judged([row("T", "A", column, just, claim) for column in ("B1", "B2", "B3")])
    assert [found["verdict"] for found in line] == [UNDECIDED] * 3
    clear = judged([row("T", "A", "B1", just, claim), row("T", "A", "B2", around(35.0, 0.9), claim)])
    assert [found["verdict"] for found in clear] == [MISSED, MISSED]  # Holm: the clear one leaves the other alone


def test_among_twenty_true_claims_a_difference_is_found_in_one_line_of_twenty_at_most():
    stream = np.random.default_rng(1)
    found = 0
    for _ in range(2000):
        line = [(around(float(point), 1.96), Claim(0.0, within=0.01)) for point in stream.normal(size=20)]
        found += any(one.verdict in (BETTER, MISSED) for one in judge(line))
    assert found / 2000 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)
    assert found / 2000 > 0.03


def test_few_networks_have_students_tails():
    """Three networks whose interval just excludes 0 differ alone, but not as one of two: their tail is heavy."""
    claim = direction("higher", "better")
    few, many = around(1.0, 0.9, n=3, counted="networks"), around(1.0, 0.9)
    assert verdict(few, claim) == verdict(many, claim) == REPRODUCED
    few, many = around(1.0, 0.8, n=3, counted="networks"), around(1.0, 0.8)
    assert [one.verdict for one in judge([(few, claim)] * 2)] == [UNDECIDED] * 2
    assert [one.verdict for one in judge([(many, claim)] * 2)] == [REPRODUCED] * 2


@given(st.floats(-0.99, 0.99), st.floats(1.05, 5), st.sampled_from([0, 500, 2000, 20_000]), st.floats(0.5, 4))
def test_what_is_said_to_decide_an_open_claim_decides_it_and_else_no_number_of_games_does(share, times, games, within):
    """Intervals that contain the claim, and are wider than the margin."""
    half, claim = times * within, Claim(14.25, games=games, within=within)
    figure = around(14.25 + share * half, half)
    (found,) = judge([(figure, claim)])

    def with_games(n):
        return verdict(replace(around(figure.point, half * math.sqrt(figure.n / n)), n=n), claim)

    if found.needed is None:
        assert found.verdict == UNDECIDABLE
        assert with_games(10**9) == UNDECIDABLE
    else:
        assert found.verdict == UNDECIDED
        assert found.needed >= figure.n
        assert with_games(found.needed * 1.02 + 1) in (REPRODUCED, BETTER, MISSED)
        if found.needed > 1.1 * figure.n:
            assert with_games(found.needed * 0.95) == UNDECIDED


def test_judging_again_replaces_verdicts_and_leaves_rows_without_a_claim():
    rows = [row("T", "A", "B1", around(14.0, 0.5), Claim(14.25)), row("T", "A", "B2", around(3.0, 0.5), None)]
    once = judged(rows)
    assert [found["verdict"] for found in once] == [REPRODUCED, ""]
    assert judged([{**found, "verdict": "wrong", "needed": 7} for found in once]) == once
