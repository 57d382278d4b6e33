"""A line-up on duplicate deals: play each deal in all rotations, and find what each place of the line-up scored."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from cardai.agents.spec import Agent
from cardai.game import Game
from cardai.progress import CountProgress
from cardai.stats.deals import deal_seeds, rotations
from cardai.stats.measure import OF_SCORES
from cardai.table.many import Results, play


def play_rotated(
    game: Game,
    line_up: Sequence[Agent],
    games: int,
    seed: int,
    variant: str,
    threads: int,
    progress: CountProgress | None,
    rotate: bool = True,
    record: Path | None = None,
    overwrite: bool = False,
    salt: str = "",
    noted: Sequence[str] = (),
    moves: bool = False,
) -> tuple[Results, np.ndarray]:
    """Play a line-up on duplicate deals. Returns the results and which place of the line-up sat in each seat.

    The places are i64[deals, rotations, seats]; game d * rotations + r of the results is rotation r of deal d. Without
    `rotate`, each deal is played once as named. `record`: a file to write the games to. `salt`: see `deal_seeds`.
    `noted`: names of outcomes that are noted of each game. `moves`: keep the moves of each game in the results.
    Agents with the same spec are one agent at the table, so that an outside player is asked for the moves of all its
    seats at once.
    """
    seats = len(line_up)
    turns = rotations(seats) if rotate else np.arange(seats)[None]
    deals = -(-games // len(turns))
    places = np.tile(turns, (deals, 1))
    seeds = np.repeat(deal_seeds(seed, deals, salt), len(turns))
    agents = {agent.spec: agent for agent in line_up}
    numbers = {spec: i for i, spec in enumerate(agents)}
    lineups = np.array([numbers[agent.spec] for agent in line_up])[places]
    with _recorder(record, game, tuple(agents), variant, lineups, seeds, overwrite) as on_game:
        results = play(
            game,
            list(agents.values()),
            lineups,
            seeds,
            variant=variant,
            threads=threads,
            progress=progress,
            on_game=on_game,
            outcomes=noted,
            record=moves,
        )
    return results, places.reshape(deals, len(turns), seats)


def outcomes(measure: str, results: Results) -> np.ndarray:
    """What each seat got in each game by a measure (`cardai.stats.measure`): f8[G, seats], NaN for unfinished games.

    An outcome of the game must be among those that were noted. Its values are in its own unit, others in [0, 1].
    """
    noted = results.outcomes.get(measure)
    values = OF_SCORES[measure](results.scores) if noted is None else noted
    return np.where(results.finished[:, None], values, np.nan)


def outcomes_of_place(places: np.ndarray, place: int, outcomes: np.ndarray) -> np.ndarray:
    """The outcomes of one place of the line-up, f8[deals, rotations], from those of all seats, f8[G, seats]."""
    deals, turns, seats = places.shape
    seat = np.argmax(places == place, axis=2)
    return np.take_along_axis(outcomes.reshape(deals, turns, seats), seat[:, :, None], axis=2)[:, :, 0]


def outcomes_of_places(places: np.ndarray, chosen: Sequence[int], outcomes: np.ndarray) -> np.ndarray:
    """The outcomes of several places side by side, f8[deals, len(chosen) * rotations]."""
    return np.concatenate([outcomes_of_place(places, place, outcomes) for place in chosen], axis=1)


@contextlib.contextmanager
def _recorder(
    path: Path | None,
    game: Game,
    specs: tuple[str, ...],
    variant: str,
    lineups: np.ndarray,
    seeds: np.ndarray,
    overwrite: bool,
) -> Iterator[Callable[..., None] | None]:
    """Returns what `play` calls to record each finished game, or None without a path."""
    if path is None:
        yield None
        return
    from cardai.data.record import Writer

    with Writer(path, game, specs, variant, lineups.shape[1], overwrite=overwrite, planned=len(seeds)) as writer:
        yield writer.in_order(lineups, seeds)
