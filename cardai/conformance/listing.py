"""Worlds listed one by one, and the states that a seat holds possible after a move: tools of the laws on knowledge.

Two states are the same if all their bytes but those of the random stream are. Lists come from chance: worlds are drawn,
and moves settled with fresh random streams, until nothing new has come for long. If n states are equally likely, and
n (ln n + c) were drawn, then a state is missing from the list with a probability below e^-c.
"""

import math
from collections.abc import Callable

import numpy as np

from cardai.conformance.testbed import Position, Testbed
from cardai.kernel.native import HEADER
from cardai.rule import mixed

RNG = HEADER.index("rng")  # the place of the random stream among a state's words
PUBLIC = HEADER[:RNG]  # the fields before it: everybody sees them
LIKELY, CERTAIN = 8.0, 25.0  # the c above: for a first look, and before a law counts as broken
TEXTS = 12  # texts that are read in a first look
MOST_SETTLED = 150_000  # a move that needs more settling to list its outcomes is not looked at

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def marks(states: np.ndarray) -> np.ndarray:
    """A hash of each state without its random stream: u64[N]. Different states have different ones, almost surely."""
    if not len(states):
        return np.zeros(0, np.uint64)
    words = np.ascontiguousarray(states).view(np.uint64).reshape(len(states), -1)
    changing = (words != words[0]).any(axis=0)
    fixed = ~changing
    changing[RNG] = fixed[RNG] = False
    constant = _mixed(words[:1, fixed], np.flatnonzero(fixed)).sum(axis=1, dtype=np.uint64)
    return constant + _mixed(words[:, changing], np.flatnonzero(changing)).sum(axis=1, dtype=np.uint64)


