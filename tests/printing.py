"""What a report, or anything else that rich draws, looks like in a terminal."""

import io

from rich.console import Console


def text_of(shown, width=200):
    console = Console(file=io.StringIO(), width=width)
    console.print(shown.table() if hasattr(shown, "table") else shown)
    return console.file.getvalue()
