"""Dense networks scored in compiled code, one row at a time, in the threads that play.

A row is mostly zeros, and so are the activations after a ReLU. So a layer adds the weights of its non-zero inputs to
its bias. The first layer of a row starts from the sums of another row, if few values differ between the two.
Arithmetic is float32, as in JAX; sums are taken in another order, so scores differ by rounding.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import BadArgument, short
from cardai.game.compiled.fence import aligned
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import lend
from cardai.rules import JIT, inlined, lowest, rule

LANES = 16  # float32 numbers that are added at once; the units of a layer are rounded up to a multiple
TOGETHER = 4  # inputs that a turn of the inner loop adds, one after the other

# Where a network's numbers stand in its description, `DenseNetwork.about`.
DEPTH, FEATURES, WIDEST, COPIES, LAYERS = range(5)
# ... and those of a layer, from LAYERS on.
UNITS, WEIGHTS, BIAS, SIZE = range(4)


@dataclass(frozen=True, eq=False)
class DenseNetwork:
    """A dense network in the form that compiled code takes, made by `network`.

    `about`: i64, the numbers above; weights and biases are addresses. `arrays` holds what they point at.
    """

    about: np.ndarray
    arrays: tuple[np.ndarray, ...]

    @property
    def features(self) -> int:
        """The number of values of a row."""
        return int(self.about[FEATURES])

    @property
    def address(self) -> int:
        """What compiled code knows the network by, as long as this object lives."""
        return self.about.ctypes.data

    def score(self, rows: np.ndarray) -> np.ndarray:
        """The scores of rows u8[n, features], as f4[n] in [0, 1]. Raises CardaiError for other rows."""
        if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.shape[1:] != (self.features,):
            raise BadArgument(f"rows must be an array u8[n, {self.features}], not {short(rows)}")
        whole, scores, space = np.ascontiguousarray(rows), np.zeros(max(1, len(rows))), space_for([self])
        if len(rows):
            score_rows(self.address, raw(whole), len(rows), raw(scores), lend(space))
        return scores[: len(rows)].astype(np.float32)


def network(layers: Sequence[tuple[np.ndarray, np.ndarray]]) -> DenseNetwork:
    """A network from its layers: kernels f4[inputs, units] and biases f4[units]. The last has one unit, the logit.

    All but the last are followed by ReLU, and a score is the sigmoid of the logit. Raises CardaiError for arrays that
    do not fit each other.
    """
    if not layers:
        raise BadArgument("a network has at least one layer")
    widths = [*(len(kernel) for kernel, _ in layers), 1]
    for (kernel, bias), shape in zip(layers, itertools.pairwise(widths), strict=True):
        if np.shape(kernel) != shape or np.shape(bias) != shape[1:]:
            raise BadArgument(
                f"a layer has a kernel {np.shape(kernel)} and a bias {np.shape(bias)}, where {shape} fits"
            )
    about, arrays, widest = np.zeros(LAYERS + SIZE * len(layers), np.int64), [], len(layers[0][0])
    for i, (kernel, bias) in enumerate(layers):
        units = -(-len(bias) // LANES) * LANES
        weights, start = aligned((len(kernel), units), np.float32), aligned((1, units), np.float32)
        weights[:, : len(bias)], start[0, : len(bias)] = kernel, bias
        about[LAYERS + SIZE * i : LAYERS + SIZE * (i + 1)] = units, weights.ctypes.data, start.ctypes.data
        arrays += [weights, start]
        widest = max(widest, units)
    about[DEPTH], about[FEATURES], about[WIDEST], about[COPIES] = len(layers), len(layers[0][0]), widest, 1
    return DenseNetwork(about, tuple(arrays))


def renamed(dense: DenseNetwork, columns: np.ndarray) -> DenseNetwork:
    """The network whose score is the mean of the scores of row[columns[0]], row[columns[1]], ...: i64[k, features].

    Its first layer has k copies of the units, which the other layers are asked about one after the other.
    """
    weights, bias = dense.arrays[:2]
    units = weights.shape[1]
    copies, starts = (
        aligned((len(weights), len(columns) * units), np.float32),
        aligned((1, len(columns) * units), np.float32),
    )
    for i, order in enumerate(columns):
        copies[order, i * units : (i + 1) * units] = weights
        starts[0, i * units : (i + 1) * units] = bias[0]
    made = _with_arrays(dense, {0: copies, 1: starts})
    made.about[COPIES] = len(columns)
    made.about[WIDEST] = max(made.about[WIDEST], len(columns) * units)
    return made


def holding(dense: DenseNetwork, columns: np.ndarray, values: np.ndarray) -> DenseNetwork:
    """The network that takes column columns[i] of a row to be values[i], whatever stands there: i64[k], u8[k].

    Their weights become 0, and what they add with these values becomes part of the bias.
    """
    weights, bias = _copied(dense.arrays[0]), _copied(dense.arrays[1])
    bias[0] += (np.asarray(values, np.float64) @ weights[columns].astype(np.float64)).astype(np.float32)
    weights[columns] = 0.0
    return _with_arrays(dense, {0: weights, 1: bias})


def shifted(dense: DenseNetwork, shift: float) -> DenseNetwork:
    """The network with `shift` added to its logit."""
    bias = _copied(dense.arrays[-1])
    bias[0, 0] += np.float32(shift)
    return _with_arrays(dense, {len(dense.arrays) - 1: bias})


def _with_arrays(dense: DenseNetwork, changed: Mapping[int, np.ndarray]) -> DenseNetwork:
    """A network with some of its arrays, by their places, exchanged for others of the same shapes."""
    arrays, about = list(dense.arrays), dense.about.copy()
    for place, array in changed.items():
        arrays[place] = array
        about[LAYERS + SIZE * (place // 2) + (WEIGHTS, BIAS)[place % 2]] = array.ctypes.data
    return DenseNetwork(about, tuple(arrays))


def _copied(array: np.ndarray) -> np.ndarray:
    copied = aligned(array.shape, np.float32)
    copied[:] = array
    return copied


class Workspace(NamedTuple):
    """Working space of one thread for networks of at most W inputs and units."""

    first: Any  # f4[W]: the sums of the first layer for the row that others are compared with
    sums: Any  # f4[W]: of another row
    upper: Any  # f4[W]: the sums of a layer above it
    places: Any  # i64[W]: the inputs of a layer that are not zero
    values: Any  # f4[W]: and their values
    row: Any  # u8[1, W]: the row that others are compared with
    scored: Any  # i64[1]: how many rows were scored


def space_for(networks: Sequence[DenseNetwork]) -> Workspace:
    """Working space for these networks."""
    width = max([LANES, *(int(network.about[WIDEST]) for network in networks)])
    return Workspace(
        aligned((width,), np.float32),
        aligned((width,), np.float32),
        aligned((width,), np.float32),
        np.zeros(width, np.int64),
        np.zeros(width, np.float32),
        np.zeros((1, width), np.uint8),
        np.zeros(1, np.int64),
    )


if JIT:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic as _intrinsic

    from cardai.game.compiled.native import at, clear_bytes, copy, get, load_anywhere, load_byte, set, set_float

    intrinsic: Any = _intrinsic
    _I64, _FLOAT = ir.IntType(64), ir.FloatType()
    _VECTOR = ir.VectorType(_FLOAT, LANES)

    @intrinsic
    def add_rows(typingctx, sums, start, weights, units, places, values, count):
        """sums[j] = start[j] + sum over k < count of values[k] * weights[places[k], j], for j < units.

        All arguments are addresses but `units`, a multiple of LANES, and `count`.
        """

        def codegen(context, builder, signature, args):
            sums, start, weights, units, places, values, count = args
            size = ir.Constant(_I64, 4)

            def vector(base, index):
                address = builder.add(base, builder.mul(index, size))
                return builder.inttoptr(address, _VECTOR.as_pointer())

            def loop(first, step, end, carried, turn):
                """Take turn(i, values) for i = first, first + step, ... up to end - step. It returns the next values.

                carried: the values of the first turn. Returns those after the last turn, and the first i without one.
                """
                head, body, out = (builder.append_basic_block() for _ in range(3))
                before = builder.block
                builder.branch(head)
                builder.position_at_end(head)
                i, values = builder.phi(_I64), [builder.phi(value.type) for value in carried]
                i.add_incoming(first, before)
                for phi, value in zip(values, carried, strict=True):
                    phi.add_incoming(value, before)
                following = builder.add(i, ir.Constant(_I64, step))
                builder.cbranch(builder.icmp_signed("<=", following, end), body, out)
                builder.position_at_end(body)
                for phi, value in zip(values, turn(i, values), strict=True):
                    phi.add_incoming(value, builder.block)
                i.add_incoming(following, builder.block)
                builder.branch(head)
                builder.position_at_end(out)
                return values, i

            def add_input(vectors, k, places_of):
                """Add input k, times its weights, to some vectors of sums. Returns these."""
                eight = ir.Constant(_I64, 8)
                place = builder.load(builder.inttoptr(builder.add(places, builder.mul(k, eight)), _I64.as_pointer()))
                value = builder.load(builder.inttoptr(builder.add(values, builder.mul(k, size)), _FLOAT.as_pointer()))
                one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
                mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
                spread = builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), mask)
                row = builder.add(weights, builder.mul(builder.mul(place, units), size))
                added = []
                for held, unit in zip(vectors, places_of, strict=True):
                    weight = builder.load(vector(row, unit), align=4)
                    product = builder.fmul(spread, weight, flags=("contract",))
                    added.append(builder.fadd(held, product, flags=("contract",)))
                return added

            def add_inputs(together, places_of):
                """Return a turn that adds so many inputs, one after the other."""

                def turn(k, vectors):
                    for i in range(together):
                        vectors = add_input(vectors, builder.add(k, ir.Constant(_I64, i)), places_of)
                    return vectors

                return turn

            def tiles(lanes, first, end):
                """Compute tiles of `lanes` vectors from unit `first` on. Returns the first unit of no whole tile."""

                def tile(j, _):
                    places_of = [builder.add(j, ir.Constant(_I64, LANES * i)) for i in range(lanes)]
                    vectors = [builder.load(vector(start, place), align=4) for place in places_of]
                    k = ir.Constant(_I64, 0)
                    for together in (TOGETHER, 1):
                        vectors, k = loop(k, together, count, vectors, add_inputs(together, places_of))
                    for held, place in zip(vectors, places_of, strict=True):
                        builder.store(held, vector(sums, place), align=4)
                    return []

                return loop(first, lanes * LANES, end, [], tile)[1]

            left = tiles(4, ir.Constant(_I64, 0), units)
            tiles(1, left, units)
            return context.get_dummy_value()

        integer = types.int64
        return types.void(*[integer] * 7), codegen

    @intrinsic
    def get_small(typingctx, column, index):
        """The float32 at place `index` of an array of float32, given by its address."""

        def codegen(context, builder, signature, args):
            address = builder.add(args[0], builder.mul(args[1], ir.Constant(_I64, 4)))
            return builder.load(builder.inttoptr(address, _FLOAT.as_pointer()))

        return types.float32(types.int64, types.int64), codegen

    @intrinsic
    def set_small(typingctx, column, index, value):
        """Write a float32 at place `index` of an array of float32, given by its address."""

        def codegen(context, builder, signature, args):
            address = builder.add(args[0], builder.mul(args[1], ir.Constant(_I64, 4)))
            builder.store(args[2], builder.inttoptr(address, _FLOAT.as_pointer()))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.float32), codegen

    @rule
    def _note(row, other, place, space, count):
        """Note by how much two rows differ in one place. Returns the new count of noted places."""
        difference = np.int64(load_byte(row, place)) - np.int64(load_byte(other, place))
        if difference != 0:
            set(space.places, count, place)
            set_small(space.values, count, np.float32(difference))
            count += 1
        return count

    @rule
    def _differing(row, other, features, space):
        """Note the places in which two rows differ, and by how much. Returns how many there are."""
        count = 0
        for first in range(0, features - 7, 8):
            different = load_anywhere(row, first) ^ load_anywhere(other, first)
            while different != 0:
                byte = lowest(different) >> 3
                count = _note(row, other, first + byte, space, count)
                different &= ~(np.int64(255) << (8 * byte))
        for place in range(features & ~7, features):
            count = _note(row, other, place, space, count)
        return count

    @inlined
    def _note_positive(sums, unit, space, count):
        """Note a unit if it is above 0. Returns the new count of noted units."""
        value = get_small(sums, unit)
        set(space.places, count, unit)
        set_small(space.values, count, value)
        return count + (value > np.float32(0))

    @rule
    def _positive(sums, units, space):
        """Note the units above 0, which a ReLU leaves, and their values. Returns how many there are."""
        count = 0
        for first in range(0, units, 4):  # four in a turn: the compiler does not do that by itself
            count = _note_positive(sums, first, space, count)
            count = _note_positive(sums, first + 1, space, count)
            count = _note_positive(sums, first + 2, space, count)
            count = _note_positive(sums, first + 3, space, count)
        return count

    @rule
    def _score_of_sums(network, depth, sums, units, space):
        """The score that the layers above the first one make of the sums of its units."""
        for layer in range(1, depth):
            of_layer = LAYERS + SIZE * layer
            count = _positive(sums, units, space)
            units, sums = get(network, of_layer + UNITS), space.upper
            add_rows(
                sums,
                get(network, of_layer + BIAS),
                get(network, of_layer + WEIGHTS),
                units,
                space.places,
                space.values,
                count,
            )
        return 1.0 / (1.0 + np.exp(-np.float64(get_small(sums, 0))))

    @rule
    def score_row(network, row, is_first, space):
        """The score of a row by a network: float64 in [0, 1], or not a number if sums overflow.

        `network`: its address; one made by `renamed` gives a mean. `is_first`: whether later rows are compared with
        this one. The rows of a decision differ in few places.
        """
        features, depth, copies = get(network, FEATURES), get(network, DEPTH), get(network, COPIES)
        units, weights, bias = get(network, LAYERS + UNITS), get(network, LAYERS + WEIGHTS), get(network, LAYERS + BIAS)
        if is_first:
            clear_bytes(space.row[0], features)
        count = _differing(row, space.row[0], features, space)
        whole = copies * units
        if is_first:
            add_rows(space.first, bias, weights, whole, space.places, space.values, count)
            copy(space.row[0], row, features)
            first = space.first
        else:
            add_rows(space.sums, space.first, weights, whole, space.places, space.values, count)
            first = space.sums
        set(space.scored, 0, get(space.scored, 0) + 1)
        total = _score_of_sums(network, depth, first, units, space)
        for i in range(1, copies):
            total += _score_of_sums(network, depth, first + 4 * i * units, units, space)
        return total / copies

    @rule
    def score_rows(network, rows, count, scores, space):
        """Score rows[0..count-1], u8[n, features], into f8[n]."""
        for i in range(count):
            set_float(scores, i, score_row(network, at(rows, i), True, space))

else:

    def score_row(network, row, is_first, space):
        """In plain Python evaluators are asked instead: see `cardai.playing.agents.evaluator.network_of`."""
        raise AssertionError

    def score_rows(network, rows, count, scores, space):
        """As `score_row`."""
        raise AssertionError
