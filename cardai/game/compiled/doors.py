"""Checks of what callers hand over, at the Python doors: nothing beyond them checks.

Compiled rules read and write memory at the places that a state, a move or a seat names. So every public function that
leads to compiled code checks its arguments first, with the functions here. Each takes the name that the message calls
the argument by, returns the argument, and raises BadArgument, which is a CardaiError and a ValueError.

The contents of a state cannot be checked: any number may be right in some field of some game. Only the fields of the
core are.
"""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cardai.errors import BadArgument, short, whole

T = TypeVar("T")

_HEADER = struct.Struct("=qqq")  # seats, turn, ply: the first fields of every state


def check_kind(what: str, value: Any, kinds: type[T] | tuple[type, ...], wanted: str) -> T:
    """Returns a value of one of some types. `wanted`: what there should be, in words."""
    if not isinstance(value, kinds):
        raise BadArgument(f"{what} must be {wanted}, not {short(value)}")
    return value  # pyright: ignore[reportReturnType]


def check_number(what: str, value: Any, most: float = np.inf) -> float:
    """Returns a finite number from 0 to `most`, as a float."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= most or not np.isfinite(value):
        limit = f"from 0 to {most:g}" if most < np.inf else "of at least 0"
        raise BadArgument(f"{what} must be a number {limit}, not {short(value)}")
    return float(value)


def check_text(what: str, value: Any) -> str:
    """Returns a text."""
    return check_kind(what, value, str, "a text")


def check_path(what: str, value: Any) -> Path:
    """Returns the path of a file or folder: a text or a Path."""
    return Path(check_kind(what, value, (str, Path), "a path"))


def check_flag(what: str, value: Any) -> bool:
    """Returns True or False."""
    return bool(check_kind(what, value, (bool, np.bool_), "True or False"))


def check_function(what: str, value: Any) -> Any:
    """Returns something that can be called, or None."""
    if value is not None and not callable(value):
        raise BadArgument(f"{what} must be a function, not {short(value)}")
    return value


def check_list(what: str, values: Any, kinds: type[T] | tuple[type, ...], wanted: str) -> list[T]:
    """Returns a sequence of values of some types as a list. `wanted`: what it should hold, in words."""
    if (
        not isinstance(values, (Sequence, np.ndarray))
        or isinstance(values, (str, bytes))
        or getattr(values, "ndim", 1) == 0
    ):
        raise BadArgument(f"{what} must be a list of {wanted}, not {short(values)}")
    for place, value in enumerate(values):
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise BadArgument(f"{what} must be {wanted}, but number {place} is {short(value)}")
    return list(values)


def check_seat(what: str, value: Any, seats: int) -> int:
    """Returns a seat, 0 to seats - 1."""
    if type(value) is not int:
        value = whole(what, value)
    if not 0 <= value < seats:
        raise BadArgument(f"there is no {what} {short(value)}; the seats are 0 to {seats - 1}")
    return value


def check_state(value: Any, dtype: np.dtype, game: str, seats: range) -> tuple[np.ndarray, int, int]:
    """Returns a copy of a state of the game called so, STATE[1], its number of seats and the seat to move, or -1.

    `value`: one record of the game's `dtype`. `seats`: the seat counts of the game.
    """
    if not isinstance(value, np.void) or value.dtype != dtype:
        raise BadArgument(f"{_described(value)} is not a state of {game}")
    content = bytearray(value.tobytes())
    count, turn, ply = _HEADER.unpack_from(content)
    if count not in seats or not -1 <= turn < count or ply < 0:
        raise BadArgument(f"this is no state of {game}: its fields say seats={count}, turn={turn}, ply={ply}")
    return np.frombuffer(content, dtype), count, turn


def check_states(what: str, values: Any, dtype: np.dtype, game: str, seats: range, moving: bool = False) -> np.ndarray:
    """Returns states of one game at tables of one size, STATE[n], in one piece of memory.

    `moving`: somebody is to move in each of them.
    """
    found = check_records(what, values, dtype, f"states of {game}")
    if len(found):
        counts, turns, plies = found["seats"], found["turn"], found["ply"]
        if int(counts[0]) not in seats or (counts != counts[0]).any():
            sizes = ", ".join(map(str, np.unique(counts).tolist()[:5]))
            raise BadArgument(f"{what} are no states of {game} at tables of one size: they say seats={sizes}")
        wrong = (turns < (0 if moving else -1)) | (turns >= counts) | (plies < 0)
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            here = f"turn={int(turns[place])}, ply={int(plies[place])}"
            problem = "nobody is to move" if moving and turns[place] == -1 else f"it is no state of {game}"
            raise BadArgument(f"{what}, number {place}: {problem} ({here})")
    return found


def check_records(what: str, values: Any, dtype: np.dtype, wanted: str) -> np.ndarray:
    """Returns records of a type, an array [n] in one piece of memory. `wanted`: what they should be, in words."""
    if not isinstance(values, np.ndarray) or values.dtype != dtype or values.ndim != 1:
        raise BadArgument(f"{what} must be an array of {wanted}, not {_described(values)}")
    return np.ascontiguousarray(values)


def check_written(what: str, values: Any, dtype: np.dtype, wanted: str, count: int | None = None) -> np.ndarray:
    """Returns an array [count] of records that a function writes to: it must be in one piece and not read-only."""
    check_records(what, values, dtype, wanted)
    if count not in (None, len(values)):
        raise BadArgument(f"{what} must be {count} {wanted}, not {len(values)}")
    if not values.flags.c_contiguous or not values.flags.writeable:
        raise BadArgument(f"{what} must be an array that can be written to, in one piece")
    return values


def check_integers(what: str, values: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Returns whole numbers as an array of integers of this shape, in which None is any length.

    Lists are taken too. Floats are not, nor are numbers beyond 64 bits.
    """
    try:
        found = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        found = None
    if found is None or found.dtype.kind not in "iu":
        raise BadArgument(f"{what} must be whole numbers, not {_described(values)}")
    fits = found.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, found.shape, strict=True))
    if not fits:
        named = ", ".join("n" if want is None else str(want) for want in shape)
        raise BadArgument(f"{what} must have the shape [{named}], not {list(found.shape)}")
    return found


