"""`cardai check --watch` tests a game again after each edit, and leaves the terminal as it was."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
import small_game

from cardai.cli.main import run

SHOW = "def show(state, seat):\n"
LAWS = ("every_call_returns", "scores_are_shares")
CHECK = [sys.executable, "-m", "cardai", "check", "mine.py", "--watch"]


class Terminal:
    """A command in a terminal of its own. `text`: what it has printed."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.screen, inside = pty.openpty()
        self.before, self.text = termios.tcgetattr(inside), ""
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=inside, stdout=inside, stderr=inside, start_new_session=True
        )
        os.close(inside)
        os.set_blocking(self.screen, False)

    def until(self, pattern: str, seconds: float = 240.0) -> float:
        """Wait until a pattern is printed, and forget what was before. Returns the seconds that it took."""
        start = time.monotonic()
        while not (found := re.search(pattern, self.text)):
            with contextlib.suppress(BlockingIOError):
                self.text += os.read(self.screen, 1 << 16).decode("utf-8", "replace").replace("\r\n", "\n")
            assert time.monotonic() - start < seconds, self.text
            assert self.process.poll() is None or re.search(pattern, self.text), self.text
            time.sleep(0.05)
        self.text = self.text[found.end() :]
        return time.monotonic() - start


def test_an_edit_is_tested_and_a_syntax_error_is_a_sentence(tmp_path: Path) -> None:
    source, mine = Path(small_game.__file__).read_text("utf-8"), tmp_path / "mine.py"
    mine.write_text(source, "utf-8")
    line = source[: source.index(SHOW)].count("\n") + 1
    terminal = Terminal([*CHECK, *(word for law in LAWS for word in ("--law", law)), "--variant", "two"], tmp_path)
    try:
        terminal.until(r"low_hand: 0 broken, .* 1 holds\n.*low_hand: 0 broken, .* 1 holds\n")
        mine.write_text(source.replace(SHOW, f"{SHOW}    return 3\n"), "utf-8")
        terminal.until(r"mine\.py changed\n")
        took = terminal.until(rf"show for seat 0 returns 3; it\s+must\s[^(]*\(\S*mine\.py,\s+line\s+{line}\)")
        assert took < 15  # on a quiet machine: 2
        mine.write_text(source.replace(SHOW, SHOW.replace(":", "")), "utf-8")
        terminal.until(r"cardai: mine\.py does not load: SyntaxError: expected ':' \(mine\.py, line \d+\)")
        mine.write_text(source, "utf-8")
        terminal.until(r"low_hand: 0 broken, .* 1 holds\n")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until("interrupted")
        assert terminal.process.wait(20) == 130
        assert termios.tcgetattr(terminal.screen) == terminal.before
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.screen)


def test_a_watch_goes_neither_with_json_nor_strict(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--json", "--strict"):
        assert run(["check", "tictactoe", "--watch", option]) == 2
        assert "--watch" in capsys.readouterr().err
