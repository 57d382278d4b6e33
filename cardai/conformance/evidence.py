"""Evidence: states as bits, and how far from even a count of them may be by chance."""

import math
from collections.abc import Sequence

import numpy as np

SIGMA = 5.0  # how far from even a count may be by chance
HINT = 4.0  # how far it must be for a second, larger look
MANY_WORLDS = 1024  # for that second look


def facts(states: np.ndarray) -> np.ndarray:
    """What states say apart from their random stream: u8[N, bytes]."""
    given = np.array(states)
    given["rng"] = 0
    return given.view(np.uint8).reshape(len(given), given.dtype.itemsize)


def bits(states: np.ndarray) -> np.ndarray:
    """The same bit by bit: u8[N, 8 * bytes], the lowest bit of a byte first."""
    return np.unpackbits(facts(states), axis=1, bitorder="little")


def place_of_bit(dtype: np.dtype, bit: int) -> str:
    """What a bit of `bits` belongs to: "hands[2] bit 17"."""
    word, place = divmod(bit, 64)
    fields = dtype.fields
    assert fields is not None
    for name, (kind, offset, *_) in fields.items():
        if offset <= 8 * word < offset + kind.itemsize:
            item = np.unravel_index((8 * word - offset) // 8, kind.shape) if kind.shape else ()
            return name + "".join(f"[{i}]" for i in item) + f" bit {place}"
    return f"bit {bit}"


def is_too_often(hits: int, trials: int) -> bool:
    """Whether heads in `hits` of `trials` throws of a fair coin are more than SIGMA too many."""
    return _tail(hits, trials, 0.5) < math.erfc(SIGMA / math.sqrt(2)) / 2


def _tail(hits: int, trials: int, p: float) -> float:
    """P(at least `hits` of `trials`), each with probability p."""
    every = math.lgamma(trials + 1)
    return sum(
        math.exp(
            every - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * math.log(p) + (trials - k) * math.log1p(-p)
        )
        for k in range(hits, trials + 1)
    )


def unevenness(counts: Sequence[int]) -> float:
    """How many sigma counts are from even: chi-square by Wilson and Hilferty's cube root."""
    if len(counts) < 2:
        return math.inf  # there were several worlds a moment ago
    freedom, mean = len(counts) - 1, sum(counts) / len(counts)
    square = sum((count - mean) ** 2 for count in counts) / mean
    spread = 2 / (9 * freedom)
    return ((square / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
