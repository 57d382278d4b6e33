"""Moska beside the thesis' figures, and the laws at their most thorough. Minutes: `pytest -m slow`."""

import pytest

import cardai
from cardai.laws import check
from cardai.measure import bench

pytestmark = pytest.mark.slow
GAME = cardai.load("moska")


@pytest.fixture(scope="module")
def losses() -> dict[tuple[str, str], tuple[float, float]]:
    """95 % intervals of the share of games lost, in percent, 20 000 games a row: by (row, agent)."""
    agents = ["random", "bot3", "greedy:hand_value", "peeking:hand_value"]
    report = bench.run_suite(GAME, "thesis", agents, 20_000)
    return {(row.row, row.spec): (row.figure.low, row.figure.high) for row in report.rows}


@pytest.mark.parametrize(
    ("row", "agent", "lowest", "highest"),
    [
        ("B1", "random", 88.0, 92.0),  # thesis 90.75
        ("B1", "bot3", 24.0, 26.0),  # 25.15
        ("B1", "peeking:hand_value", 17.9, 26.7),  # HeuristicEvaluator in the thesis' engine: 22.3 +- 4.4
        ("B4", "random", 24.0, 26.0),  # 24.95
        ("B4", "bot3", 0.0, 0.8),  # 0.4, n = 2000: 0.2-0.8
    ],
)
def test_the_thesis_figures_come_out(losses, row, agent, lowest, highest):
    low, high = losses[row, agent]
    assert lowest <= low <= high <= highest


def test_moska_keeps_every_law_looked_at_thoroughly():
    assert [verdict.why for verdict in check(GAME, effort="thorough") if verdict.verdict == "broken"] == []
