"""The players of a run as compiled code takes them, and its working space."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cardai.agents.endgame import Endgame
from cardai.agents.spec import Agent
from cardai.agents.strategy import EvenlyRandom, HandWritten, OnePly, Rollout
from cardai.game import Game
from cardai.kernel import driver, native
from cardai.kernel.dense import DenseNetwork, space_for
from cardai.kernel.driver import Cast
from cardai.kernel.lookahead import BUCKETS, DEEP, Leaves, Scratch
from cardai.rule import STREAM

MOST_KNOWN = 1024  # rows of a decision that a network scores only once


def cast_of(game: Game, agents: Sequence[Agent]) -> Cast:
    """The players of a run as the driver takes them."""
    players = [_player(game, agent) for agent in agents]

    def column(name: str, otherwise: float, dtype: Any = np.int64) -> np.ndarray:
        return np.array([player.get(name, otherwise) for player in players], dtype)

    params = [player.get("params", ()) for player in players]
    width = max([1, *map(len, params)])
    table = np.zeros((len(agents), width))
    for row, values in zip(table, params, strict=True):
        row[: len(values)] = values
    playout = game.players.get("random")
    return Cast(
        native.addresses([player.get("call", 0) for player in players]),
        column("network", 0),
        column("kind", driver.OUTSIDE),
        column("sees_own", 0),
        column("peeks", 0),
        column("settles", 0),
        column("worlds", 1),
        column("randomised", 0),
        column("epsilon", 0.0, np.float64),
        column("temperature", 0.0, np.float64),
        column("until", -1),
        column("stops", 0),
        native.addresses([game.entry("is_open", game.is_open) if game.is_open and column("stops", 0).any() else 0]),
        native.addresses([game.entry("blank", game.blank) if game.blank and column("sees_own", 0).any() else 0]),
        table,
        np.array([len(values) for values in params], np.int64),
        width,
        native.addresses([game.entry("choose", playout.choose) if playout else 0]),
        max(1, len(playout.defaults) if playout else 0),
        playout is not None,
    )


def _player(game: Game, agent: Agent) -> dict[str, Any]:
    """Returns what the driver knows of one player: column of `Cast` -> value. Columns left out are the same for all."""
    match agent.strategy:
        case EvenlyRandom():
            return {"kind": driver.UNIFORM}
        case HandWritten() as player:
            return {
                "kind": driver.NATIVE,
                "call": player.call,
                "params": player.params,
                "sees_own": player.sees_own,
                "randomised": player.randomised,
            }
        case Rollout(worlds):
            return {"kind": driver.ROLLOUT, "worlds": worlds}
        case OnePly() as search if search.is_native:
            network = search.network
            return {
                "kind": driver.ONE_PLY,
                "call": search.value if search.evaluator is None else _encode(game, search.evaluator.encoder),
                "network": 0 if network is None else network.address,
                "peeks": search.peeks,
                "settles": search.settles,
                "worlds": search.worlds,
                "epsilon": search.epsilon,
                "temperature": search.temperature,
                "until": search.until,
            }
        case Endgame(inner=inner) if inner.strategy.is_native:
            return {**_player(game, inner), "stops": 1}
        case OnePly() as search:
            return {"until": search.until}
        case _:
            return {}


def _encode(game: Game, encoder: str) -> Any:
    return game.entry("encode", game.encoder(encoder).encode)


def networks_of(agents: Sequence[Agent]) -> list[DenseNetwork]:
    """The networks that compiled code scores for these players."""
    strategies = [agent.strategy for agent in agents]
    strategies = [one.inner.strategy if isinstance(one, Endgame) else one for one in strategies]
    return [one.network for one in strategies if isinstance(one, OnePly) and one.network is not None]


def scratch_of(game: Game, cast: Cast | None = None, networks: Sequence[DenseNetwork] = ()) -> Scratch:
    """Returns working space for one thread. Without a cast it serves one-ply search alone.

    `networks`: those of the players of the cast.
    """
    depth = DEEP + 2
    playout = game.players.get("random") if cast else None
    params = np.zeros((1, cast.playout_width if cast else 1))
    if playout:
        params[0, : len(playout.defaults)] = list(playout.defaults.values())
    return Scratch(
        np.zeros(depth, game.state),
        np.zeros(depth * game.max_moves, game.move),
        np.zeros(game.max_moves),
        np.zeros(game.max_moves, np.int64),
        np.zeros(game.max_moves, np.int64),
        np.zeros(1),
        np.zeros(depth, np.int64),
        np.zeros(1, STREAM),
        params,
        leaves_of(game, MOST_KNOWN if networks else 1, max([1, *(network.features for network in networks)])),
        space_for(networks),
    )


def leaves_of(game: Game, room: int, width: int) -> Leaves:
    """An empty batch with room for so many rows, of `width` values each."""
    return Leaves(
        room,
        np.zeros(6, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(2 * room, game.move),
        np.zeros(2 * room),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros((room, width), np.uint8),
        np.zeros(room, np.int64),
        np.zeros(BUCKETS, np.int64),
        np.zeros(room, np.int64),
    )
