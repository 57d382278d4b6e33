"""Games of a line-up on duplicate deals, kept with all their moves, whose decisions are graded afterwards."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cardai.agents.spec import agent
from cardai.game import Game, GameState
from cardai.measure.duplicate import needs_own_deals, play_rotated, seeds_of
from cardai.stats.deals import distinct_rotations, new_salt
from cardai.stats.machine import thread_count
from cardai.stats.progress import CountProgress


class PlayedGame(NamedTuple):
    """One game. `deal`: its number; the rotations of a deal have the same one."""

    deal: int
    seed: int
    start: GameState
    moves: np.ndarray  # MOVE[plies]
    lineup: np.ndarray  # i64[seats]: which of the different agents sat in each seat
    scores: np.ndarray  # f8[seats] in [0, 1]


class PlayedGames(NamedTuple):
    """The finished games, and how many deals were played. `specs`: the different agents, in order.

    `endless`: games given up after the game's `max_plies` moves; they are not among `games`.
    """

    specs: list[str]
    deals: int
    games: list[PlayedGame]
    endless: int


def play_games(
    game: Game,
    agents: Sequence[str],
    games: int,
    seed: int,
    variant: str,
    threads: int | None,
    progress: CountProgress | None,
) -> PlayedGames:
    """Play a line-up, one spec for each seat, on duplicate deals. Raises KeyboardInterrupt on Ctrl-C.

    If an agent runs code of somebody else's, no deal is played twice, and none can be guessed from the seed.
    """
    specs, turns = list(dict.fromkeys(agents)), distinct_rotations(agents)
    line_up, deals = [agent(game, spec) for spec in agents], -(-games // len(turns))
    salt = new_salt() if needs_own_deals(line_up) else ""
    results, places = play_rotated(
        game, line_up, turns, deals, seed, variant, thread_count(threads), progress, salt=salt, moves=True
    )
    numbers = np.array([specs.index(spec) for spec in agents])
    seats, seeds, played = len(agents), seeds_of(line_up, turns, deals, seed, salt), []
    for number, moves in enumerate(results.complete().moves):
        if moves is not None and results.finished[number]:
            deal, turn = divmod(number, len(turns))
            dealt = int(seeds[deal, turn])
            start = game.new(seats, dealt, variant)
            lineup, scores = numbers[places[deal, turn]], results.scores[number]
            played.append(PlayedGame(deal, dealt, start, moves, lineup, scores))
    return PlayedGames(specs, deals, played, int(results.endless.sum()))


def padded(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """Rows of different lengths as one table f8[len(rows), longest], filled up with NaN."""
    table = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