def _mixed(words: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """SplitMix64's output function of each word and the number of its column: u64[N, M]."""
    z = words + (columns.astype(np.uint64) + np.uint64(1)) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * _FACTORS[0]
    z = (z ^ (z >> np.uint64(27))) * _FACTORS[1]
    return z ^ (z >> np.uint64(31))


def distinct(states: np.ndarray) -> np.ndarray:
    """The states without repetitions: STATE[M], ordered by `marks`."""
    return states[np.unique(marks(states), return_index=True)[1]]


def enough(number: int, surety: float) -> int:
    """How many draws show all of `number` equally likely states but with a probability below e^-surety."""
    return math.ceil(number * (math.log(number) + surety)) if number > 1 else math.ceil(2 * surety)


def listed(draw: Callable[[int, int], np.ndarray], most: int, surety: float, seed: int) -> np.ndarray | None:
    """All states that `draw(count, seed)` gives, STATE[N] by `marks`. None if there seem to be more than `most`."""
    found, drawn = distinct(draw(32, seed)), 32
    while drawn < enough(len(found), surety):
        if len(found) > most:
            return None
        more = min(enough(len(found), surety) - drawn, 8192)
        found = distinct(np.concatenate([found, draw(more, seed + drawn)]))
        drawn += more
    return found if len(found) <= most else None


def worlds_listed(testbed: Testbed, here: Position, seat: int, most: int, surety: float) -> np.ndarray | None:
    """All worlds of a seat, STATE[N] by `marks`. None if there seem to be more than `most`."""
    seed = int(mixed(here.ply + 1_000 * seat))
    return listed(lambda count, salt: testbed.compiled.worlds(here.states, seat, count, seed + salt), most, surety, 0)


def looking_like(
    testbed: Testbed, here: Position, seat: int, states: np.ndarray, texts: int | None = None
) -> np.ndarray:
    """The states that `seat` cannot tell from the true state: STATE[M]. `texts`: as for `look_alike`."""
    return states[look_alike(testbed, here, seat, states, texts)]


def look_alike(testbed: Testbed, here: Position, seat: int, states: np.ndarray, texts: int | None = None) -> np.ndarray:
    """Whether `seat` cannot tell states from the true one by header, encodings, own moves or text: bool[N].

    With `texts`, so many texts are read first, and if all are the same, the rest is taken for the same too.
    """
    truth, show = here.state, testbed.game.show
    alike = np.ones(len(states), bool)
    for name in PUBLIC:
        alike &= states[name] == truth[name]
    rows = testbed.compiled.rows(np.concatenate([here.states, states[alike]]), seat)
    alike[alike] = (rows[1:] == rows[0]).all(axis=1)
    if here.turn == seat and alike.any():
        moves, counts = testbed.compiled.legal(np.concatenate([here.states, states[alike]]))
        if counts[0] > 0:
            moves = moves[:, : counts[0]]
            alike[alike] = (counts[1:] == counts[0]) & (moves[1:] == moves[0]).all(axis=1)
    shown, left = here.ask(show, truth, seat), states[alike]
    if texts is None or any(here.ask(show, state, seat) != shown for state in left[:: len(left) // texts + 1]):
        alike[alike] = [here.ask(show, state, seat) == shown for state in left]
    return alike


def told_alike(testbed: Testbed, here: Position, seat: int, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The moves in worlds that `seat` is told in the same words as the true move: (STATE[N], MOVE[N]), pair by pair.

    A move that the seat knows is the true one, in the worlds in which it is legal: a move of its own, or any if the
    game hides none. Else `legal` gives the moves; some may be missing if it truncates (`is_truncated`).
    """
    if not _hides(testbed, here, seat):
        held = worlds[testbed.compiled.allowed(worlds, here.move)]
        return held, np.repeat(here.move, len(held))
    before, moves = all_moves(testbed, worlds)
    words = testbed.words(here, here.states, here.move, seat)[0]
    alike = np.array([told == words for told in testbed.words(here, before, moves, seat)], bool)
    return before[alike], moves[alike]


def is_truncated(testbed: Testbed, here: Position, seat: int, worlds: np.ndarray) -> bool:
    """Whether `told_alike` may miss moves in worlds, because `legal` truncates them."""
    return _hides(testbed, here, seat) and bool((testbed.compiled.legal(worlds)[1] < 0).any())


def _hides(testbed: Testbed, here: Position, seat: int) -> bool:
    return testbed.game.tell is not None and seat != here.turn


def all_moves(testbed: Testbed, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every legal move in every world: (STATE[N], MOVE[N]), pair by pair."""
    moves, counts = testbed.compiled.legal(worlds)
    numbers = np.minimum(np.abs(counts), testbed.game.max_moves)
    written = np.arange(moves.shape[1]) < numbers[:, None]
    return np.repeat(worlds, numbers), moves[written]


def outcomes(testbed: Testbed, states: np.ndarray, moves: np.ndarray, surety: float, seed: int) -> np.ndarray | None:
    """All settled states that these moves can lead to by chance, STATE[M] by `marks`, each once.

    `states`, `moves`: STATE[N], MOVE[N], pair by pair. Returns None if that takes too many draws.
    """
    chance = np.random.default_rng(seed)
    found, by_chance = _settled(testbed, states, moves, chance)
    lists, uncertain = [distinct(found)], np.flatnonzero(by_chance)
    pairs, seen, rounds = np.arange(len(uncertain)), marks(found[uncertain]), 1
    while len(uncertain):
        first = np.unique(seen + pairs.astype(np.uint64) * _GAMMA, return_index=True)[1]
        pairs, seen = pairs[first], seen[first]  # each outcome of a pair once
        more = enough(int(np.bincount(pairs).max()), surety) - rounds
        if more <= 0:
            break
        if (rounds + more) * len(uncertain) > MOST_SETTLED:
            return None
        found, _ = _settled(testbed, np.tile(states[uncertain], more), np.tile(moves[uncertain], more), chance)
        pairs = np.concatenate([pairs, np.tile(np.arange(len(uncertain)), more)])
        seen = np.concatenate([seen, marks(found)])
        lists.append(distinct(found))
        rounds += more
    return distinct(np.concatenate(lists))


def _settled(
    testbed: Testbed, states: np.ndarray, moves: np.ndarray, chance: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The settled states after moves, each with a fresh stream, STATE[N], and whether chance was drawn, bool[N]."""
    before = states.copy()
    before["rng"] = chance.integers(0, 2**64, len(before), np.uint64)
    after = testbed.compiled.moved(before, moves)
    return after, after["rng"] != before["rng"]
