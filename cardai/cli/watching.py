"""`cardai check`: test a game; with `--watch`, again after each edit of its files, the laws that were broken first.

Each round runs in a process of its own, which imports the game anew: rules that have not changed come from the cache of
compiled code, which is keyed by content. An edit during a round ends it. Which laws an edit can break cannot be told
from the functions that it changes, since nearly every law plays games. So all laws are tested again, but in two parts:
first those that were broken, with the law that calls every function, whose verdicts are printed at once.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from cardai.cli.show import laws
from cardai.cli.show.console import say
from cardai.cli.show.progress import Line
from cardai.errors import CardaiError, is_framework
from cardai.game import Game
from cardai.laws import LAWS, LawResult, check
from cardai.registry import load

FIRST = "every_call_returns"  # the law that finds most slips, and is quick
GLANCE = 0.2  # seconds between two looks at the files
PATIENCE = 3.0  # seconds in which a round may end by itself
_PROGRAM = "from cardai.cli.watching import round_of_laws; round_of_laws()"


def checked(game: Game, options: dict[str, Any], verbose: bool, is_quiet: bool = False) -> list[LawResult]:
    """Test laws on a game, with a progress line, and print the results unless it `is_quiet`."""
    with Line("checking", game) as line:
        verdicts = check(game, **options, progress=lambda name, done, total: line(done, total, name))
    if not is_quiet:
        say(laws.report(game.name, verdicts, verbose))
    return verdicts


def watch(game: str, options: dict[str, Any], verbose: bool) -> None:
    """Test a game, given by its name or path, until Ctrl-C. `options`: arguments of `cardai.laws.check`.

    Raises KeyboardInterrupt; the terminal is left as it was.
    """
    broken: list[str] = []
    files, about = _files_of(game), f"{game}: press Ctrl-C to end"
    print(about, flush=True)
    while True:
        seen = _contents(files)
        with _Round({"game": game, "options": options, "verbose": verbose, "first": broken}) as tested:
            while tested.goes_on() and not (changed := _changed(files, seen)):
                time.sleep(GLANCE)
            found = tested.answers()
        broken, files = found.get("broken", broken), sorted({*_files_of(game), *found.get("files", files)})
        seen = {file: seen.get(file, content) for file, content in _contents(files).items()}
        while not (changed := _changed(files := sorted({*files, *_files_of(game)}), seen)):
            time.sleep(GLANCE)
        print(f"\n--- {time.strftime('%H:%M:%S')}, {', '.join(changed)} changed", flush=True)


def _files_of(game: str) -> list[str]:
    """The Python files of a game that is given by its path; [] for a name, whose files are known once it is loaded."""
    path = Path(game)
    if path.is_dir():
        return sorted(str(file.resolve()) for file in path.rglob("*.py") if "__pycache__" not in file.parts)
    return [str(path.resolve())] if path.suffix == ".py" or path.exists() else []


def _contents(files: list[str]) -> dict[str, bytes | None]:
    """What is in each file, or None if it cannot be read now, as while an editor replaces it."""
    found: dict[str, bytes | None] = {}
    for file in files:
        found[file] = None
        with contextlib.suppress(OSError):
            found[file] = Path(file).read_bytes()
    return found


def _changed(files: list[str], seen: dict[str, bytes | None]) -> list[str]:
    """The names of files with other contents than were seen, once they no longer change; [] if there are none."""
    now = _contents(files)
    if now == seen or not any(now.values()):
        return []
    time.sleep(GLANCE)
    if now != _contents(files):
        return []
    return [Path(file).name for file in sorted({*now, *seen}) if now.get(file) != seen.get(file)]


class _Round:
    """A process that tests the laws once. It prints to the same terminal, and is ended with the block."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.pipe, answers = os.pipe()
        os.set_blocking(self.pipe, False)
        self.received = b""
        command = [sys.executable, "-P", "-c", _PROGRAM, json.dumps({**request, "answers": answers, "path": sys.path})]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[answers])
        os.close(answers)

    def __enter__(self) -> "_Round":
        return self

    def __exit__(self, *_: object) -> None:
        if self.goes_on():
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.pipe)
        if sys.stderr.isatty():
            print("\x1b[?25h", end="", file=sys.stderr, flush=True)  # the cursor, if a progress line was cut off

    def goes_on(self) -> bool:
        """Whether the process still runs. Takes what it has answered."""
        ended = self.process.poll() is not None
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.pipe, 1 << 16):
                self.received += data
        return not ended

    def answers(self) -> dict[str, Any]:
        """What it has answered so far: "files" that it has loaded and laws that are "broken", the last of each."""
        found: dict[str, Any] = {}
        for line in self.received.splitlines():
            found |= json.loads(line)
        return found


def round_of_laws() -> None:
    """Test the laws once, those that were broken before first. Runs in a process of its own (see `watch`)."""
    request = json.loads(sys.argv[1])
    sys.path[:] = request["path"]
    names = request["options"]["laws"] or list(LAWS)

    def answer(**found: list[str]) -> None:
        os.write(request["answers"], json.dumps(found).encode() + b"\n")

    try:
        game = load(request["game"])
        modules = [str(Path(file).resolve()) for module in list(sys.modules.values()) if (file := _source(module))]
        answer(files=modules)
        broken = {*request["first"]}
        early = [law for law in names if law in broken or law == FIRST]
        for part in (early, [law for law in names if law not in early]):
            for result in checked(game, {**request["options"], "laws": part}, request["verbose"]) if part else ():
                (broken.add if result.verdict == "broken" else broken.discard)(result.law)
            answer(broken=sorted(broken))
    except CardaiError as error:
        print(f"cardai: {error}", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        os._exit(130)  # the files have changed, or the watch ends


def _source(module: object) -> str | None:
    """The file of a module that somebody may edit: not of this framework, of Python or of a package."""
    file: Any = getattr(module, "__file__", None)
    is_editable = isinstance(file, str) and file.endswith(".py") and "-packages" not in file
    return file if is_editable and not is_framework(file) else None
