"""No file of a user's hides one of ours, values travel to other processes, and a notebook shows them."""

import base64
import importlib.metadata
import json
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError, install_command, lacking
from cardai.game import listed_pieces
from cardai.rules.keeping import cache_root

ROOT = Path(__file__).parent.parent
GAMES = ["durak", "durak52", "hearts", "literature", "moska", "tictactoe"]
PROGRAM = """
import cardai
game = cardai.load("tictactoe")
cardai.agent(game, "greedy:mlp")
assert len(cardai.available()) == 6, cardai.available()
print("played", cardai.match(game, ["random", "random"], games=10).games)
"""
TEST = "def test_it():\n" + "".join(f"    {line}\n" for line in PROGRAM.strip().splitlines())


@pytest.fixture
def folder(tmp_path):
    """Somebody's folder with files of every name that is a part of the package, or a folder of the checkout."""
    for name in ("games", "evaluators", "experiments", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('a file of the user was imported')\n")
    for name in ("model", "settings", "machinery"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('a file of the user was imported')\n")
    (tmp_path / "script.py").write_text(PROGRAM)
    (tmp_path / "test_mine.py").write_text(TEST)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["script.py"], "played 10"),
        (["-c", PROGRAM], "played 10"),  # as a notebook: the folder itself comes first
        (["-m", "pytest", "-q", "test_mine.py"], "1 passed"),
        (["-m", "cardai", "games"], "tictactoe"),
        (["-m", "cardai", "reproduce", "complexity", "--scale", "smoke"], "scale smoke"),
    ],
    ids=["script", "notebook", "pytest", "games", "reproduce"],
)
def test_files_of_a_user_hide_none_of_ours(folder, command, answer):
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    env["CARDAI_CACHE"] = str(cache_root())
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert answer in done.stdout


def test_a_file_that_is_named_like_a_part_hides_none_either(tmp_path):
    for name in ("games", "evaluators", "experiments"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('a file of the user was imported')\n")
    env = {**os.environ, "CARDAI_CACHE": str(cache_root())}
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "played 10" in done.stdout, done.stderr


FOLDER, FILE = "file:///home/ann/my%20games/cardai", "file:///tmp/cardai-0.1.0-py3-none-any.whl"
ORIGINS = {
    "an index": (None, "pip install 'cardai[zoo]'"),
    "a folder": ({"url": FOLDER, "dir_info": {}}, "pip install '/home/ann/my games/cardai[zoo]'"),
    "a checkout": ({"url": FOLDER, "dir_info": {"editable": True}}, "pip install -e '/home/ann/my games/cardai[zoo]'"),
    "a wheel": ({"url": FILE, "archive_info": {}}, f"pip install '{FILE.removeprefix('file://')}[zoo]'"),
    "git": (
        {"url": "https://host/cardai.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
        "pip install 'cardai[zoo] @ git+https://host/cardai.git'",
    ),
}


@pytest.mark.parametrize("name", ORIGINS)
def test_an_extra_is_installed_from_where_cardai_came_from(name, monkeypatch):
    """Before a release, and for whoever changes the code, no index has it."""
    origin, command = ORIGINS[name]
    text = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))
    assert install_command("zoo") == command
    assert str(lacking("cardai serve", "uvicorn", "web")).endswith(f"{command.replace('zoo', 'web')} brings it")


def test_no_page_and_no_other_message_names_an_index():
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.*")]
    files += [
        file for part in ("cardai", "evaluators", "experiments", "games") for file in ROOT.glob(f"{part}/**/*.py")
    ]
    texts = {file.name: file.read_text("utf-8", "replace") for file in files if file.name != "CHANGELOG.md"}
    assert [name for name, text in texts.items() if re.search(r"pip install\s+\S*cardai\b(?!/)", text)] == []


def test_completion_shows_the_public_names():
    assert dir(cardai) == sorted(cardai.__all__)
    for name in cardai.__all__:
        assert getattr(cardai, name) is not None


def points_of(game, state):
    return game.name, game.points(state).tolist()


@pytest.mark.parametrize("name", GAMES)
def test_a_game_and_its_states_are_pickled(name):
    game = cardai.load(name)
    state = game.new(seed=5)
    again, there = pickle.loads(pickle.dumps((game, state)))
    assert again is game
    assert there == state
    assert np.array_equal(again.moves(there), game.moves(state))


def test_a_game_travels_through_a_pool_that_spawns():
    game = cardai.load("tictactoe")
    state = game.new(seed=1)
    while state.turn >= 0:
        state = game.play(state, game.moves(state)[0])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(points_of, (game, state)) == points_of(game, state)


def test_a_game_of_another_version_and_one_without_a_module_are_refused(monkeypatch):
    game = cardai.load("tictactoe")
    content = pickle.dumps(game)
    monkeypatch.setitem(game.__dict__, "version", game.version + 1)
    with pytest.raises(CardaiError, match=r"^tictactoe has version 2 here; version 1 was sent$"):
        pickle.loads(content)
    with pytest.raises(CardaiError, match="no module holds it as GAME"):
        pickle.dumps(game.changed(title="of nobody"))


def test_a_report_is_pickled():
    report = cardai.match(cardai.load("tictactoe"), ["random", "random"], games=20, seed=1)
    assert str(pickle.loads(pickle.dumps(report))) == str(report)


@pytest.mark.parametrize("name", GAMES)
def test_games_and_states_are_shown_briefly(name):
    game = cardai.load(name)
    state = game.new(seed=3)
    assert len(repr(game)) < 80
    assert game.title in repr(game)
    assert len(repr(state)) <= 300
    assert repr(state).startswith(f"GameState(seats={game.default_seats}, turn=")
    assert str(state) == repr(state)


def test_a_notebook_shows_the_zones_that_a_seat_sees():
    game = cardai.load("durak")
    state = game.new(3, seed=3)
    shown = state._repr_html_()
    assert "Durak, 3 seats, ply 0" in shown
    turn = int(state.turn)
    pieces = [re.sub("T", "10", name).translate(str.maketrans("CDHS", "♣♦♥♠")) for name in game.table.pieces]
    hands = [{pieces[piece] for piece in listed_pieces(int(hand))} for hand in state.hands[:3]]
    drawn = base64.b64decode(re.search(r"base64,([^\"]*)", shown)[1]).decode()
    cards = set(re.findall(">(\\w+[♣♦♥♠])<", drawn))
    assert hands[turn] <= cards
    assert cards.isdisjoint(set.union(*hands) - hands[turn])
    assert f"({turn})" not in drawn.replace(f"(seat {turn})", "")


def test_a_notebook_shows_reports_as_tables():
    report = cardai.match(cardai.load("tictactoe"), ["random", "random"], games=20, seed=1)
    assert "<pre" in report._repr_html_()
    assert "random" in report._repr_html_()


def test_a_state_whose_game_cannot_be_told_shows_its_fields():
    state = pickle.loads(pickle.dumps(cardai.load("tictactoe").new(seed=1)))
    assert state._repr_html_().startswith("<pre>GameState(seats=2, turn=0")
