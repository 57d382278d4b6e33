"""Finds the functions and evaluators of the user's own that specs name as python:MODULE:OBJECT.

A module is also looked for in the working folder, after all other places.
"""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from cardai.errors import CardaiError, place_of, short
from cardai.game import Game
from cardai.playing.agents.evaluator import Evaluator, is_evaluator
from cardai.playing.agents.function import evaluator as evaluator_of
from cardai.registry import importing


def function_at(spec: str, target: str) -> Callable[[Game, np.record], np.record]:
    """The function MODULE:FUNCTION. Raises CardaiError, which names the spec."""
    function: Any = _imported(spec, target, "a function is named python:MODULE:FUNCTION")
    if not callable(function):
        raise CardaiError(f"agent {spec!r}: {target!r} is not a function but {short(function)}")
    return cast(Any, function)  # what it takes and returns shows when it is asked


def evaluator_at(game: Game, spec: str, target: str) -> Evaluator:
    """The evaluator MODULE:OBJECT. Raises CardaiError, which names the spec."""
    thing = _imported(spec, target, "an evaluator is named python:MODULE:OBJECT")
    try:
        return thing if is_evaluator(thing) else evaluator_of(game, thing, name=f"python:{target}")
    except CardaiError as error:
        raise CardaiError(f"agent {spec!r}: {error}") from None


def _imported(spec: str, target: str, how: str) -> Any:
    """The object of the name MODULE:OBJECT."""
    module, _, name = target.partition(":")
    if not module or not name:
        raise CardaiError(f"agent {spec!r}: {how}")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        with importing(module):
            return getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # the module is anybody's code
        kind = "" if isinstance(error, (ImportError, AttributeError)) else f"{type(error).__name__}: "
        where = "" if isinstance(error, AttributeError) else place_of(error)
        raise CardaiError(f"agent {spec!r}: cannot import {target!r}: {kind}{error}{where}") from error
