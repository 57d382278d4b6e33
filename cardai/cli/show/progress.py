"""The progress line on stderr: what is being done, how much of it is done, and how long the rest will take."""

import sys
import threading
import time
from types import TracebackType
from typing import Self

from cardai.game import Game
from cardai.rules import JIT
from cardai.rules.keeping import is_kept

_SOON = 1.0  # seconds; work that ends earlier shows no line


class Line:
    """A progress line for one piece of work, removed at its end. Call it with (done, total) or (done, total, about).

        with Line("playing", game) as progress:
            play(..., progress=progress)

    It appears when the work has taken a second, called or not. While rules are compiled it says which, and with a game
    also how many of its rules there are to compile. It shows nothing if stderr is not a terminal.
    """

    def __init__(self, about: str, game: Game | None = None) -> None:
        self.about = about
        self._start = time.perf_counter()
        self._bar, self._reached, self._notes = None, (0.0, 1.0), list[str]()
        self._lock, self._ended, self._timer = threading.RLock(), False, threading.Timer(_SOON, self._appear)
        self._timer.daemon = True
        self._game, self._compiled, self._to_compile, self._watcher = game, 0, 0, None
        if sys.stderr.isatty():
            if game is not None and is_cold(game):
                self._to_compile = sum(not is_kept(rule) for rule in {rule for _, rule in game.compiler.all()})
                self._show(f"compiling {game.name}'s rules, once")
            self._timer.start()
            if JIT:
                from cardai.rules.compiling import Watcher

                self._watcher = Watcher(self._say_compiling)

    def __call__(self, done: float, total: float, about: str | None = None) -> None:
        """Show that `done` of `total` is done. `about`, if given, replaces the description."""
        with self._lock:
            self.about = about or self.about
            self._reached = done, total
            if self._bar is None and sys.stderr.isatty() and time.perf_counter() - self._start > _SOON:
                self._show(self.about)
            if self._bar is not None and done:
                self._bar.update(self._task, description=self.about, completed=done, total=total)

    def _say_compiling(self, rule: str) -> None:
        """Say which rule is compiled now."""
        with self._lock:
            self._compiled += 1
            whose = f"{self._game.name}'s {rule}" if self._game is not None else rule
            counted = f", {self._compiled} of {self._to_compile}" if self._compiled <= self._to_compile else ""
            if self._bar is not None and not self._ended:
                self._bar.update(self._task, description=f"compiling {whose}{counted}, once")

    def _appear(self) -> None:
        """Show the line, with what it was called with last, unless the work has ended or it is shown already."""
        with self._lock:
            if self._bar is None and not self._ended:
                self._show(self.about)
                self(*self._reached)

    def note(self, text: str) -> None:
        """Leave a line of text above the progress line, from when that is shown: the result of a part of the work."""
        with self._lock:
            self._notes.append(text)
            self._print_notes()

    def _print_notes(self) -> None:
        if self._bar is not None:
            for text in self._notes:
                self._bar.console.print(text, markup=False, highlight=False)
            self._notes.clear()

    def share(self, part: float) -> None:
        """Show progress as a share, 0 to 1."""
        self(round(100 * part), 100)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.stop()
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()

    def _show(self, words: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(compact=True)
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(words, total=None)
        self._bar.start()
        self._print_notes()


def is_cold(game: Game) -> bool:
    """Whether the game's rules, or the loops that play every game, are not compiled yet."""
    if not JIT:
        return False
    from cardai.playing.compiled import driver

    return not (is_kept(driver.advance) and is_kept(game.rules.deal))
