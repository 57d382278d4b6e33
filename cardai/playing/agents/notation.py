"""Agents as values, and the specs that they are written as.

    parse("sampled:best?worlds=20") == Sampled("best", worlds=20)
    str(Sampled("best", worlds=20)) == "sampled:best?worlds=20"

A spec is written KIND:ARGUMENT?NAME=VALUE&NAME. A part that is itself a spec stands in parentheses if it has options:
`ahead:best?others=(greedy:nn2?any_variant)`. Nothing here knows a game: whether it has such an agent, and such options,
shows when `cardai.playing.agents.spec.agent` makes the agent.
"""

from dataclasses import dataclass
from itertools import accumulate
from numbers import Real
from pathlib import PurePath
from typing import Any

from cardai.errors import BadArgument, CardaiError
from cardai.game.compiled.doors import check_kind, check_text
from cardai.game.compiled.query import divided, options_of, split
from cardai.playing.agents.evaluator import Evaluator, is_evaluator


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Spec:
    """What names an agent: a kind, its argument, and its options in the order in which they are given.

        Spec("bot3", randomised=True), Spec("rollout", 100, by="duck"), Spec("endgame", Greedy("best"), nodes=1000)

    The argument is a text, a path, a number, a Spec, an evaluator, or None if there is none. An option is a text, a
    path, a number or a Spec; True gives it no value, False and None leave it out. All are held as texts, except an
    evaluator and a Spec that has options or holds one. Two are equal if they are written the same and hold the same
    evaluator. `repr` and `str` are the spec. Raises CardaiError for anything else, and if parentheses do not match.
    """

    kind: str
    argument: "str | Spec | Evaluator | None"
    options: "tuple[tuple[str, str | Spec], ...]"

    def __init__(self, kind: str, argument: Any = None, /, **options: Any) -> None:
        if any(len(split(f"agent {kind!r}", check_text("kind", kind), mark)) > 1 for mark in ":?"):
            raise BadArgument(f"kind must be the name of a kind of agent, without argument and options, not {kind!r}")
        given = {key: "" if value is True else value for key, value in options.items() if value is not False}
        held = [(key, _part(key, value, "?&")) for key, value in given.items() if value is not None]
        if argument is not None and not is_evaluator(argument):
            argument = _part("argument", argument, "?")
        for field, value in (("kind", kind), ("argument", argument), ("options", tuple(held))):
            object.__setattr__(self, field, value)

    def option(self, key: str) -> "str | Spec | None":
        """Return the value of an option: "" if it has none, None if the option is not given."""
        return dict(self.options).get(key)

    def with_options(self, **options: Any) -> "Spec":
        """Return the same with options added or changed; False and None remove one."""
        return _value(self.kind, self.argument, dict(self.options) | options)

    @property
    def evaluator(self) -> Evaluator | None:
        """The evaluator that it holds, itself or in its argument or an option; None if it asks evaluators by name."""
        parts = (self.argument, *(value for _, value in self.options))
        held = (part.evaluator if isinstance(part, Spec) else part for part in parts)
        return next((part for part in held if part is not None and not isinstance(part, str)), None)

    def __eq__(self, other: object) -> bool:
        own = self.kind, self.argument, self.options
        return isinstance(other, Spec) and own == (other.kind, other.argument, other.options)

    def __hash__(self) -> int:
        return hash((self.kind, self.argument, self.options))

    def __str__(self) -> str:
        argument = "" if self.argument is None else f":{_written(self.argument)}"
        query = "&".join(f"{key}={_written(value)}" if value else key for key, value in self.options)
        return f"{self.kind}{argument}?{query}" if query else f"{self.kind}{argument}"

    __repr__ = __str__

    def __reduce__(self) -> Any:
        """Pickle it as its spec. Raises CardaiError if it holds an evaluator, which another process cannot have."""
        if self.evaluator is not None:
            raise CardaiError(
                f"agent {str(self)!r} cannot be pickled: it asks an evaluator made in Python, not one named by its spec"
            )
        return parse, (str(self),)


class _Search(Spec):
    """A spec of the kind of its class' name. `judge`: a heuristic or model by its name or path, or an evaluator.

    A Greedy without options stands for its judge.
    """

    def __init__(self, judge: "str | PurePath | Evaluator | Greedy", /, **options: Any) -> None:
        judged = judge.argument if isinstance(judge, Greedy) and not judge.options else judge
        super().__init__(type(self).__name__.lower(), judged, **options)


class Greedy(_Search):
    """Plays the move with the best after-state, before any draw."""


class Sampled(_Search):
    """Plays the move with the best settled state, in the mean over worlds."""


class Peeking(_Search):
    """Plays the move with the best settled state in the true world."""


class Ahead(_Search):
    """Plays its best moves on in worlds, up to its next choice."""


_SEARCHES: dict[str, Any] = {"greedy": Greedy, "sampled": Sampled, "peeking": Peeking, "ahead": Ahead}


def parse(spec: str | Spec) -> Spec:
    """Return what a spec says; a Spec as it is. Raises CardaiError if options or parentheses are not written so."""
    if isinstance(spec, Spec):
        return spec
    what = f"agent {check_kind('spec', spec, str, 'a text or a Spec')!r}"
    head, query = divided(what, spec)
    kind, *argument = split(what, head, ":", 1)
    return _value(kind, argument[0] if argument else None, options_of(what, query))


def _value(kind: str, argument: Any, options: dict[str, Any]) -> Spec:
    return _SEARCHES[kind](argument, **options) if kind in _SEARCHES else Spec(kind, argument, **options)


def _part(key: str, value: Any, marks: str) -> str | Spec:
    """A part as it is held: without the parentheses around it, and as a Spec if it would need them."""
    if isinstance(value, Spec) and value.evaluator is not None:
        return value
    text = str(check_kind(key, value, (str, PurePath, Real, Spec), "a text, a path, a number or a Spec"))
    while _is_wrapped(text):
        text = text[1:-1]
    if all(len(split(f"agent {text!r}", text, mark)) == 1 for mark in marks):
        return text
    part = parse(text)
    return part if str(part) == text else _part(key, str(part), marks)


def _is_wrapped(text: str) -> bool:
    """Whether the first letter is a parenthesis that the last one closes."""
    depths = [*accumulate((letter == "(") - (letter == ")") for letter in text)]
    return text[:1] == "(" and 0 in depths and depths.index(0) == len(text) - 1


def _written(part: "str | Spec | Evaluator") -> str:
    if isinstance(part, str):
        return f"({part})" if len(split("agent", part, ",")) > 1 else part  # commas stand between the specs of a list
    return f"({part})" if isinstance(part, Spec) else part.name
