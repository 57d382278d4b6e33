"""Room for what rules and loops write: records with guards before and behind them, and arrays that begin at a line.

A compiled rule writes where its index says. One that goes on behind its buffer writes into memory that nothing else
uses, and the guards tell of it.
"""

import math
import threading
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.rules import JIT

GUARD = 4096  # bytes right before and behind the block, which must be as they were
SPARE = 1 << 26 if JIT else 0  # bytes behind them; memory that is not written to costs nothing
ROOMY = 1 << 18  # bytes before and behind a block of the compiled loops
KEPT = 1 << 22  # bytes: larger blocks are made anew each time
LINE = 64  # bytes of a line of the processor's cache
_FILLED = bytes([0xA5]) * GUARD

_own = threading.local()


class Fenced:
    """Blank records `block`, DTYPE[count], between guards in `whole`, u8[n]."""

    def __init__(self, whole: np.ndarray, dtype: np.dtype, count: int) -> None:
        self.whole, end = whole, GUARD + count * dtype.itemsize
        self.block = whole[GUARD:end].view(dtype)
        self._guards = whole[:GUARD], whole[end : end + GUARD]
        for guard in self._guards:
            guard.fill(_FILLED[0])

    def is_damaged(self) -> bool:
        """Whether something was written right before or behind the block."""
        return any(guard.tobytes() != _FILLED for guard in self._guards)


def fenced(dtype: np.dtype, count: int) -> Fenced:
    """Blank records for a rule to write, DTYPE[count], until the next call in the same thread.

    A thread keeps its memory for the next time; `forget` gives it up. Raises CardaiError if there is not enough.
    """
    size = count * dtype.itemsize
    try:
        if size > KEPT:  # zeros that nobody has written take no memory
            return Fenced(np.zeros(2 * GUARD + size + SPARE, np.uint8), dtype, count)
        whole = getattr(_own, "whole", None)
        if whole is None:
            whole = _own.whole = np.empty(2 * GUARD + KEPT + SPARE, np.uint8)
    except MemoryError:
        raise _no_memory(count, dtype) from None
    whole[GUARD : GUARD + size].fill(0)
    return Fenced(whole, dtype, count)


def roomy(count: int, dtype: np.dtype) -> np.ndarray:
    """Blank records for the compiled loops, DTYPE[count], with spare memory before and behind them.

    What a rule writes there is lost. Nothing tells of it: `Game.enumerate` and the laws do.
    Raises CardaiError if there is not enough memory.
    """
    size = count * dtype.itemsize
    try:
        whole = (np.zeros if size > KEPT else np.empty)(2 * ROOMY + size, np.uint8)
    except MemoryError:
        raise _no_memory(count, dtype) from None
    block = whole[ROOMY : ROOMY + size]
    if size <= KEPT:
        block.fill(0)
    return block.view(dtype)


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros that begin at a multiple of 64 bytes, so that JAX can take them without copying them.

    Raises CardaiError if there is not enough memory.
    """
    item, count = np.dtype(dtype), math.prod(shape)
    try:
        whole = np.zeros(count * item.itemsize + LINE, np.uint8)
    except (MemoryError, ValueError):
        raise _no_memory(count, item) from None
    first = -whole.ctypes.data % LINE
    return whole[first : first + count * item.itemsize].view(item).reshape(shape)


def forget() -> None:
    """Give up the memory of this thread, after a rule has written far beyond its block."""
    _own.__dict__.pop("whole", None)


def _no_memory(count: int, dtype: np.dtype) -> CardaiError:
    return CardaiError(f"there is no memory for {count} records of {dtype.itemsize} bytes")
