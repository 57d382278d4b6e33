"""Compiles the driver in a second process, while this one compiles the rules of a game.

Numba compiles one function at a time, and the driver takes as long as the rules of a large game. It is the same for all
games, and compiled only if no earlier process has kept it (`cardai.rule.keeping`).
"""

import atexit
import contextlib
import subprocess
import sys

from cardai.kernel import driver
from cardai.rule import JIT
from cardai.rule.keeping import is_kept, may_keep
from cardai.stats.machine import default_threads

_running: list[subprocess.Popen[str]] = []


def begin() -> None:
    """Begin to compile the driver in a second process, if it must be compiled and there is a processor for it."""
    if not JIT or _running or default_threads() < 2 or is_kept(driver.advance) or not may_keep():
        return
    with contextlib.suppress(OSError):  # then this process compiles it
        none = subprocess.DEVNULL
        command = [sys.executable, "-m", "cardai.table.many"]
        _running.append(
            subprocess.Popen(command, stdin=none, stdout=none, stderr=none, text=True, start_new_session=True)
        )
        atexit.register(_end)


def finish() -> None:
    """Wait for the second process, if there is one. Whatever it did not keep is compiled by this one."""
    for process in list(_running):  # several threads may wait for it
        process.wait()
    _running.clear()


def _end() -> None:
    for process in _running:
        process.kill()
        process.wait()
