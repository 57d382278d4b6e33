"""What tables in a terminal share: titles, columns of names, cells with intervals, notes, a form for narrow windows."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

NAME_WIDTH = 26  # columns; a longer name is folded


class Grid(Table):
    """A rich table that folds names behind the signs of specs, where they are too long for their column."""

    def add_row(self, *cells: Any, **style: Any) -> None:
        """Add a row, as `Table.add_row` does."""
        widths = [column.width if column.overflow == "fold" else None for column in self.columns]
        pairs = zip(cells, [*widths, *[None] * len(cells)], strict=False)
        super().add_row(
            *(_folded(cell, width) if isinstance(cell, str) and width else cell for cell, width in pairs), **style
        )


def _folded(name: str, width: int) -> str:
    """A name in lines of at most `width` letters, each but the last behind a sign; a longer part stays as it is."""
    lines = [""]
    for part in re.findall(r"[^:?&/,()]+[:?&/,()]*|[:?&/,()]+", name):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


class Fitting:
    """A rich renderable: the first of several forms of a table that fits the terminal, or the last one."""

    def __init__(self, *choices: Any) -> None:
        self.choices = choices

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Called by `rich` when it renders."""
        unbounded = options.update(max_width=10_000)
        widths = ((form, Measurement.get(console, unbounded, form).maximum) for form in self.choices)
        yield next((form for form, width in widths if width <= options.max_width), self.choices[-1])


def fitting(draw: Callable[[bool], Any]) -> Fitting:
    """The wide form of a table, or its narrow one in a narrow terminal. `draw(is_narrow)` makes both."""
    return Fitting(draw(False), draw(True))


def grid(title: Any = None, is_narrow: bool = False) -> Any:
    """A rich table without columns yet. Square brackets in a title are markup, unless it is a `rich.text.Text`."""
    return Grid(title=title, title_justify="left", box=box.HORIZONTALS, padding=gutter(is_narrow))


def gutter(is_narrow: bool) -> tuple[int, int, int, int]:
    """The padding of a table's cells: above, right, below, left."""
    return (0, 1, 0, 0) if is_narrow else (0, 1, 0, 1)


def add_names(table: Any, header: str, names: Iterable[str]) -> None:
    """Add a column for agents' names. It keeps its width in a narrow terminal, where other columns shrink."""
    table.add_column(header, width=min(max(map(len, [header, *names])), NAME_WIDTH), overflow="fold")


def add_figures(table: Any, *headers: str) -> None:
    """Add columns for numbers, aligned to the right and never wrapped."""
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)


def stacked(figure: object, is_narrow: bool) -> str:
    """A figure with its interval, "25.2 (24.6-25.8)". When narrow, the interval is below it, without brackets."""
    if not is_narrow:
        return str(figure)
    first, _, rest = str(figure).partition(" ")
    return f"{first}\n{rest.removeprefix('(').removesuffix(')')}" if rest else first


def coloured(verdict: str) -> str:
    """A verdict in its colour, as rich markup."""
    colour = {"better": "green", "worse": "red", "undecided": "yellow"}.get(verdict)
    return f"[{colour}]{verdict}[/]" if colour else verdict


def endless_notes(games: int) -> list[str]:
    """The note on games that did not end, if there are any."""
    return [f"{games:,} games did not end within the game's limit of moves; they count in no figure"] if games else []


def with_notes(notes: Sequence[str], *tables: Any) -> Any:
    """Tables with lines of plain text below them."""
    return Group(*tables, Text("\n".join(notes), style="dim"))
