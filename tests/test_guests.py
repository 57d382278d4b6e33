"""Guests are reached by entry points alone: without the folder of one, everything else works as before."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUESTS = sorted(place.name for place in (ROOT / "cardai/guests").iterdir() if (place / "__init__.py").is_file())
IMPORTED = """
import importlib, pathlib, sys
import cardai
here = pathlib.Path(cardai.__file__).parent
assert str(here) == sys.argv[1], here
for file in sorted(here.rglob("*.py")):
    parts = file.relative_to(here).with_suffix("").parts
    if parts[0] not in ("guests", "__main__") and "template" not in parts:
        try:
            importlib.import_module(".".join(("cardai", *parts)).removesuffix(".__init__"))
        except ModuleNotFoundError as error:
            assert not error.name.startswith("cardai"), (file, error)
"""


@pytest.fixture(params=GUESTS)
def without(request, tmp_path):
    """The environment of a copy of the package without one guest."""
    left_out = ROOT / "cardai/guests" / request.param

    def ignored(folder, names):
        return [name for name in names if name == "__pycache__" or Path(folder) / name == left_out]

    for part in ("cardai", "games", "evaluators", "experiments"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    assert not (tmp_path / "cardai/guests" / request.param).exists()
    return tmp_path, os.environ | {"PYTHONPATH": str(tmp_path)}


def test_the_core_works_without_a_guest(without):
    place, environment = without

    def run(*words):
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=place.parent, env=environment, capture_output=True, text=True, check=False)

    imported = run("-c", IMPORTED, str(place / "cardai"))
    assert imported.returncode == 0, imported.stderr
    for words in (["--help"], ["match", "tictactoe", "--seats", "random,random", "--games", "10"]):
        done = run("-m", "cardai", *words)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
