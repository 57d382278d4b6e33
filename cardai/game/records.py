"""The records that rules read and write: a game's state and its moves."""

import keyword
import pkgutil

import numpy as np

from cardai.errors import CardaiError, short
from cardai.game.compiled import native

CORE_FIELDS = native.HEADER

_REPR = 300  # characters of a state's repr, at most


class GameState(np.record):  # pyright: ignore[reportIncompatibleVariableOverride]: NumPy types its `__module__`
    """A game's state: one record of its `state_dtype`, whose first fields are the core's."""

    def __repr__(self) -> str:
        """Return the names and values of the fields that are not 0, cut to 300 characters."""
        shown = [name for name in self.dtype.names or () if name == "turn" or np.any(self[name])]
        return short(_Fields(", ".join(f"{name}={np.asarray(self[name]).tolist()}" for name in shown)), _REPR)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table as the seat to move sees it."""
        return pkgutil.resolve_name("cardai.cli.show.picture:state_page")(self)


class _Fields(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return f"GameState({self})"


def state_dtype(**fields: int | tuple[int, ...]) -> np.dtype:
    """The record type of a game's states: the core's fields, then the game's fields, int64 of the given shapes.

    The core's fields are:
    - `seats`: the number of seats;
    - `turn`: the seat to move, -1 when the game is over; set by the game;
    - `ply`: moves played so far; set by the core;
    - `revealed`: the set of seats (bit `1 << seat`) to whom the last move showed a hidden card; set by the game;
    - `midway`: 1 while the seat to move is in the middle of a decision; set by the game;
    - `rng`: the random stream for all chance in the game (uint64); set by the core.

    The core clears `revealed` and `midway` before each move. Raises CardaiError for a field with the name of a core
    field or of an attribute of NumPy records (`size`, `round`), and for a shape that is not of whole numbers from 1.
    """
    for name, shape in fields.items():
        _refuse_name("state_dtype", name)
        if name in CORE_FIELDS:
            raise CardaiError(f"state_dtype: the core already has a field {name!r}")
        _refuse_shape(name, shape)
    core = [(name, "u8" if name == "rng" else "i8") for name in CORE_FIELDS]
    return np.dtype((GameState, core + [(name, "i8", shape) for name, shape in fields.items()]))


def move_dtype(*fields: str) -> np.dtype:
    """The record type of a game's moves: int64 fields. Canonical order compares the first field, then the next.

    Raises CardaiError for a field that is named twice or like an attribute of NumPy records (`size`, `round`).
    """
    for i, name in enumerate(fields):
        _refuse_name("move_dtype", name)
        if name in fields[:i]:
            raise CardaiError(f"move_dtype: the field {name!r} is named twice")
    return np.dtype((np.record, [(name, "i8") for name in fields]))


def _refuse_name(function: str, name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise CardaiError(f"{function}: {short(name)} cannot be the name of a field; a rule could not write state.name")
    if hasattr(GameState, name):
        raise CardaiError(
            f"{function}: a field cannot be named {name!r}, since NumPy records have an attribute of that name, which"
            f" plain Python (CARDAI_JIT=0) would use instead; {name}_ would do"
        )


def _refuse_shape(name: str, shape: object) -> None:
    sizes = shape if isinstance(shape, tuple) else (shape,)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            allowed = "a whole number from 1, or a tuple of them; () is a single number"
            raise CardaiError(f"state_dtype: the shape of {name!r} is {short(shape)}; it must be {allowed}")
