"""Reports: results that print as the table that the command line prints, in Python too.

    class League(Report, drawn_by="cardai.cli.show.league:table"): ...
    print(league)

Tables are drawn in rooms above those that measure. A report therefore names the function that draws it, which is
imported when the report is printed.
"""

import io
import pkgutil
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, cast

from cardai.errors import printable
from cardai.playing.machine import machine
from cardai.playing.stats import interval
from cardai.playing.stats.jsonable import plain

WIDE = 140
"""Columns of a table that is printed to a file or to another program."""


class Report:
    """A dataclass that prints as its table, with all notes below it.

    `drawn_by`: MODULE:FUNCTION, which draws it. `about`: what JSON says beside the fields. `on_machine`: JSON also has
    the machine, and the level of intervals.
    """

    _drawn_by: ClassVar[str] = ""
    _about: ClassVar[Mapping[str, Any]] = {}
    _on_machine: ClassVar[bool] = False

    def __init_subclass__(
        cls, drawn_by: str = "", about: Mapping[str, Any] | None = None, on_machine: bool = False, **others: Any
    ) -> None:
        super().__init_subclass__(**others)
        if drawn_by:
            cls._drawn_by, cls._about, cls._on_machine = drawn_by, about or {}, on_machine

    def as_json(self) -> dict[str, Any]:
        """This result as plain JSON types."""
        here = {"level": interval.LEVEL, "machine": machine()} if self._on_machine else {}
        return plain({**self._about, **asdict(cast(Any, self)), **here})

    def table(self) -> Any:
        """Return what `cardai` prints of this report: a rich renderable, or a text."""
        return pkgutil.resolve_name(self._drawn_by)(self)

    def __str__(self) -> str:
        """Return the table as text, as `cardai` prints it: as wide as the terminal, or of `WIDE` columns."""
        from rich.console import Console

        drawn = self.table()
        if isinstance(drawn, str):
            return printable(drawn)
        out = io.StringIO()
        Console(file=out, width=None if is_terminal(sys.stdout) else WIDE, color_system=None).print(drawn)
        return out.getvalue().rstrip("\n")

    def _repr_html_(self) -> str:
        """Return the table as a notebook shows it."""
        return pkgutil.resolve_name("cardai.cli.show.picture:report_page")(self)


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; False for None, which stands for a stream that is closed."""
    return stream is not None and stream.isatty()
