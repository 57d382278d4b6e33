"""Recorded games as a seat saw them: one JSON object for each of its decisions, to train language models on.

    write_seen(Path("games.jsonl"), Path("seen.jsonl"), seat=1)

The fields are those that a program is sent before its move (docs/protocol.md), with the move that was made in words,
and the score that the seat had in the end.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cardai.errors import CardaiError, whole
from cardai.files.writing import write_bytes
from cardai.game import Game, GameState
from cardai.game.compiled.doors import check_path
from cardai.playing.agents.outside import Asked
from cardai.playing.progress import CountProgress
from cardai.playing.table.following import told, world_of
from cardai.records import record
from cardai.records.record import Header, Reader, RecordedGame

WANTS = frozenset({"view", "moves", "picks"})


def write_seen(
    file: Path,
    out: Path,
    seat: int | None = None,
    rules: str | None = None,
    progress: CountProgress | None = None,
) -> int:
    """Write the decisions of a seat, or of all seats, of the games in a record file to a file of JSON lines.

    Returns how many were written. `rules`: the path of the game, if it is one of yours. The file is written whole or
    not at all. Raises CardaiError for a damaged record file and a seat that a game does not have.
    """
    reader, count = record.read(check_path("file", file)), 0
    game = reader.load(rules)
    if seat is not None:
        whole("seat", seat, 0, reader.header.seats - 1)

    def lines(reader: Reader) -> Iterator[bytes]:
        nonlocal count
        for played in reader:
            try:
                seen = seen_by(game, reader.header, played, seat)
            except CardaiError as error:
                raise CardaiError(f"{file}, game {played.number}: {error}") from None
            for one in seen:
                count += 1
                yield json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            if progress:
                progress(round(1000 * reader.share), 1000)

    write_bytes(check_path("out", out), lines(reader))
    return count


def seen_by(game: Game, header: Header, played: RecordedGame, seat: int | None = None) -> list[dict[str, Any]]:
    """The decisions of a seat in a recorded game, or of all seats, in their order.

    Raises CardaiError for a game that does not replay.
    """
    seats, seed = len(played.lineup), played.seed
    readers = range(seats) if seat is None else [whole("seat", seat, 0, seats - 1)]
    news: dict[int, list[dict[str, Any]]] = {reader: [] for reader in readers}
    about = {"game": game.name, "version": header.version, "variant": played.variant, "number": played.number}
    seen: list[dict[str, Any]] = []

    def note(state: GameState, move: np.record, ply: int) -> None:
        turn = int(state["turn"])
        if turn in news:
            asked = Asked(game, WANTS, world_of(game, state, turn, seed))
            question = {**about, "seats": seats, **asked.question(), "told": news[turn], "move": asked.words_of(move)}
            del question["type"]
            seen.append(question)
            news[turn] = []
        for reader, events in news.items():
            mover, text = told(game, state, move, reader, seed)
            events.append({"seat": mover, "text": text})

    record.replay(game, played, note)
    for one in seen:
        one["score"] = float(played.scores[one["seat"]])
    return seen
