"""Streams that are closed, disks that are full and places that cannot be written to: one sentence, exit code 2.

Every verb prints to a full device and to a reader that has left, is asked for JSON, and reads no input. Every verb that
writes does so on a full disk, into a folder's name and into a folder that is none. Nothing half-written stays.
"""

import errno
import io
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cardai.cli import main as cli
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.files.writing import append_line

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-m", "cardai"]
PAIR = "random,greedy:open_lines"
LEDUC = str(ROOT / "examples/leduc")

PRINTING = {
    "agents": "agents tictactoe",
    "analyse": "analyse g.jsonl",
    "bench": "bench tictactoe --games 4 --agent random",
    "check": "check tictactoe --effort quick --law encodings_fit_a_byte",
    "complexity": "complexity tictactoe --games 20",
    "doctor": "doctor",
    "export": "export tictactoe g.jsonl --npz rows.npz --overwrite",
    "exact": "exact grade tictactoe --agent greedy:open_lines",
    "games": "games",
    "match": f"match tictactoe --seats {PAIR} --games 4",
    "new-game": "new-game mine_fresh",
    "perf": "perf tictactoe --seconds 0.001 --repeats 1",
    "play": "play tictactoe --moves-from moves.txt",
    "replay": "replay g.jsonl",
    "reproduce": "reproduce",
    "rules": "rules tictactoe",
    "selfplay": "selfplay tictactoe --agent random --games 4 --out new.jsonl",
}
ELSEWHERE = {
    "help": "has no answer to print",
    "iterate": "prints by `show`, as `train` does; tests/test_iterate.py",
    "learn": "prints by `show`, as `train` does; tests/test_learn.py",
    "report": "tests/test_report.py",
    "serve": "serves until it is stopped; tests/guests/web/test_web.py",
    "study": "prints by `show`; tests/guests/web/test_study.py",
    "train": "prints by `show`; its files are tested in tests/test_train.py",
    "tune": "prints by `show`; tests/test_tune.py",
}
WRITING = {  # a verb, and the file it writes
    f"match tictactoe --seats {PAIR} --games 3000 --record {{}}": "new.jsonl",
    f"match tictactoe --seats {PAIR} --games 3000 --threads 2 --record {{}} ": "new.jsonl.gz",
    "selfplay tictactoe --agent random --games 3000 --out {}": "new.jsonl.gz",
    "play tictactoe --moves-from moves.txt --record {}": "new.jsonl",
    "complexity tictactoe --games 20 --figure {}": "new.svg",
    "analyse g.jsonl --figure {}": "new.png",
    "export tictactoe g.jsonl --npz {}": "new.npz",
    "new-game {}": "fresh_written",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch, recorded):
    monkeypatch.chdir(tmp_path)
    shutil.copy(recorded, "g.jsonl")
    Path("moves.txt").write_text("".join(f"{number % 9 + 1}\n" for number in range(60)))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    place = tmp_path_factory.mktemp("recorded") / "g.jsonl"
    assert run(["match", "tictactoe", "--seats", PAIR, "--games", "4", "--record", str(place)]) == 0
    return place


class Broken(io.StringIO):
    """A stream on which writing, or only flushing, fails."""

    def __init__(self, number: int, at_once: bool = True) -> None:
        super().__init__()
        self.number, self.at_once = number, at_once

    def fail(self):
        raise OSError(self.number, os.strerror(self.number))  # for EPIPE, this is a BrokenPipeError

    def write(self, text):
        return self.fail() if self.at_once else len(text)

    def flush(self):
        self.fail()


def files() -> set[str]:
    return {str(path) for path in Path().rglob("*") if "__pycache__" not in path.parts}


def refused(code: int, capsys, words: str) -> None:
    """Assert one sentence on stderr and exit code 2."""
    err = capsys.readouterr().err
    assert code == 2, err
    assert err.startswith("cardai: ")
    assert err.count("\n") == 1
    assert words in err


def test_every_verb_is_here():
    cli.add_verbs()
    verbs = {name for name in cli.app if not name.startswith("-")}
    assert verbs == {*PRINTING, *ELSEWHERE} - {"help"}


