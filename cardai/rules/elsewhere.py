"""Compiles a rule in a copy of this process, while this one compiles other rules.

The copy keeps the code (`cardai.rules.keeping`), and this process loads it from there. What the copy does not keep in
time is compiled here, so that nothing depends on it but time.
"""

import atexit
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0
"""Seconds that a process waits for its copy once it has nothing else to compile."""

_under_way: dict[Any, int] = {}  # rule -> the process that compiles it


def can_begin() -> bool:
    """Whether this process has no copy yet, and can be copied safely: on Linux, without threads that may hold locks."""
    return not _under_way and sys.platform == "linux" and threading.active_count() == 1 and "jax" not in sys.modules


def begin(function: Any, compile_: Callable[[], Any]) -> None:
    """Have a copy of this process compile a rule, by a call of `compile_`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads of NumPy's, which are prepared for it
        try:
            process = os.fork()
        except OSError:  # then this process compiles it
            return
    if process:
        atexit.register(_end)
        _under_way[function] = process
        return
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # what is wrong with the rule is said by the process that needs it
            os.dup2(nowhere, stream)
        compile_()
    finally:
        os._exit(0)


def is_under_way(function: Any) -> bool:
    """Whether a copy of this process compiles a rule."""
    return function in _under_way


def finish(function: Any) -> None:
    """Wait for the copy that compiles a rule, if there is one. It is ended if that takes too long."""
    process, patient_until = _under_way.get(function), time.monotonic() + PATIENCE
    if process is None:
        return
    while not _has_ended(process) and time.monotonic() < patient_until:
        time.sleep(0.005)
    _kill(process)
    _under_way.pop(function, None)  # several threads may wait for it


def _has_ended(process: int) -> bool:
    try:
        return os.waitpid(process, os.WNOHANG)[0] != 0
    except ChildProcessError:  # somebody else has waited for it
        return True


def _kill(process: int) -> None:
    if not _has_ended(process):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _end() -> None:
    for process in _under_way.values():
        _kill(process)
    _under_way.clear()
