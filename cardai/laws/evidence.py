"""Statistics of the laws: states as bits or hashes, lists of all there are, and how far counts may be from even.

Lists come from chance: states are drawn until nothing new has come for long. If n states are equally likely, and
n (ln n + c) were drawn, then a state is missing from the list with a probability below e^-c.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np

from cardai.game.compiled.native import HEADER

SIGMA = 5.0  # standard deviations from even that break a law
HINT = 4.0  # standard deviations that call for a second, larger sample
MANY_WORLDS = 1024  # in that second sample
FEW = 10.0  # counts expected to be smaller do not make a chi-square
MOST_DRAWN = 200_000  # states drawn to list them
LIKELY, CERTAIN = 8.0, 25.0  # the c above: for a first look, and before a law counts as broken

LOGS = np.array([math.lgamma(n + 1) for n in range(1 << 12)])  # of factorials
RNG = HEADER.index("rng")  # the place of the random stream among a state's words
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def facts(states: np.ndarray) -> np.ndarray:
    """The bytes of states with their random streams set to 0: u8[N, bytes]."""
    given = np.array(states)
    given["rng"] = 0
    return given.view(np.uint8).reshape(len(given), given.dtype.itemsize)


def words(states: np.ndarray) -> np.ndarray:
    """The numbers that states hold, the header's first: i64[N, words], of the same memory if it is contiguous."""
    return np.ascontiguousarray(states).view(np.int64).reshape(len(states), -1)


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
    tail = sum(math.comb(trials, heads) for heads in range(hits, trials + 1)) / 2**trials
    return tail < math.erfc(SIGMA / math.sqrt(2)) / 2


def strictness(cells: int) -> float:
    """The standard deviations of HINT for one of many differences: one sample in 100 has a larger one by chance."""
    return max(HINT, -NormalDist().inv_cdf(0.005 / max(1, cells)))


def off_twice(first: np.ndarray, again: Callable[[], np.ndarray], hint: float = HINT) -> tuple[int, int] | None:
    """Which of some differences from even, in standard deviations, is more than SIGMA: its place and its sign, or None.

    It must be more than `hint` in a `first` sample, and more than SIGMA in a second one, larger and independent, which
    `again` gives. That is taken only if the first one calls for it.
    """
    suspects = np.abs(first) > hint
    if not suspects.any():
        return None
    certain = np.where(suspects, again() * np.sign(first), 0)
    place = int(np.argmax(certain))
    return (place, int(np.sign(first.flat[place]))) if certain.flat[place] > SIGMA else None


def none_drawn(size: np.ndarray, marked: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """P(none of the `marked` cards is among `drawn` ones of `size` cards), each at most 62: f8, broadcast."""
    left = size - marked - drawn
    logarithm = LOGS[size - marked] - LOGS[np.maximum(left, 0)] - LOGS[size] + LOGS[size - drawn]
    return np.where(left >= 0, np.exp(logarithm), 0.0)


def unevenness(counts: Sequence[int], shares: np.ndarray | None = None) -> float:
    """How far counts are from their `shares`, f8[counts], or from even if None, in standard deviations.

    That is chi-square by Wilson and Hilferty's cube root. Counts of which fewer than FEW are expected are taken
    together.
    """
    if len(counts) < 2:
        return math.inf  # the sample before had several worlds
    total = sum(counts)
    expected = [total / len(counts)] * len(counts) if shares is None else (total * shares).tolist()
    pairs = sorted(zip(expected, counts, strict=True))
    while len(pairs) > 2 and shares is not None and pairs[0][0] < FEW:
        pairs = sorted([(pairs[0][0] + pairs[1][0], pairs[0][1] + pairs[1][1]), *pairs[2:]])
    freedom = len(pairs) - 1
    square = sum((count - mean) ** 2 / mean for mean, count in pairs)
    spread = 2 / (9 * freedom)
    return ((square / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)


def marks(states: np.ndarray) -> np.ndarray:
    """A hash of each state without its random stream: u64[N]. Different states have different ones, almost surely."""
    if not len(states):
        return np.zeros(0, np.uint64)
    numbers = words(states).view(np.uint64)
    changing = (numbers != numbers[0]).any(axis=0)
    fixed = ~changing
    changing[RNG] = fixed[RNG] = False
    constant = _mixed(numbers[:1, fixed], np.flatnonzero(fixed)).sum(axis=1, dtype=np.uint64)
    return constant + _mixed(numbers[:, changing], np.flatnonzero(changing)).sum(axis=1, dtype=np.uint64)


def _mixed(words: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """SplitMix64's output function of each word and the number of its column: u64[N, M]."""
    z = words + (columns.astype(np.uint64) + np.uint64(1)) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _FACTORS[0]
    z = (z ^ (z >> np.uint64(27))) * _FACTORS[1]
    return z ^ (z >> np.uint64(31))


def distinct(states: np.ndarray) -> np.ndarray:
    """The states without repetitions: STATE[M], ordered by `marks`."""
    return states[np.unique(marks(states), return_index=True)[1]]


def enough(number: int, surety: float, least: float | None = None) -> int:
    """How many draws show all of `number` states but with a probability below e^-surety.

    `least`: the share of draws of the least likely one; they are equally likely if None.
    """
    share = 1 / number if least is None else least
    return math.ceil((math.log(number) + surety) / share) if number > 1 else math.ceil(2 * surety)


def listed(
    draw: Callable[[int, int], np.ndarray],
    most: int,
    surety: float,
    seed: int,
    weigh: Callable[[np.ndarray], np.ndarray] | None = None,
) -> np.ndarray | None:
    """All states that `draw(count, seed)` gives, STATE[N] by `marks`. None if there seem to be too many.

    That is more than `most`, or if `weigh(states)`, f8[N], says how likely they are, some so rarely drawn that to see
    them takes MOST_DRAWN draws.
    """
    found, drawn = distinct(draw(32, seed)), 32
    while True:
        weights = None if weigh is None else weigh(found)
        needed = enough(len(found), surety, None if weights is None else weights.min() / weights.sum())
        if drawn >= needed:
            return found if len(found) <= most else None
        if len(found) > most or needed > (MOST_DRAWN if weigh else math.inf):
            return None
        more = min(needed - drawn, 8192)
        found = distinct(np.concatenate([found, draw(more, seed + drawn)]))
        drawn += more
