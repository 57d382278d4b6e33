"""The driver is compiled by a second process while this one compiles a game, and only where it must be compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import small_game

import cardai
from cardai.app import cli
from cardai.rule import JIT
from cardai.table import second_process

pytestmark = pytest.mark.skipif(not JIT, reason="plain Python compiles nothing")

PLAY = """
import sys
import numpy as np
import cardai
from cardai.kernel import driver

sys.path.insert(0, sys.argv[1])
import small_game
cardai.play(small_game.GAME, [cardai.agent(small_game.GAME, "low")], np.zeros((2, 2), np.int64), np.arange(2))
print(sum(driver.advance.stats.cache_hits.values()), sum(driver.advance.stats.cache_misses.values()))
"""


class Started:
    """Stands for a process that was started."""

    def __init__(self, *_, **__):
        self.waited = self.killed = 0
        STARTED.append(self)

    def wait(self):
        self.waited += 1

    def kill(self):
        self.killed += 1


STARTED: list[Started] = []


@pytest.fixture
def processors(monkeypatch):
    STARTED.clear()
    monkeypatch.setattr(second_process, "_running", [])
    monkeypatch.setattr(second_process.subprocess, "Popen", Started)
    monkeypatch.setattr(second_process.atexit, "register", lambda _: None)
    monkeypatch.setattr(second_process, "default_threads", lambda: 2)
    return monkeypatch


def test_it_is_started_once_and_waited_for(processors, tmp_path):
    processors.setenv("CARDAI_CACHE", str(tmp_path))
    second_process.begin()
    second_process.begin()
    (process,) = STARTED
    second_process.finish()
    second_process.finish()
    assert process.waited == 1


def test_it_is_killed_at_the_end_of_a_command_that_did_not_need_it(processors, tmp_path):
    processors.setenv("CARDAI_CACHE", str(tmp_path))
    second_process.begin()
    second_process._end()
    assert STARTED[0].killed == 1


def test_it_is_not_started_if_the_driver_was_kept_or_for_one_processor(processors, tmp_path):
    game = small_game.GAME
    cardai.match(game, ["low", "low"], games=2)  # compiles the driver, or loads it
    second_process.begin()
    processors.setenv("CARDAI_CACHE", str(tmp_path))
    processors.setattr(second_process, "default_threads", lambda: 1)
    second_process.begin()
    assert STARTED == []


def test_it_is_not_started_if_nothing_that_it_compiles_can_be_kept(processors, tmp_path):
    (tmp_path / "file").write_text("")
    processors.setenv("CARDAI_CACHE", str(tmp_path / "file"))
    second_process.begin()
    assert STARTED == []


@pytest.mark.slow
def test_what_it_compiles_is_what_a_game_needs(tmp_path):
    """It takes the types of a table of any game, so that playing compiles no driver again."""
    env = {**os.environ, "CARDAI_CACHE": str(tmp_path), "PYTHONPATH": str(Path(cardai.__file__).parents[1])}
    subprocess.run([sys.executable, "-m", "cardai.table.many"], env=env, check=True)
    play = [sys.executable, "-c", PLAY, str(Path(__file__).parent)]
    done = subprocess.run(play, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "1 0\n"


def test_commands_that_compile_nothing_do_not_ask_for_it(monkeypatch):
    asked = []
    monkeypatch.setattr(second_process, "begin", lambda: asked.append(1))
    for command in (["games"], ["rules", "tictactoe"], ["agents", "tictactoe"]):
        assert cli.run(command) == 0
    assert asked == []
    cli.load("tictactoe")
    assert asked == [1]
