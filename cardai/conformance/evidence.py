"""Statistics of the laws: states as bits, and how far counts of them may be from even by chance."""

import math
from collections.abc import Sequence

import numpy as np

SIGMA = 5.0  # standard deviations from even that break a law
HINT = 4.0  # standard deviations that call for a second, larger sample
MANY_WORLDS = 1024  # in that second sample


def facts(states: np.ndarray) -> np.ndarray:
    """The bytes of states with their random streams set to 0: u8[N, bytes]."""
    given = np.array(states)
    given["rng"] = 0
    return given.view(np.uint8).reshape(len(given), given.dtype.itemsize)


def bits(states: np.ndarray) -> np.ndarray:
    """The bits of `facts`: u8[N, 8 * bytes], the lowest bit of each byte first."""
    return np.unpackbits(facts(states), axis=1, bitorder="little")


def place_of_bit(dtype: np.dtype, bit: int) -> str:
    """The name of a column of `bits`, by field: "hands[2] bit 17"."""
    word, place = divmod(bit, 64)
    fields = dtype.fields
    assert fields is not None
    for name, (kind, offset, *_) in fields.items():
        if offset <= 8 * word < offset + kind.itemsize:
            item = np.unravel_index((8 * word - offset) // 8, kind.shape) if kind.shape else ()
            return name + "".join(f"[{i}]" for i in item) + f" bit {place}"
    return f"bit {bit}"


def is_too_often(hits: int, trials: int) -> bool:
    """Whether `hits` heads in `trials` throws of a fair coin are more than SIGMA standard deviations too many."""
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
    """How far counts are from even, in standard deviations: chi-square by Wilson and Hilferty's cube root."""
    if len(counts) < 2:
        return math.inf  # the sample before had several worlds
    freedom, mean = len(counts) - 1, sum(counts) / len(counts)
    square = sum((count - mean) ** 2 for count in counts) / mean
    spread = 2 / (9 * freedom)
    return ((square / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
