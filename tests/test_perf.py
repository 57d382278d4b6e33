import itertools
import json
import time

import numpy as np
import pytest
from printing import text_of
from truths import expected_at_random

from cardai import load
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.measure.perf import measure, players_of
from cardai.measure.speed import Timing, timed
from cardai.playing.agents.spec import agent, evenly_random

GAME, MOSKA = load("tictactoe"), load("moska")


def exact():
    """The expected number of positions, and of legal moves in them, when both players move at random."""
    return expected_at_random(lambda free: np.array([1.0, free]))


@pytest.fixture(scope="module")
def report():
    return measure(GAME, seconds=0.02, repeats=3)


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


def test_evenly_random_play_is_measured_even_if_the_game_has_its_own_random_player():
    assert evenly_random(GAME).spec == "random"
    assert evenly_random(MOSKA).spec == "evenly random"
    assert agent(MOSKA, "random").strategy != evenly_random(MOSKA).strategy == agent(GAME, "random").strategy


def test_a_busy_machine_is_as_fast(monkeypatch):
    """What is measured on one core is measured by processor time. Here 1,000 s pass between two looks at the clock."""
    monkeypatch.setattr(time, "perf_counter", itertools.count(0.0, 1e3).__next__)
    report = measure(GAME, seconds=0.02, repeats=1)
    assert all(row.decisions_per_second.median > 100 for row in report.rows)
    assert all(one.nanoseconds.median < 1e6 for one in report.operations)


def test_evenly_random_play_comes_first():
    moska = MOSKA.changed(players={"random": MOSKA.agents.players["random"]}, heuristics={})
    assert [player.spec for player in players_of(moska)] == ["evenly random", "random"]
    assert [player.spec for player in players_of(GAME)] == ["random", "greedy:open_lines"]


def test_work_is_repeated_until_the_seconds_are_over_and_done_once_at_least():
    calls = []

    def work():
        calls.append(time.sleep(0.01))
        return 5

    run = timed(work, 0.035)
    assert run.count == 5 * len(calls)
    assert 1 <= len(calls) <= 4  # fewer on a busy machine
    assert 0.035 <= run.seconds == pytest.approx(run.count / run.per_second)
    assert 0 <= run.processor_seconds < run.seconds  # asleep
    assert timed(work).count == 5


def test_a_timing_is_the_median_with_its_range():
    assert Timing.of([3.0, 1.0, 200.0]) == Timing(3.0, 1.0, 200.0)
    assert str(Timing(1234.5, 12.34, 98765.0)) == "1,234 (12.3-98,765)"


def test_the_report_is_json_and_a_table(report):
    found = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert found["rows"][0]["agent"] == "random"
    assert found["machine"]["usable_cpus"] >= 1
    assert str(report.rows[1].games_per_second) in text_of(report)
    assert f"{report.threads.ratio.median:.2f} times" in text_of(report)


def test_the_command_takes_a_number_of_threads(capsys):
    assert run(["perf", "tictactoe", "--seconds", "0.01", "--repeats", "1", "--threads", "3"]) == 0
    assert "3 threads play" in capsys.readouterr().out


def test_named_agents_are_timed_beside_random_play(capsys):
    assert run(["perf", "tictactoe", "--agent", "greedy:mlp", "--seconds", "0.01", "--repeats", "1", "--json"]) == 0
    assert [row["agent"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["random", "greedy:mlp"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seconds": 0}, "seconds must be more than 0"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"seats": 5}, "not 5"),
        ({"threads": 1}, "threads must be at least 2, not 1"),
    ],
)
def test_bad_input_is_refused(options, words):
    with pytest.raises(CardaiError, match=words):
        measure(GAME, **options)


def test_every_part_of_a_measurement_is_reported_before_it_begins():
    told = []
    measure(load("tictactoe"), 0.01, 1, lambda done, total, text: told.append((done, total, text)))
    assert [done for done, _, _ in told] == list(range(len(told)))
    assert {total for _, total, _ in told} == {len(told) - 1}
    assert [text for _, _, text in told][-8:] == [
        "2 threads beside one", "positions for single operations", "deal", "play", "world", "encode planes", "legal",
        "done",
    ]  # fmt: skip
