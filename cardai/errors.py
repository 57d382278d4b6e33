"""Errors that a user can correct, and functions for their messages."""

import difflib


class CardaiError(Exception):
    """An error that a user can correct. Its message is one sentence for them."""


class IllegalMove(CardaiError):
    """A move that the rules do not allow in this state."""


def unknown(kind: str, name: str, known: object) -> str:
    """The message for a name that does not exist, with the most similar known names, or with all if none is similar."""
    names = [str(item) for item in known]  # pyright: ignore[reportGeneralTypeIssues]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"there is no {kind} {name!r}; did you mean {' or '.join(near)}?"
    return f"there is no {kind} {name!r}; there is {', '.join(names) or 'none'}"


def place_of(error: BaseException) -> str:
    """The file and line that an error comes from, in brackets. Returns "" for a syntax error, which names them."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or isinstance(error, SyntaxError):
        return ""
    return f" ({last.tb_frame.f_code.co_filename}, line {last.tb_lineno})"


def positive(what: str, number: int, most: int = 10**9) -> int:
    """Return `number`. Raises CardaiError unless it is from 1 to `most`."""
    if number < 1:
        raise CardaiError(f"{what} must be at least 1, not {number}")
    if number > most:
        raise CardaiError(f"{what} must be at most {most}, not {number}")
    return number


def short(value: object, most: int = 60) -> str:
    """Any value as text for a message: its `repr`, cut to `most` characters."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."
