"""Encoded rows in little memory: one bit for each value, and a whole byte only in columns that need one."""

from typing import Any, NamedTuple

import numpy as np


class Packed(NamedTuple):
    """A batch of n packed rows."""

    bits: np.ndarray  # u8[n, bytes]: a bit for each value, 1 where the value is not 0
    columns: np.ndarray  # i8[c]: the columns that have a value above 1, ascending
    values: np.ndarray  # u8[n, c]: the whole values of these columns


def pack(rows: np.ndarray) -> Packed:
    """Pack rows u8[n, width]: a bit is 1 where the value is not 0. Columns with a value above 1 keep their bytes."""
    columns = np.flatnonzero(rows.max(axis=0, initial=0) > 1)
    return Packed(np.packbits(rows, axis=1), columns, rows[:, columns])


class PackedRows:
    """A growing list of rows u8[n, width]: a bit for each value, and a byte as well in columns with values above 1."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.columns = np.zeros(0, np.int64)
        self._bits = Growing(np.uint8, -(-width // 8))
        self._values = Growing(np.uint8, 0)

    def __len__(self) -> int:
        return self._bits.length

    @property
    def nbytes(self) -> int:
        """The memory that the rows take, in bytes."""
        return self._bits.array.nbytes + self._values.array.nbytes

    def append(self, rows: Packed) -> None:
        """Add packed rows. A column gets its bytes when it has a value above 1 for the first time."""
        if not np.isin(rows.columns, self.columns).all():
            columns = np.union1d(self.columns, rows.columns)
            values = Growing(np.uint8, len(columns))
            values.append(_values_of(self.filled(), columns))
            self.columns, self._values = columns, values
        self._bits.append(rows.bits)
        self._values.append(_values_of(rows, self.columns))

    def filled(self) -> Packed:
        """All rows as they are packed, without a copy."""
        return Packed(self._bits.filled(), self.columns, self._values.filled())

    def trim(self) -> None:
        """Release the memory that was reserved for more rows."""
        self._bits.trim()
        self._values.trim()

    def take(self, indices: np.ndarray) -> np.ndarray:
        """The rows at the indices i8[m], unpacked: u8[m, width]."""
        rows = np.unpackbits(np.take(self._bits.filled(), indices, axis=0), axis=1, count=self.width)
        if len(self.columns):
            rows[:, self.columns] = np.take(self._values.filled(), indices, axis=0)
        return rows


class Growing:
    """An array that grows at its end. It is lengthened in place, so that memory never holds it twice."""

    def __init__(self, dtype: Any, *width: int) -> None:
        self.array, self.length = np.empty((0, *width), dtype), 0

    def append(self, values: np.ndarray) -> None:
        """Add values at the end."""
        end = self.length + len(values)
        if end > len(self.array):
            self.array.resize((end + end // 8, *self.array.shape[1:]), refcheck=False)
        self.array[self.length : end] = values
        self.length = end

    def trim(self) -> None:
        """Release the memory that was reserved for more values."""
        self.array.resize((self.length, *self.array.shape[1:]), refcheck=False)

    def filled(self) -> np.ndarray:
        """The values added so far, without the reserve behind them."""
        return self.array[: self.length]


def _values_of(rows: Packed, columns: np.ndarray) -> np.ndarray:
    """Returns the values of the given columns, u8[n, c]. Columns without bytes in `rows` are read from their bits."""
    values = np.empty((len(rows.bits), len(columns)), np.uint8)
    for place, column in enumerate(columns.tolist()):
        held = np.searchsorted(rows.columns, column)
        if held < len(rows.columns) and rows.columns[held] == column:
            values[:, place] = rows.values[:, held]
        else:
            values[:, place] = rows.bits[:, column >> 3] >> (7 - (column & 7)) & 1
    return values
