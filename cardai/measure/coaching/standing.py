"""How each seat stands, as far as one of them may know: worlds of that seat, played out by simple players.

standing(game, agent(game, "careful"), state, seat=0, seed=3)     # each seat's mean score
"""

import math
import time

import numpy as np

from cardai.game import Game, GameState, int_seed
from cardai.game.compiled.chance import ANALYSIS, derived
from cardai.game.compiled.doors import check_seat
from cardai.playing.agents.spec import Agent
from cardai.playing.table.asking import ask
from cardai.rules import STREAM

WORLDS = 24
_FIRST = 5 << 30  # numbers of the streams: chances and advice use those below


def standing(
    game: Game, player: Agent, state: GameState, seat: int, seed: int, worlds: int = WORLDS, seconds: float = math.inf
) -> np.ndarray | None:
    """Each seat's mean score at the end, f8[seats] in [0, 1]: `player` plays for all seats in worlds of `seat`.

    `state`: any state or world of the seat; `seed` decides the worlds, so all worlds of the seat give the same. None
    if it takes more than so many seconds. Raises CardaiError for a player whose parameters are drawn for each game.
    """
    end = time.monotonic() + seconds
    seat, base = check_seat("seat", seat, int(state["seats"])), int_seed(seed)
    numbers = [int(derived(base, ANALYSIS, _FIRST + i)) for i in range(2 * worlds)]
    first = game.world(state, seat, numbers[-1])  # the same one for all worlds of the seat
    lines = [game.world(first, seat, number) for number in numbers[:worlds]]
    streams = np.zeros(worlds, STREAM)
    streams["rng"] = np.array(numbers[worlds:], np.uint64)
    for _ in range(game.max_plies):
        going = [i for i, line in enumerate(lines) if line["turn"] >= 0]
        if not going:
            break
        if time.monotonic() > end:
            return None
        luck = streams[going]
        moves = ask(game, player, np.array([lines[i] for i in going]), luck)
        streams[going] = luck
        for i, move in zip(going, moves, strict=True):
            lines[i] = game.play(lines[i], move)
    return np.mean([game.points(line) for line in lines], axis=0)
