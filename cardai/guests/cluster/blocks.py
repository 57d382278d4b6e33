"""Many games as tasks: a block of them is played on a machine, and its results come back as bytes.

Games depend on their seeds and line-ups only: it does not matter which games are in a block.
"""

import io
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game
from cardai.guests.cluster.joining import ClusterFailed
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.progress import CountProgress
from cardai.playing.table.ended import OnGame
from cardai.playing.table.many import Results, play

_MOST = 10_000  # games in a block, so that little is lost with a worker
_SHARES = 8  # blocks for each processor, so that all are busy until shortly before the end
_COLUMNS = ("scores", "plies", "finished", "endless", "tally")  # what results say of each game
_SUMS = ("decisions", "rows", "batches")


def block_player(game: Game, request: Mapping[str, Any]) -> Callable[[bytes], bytes]:
    """What does a task: it plays the games of an item, i64[G, seats + 1], line-ups and seeds."""
    agents = [agent(game, spec) for spec in request["agents"]]
    options = {name: request[name] for name in ("variant", "record", "outcomes")}

    def work(item: bytes) -> bytes:
        games = np.frombuffer(item, "<i8").reshape(-1, request["seats"] + 1)
        seeds = np.ascontiguousarray(games[:, -1]).view(np.uint64)
        return _packed(play(game, agents, games[:, :-1], seeds, threads=1, **options).complete())

    return work


def play_games(
    cluster: Any, game: Game, agents: Sequence[Agent], lineups: np.ndarray, seeds: np.ndarray, *,
    variant: str | None = None, threads: int | None = None, record: bool = False,
    progress: CountProgress | None = None, on_game: OnGame | None = None, outcomes: Sequence[str] = (),
) -> Results:  # fmt: skip
    """Play G games on a `Cluster`, as `cardai.records.elsewhere.Machines` says."""
    del threads
    began, (count, seats) = time.perf_counter(), lineups.shape
    specs = [player.spec for player in agents]
    request = {"agents": specs, "seats": seats, "variant": variant, "outcomes": list(outcomes)}
    request["record"] = record or on_game is not None
    games = np.column_stack([lineups, np.asarray(seeds, np.uint64).view(np.int64)]).astype("<i8")
    size = max(1, min(_MOST, -(-count // (_SHARES * cluster.slots))))
    items = {first: games[first : first + size].tobytes() for first in range(0, count, size)}
    results, done = _blank(count, seats, len(agents), outcomes), 0
    try:
        for first, answer in cluster.map(game, specs, "blocks", request, items, games[:1].tobytes()):
            if isinstance(answer, CardaiError):
                raise ClusterFailed(f"games {first:,} to {first + size - 1:,} failed: {answer}")
            done += _add(game, results, first, answer)
            if progress:
                progress(done, count)
    except KeyboardInterrupt:
        results.interrupted = True
    if on_game is not None:
        for i, moves in enumerate(results.moves):
            if moves is not None:
                on_game(i, moves, results.scores[i])
    results.seconds = time.perf_counter() - began
    return results


def _packed(results: Results) -> bytes:
    arrays: dict[str, Any] = {name: getattr(results, name) for name in (*_COLUMNS, *_SUMS, "thinking")}
    arrays |= {f"outcome {name}": values for name, values in results.outcomes.items()}
    moves = [moves.view(np.int64) for moves in results.moves if moves is not None]
    arrays["moves"] = np.concatenate([np.zeros(0, np.int64), *moves])
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def _blank(count: int, seats: int, agents: int, outcomes: Sequence[str]) -> Results:
    """The results of games of which none is finished yet."""
    scores, plies, finished, endless = np.zeros((count, seats)), np.zeros(count, int), *np.zeros((2, count), bool)
    values = {name: np.zeros((count, seats)) for name in outcomes}
    sums = {"decisions": 0, "seconds": 0.0, "tally": np.zeros((count, 4)), "thinking": np.zeros((agents, 2))}
    return Results(scores, plies, finished, endless, **sums, moves=[None] * count, outcomes=values)


def _add(game: Game, results: Results, first: int, answer: bytes) -> int:
    """Put the results of a block in their place. Returns how many games it has."""
    with np.load(io.BytesIO(answer), allow_pickle=False) as arrays:
        own = slice(first, first + len(arrays["plies"]))
        for name in _COLUMNS:
            getattr(results, name)[own] = arrays[name]
        for name, values in results.outcomes.items():
            values[own] = arrays[f"outcome {name}"]
        for name in _SUMS:
            setattr(results, name, getattr(results, name) + int(arrays[name]))
        results.thinking += arrays["thinking"]
        moves = arrays["moves"].view(game.move)
    ends = np.cumsum(np.where(results.finished[own], results.plies[own], 0))
    for i in np.flatnonzero(results.finished[own]) if len(moves) else ():
        results.moves[first + i] = moves[ends[i] - results.plies[first + i] : ends[i]]
    return own.stop - first
