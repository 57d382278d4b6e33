"""The `@rule` decorator, which compiles rules to native code, and the random stream from which games draw all chance.

A rule is a plain function on integers and on the records of `cardai.game`, with ifs and loops and without Python
objects. With `CARDAI_JIT=0` in the environment the same source runs as plain Python, for a debugger; the results are
the same. `NUMBA_DISABLE_JIT=1` does the same.
"""

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from cardai.errors import CardaiError

JIT = os.environ.get("CARDAI_JIT", "1") != "0" and os.environ.get("NUMBA_DISABLE_JIT", "0").strip() in ("", "0")

STREAM = np.dtype((np.record, [("rng", "u8")]))
"""The type of a random stream. A state has the same field, so it can be used as a stream too."""

_GAMMA = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_MASK = 0xFFFFFFFFFFFFFFFF

WORD = 60  # cards in each number of a wide set: a set that does not fit in one number; whole ranks of four suits

F = TypeVar("F", bound=Callable[..., Any])


def as_int(cards: Any) -> int:
    """A set of cards of any size, an int64 or int64[words], as a Python int. For plain Python, not for rules."""
    if not isinstance(cards, np.ndarray):
        return int(cards)
    return sum(int(word) << WORD * i for i, word in enumerate(cards))


class RecursiveRule(CardaiError, TypeError):
    """A rule that calls itself. Compiled code of such a rule could not be cached."""


