"""A duel: an agent plays among others of one kind until an interval, and not luck, says which of the two is better.

    result = duel(game, "greedy:runs/new", "greedy:runs/old", seats=4, seed=1, folder="runs/new/duel")

Deals are duplicate and each is played in all rotations, as in `cardai.measure.bench`. The mean scores of the two agents
at the same tables are compared after 1, 2, 4, ... times as many games. Each comparison is a chance to find a difference
that is not there, so each takes a wider interval: all comparisons of a duel between equals together find one with a
probability of at most 5 % (Bonferroni).
"""

import hashlib
import io
import math
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from cardai.agents.spec import GENERIC, Agent, agent
from cardai.data.files import write_whole
from cardai.errors import CardaiError, positive
from cardai.game import Game
from cardai.progress import CountProgress
from cardai.stats import interval
from cardai.stats.deals import deal_seeds, rotations
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.table.many import play

BLOCK = 1000  # games in a file, at most; those of the block under way are lost when a duel is stopped


@dataclass(frozen=True)
class Duel:
    """How it ended. Estimates are in percent; `games` were finished, `endless` given up.

    `score`: the candidate's mean, with its 95 % interval; `difference`: to that of the others at the same tables, with
    an interval of `level`; after so many `looks`. `different`: deals with games of their own. `verdict` on the
    candidate: "better", "worse" or "undecided", the last whenever fewer than 10 deals are different.
    """

    candidate: str
    other: str
    games: int
    endless: int
    different: int
    looks: int
    level: float
    score: Estimate
    difference: Estimate
    verdict: str

    def as_json(self) -> dict[str, Any]:
        """All of it as plain JSON types."""
        return plain(asdict(self))

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Self:
        """What `as_json` told."""
        estimates: dict[str, Any] = {name: _estimate(told[name]) for name in ("score", "difference")}
        return cls(**told | estimates)


