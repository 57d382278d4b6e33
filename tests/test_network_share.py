"""Rows a second in play and in a bare loop: which rows count, and that play does not look faster than its evaluator."""

import json
import re
import threading
import time
from itertools import cycle, islice
from types import SimpleNamespace

import numpy as np
import pytest
import small_game
from judges import Judge, know, some_order
from printing import text_of

from cardai import load
from cardai.cli import main as cli
from cardai.errors import CardaiError
from cardai.measure.network_share import NOTED, _CompiledLoop, measure, rows_of_decisions
from cardai.measure.speed import SelfPlay, Timing
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.many import play
from cardai.rules import JIT

LOW_HAND, TICTACTOE, MOSKA = small_game.GAME, load("tictactoe"), load("moska")
compiled_only = pytest.mark.skipif(not JIT, reason="plain Python asks evaluators")
ROWS_A_SECOND = 40_000


class Device:
    """An evaluator that computes `ROWS_A_SECOND`, one batch after the other, while its caller goes on."""

    moment, batch = "drawn", 256

    def __init__(self, name="device", encoder="planes", seats=2):
        self.name, self.encoder, self.seats, self.free_at, self.sizes = name, encoder, seats, 0.0, []

    def score(self, rows):
        self.sizes.append(len(rows))
        self.free_at = max(self.free_at, time.perf_counter()) + len(rows) / ROWS_A_SECOND
        return Later(self.free_at, some_order(rows.astype(np.int64)))

    def check_fits(self, game, variant, seats):
        if seats != self.seats:
            raise CardaiError(f"{self.name} is for {self.seats} seats, not {seats}")


class Later(SimpleNamespace):
    def __init__(self, ready, scores):
        super().__init__(ready=ready, scores=scores)

    def __array__(self, dtype=None, copy=None):
        time.sleep(max(0.0, self.ready - time.perf_counter()))
        return self.scores


@pytest.fixture
def device(monkeypatch):
    device = Device()
    know(monkeypatch, device, Judge("quick", "planes", 2, some_order))
    return device


def test_play_reaches_no_more_than_the_bare_loop(device):
    report = measure(LOW_HAND, "greedy:device", seconds=0.3, repeats=2, live=64)
    assert 0 < report.playing.median < 1.25 * ROWS_A_SECOND
    assert 0.25 * ROWS_A_SECOND < report.bare.median < 1.25 * ROWS_A_SECOND
    assert report.playing.low / report.bare.high <= report.share.median <= report.playing.high / report.bare.low
    assert 1 <= report.batch <= 64 * LOW_HAND.max_moves
    assert report.decisions_per_second.median > 0


def test_the_bare_loop_is_asked_for_the_batches_of_play(device, monkeypatch):
    runs, play_for = [], SelfPlay.play_for

    def noted(*arguments):
        begun = len(device.sizes)
        results = play_for(*arguments)
        runs.append((begun, len(device.sizes)))
        return results

    monkeypatch.setattr(SelfPlay, "play_for", noted)
    measure(LOW_HAND, "sampled:device?worlds=5", seconds=0.2, repeats=1, live=40)
    _, (begun, ended) = runs
    sizes, again = device.sizes[begun:ended], device.sizes[ended:]
    assert len(set(sizes)) > 3
    assert again == list(islice(cycle(sizes), len(again)))
    assert len(again) > 3


@compiled_only
def test_a_compiled_network_is_compared_with_rows_of_decisions_and_with_its_products():
    report = measure(MOSKA, "greedy:best", seconds=0.3, repeats=2)
    assert (report.batch, report.bound is None) == (0, False)
    assert report.bound is not None
    assert 0 < report.share.median < 1.5
    assert 256 * 30 < report.bound.products < 542 * 256 + 256 * 256 + 256 * 128 + 128  # all inputs would be the last
    assert report.bound.peak.median > 1e8
    assert report.bound.rows == pytest.approx(report.threads * report.bound.peak.median / report.bound.products)
    assert report.playing.low / report.bound.rows <= report.bound.share.high
    text = text_of(report, 300)
    assert re.search(r"in a bare loop over rows of decisions, on \d+ threads", text)
    assert re.search(r"a row takes [\d,]+ products that are not zero; one core does [\d.]+ G", text)


