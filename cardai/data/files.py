"""Files that are written whole or not at all."""

import contextlib
import os
from pathlib import Path

from cardai.errors import CardaiError


def write_whole(place: Path, content: bytes) -> None:
    """Write a file whole, or leave it as it was: to a temporary name first, which is then renamed. Raises OSError."""
    unfinished = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    _sync_folder(place.parent)


def write_bytes(place: Path, content: bytes) -> None:
    """Write a file whole, or leave it as it was. Raises CardaiError if it cannot be written."""
    try:
        write_whole(place, content)
    except OSError as error:
        raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None


def write_text(place: Path, text: str) -> None:
    """Write a text file whole (UTF-8), or leave it as it was. Raises CardaiError if it cannot be written."""
    write_bytes(place, text.encode())


def _sync_folder(folder: Path) -> None:
    """Make the new name of a file durable, if the operating system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
