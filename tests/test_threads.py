"""Several threads of one process use a game that none of them has used before."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import cardai
from cardai import registry
from cardai.game import Game
from cardai.game.compiled import native
from cardai.playing.compiled import driver
from cardai.playing.table import second_process
from cardai.rules import JIT, elsewhere, rule

TICTACTOE = cardai.load("tictactoe")
THREADS = 8

MATCHES = """
import sys, threading
import cardai

game, start = cardai.load(sys.argv[1]), threading.Barrier(8)
results = [None] * 8

def play(i):
    start.wait()
    seats = [*game.agents.players, "random"][:1] * game.default_seats
    results[i] = str(cardai.match(game, seats, games=4, threads=1))

threads = [threading.Thread(target=play, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert None not in results and len(set(results)) == 1, results
"""


def together(act):
    """What `act()` returns in each of several threads that call it at once. Raises what one of them raises."""
    start = threading.Barrier(THREADS)

    def called(_):
        start.wait()
        return act()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(called, range(THREADS)))


@pytest.fixture
def slow_entry(monkeypatch):
    """`native.entry` takes long, so that all threads meet in it, and returns another address each time."""
    made = []

    def entry(role, function, state, move):
        time.sleep(0.01)
        made.append((role, function))
        return len(made)

    monkeypatch.setattr(native, "entry", entry)
    return made


def test_a_rule_has_one_address_in_all_threads(slow_entry):
    game = TICTACTOE.changed()
    value = game.agents.heuristics["open_lines"]
    assert set(together(lambda: game.compiler.entry("value", value))) == {1}
    assert len(slow_entry) == 1
    assert game.compiler.function_of("value", 1) is value


def test_the_rules_are_compiled_once_in_all_threads(slow_entry):
    game = TICTACTOE.changed()
    assert len({id(rules) for rules in together(lambda: game.compiler.rules)}) == 1
    assert len(slow_entry) == 6 + (game.rules.is_legal is not None)


def test_an_entry_is_looked_up_while_other_threads_compile(slow_entry):
    class Slow(int):
        """An address that takes long to compare, so that others are added meanwhile."""

        def __eq__(self, other):
            time.sleep(0.001)
            return int(self) == other

        __hash__ = int.__hash__

    game = TICTACTOE.changed()
    functions = [rule(eval("lambda state, seat: 0.0")) for _ in range(200)]
    known = {("value", function): Slow(-1) for function in functions[:100]}
    game.compiler._entries = known
    adding = threading.Thread(target=lambda: [game.compiler.entry("value", function) for function in functions[100:]])
    adding.start()
    while adding.is_alive():
        assert game.compiler.function_of("value", -2) is None
    adding.join()


def test_a_game_is_loaded_by_its_path_in_several_threads(tmp_path):
    file = tmp_path / "slow_to_load.py"
    file.write_text("import time\ntime.sleep(0.1)\nfrom cardai.games.tictactoe import GAME\n")
    try:
        games = together(lambda: registry.load(str(file)))
        assert all(isinstance(game, Game) for game in games)
        assert len({id(game) for game in games}) == 1
    finally:
        sys.modules.pop("slow_to_load", None)


def test_several_threads_wait_for_a_copy_of_the_process(monkeypatch):
    monkeypatch.setattr(elsewhere, "_has_ended", lambda process: time.monotonic() > ends)
    monkeypatch.setitem(elsewhere._under_way, driver.advance, 1)
    ends = time.monotonic() + 0.2
    together(second_process.finish)
    assert time.monotonic() > ends
    assert not elsewhere.is_under_way(driver.advance)


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
@pytest.mark.parametrize("game", ["tictactoe", "moska"])
def test_matches_begin_in_several_threads_on_an_empty_cache(game, tmp_path):
    env = {**os.environ, "CARDAI_CACHE": str(tmp_path), "PYTHONPATH": str(Path(cardai.__file__).parents[1])}
    for _ in range(2):  # compiled, then loaded
        done = subprocess.run([sys.executable, "-c", MATCHES, game], env=env, capture_output=True, text=True)
        assert (done.stderr, done.returncode) == ("", 0)
