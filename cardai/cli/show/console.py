"""The console on which tables, rules and games are printed."""

import sys

from rich.console import Console

from cardai.errors import printable


class Output(Console):
    """A rich console that lets a `BrokenPipeError` pass, where rich would end the process with an exit code of 1."""

    def on_broken_pipe(self) -> None:
        """Called by rich while it handles a BrokenPipeError. Raises that error again."""
        raise


def say(text: str) -> None:
    """Print a text as it is, but for characters that a terminal would obey."""
    text = printable(text)
    if sys.stdout.isatty():  # rich breaks long lines between words, a terminal within them; a long path stays whole
        Output().print(text, markup=False, highlight=False, emoji=False, overflow="ignore", crop=False)
    else:
        print(text, flush=True)  # whoever reads a pipe waits for it: `cardai serve` says where it is and goes on
