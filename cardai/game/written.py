"""Rules that are written by the framework from a declaration, as text: they compile and are kept like any others."""

import itertools
import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from cardai.game.fields import NONE, Field
from cardai.rules import rule
from cardai.rules.cards import add, any_of, count, filled, lowest, put, single
from cardai.rules.dealing import redeal, some_of, weight_of
from cardai.rules.dealing.counts import redeal_freely

NAMES = {
    "NONE": NONE, "add": add, "any_of": any_of, "count": count, "filled": filled, "lowest": lowest,
    "np": np, "put": put, "redeal": redeal, "redeal_freely": redeal_freely, "single": single, "some_of": some_of,
    "weight_of": weight_of,
}  # fmt: skip
"""What the text of a rule may name."""
_numbers = itertools.count()


class Source:
    """The lines of a rule, as they are written. `with text.block(line):` indents what follows."""

    def __init__(self, head: str) -> None:
        self.lines, self.depth = [head], 1
        self.name = head.removeprefix("def ").partition("(")[0]

    def add(self, *lines: str) -> None:
        """Append lines."""
        self.lines += ["    " * self.depth + line for line in lines]

    @contextmanager
    def block(self, line: str = "") -> Iterator[None]:
        """Begin a block with a line that ends in a colon; with none, what follows is not indented."""
        if line:
            self.add(line)
            self.depth += 1
        yield
        self.depth -= bool(line)


def sized(field: Field, place: str) -> str:
    """The text of how many cards lie in a place, a set or counts."""
    return f"np.sum({place})" if field.what == "counts" else f"count({place})"


def written(text: Source, of: str) -> Callable[..., Any]:
    """The rule of a text. Tracebacks and refusals show its lines. `of`: what was declared, for people."""
    source = "\n".join([*text.lines, ""] if len(text.lines) > 1 else [*text.lines, "    return", ""])
    file = f"<declared {of}: {text.name} {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    scope: dict[str, Any] = NAMES | {"__name__": __name__}
    exec(compile(source, file, "exec"), scope)
    return rule(scope[text.name])
