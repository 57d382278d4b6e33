"""The console on which tables, rules and games are printed."""

from rich.console import Console


class Output(Console):
    """A rich console that lets a `BrokenPipeError` pass, where rich would end the process with an exit code of 1."""

    def on_broken_pipe(self) -> None:
        """Called by rich while it handles a BrokenPipeError. Raises that error again."""
        raise
