"""Errors that a user can correct, and functions for their messages."""

import difflib
import re

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Control characters, line breaks aside, characters that change the direction of text, and halves of characters."""


class CardaiError(Exception):
    """An error that a user can correct. Its message is one sentence for them, without control characters."""

    def __init__(self, *values: object) -> None:
        super().__init__(*(printable(value) if isinstance(value, str) else value for value in values))


def is_printable(text: str) -> bool:
    """Whether a text can be printed on a terminal as it is."""
    return _HIDDEN.search(text) is None


def printable(text: str) -> str:
    """A text in which each character that a terminal would obey is written as in JSON: ESC as \\u001b.

    Line breaks and tabs stay. The text of a JSON document stays one with the same values.
    """
    return _HIDDEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


class IllegalMove(CardaiError):
    """A move that the rules do not allow in this state."""


def unknown(kind: str, name: str, known: object) -> str:
    """The message for a name that does not exist, with the most similar known names, or with all if none is similar."""
    names = [str(item) for item in known]  # pyright: ignore[reportGeneralTypeIssues]
    near = difflib.get_close_matches(name[:100], names, n=3, cutoff=0.5)
    if near:
        return f"there is no {kind} {short(name)}; did you mean {' or '.join(near)}?"
    return f"there is no {kind} {short(name)}; there is {', '.join(names) or 'none'}"


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
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list of thousands of levels
        text = f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= most else f"{text[: most - 3]}..."
