"""Compiles the driver in a copy of this process, while it compiles the rules of a game.

Numba compiles one function at a time, and the driver takes as long as the rules of a large game. It is the same for all
games, and compiled only if no earlier process has kept it (`cardai.rules.keeping`).
"""

from collections.abc import Callable

from cardai.playing.compiled import driver
from cardai.playing.machine import default_threads
from cardai.rules import JIT, elsewhere
from cardai.rules.keeping import is_kept, may_keep


def begin(compile_driver: Callable[[], None]) -> None:
    """Begin to compile the driver in a second process, if it must be compiled and there is a processor for it.

    `compile_driver`: `cardai.playing.table.many.compile_driver`, which takes a while to import.
    """
    if JIT and default_threads() > 1 and may_keep() and elsewhere.can_begin() and not is_kept(driver.advance):
        elsewhere.begin(driver.advance, compile_driver)


def finish() -> None:
    """Wait for the driver, if a copy compiles it. What that did not keep is compiled by this process."""
    elsewhere.finish(driver.advance)
