"""Whether JAX can be used in this process; a CardaiError where it would raise an error of its own, or hang.

JAX reads its settings from the environment, and starts its devices and threads when it computes for the first time.
"""

import os
import sys
from typing import Any

from cardai.errors import CardaiError, short

_has_started, _is_forked = False, False


def _note_fork() -> None:
    global _is_forked
    bridge: Any = sys.modules.get("jax._src.xla_bridge")
    asked = getattr(bridge, "backends_are_initialized", None)
    _is_forked = _is_forked or _has_started or bool(asked is not None and asked())


os.register_at_fork(after_in_child=_note_fork)


def refuse_fork() -> None:
    """Raise CardaiError in a process that was forked from one in which JAX had started: it would wait for ever."""
    if _is_forked:
        raise CardaiError(
            "JAX had started before this process was forked, and would hang here; start processes by the method"
            " 'spawn' (multiprocessing.get_context), or before JAX computes"
        )


def check_settings() -> None:
    """Raise CardaiError if JAX cannot be imported with what the environment sets. Starts no device."""
    refuse_fork()
    try:
        import jax  # noqa: F401
    except ValueError as error:
        raise CardaiError(f"JAX cannot be used: {short(str(error), 200)}") from None


def check_devices() -> None:
    """Raise CardaiError if JAX finds no device to compute on. Starts its devices."""
    global _has_started
    refuse_fork()
    if _has_started:
        return
    check_settings()
    import jax

    try:
        jax.local_devices()
    except (RuntimeError, AssertionError) as error:
        platforms = os.environ.get("JAX_PLATFORMS", "")
        why = f": {short(str(error).splitlines()[0], 200)}" if str(error) else ""
        hint = "unset it to let JAX choose, or set it to 'cpu'"
        asked = f" with JAX_PLATFORMS={platforms!r}; {hint}" if platforms else ""
        raise CardaiError(f"JAX finds no device to compute on here{asked}{why}") from None
    _has_started = True
