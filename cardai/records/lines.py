"""The lines of record files: checksums, and moves as a few bytes, packed in compiled code. See `record.py`."""

import base64
import hashlib
import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from cardai.rules import lowest, rule

SUM = b',"sum":"'  # begins the checksum, the last field of every line
_SUM_DIGITS = 16
_SMALL, _BYTES, _MINUS_ONE = 128, 192, 255  # bytes of packed moves, see `record`
_MOVES = b'"moves":"'
_GZIP = 16 + zlib.MAX_WBITS
_FAST = zlib.Z_HUFFMAN_ONLY  # seeks no repeats; in moves, field after field, and in base64 few are worth it


@rule
def put_words(words, begins, plies, width, out, ends):
    """Write the numbers of games' moves as bytes: the first field of all games, then the second, and so on.

    `words`: i64[n]; those of game i begin at begins[i] and are plies[i] * width, with both i64[G]. `ends`:
    i64[width * G], becomes where each field of each game ends. A number takes one byte in most cases, see `record`.
    """
    end = 0
    for field in range(width):
        for game in range(len(plies)):
            for ply in range(plies[game]):
                word = words[begins[game] + ply * width + field]
                if 0 <= word < _SMALL:
                    out[end] = word
                    end += 1
                elif word == -1:
                    out[end] = _MINUS_ONE
                    end += 1
                elif word > 0 and word & (word - 1) == 0:
                    out[end] = _SMALL + lowest(word)
                    end += 1
                else:
                    begin = end
                    while word != 0:
                        end += 1
                        out[end] = word & 255
                        word = (word >> 8) & 0xFFFFFFFFFFFFFF
                    out[begin] = _BYTES + end - begin
                    end += 1
            ends[field * len(plies) + game] = end


@rule
def get_words(packed, plies, width, words):
    """Read what `put_words` wrote into `words`, i64[plies * width]. Returns whether it could have written this."""
    at, end = 0, len(packed)
    for field in range(width):
        for ply in range(plies):
            if at >= end:
                return False
            byte = np.int64(packed[at])
            at += 1
            word = byte
            if byte == _MINUS_ONE:
                word = np.int64(-1)
            elif byte > _BYTES:
                count = byte - _BYTES
                if count > 8 or at + count > end:
                    return False
                word = np.int64(0)
                for i in range(count):
                    word |= np.int64(packed[at + i]) << (8 * i)
                at += count
            elif byte >= _SMALL:
                if byte > _SMALL + 62:
                    return False
                word = np.int64(1) << (byte - _SMALL)
            words[ply * width + field] = word
    return at == end


def signed(body: bytes) -> bytes:
    """A line, given without its checksum."""
    return body + SUM + checksum(body) + b'"}\n'


def checksum(body: bytes) -> bytes:
    """The checksum of a line, given without it."""
    return hashlib.blake2b(body, digest_size=_SUM_DIGITS // 2).hexdigest().encode()


def gzipped(line: bytes) -> bytes:
    """A line as members of a gzip file: its text, and its moves if it has any."""
    text, mark, moves = line.partition(_MOVES)
    return _compressed(text + mark, zlib.Z_DEFAULT_STRATEGY, _GZIP) + (
        _compressed(moves, _FAST, _GZIP) if moves else b""
    )


def fields_of_moves(logs: np.ndarray, slots: np.ndarray, plies: np.ndarray) -> list[tuple[bytes, ...]]:
    """The moves of G games as bytes, one for each field. Those of game i are logs[slots[i], :plies[i]]."""
    width, count = logs.dtype.itemsize // 8, len(plies)
    out, ends = np.empty(9 * width * int(plies.sum()) + 1, np.uint8), np.empty(width * count, np.int64)
    put_words(logs.reshape(-1).view(np.int64), slots * logs.shape[1] * width, plies, width, out, ends)
    written = out[: ends[-1]].tobytes()
    pieces = [written[first:end] for first, end in pairwise([0, *ends.tolist()])]
    return list(zip(*(pieces[first : first + count] for first in range(0, width * count, count)), strict=True))


def packed_moves(games: Sequence[tuple[bytes, ...]]) -> str:
    """The moves of games, as `fields_of_moves` gives them, as base64 of a zlib stream."""
    content = b"".join(b"".join(field) for field in zip(*games, strict=True))
    return base64.b64encode(_compressed(content, _FAST, zlib.MAX_WBITS)).decode()


def unpacked_moves(text: str, move: np.dtype, plies: int) -> np.ndarray:
    """The moves MOVE[plies] that `packed_moves` made a text of. Raises ValueError, with the reason, for other texts."""
    moves, unpacker = np.empty(plies, move), zlib.decompressobj()
    try:
        content = unpacker.decompress(base64.b64decode(text, validate=True), plies * move.itemsize // 8 * 9 + 1)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"the moves cannot be unpacked ({error})") from None
    found = np.frombuffer(content, np.uint8)
    if not (unpacker.eof and get_words(found, plies, move.itemsize // 8, moves.view(np.int64))):
        raise ValueError(f"the moves do not unpack to {plies} plies")
    return moves


def _compressed(content: bytes, strategy: int, container: int) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, container, 9, strategy)
    return packer.compress(content) + packer.flush()
