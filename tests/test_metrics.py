"""Metrics of predicted scores: what they are on known predictions, reweighted to another prior, and for draws."""

import math

import numpy as np
import pytest

from cardai.errors import CardaiError
from cardai.evaluators.training import metrics, show_training
from cardai.evaluators.training.metrics import Metrics, measure, reliability

RNG = np.random.default_rng(5)


def told(n=200_000, prior=0.75, spread=1.5):
    """Logits, and labels that come as often as they say; a world where the log odds of the prior are the mean logit."""
    logits = metrics.log_odds(prior) + spread * RNG.standard_normal(n)
    return logits, (RNG.random(n) < metrics.sigmoid(logits)).astype(np.float32)


def test_the_figures_of_a_few_predictions_by_hand():
    found = measure(np.log([3.0, 1 / 3, 3.0, 3.0]), np.array([1.0, 0.0, 0.0, 1.0]))
    assert found.n == 4
    assert found.prior == 0.5
    assert found.bce == pytest.approx((3 * -math.log(0.75) - math.log(0.25)) / 4)
    assert found.floor == pytest.approx(math.log(2))
    assert found.accuracy == 0.75
    assert found.brier == pytest.approx((3 * 0.0625 + 0.5625) / 4)
    assert found.ece == pytest.approx(0.25 * 0.25 + 0.75 * abs(0.75 - 2 / 3))


def test_honest_predictions_have_no_calibration_error_and_twice_too_bold_ones_have_one():
    logits, labels = told()
    assert measure(logits, labels).ece < 0.005
    assert measure(2 * logits, labels).ece > 0.05
    assert measure(2 * logits, labels).bce > measure(logits, labels).bce


def test_the_bins_hold_equal_weights_and_join_into_the_means():
    logits, labels = told(15_000)
    curve = reliability(logits, labels)
    assert len(curve.weight) == metrics.BINS
    np.testing.assert_allclose(curve.weight, 1 / metrics.BINS, rtol=0.01)
    assert curve.weight @ curve.observed == pytest.approx(labels.mean())
    assert curve.weight @ curve.predicted == pytest.approx(metrics.sigmoid(logits).mean())
    assert (np.diff(curve.predicted) > 0).all()


def test_equal_predictions_share_a_bin():
    curve = reliability(np.zeros(1000), np.arange(1000) % 2)
    assert len(curve.weight) == 1
    assert curve.ece == 0.0


def test_a_draw_is_half_a_state_of_each_kind():
    logits = np.array([1.0, -2.0])
    drawn = measure(logits, np.array([0.5, 0.5]))
    both = measure(np.repeat(logits, 2), np.array([1.0, 0.0, 1.0, 0.0]))
    for name in ("prior", "bce", "floor", "accuracy", "brier", "ece"):
        assert getattr(drawn, name) == pytest.approx(getattr(both, name)), name


def test_a_balanced_figure_is_that_of_a_balanced_sample_judged_by_a_predictor_that_knows():
    logits, labels = told(400_000)
    ones, zeros = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
    kept = np.concatenate([zeros, RNG.choice(ones, len(zeros), replace=False)])
    sample = measure(logits[kept] - metrics.log_odds(labels.mean()), labels[kept])
    weighed = measure(logits, labels, prior=0.5)
    assert weighed.prior == pytest.approx(0.5)
    assert weighed.floor == pytest.approx(math.log(2))
    for name in ("bce", "accuracy", "brier"):
        assert getattr(weighed, name) == pytest.approx(getattr(sample, name), abs=0.004), name
    assert weighed.ece < 0.006


def test_a_constant_prediction_of_the_prior_gets_the_floor():
    labels = (RNG.random(1000) < 0.3).astype(float)
    found = measure(np.full(1000, metrics.log_odds(labels.mean())), labels)
    assert found.bce == pytest.approx(found.floor)
    assert found.ece == pytest.approx(0.0, abs=1e-12)


def test_labels_that_are_all_alike_can_be_judged_but_not_reweighted():
    assert measure(np.ones(3), np.ones(3)).bce == pytest.approx(math.log1p(math.exp(-1)))
    balanced = measure(np.ones(3), np.ones(3), prior=0.5)
    assert balanced.n == 3
    assert math.isnan(balanced.bce)
    assert balanced.as_json()["bce"] is None


def test_no_states_have_no_figures():
    found = measure(np.zeros(0), np.zeros(0))
    assert found.n == 0
    assert math.isnan(found.bce)


def test_huge_logits_neither_overflow_nor_lose_the_loss():
    found = measure(np.array([1000.0, -1000.0]), np.array([0.0, 0.0]))
    assert found.bce == pytest.approx(500.0)
    assert metrics.sigmoid(np.array([-1e9, 0.0, 1e9])).tolist() == [0.0, 0.5, 1.0]


def test_intervals_are_wider_when_the_states_of_a_game_share_its_end():
    games = np.repeat(np.arange(300), 20)
    end = (RNG.random(300) < 0.5).astype(float)[games]
    apart = (RNG.random(6000) < 0.5).astype(float)
    logits = RNG.standard_normal(300)[games]
    (low, high), (other_low, other_high) = (metrics.intervals(logits, labels, games)["bce"] for labels in (end, apart))
    assert low < measure(logits, end).bce < high
    assert high - low > 2 * (other_high - other_low)


def test_shapes_that_do_not_fit_are_an_error_of_the_caller():
    with pytest.raises(ValueError, match=r"logits \(2,\) and labels \(3,\)"):
        measure(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="between 0 and 1, not 1"):
        measure(np.zeros(2), np.zeros(2), prior=1.0)


def test_figures_survive_json():
    found = measure(np.ones(3), np.array([0.0, 1.0, 1.0]))
    assert Metrics.from_json(found.as_json()) == found
    assert "BCE" in str(found)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_figures_are_drawn_whole_or_not_at_all(tmp_path, kind):
    logits, labels = told(1000)
    curves = {"as it is": reliability(logits, labels), "balanced": reliability(logits, labels, 0.5)}
    show_training.draw_calibration(curves, "a game", tmp_path / f"reliability.{kind}")
    lines = {"training": ([0.5, 1.0], [0.69, 0.6]), "validation": ([1.0], [0.61])}
    show_training.draw_losses(lines, "a game", tmp_path / f"losses.{kind}", floor=0.69)
    assert sorted(place.name for place in tmp_path.iterdir()) == [f"losses.{kind}", f"reliability.{kind}"]
    assert all(place.stat().st_size > 5000 for place in tmp_path.iterdir())
    with pytest.raises(CardaiError, match=r"cannot write .*nowhere"):
        show_training.draw_losses(lines, "a game", tmp_path / "nowhere" / f"losses.{kind}")
