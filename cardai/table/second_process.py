"""Compiles the driver, or the largest rule of a game, in a second process, while this one compiles the other rules.

Numba compiles one function at a time, and the driver takes as long as the rules of a large game. It is the same for all
games, and compiled only if no earlier process has kept it (`cardai.rule.keeping`). If one has, there is a processor for
the rule that takes longest: of Hearts' rules one takes longer than all others together.
"""

import atexit
import contextlib
import os
import subprocess
import sys

from cardai.game import Game
from cardai.kernel import driver, native
from cardai.rule import JIT, elsewhere
from cardai.rule.keeping import Unkept, is_kept, may_keep, size_of
from cardai.stats.machine import default_threads

LARGE = 4000
"""Bytes of Python code in a rule that is worth a second process: it takes a second to compile."""

_running: list[subprocess.Popen[str]] = []


def begin(game: Game) -> None:
    """Begin to compile in a second process, if something must be compiled and there is a processor for it."""
    if not JIT or _running or default_threads() < 2 or not may_keep():
        return
    if is_kept(driver.advance):
        _begin_rule(game)
    else:
        _begin_driver()


def _begin_rule(game: Game) -> None:
    """Begin to compile the largest of a game's rules, if this process has others to compile."""
    missing = [(role, rule) for role, rule in game.own_rules() if not is_kept(rule)]
    if len(missing) < 2 or not _has_free_processor() or not elsewhere.can_begin():
        return
    try:
        size, role, rule = max(((size_of(rule), role, rule) for role, rule in missing), key=lambda item: item[0])
    except Unkept:
        return
    if size >= LARGE:
        elsewhere.begin(rule, lambda: native.entry(role, rule, game.state, game.move))


def _has_free_processor() -> bool:
    """Whether at least one processor was free in the last minute. Else a second process would only cost, about 1 s."""
    try:
        return os.getloadavg()[0] <= default_threads() - 1
    except (OSError, AttributeError):  # unknown, or not known on this system
        return False


def _begin_driver() -> None:
    with contextlib.suppress(OSError):  # then this process compiles it
        none = subprocess.DEVNULL
        command = [sys.executable, "-P", "-m", "cardai.table.many"]
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
