"""Where random streams begin: 64 bits that tell nothing of the seed they come from, nor of each other.

A stream is moved on by SplitMix64, which can be run backwards: who is handed a stream knows where it began. So no
stream that is handed out may begin at something from which the game's seed can be computed. It begins at the output of
SipHash-2-4 (Aumasson and Bernstein 2012), a keyed function whose outputs tell nothing of each other or of the key as
long as the key is secret. The key is the game's seed. Agents are never told it.

That helps only if the seed cannot be guessed: anybody can deal the games of the seeds 0, 1, 2, ... and compare hands.
The seeds of a run are therefore made from a salt too (`cardai.playing.stats.deals`).
"""

from cardai.rules import JIT, rule

# What a number is derived for. Numbers for different purposes are independent.
SEAT, EXPLORING, WORLD, VIEW, LUCK, TEACHING, ANALYSIS = 1, 2, 3, 4, 5, 6, 7

_KEY = 0x6361726461692031  # the second half of the key, "cardai 1"
_MASK = 0xFFFFFFFFFFFFFFFF

if JIT:
    import numpy as np

    @rule
    def _word(number):
        return np.uint64(number)

    @rule
    def _sum(one, other):
        return one + other

else:

    def _word(number):
        return int(number) & _MASK

    def _sum(one, other):
        return (one + other) & _MASK


@rule
def _turned(word, bits):
    """A word rotated to the left."""
    return _word(word << _word(bits)) | (word >> _word(64 - bits))


@rule
def _mixed_once(v0, v1, v2, v3):
    """One SipRound."""
    v0, v2 = _sum(v0, v1), _sum(v2, v3)
    v1, v3 = _turned(v1, 13) ^ v0, _turned(v3, 16) ^ v2
    v0 = _turned(v0, 32)
    v2, v0 = _sum(v2, v1), _sum(v0, v3)
    v1, v3 = _turned(v1, 17) ^ v2, _turned(v3, 21) ^ v0
    v2 = _turned(v2, 32)
    return v0, v1, v2, v3


@rule
def siphash(key0, key1, number):
    """SipHash-2-4 of a uint64, as eight bytes with the lowest first, under the key (key0, key1), two uint64: uint64."""
    v0, v1 = _word(key0) ^ _word(0x736F6D6570736575), _word(key1) ^ _word(0x646F72616E646F6D)
    v2, v3 = _word(key0) ^ _word(0x6C7967656E657261), _word(key1) ^ _word(0x7465646279746573)
    length = _word(8 << 56)
    v3 ^= _word(number)
    for _ in range(2):
        v0, v1, v2, v3 = _mixed_once(v0, v1, v2, v3)
    v0 ^= _word(number)
    v3 ^= length
    for _ in range(2):
        v0, v1, v2, v3 = _mixed_once(v0, v1, v2, v3)
    v0 ^= length
    v2 ^= _word(0xFF)
    for _ in range(4):
        v0, v1, v2, v3 = _mixed_once(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


@rule
def derived(seed, purpose, number):
    """64 bits that belong to a seed, a purpose and a number in 0..2^32-1: uint64.

    Without the seed they look like chance, whatever other derived numbers are known.
    """
    return siphash(seed, _KEY, (purpose << 32) + number)
