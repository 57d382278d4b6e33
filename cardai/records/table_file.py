"""The rows of a data set as a table for other programs: Parquet or npz, with named columns and their origin.

A table has the columns `game` (the place of the state's game among all), `seed` (of this game), `label`, and one for
each value of a row, named by its segment: `deck_left`, `hand.3`, `table.2.0`.
"""

import io
import json
from pathlib import Path

import numpy as np

from cardai.errors import lacking
from cardai.files.writing import write_bytes
from cardai.records.dataset import Dataset

FIRST = "game", "seed", "label"


def column_names(data: Dataset) -> list[str]:
    """The names of a row's values."""
    return [
        ".".join([segment.name, *map(str, place)])
        for segment in data.layout
        for place in np.ndindex(tuple(segment.shape))
    ]


def write_parquet(path: Path, data: Dataset) -> None:
    """Write a data set as Parquet; its description is the metadata `cardai`. Raises CardaiError without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise lacking("cardai export --parquet", "pyarrow", "parquet") from None
    kinds = [pyarrow.int32(), pyarrow.uint64(), pyarrow.float32(), *[pyarrow.uint8()] * data.width]
    names = [*FIRST, *column_names(data)]
    schema = pyarrow.schema(zip(names, kinds, strict=True), metadata={"cardai": json.dumps(data.about())})
    content = io.BytesIO()
    with parquet.ParquetWriter(content, schema) as writer:
        for places, rows in data.parts():
            columns = [data.game_of[places], data.seeds[data.game_of[places]], data.labels[places], *rows.T]
            writer.write_table(pyarrow.table([pyarrow.array(one) for one in columns], schema=schema))
    write_bytes(path, content.getvalue())


def write_npz(path: Path, data: Dataset) -> None:
    """Write a data set as npz: rows u8[N, F], label f4[N], game i4[N], seed u8[N], columns, and about as JSON."""
    rows = np.concatenate([part for _, part in data.parts()])
    content = io.BytesIO()
    np.savez_compressed(
        content, rows=rows, label=data.labels, game=data.game_of, seed=data.seeds[data.game_of],
        columns=np.array(column_names(data)), about=np.array(json.dumps(data.about())),
    )  # fmt: skip
    write_bytes(path, content.getvalue())
