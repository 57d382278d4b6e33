"""cardai: write a card game's rules once, get fast simulation, honest hidden information, agents and benchmarks.

`docs/` has the story; README.md shows a first program.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardai.game import CardaiError, Game, GameState, IllegalMove, PerspectiveEncoder
    from cardai.players import agent
    from cardai.registry import available, load
    from cardai.table import play

_HOMES = {
    "CardaiError": "game", "Game": "game", "GameState": "game", "IllegalMove": "game", "PerspectiveEncoder": "game",
    "agent": "players", "available": "registry", "load": "registry", "play": "table",
}  # fmt: skip
__all__ = [
    "CardaiError", "Game", "GameState", "IllegalMove", "PerspectiveEncoder", "agent", "available", "load", "play",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Public names load on first use, so that `import cardai` and `cardai --help` cost nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'cardai' has no attribute {name!r}")
    return getattr(importlib.import_module(f"cardai.{_HOMES[name]}"), name)
