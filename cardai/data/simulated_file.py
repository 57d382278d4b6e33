"""One file of a simulation as a task for any machine: it is played into memory, and comes back as bytes."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cardai.data.mixture import FileResults, Mix
from cardai.data.record import Writer
from cardai.game import Game
from cardai.table.cluster.work import WARM

TASK = f"{__name__}:ready"
_WARMING = 4  # games of which the players and the record are compiled


def ready(game: Game, request: Mapping[str, Any], data: bytes) -> Callable[[int], bytes]:
    """The work of a task: `play(number)` returns what `packed` makes of the file of that number.

    `request`: the fields of `request_of`.
    """
    del data
    pool = {spec: float(weight) for spec, weight in request["pool"]}
    games, shard = request["games"], request["shard"]
    mix = Mix(game, pool, games, request["seed"], request["variant"], request["seats"], 1)

    def play(number: int) -> bytes:
        first, end = (0, min(_WARMING, games)) if number == WARM else (number * shard, min((number + 1) * shard, games))
        writer = _Memory(game, request["names"], mix.variant, mix.seats)
        results = mix.play(first, end, writer, None)
        if results.interrupted:
            raise KeyboardInterrupt
        writer.close()
        return packed(writer.content, FileResults.of(results))

    return play


def request_of(mix: Mix, shard: int) -> dict[str, Any]:
    """What a worker has to know of a simulation with `shard` games in each file."""
    pool = [[spec, weight] for spec, weight in mix.pool.items()]  # the order decides the draws
    table = {"seed": mix.seed, "variant": mix.variant, "seats": mix.seats}
    return {"pool": pool, "names": mix.names, "games": mix.asked, "shard": shard, **table}


def packed(content: bytes, results: FileResults) -> bytes:
    """The content of a file and its results, as bytes."""
    out = io.BytesIO()
    sums = np.array([results.states, results.endless], np.int64)
    np.savez(out, content=np.frombuffer(content, np.uint8), finished=results.finished, scores=results.scores, sums=sums)
    return out.getvalue()


def unpacked(answer: bytes) -> tuple[bytes, FileResults]:
    """What `packed` made these bytes of."""
    with np.load(io.BytesIO(answer), allow_pickle=False) as arrays:
        states, endless = arrays["sums"].tolist()
        results = FileResults(arrays["finished"], arrays["scores"], states, endless, 0.0)
        return arrays["content"].tobytes(), results


class _Memory(Writer):
    """A writer whose file is `content`, bytes, once it is closed."""

    content = b""

    def __init__(self, game: Game, specs: list[str], variant: str, seats: int) -> None:
        super().__init__(Path("memory.jsonl.gz"), game, specs, variant, seats)

    def _open(self) -> io.BytesIO:
        return io.BytesIO()

    def _keep(self) -> None:
        assert isinstance(self._raw, io.BytesIO)
        self.content = self._raw.getvalue()
        self._raw.close()
