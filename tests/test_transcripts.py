"""Golden transcripts: every game has at least three, and today's rules replay them to the last line."""

import pytest
from transcripts import ROOT, MismatchError, files, game_of, main, played, read, replay, written

from cardai.registry import available, load

GAMES = [*sorted(available()), "crazy", "goofspiel", "hanabi", "holdem"]
FILES = [file for folder in sorted(ROOT.iterdir()) for file in files(folder.name)]


def text_of(file):
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_three_transcripts(name):
    assert len(files(name)) >= 3, f"add some: python tests/transcripts.py add {name} NAME --players ..."


def test_every_folder_of_transcripts_is_a_game():
    assert {folder.name for folder in ROOT.iterdir()} <= {*GAMES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_transcript_replays(file):
    transcript = read(text_of(file))
    replay(game_of(file.parent.name), transcript)
    assert written(transcript) == text_of(file)


@pytest.mark.parametrize("name", GAMES)
def test_transcripts_of_a_game_differ(name):
    texts = {text_of(file).partition("\n\n")[2] for file in files(name)}
    assert len(texts) == len(files(name))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("p0 b2", "p0 c3", "saw"),
        ("p0 b2\np1 a1", "p0 b2\np1 b2", "no move here"),
        ("p0 b2\np1 a1", "p1 b2\np0 a1", "turn"),
        ("p0 b2", "p0 B2", "spelled"),
        ("p0 0.5, p1 0.5", "p0 1, p1 0", "scores"),
        ("version: 1", "version: 2", "written for"),
        ("\n[p0 sees]\n    3  X O X", "\nscores: \n[p0 sees]\n    3  X O O", "saw"),
    ],
)
def test_replay_notices_a_changed_line(old, new, complaint):
    text = text_of(ROOT / "tictactoe" / "drawn.txt")
    assert old in text
    with pytest.raises(MismatchError, match=complaint):
        replay(load("tictactoe"), read(text.replace(old, new)))


def test_replay_notices_a_missing_end():
    text = text_of(ROOT / "tictactoe" / "drawn.txt")
    transcript = read(text)
    while transcript.events[-1][0] != "move":
        transcript.events.pop()
    transcript.events.pop()
    with pytest.raises(MismatchError, match="not over"):
        replay(load("tictactoe"), transcript)


def test_a_transcript_is_written_again_from_its_header(tmp_path, monkeypatch):
    monkeypatch.setattr("transcripts.ROOT", tmp_path)
    main(["add", "tictactoe", "one", "--players", "greedy:open_lines,random", "--seed", "5"])
    file = tmp_path / "tictactoe" / "one.txt"
    before = text_of(file)
    file.write_text(before.replace("scores: ", "scores: p9 1, "), encoding="utf-8")
    main(["write", "tictactoe"])
    assert text_of(file) == before == written(played(load("tictactoe"), "standard", 5, ["greedy:open_lines", "random"]))
