"""Which games get a loop of their own for evenly random play (`cardai.playing.compiled.evenly`), and when."""

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from cardai.game import Game
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import EvenlyRandom
from cardai.playing.compiled.evenly import loop_of
from cardai.rules import JIT
from cardai.rules.keeping import is_kept

PAYS = 1_000_000
"""Decisions of evenly random play in one process after which a loop that an earlier process has kept is loaded."""
PAYS_TO_COMPILE = 30_000_000
"""And after which one is compiled, which takes a second or two."""
FAST = 5e6
"""Decisions a processor second. In slower games the calls by address, some 10 ns a decision, matter little."""


class _Own:
    """A game's loop, and how many decisions the driver has made in its stead. is_kept: None before that is known."""

    def __init__(self, game: Game) -> None:
        self.loop = loop_of(game.rules.deal, game.rules.legal, game.rules.act, game.rules.settle, game.rules.score)
        self.is_kept: bool | None = None
        self.decisions = 0


_owns: weakref.WeakKeyDictionary[Game, _Own] = weakref.WeakKeyDictionary()


def can_loop(game: Game, agents: Sequence[Agent]) -> bool:
    """Whether games of these agents, neither recorded nor checked, can be played by the game's own loop."""
    rules: tuple[Any, ...] = game.rules.deal, game.rules.legal, game.rules.act, game.rules.settle, game.rules.score
    return JIT and all(type(agent.strategy) is EvenlyRandom for agent in agents) and all(
        hasattr(function, "py_func") for function in rules
    )  # fmt: skip


def loop_for(game: Game, decisions: int = 0, seconds: float = 0.0) -> Callable[..., int] | None:
    """The game's own loop if it is time to use it, else None.

    decisions, seconds: how many decisions the driver has made since the last call, in how many seconds of processors.
    """
    if game not in _owns:
        _owns[game] = _Own(game)
    own = _owns[game]
    own.decisions += decisions
    if own.decisions >= PAYS and own.is_kept is None:
        own.is_kept = is_kept(own.loop)
    if own.decisions >= PAYS_TO_COMPILE and decisions > FAST * seconds:
        own.is_kept = True  # as soon as it is called
    return own.loop if own.is_kept else None
