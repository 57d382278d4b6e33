"""Many games as tasks for any machine: a block of games is played there, and its results come back as bytes.

    results = play_games(game, agents, lineups, seeds, variant="report", cluster=cluster)

The results are those of `cardai.table.many.play`, but for their times. Games depend on their seeds and line-ups only:
it does not matter which games are in a block.
"""

import io
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cardai.agents.spec import Agent, agent
from cardai.game import Game
from cardai.stats.progress import CountProgress
from cardai.table.cluster.cluster import Cluster
from cardai.table.cluster.driving import ClusterFailed
from cardai.table.cluster.work import WARM, Answer
from cardai.table.ended import OnGame
from cardai.table.many import Results, play

TASK = f"{__name__}:ready"
MOST = 10_000
"""The most games in a block. A worker that is lost loses at most one block."""
_SHARES = 8  # blocks for each processor, so that all are busy until shortly before the end


def play_games(
    game: Game,
    agents: Sequence[Agent],
    lineups: np.ndarray,
    seeds: np.ndarray,
    *,
    variant: str | None = None,
    threads: int | None = None,
    record: bool = False,
    progress: CountProgress | None = None,
    on_game: OnGame | None = None,
    outcomes: Sequence[str] = (),
    cluster: Cluster | None = None,
) -> Results:
    """Play G games on the machines of a cluster, or on this one without a cluster: see `cardai.table.many.play`.

    On a cluster, Ctrl-C stops early with the blocks that are finished. Raises CardaiError and ClusterFailed as
    `Cluster.run`, and ClusterFailed if some games cannot be played.
    """
    if cluster is None:
        return play(
            game, agents, lineups, seeds, variant=variant, threads=threads, record=record, progress=progress,
            on_game=on_game, outcomes=outcomes,
        )  # fmt: skip
    began, games = time.perf_counter(), len(seeds)
    block = max(1, min(MOST, -(-games // (_SHARES * max(1, cluster.slots)))))
    columns = lineups.astype("<i8"), np.asarray(seeds, np.uint64).astype("<u8")
    request = {
        "agents": [player.spec for player in agents],
        "games": games,
        "seats": lineups.shape[1],
        "variant": variant,
        "outcomes": list(outcomes),
        "moves": record or on_game is not None,
        "block": block,
    }
    blocks: dict[int, Mapping[str, np.ndarray]] = {}
    done = 0

    def take(number: int, answer: Answer) -> None:
        nonlocal done
        with np.load(io.BytesIO(answer.content), allow_pickle=False) as arrays:
            blocks[number] = dict(arrays)
        done += len(blocks[number]["plies"])
        if progress:
            progress(done, games)

    numbers = range(-(-games // block))
    is_interrupted, failures = False, dict[int, str]()
    try:
        data = b"".join(column.tobytes() for column in columns)
        failures = cluster.run(game, request["agents"], TASK, request, numbers, take, data=data)
    except KeyboardInterrupt:
        is_interrupted = True
    if failures:
        raise ClusterFailed(
            f"{len(failures)} of {len(numbers)} blocks of games failed: {next(iter(failures.values()))}"
        )
    results = _joined(blocks, games, lineups.shape[1], len(agents), block, outcomes)
    results.seconds, results.interrupted = time.perf_counter() - began, is_interrupted
    if record or on_game is not None:
        _hand_over(game, blocks, block, results, on_game)
    return results


def ready(game: Game, request: Mapping[str, Any], data: bytes) -> Callable[[int], bytes]:
    """The work of a task: `work(number)` plays the block of that number and returns its results as bytes."""
    games, seats, block = request["games"], request["seats"], request["block"]
    lineups = np.frombuffer(data, "<i8", games * seats).reshape(games, seats).astype(np.int64)
    seeds = np.frombuffer(data, "<u8", offset=lineups.nbytes).astype(np.uint64)
    agents = [agent(game, spec) for spec in request["agents"]]

    def work(number: int) -> bytes:
        first, end = (0, 1) if number == WARM else (number * block, min((number + 1) * block, games))
        results = play(
            game,
            agents,
            lineups[first:end],
            seeds[first:end],
            variant=request["variant"],
            threads=1,
            record=request["moves"],
            outcomes=request["outcomes"],
        )
        if results.interrupted:
            raise KeyboardInterrupt
        return _packed(results)

    return work


def _packed(results: Results) -> bytes:
    out = io.BytesIO()
    arrays: dict[str, np.ndarray] = {name: getattr(results, name) for name in _COLUMNS}
    arrays |= {f"outcome {name}": values for name, values in results.outcomes.items()}
    arrays["sums"] = np.array([results.decisions, results.rows, results.batches], np.int64)
    arrays["thinking"] = np.zeros((0, 2)) if results.thinking is None else results.thinking
    if results.moves:
        played = [moves for moves in results.moves if moves is not None]
        arrays["moves"] = np.concatenate([np.ascontiguousarray(moves).view(np.int64).reshape(-1) for moves in played])
    np.savez(out, **arrays)  # pyright: ignore[reportArgumentType]
    return out.getvalue()


_COLUMNS = ("scores", "plies", "finished", "endless", "tally")
"""What the results say of each game."""


def _joined(
    blocks: Mapping[int, Mapping[str, np.ndarray]],
    games: int,
    seats: int,
    agents: int,
    block: int,
    outcomes: Sequence[str],
) -> Results:
    """The results of all games. Those of blocks that were not played are not finished."""
    results = Results(
        scores=np.zeros((games, seats)),
        plies=np.zeros(games, np.int64),
        finished=np.zeros(games, bool),
        endless=np.zeros(games, bool),
        decisions=0,
        seconds=0.0,
        tally=np.zeros((games, 4)),
        thinking=np.zeros((agents, 2)),
        outcomes={name: np.zeros((games, seats)) for name in outcomes},
    )
    assert results.thinking is not None
    for number in sorted(blocks):
        arrays = blocks[number]
        own = slice(number * block, number * block + len(arrays["plies"]))
        for name in _COLUMNS:
            getattr(results, name)[own] = arrays[name]
        for name in outcomes:
            results.outcomes[name][own] = arrays[f"outcome {name}"]
        results.decisions += int(arrays["sums"][0])
        results.rows += int(arrays["sums"][1])
        results.batches += int(arrays["sums"][2])
        results.thinking += arrays["thinking"]
    return results


def _hand_over(
    game: Game,
    blocks: Mapping[int, Mapping[str, np.ndarray]],
    block: int,
    results: Results,
    on_game: OnGame | None,
) -> None:
    """Keep the moves of each finished game, or hand them over in order."""
    if on_game is None:
        results.moves = [None] * len(results.plies)
    for number in sorted(blocks):
        moves = blocks[number].get("moves", np.zeros(0, np.int64)).view(game.move)
        first = 0
        for i in range(number * block, number * block + len(blocks[number]["plies"])):
            if not results.finished[i]:
                continue
            own = moves[first : first + int(results.plies[i])]
            first += len(own)
            if on_game is None:
                results.moves[i] = own
            else:
                on_game(i, own, results.scores[i])
