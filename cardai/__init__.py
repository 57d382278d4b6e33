"""cardai: write a card game's rules once, get fast simulation, honest hidden information, agents and benchmarks.

`docs/` has the story; README.md shows a first program.
"""

import importlib as _importlib
import os as _os
import typing as _typing

if _typing.TYPE_CHECKING:
    from cardai.errors import CardaiError, IllegalMove
    from cardai.game import Game, GameState, PerspectiveEncoder
    from cardai.measure.bench import run_match as match
    from cardai.playing.agents.actions import policy
    from cardai.playing.agents.function import evaluator
    from cardai.playing.agents.notation import Ahead, Greedy, Peeking, Sampled, Spec
    from cardai.playing.agents.spec import agent, player
    from cardai.playing.table.batch import Batch
    from cardai.playing.table.many import play
    from cardai.registry import available, load

_NAMES = {
    "errors": ("CardaiError", "IllegalMove"), "game": ("Game", "GameState", "PerspectiveEncoder"),
    "measure.bench": ("match",), "playing.agents.actions": ("policy",), "playing.agents.function": ("evaluator",),
    "playing.agents.notation": ("Ahead", "Greedy", "Peeking", "Sampled", "Spec"),
    "playing.agents.spec": ("agent", "player"), "playing.table.batch": ("Batch",), "playing.table.many": ("play",),
    "registry": ("available", "load"),
}  # fmt: skip
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
__all__ = [
    "Ahead", "Batch", "CardaiError", "Game", "GameState", "Greedy", "IllegalMove", "Peeking", "PerspectiveEncoder",
    "Sampled", "Spec", "agent", "available", "evaluator", "load", "match", "play", "player", "policy",
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
    module = _importlib.import_module(f"cardai.{_HOMES[name]}")
    return getattr(module, "run_match" if name == "match" else name)
