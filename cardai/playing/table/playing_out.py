"""Moves played out in worlds: every move of one decision in the same worlds, with the value of each in each."""

import numpy as np

from cardai.errors import BadArgument
from cardai.game import Game, GameState
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import WorldSearch
from cardai.playing.compiled.lookahead import Pending
from cardai.playing.progress import Progress
from cardai.playing.table.searching import Playout
from cardai.rules import STREAM

_MOST_LINES = 4096  # played on between two reports of progress


def values_in_worlds(
    game: Game,
    agent: Agent,
    world: GameState,
    moves: np.ndarray,
    worlds: int,
    bits: int,
    progress: Progress | None = None,
) -> np.ndarray:
    """The values of MOVE[k] `moves` for the seat to move, in the same new worlds of that seat: f8[worlds, k].

    `agent`: one that searches worlds (`rollout:`, `ahead:`) and is played in compiled code; a line has the value that
    its search gives it. All `moves` are played on, however few the agent itself would try. `world`: a world of the
    seat to move. `bits`: 64 bits that decide the new worlds and the luck in them.

    Raises BadArgument for another agent, and CardaiError if the game or a network breaks its contract.
    """
    states, none = np.array([world], game.state), np.zeros(1, np.int64)
    plan = agent.strategy.at_table(game, states)
    if not isinstance(plan, WorldSearch) or not plan.is_native:
        raise BadArgument(f"agent {agent.spec!r} plays no worlds on in compiled code")
    playout, stream, count = Playout(game, plan, agent), np.zeros(1, STREAM), len(moves)
    stream["rng"] = bits
    pending, values = Pending(states, stream, none, none, none), np.zeros((worlds, count))
    step = max(1, _MOST_LINES // max(1, count))
    for done in range(0, worlds, step):
        if progress:
            progress(done, worlds, f"playing {count} moves out in {worlds} worlds")
        share = min(step, worlds - done)
        lines = playout.begin(pending, moves, np.array([count]), np.array([share]))
        playout.play(lines, np.arange(share * count))
        values[done : done + share] = lines.values[: share * count].reshape(-1, count)
    return values
