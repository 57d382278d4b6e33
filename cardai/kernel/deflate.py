"""Deflate (RFC 1951) in compiled code, for what is packed while games are played. zlib and gzip unpack it.

zlib chooses a code for each piece that it packs, and takes a third of the time in which a hand-written player plays the
game that is packed. Here the code is given: it was made before, for pieces of this kind, and packing is one pass.
"""

import functools
import heapq
import struct
import zlib
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from cardai.rule import highest, rule

_END, _RUNS = 256, 257  # literal symbols: the end of a block, and the first of those for repeats
_LONGEST, _SHORTEST = 258, 3  # bytes in a repeat
_REACH = 1 << 15  # how many bytes back a repeat may begin
_WORTHWHILE = 6  # a shorter repeat takes about as many bits as its bytes
_BLOCK = 1 << 15  # bytes of text that are packed together
_HASHES = 1 << 12
_LENGTH_ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)  # RFC 1951, 3.2.7
BASE64 = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)

_BEGINS = np.ones(256, np.int64)  # in base64, repeats are not worth the search
_BEGINS[BASE64] = 0


class Code(NamedTuple):
    """A code of deflate. Bits are in the order in which they are written, the first is the lowest."""

    header: Any  # i64[n, 2]: (bits, how many), the beginning of a block that uses the code
    header_size: int  # bits of the header
    bits: Any  # i64[L]: of each literal symbol; without repeats there are 257
    sizes: Any  # i64[L]: how many bits these are
    run_bits: Any  # i64[259]: of a repeat of n bytes
    run_sizes: Any  # i64[259]
    far_bits: Any  # i64[D]: of each distance symbol
    far_sizes: Any  # i64[D]


@rule
def put(out, end, waiting, held, bits, size):
    """Write some bits, at most 30. `waiting`: the `held` bits not yet in `out`. Returns (end, waiting, held)."""
    waiting |= bits << held
    held += size
    if held >= 32:
        out[end], out[end + 1] = waiting & 255, (waiting >> 8) & 255
        out[end + 2], out[end + 3] = (waiting >> 16) & 255, (waiting >> 24) & 255
        return end + 4, waiting >> 32, held - 32
    return end, waiting, held


@rule
def put_rest(out, end, waiting, held):
    """Write the bits that wait, up to a whole byte. Returns the end."""
    while held > 0:
        out[end] = waiting & 255
        end += 1
        waiting >>= 8
        held -= 8
    return end


@rule
def put_header(code, out, end, waiting, held):
    """Begin a block. Returns (end, waiting, held)."""
    for i in range(len(code.header)):
        end, waiting, held = put(out, end, waiting, held, code.header[i, 0], code.header[i, 1])
    return end, waiting, held


@rule
def put_zlib(content, size, code, out):
    """Write content[:size] as a zlib stream of one block without repeats. Returns how many bytes it has."""
    out[0], out[1] = 0x78, 0x01
    low, high = 1, 0  # the two sums of Adler-32
    end, waiting, held = put_header(code, out, 2, 0, 0)
    for i in range(0, size - 1, 2):  # two at once, since `put` takes longest
        one, two = np.int64(content[i]), np.int64(content[i + 1])
        low += one + two
        high += low + low - two
        bits, first = code.bits[one] | code.bits[two] << code.sizes[one], code.sizes[one]
        end, waiting, held = put(out, end, waiting, held, bits, first + code.sizes[two])
    if size % 2 == 1:
        byte = np.int64(content[size - 1])
        low += byte
        high += low
        end, waiting, held = put(out, end, waiting, held, code.bits[byte], code.sizes[byte])
    end, waiting, held = put(out, end, waiting, held, code.bits[_END], code.sizes[_END])
    end = put_rest(out, end, waiting, held)
    checksum = (high % 65521) << 16 | low % 65521
    for shift in range(24, -1, -8):
        out[end] = (checksum >> shift) & 255
        end += 1
    return end


@rule
def is_shorter(content, size, one, other):
    """Whether a block of content[:size] takes fewer bits in one code than in the other."""
    difference = one.header_size - other.header_size
    for i in range(size):
        difference += one.sizes[content[i]] - other.sizes[content[i]]
    return difference < 0