def test_a_machine_that_becomes_quicker_changes_no_share_of_the_bound():
    """The bound is measured after each run of play, since the machine may do other work for a while."""
    loop = object.__new__(_CompiledLoop)
    loop.threads, loop.products, loop.peaks = 2, 1000.0, [1e9, 2e9, 4e9]
    assert loop.bound([1e6, 2e6, 4e6]).share == Timing(0.5, 0.5, 0.5)


@compiled_only
def test_rows_of_decisions_are_those_of_play():
    player = agent(MOSKA, "greedy:best")
    rows, is_first = rows_of_decisions(SelfPlay(MOSKA, player, 4))
    games = NOTED
    results = play(MOSKA, [player], np.zeros((games, 4), np.int64), deal_seeds(0, games), tally=True)
    assert len(rows) <= results.rows <= 1.01 * len(rows)  # a row that occurs twice in a decision is noted once
    assert is_first[0] == 1
    assert 0.97 * results.tally[:, 0].sum() <= is_first.sum() <= results.tally[:, 0].sum()  # some only end the game


def test_a_report_as_a_table_and_as_json(device):
    seen = []
    report = measure(
        LOW_HAND, "peeking:device", 0.1, 2, lambda *step: seen.append(step), seats=2, variant="two", live=16
    )
    assert [step[:2] for step in seen] == [(0, 3), (1, 3), (2, 3)]
    content = json.loads(json.dumps(report.as_json()))
    assert content["kind"] == "bottleneck"
    assert (content["game"], content["variant"], content["seats"], content["live"]) == ("low_hand", "two", 2, 16)
    assert content["agent"] == "peeking:device (peeks)"
    assert content["share"]["low"] <= content["share"]["median"] <= content["share"]["high"]
    assert content["machine"]
    text = text_of(report)
    assert "peeking:device (peeks) in all 2 seats" in text
    assert re.search(r"playing reaches \d+ % \(\d+-\d+\) of the bare loop; [\d,]+ decisions/s", text)


@pytest.mark.parametrize(
    ("spec", "options", "complaint"),
    [
        ("low", {}, "agent 'low' has no evaluator to be measured"),
        ("greedy:nobody", {}, "no heuristic or model 'nobody'"),
        ("greedy:device", {"seats": 3}, "device is for 2 seats, not 3"),
        ("greedy:device", {"variant": "five"}, "no variant 'five'"),
        ("greedy:device", {"seconds": 0}, "seconds must be more than 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(device, spec, options, complaint):
    with pytest.raises(CardaiError, match=complaint):
        measure(LOW_HAND, spec, **options)
    assert device.sizes == []


def test_an_evaluator_that_gave_no_two_answers_is_named(device, monkeypatch):
    monkeypatch.setattr(SelfPlay, "play_for", lambda *_: None)
    with pytest.raises(CardaiError, match="device was asked 0 times in the time given; measure for more seconds"):
        measure(LOW_HAND, "greedy:device")


def test_ctrl_c_ends_a_measurement(device):
    def press(*_):
        raise KeyboardInterrupt

    score, calls = device.score, []

    def scored(rows):
        calls.append(len(rows))
        return press() if len(calls) == 5 else score(rows)

    device.score = scored
    with pytest.raises(KeyboardInterrupt):
        measure(LOW_HAND, "greedy:device", seconds=5)
    assert len(calls) == 5
    assert threading.active_count() < 10


def test_the_command_measures_an_agent(device, capsys):
    assert (
        cli.run(["perf", "tictactoe", "--agent", "greedy:quick", "--seconds", "0.1", "--repeats", "1", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["kind"] == "bottleneck"
    assert cli.run(["perf", "tictactoe", "--agent", "random"]) == cli.REFUSED
    assert capsys.readouterr().err == "cardai: agent 'random' has no evaluator to be measured\n"
