"""cardai: write a card game's rules once, get fast simulation, honest hidden information, agents and benchmarks.

`docs/` has the story; README.md shows a first program.
"""

import importlib as _importlib
import os as _os
import typing as _typing

if _typing.TYPE_CHECKING:
    from cardai.agents.actions import policy
    from cardai.agents.function import evaluator
    from cardai.agents.notation import Ahead, Greedy, Peeking, Sampled, Spec
    from cardai.agents.spec import agent, player
    from cardai.errors import CardaiError, IllegalMove
    from cardai.game import Game, GameState, PerspectiveEncoder
    from cardai.measure.bench import run_match as match
    from cardai.registry import available, load
    from cardai.table.batch import Batch
    from cardai.table.many import play

_HOMES = {
    "Ahead": "agents.notation", "Batch": "table.batch", "CardaiError": "errors", "Game": "game", "GameState": "game",
    "Greedy": "agents.notation", "IllegalMove": "errors", "Peeking": "agents.notation", "PerspectiveEncoder": "game",
    "Sampled": "agents.notation", "Spec": "agents.notation", "agent": "agents.spec", "available": "registry",
    "evaluator": "agents.function", "load": "registry", "match": "measure.bench.run_match", "play": "table.many",
    "player": "agents.spec", "policy": "agents.actions",
}  # fmt: skip
__all__ = [
    "Ahead", "Batch", "CardaiError", "Game", "GameState", "Greedy", "IllegalMove", "Peeking", "PerspectiveEncoder",
    "Sampled", "Spec", "agent", "available", "evaluator", "load", "match", "play", "player",
    "policy",
]  # fmt: skip


# `games`, `evaluators` and `experiments` are parts of this package. In a checkout they lie beside its folder.
# Without pathlib, whose import would take longer than this one.
if not _os.path.isdir(_os.path.join(__path__[0], "games")):  # noqa: PTH112, PTH118
    __path__.append(_os.path.dirname(__path__[0]))  # noqa: PTH120


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__


def __getattr__(name: str) -> _typing.Any:
    """Public names load on first use, so that `import cardai` and `cardai --help` cost nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'cardai' has no attribute {name!r}")
    home, attribute = _HOMES[name], name
    if home.count(".") == 2:
        home, _, attribute = home.rpartition(".")
    return getattr(_importlib.import_module(f"cardai.{home}"), attribute)