if JIT:
    try:
        from llvmlite import ir
        from numba.core import types
    except ValueError as error:  # a setting in the environment, such as NUMBA_NUM_THREADS=0
        raise CardaiError(f"Numba cannot be used: {error}") from None
    from numba.extending import intrinsic as _intrinsic

    intrinsic: Any = _intrinsic

    def _spare_scipy() -> None:
        """Import what Numba needs to load compiled code, but not the linear algebra of SciPy: a quarter of a second.

        Numba imports that only to see whether it is there. It is installed with cardai, and a rule
        that multiplies matrices imports it when it is compiled or called.
        """
        from numba.np import linalg

        ensure = getattr(linalg, "ensure_blas", None)
        if ensure is not None:
            linalg.ensure_blas = lambda: None
            try:
                import numba.np.arraymath  # noqa: F401
            finally:
                linalg.ensure_blas = ensure

    _spare_scipy()

    from cardai.rules.compiling import compiled_rule

    def rule(function: F) -> F:
        """Compile `function` to native code on first use (Numba nopython, nogil, cached on disk)."""
        code = function.__code__
        if function.__name__ in (*code.co_names, *code.co_freevars):
            where = f"{code.co_filename}, line {code.co_firstlineno}"
            raise RecursiveRule(f"{function.__name__} calls itself; a rule must not, use a loop instead ({where})")
        return _compiled(function)

    def inlined(function: F) -> F:
        """Compile like `rule`, but inline the function into its callers, for hot loops where a call is too slow."""
        return _compiled(function, forceinline=True)

    def separate(function: F) -> F:
        """Compile like `rule`, but apart from its callers: for a large function that many call, and few calls a second.

        It is compiled once for all of them, and they are compiled without it.
        """
        return _compiled(function, is_separate=True)

    def forms(others: Mapping[tuple[int, ...], Any], make: Callable[[F], F] = rule) -> Callable[[F], F]:
        """Make a rule of several forms, chosen by the types of its arguments where it is called.

        `others`: by the dimensions of the first arguments, 0 for a number, the rule that is called instead: (0, 1) is
        a number and an array of one dimension. `make`: `rule` or `separate`.
        """

        def decorated(function: F) -> F:
            found: Any = make(function)
            found.forms = others
            return found

        return decorated

    def _compiled(function: F, is_separate: bool = False, **more: bool) -> F:
        options: Any = {"nogil": True, "no_cfunc_wrapper": True, **more}
        return compiled_rule(function, options, is_separate)

    @intrinsic
    def _count(typingctx, cards):
        def codegen(context, builder, signature, args):
            return builder.ctpop(args[0])

        return types.int64(types.int64), codegen

    @intrinsic
    def _lowest(typingctx, cards):
        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.int64), codegen

    @intrinsic
    def _highest(typingctx, cards):
        def codegen(context, builder, signature, args):
            zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))
            return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

        return types.int64(types.int64), codegen

    @rule
    def _count_words(cards):
        total = 0
        for word in cards:
            total += _count(word)
        return total

    @rule
    def _lowest_of_words(cards):
        for i in range(len(cards)):
            if cards[i] != 0:
                return WORD * i + _lowest(cards[i])
        return -1

    @rule
    def _highest_of_words(cards):
        for i in range(len(cards) - 1, -1, -1):
            if cards[i] != 0:
                return WORD * i + _highest(cards[i])
        return -1

    @forms({(1,): _count_words})
    def count(cards):
        """The number of cards in a set."""
        return _count(cards)

    @forms({(1,): _lowest_of_words})
    def lowest(cards):
        """The lowest card of a set that is not empty: int64."""
        return _lowest(cards)

    @forms({(1,): _highest_of_words})
    def highest(cards):
        """The highest card of a set that is not empty: int64."""
        return _highest(cards)

    def _spreading(width: int) -> Any:
        """Make the function that writes `width` bits as bytes in one vector, without a branch."""

        @intrinsic
        def spread(typingctx, row, first, bits):
            def codegen(context, builder, signature, args):
                start = context.make_array(signature.args[0])(context, builder, args[0]).data
                short = builder.trunc(args[2], ir.IntType(width)) if width < 64 else args[2]
                flags = builder.bitcast(short, ir.VectorType(ir.IntType(1), width))
                values = ir.VectorType(ir.IntType(8), width)
                place = builder.bitcast(builder.gep(start, [args[1]]), values.as_pointer())
                builder.store(builder.zext(flags, values), place, align=1)
                return context.get_dummy_value()

            return types.void(types.Array(types.uint8, 1, "C"), types.int64, types.int64), codegen

        return spread

    _spread_32, _spread_16, _spread_8 = _spreading(32), _spreading(16), _spreading(8)
    _spread_4, _spread_2, _spread_1 = _spreading(4), _spreading(2), _spreading(1)

    @rule
    def write_bits(row, first, bits, n):
        """Write the lowest n bits, 0 to 63, as n values 0 or 1 into u8[...] from place `first` on."""
        if n & 32:
            _spread_32(row, first, bits)
            first, bits = first + 32, bits >> 32
        if n & 16:
            _spread_16(row, first, bits)
            first, bits = first + 16, bits >> 16
        if n & 8:
            _spread_8(row, first, bits)
            first, bits = first + 8, bits >> 8
        if n & 4:
            _spread_4(row, first, bits)
            first, bits = first + 4, bits >> 4
        if n & 2:
            _spread_2(row, first, bits)
            first, bits = first + 2, bits >> 2
        if n & 1:
            _spread_1(row, first, bits)

    @rule
    def mixed(number):
        """SplitMix64's output function (Steele, Lea, Flood 2014): uint64 -> uint64."""
        z = np.uint64(number)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX_1)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX_2)
        return z ^ (z >> np.uint64(31))

    @rule
    def next_bits(stream):
        """Advance `stream` and return its next 64 random bits (SplitMix64), uint64.

        Rules normally use `below` or `uniform` instead.
        """
        stream.rng = np.uint64(stream.rng) + np.uint64(_GAMMA)
        return mixed(stream.rng)

    @rule
    def _high_bits(bits, n):
        return np.int64(bits >> np.uint64(64 - n))

    @rule
    def _passed_over(stream, n):
        """Move `stream` on by the numbers that `shuffle` draws for `n` items, if none of them may have to be refused.

        Returns whether it has done so. There is no branch in the loop, so that several numbers are computed at once.
        """
        bits, refused = np.uint64(stream.rng), 0
        for i in range(n, 1, -1):
            bits += np.uint64(_GAMMA)
            refused |= ((_high_bits(mixed(bits), 32) * i) & 0xFFFFFFFF) < i
        if refused == 0:
            stream.rng = bits
        return refused == 0

