"""The players of a run as compiled code takes them, and its working space."""

from collections.abc import Sequence

import numpy as np

from cardai.agents.spec import Agent
from cardai.game import Game
from cardai.kernel import driver, native
from cardai.kernel.driver import Cast, Scratch
from cardai.rule import STREAM


def cast_of(game: Game, agents: Sequence[Agent]) -> Cast:
    """The players of a run as the driver takes them."""
    width = max([1, *(len(agent.params) for agent in agents)])
    params = np.zeros((len(agents), width))
    for i, agent in enumerate(agents):
        params[i, : len(agent.params)] = agent.params
    playout = game.players.get("random")
    return Cast(
        native.addresses([agent.call for agent in agents]),
        np.array([driver.OUTSIDE if agent.is_outside else agent.kind for agent in agents], np.int64),
        np.array([agent.sees_truth for agent in agents], np.int64),
        np.array([agent.worlds for agent in agents], np.int64),
        np.array([agent.randomised for agent in agents], np.int64),
        np.array([agent.epsilon for agent in agents]),
        np.array([agent.temperature for agent in agents]),
        np.array([agent.until for agent in agents], np.int64),
        params,
        np.array([len(agent.params) for agent in agents], np.int64),
        width,
        native.addresses([game.entry("choose", playout.choose) if playout else 0]),
        max(1, len(playout.defaults) if playout else 0),
        playout is not None,
    )


def scratch_of(game: Game, cast: Cast) -> Scratch:
    """Working space for one thread."""
    depth = driver.DEEP + 2
    playout = game.players.get("random")
    params = np.zeros((1, cast.playout_width))
    if playout:
        params[0, : len(playout.defaults)] = list(playout.defaults.values())
    return Scratch(
        np.zeros(depth, game.state),
        np.zeros(depth * game.max_moves, game.move),
        np.zeros(game.max_moves),
        np.zeros(game.max_moves, np.int64),
        np.zeros(game.max_moves, np.int64),
        np.zeros(depth),
        np.zeros(depth, np.int64),
        np.zeros(1, STREAM),
        params,
    )
