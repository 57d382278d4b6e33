"""How long work reports its progress to its caller. `cardai.cli.show.progress.Line` shows either form in a terminal."""

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what is being done) a few times a second, in games, steps or percent."""

CountProgress = Callable[[int, int], None]
"""Called with (done, total) a few times a second."""


def begin_part(progress: Progress | None, before: int, total: int, what: str) -> CountProgress | None:
    """Report that a part of a larger piece of work begins. Returns the callback that counts the part over the whole.

    `before`: what was done before this part, out of `total`. Returns None without a `progress` to report to.
    """
    if progress is None:
        return None
    progress(before, total, what)
    return lambda done, _: progress(before + done, total, what)
