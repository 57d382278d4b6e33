import functools
import json

import numpy as np
import pytest

from cardai import load
from cardai.errors import CardaiError
from cardai.measure.perf import Timing, measure
from cardai.show.perf import table

GAME = load("tictactoe")
LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]


@functools.cache
def exact(own=frozenset(), other=frozenset()):
    """The expected number of positions, and of legal moves in them, from here on when both players move at random."""
    free = set(range(9)) - own - other
    if any(line <= other for line in LINES) or not free:
        return np.zeros(2)
    return sum(exact(other, own | {cell}) for cell in free) / len(free) + np.array([1.0, len(free)])


@pytest.fixture(scope="module")
def report():
    steps = []
    found = measure(GAME, seconds=0.02, repeats=3, live=256, progress=lambda *step: steps.append(step))
    assert [done for done, _, _ in steps] == list(range(steps[-1][1] + 1))
    return found


def test_every_player_without_a_network_is_timed(report):
    assert [row.agent for row in report.rows] == ["random", "greedy:open_lines"]


def test_decisions_and_games_a_second_agree(report):
    plies = exact()[0]
    random = report.rows[0]
    assert random.decisions_per_second.median / random.games_per_second.median == pytest.approx(plies, rel=0.05)
    for row in report.rows:
        for timing in (row.games_per_second, row.decisions_per_second):
            assert 0 < timing.low <= timing.median <= timing.high


def test_every_operation_takes_time(report):
    assert [one.name for one in report.operations] == ["deal", "legal", "play", "world", "encode planes"]
    assert all(0 < one.nanoseconds.low <= one.nanoseconds.median for one in report.operations)


def test_positions_come_from_random_games(report):
    positions, moves = exact()
    assert report.moves_a_position == pytest.approx(moves / positions, abs=0.4)


def test_memory_holds_the_live_games(report):
    assert report.memory.live == 256
    assert 0 < report.memory.before <= report.memory.peak


def test_a_timing_is_the_median_with_its_range():
    assert Timing.of([3.0, 1.0, 200.0]) == Timing(3.0, 1.0, 200.0)
    assert str(Timing(1234.5, 12.34, 98765.0)) == "1,234 (12.3-98,765)"


def test_the_report_is_json_and_a_table(report):
    from rich.console import Console

    found = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert found["rows"][0]["agent"] == "random"
    assert found["machine"]["usable_cpus"] >= 1
    console = Console(width=160)
    with console.capture() as captured:
        console.print(table(report))
    assert str(report.rows[1].games_per_second) in captured.get()
    assert f"{report.threads.ratio.median:.2f} times" in captured.get()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seconds": 0}, "seconds must be more than 0"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"live": 0}, "live games must be at least 1"),
        ({"seats": 5}, "not 5"),
    ],
)
def test_bad_input_is_refused(options, words):
    with pytest.raises(CardaiError, match=words):
        measure(GAME, **options)
