"""The compiled rules of a game, each compiled once."""

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from cardai.errors import BadArgument, CardaiError, short
from cardai.game.compiled import native, refusal, together
from cardai.game.compiled.doors import check_text
from cardai.game.compiled.native import ROLES
from cardai.game.compiled.rules import CompiledRules, lend
from cardai.rules import elsewhere, rule

_CALLS, _OTHERS = tuple(ROLES)[:8], tuple(ROLES)[8:]  # the roles in `CompiledRules.calls`, and those of `entry`
_COMPILING = threading.RLock()  # held while a rule is compiled, so that it is compiled once


class Compiler:
    """Compiles what a game has of rules, or loads it from the cache, at its first use."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self._entries: dict[tuple[str, Any], Any] = {}

    @functools.cached_property
    def rules(self) -> CompiledRules:
        """The compiled rules. The first use compiles them or loads them from the cache."""
        game, ours_first = self.game, sorted(self.own(), key=lambda pair: elsewhere.is_under_way(pair[1]))
        made = {role: self._entry(role, function) for role, function in ours_first}
        return CompiledRules(
            native.addresses([made.get(role, made["legal"]) for role in _CALLS]),
            game.rules.is_legal is not None,
            game.state.itemsize,
            game.move.itemsize,
            game.max_moves,
            game.max_plies,
            (0, 0) if game.rules.together is None else together.place_of_sealed(game.state),
        )

    @functools.cached_property
    def lent(self) -> CompiledRules:
        """The compiled rules as compiled code takes them (`cardai.game.compiled.rules.lend`)."""
        return lend(self.rules)

    def entry(self, role: str, function: Callable[..., Any]) -> Any:
        """A rule of the game that `rules` does not hold, compiled for the driver. Each is compiled once.

        `role`: "value" (a heuristic), "outcome" (also of a reward), "decided", "choose" (a player), "encode", "blank",
        "is_open", "simplify" or "weight".
        Raises CardaiError for another role, and if the rule does not compile.
        """
        _check_role(role)
        if not callable(function) or not hasattr(getattr(function, "py_func", function), "__code__"):
            raise BadArgument(f"function must be a rule, not {short(function)}")
        return self._entry(role, function)

    def _entry(self, role: str, function: Callable[..., Any]) -> Any:
        """The entry of a rule in any role. All threads get the same one, so that `function_of` finds it."""
        with _COMPILING:
            if (role, function) not in self._entries:
                self._entries[role, function] = self._compiled(role, function)
            return self._entries[role, function]

    def compile(self) -> None:
        """Compile all of them now: see `Game.compile`."""
        assert self.rules  # first: a second process may compile one of them
        for role, function in self.all():
            self._entry(role, function)

    def own(self) -> list[tuple[str, Callable[..., Any]]]:
        """All that `rules` compiles: (role, rule)."""
        return [rule for rule in self.all() if rule[0] in _CALLS]

    def all(self) -> list[tuple[str, Callable[..., Any]]]:
        """All that `compile` compiles: (role, rule)."""
        game = self.game
        rated = (*game.learning.outcomes.values(), *game.learning.rewards.values())
        several: dict[str, list[Any]] = {
            "encode": [encoder.encode for encoder in game.learning.encoders.values()],
            "value": [*game.agents.heuristics.values()],
            "outcome": [*(one.applies for one in rated if one.applies), *(one.rule for one in rated)],
            "choose": [player.choose for player in game.agents.players.values()],
        }
        own = {role: [function] for role, function in vars(game.rules).items() if function}
        return [(role, function) for role in ROLES for function in (several | own).get(role, ())]

    def function_of(self, role: str, entry: Any) -> Callable[..., Any] | None:
        """The function for which `entry()` returned this entry in this role, None if there is none of this game."""
        _check_role(role)
        known = list(self._entries.items())  # other threads may be adding to it
        if not isinstance(entry, int | np.integer) and not callable(entry):  # a function, in plain Python
            return None
        return next((function for (made, function), it in known if made == role and it == entry), None)

    def _compiled(self, role: str, function: Callable[..., Any]) -> Any:
        game = self.game
        refusal.refuse_parameters(game.name, role, together.own_of(function))
        refusal.refuse_large_sets(game.name, function)
        elsewhere.finish(function)
        payoff, made = game.payoff, function
        if role in ("score", "decided") and not payoff.is_share:
            made = _in_shares(function, payoff.low, payoff.high)
        try:
            return native.entry(role, made, game.state, game.move)
        except Exception as error:  # the compiler raises many things, a KeyError for a field that does not exist
            why = refusal.explained(error, role, function, game.state, game.move)
            raise CardaiError(f"{game.name}: {why}") from error


def _check_role(role: str) -> None:
    if check_text("role", role) not in _OTHERS:
        raise BadArgument(f"role must be {', '.join(_OTHERS[:-1])} or {_OTHERS[-1]}, not {short(role)}")


def _in_shares(score: Callable[..., float], low: float, high: float) -> Any:
    """The rule that gives the number of `score`, which is from `low` to `high`, as a share from 0 to 1."""
    span = high - low

    @rule
    def share(state, seat):
        return (score(state, seat) - low) / span

    return share
