"""A duel: an agent plays among others of one kind until an interval, and not luck, says which of the two is better.

    result = duel(game, "greedy:runs/new", "greedy:runs/old", seats=4, seed=1, folder="runs/new/duel")

Deals are duplicate and each is played in all rotations, as in `cardai.measure.bench`. If an agent runs code of somebody
else's, no deal is played twice, and each call draws a new salt: no deal can be guessed, or met again. In a game of
teams the agent is one team, and the others are the other teams; where all seats are one team, each agent plays the same
deals in all seats. The mean scores of the two agents are compared after 1, 2, 4, ... times as many games. Each
comparison is a chance to find a difference that is not there, so each takes a wider interval: all comparisons of a duel
between equals together find one with a probability of at most 5 % (Bonferroni).
"""

import hashlib
import io
import math
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from cardai.errors import CardaiError, positive, printable, whole
from cardai.files.reading import open_file
from cardai.files.writing import write_whole
from cardai.game import Game, is_game
from cardai.game.compiled.doors import check_function, check_path
from cardai.measure.duplicate import needs_own_deals, outcomes, outcomes_of_place, play_rotated, unsealed
from cardai.playing.agents.notation import Spec, parse
from cardai.playing.agents.spec import SEARCHES, Agent, agent
from cardai.playing.machine import thread_count
from cardai.playing.progress import CountProgress
from cardai.playing.stats import interval
from cardai.playing.stats.deals import distinct_rotations, new_salt, seats_of_side
from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.measure import measure_of
from cardai.playing.stats.report import Report
from cardai.records.elsewhere import Machines, check_machines

BLOCK = 1000  # the most games in a file; a duel that is interrupted loses the games of the unfinished block


