"""cardai: write a card game's rules once, get fast simulation, honest hidden information, agents and benchmarks.

`docs/` has the story; README.md shows a first program.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardai.agents.spec import agent
    from cardai.errors import CardaiError, IllegalMove
    from cardai.game import Game, GameState, PerspectiveEncoder
    from cardai.registry import available, load
    from cardai.table.many import play

_HOMES = {
    "CardaiError": "errors", "Game": "game", "GameState": "game", "IllegalMove": "errors", "PerspectiveEncoder": "game",
    "agent": "agents.spec", "available": "registry", "load": "registry", "play": "table.many",
}  # fmt: skip
__all__ = [
    "CardaiError", "Game", "GameState", "IllegalMove", "PerspectiveEncoder", "agent", "available", "load", "play",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Public names load on first use, so that `import cardai` and `cardai --help` cost nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'cardai' has no attribute {name!r}")
    return getattr(importlib.import_module(f"cardai.{_HOMES[name]}"), name)
