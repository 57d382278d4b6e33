"""The experiment on sizes of tables: who sits there, and what the fair share is."""

import pytest

from cardai.experiments.moska_networks import against_bot3
from cardai.experiments.players import SIZES, VARIANT, refused
from cardai.measure.bench import run_suite


@pytest.mark.parametrize("seats", SIZES)
def test_bot3_sits_in_all_other_seats_and_somebody_loses(seats):
    (row,) = run_suite(against_bot3(seats - 1, VARIANT), "table", ["bot3"], 8 * seats, seed=1).rows
    assert row.opponents == ("bot3",) * (seats - 1)
    assert row.figure.n + row.endless == 8 * seats
    assert sum(row.seat_share) == pytest.approx(100)


def test_a_network_sits_at_tables_of_the_size_it_was_made_for_and_nowhere_else():
    found = refused()
    assert [seats for seats, why in found.items() if not why] == ["4"]
    assert "is a model for 4 seats, not for 7" in found["7"]