@dataclass(frozen=True)
class Duel(Report, drawn_by="cardai.cli.show.tables:duel_text"):
    """The result of a duel. Estimates are in `unit`: "%", or that of the game's payoff. A team counts once a game.

    - `games`, `endless`, `own_deals`, `unsealed`: as in `cardai.measure.bench_report`.
    - `different`: how many deals were played in different ways; `looks`: how often the agents were compared.
    - `score`: the candidate's mean score, with its 95 % interval; `difference`: that mean less the mean score of the
      others at the same tables, with an interval of `level`.
    - `verdict`: the candidate is "better" or "worse", or "undecided", as always with fewer than 10 different deals.
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
    own_deals: bool = False
    unsealed: tuple[str, ...] = ()
    unit: str = "%"

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """The result of which `as_json` made this content. Raises KeyError, TypeError or ValueError for any other."""
        fields: dict[str, Any] = {name: _estimate(content[name]) for name in ("score", "difference")}
        fields["unsealed"] = tuple(content.get("unsealed", ()))
        result = cls(**content | fields)
        counts = result.games, result.endless, result.different, result.looks
        texts = result.candidate, result.other, result.verdict, result.unit, *result.unsealed
        if not all(type(count) is int for count in counts) or not all(isinstance(text, str) for text in texts):
            raise TypeError("a count is no whole number, or a name no text")
        if not isinstance(result.own_deals, bool):
            raise TypeError("own_deals is neither true nor false")
        if not isinstance(result.level, float) or result.verdict not in ("better", "worse", "undecided"):
            raise ValueError("the level or the verdict is none")
        return result


def duel(
    game: Game,
    candidate: str | Spec,
    other: str | Spec,
    *,
    seats: int,
    folder: str | Path,
    variant: str | None = None,
    games: int = 2000,
    most: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: CountProgress | None = None,
    cluster: Machines | None = None,
) -> Duel:
    """Play a candidate among others until one of them is better, or `most` games have been played.

    The candidate has one seat, in a game of teams all seats of one team; `other` has all the rest. Where all seats are
    one team, each has all seats. At least `games` games are played; both numbers are rounded up to whole blocks of
    whole rotations. Every block is kept in a file of the folder, so that the same call continues a duel that was
    interrupted. `cluster`: the machines that play.

    Raises CardaiError for agents that do not fit and for a damaged file, KeyboardInterrupt at Ctrl-C.
    """
    is_game(game).options(whole("seats", seats), variant)
    is_candidate = seats_of_side(np.zeros(1, int), seats, game.teams)[0]
    line_up = [agent(game, candidate if own else other) for own in is_candidate]  # a process has one place
    line_ups = [line_up, [agent(game, other) for _ in line_up]] if game.teams == 1 else [line_up]
    salt, why_unsealed = new_salt() if any(map(needs_own_deals, line_ups)) else "", unsealed(line_ups, None)
    seed, threads, folder = whole("seed", seed), thread_count(threads), check_path("folder", folder)
    variant = game.canonical(variant)
    check_function("progress", progress)
    check_machines(cluster)
    first, sides = -(-positive("games", games) // BLOCK), game.teams or seats
    deals = -(-games // (first * sides))
    blocks = max(first, -(-positive("most", games if most is None else most) // (deals * sides)))
    sums, total = list(looks(first, blocks)), blocks * deals * sides
    options = {"seed": seed, "salt": salt, "variant": variant, "threads": threads, "cluster": cluster}
    played: list[_Block] = []
    for count, end in enumerate(sums, 1):
        for number in range(len(played), end):
            file = Path(folder) / f"{number:04d}.npz"
            block = _read(file, deals, sides, max(2, sides))
            if block is None:
                before = number * deals * sides
                told = progress and (lambda done, _, before=before: progress(before + done, total))
                parts = [_play(game, one, number, deals, progress=told, **options) for one in line_ups]
                block = parts[0] if len(parts) == 1 else _beside(*parts)
                _write(file, block)
            played.append(block)
        level = 1 - (1 - interval.LEVEL) / len(sums)
        result = _compared(game, line_ups[0][0], line_ups[-1][-1], bool(salt), why_unsealed, played, count, level)
        if result.verdict != "undecided" or end == blocks:
            return result
    raise AssertionError("the last look is after all blocks")


def looks(first: int, blocks: int) -> Iterator[int]:
    """After how many blocks the agents are compared: `first`, twice as many, and so on, and at last all."""
    end = first
    while end < blocks:
        yield end
        end *= 2
    yield blocks


def exploring(specs: tuple[str | Spec, str | Spec], epsilon: float) -> tuple[Spec, Spec]:
    """The Specs of two agents that each play a random move with probability `epsilon`.

    Without chance in the cards or in the agents, all games of a duel would be the same game. The specs are returned
    unchanged if an agent cannot explore or has an `epsilon` already, so that both explore alike or neither does.
    """
    one, other = map(parse, specs)
    if not epsilon or any(spec.kind not in SEARCHES or spec.option("epsilon") is not None for spec in (one, other)):
        return one, other
    return one.with_options(epsilon=f"{epsilon:g}"), other.with_options(epsilon=f"{epsilon:g}")


@dataclass(frozen=True)
class _Block:
    """The games of some deals.

    - `scores`: f4[deals, rotations, sides], the candidate's payoff first; NaN for endless games. A side is a team or,
      in a game without teams, a seat. Where all seats are one team, the second side is the other agent in all seats.
    - `marks`: u8[deals, 8], a hash of each deal's moves and scores: deals with different games are told apart by it.
      Where few moves are possible, as in a small game of poker, the same moves are other games with other cards.
    """

    scores: np.ndarray
    marks: np.ndarray


def _play(game: Game, line_up: list[Agent], number: int, deals: int, **options: Any) -> _Block:
    """Play a block of deals. `options`: of `play_rotated`."""
    turns = distinct_rotations(seats_of_side(np.zeros(1, int), len(line_up), game.teams)[0].tolist())
    results, places = play_rotated(game, line_up, turns, deals, moves=True, first=number * deals, **options)
    scores = outcomes(game.payoff, "score", results.complete())
    by_side = [outcomes_of_place(places, side, scores) for side in range(len(turns))]
    marks = _marks(results.moves, np.asarray(results.scores), deals)
    return _Block(np.stack(by_side, axis=2).astype(np.float32), marks)


def _beside(own: _Block, theirs: _Block) -> _Block:
    """The games of two agents, each in all seats of the same deals."""
    return _Block(np.concatenate([own.scores, theirs.scores], axis=2), own.marks ^ theirs.marks[:, ::-1])


def _marks(moves: list[np.ndarray | None], scores: np.ndarray, deals: int) -> np.ndarray:
    """Returns a hash of the moves and scores of each deal's games, u8[deals, 8]. `moves` is None for an endless game.

    `scores`: f8[games, seats], without a meaning for an endless game.
    """
    rotated, marks = len(moves) // deals, np.zeros((deals, 8), np.uint8)
    for deal in range(deals):
        digest = hashlib.blake2b(digest_size=8)
        for i in range(deal * rotated, (deal + 1) * rotated):
            played = moves[i]
            digest.update(b"endless" if played is None else len(played).to_bytes(8, "little") + played.tobytes())
            digest.update(b"" if played is None else scores[i].tobytes())
        marks[deal] = np.frombuffer(digest.digest(), np.uint8)
    return marks


def _compared(
    game: Game,
    candidate: Agent,
    other: Agent,
    own_deals: bool,
    why_unsealed: tuple[str, ...],
    blocks: list[_Block],
    count: int,
    level: float,
) -> Duel:
    scores = np.concatenate([block.scores for block in blocks]).astype(float)
    marks = np.concatenate([block.marks for block in blocks])
    own, theirs = scores[:, :, 0], scores[:, :, 1:].reshape(len(scores), -1)
    comparison, different = interval.compare(own, theirs, level=level), len(np.unique(marks, axis=0))
    measure = measure_of(game, "score")
    return Duel(
        candidate=candidate.label,
        other=other.label,
        games=int(np.isfinite(own).sum()),
        endless=int(np.isnan(own).sum()),
        different=different,
        looks=count,
        level=level,
        score=interval.estimate(own).scaled(measure.scale),
        difference=comparison.difference.scaled(measure.scale),
        verdict=comparison.verdict if different >= interval.FEWEST_DEALS else "undecided",
        own_deals=own_deals,
        unsealed=why_unsealed,
        unit=measure.unit or "%",
    )


def _write(file: Path, block: _Block) -> None:
    """Write a block to its file, whole or not at all. Raises CardaiError if it cannot be written."""
    content = io.BytesIO()
    np.savez(content, scores=block.scores, marks=block.marks)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, content.getvalue())
    except OSError as error:
        raise CardaiError(f"cannot write {file}: {error.strerror or error}") from None


def _read(file: Path, deals: int, rotations: int, sides: int) -> _Block | None:
    """The block in a file, or None if there is no such file. Raises CardaiError if the file is damaged."""
    if not file.exists():
        return None
    wanted = {"scores": (np.float32, (deals, rotations, sides)), "marks": (np.uint8, (deals, 8))}
    try:
        with open_file(file) as content, zipfile.ZipFile(content) as arrays:
            found = {name: _array(arrays, name, *kind) for name, kind in wanted.items()}
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        why = printable(str(error)[:200])
        raise CardaiError(f"{file} is damaged ({why}): delete it, and its games are played again") from None
    return _Block(**found)


def _array(arrays: zipfile.ZipFile, name: str, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An array of a file that `_write` wrote. Raises ValueError for another type or shape; reads no more than this."""
    content = io.BytesIO()
    np.save(content, np.zeros(shape, dtype))
    size = content.tell()
    head = content.getvalue()[: size - math.prod(shape) * np.dtype(dtype).itemsize]
    with arrays.open(f"{name}.npy") as entry:
        found = entry.read(size + 1)
    if len(found) != size or not found.startswith(head):
        raise ValueError(f"its {name} are not those of {shape[0]:,} deals of this duel")
    return np.frombuffer(found, dtype, offset=len(head)).reshape(shape)


def _estimate(content: dict[str, Any]) -> Estimate:
    """An estimate from its JSON, which has null for NaN."""
    numbers: dict[str, Any] = {name: math.nan if value is None else value for name, value in content.items()}
    if not all(type(number) in (int, float) for number in numbers.values()):
        raise TypeError("an estimate holds something that is no number")
    return Estimate(**numbers)
