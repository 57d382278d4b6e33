"""Finished games of people as record files, which `cardai replay`, `analyse` and `train` read."""

import tempfile
from pathlib import Path

from cardai.errors import CardaiError
from cardai.guests.web.offers import Offer
from cardai.guests.web.store import Store, TableRow
from cardai.guests.web.tables import WebTable
from cardai.playing.agents.spec import HELPED, HUMAN, STUDENT
from cardai.records.record import Writer


def record_of(table: WebTable) -> bytes:
    """The record file of one finished game. Raises BadArgument if the game is not over."""
    table.result()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.jsonl"
        write_record(path, [table])
        return path.read_bytes()


def write_record(path: Path, tables: list[WebTable], overwrite: bool = False) -> None:
    """Write finished games of one game, variant and number of seats to a record file. Raises CardaiError."""
    first, names = tables[0], list(dict.fromkeys(spec for table in tables for spec in specs_of(table.row)))
    game, variant, seats = first.offer.game, first.row.variant, len(first.row.seats)
    with Writer(path, game, names, variant, seats, overwrite=overwrite, planned=len(tables)) as writer:
        for table in tables:
            seed, moves, scores = table.result()
            writer.add(seed, [names.index(spec) for spec in specs_of(table.row)], moves, scores.tolist())


def specs_of(row: TableRow) -> list[str]:
    """The agent spec of each seat: `HUMAN` for a person, `STUDENT` at a study table, `HELPED` if an agent moved too."""
    person = STUDENT if row.study else HUMAN
    return [seat.agent or (HELPED if seat.helpers else person) for seat in row.seats]


def export(store: Store, offer: Offer, folder: Path, overwrite: bool = False) -> tuple[list[Path], int]:
    """Write all finished games of people but study games, a file for each variant and number of seats.

    Returns the files, and how many games were left out because they cannot be played again today. Raises CardaiError if
    a file cannot be written.
    """
    groups: dict[tuple[str, int], list[WebTable]] = {}
    left_out = 0
    for table_id in store.dealt(offer.game.name):
        row = store.table(table_id)
        if row is None or row.study or row.scores is None:
            continue
        try:
            table = WebTable(row, offer, store)
            table.run()
            table.result()
        except CardaiError:
            left_out += 1
        else:
            groups.setdefault((row.variant, len(row.seats)), []).append(table)
    files = []
    for (variant, seats), tables in groups.items():
        files.append(folder / f"{offer.game.name}-{variant}-{seats}.jsonl.gz")
        write_record(files[-1], tables, overwrite)
    return files, left_out
