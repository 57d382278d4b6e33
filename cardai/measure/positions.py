"""What an agent's evaluator is asked about a recorded game, always in worlds of the seat, and what it answers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cardai.agents.spec import Agent
from cardai.agents.strategy import OnePly
from cardai.errors import CardaiError
from cardai.game import Game, GameState, copies, int_seed
from cardai.kernel.chance import ANALYSIS, derived
from cardai.kernel.native import raw
from cardai.kernel.rules import door_value
from cardai.rule import STREAM
from cardai.stats.progress import Progress
from cardai.table.asking import compare

_CHUNK = 16  # decisions weighed at once


def one_ply(agent: Agent) -> OnePly:
    """Returns the strategy of an agent that compares its moves by an evaluator. The caller has refused other agents."""
    assert isinstance(agent.strategy, OnePly)
    return agent.strategy


class EvaluatedPosition(NamedTuple):
    """A position to be evaluated: `worlds`, STATE[n], are worlds of `seat`, which has moved into it with move `ply`."""

    ply: int
    seat: int
    worlds: np.ndarray


def positions(
    game: Game,
    agent: Agent,
    states: Sequence[GameState],
    moves: Sequence[np.record],
    seed: int = 0,
    only: int | None = None,
) -> list[EvaluatedPosition]:
    """The positions of a game that an agent's evaluator is asked about: one for each ply, or none for some plies.

    `states`: those before each move, and the last. An evaluator of after-states gets the after-state of the move in a
    world that the seat had before the move. An evaluator of settled states gets worlds of the settled state, unless
    the game is over or the seat is in the middle of its decision. `only`: the one seat whose positions are wanted.
    """
    asked = []
    for ply, move in enumerate(moves):
        before, settled = states[ply], states[ply + 1]
        seat, world_seed = int(before["turn"]), int(derived(int_seed(seed), ANALYSIS, 2 * ply))
        if only not in (None, seat):
            continue
        if not one_ply(agent).settles:
            world = game.world(before, seat, world_seed)
            asked.append(EvaluatedPosition(ply, seat, copies(game.after(world, move))))
        elif settled["turn"] >= 0 and not (settled["turn"] == seat and settled["midway"]):
            count = one_ply(agent).worlds if agent.evaluator is None else 1
            worlds = np.array([game.world(settled, seat, world_seed + i) for i in range(count)])
            asked.append(EvaluatedPosition(ply, seat, worlds))
    return asked


def evaluated(game: Game, agent: Agent, asked: Sequence[EvaluatedPosition]) -> dict[int, float]:
    """The value of each position by ply: the mean over its worlds.

    Raises CardaiError if an evaluator's score is not in [0, 1].
    """
    if not asked:
        return {}
    agent = agent.at_table(game, asked[0].worlds)
    evaluator = agent.evaluator
    if evaluator is None:
        return {position.ply: _mean_value(agent, position) for position in asked}
    rows = np.stack([game.encode(position.worlds[0], position.seat, evaluator.encoder) for position in asked])
    scores = np.asarray(evaluator.score(rows))
    if scores.shape != (len(rows),) or not ((scores >= 0) & (scores <= 1)).all():
        raise CardaiError(f"agent {agent.spec!r}: its evaluator does not score each position by a number in [0, 1]")
    return {position.ply: float(score) for position, score in zip(asked, scores, strict=True)}


def _mean_value(agent: Agent, position: EvaluatedPosition) -> float:
    worlds = [np.ascontiguousarray(position.worlds[i : i + 1]) for i in range(len(position.worlds))]
    return float(np.mean([door_value(one_ply(agent).value, raw(world), position.seat) for world in worlds]))


def weighed(
    game: Game,
    agent: Agent,
    states: Sequence[GameState],
    seed: int,
    progress: Progress | None,
    only: int | None = None,
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """The legal moves and their values to the agent, MOVE[n] and f8[n], by ply. Only plies with a choice are there.

    `states`: those before each move. The values are those by which the agent chooses when it plays. `only`: the one
    seat whose moves are wanted.
    """
    asked_of = [ply for ply, state in enumerate(states) if only in (None, int(state["turn"]))]
    open_plies = [ply for ply in asked_of if len(game.moves(states[ply])) > 1]
    values: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for first in range(0, len(open_plies), _CHUNK):
        if progress:
            progress(first, len(open_plies), f"weighing moves by {agent.spec}")
        plies = open_plies[first : first + _CHUNK]
        asked = np.array([states[ply] for ply in plies], game.state)
        streams = np.zeros(len(plies), STREAM)
        streams["rng"] = [derived(int_seed(seed), ANALYSIS, 2 * ply + 1) for ply in plies]
        options, _ = compare(game, agent, asked, streams)
        values |= dict(zip(plies, options, strict=True))
    return values
