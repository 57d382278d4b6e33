"""The lines of record files, made in compiled code for many games at once. `cardai.data.record` describes them."""

import hashlib
import threading
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cardai.kernel.deflate import BASE64, Code, fixed_code, is_shorter, put_base64, put_zlib
from cardai.rule import lowest, rule

SUM = b',"sum":"'  # begins the checksum, the last field of every line
_SUM_DIGITS = 16
_LONG = 256  # bytes, for which a code that fits is shorter, its table included
_SMALL, _BYTES, _MINUS_ONE = 128, 192, 255  # bytes of packed moves, see `put_words`
_PIECES = (b'"seed":', b',"lineup":[', b'],"scores":[', b'],"plies":', b',"moves":"', b'"', b",")
_SEED, _LINEUP, _SCORES, _PLIES, _MOVES, _QUOTE, _COMMA = range(7)
_FRAME = (b'{"number":', b",", SUM, b'"}\n')
_NUMBER, _AFTER_NUMBER, _CHECKSUM, _END = range(4)
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


class Pieces(NamedTuple):
    """Some texts, one after the other."""

    text: Any  # u8[n]
    bounds: Any  # i64[texts + 1]


class Space(NamedTuple):
    """Working space to pack moves: for games of n numbers at most."""

    content: Any  # u8[9 * n]
    packed: Any  # u8[18 * n + 512]
    alphabet: Any  # u8[64], of base64
    digits: Any  # u8[20]


@rule
def put_words(words, first, plies, width, out):
    """Write the numbers of a game's moves as bytes, the first field of all moves first. Returns how many bytes.

    `words`: i64[n], those of the game begin at `first`. A number takes one byte in most cases, see `record`.
    """
    end = 0
    for field in range(width):
        for ply in range(plies):
            word = words[first + ply * width + field]
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
    return end


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


@rule
def put_packed(words, first, plies, width, codes, space, text, end):
    """Write the moves of a game to `text`: base64 of a zlib stream in the shorter of two codes. Returns the new end."""
    size = put_words(words, first, plies, width, space.content)
    if size > _LONG or is_shorter(space.content, size, codes[0], codes[1]):
        size = put_zlib(space.content, size, codes[0], space.packed)
    else:
        size = put_zlib(space.content, size, codes[1], space.packed)
    space.packed[size], space.packed[size + 1] = 0, 0
    return put_base64(space.packed, size, space.alphabet, text, end)


@rule
def put_piece(pieces, which, text, end):
    """Write one of some texts. Returns the new end."""
    for i in range(pieces.bounds[which], pieces.bounds[which + 1]):
        text[end] = pieces.text[i]
        end += 1
    return end


@rule
def put_number(number, digits, text, end):
    """Write a number u64 in digits. Returns the new end."""
    count, left = 0, np.uint64(number)
    while count == 0 or left > np.uint64(0):
        digits[count] = 48 + np.int64(left % np.uint64(10))
        left //= np.uint64(10)
        count += 1
    for i in range(count):
        text[end + i] = digits[count - 1 - i]
    return end + count


@rule
def put_games(words, width, seeds, lineups, begins, plies, places, pieces, codes, space, text, ends):
    """Write the lines of G games to `text`, without number and checksum. `ends`, i64[G], becomes where each one ends.

    `words`: i64[n * width], the numbers of moves; those of a game begin at `begins`, i64[G]. `seeds`: u64[G].
    `lineups`: i64[G, seats]. `plies`: i64[G]. `places`: i64[G, seats], which of `pieces` is the score of each seat.
    """
    end, seats = 0, lineups.shape[1]
    for game in range(len(seeds)):
        end = put_piece(pieces, _SEED, text, end)
        end = put_number(seeds[game], space.digits, text, end)
        for seat in range(seats):
            end = put_piece(pieces, _COMMA if seat else _LINEUP, text, end)
            end = put_number(lineups[game, seat], space.digits, text, end)
        for seat in range(seats):
            end = put_piece(pieces, _COMMA if seat else _SCORES, text, end)
            end = put_piece(pieces, places[game, seat], text, end)
        end = put_piece(pieces, _PLIES, text, end)
        end = put_number(plies[game], space.digits, text, end)
        end = put_piece(pieces, _MOVES, text, end)
        end = put_packed(words, begins[game], plies[game], width, codes, space, text, end)
        end = put_piece(pieces, _QUOTE, text, end)
        ends[game] = end


@rule
def put_frames(bodies, lengths, number, pieces, digits, text, bounds):
    """Write lines with their numbers, with room for their checksums. Returns where they end.

    `bodies`: u8[sum of lengths], as `put_games` wrote them. `bounds`: i64[G, 2], becomes where each line begins and
    where its checksum is to follow.
    """
    first, end = 0, 0
    for game in range(len(lengths)):
        bounds[game, 0] = end
        end = put_piece(pieces, _NUMBER, text, end)
        end = put_number(number + game, digits, text, end)
        end = put_piece(pieces, _AFTER_NUMBER, text, end)
        for i in range(first, first + lengths[game]):
            text[end] = bodies[i]
            end += 1
        first += lengths[game]
        bounds[game, 1] = end
        end = put_piece(pieces, _CHECKSUM, text, end) + _SUM_DIGITS
        end = put_piece(pieces, _END, text, end)
    return end


@rule
def put_sums(sums, bounds, offset, alphabet, text):
    """Write the checksums u8[G, bytes] in hexadecimal digits, `offset` bytes behind each line's second bound."""
    for game in range(len(sums)):
        end = bounds[game, 1] + offset
        for i in range(sums.shape[1]):
            byte = np.int64(sums[game, i])
            text[end + 2 * i], text[end + 2 * i + 1] = alphabet[byte >> 4], alphabet[byte & 15]


