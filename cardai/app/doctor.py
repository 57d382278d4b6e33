"""What cardai runs on here, and whether each game loads and plays: `cardai doctor`."""

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cardai.agents.spec import agent
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.registry import available
from cardai.rule import JIT, cache_root
from cardai.show.progress import Line, is_cold
from cardai.stats.machine import machine
from cardai.table.many import play

_RULES_FOLDER = re.compile(r".+-[0-9a-f]{16}")  # how `cardai.rule` names a folder of compiled rules


def examine(load: Callable[[str], Game]) -> dict[str, Any]:
    """Returns versions, processors, the cache, and whether each game plays. "healthy" is False if one does not.

    `load`: loads a game by its name. Of the games whose rules are not compiled yet, only the one with the smallest
    state is compiled and played.
    """
    root = cache_root()
    games, healthy = _try_games(load)
    return machine() | {
        "rules": "compiled" if JIT else "plain Python (CARDAI_JIT=0)",
        "cache_folder": str(root),
        "cache_megabytes": round(sum(_size(folder) for folder in rules_folders(root)) / 1e6, 1),
        "games": games,
        "healthy": healthy,
    }


def clear_cache() -> int:
    """Delete all compiled rules, and nothing else in the cache folder. Returns how many bytes that frees."""
    freed = 0
    for folder in rules_folders(cache_root()):
        freed += _size(folder)
        shutil.rmtree(folder)
    return freed


def rules_folders(root: Path) -> list[Path]:
    """The folders of compiled rules in a cache folder."""
    if not root.is_dir():
        return []
    return sorted(folder for folder in root.iterdir() if folder.is_dir() and _RULES_FOLDER.fullmatch(folder.name))


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


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
    lineups = np.zeros((10, game.default_seats), np.int64)
    with Line(game.name, game):
        try:
            results = play(game, [agent(game, "random")], lineups, np.arange(10), checked=True)
        except CardaiError as error:
            return f"broken: {error}"
    if not results.finished.all():
        return "broken: random games do not end"
    return f"plays; its rules were ready in {time.perf_counter() - start:.1f} s"
