"""Files that are written whole or not at all."""

import contextlib
import os
from pathlib import Path

from cardai.errors import CardaiError


def write_whole(place: Path, content: bytes) -> None:
    """Give `place` this content, or leave it as it was. Raises OSError."""
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


def write_text(place: Path, text: str) -> None:
    """Give `place` this text, or leave it as it was. Raises CardaiError."""
    try:
        write_whole(place, text.encode())
    except OSError as error:
        raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None


def _sync_folder(folder: Path) -> None:
    """Have the new name itself on the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
