"""Reading files that may be damaged, hostile or no files at all, within limits of memory and time.

    plan = read_json(folder / "simulation.json")
    values = read_toml("nn1.toml")

All JSON and TOML that cardai reads goes through `parse_json` and `parse_toml`. They take less than the formats allow:
what they refuse was not written by cardai, and would be a trap for the code that uses the values.

| refused | limit |
|---|---|
| long files | `LARGEST` bytes of JSON, `LARGEST_TOML` of TOML |
| many values | `MOST_PARTS` commas and brackets |
| deep nesting | `DEEPEST` lists and tables |
| long whole numbers | `LONGEST_NUMBER` characters |
| numbers that are not finite | NaN, Infinity, 1e999 |
| a name twice in one table | |
| texts with control characters | see `cardai.errors.is_printable`; a line break and a tab are allowed |
"""

import errno
import json
import math
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from cardai.errors import CardaiError, is_printable, short
from cardai.files.kind import FIRST, foreign_kind

LARGEST = 1 << 26
LARGEST_TOML = 1 << 20
MOST_PARTS = 1 << 21
DEEPEST = 64
LONGEST_NUMBER = 21  # characters: every number of 64 bits with its sign

_KINDS = {
    stat.S_IFIFO: "it is a pipe, not a file",
    stat.S_IFSOCK: "it is a socket, not a file",
    stat.S_IFCHR: "it is a device, not a file",
    stat.S_IFBLK: "it is a device, not a file",
}
# The look behind keeps the search linear: a name is not looked for again from each of its letters.
_NAME = r"(?:(?<![\w-])[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
_LONG_KEY = re.compile(rf"{_NAME}(?:[ \t]*+\.[ \t]*+{_NAME}){{{DEEPEST}}}")  # tomllib takes quadratic memory for these


def open_file(path: str | Path) -> BinaryIO:
    """Open a file to read bytes from it. Raises OSError if it cannot be read, or is a pipe, a device or a folder.

    Opening a pipe would wait for its writer, and reading a device might never end.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # a path with a null byte
        raise OSError(errno.EINVAL, f"the name {error}") from None
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, _KINDS.get(stat.S_IFMT(mode), "it is not a file"))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(path: str | Path, most: int = LARGEST) -> bytes:
    """Return the content of a file. Raises OSError as `open_file` does, and for more than `most` bytes."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
        return file.read(size)


def read_text(path: str | Path, most: int = LARGEST) -> str:
    """Return the text of a file. Raises CardaiError if it cannot be read, is longer than `most` bytes or not UTF-8."""
    content = b""
    try:
        content = read_bytes(path, most)
        return content.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise CardaiError(f"{path} is not text in UTF-8{_because(content)}") from None


def read_json(path: str | Path) -> Any:
    """Return the value in a file of JSON. Raises CardaiError, which names the file and what is wrong."""
    try:
        return parse_json(read_bytes(path))
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:
        raise CardaiError(f"{path} is damaged: {error}") from None


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the table in a file of TOML. Raises CardaiError, which names the file and what is wrong."""
    try:
        content = read_bytes(path, LARGEST_TOML)
        kind = foreign_kind(content) if content.strip() else ""  # no setting is a setting of its own
        if kind:
            raise CardaiError(f"{path} is not TOML: {kind}")
        return parse_toml(content.decode("utf-8"))
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise CardaiError(f"{path} is not TOML: it is not text in UTF-8") from None
    except ValueError as error:
        raise CardaiError(f"{path} is not TOML: {error}") from None


def unreadable(path: str | Path, error: OSError) -> CardaiError:
    """The error for a file that cannot be read."""
    return CardaiError(f"cannot read {path}: {error.strerror or error}")


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError, with the reason in words, for a text outside the limits."""
    value = _decoded(text, _STRICT)
    check_values(value)
    return value


def parse_json_line(text: str | bytes) -> Any:
    """As `parse_json`, but faster, for lines of which the caller checks each value that it uses.

    Nesting may be deeper, texts may hold control characters, and numbers may not be finite.
    """
    return _decoded(text, _FAST)


def check_values(value: Any) -> None:
    """Raise ValueError, as `parse_json` does, for a value nested too deep, a number or a text outside the limits."""
    level = [value]
    for depth in range(DEEPEST + 1):
        inside: list[Any] = []
        for item in level:
            if isinstance(item, dict | list) and depth == DEEPEST:
                raise ValueError(f"it is nested deeper than {DEEPEST} levels")
            if isinstance(item, dict):
                inside += item.keys()
                inside += item.values()
            elif isinstance(item, list):
                inside += item
            elif isinstance(item, str):
                if not is_printable(item):
                    raise ValueError(f"a text holds control characters: {short(item)}")
            elif isinstance(item, float):
                if not math.isfinite(item):
                    raise ValueError("a number is not finite")
            elif type(item) is int and not -(10**LONGEST_NUMBER) < item < 10**LONGEST_NUMBER:
                raise ValueError(f"a whole number has more than {LONGEST_NUMBER} digits")
        level = inside


def _decoded(text: str | bytes, decoder: json.JSONDecoder) -> Any:
    content = text if isinstance(text, bytes) else text[:FIRST].encode("utf-8", "replace")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"it is not JSON, since it is not text in UTF-8{_because(content)}") from None
    if len(text) > MOST_PARTS and text.count(",") + text.count("[") + text.count("{") > MOST_PARTS:
        raise ValueError(f"it has more than {MOST_PARTS:,} values")
    try:
        return decoder.decode(text)
    except json.JSONDecodeError:
        raise ValueError(f"it is not JSON{_because(content)}") from None
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEEPEST} levels") from None


def _because(content: bytes) -> str:
    """What content is that could not be read, ": it is ...", or "" if it does not tell."""
    kind = foreign_kind(content)
    return f": {kind}" if kind else ""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text. Raises ValueError, with the reason in words, for a text outside the limits."""
    if len(text) > LARGEST_TOML:
        raise ValueError(f"it has more than {LARGEST_TOML:,} characters")
    if _LONG_KEY.search(text):
        raise ValueError(f"a name has more than {DEEPEST} parts")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEEPEST} levels") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python's own limit of digits
        raise ValueError("a whole number is too long") from None
    check_values(values)
    return values


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"it has the name {short(twice)} twice")
    return table


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"a whole number has more than {LONGEST_NUMBER} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {short(digits)} is not finite")
    return number


def _refused_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


_FAST = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_whole)
_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_whole, parse_float=_finite, parse_constant=_refused_constant
)
