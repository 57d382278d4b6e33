"""What a move cost beside the best one, by rollouts: a simple player plays each move on in the same worlds of the seat.

The best move is found in three steps: all moves in half of the agent's worlds, the best `_FEW` of them in as many as it
has, then the best one and the one that was played in `_MORE` times as many new ones. The cost is measured in these last
worlds only, so that the choice does not flatter it. A move is called better only where the 95 % interval of the cost
does not contain 0.
"""

from typing import NamedTuple

import numpy as np

from cardai.agents.spec import Agent
from cardai.agents.strategy import WorldSearch
from cardai.game import Game, GameState, int_seed
from cardai.kernel.chance import ANALYSIS, derived
from cardai.stats.interval import LEVEL, resampled_means
from cardai.table.playing_out import values_in_worlds

_FEW, _MORE = 8, 10
_TO_THE_END = -1  # turns of a search that plays worlds to the end of the game
_FIRST = 5 << 29  # numbers of the streams: `cardai.measure.coaching` has those around


class PlayedOn(NamedTuple):
    """A move that was played on, beside the others: see `cardai.measure.analysis.AnalysedMove`."""

    listed: int
    worth: float
    best: str | None
    best_worth: float


def plays_on(agent: Agent) -> bool:
    """Whether an agent plays moves on to the end of the game in compiled code, as `rollout:` does."""
    plan = agent.strategy
    return isinstance(plan, WorldSearch) and plan.is_native and plan.turns == _TO_THE_END


def played_on(game: Game, agent: Agent, state: GameState, move: np.record, seed: int) -> PlayedOn | None:
    """Play all moves of a decision on in the agent's worlds. Returns None for a move without a choice.

    `state`: before the move; only a world of the seat to move is used. `seed`: decides the worlds.
    """
    plan, place = agent.strategy, _FIRST + 4 * int(state["ply"])
    assert isinstance(plan, WorldSearch)
    bits = [int(derived(int_seed(seed), ANALYSIS, place + step)) for step in range(4)]
    world = game.world(state, int(state["turn"]), bits[0])
    moves, _ = game.enumerate(world)
    if not (moves == move).any():  # a truncated list may be without it
        moves = np.concatenate([moves, np.array([move], game.move)])
    if len(moves) == 1:
        return None
    own = int(np.flatnonzero(moves == move)[0])
    chosen = np.arange(len(moves))
    for worlds, most, luck in ((max(4, plan.worlds // 2), _FEW, bits[1]), (max(8, plan.worlds), 1, bits[2])):
        means = values_in_worlds(game, agent, world, moves[chosen], worlds, luck).mean(axis=0)
        chosen = chosen[np.argsort(-means, kind="stable")[:most]]
    best = int(chosen[0])
    ends = values_in_worlds(game, agent, world, moves[[best, own]], _MORE * plan.worlds, bits[3])
    cost, worth = ends[:, 0] - ends[:, 1], float(ends[:, 1].mean())
    low = float(np.quantile(resampled_means(cost[:, None], 0), (1 - LEVEL) / 2))
    if best == own or low <= 0:
        return PlayedOn(len(moves), worth, None, worth)
    return PlayedOn(len(moves), worth, game.spell(world, moves[best]), worth + float(cost.mean()))
