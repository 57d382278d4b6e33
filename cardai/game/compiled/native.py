"""Calls from the driver to a game's compiled rules, by address, so that one compiled driver serves every game.

A *handle* stands for a record in the driver: its address in compiled code, or the NumPy record itself under
`CARDAI_JIT=0`. A *block* is an array of records, and a *column* an array of 64-bit numbers; `raw` makes both from NumPy
arrays. `entry` compiles one rule for the record types of its game; the `call_*` functions take what it returns.

Most functions below come twice: first for compiled code, then, under the same names, for `CARDAI_JIT=0`.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cardai.rules import JIT, STREAM, mixed, next_bits, rule, uniform


class Role(NamedTuple):
    """What a rule in some role is called with, and what it returns: its type, and in words."""

    parameters: tuple[str, ...]
    result: str = "void"
    returns: str = "nothing"


ROLES = {
    "deal": Role(("state",)),
    "legal": Role(("state", "moves"), "int64", "the number of moves that it wrote"),
    "act": Role(("state", "move")),
    "settle": Role(("state",)),
    "score": Role(("state", "seat"), "float64", "a number in the range of the payoff"),
    "resample": Role(("state", "seat", "stream")),
    "is_legal": Role(("state", "move"), "int64", "True or False"),
    "together": Role(("state",), "int64", "a set of seats"),
    "encode": Role(("state", "seat", "row")),
    "value": Role(("state", "seat"), "float64", "a number"),
    "outcome": Role(("state", "seat"), "float64", "a number"),
    "decided": Role(("state", "seat"), "float64", "a number"),
    "choose": Role(("world", "move", "params", "stream")),
    "blank": Role(("state", "seat")),
    "is_open": Role(("state",), "int64", "True or False"),
    "simplify": Role(("state",)),
    "weight": Role(("state",), "float64", "a number above 0"),
}
"""The roles of a game's rules. The first eight are those of `CompiledRules.calls`, in its order."""

HEADER = ("seats", "turn", "ply", "revealed", "midway", "rng")
"""The core's own fields, which every state begins with; eight bytes each."""

