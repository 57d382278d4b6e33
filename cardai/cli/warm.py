"""Compiles games ahead, so that nobody waits for it later: `cardai warm`, for images of containers and for CI."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from cardai.cli.show.progress import Line
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.playing.agents.notation import Greedy
from cardai.playing.agents.spec import agent
from cardai.playing.table.many import play
from cardai.rules import JIT
from cardai.rules.keeping import cache_root, kept_files, may_keep, rules_folder


def warm(games: Sequence[Game]) -> dict[str, Any]:
    """Compile all rules of games, what plays them, the search and what `Game` calls, or load them.

    Returns the seconds that each game took, where the code is and how large it is. Raises CardaiError if nothing is
    compiled here, if a rule does not compile, and if the code cannot be kept.
    """
    if not JIT:
        raise CardaiError("nothing is compiled with CARDAI_JIT=0")
    if not may_keep():
        raise CardaiError(f"compiled code cannot be kept in {cache_root()}: it cannot be written to")
    seconds: dict[str, float] = {}
    for game in games:
        start = time.perf_counter()
        with Line(f"compiling {game.name}", game):
            game.compile()
            _use(game)
        seconds[game.name] = round(time.perf_counter() - start, 1)
    megabytes = round(sum(size for _, size in kept_files()) / 1e6, 1)
    return {"games": seconds, "cache_folder": str(rules_folder()), "cache_megabytes": megabytes}


def _use(game: Game) -> None:
    """Play a game by all that plays games, since what Python calls is compiled when it is first called."""
    specs = ["random", *map(Greedy, [*game.agents.heuristics][:1]), "rollout:1"]
    agents = [agent(game, spec) for spec in specs]
    lineups = np.arange(len(agents))[:, None].repeat(game.default_seats, 1)
    lineups[1:, 1:] = 0  # one seat of the slower ones is enough
    play(game, agents, lineups, np.arange(len(agents)), checked=True, max_plies=8)
    state = game.new()
    move = game.moves(state)[0]
    assert game.is_allowed(state, move)
    game.after(state, move)
    game.world(game.play(state, move), 0)
    for name in game.learning.encoders:
        game.encode(state, 0, name)
    for name in game.agents.heuristics:
        game.value(state, 0, name)
