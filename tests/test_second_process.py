"""A second process compiles the driver, only where it must be compiled."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cardai
from cardai.cli import main as cli
from cardai.cli.verbs import shared
from cardai.playing.table import many, second_process
from cardai.rules import JIT, elsewhere

pytestmark = [
    pytest.mark.skipif(not JIT, reason="plain Python compiles nothing"),
    # Other tests of this process may have loaded JAX. `can_begin` refuses that; tests of what follows do not ask it.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
]

PLAY = """
import sys
import numpy as np
import cardai
from cardai.playing.compiled import driver

sys.path.insert(0, sys.argv[1])
import small_game
cardai.play(small_game.GAME, [cardai.agent(small_game.GAME, "low")], np.zeros((2, 2), np.int64), np.arange(2))
print(sum(driver.advance.stats.cache_hits.values()), sum(driver.advance.stats.cache_misses.values()))
"""


@pytest.fixture
def copies(monkeypatch, tmp_path):
    """The rules that a copy was begun for, with nothing kept and processors free."""
    begun: list[str] = []
    monkeypatch.setenv("CARDAI_CACHE", str(tmp_path))
    monkeypatch.setattr(second_process, "default_threads", lambda: 2)
    monkeypatch.setattr(second_process, "is_kept", lambda rule: False)
    monkeypatch.setattr(elsewhere, "can_begin", lambda: True)
    monkeypatch.setattr(elsewhere, "begin", lambda rule, _: begun.append(rule.__name__))
    return begun


def test_a_copy_compiles_the_driver(copies):
    second_process.begin(many.compile_driver)
    assert copies == ["advance"]


def test_no_copy_is_made_for_one_processor_or_where_none_can_be(copies, monkeypatch, tmp_path):
    with monkeypatch.context() as other:
        other.setattr(second_process, "default_threads", lambda: 1)
        second_process.begin(many.compile_driver)
    with monkeypatch.context() as other:
        other.setattr(elsewhere, "can_begin", lambda: False)
        second_process.begin(many.compile_driver)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CARDAI_CACHE", str(tmp_path / "file"))  # nothing can be kept
    second_process.begin(many.compile_driver)
    assert copies == []


def test_what_it_compiles_is_what_a_game_needs(tmp_path):
    """It takes the types of a table of any game, so that playing compiles no driver again."""
    env = {**os.environ, "CARDAI_CACHE": str(tmp_path), "PYTHONPATH": str(Path(cardai.__file__).parents[1])}
    compile_ = [sys.executable, "-c", "from cardai.playing.table import many; many.compile_driver()"]
    done = subprocess.run(compile_, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")  # nobody reads what a copy says: with an error it is only slower
    play = [sys.executable, "-c", PLAY, str(Path(__file__).parent)]
    done = subprocess.run(play, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "1 0\n"


def test_commands_that_compile_nothing_do_not_ask_for_it(monkeypatch):
    asked = []
    monkeypatch.setattr(second_process, "begin", lambda _: asked.append("driver"))
    for command in (["games"], ["rules", "tictactoe"], ["agents", "tictactoe"]):
        assert cli.run(command) == 0
    assert asked == []
    shared.load("tictactoe")
    assert asked == ["driver"]


COPIED = """
import cardai
from cardai.game.compiled import native
from cardai.rules import compiling, elsewhere

game, told = cardai.load("tictactoe"), []
compiling.Watcher(told.append)
elsewhere.begin(game.rules.legal, lambda: native.entry("legal", game.rules.legal, game.state, game.move))
assert elsewhere.is_under_way(game.rules.legal)
game.compiler.rules
assert not elsewhere.is_under_way(game.rules.legal)
print(*told)
"""


def test_a_copy_of_the_process_compiles_a_rule_and_this_one_loads_it(tmp_path):
    env = {**os.environ, "CARDAI_CACHE": str(tmp_path), "PYTHONPATH": str(Path(cardai.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", COPIED], env=env, capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == ["act", "deal", "resample", "score", "settle"]
    assert len(list((tmp_path / "rules").glob("*.legal-*.code"))) == 1


def rule_of_nobody():
    """Stands for a rule."""


@pytest.mark.parametrize(
    "compile_", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: time.sleep(60), lambda: 1 / 0]
)
def test_a_copy_that_dies_or_is_slow_is_not_waited_for(compile_, monkeypatch, capfd):
    monkeypatch.setattr(elsewhere, "PATIENCE", 0.2)
    elsewhere.begin(rule_of_nobody, compile_)
    process, begun = elsewhere._under_way[rule_of_nobody], time.monotonic()
    elsewhere.finish(rule_of_nobody)
    assert time.monotonic() - begun < 30
    assert not elsewhere.is_under_way(rule_of_nobody)
    with pytest.raises(ProcessLookupError):  # it has ended, and was waited for
        os.kill(process, 0)
    assert capfd.readouterr() == ("", "")
    elsewhere.finish(rule_of_nobody)  # there is none


def test_a_copy_is_ended_with_its_process():
    elsewhere.begin(rule_of_nobody, lambda: time.sleep(60))
    process = elsewhere._under_way[rule_of_nobody]
    elsewhere._end()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_process_with_threads_or_a_copy_is_not_copied(monkeypatch):
    monkeypatch.setattr(elsewhere.threading, "active_count", lambda: 1)
    monkeypatch.setattr(elsewhere.sys, "platform", "linux")
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    assert elsewhere.can_begin()
    monkeypatch.setitem(elsewhere._under_way, rule_of_nobody, 1)
    assert not elsewhere.can_begin()
    monkeypatch.delitem(elsewhere._under_way, rule_of_nobody)
    monkeypatch.setattr(elsewhere.threading, "active_count", lambda: 2)
    assert not elsewhere.can_begin()