class LineMaker:
    """Makes the lines of games. Threads may share it. `code`: a code for the moves, see `code_for`."""

    def __init__(self, code: Code) -> None:
        self._codes = code, fixed_code()
        self._scores = _score_pieces(np.array([0.0, 1.0]))
        self._own = threading.local()  # the working space of each thread

    def bodies(
        self,
        seeds: np.ndarray,
        lineups: np.ndarray,
        slots: np.ndarray,
        plies: np.ndarray,
        logs: np.ndarray,
        scores: np.ndarray,
    ) -> list[bytes]:
        """The lines of G games without numbers and checksums.

        `seeds`: u64[G]. `lineups`: i64[G, seats]. `logs`: MOVE[n, m]; the moves of game i are
        logs[slots[i], :plies[i]], with `slots` and `plies` i64[G]. `scores`: f8[G, seats].
        """
        values, pieces = self._scores
        places = np.searchsorted(values[:-1], scores)  # a search among all values may end behind the last
        if (values[places] != scores).any():
            values, pieces = self._scores = _score_pieces(scores)
            places = np.searchsorted(values[:-1], scores)
        places += len(_PIECES)
        width = logs.dtype.itemsize // 8
        space = self._space(width * int(plies.max()))
        text = self._text(24 * width * int(plies.sum()) + (1024 + 64 * scores.shape[1]) * len(plies))
        ends, begins = np.empty(len(plies), np.int64), slots * (logs.shape[1] * width)
        words = _words(logs.reshape(-1))
        put_games(words, width, seeds, lineups, begins, plies, places, pieces, self._codes, space, text, ends)
        written = text[: ends[-1]].tobytes()
        return [written[first:end] for first, end in pairwise([0, *ends.tolist()])]

    def _space(self, numbers: int) -> Space:
        """This thread's space for games of so many numbers."""
        space = getattr(self._own, "space", None)
        if space is None or len(space.content) < 9 * numbers:
            space = self._own.space = _space_for(2 * numbers)
        return space

    def _text(self, length: int) -> np.ndarray:
        """This thread's space for lines of this length, u8[length or more]."""
        text = getattr(self._own, "text", None)
        if text is None or len(text) < length:
            text = self._own.text = np.empty(2 * length, np.uint8)
        return text


def lines_of(bodies: list[bytes], number: int) -> bytes:
    """Whole lines of games, numbered from `number` on, each with its checksum."""
    joined, lengths = b"".join(bodies), np.array([*map(len, bodies)])
    text, bounds = np.empty(len(joined) + 80 * len(bodies), np.uint8), np.empty((len(bodies), 2), np.int64)
    digits = np.empty(20, np.uint8)
    end = put_frames(np.frombuffer(joined, np.uint8), lengths, number, _pieces(*_FRAME), digits, text, bounds)
    view, sums = text.data, bytearray()
    for first, last in bounds.tolist():
        sums += hashlib.blake2b(view[first:last], digest_size=_SUM_DIGITS // 2).digest()
    put_sums(np.frombuffer(sums, np.uint8).reshape(len(bodies), -1), bounds, len(SUM), _DIGITS, text)
    return text[:end].tobytes()


def signed(body: bytes) -> bytes:
    """A line, given without its checksum."""
    return body + SUM + checksum(body) + b'"}\n'


def checksum(body: bytes) -> bytes:
    """The checksum of a line, given without it."""
    return hashlib.blake2b(body, digest_size=_SUM_DIGITS // 2).hexdigest().encode()


def packed_numbers(moves: np.ndarray) -> bytes:
    """Moves MOVE[n] as bytes, before they are compressed."""
    width = moves.dtype.itemsize // 8
    content = np.empty(9 * width * len(moves) + 1, np.uint8)
    return content[: put_words(_words(moves), 0, len(moves), width, content)].tobytes()


def packed_moves(moves: np.ndarray) -> bytes:
    """Moves MOVE[plies] as base64 of a zlib stream, in a code that fits all games."""
    width, codes = moves.dtype.itemsize // 8, (fixed_code(), fixed_code())
    space = _space_for(width * len(moves))
    text = np.empty(2 * len(space.packed), np.uint8)
    return text[: put_packed(_words(moves), 0, len(moves), width, codes, space, text, 0)].tobytes()


def unpacked_numbers(content: bytes, move: np.dtype, plies: int) -> np.ndarray | None:
    """The moves MOVE[plies] whose `packed_numbers` these bytes are, or None if there are no such moves."""
    width = move.itemsize // 8
    words = np.empty(plies * width, np.int64)
    if not get_words(np.frombuffer(content, np.uint8), plies, width, words):
        return None
    return words.view(move) if plies else np.zeros(0, move)


def _words(moves: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(moves).view(np.int64) if len(moves) else np.zeros(0, np.int64)


def _score_pieces(scores: np.ndarray) -> tuple[np.ndarray, Pieces]:
    """All values of some scores, ascending, and the pieces with which lines are made, followed by these values."""
    values = np.unique(scores)
    return values, _pieces(*_PIECES, *(repr(value).encode() for value in values.tolist()))


def _pieces(*texts: bytes) -> Pieces:
    return Pieces(np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)]))


def _space_for(numbers: int) -> Space:
    """Space to pack games whose moves have `numbers` numbers at most."""
    return Space(
        np.empty(9 * numbers + 1, np.uint8), np.empty(18 * numbers + 512, np.uint8), BASE64, np.empty(20, np.uint8)
    )