@pytest.mark.parametrize("verb", PRINTING)
def test_a_verb_that_cannot_print_says_so(verb, capsys, monkeypatch):
    tokens = PRINTING[verb].split()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Broken(errno.ENOSPC))
        code = run(tokens)
    refused(code, capsys, "cannot print: No space left on device")
    for made in ("new.jsonl", "mine_fresh"):  # whole, though nobody was told
        assert not list(Path().glob(f"{made}*.part"))
    shutil.rmtree("mine_fresh", ignore_errors=True)
    Path("new.jsonl").unlink(missing_ok=True)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Broken(errno.EPIPE, at_once=False))
        code = run(tokens)
    assert (code, capsys.readouterr().err) == (141, "")


@pytest.mark.parametrize("verb", sorted({*PRINTING} - {"play"}))
def test_no_verb_but_play_waits_for_input(verb, capsys, monkeypatch):
    class Unread(io.StringIO):
        def readline(self, *_):
            raise AssertionError("read from")

        read = __next__ = readline

    monkeypatch.setattr(sys, "stdin", Unread())
    assert run(PRINTING[verb].split()) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("limit", [0, 300])
@pytest.mark.parametrize("line", WRITING)
def test_a_full_disk_leaves_nothing(line, limit, capsys):
    name = WRITING[line]
    assert run(line.format(f"warm_{name}").split()) == 0  # so that nothing is compiled, and written, below
    capsys.readouterr()
    before, soft = files(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, soft[1]))
    try:
        code = run(line.format(name).split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, soft)
    refused(code, capsys, "cannot write")
    assert files() == before


@pytest.mark.parametrize("line", [line for line in WRITING if not line.startswith("new-game")])
@pytest.mark.parametrize("place", ["folder{}", "missing/new{}", "moves.txt/new{}", "/proc/new{}"])
def test_what_cannot_be_written_to_is_refused(line, place, capsys):
    ending = WRITING[line].removeprefix("new")
    target = place.format(ending)
    if place == "folder{}":
        Path(target).mkdir()
    before = files()
    refused(run(line.format(target).split()), capsys, "")
    assert files() == before


@pytest.mark.parametrize("before", ["", "one\n"])
def test_a_line_is_added_whole_or_not_at_all(tmp_path, before):
    place = tmp_path / "history.jsonl"
    if before:
        place.write_text(before)
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, soft[1]))
    try:
        with pytest.raises(CardaiError, match=r"cannot write .*history"):
            append_line(place, "x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, soft)
    assert place.exists() == bool(before)
    append_line(place, "two")
    assert place.read_text() == before + "two\n"


SHELL = {
    "{} games > /dev/full": (2, "cardai: cannot print: No space left on device\n"),
    "{} complexity tictactoe --perft 2 >&-": (2, "cardai: standard output is closed: there is nowhere to print to\n"),
    "{} play tictactoe <&- >/dev/null": (2, "cardai: the input ended, and the game is not over\n"),
    "{} play tictactoe </dev/null >/dev/null": (2, "cardai: the input ended, and the game is not over\n"),
    "{} complexity nosuchgame 2>/dev/full": (2, ""),
    "{} complexity nosuchgame 2>&-": (2, ""),
}


@pytest.mark.parametrize("line", SHELL)
def test_closed_and_full_streams_of_a_process(line):
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # it hides failed flushes
    command = ["sh", "-c", line.format(" ".join(COMMAND))]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == SHELL[line]
    assert done.stdout == ""


def test_a_record_never_takes_the_place_of_a_closed_stream():
    line = f"{' '.join(COMMAND)} match tictactoe --seats {PAIR} --games 4 --record new.jsonl >&- 2>&- <&-"
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 2
    assert not list(Path().glob("new*"))


def test_a_bug_that_the_system_did_not_make_keeps_its_traceback(monkeypatch):
    def fail():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "lost.txt")

    monkeypatch.setattr("cardai.registry.available", fail)
    with pytest.raises(FileNotFoundError):
        run(["games"])
