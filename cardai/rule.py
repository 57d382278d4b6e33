"""The `@rule` decorator, which compiles rules to native code, and the random stream from which games draw all chance.

A rule is a plain function on integers and on the records of `cardai.game`, with ifs and loops and without Python
objects. With `CARDAI_JIT=0` in the environment the same source runs as plain Python, for a debugger; the results are
the same. `NUMBA_DISABLE_JIT=1` does the same.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from pickle import PickleError
from typing import Any, TypeVar

import numpy as np

from cardai.errors import CardaiError, printable
from cardai.files.writing import in_turn

JIT = os.environ.get("CARDAI_JIT", "1") != "0" and os.environ.get("NUMBA_DISABLE_JIT", "0").strip() in ("", "0")

STREAM = np.dtype((np.record, [("rng", "u8")]))
"""The type of a random stream. A state has the same field, so it can be used as a stream too."""

_GAMMA = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB
_MASK = 0xFFFFFFFFFFFFFFFF

F = TypeVar("F", bound=Callable[..., Any])


class RecursiveRule(CardaiError, TypeError):
    """A rule that calls itself. Compiled code of such a rule could not be cached."""


def cache_root() -> Path:
    """The folder for compiled rules: the environment's `CARDAI_CACHE`, or `cardai` in the user's cache folder."""
    chosen = os.environ.get("CARDAI_CACHE")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cardai"
    except RuntimeError:  # nobody's process, as in a container
        raise CardaiError("there is no home folder to keep compiled rules in; set CARDAI_CACHE to a folder") from None


# Every rule may call rules of these files, so a change in one of them compiles all rules anew.
_FOUNDATION = tuple(Path(__file__).parent / name for name in ("rule.py", "cards.py", "dealing.py", "kernel/native.py"))
_KEPT_GENERATIONS = 64  # those used last; a version of cardai and its games takes about 20


def sources_of(source: Path) -> tuple[Path, ...]:
    """The files whose rules may be called by those of the file `source`.

    For a file of the core these are the foundation, the kernel and the file itself. For other files they are the
    foundation, all files in the same folder, and the kernel if one of these files imports it.
    """
    package = Path(__file__).parent
    kernel = tuple(file for file in sorted((package / "kernel").glob("*.py")) if file not in _FOUNDATION)
    if package in source.parents:
        return *_FOUNDATION, *kernel, *(() if source in (*_FOUNDATION, *kernel) else (source,))
    beside = tuple(sorted(source.parent.glob("*.py")))
    calls_kernel = any(b"cardai.kernel" in file.read_bytes() for file in beside)
    return *_FOUNDATION, *(kernel if calls_kernel else ()), *beside


def cache_folder(source: Path) -> Path:
    """The folder of the compiled rules of the file `source`. Its name is a hash of all files they may depend on.

    Numba's own cache only compares the date of one file. It would keep a rule after a change in another file that the
    rule calls.
    """
    digest = hashlib.blake2b(digest_size=8)
    for file in sources_of(source):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return cache_root() / f"{source.parent.name}-{digest.hexdigest()}"


def _forget_old_generations(root: Path) -> None:
    ages: dict[Path, float] = {}
    with contextlib.suppress(OSError):  # there is no folder yet, or it cannot be read
        for generation in root.iterdir():
            with contextlib.suppress(OSError):  # another process has just removed it
                if generation.is_dir():
                    ages[generation] = generation.stat().st_mtime
    for old in sorted(ages, key=ages.__getitem__, reverse=True)[_KEPT_GENERATIONS:]:
        shutil.rmtree(old, ignore_errors=True)


_told: list[str] = []


def _tell_not_kept(error: OSError) -> None:
    """Say, once in a process, that compiled code is not kept, so that the next process compiles it again."""
    if not _told:
        _told.append(f"compiled code is not kept in {cache_root()}: {error.strerror or error}")
        print(f"cardai: {printable(_told[0])}", file=sys.stderr)


if JIT:
    try:
        from llvmlite import ir
        from numba import njit
    except ValueError as error:  # a setting in the environment, such as NUMBA_NUM_THREADS=0
        raise CardaiError(f"Numba cannot be used: {error}") from None
    from numba.core import types
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
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
    _folder_once = functools.cache(lambda file: cache_folder(Path(file)))

    class _Place(UserProvidedCacheLocator):
        """Where the code of a rule is kept: in the `cache_folder` of its file, which need not be there or be writable.

        The name of the folder depends on all that the code depends on, so that Numba need not compare dates.
        """

        def __init__(self, py_func: Any, py_file: str) -> None:
            self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno
            self._cache_path = str(_folder_once(py_file))

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls(py_func, py_file)

        def get_source_stamp(self) -> bytes:
            return b""

    class _KeptResult(CompileResultCacheImpl):
        _locator_classes = (_Place,)

    class _KeptCode(FunctionCache):
        """Numba's cache, for several processes at once, for a disk that is full and for files that are damaged.

        A cache that may only be read is read. Numba numbers the files of a function. Two processes that save at once
        could take the same number, and a later one would then run the code of other argument types.
        """

        _impl_class = _KeptResult

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """The kept code of a signature, or None if there is none or it cannot be read."""
            try:
                kept = super().load_overload(sig, target_context)
            except (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, ImportError, PickleError):
                with contextlib.suppress(OSError):
                    self.flush()
                return None
            if kept is not None:
                _note_use(Path(self.cache_path))
            return kept

        def save_overload(self, sig: Any, data: Any) -> None:
            """Keep the code of a signature, if that is possible."""
            folder = Path(self.cache_path)
            try:
                if not folder.exists():
                    folder.mkdir(parents=True, exist_ok=True)
                    _forget_old_generations(folder.parent)
                with in_turn(folder):
                    super().save_overload(sig, data)
                _note_use(folder)
            except OSError as error:
                _tell_not_kept(error)

    def _note_use(folder: Path) -> None:
        """Note, once a process, that a cache folder was used now: those not used for longest are forgotten."""
        if folder not in _used:
            _used.add(folder)
            with contextlib.suppress(OSError):  # it may only be read, or belongs to somebody else
                os.utime(folder)

    _used: set[Path] = set()

    def kept(compiled: Any, function: Callable[..., Any]) -> Any:
        """A dispatcher or C callback of Numba whose code is kept in the `cache_folder` of the function's source file.

        A function typed at a prompt has no file, and its code is not kept. If the folder cannot be written to, what is
        in it is used, and a line on stderr says that what is compiled is not kept.
        """
        if Path(function.__code__.co_filename).is_file():
            compiled._cache = _KeptCode(function)
        return compiled

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

    def _compiled(function: F, **more: bool) -> F:
        """The Numba dispatcher of a rule.

        Numba compiles a function once for every constant that a caller passes, and once more as a C callback. Neither
        is of use to rules, and without them a game compiles in a sixth less time: a whole number is an int64.
        """
        options: Any = {"nogil": True, "no_cfunc_wrapper": True, **more}
        found: Any = kept(njit(**options)(function), function)
        template = found.get_call_template
        found.get_call_template = lambda args, kws: template(
            tuple(map(_widened, args)), {name: _widened(kind) for name, kind in kws.items()}
        )
        return found

    def _widened(kind: Any) -> Any:
        """The type of an argument, without the value of a whole number that is known when the rule is compiled."""
        return types.unliteral(kind) if isinstance(kind, types.IntegerLiteral) else kind

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
    def count(cards):
        """The number of cards in a set."""
        return _count(cards)

    @rule
    def lowest(cards):
        """The lowest card of a set that is not empty: int64 in 0..62."""
        return _lowest(cards)

    @rule
    def highest(cards):
        """The highest card of a set that is not empty: int64 in 0..62."""
        return _highest(cards)

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

    inlined = rule

    def count(cards):
        """The number of cards in a set."""
        return int(cards).bit_count()

    def lowest(cards):
        """The lowest card of a set that is not empty."""
        return (int(cards) & -int(cards)).bit_length() - 1

    def highest(cards):
        """The highest card of a set that is not empty."""
        return int(cards).bit_length() - 1

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


@rule
def hashed(bits, n):
    """A whole number in 0..n-1 computed from 64 mixed bits: chance that depends on the bits only, and on no stream."""
    return _high_bits(bits, 31) % n