@rule
def put_base64(packed, size, alphabet, text, end):
    """Write packed[:size], which is followed by two zeros, as base64 to `text` from `end` on. Returns the new end."""
    for i in range(0, size, 3):
        bits = np.int64(packed[i]) << 16 | np.int64(packed[i + 1]) << 8 | np.int64(packed[i + 2])
        text[end] = alphabet[bits >> 18]
        text[end + 1] = alphabet[(bits >> 12) & 63]
        text[end + 2] = alphabet[(bits >> 6) & 63]
        text[end + 3] = alphabet[bits & 63]
        end += 4
    for i in range((3 - size % 3) % 3):
        text[end - 1 - i] = 61  # =
    return end


@rule
def pack_text(text, size, begins, code, places, out):
    """Write text[:size] as a block of deflate that ends with a whole byte. Returns how many bytes it has.

    `begins`: i64[256], 1 for bytes with which a repeat may begin. `places`: i64[_HASHES] of working space, which holds
    where four bytes with a hash occurred last.
    """
    places[:] = -1
    end, waiting, held = put_header(code, out, 0, 0, 0)
    i = 0
    while i < size:
        byte, length, before = np.int64(text[i]), 0, -1
        if begins[byte] != 0 and i + _WORTHWHILE <= size:
            word = byte | np.int64(text[i + 1]) << 8 | np.int64(text[i + 2]) << 16 | np.int64(text[i + 3]) << 24
            place = (word * 506832829 >> 20) & (_HASHES - 1)
            before = places[place]
            places[place] = i
            if before >= 0 and i - before <= _REACH:
                most = min(_LONGEST, size - i)
                while length < most and text[before + length] == text[i + length]:
                    length += 1
        if length >= _WORTHWHILE:
            end, waiting, held = put(out, end, waiting, held, code.run_bits[length], code.run_sizes[length])
            far = i - before - 1
            extra = max(highest(far) - 1, 0) if far > 0 else 0
            symbol = 2 * extra + (far >> extra)
            end, waiting, held = put(out, end, waiting, held, code.far_bits[symbol], code.far_sizes[symbol])
            end, waiting, held = put(out, end, waiting, held, far & ((1 << extra) - 1), extra)
            i += length
        else:
            end, waiting, held = put(out, end, waiting, held, code.bits[byte], code.sizes[byte])
            i += 1
    end, waiting, held = put(out, end, waiting, held, code.bits[_END], code.sizes[_END])
    end, waiting, held = put(out, end, waiting, held, 0, 3)  # an empty block of bytes as they are
    end = put_rest(out, end, waiting, held)
    out[end], out[end + 1], out[end + 2], out[end + 3] = 0, 0, 255, 255
    return end + 4