def check_indices(what: str, values: Any, end: int, shape: tuple[int | None, ...] = (None,)) -> np.ndarray:
    """Returns indices from 0 to end - 1 as i64 of this shape, in one piece of memory."""
    found = check_integers(what, values, shape)
    if found.size and not 0 <= found.min() <= found.max() < end:
        wrong = found.min() if found.min() < 0 else found.max()
        raise BadArgument(f"{what} must be at least 0 and below {end}, not {wrong}")
    return np.ascontiguousarray(found, np.int64)


def check_seed(value: Any) -> np.uint64:
    """Returns a seed as random streams take it: a whole number, modulo 2^64."""
    return np.uint64(whole("seed", value) % 2**64)


def check_seeds(values: Any, count: int | None = None) -> np.ndarray:
    """Returns seeds, each modulo 2^64, as an array u64[n]. `count`: n, if it must be so."""
    if isinstance(values, np.ndarray):
        found = np.ascontiguousarray(check_integers("seeds", values, (None,))).astype(np.uint64)
    elif isinstance(values, (list, tuple, range)):
        found = np.array([whole("seeds", value) % 2**64 for value in values], np.uint64)
    else:
        raise BadArgument(f"seeds must be whole numbers, not {_described(values)}")
    if count not in (None, len(found)):
        raise BadArgument(f"seeds do not fit: there must be {count}, one for each game, not {len(found)}")
    return found


def _described(value: Any) -> str:
    """A value in a message: arrays and records by their type, others as they are."""
    if isinstance(value, np.ndarray):
        return f"an array of {_type_of(value.dtype)} of shape {list(value.shape)}"
    if isinstance(value, np.void):
        return f"a record of {_type_of(value.dtype)}"
    return short(value)


def _type_of(dtype: np.dtype) -> str:
    return short(list(dtype.names)) if dtype.names else str(dtype)