def duel(
    game: Game,
    candidate: str,
    other: str,
    *,
    seats: int,
    folder: str | Path,
    variant: str | None = None,
    games: int = 2000,
    most: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: CountProgress | None = None,
) -> Duel:
    """Play a candidate among others until one is better, or `most` games have been played, `games` of them at least.

    Every block of games is kept in a file of the folder, so that a duel that was stopped goes on after the last one.
    Both numbers are rounded up to whole blocks of whole rotations. Raises CardaiError for agents that do not fit and
    for a damaged file; Ctrl-C is raised.
    """
    agents = [agent(game, spec) for spec in (candidate, other)]
    first = -(-positive("games", games) // BLOCK)
    deals = -(-games // (first * seats))
    blocks = max(first, -(-positive("games", most or games) // (deals * seats)))
    seeds, sums = deal_seeds(seed, deals * blocks), list(looks(first, blocks))
    found: list[_Block] = []
    for count, end in enumerate(sums, 1):
        for number in range(len(found), end):
            file = Path(folder) / f"{number:04d}.npz"
            block = _read(file, deals, seats)
            if block is None:
                told = _counted(progress, number * deals * seats, blocks * deals * seats)
                mine = seeds[number * deals : (number + 1) * deals]
                block = _play(game, agents, mine, seats, variant, threads, told)
                _write(file, block)
            found.append(block)
        judged = _judged(agents, found, count, 1 - (1 - interval.LEVEL) / len(sums))
        if judged.verdict != "undecided" or end == blocks:
            return judged
    raise AssertionError("the last look is after all blocks")


def looks(first: int, blocks: int) -> Iterator[int]:
    """After how many blocks is looked: the first ones, twice as many, ... and all."""
    end = first
    while end < blocks:
        yield end
        end *= 2
    yield blocks


def exploring(specs: tuple[str, str], epsilon: float) -> tuple[str, str]:
    """Two specs whose agents play any move that often; as they were unless both can.

    Without chance in the cards or in the players, all games of two agents would be one game.
    """
    if not epsilon or any(spec.partition(":")[0] not in GENERIC or "epsilon=" in spec for spec in specs):
        return specs
    return with_epsilon(specs[0], epsilon), with_epsilon(specs[1], epsilon)


def with_epsilon(spec: str, epsilon: float) -> str:
    """A spec with one more option."""
    return f"{spec}{'&' if '?' in spec else '?'}epsilon={epsilon:g}"


@dataclass(frozen=True)
class _Block:
    """`scores`: f4[deals, rotations, seats], the candidate's first, NaN for endless games; `marks`: u8[deals, 8] tell
    deals apart whose games are different.
    """

    scores: np.ndarray
    marks: np.ndarray


def _play(
    game: Game,
    agents: list[Agent],
    seeds: np.ndarray,
    seats: int,
    variant: str | None,
    threads: int | None,
    progress: CountProgress | None,
) -> _Block:
    turns = rotations(seats)
    lineups = np.tile((turns != 0).astype(np.int64), (len(seeds), 1))
    results = play(
        game,
        agents,
        lineups,
        np.repeat(seeds, seats),
        variant=variant,
        threads=threads,
        record=True,
        progress=progress,
    )
    if results.interrupted:
        raise KeyboardInterrupt
    scores = np.where(results.finished[:, None], results.scores, np.nan).reshape(len(seeds), seats, seats)
    own_first = np.argsort(turns, axis=1)  # rotation r, place p -> the seat of place p
    scores = np.take_along_axis(scores, np.broadcast_to(own_first, scores.shape), axis=2)
    return _Block(scores.astype(np.float32), _marks(results.moves, len(seeds)))


def _marks(moves: list[np.ndarray | None], deals: int) -> np.ndarray:
    """A hash of the games of each deal, u8[deals, 8]."""
    rotated, marks = len(moves) // deals, np.zeros((deals, 8), np.uint8)
    for deal in range(deals):
        digest = hashlib.blake2b(digest_size=8)
        for played in moves[deal * rotated : (deal + 1) * rotated]:
            digest.update(b"endless" if played is None else len(played).to_bytes(8, "little") + played.tobytes())
        marks[deal] = np.frombuffer(digest.digest(), np.uint8)
    return marks


def _judged(agents: list[Agent], blocks: list[_Block], count: int, level: float) -> Duel:
    scores = np.concatenate([block.scores for block in blocks]).astype(float)
    marks = np.concatenate([block.marks for block in blocks])
    own, theirs = scores[:, :, 0], scores[:, :, 1:].reshape(len(scores), -1)
    found, different = interval.compare(own, theirs, level=level), len(np.unique(marks, axis=0))
    return Duel(
        candidate=agents[0].label,
        other=agents[1].label,
        games=int(np.isfinite(own).sum()),
        endless=int(np.isnan(own).sum()),
        different=different,
        looks=count,
        level=level,
        score=interval.estimate(own).scaled(100),
        difference=found.difference.scaled(100),
        verdict=found.verdict if different >= interval.FEWEST_DEALS else "undecided",
    )


def _counted(progress: CountProgress | None, before: int, total: int) -> CountProgress | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


def _write(file: Path, block: _Block) -> None:
    """Keep a block in its file, whole or not at all."""
    content = io.BytesIO()
    np.savez(content, scores=block.scores, marks=block.marks)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, content.getvalue())
    except OSError as error:
        raise CardaiError(f"cannot write {file}: {error.strerror or error}") from None


def _read(file: Path, deals: int, seats: int) -> _Block | None:
    """The block in a file; None where there is none. Raises CardaiError when it is damaged."""
    if not file.exists():
        return None
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as kept:
            block = _Block(kept["scores"], kept["marks"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise CardaiError(f"{file} is damaged ({error}): delete it, and its games are played again") from None
    if block.scores.shape != (deals, seats, seats) or block.marks.shape != (deals, 8):
        raise CardaiError(f"{file} does not hold {deals:,} deals for {seats} seats; move it away")
    return block


def _estimate(told: dict[str, Any]) -> Estimate:
    known: dict[str, Any] = {name: math.nan if value is None else value for name, value in told.items()}
    return Estimate(**known)