class Gzip:
    """Writes a gzip file. `write` may keep some bytes until `close`, which leaves `file` open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._kept, self._checksum, self._length = file, b"", 0, 0
        file.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")

    def write(self, content: bytes) -> None:
        """Add some bytes."""
        self._checksum = zlib.crc32(content, self._checksum)
        self._length += len(content)
        self._kept += content
        whole = len(self._kept) - len(self._kept) % _BLOCK
        for first in range(0, whole, _BLOCK):  # the same blocks however the bytes come
            self._pack(self._kept[first : first + _BLOCK])
        self._kept = self._kept[whole:]

    def close(self) -> None:
        """Write what was kept, and the end of the file."""
        self._pack(self._kept)
        empty_last_block = b"\x03\0"
        self._file.write(empty_last_block + struct.pack("<II", self._checksum, self._length & 0xFFFFFFFF))

    def _pack(self, content: bytes) -> None:
        text, out = np.frombuffer(content, np.uint8), np.empty(2 * len(content) + 512, np.uint8)
        size = pack_text(text, len(text), _BEGINS, text_code(), np.empty(_HASHES, np.int64), out)
        self._file.write(out[:size].tobytes())


def code_for(contents: list[bytes]) -> Code:
    """A code for contents like these, whatever bytes they have."""
    counts = np.bincount(np.frombuffer(b"".join(contents), np.uint8), minlength=256)
    rare = counts * 256 < counts.sum()  # they share a weight, so that the table is short
    weights = np.where(rare, 2 * counts[rare].sum() // max(1, rare.sum()), 2 * counts)
    return _code(_lengths([*np.maximum(1, weights).tolist(), 1], 15), [1], is_last=True)


@functools.cache
def text_code() -> Code:
    """A code for lines of record files: mostly base64, and repeats of the lines before."""
    weights = [1] * 32 + [20] * 95 + [1] * 129
    for byte in BASE64.tolist():
        weights[byte] = 220
    for byte in b"0123456789":
        weights[byte] = 360
    for byte in b"abcdef":
        weights[byte] = 260
    for byte in b'",:.]}=':
        weights[byte] = 40
    weights += [1] + [20] * 29
    return _code(_lengths(weights, 15), [4] * 2 + [5] * 28, is_last=False)


@functools.cache
def fixed_code() -> Code:
    """The code of RFC 1951, 3.2.6, which needs no table."""
    return _code([8] * 144 + [9] * 112 + [7] * 24 + [8] * 8, [5] * 32, is_last=True, is_fixed=True)


def _code(literals: list[int], distances: list[int], is_last: bool, is_fixed: bool = False) -> Code:
    """The code in which each symbol has this many bits."""
    header = [(int(is_last), 1), (1 if is_fixed else 2, 2)] + ([] if is_fixed else _table(literals, distances))
    bits, far_bits = _bits_of(literals), _bits_of(distances)
    run_bits, run_sizes = [0] * (_LONGEST + 1), [0] * (_LONGEST + 1)
    for length in range(_SHORTEST, _LONGEST + 1 if len(literals) > _RUNS else 0):
        symbol, value, extra = _symbol_of(length)
        run_bits[length], run_sizes[length] = bits[symbol] | value << literals[symbol], literals[symbol] + extra
    arrays = [np.array(column, np.int64) for column in (bits, literals, run_bits, run_sizes, far_bits, distances)]
    return Code(np.array(header, np.int64), sum(size for _, size in header), *arrays)


def _symbol_of(length: int) -> tuple[int, int, int]:
    """The symbol of a repeat of `length` bytes, its extra bits, and how many these are (RFC 1951, 3.2.5)."""
    if length == _LONGEST:
        return 285, 0, 0
    above = length - _SHORTEST
    extra = max(above.bit_length() - 3, 0)
    return _RUNS + 4 * extra + (above >> extra), above & ((1 << extra) - 1), extra


def _lengths(weights: list[int], most: int) -> list[int]:
    """How many bits each symbol has in a Huffman code for these weights, 0 for those without weight, at most `most`."""
    lengths = [0] * len(weights)
    heap = [(weight, symbol, [symbol]) for symbol, weight in enumerate(weights) if weight > 0]
    heapq.heapify(heap)
    while len(heap) > 1:
        one, other = heapq.heappop(heap), heapq.heappop(heap)
        for symbol in one[2] + other[2]:
            lengths[symbol] += 1
        heapq.heappush(heap, (one[0] + other[0], min(one[1], other[1]), one[2] + other[2]))
    return lengths if max(lengths) <= most else _lengths([-(-weight // 2) for weight in weights], most)


def _bits_of(lengths: list[int]) -> list[int]:
    """The bits of each symbol of a canonical Huffman code (RFC 1951, 3.2.2), the first to be written lowest."""
    bits, code = [0] * len(lengths), 0
    for length in range(1, 16):
        for symbol, own in enumerate(lengths):
            if own == length:
                bits[symbol] = int(f"{code:0{length}b}"[::-1], 2)
                code += 1
        code <<= 1
    return bits


def _table(literals: list[int], distances: list[int]) -> list[tuple[int, int]]:
    """The lengths of both codes, as they stand at the beginning of a block (RFC 1951, 3.2.7), as (bits, how many)."""
    symbols, lengths = [], literals + distances
    while lengths:
        length, same = lengths[0], 1
        while same < min(len(lengths), 7) and lengths[same] == length:
            same += 1
        symbols.append((length, 0, 0))
        if same > 3:
            symbols.append((16, same - 4, 2))
            lengths = lengths[same:]
        else:
            lengths = lengths[1:]
    counts = [sum(symbol == own for own, _, _ in symbols) for symbol in range(19)]
    used = _lengths(counts, 7)
    bits = _bits_of(used)
    table = [(len(literals) - 257, 5), (len(distances) - 1, 5), (19 - 4, 4)]
    table += [(used[symbol], 3) for symbol in _LENGTH_ORDER]
    for symbol, value, extra in symbols:
        table += [(bits[symbol], used[symbol]), (value, extra)] if extra else [(bits[symbol], used[symbol])]
    return table
