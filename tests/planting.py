"""Games with one fault each, planted by a change of the text of a function."""

import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import small_game

import cardai.rules
import cardai.rules.cards
from cardai.game import Game, PerspectiveEncoder, Player
from cardai.game.compiled.together import own_of

LAW_OF: dict[Game, str] = {}
"""The law that each faulty game breaks."""


def faulty(law: str, game: Game = small_game.GAME, **changes: Any) -> Game:
    """A game with fields replaced, which breaks a law. For a function, what `changed` takes will do.

    `encode`, `choose` change the only encoder or player of Low Hand. Changes can use what the caller's module defines.
    """
    names = sys._getframe(1).f_globals
    if "encode" in changes:
        changes["encoders"] = seen_by(changes.pop("encode"))
    if "choose" in changes:
        choose = changed(small_game.low, changes.pop("choose"), names)
        changes["players"] = {"low": Player(choose, "faulty", {"stop_at": 2.0}, sees="own")}
    for field, change in changes.items():
        if isinstance(change, str | tuple) and callable(game.get(field)):
            changes[field] = changed(own_of(game.get(field)), change, names)
    found = game.changed(**changes)
    LAW_OF[found] = law
    return found


def seen_by(change: str, layout=small_game.layout, encode=small_game.encode) -> dict[str, PerspectiveEncoder]:
    return {"planes": PerspectiveEncoder(layout, changed(encode, change))}


def changed(function: Callable[..., Any], change: str | tuple[str, ...], names: dict[str, Any] | None = None) -> Any:
    """A function with a change: "old text -> new text", or "BEFORE ... AFTER", statements around a call of it.

    Several texts may be replaced, in a tuple. Statements can use what the function's module, `cardai.rules.cards` and
    `cardai.rules` define, and `names`.
    """
    source = getattr(function, "py_func", function)
    scope = (names or {}) | source.__globals__ | {"original": function}
    if isinstance(change, str) and " -> " not in change:
        before, after = (textwrap.dedent(part.strip(" ")) for part in change.split("..."))
        given = ", ".join(inspect.signature(source).parameters)
        call = f"original({given})" if after else f"return original({given})"
        return made(given, f"{before}\n{call}\n{after}", scope)
    text = inspect.getsource(source)
    for edit in (change,) if isinstance(change, str) else change:
        old, new = edit.split(" -> ")
        assert old in text, f"{source.__name__} has no {old!r}"
        text = text.replace(old, new)
    return _run(text, source.__name__, scope)


def made(given: str, body: str, names: dict[str, Any] = small_game.__dict__) -> Any:
    """A rule of these parameters with this body."""
    return _run(f"@rule\ndef faulty({given}):\n{textwrap.indent(body, '    ')}", "faulty", names)


def number(value: str) -> Any:
    """A rule that gives a state and a seat a number."""
    return made("state, seat", f"return {value}")


def _run(text: str, name: str, names: dict[str, Any]) -> Any:
    scope = {**vars(cardai.rules.cards), **vars(cardai.rules), **names}
    exec(compile(text, __file__, "exec"), scope)
    return scope[name]
