"""Tables in a terminal: columns of names, cells with intervals, notes below, and a narrow form for narrow windows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class Fitting:
    """A renderable that is the first of several that fits the terminal, or the last of them."""

    def __init__(self, *choices: Any) -> None:
        self.choices = choices

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """What `rich` calls."""
        from rich.measure import Measurement

        room = options.update(max_width=10_000)
        fits = (one for one in self.choices if Measurement.get(console, room, one).maximum <= options.max_width)
        yield next(fits, self.choices[-1])


NAME_WIDTH = 26  # columns; a longer name goes on in the next line


def add_names(table: Any, header: str, names: Iterable[str]) -> None:
    """Add a column of agents' names, which keeps its width when the terminal is narrow: others shrink first."""
    table.add_column(header, width=min(max(map(len, [header, *names])), NAME_WIDTH), overflow="fold")


def gutter(is_narrow: bool) -> tuple[int, int, int, int]:
    """The padding of a table's cells: above, right, below, left."""
    return (0, 1, 0, 0) if is_narrow else (0, 1, 0, 1)


def stacked(figure: object, is_narrow: bool) -> str:
    """A figure with its interval, "25.2 (24.6-25.8)"; when narrow, the interval on the next line, without brackets."""
    if not is_narrow:
        return str(figure)
    first, _, rest = str(figure).partition(" ")
    return f"{first}\n{rest.removeprefix('(').removesuffix(')')}" if rest else first


def with_notes(notes: Sequence[str], *tables: Any) -> Any:
    """Tables with lines of plain text below them."""
    from rich.console import Group
    from rich.text import Text

    return Group(*tables, Text("\n".join(notes), style="dim"))
