"""Compiles the driver, or the largest rule of a game, in a copy of this process, while it compiles the other rules.

Numba compiles one function at a time, and the driver takes as long as the rules of a large game. It is the same for all
games, and compiled only if no earlier process has kept it (`cardai.rules.keeping`). If one has, there is a processor
for the rule that takes longest: of Hearts' rules one takes longer than all others together.
"""

import os
from collections.abc import Callable

from cardai.game import Game
from cardai.game.compiled import native
from cardai.playing.compiled import driver
from cardai.playing.machine import default_threads
from cardai.rules import JIT, elsewhere
from cardai.rules.keeping import Unkept, is_kept, may_keep, size_of

LARGE = 4000
"""Bytes of Python code in a rule that is worth a second process: it takes a second to compile."""


def begin(game: Game, compile_driver: Callable[[], None]) -> None:
    """Begin to compile in a second process, if something must be compiled and there is a processor for it.

    `compile_driver`: `cardai.playing.table.many.compile_driver`, which takes a while to import.
    """
    if not JIT or default_threads() < 2 or not may_keep() or not elsewhere.can_begin():
        return
    if is_kept(driver.advance):
        _begin_rule(game)
    else:
        elsewhere.begin(driver.advance, compile_driver)


def _begin_rule(game: Game) -> None:
    """Begin to compile the largest of a game's rules, if this process has others to compile."""
    missing = [(role, rule) for role, rule in game.compiler.own() if not is_kept(rule)]
    if len(missing) < 2 or not _has_free_processor():
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


def finish() -> None:
    """Wait for the driver, if a copy compiles it. What that did not keep is compiled by this process."""
    elsewhere.finish(driver.advance)
