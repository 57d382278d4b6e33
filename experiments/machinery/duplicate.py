"""One agent's scores on duplicate deals with rotated seats, game by game: f8[deals, seats]."""

from collections.abc import Callable, Sequence

import numpy as np

from cardai.agents.spec import Agent, agent
from cardai.game import Game
from cardai.stats.deals import deal_seeds, rotations
from cardai.table.many import play


def scores_of(
    game: Game,
    player: Agent,
    opponents: Sequence[str],
    games: int,
    seed: int,
    variant: str | None,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """A player's score in each game of each deal: f8[deals, seats] in [0, 1], NaN for a game that did not end.

    The player sits in seat r in column r. Deals and chance events are those of a suite's row with this many games and
    this seed. Raises KeyboardInterrupt on Ctrl-C.
    """
    others = {spec: agent(game, spec) for spec in dict.fromkeys(opponents)}
    lineup = np.array([0, *(1 + list(others).index(spec) for spec in opponents)])
    turns = rotations(len(lineup))
    deals = -(-games // len(turns))
    holder = np.tile(turns, (deals, 1))
    seeds = np.repeat(deal_seeds(seed, deals), len(turns))
    agents = [player, *others.values()]
    results = play(game, agents, lineup[holder], seeds, variant=variant, progress=progress)
    if results.interrupted:
        raise KeyboardInterrupt
    own = np.where(results.finished, results.scores[holder == 0], np.nan)
    return own.reshape(deals, len(turns))


def counted(scores: np.ndarray, outcome: str) -> np.ndarray:
    """1 for a game with the outcome, else 0, NaN for one that did not end: f8 of the same shape as `scores`.

    `outcome`: "won" is a score of 1, "lost" one of 0, "not lost" one above 0.
    """
    counts = {"won": scores == 1.0, "lost": scores == 0.0, "not lost": scores > 0.0}[outcome]
    return np.where(np.isnan(scores), np.nan, counts)
