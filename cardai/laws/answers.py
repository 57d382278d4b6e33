"""What the functions of a game in plain Python must return; anything else is told with the function's file and line."""

import inspect
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np

from cardai.errors import CardaiError, place_of, place_of_function, short
from cardai.game import Game, Zone


def asked(game: Game, role: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function of a game answers. `role`: the field of `Game` that it is, or what it is called.

    Raises CardaiError, with the function's file and line, if it raises, or if the answer of a function of text, of
    zones or of cards has not the form that its role asks for.
    """
    try:
        answer = function(*arguments)
    except CardaiError:
        raise
    except RecursionError as error:
        raise CardaiError(f"{role} calls itself without end{place_of(error)}") from error
    except Exception as error:  # whatever a game's Python raises is a mistake of its author
        raise CardaiError(f"{role} raised {error!r}{place_of(error)}") from error
    form, fits = _FORMS.get("counts" if role == "holdings" and len(game.table.copies) else role, ("", None))
    if fits is None or fits(answer):
        return answer
    found = f"{short(answer)}{_how(answer)}"
    if form == _SETS[0] and _is_list_of(Iterable, answer):
        form += "; counts of kinds need `copies`, how many cards of each kind there are"
    if inspect.iscoroutine(answer):
        answer.close()  # or Python would complain of it on stderr
    raise CardaiError(f"{role} returns {found}; it must return {form}{place_of_function(function)}")


def _is_list_of(kind: type, answer: object) -> bool:
    """Whether an answer can be gone through again and again, and holds only values of a kind."""
    if isinstance(answer, (str, bytes)) or not isinstance(answer, Iterable) or inspect.isgenerator(answer):
        return False
    return all(isinstance(item, kind) and not isinstance(item, bool) for item in answer)


_TEXT = "a text that is not empty", lambda answer: isinstance(answer, str) and answer != ""
_COUNTS = "a list of places, each with a number for each kind of card", lambda answer: _is_list_of(Iterable, answer)
_SETS = "a list of sets of cards, whole numbers", lambda answer: _is_list_of(Integral, answer)
_FORMS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "show": _TEXT,
    "spell": _TEXT,
    "tell": _TEXT,
    "ending": ("a text", lambda answer: isinstance(answer, str)),
    "led_to": ("a text", lambda answer: isinstance(answer, str)),
    "series": ("a whole number", lambda answer: isinstance(answer, Integral)),
    "rounds": ("None, or a number of rounds with a list of points", lambda answer: answer is None or len(answer) == 2),
    "parse": ("a move, a record of the type of the game's moves", lambda answer: isinstance(answer, np.void)),
    "holdings": _SETS,
    "counts": _COUNTS,
    "cards_alike": _SETS,
    "picks": ("a set of pieces, a whole number", lambda answer: isinstance(answer, Integral)),
    "zones": ("a list of Zone", lambda answer: _is_list_of(Zone, answer)),
}


def _how(answer: object) -> str:
    """What a beginner may have written by mistake to return such an answer, in words."""
    if answer is None:
        return ", as a function without return does"
    if inspect.iscoroutine(answer):
        return ", as an async function does"
    return ", as a function with yield does" if inspect.isgenerator(answer) else ""