if JIT:
    import numba
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic as _intrinsic

    from cardai.rules.compiling import address_of, native_address

    intrinsic: Any = _intrinsic

    _I64 = ir.IntType(64)
    _BYTES = ir.IntType(8).as_pointer()
    _ARRAY = ir.LiteralStructType([_BYTES, _BYTES, _I64, _I64, _BYTES, ir.ArrayType(_I64, 1), ir.ArrayType(_I64, 1)])

    def entry(role: str, function: Callable[..., Any], state: np.dtype, move: np.dtype) -> int:
        """Compile a rule for its role. Returns the address to call."""
        record, played = numba.from_dtype(state), numba.from_dtype(move)
        kinds = {
            "state": record,
            "world": record,
            "move": played,
            "moves": types.Array(played, 1, "C"),
            "seat": types.int64,
            "stream": numba.from_dtype(STREAM),
            "row": types.Array(types.uint8, 1, "C"),
            "params": types.Array(types.float64, 1, "C"),
        }
        signature = getattr(types, ROLES[role].result)(*(kinds[name] for name in ROLES[role].parameters))
        source = getattr(function, "py_func", function)
        return address_of(source, signature)

    def _caller(role: str) -> Any:
        """Make the function that calls a rule of this role by its address.

        It takes the address and the rule's arguments: handles for records, and for an array the handle of its first
        item, the number of items, and the bytes of an item.
        """
        parameters, result = ROLES[role].parameters, ROLES[role].result
        array = types.UniTuple(types.int64, 3)
        kinds = [array if name in ("moves", "row", "params") else types.int64 for name in parameters]
        signature = getattr(types, result)(types.int64, types.Tuple(kinds))

        def codegen(context, builder, signature, args):
            values = []
            for name, value in zip(parameters, cgutils.unpack_tuple(builder, args[1]), strict=True):
                if name == "seat":
                    values.append(value)
                elif isinstance(value.type, ir.IntType):
                    values.append(builder.inttoptr(value, _BYTES))
                else:
                    first, items, size = cgutils.unpack_tuple(builder, value)
                    array = ir.Constant(_ARRAY, ir.Undefined)
                    null = ir.Constant(_BYTES, None)
                    parts = (null, null, items, size, builder.inttoptr(first, _BYTES), items, size)
                    for index, part in enumerate(parts):
                        array = builder.insert_value(array, part, index if index < 5 else [index, 0])
                    values.append(array)
            c_type = {"void": _BYTES, "int64": _I64, "float64": ir.DoubleType()}[result]
            signature_type = ir.FunctionType(c_type, [v.type for v in values])
            called = builder.call(builder.inttoptr(args[0], signature_type.as_pointer()), values)
            return context.get_dummy_value() if result == "void" else called

        @intrinsic
        def call(typingctx, function, *arguments):
            return signature, codegen

        return call

    _ITEMS = {
        "int64": (types.int64, _I64, 8), "float64": (types.float64, ir.DoubleType(), 8),
        "int64 anywhere": (types.int64, _I64, 1), "byte": (types.int64, ir.IntType(8), 1),
    }  # fmt: skip
    """Numbers in memory: the type in a rule, the type in memory, and the bytes to which they are aligned."""

    def _loader(kind: str) -> Any:
        """Make the function that reads a number at a handle plus `offset` bytes."""

        @intrinsic
        def load(typingctx, address, offset):
            number, item, align = _ITEMS[kind]

            def codegen(context, builder, signature, args):
                place = builder.inttoptr(builder.add(args[0], args[1]), item.as_pointer())
                found = builder.load(place, align=align)
                return builder.zext(found, _I64) if kind == "byte" else found

            return number(types.int64, types.int64), codegen

        return load

    def _storer(kind: str) -> Any:
        """Make the function that writes a number at a handle plus `offset` bytes."""

        @intrinsic
        def store(typingctx, address, offset, value):
            number, item, align = _ITEMS[kind]

            def codegen(context, builder, signature, args):
                place = builder.inttoptr(builder.add(args[0], args[1]), item.as_pointer())
                builder.store(builder.trunc(args[2], item) if kind == "byte" else args[2], place, align=align)
                return context.get_dummy_value()

            return types.void(types.int64, types.int64, number), codegen

        return store

    load, load_float, store, store_float = _loader("int64"), _loader("float64"), _storer("int64"), _storer("float64")
    load_anywhere, load_byte, store_byte = _loader("int64 anywhere"), _loader("byte"), _storer("byte")

    @intrinsic
    def copy(typingctx, target, source, size):
        """Make the record at `target` equal to the one at `source`, `size` bytes long."""

        def codegen(context, builder, signature, args):
            cgutils.raw_memcpy(
                builder, builder.inttoptr(args[0], _BYTES), builder.inttoptr(args[1], _BYTES), args[2], 1
            )
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64), codegen

    @intrinsic
    def clear_bytes(typingctx, address, size):
        """Fill `size` bytes with zeros."""

        def codegen(context, builder, signature, args):
            cgutils.memset(builder, builder.inttoptr(args[0], _BYTES), args[1], 0)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    @intrinsic
    def guessed(typingctx, value, guess):
        """An int64 `value` that is probably `guess`. The processor goes on with the guess before it knows the value."""

        def codegen(context, builder, signature, args):
            kind = ir.FunctionType(_I64, [_I64])
            result = cgutils.alloca_once_value(builder, args[0])
            with builder.if_then(builder.icmp_signed("==", args[0], args[1]), likely=True):
                # No instruction, but the compiler cannot see that it is equal to `value`, and leaves the branch in.
                builder.store(builder.asm(kind, "", "=r,0", [args[1]], side_effect=True), result)
            return builder.load(result)

        return types.int64(types.int64, types.int64), codegen

    _legal, _encode, _choose = _caller("legal"), _caller("encode"), _caller("choose")

    def raw(array: np.ndarray) -> Any:
        """An array as the driver takes it.

        Records become a block, (address, bytes of a record); rows of bytes, (address, bytes of a row); 64-bit and
        float32 numbers a column, their address. The caller must keep the array alive. The driver uses plain addresses
        because counting references to arrays would cost it more time than playing the game.
        """
        assert array.flags.c_contiguous
        if array.dtype.names or array.dtype == np.uint8:
            return array.ctypes.data, array.dtype.itemsize if array.dtype.names else array.shape[-1]
        assert array.dtype.itemsize == 8 or array.dtype == np.float32
        return array.ctypes.data

    _CLOCK = getattr(time, "CLOCK_THREAD_CPUTIME_ID", 0)

    @intrinsic
    def _nanoseconds(typingctx):
        """The clock of this thread, which stands still while other programs have the processor."""

        def codegen(context, builder, signature, args):
            pair = cgutils.alloca_once(builder, ir.ArrayType(_I64, 2))
            kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), pair.type])
            clock = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
            builder.call(clock, [ir.Constant(ir.IntType(32), _CLOCK), pair])
            seconds = builder.load(cgutils.gep_inbounds(builder, pair, 0, 0))
            rest = builder.load(cgutils.gep_inbounds(builder, pair, 0, 1))
            return builder.add(builder.mul(seconds, ir.Constant(_I64, 1_000_000_000)), rest)

        return types.int64(), codegen

    @rule
    def now():
        """Nanoseconds that processors have spent on this thread."""
        return _nanoseconds()

    @rule
    def at(block, index):
        """The handle of record `index` of a block."""
        return block[0] + index * block[1]

    @rule
    def get(column, index):
        """The int64 at place `index` of a column."""
        return load(column, 8 * index)

    @rule
    def set(column, index, value):
        """Write an int64 at place `index` of a column."""
        store(column, 8 * index, np.int64(value))

    @rule
    def get_float(column, index):
        """The float64 at place `index` of a column."""
        return load_float(column, 8 * index)

    @rule
    def set_float(column, index, value):
        """Write a float64 at place `index` of a column."""
        store_float(column, 8 * index, np.float64(value))

    @rule
    def same(one, other, size):
        """Returns whether two records hold the same bytes. `size`: bytes, a multiple of eight."""
        for offset in range(0, size, 8):
            if load(one, offset) != load(other, offset):
                return False
        return True

    @rule
    def copy_small(target, source, size):
        """Copy a small record, faster than a call of memcpy. `size`: bytes, a multiple of eight."""
        for offset in range(0, size, 8):
            store(target, offset, load(source, offset))

    @rule
    def clear(record, size):
        """Fill a record with zeros. `size`: bytes, a multiple of eight."""
        for offset in range(0, size, 8):
            store(record, offset, 0)

    @rule
    def is_sealed(state, sealed, seat):
        """Whether a seat's choice waits for those of others. `sealed`: the place and the row of `state.sealed`."""
        return load(state, sealed[0] + seat * sealed[1]) != 0

    @rule
    def unseal(state, sealed):
        """Take back all choices that wait, and their plies."""
        for seat in range(load(state, 0)):
            if is_sealed(state, sealed, seat):
                clear_bytes(state + sealed[0] + seat * sealed[1], sealed[1])
                store(state, 16, load(state, 16) - 1)

    @rule
    def seed_state(state, bits):
        """Set the random stream of a state to `bits`."""
        store(state, 40, np.int64(bits))

    @rule
    def seed_stream(stream, bits):
        """Set a random stream to `bits`."""
        store(stream, 0, np.int64(bits))

    @rule
    def next_of(stream):
        """The next 64 random bits of a stream given by its handle: uint64."""
        bits = np.uint64(load(stream, 0)) + np.uint64(0x9E3779B97F4A7C15)
        store(stream, 0, np.int64(bits))
        return mixed(bits)

    @rule
    def below_of(stream, n):
        """`below`, for a stream given by its handle. Probabilities are off by less than 2^-32."""
        return np.int64(((next_of(stream) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))

    @rule
    def uniform_of(stream):
        """`uniform`, for a stream given by its handle."""
        return np.int64(next_of(stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)

    @rule
    def call_legal(function, state, moves, first, room):
        return _legal(function, state, (at(moves, first), room, moves[1]))

    @rule
    def call_encode(function, state, seat, rows, index):
        _encode(function, state, seat, (at(rows, index), rows[1], 1))

    @rule
    def clear_row(rows, index):
        """Fill row `index` of u8[n, width] with zeros."""
        clear_bytes(at(rows, index), rows[1])

    @rule
    def set_in_row(rows, index, place, value):
        """Write a byte, 0 to 255, at a place of row `index` of u8[n, width]."""
        store_byte(at(rows, index), place, value)

    @rule
    def hash_row(rows, index):
        """A hash of row `index` of u8[n, width]: an int64, not negative."""
        row, width, key = at(rows, index), rows[1], np.uint64(0)
        for offset in range(0, width - 7, 8):
            key = (key ^ np.uint64(load_anywhere(row, offset))) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
        for offset in range(width & ~7, width):
            key = (key ^ np.uint64(load_byte(row, offset))) * np.uint64(0x9E3779B97F4A7C15)
        return np.int64((key ^ (key >> np.uint64(29))) >> np.uint64(1))

    @rule
    def keys_of(record, size, first, second):
        """Two hashes of a record, int64, begun with `first` and `second`. `size`: bytes, a multiple of eight."""
        one, two = np.uint64(first), np.uint64(second)
        for offset in range(0, size, 8):
            word = np.uint64(load(record, offset))
            one = (one ^ word) * np.uint64(0x9E3779B97F4A7C15)
            two = (two + word) * np.uint64(0xD1B54A32D192ED03)
            one ^= one >> np.uint64(32)
            two ^= two >> np.uint64(29)
        return np.int64(one), np.int64(two)

    @rule
    def same_row(rows, one, other):
        """Whether two rows of u8[n, width] are equal."""
        first, second, width = at(rows, one), at(rows, other), rows[1]
        for offset in range(0, width - 7, 8):
            if load_anywhere(first, offset) != load_anywhere(second, offset):
                return False
        for offset in range(width & ~7, width):
            if load_byte(first, offset) != load_byte(second, offset):
                return False
        return True

    @rule
    def row_of(floats, index, width, length):
        """The first `length` numbers of row `index` of f8[n, width], as a table with one row."""
        return floats + 8 * index * width

    @rule
    def call_choose(function, world, move, params, index, width, stream):
        _choose(function, world, move, (params + 8 * index * width, width, 8), stream)

    @intrinsic
    def call_separate(typingctx, function, arguments):
        """Call a rule that returns an int64, by its `separate_address` for arguments of these types."""

        def codegen(context, builder, signature, args):
            kinds, values = list(signature.args[1].types), cgutils.unpack_tuple(builder, args[1])
            called = context.call_conv.get_function_type(types.int64, kinds).as_pointer()
            pointer = builder.inttoptr(args[0], called)
            status, result = context.call_conv.call_function(builder, pointer, types.int64, kinds, values)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        return types.int64(types.int64, arguments), codegen

    def separate_address(function: Any, arguments: tuple[Any, ...]) -> int:
        """The address of a separate rule that returns an int64, for arguments of the same types as these."""
        return native_address(function, tuple(map(numba.typeof, arguments)))

    def addresses(functions: list[Any]) -> Any:
        """What `entry` returned for N rules, as int64[N]."""
        return np.array(functions, np.int64)

else:

    def entry(role: str, function: Callable[..., Any], state: np.dtype, move: np.dtype) -> Any:
        """The rule itself: nothing is compiled under `CARDAI_JIT=0`."""
        return function

    def raw(array: Any) -> Any:
        """An array as the driver takes it: the array itself."""
        return array

    def at(block, index):
        return block[index]

    def now():
        return time.thread_time_ns()

    def get(column, index):
        return column[index] if isinstance(column, list) else int(column.flat[index])

    def get_float(column, index):
        return float(column.flat[index])

    def set(column, index, value):
        column.flat[index] = value

    set_float = set

    def guessed(value, guess):
        return value

    def copy(target, source, size):
        for name in source.dtype.names:
            target[name] = source[name]

    copy_small = copy

    def same(one, other, size):
        return one.tobytes() == other.tobytes()

    def clear(record, size):
        for name in record.dtype.names:
            record[name] = 0

    def load(record, offset):
        return int(record[HEADER[offset // 8]])

    def store(record, offset, value):
        record[HEADER[offset // 8]] = value

    def is_sealed(state, sealed, seat):
        return bool(state.sealed[seat, 0])

    def unseal(state, sealed):
        state.ply -= int(state.sealed[:, 0].sum())
        state.sealed[:] = 0

    def seed_state(state, bits):
        state.rng = bits

    def seed_stream(stream, bits):
        stream.rng = bits

    next_of = next_bits

    def below_of(stream, n):
        return ((next_bits(stream) >> 32) * int(n)) >> 32

    def uniform_of(stream):
        return uniform(stream)

    def _caller(role: str) -> Any:
        """Make the function that calls a rule of this role."""
        of_type = {"void": lambda nothing: None, "int64": int, "float64": float}[ROLES[role].result]
        return lambda function, *arguments: of_type(function(*arguments))

    def call_legal(function, state, moves, first, room):
        return function(state, moves[first : first + room])

    def call_encode(function, state, seat, rows, index):
        function(state, seat, rows[index])

    def clear_row(rows, index):
        rows[index] = 0

    def set_in_row(rows, index, place, value):
        rows[index, place] = value

    def hash_row(rows, index):
        return hash(rows[index].tobytes()) & 0x7FFFFFFFFFFFFFFF

    def keys_of(record, size, first, second):
        one, two = int(first), int(second)
        for word in map(int, np.frombuffer(record.tobytes(), np.uint64)):
            one = ((one ^ word) * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
            two = ((two + word) * 0xD1B54A32D192ED03) & 0xFFFFFFFFFFFFFFFF
            one ^= one >> 32
            two ^= two >> 29
        return one - (one >> 63 << 64), two - (two >> 63 << 64)

    def same_row(rows, one, other):
        return bool((rows[one] == rows[other]).all())

    def row_of(floats, index, width, length):
        return floats[index : index + 1, :length]

    def call_choose(function, world, move, params, index, width, stream):
        function(world, move, params[index], stream)

    def call_separate(function, arguments):
        return function(*arguments)

    def separate_address(function: Any, arguments: tuple[Any, ...]) -> Any:
        """The rule itself."""
        return function

    def addresses(functions: list[Any]) -> Any:
        return functions


@rule
def seats_of(state):
    """The number of seats."""
    return load(state, 0)


@rule
def turn_of(state):
    """The seat to move, -1 when the game is over."""
    return load(state, 8)


@rule
def ply_of(state):
    """The number of moves played so far."""
    return load(state, 16)


@rule
def revealed_of(state):
    """The set of seats to whom the last move turned up a hidden card."""
    return load(state, 24)


@rule
def is_midway(state):
    """Whether the seat to move is in the middle of a decision."""
    return load(state, 32) != 0


@rule
def begin_ply(state):
    """Before a move: increase `ply`, and clear `revealed` and `midway`."""
    store(state, 16, load(state, 16) + 1)
    store(state, 24, 0)
    store(state, 32, 0)


@rule
def clear_path(state):
    """Clear `ply`, `revealed` and the stream, which say how a position was reached and not what follows."""
    store(state, 16, 0)
    store(state, 24, 0)
    store(state, 40, 0)


call_deal, call_act, call_settle = _caller("deal"), _caller("act"), _caller("settle")
call_score, call_resample, call_blank = _caller("score"), _caller("resample"), _caller("blank")
call_is_legal, call_is_open, call_simplify = _caller("is_legal"), _caller("is_open"), _caller("simplify")
call_weight = _caller("weight")
call_together = _caller("together")