else:

    def rule(function: F) -> F:
        """Return `function` unchanged, since `CARDAI_JIT=0`."""
        return function

    inlined = separate = rule

    def forms(others: Mapping[tuple[int, ...], Any], make: Callable[[F], F] = rule) -> Callable[[F], F]:
        """Make a rule of several forms, chosen by the dimensions of its arguments."""

        def decorated(function: F) -> F:
            usual = make(function)

            def chosen(*arguments):
                for dimensions, other in others.items():
                    if all(getattr(one, "ndim", 0) == n for one, n in zip(arguments, dimensions, strict=False)):
                        return other(*arguments)
                return usual(*arguments)

            found: Any = functools.wraps(function)(chosen)
            return found

        return decorated

    def count(cards):
        """The number of cards in a set."""
        return as_int(cards).bit_count()

    def lowest(cards):
        """The lowest card of a set that is not empty."""
        cards = as_int(cards)
        return (cards & -cards).bit_length() - 1

    def highest(cards):
        """The highest card of a set that is not empty."""
        return as_int(cards).bit_length() - 1

    def write_bits(row, first, bits, n):
        """Write the lowest n bits, 0 to 63, as n values 0 or 1 into u8[...] from place `first` on."""
        for i in range(n):
            row[first + i] = int(bits) >> i & 1

    def mixed(number):
        """SplitMix64's output function (Steele, Lea, Flood 2014)."""
        z = int(number) & _MASK
        z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
        z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
        return z ^ (z >> 31)

    def next_bits(stream):
        """Advance `stream` and return its next 64 random bits (SplitMix64).

        Rules normally use `below` or `uniform` instead.
        """
        stream.rng = (int(stream.rng) + _GAMMA) & _MASK
        return mixed(stream.rng)

    def _high_bits(bits, n):
        return bits >> (64 - n)

    def _passed_over(stream, n):
        return False


@rule
def _below_large(stream, n):
    """`below` by blocks of n: a number of 63 bits is refused if the block it lies in is cut off at 2^63."""
    bits = _high_bits(next_bits(stream), 63)
    while bits - bits % n > 0x7FFFFFFFFFFFFFFF - n + 1:
        bits = _high_bits(next_bits(stream), 63)
    return bits % n


@rule
def below(stream, n):
    """A whole number drawn evenly from 0..n-1, for 1 <= n <= 2^62 (exactly even by rejection).

    Below 2^31 this is the method of Lemire (2019), which seldom divides.
    """
    if n >= 0x80000000:
        return _below_large(stream, n)
    product = _high_bits(next_bits(stream), 32) * n
    if (product & 0xFFFFFFFF) < n:
        threshold = (0x100000000 - n) % n
        while (product & 0xFFFFFFFF) < threshold:
            product = _high_bits(next_bits(stream), 32) * n
    return product >> 32


@rule
def uniform(stream):
    """A number drawn evenly from [0, 1): float64 with 53 random bits."""
    return _high_bits(next_bits(stream), 53) * (1.0 / 9007199254740992.0)


@rule
def shuffle(stream, items, first, end):
    """Put `items[first:end]` in random order, in place (Fisher-Yates)."""
    for i in range(end - 1, first, -1):
        j = first + below(stream, i - first + 1)
        kept = items[i]
        items[i] = items[j]
        items[j] = kept


@rule
def skip_shuffle(stream, n):
    """Move `stream` on to where it would be after `shuffle` of `n` items, in a quarter of the time."""
    if not _passed_over(stream, n):
        for i in range(n, 1, -1):
            below(stream, i)


@rule
def truncated(n):
    """The return value of `legal` if its buffer was too small: it wrote `n` moves, and there are more."""
    return -n


def listing(legal: Callable[..., Any], move: np.dtype, max_moves: int) -> Any:
    """Make the rule `moves(world) -> MOVE[n]`, which gives a player of a game the legal moves of its world.

    `legal`, `move`, `max_moves`: those of the game. The rule `legal` itself does not look how long the buffer is that
    it is given, so one that is shorter than `max_moves` is overrun, and the process dies of it.
    """

    @rule
    def moves(world):
        listed = np.empty(max_moves, move)
        return listed[: abs(legal(world, listed))]

    return moves


@rule
def hashed(bits, n):
    """A whole number in 0..n-1 computed from 64 mixed bits: chance that depends on the bits only, and on no stream."""
    return _high_bits(bits, 31) % n
