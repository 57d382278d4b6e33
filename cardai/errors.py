"""Errors that a person can mend, and the sentences they are made of."""

import difflib


class CardaiError(Exception):
    """Something a user can mend; its message is one sentence for people."""


class IllegalMove(CardaiError):
    """A move that the rules do not allow in this state."""


def unknown(kind: str, name: str, known: object) -> str:
    """The sentence for a name that does not exist: it says the nearest ones, or all if none is near."""
    names = [str(one) for one in known]  # pyright: ignore[reportGeneralTypeIssues]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"there is no {kind} {name!r}; did you mean {' or '.join(near)}?"
    return f"there is no {kind} {name!r}; there is {', '.join(names) or 'none'}"


def place_of(error: BaseException) -> str:
    """The line of code an error comes from, in brackets; empty if it says so itself or cannot know."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or isinstance(error, SyntaxError):
        return ""
    return f" ({last.tb_frame.f_code.co_filename}, line {last.tb_lineno})"


def positive(what: str, number: int, most: int = 10**9) -> int:
    """The number if it is 1 to `most`, else CardaiError."""
    if number < 1:
        raise CardaiError(f"{what} must be at least 1, not {number}")
    if number > most:
        raise CardaiError(f"{what} must be at most {most}, not {number}")
    return number


def short(value: object, most: int = 60) -> str:
    """Any value for a sentence: how Python writes it, at most so many characters of it."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."
