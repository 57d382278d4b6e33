"""A script that does at its top level what starts processes, which import it: each would start another, without end."""

import subprocess
import sys

import pytest

from cardai.errors import CardaiError
from cardai.registry import importing, load, refuse_in_import

CHECKING = """
import dataclasses
import cardai
from cardai.laws import check

GAME = dataclasses.replace(cardai.load("tictactoe"), title="Mine")
(result,) = check(GAME, laws=["plain_python_agrees"])
print(result.why)
"""
ISOLATING = """
import cardai
from cardai.errors import CardaiError
from cardai.measure.bench import run_match

def mine(game, world):
    return game.moves(world)[0]

try:
    run_match(cardai.load("tictactoe"), ["python:script:mine", "random"], games=2, isolate=True)
except CardaiError as error:
    print(error)
"""


@pytest.mark.parametrize(("content", "call"), [(CHECKING, "check"), (ISOLATING, "which runs in a process of its own")])
def test_a_script_without_a_guard_is_told_so_and_starts_one_process(content, call, tmp_path):
    (tmp_path / "script.py").write_text(content)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    said = done.stdout + done.stderr  # what an isolated agent prints goes to stderr
    assert call in said
    assert 'put the call under `if __name__ == "__main__":`' in said


def test_a_game_that_checks_itself_is_told_so_where_it_is_loaded(tmp_path):
    (tmp_path / "checking.py").write_text(CHECKING)
    with pytest.raises(CardaiError, match=r"checking\.py calls check while it is imported"):
        load(str(tmp_path / "checking.py"))


def test_after_an_import_nothing_is_refused():
    with pytest.raises(ZeroDivisionError), importing("a module"):
        raise ZeroDivisionError
    refuse_in_import("check")
