"""`cardai new-game` writes a complete game that keeps every law, and never writes over anything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cardai
from cardai.cli import scaffold
from cardai.cli.scaffold import create
from cardai.laws import check

ROOT = Path(__file__).parent.parent


@pytest.fixture
def unload():
    """Forget modules loaded in a test, so that another can load a game of the same name."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("fresh_"):
            del sys.modules[name]


@pytest.mark.usefixtures("unload")
def test_a_new_game_keeps_every_law_at_once(tmp_path):
    place = create("fresh_game", tmp_path)
    game = cardai.load(str(place))
    assert (game.name, game.title) == ("fresh_game", "Fresh Game")
    assert [verdict for verdict in check(game, seed=1, effort="quick") if verdict.verdict == "broken"] == []


def test_a_new_games_own_test_passes(tmp_path):
    place = create("fresh_tested", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(place)],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 passed" in done.stdout


def test_the_general_part_of_the_test_is_true_of_other_rules_and_the_sample_is_not(tmp_path):
    place = create("fresh_replaced", tmp_path)
    (place / "__init__.py").write_text((ROOT / "games/tictactoe/__init__.py").read_text("utf-8"), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", str(place)],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    ends = re.findall(r"^(PASSED|FAILED) \S+?::(\S+)", done.stdout, re.MULTILINE)
    assert sorted((end, "SampleGame" in test) for end, test in ends) == [
        ("FAILED", True), ("FAILED", True), ("PASSED", False), ("PASSED", False)
    ], done.stdout  # fmt: skip


def test_a_new_game_has_all_its_files_and_nothing_of_the_template_is_left(tmp_path):
    place = create("fresh_files", tmp_path)
    assert sorted(file.name for file in place.iterdir()) == ["RULES.md", "__init__.py", "test_fresh_files.py"]
    for file in place.iterdir():
        text = file.read_text("utf-8")
        assert "mygame" not in text
        assert "My Game" not in text
        assert "fresh_files" in text or "Fresh Files" in text
    assert [one.name for one in tmp_path.iterdir()] == ["fresh_files"]


@pytest.mark.usefixtures("unload")
def test_the_hand_written_player_of_a_new_game_beats_random(tmp_path):
    from cardai.measure.bench import run_match

    game = cardai.load(str(create("fresh_match", tmp_path)))
    careful, random = run_match(game, ["careful", "random"], games=400, seed=1).rows
    assert careful.score.low > random.score.high


@pytest.mark.parametrize("name", ["", "2fast", "my-game", "my game", "class", "../up", "a/b", "_hidden", "pokér"])
def test_a_name_that_is_no_modules_is_refused(tmp_path, name):
    with pytest.raises(cardai.CardaiError, match="cannot be a game's name"):
        create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["tictactoe", "json", "numpy", "cardai"])
def test_a_name_that_is_taken_is_refused(tmp_path, name):
    with pytest.raises(cardai.CardaiError, match="already the name of"):
        create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_exists_is_never_written_over(tmp_path):
    file = tmp_path / "fresh_file"
    file.write_text("mine")
    folder = tmp_path / "fresh_folder"
    folder.mkdir()
    (tmp_path / "fresh_link").symlink_to(tmp_path / "nowhere")
    for name in ("fresh_file", "fresh_folder", "fresh_link"):
        with pytest.raises(cardai.CardaiError, match="exists already"):
            create(name, tmp_path)
    assert file.read_text() == "mine"
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "nowhere").exists()


def test_a_place_that_may_not_be_written_to_is_refused(tmp_path):
    (tmp_path / "file").write_text("")  # nobody, not even root, makes a folder in a file
    with pytest.raises(cardai.CardaiError, match=r"cannot write to .*file"):
        create("fresh_locked", tmp_path / "file")
    assert (tmp_path / "file").read_text() == ""


def test_a_write_that_fails_half_way_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(scaffold, "FILES", (*scaffold.FILES, "missing.md"))
    with pytest.raises(cardai.CardaiError, match="cannot write to"):
        create("fresh_half", tmp_path)
    assert list(tmp_path.iterdir()) == []
