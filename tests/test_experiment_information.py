"""The experiment on hidden information: its losses are those of a suite."""

from dataclasses import asdict

import numpy as np
import pytest

from cardai.experiments.information import SEED, VARIANT, claimed_price, losses
from cardai.game import Row, Suite
from cardai.measure.bench import run_suite
from cardai.playing.stats import interval
from cardai.registry import load


def test_losses_are_those_of_a_suite_seat_by_seat():
    row = Row(("bot3",) * 3)
    suite = Suite(about="three Bot3", measure="loss", rows={"B1": row}, agents=(), variant=VARIANT)
    (found,) = run_suite(load("moska").changed(suites={"one": suite}), "one", ["bot1"], 400, seed=SEED).rows
    lost = losses("bot1", 400)
    assert lost.shape == (100, 4)
    assert asdict(interval.proportion(lost).scaled(100)) == asdict(found.figure)
    by_seat = [interval.proportion(lost[:, seat : seat + 1]).scaled(100).point for seat in range(4)]
    assert by_seat == [one.point for one in found.by_seat]
    assert len(set(by_seat)) > 1


def test_the_claimed_price_is_the_difference_of_the_claims_and_undecided():
    price = claimed_price()
    wald = 100 * 1.96 * np.sqrt(2 * 0.14 * 0.86 / 2000)
    assert (price.point, price.low, price.high) == pytest.approx((0.6, 0.6 - wald, 0.6 + wald), abs=0.05)
