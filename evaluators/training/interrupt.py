"""Ctrl-C during training: it ends a run between two steps, not within one."""

import signal
import threading
from types import TracebackType
from typing import Any, Self


class DelayedInterrupt:
    """A context in which the first Ctrl-C only sets `came`. The second one raises KeyboardInterrupt at once.

    Signals reach the main thread alone; in another thread the context does nothing.
    """

    def __init__(self) -> None:
        self.came = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: object) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
