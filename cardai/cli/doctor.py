"""What cardai runs on here, and whether each game loads and plays: `cardai doctor`."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cardai.cli.show.progress import Line, is_cold
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.playing.agents.spec import agent
from cardai.playing.machine import machine
from cardai.playing.table.many import play
from cardai.registry import available
from cardai.rules import JIT
from cardai.rules.keeping import all_files, rules_folder


def examine(load: Callable[[str], Game]) -> dict[str, Any]:
    """Returns versions, processors, the cache, and whether each game plays. "healthy" is False if one does not.

    `load`: loads a game by its name. Of the games whose rules are not compiled yet, only the one with the smallest
    state is compiled and played.
    """
    games, healthy = _try_games(load)
    return machine() | {
        "rules": how_compiled(),
        "cache_folder": str(rules_folder()),
        "cache_megabytes": round(sum(size for _, size in all_files()) / 1e6, 1),
        "to_clear_the_cache": "cardai doctor --clear-cache",
        "games": games,
        "healthy": healthy,
    }


def how_compiled() -> str:
    """How rules are run here, in words."""
    if not JIT:
        return "plain Python (CARDAI_JIT=0)"
    from cardai.rules.compiling import why_stock

    return f"compiled by Numba alone, slowly: {why_stock}" if why_stock else "compiled"


def _try_games(load: Callable[[str], Game]) -> tuple[dict[str, str], bool]:
    """Returns the state of each game, by name, and whether at least one game loads and none is broken."""
    states: dict[str, str] = {}
    games: dict[str, Game] = {}
    for name in available():
        try:
            games[name] = load(name)
        except CardaiError as error:
            states[name] = f"broken: {error}"
    for place, name in enumerate(sorted(games, key=lambda name: games[name].state.itemsize)):
        skipped = place > 0 and is_cold(games[name])
        states[name] = "not compiled yet; the first use compiles it, once" if skipped else _try(games[name])
    healthy = bool(games) and not any(state.startswith("broken") for state in states.values())
    return dict(sorted(states.items())), healthy


def _try(game: Game) -> str:
    """Play a few random games. Returns how long it took until the rules were ready, or what is wrong."""
    start = time.perf_counter()
    lineups = np.zeros((4, game.default_seats), np.int64)
    with Line(game.name, game):
        try:
            results = play(game, [agent(game, "random")], lineups, np.arange(4), checked=True)
        except CardaiError as error:
            return f"broken: {error}"
    if not results.finished.all():
        return "broken: random games do not end"
    return f"plays; its rules were ready in {time.perf_counter() - start:.1f} s"
