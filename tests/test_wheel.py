"""Each verb of `cardai --help` runs from a wheel alone, in a folder whose files are named like parts of the package.

    pytest -m nightly tests/test_wheel.py   # two minutes

An environment of its own has the wheel, unpacked, and the packages of this one without their `.pth` files, so that no
editable installation brings the checkout.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from cardai.cli.main import add_verbs, app
from cardai.rules.keeping import cache_root

ROOT = Path(__file__).parent.parent
NEIGHBOURS = (
    "cardai", "games", "evaluators", "machinery", "settings", "statistics", "queue", "numpy", "experiments/__init__",
    "experiments/complexity", "tests/__init__",
)  # fmt: skip
"""Files of the user's, of which none may be imported."""
TRAINING = "--steps 2 --batch 16 --parts [0.6,0.2,0.2] --body mlp --options.hidden 4"
COMMANDS = {
    "games": "games",
    "agents": "agents tictactoe",
    "rules": "rules tictactoe",
    "game": "games moska --plies 2",
    "doctor": "doctor",
    "warm": "doctor --warm tictactoe",
    "new-game": "new-game mine",
    "check": "check ./mine --effort quick --law every_game_ends",
    "match": "match tictactoe --seats random,greedy:mlp --games 4 --record games.jsonl",
    "python": "match tictactoe --seats python:ours:first,random --games 2",
    "isolated": "match tictactoe --seats python:ours:first,random --games 2 --isolate",
    "play": "play tictactoe --seats human,random --seed 1 --moves-from moves.txt",
    "replay": "replay games.jsonl",
    "verify": "replay games.jsonl --verify",
    "analyse": "analyse games.jsonl",
    "transcript": "export tictactoe games.jsonl --transcript seen.jsonl",
    "export": "export tictactoe games.jsonl --npz rows.npz",
    "bench": "bench tictactoe --games 4",
    "complexity": "complexity tictactoe --games 20",
    "endings": "exact endings tictactoe --games 4 --seats random,random",
    "exploitability": "exact exploitability ./kuhn --agent random",
    "grade": "exact grade tictactoe --agent random",
    "hands": "exact hands tictactoe --seats random,random --games 4",
    "perf": "perf tictactoe --seconds 0.01 --repeats 1",
    "perft": "complexity tictactoe --perft 2",
    "situations": "bench tictactoe --situations --games 1 --agent random",
    "strongest": "agents tictactoe --measure --games 4 --seconds 0.1 --out strongest.json",
    "selfplay": "selfplay tictactoe --agent random --games 40 --out data",
    "train": f"train --game tictactoe --data data --out run {TRAINING}",
    "iterate": "iterate tictactoe --out iterated --generations 1 --games 40 --benchmark-games 20"
    " --most-benchmark-games 20 " + TRAINING.replace("--", "--training."),
    "policy": "train policy tictactoe --preset ppo --set games=8 --set step_games=8 --set batch_games=8"
    " --out policy.safetensors",
    "reproduce": "reproduce complexity --scale smoke --report pages",
    "report": "report pages",
    "learn": "learn tictactoe --minutes 0.1",
    "tune": "tune durak thrifty --out tuned --generations 1 --trial-games 4 --games 20",
    "study": "study new study.toml tictactoe",
}
NEEDS = {"serve": "starlette", "tune": "cma"}
"""The module of an extra that a verb needs."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The folder of an unpacked wheel of the checkout."""
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), str(ROOT)]
    subprocess.run(command, check=True)
    (file,) = place.glob("*.whl")
    zipfile.ZipFile(file).extractall(place / "unpacked")
    return place / "unpacked"


@pytest.fixture(scope="module")
def command(wheel, tmp_path_factory) -> list[str]:
    """`cardai` as an environment has it in which only the wheel was installed."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/*/site-packages")
    installed = [path for path in sys.path if path.endswith("-packages")]
    (packages / "only.pth").write_text("\n".join([str(wheel), *installed]) + "\n")
    script = place / "bin/cardai"  # as pip writes it
    script.write_text("import sys\nfrom cardai.cli.main import main\nsys.exit(main())\n")
    return [str(place / "bin/python"), str(script)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A user's folder. What a command has written there, later ones read."""
    place = tmp_path_factory.mktemp("folder")
    for name in NEIGHBOURS:
        (place / name).parent.mkdir(exist_ok=True)
        (place / f"{name}.py").write_text("raise RuntimeError('a file of the user was imported')\n")
    shutil.copytree(ROOT / "examples/kuhn", place / "kuhn")
    (place / "ours.py").write_text("def first(game, world):\n    return game.moves(world)[0]\n")
    (place / "moves.txt").write_text("1\n" * 9)
    return place


def environment() -> dict[str, str]:
    barred = ("PYTHON", "PYTEST")
    return {name: value for name, value in os.environ.items() if not name.startswith(barred)} | {
        "CARDAI_CACHE": str(cache_root())
    }


def test_each_verb_has_a_command():
    add_verbs()
    verbs = {name for name in app.resolved_commands() if not name.startswith("-")}
    assert {line.split()[0] for line in COMMANDS.values()} | {"serve"} == verbs


def test_the_wheel_alone_is_imported(command, wheel, folder):
    """Else the other tests would show nothing."""
    shown = "import cardai, sys; print(cardai.__file__, [path for path in sys.path if 'site' not in path])"
    done = subprocess.run(
        [command[0], "-P", "-c", shown], cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{wheel}/cardai/__init__.py")
    assert str(ROOT) not in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_a_verb_runs_from_a_wheel(command, folder, name):
    if (module := NEEDS.get(name)) and find_spec(module) is None:
        pytest.skip(f"needs {module}")
    words = [*command, *COMMANDS[name].split()]
    done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "a file of the user" not in done.stdout + done.stderr


def test_the_table_is_served_from_a_wheel(command, folder):
    pytest.importorskip("starlette", reason="the extra `web` brings it")
    words = [*command, "serve", "tictactoe", "--port", "0"]
    with subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as served:
        address = next(found[0] for line in served.stdout if (found := re.search(r"http://\S+\d", line)))
        with urllib.request.urlopen(address) as page:
            assert b"cardai" in page.read()
        served.send_signal(signal.SIGINT)
        served.communicate()
    people = [*command, "study", "results", "tictactoe"]
    done = subprocess.run(people, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    assert "a file of the user" not in done.stderr
