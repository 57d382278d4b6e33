"""Errors that a user can correct, and functions for their messages."""

import difflib
import operator
import os
import re
from pathlib import Path
from typing import Any

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
    """A move that the rules do not allow in this state, or something that is no move of the game."""


class BadArgument(CardaiError, ValueError):
    """An argument that a function cannot take: of a wrong type, out of range, or of another game."""


_LONG_LIST = 1000  # letters


def lacking(what: str, package: str | None, extra: str) -> CardaiError:
    """Return the error for a package that is not installed, with the extra of cardai that brings it."""
    return CardaiError(f"{what} needs the package {package}; {install_command(extra)} brings it")


def install_command(extra: str) -> str:
    """Return the command that installs an extra of cardai, from the folder, file or address that cardai came from."""
    import json
    import shlex
    from importlib.metadata import distribution
    from urllib.parse import unquote

    origin = json.loads(distribution("cardai").read_text("direct_url.json") or "{}")  # absent if an index named it
    url, vcs = origin.get("url", ""), origin.get("vcs_info", {}).get("vcs")
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    if not url.startswith("file://") or vcs:
        place = f"cardai[{extra}] @ {vcs}+{url}" if vcs else f"cardai[{extra}] @ {url}" if url else f"cardai[{extra}]"
    else:
        place = f"{unquote(url.removeprefix('file://'))}[{extra}]"
    return f"pip install {editable}{shlex.quote(place)}"


def unknown(kind: str, name: object, known: object) -> str:
    """The message for a name that does not exist, with the most similar known names, or with all if none is similar.

    Of a long list, the names beyond `_LONG_LIST` letters are only counted.
    """
    names = [str(item) for item in known]  # pyright: ignore[reportGeneralTypeIssues]
    near = difflib.get_close_matches(name[:100], names, n=3, cutoff=0.5) if isinstance(name, str) else []
    if near:
        return f"there is no {kind} {short(name)}; did you mean {' or '.join(near)}?"
    shown = [item for i, item in enumerate(names) if len(", ".join(names[: i + 1])) <= _LONG_LIST] or names[:1]
    more = f" and {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return f"there is no {kind} {short(name)}; there is {', '.join(shown) or 'none'}{more}"


_CORE = str(Path(__file__).parent) + os.sep
_PYTHON = str(Path(os.__file__).parent) + os.sep


def place_of(error: BaseException, ours: bool = False) -> str:
    """The file and line that an error comes from, in brackets: the innermost line that a person can correct.

    Lines of this framework (but with `ours`), of Python and of packages that the code at fault has called do not count.
    Returns "" if there are no others, and for a syntax error, which names its place.
    """
    places, step = [], None if isinstance(error, SyntaxError) else error.__traceback__
    while step is not None:
        place = step.tb_frame.f_code.co_filename, step.tb_lineno
        places += [place] if ours or not is_framework(place[0]) else []
        step = step.tb_next
    own = [place for place in places if not _is_packaged(place[0])]
    if not places:
        return ""
    file, line = own[-1] if own else places[0]  # a game that is installed as a package calls others, not they it
    return f" ({file}, line {line})"


def place_of_function(function: object) -> str:
    """The file and line of a function, a rule or not, in brackets. Returns "" if it has none, or is the framework's."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    if code is None or is_framework(code.co_filename):
        return ""
    return f" ({code.co_filename}, line {code.co_firstlineno})"


def is_framework(file: str) -> bool:
    """Whether a file is of this framework's core or of Python itself, and not of a game, an agent or a package."""
    is_core = file.startswith(_CORE) and not file.startswith((f"{_CORE}games{os.sep}", f"{_CORE}app{os.sep}template"))
    return is_core or file.startswith("<") or (file.startswith(_PYTHON) and not _is_packaged(file))


def _is_packaged(file: str) -> bool:
    return f"{os.sep}site-packages{os.sep}" in file or f"{os.sep}dist-packages{os.sep}" in file


def positive(what: str, number: int, most: int = 10**9) -> int:
    """Return `number`. Raises CardaiError unless it is a whole number from 1 to `most`."""
    return whole(what, number, 1, most)


def whole(what: str, number: Any, least: int | None = None, most: int | None = None) -> int:
    """Return a whole number, Python's or NumPy's, as an int.

    Raises CardaiError, which calls it `what`, for anything else (True and 2.0 too) and outside of `least` to `most`.
    """
    try:
        value = None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        value = None
    if value is None:
        raise BadArgument(f"{what} must be a whole number, not {short(number)}")
    if least is not None and value < least:
        raise BadArgument(f"{what} must be at least {least}, not {short(value)}")
    if most is not None and value > most:
        raise BadArgument(f"{what} must be at most {most}, not {short(value)}")
    return value


def short(value: object, most: int = 60) -> str:
    """Any value as text for a message: its `repr` on one line, cut to `most` characters."""
    try:
        text = " ".join(repr(value).split())  # arrays fill several lines
    except Exception:  # a number of thousands of digits, thousands of levels, or an object whose repr fails
        text = f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= most else f"{text[: most - 3]}..."
