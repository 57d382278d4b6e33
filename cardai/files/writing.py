"""Writing files: whole or not at all, under temporary names that are unique, in folders held by one process."""

import contextlib
import functools
import os
import platform
import re
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from cardai.errors import CardaiError

_OLD = 24 * 3600.0  # seconds; a temporary file of another computer that was not written to for so long is left over
_TEMPORARY = re.compile(r"\.?(?P<name>.+)\.(?P<host>\w+)-(?P<process>\d{1,10})-[0-9a-f]{8}\.part")


def write_whole(place: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file whole, or leave it as it was: to a temporary name first, which is then renamed. Raises OSError.

    `content` may come in parts.
    """
    unfinished = place.with_name(f".{temporary(place.name)}")
    try:
        with unfinished.open("wb") as file:
            for part in [content] if isinstance(content, bytes) else content:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    _sync_folder(place.parent)


def write_once(place: Path, content: bytes, check: Callable[[Path], None] | None = None) -> bool:
    """Give a file its name if no file has it yet. Returns False if a file of the same content is there already.

    Several processes and computers may try at once: one of them writes the file, and it is whole as soon as it has its
    name. `check`: is called with the path of the unfinished file, and may refuse it by an error. Raises CardaiError if
    there is a file with other content, and OSError if it cannot be written.
    """
    unfinished = place.with_name(f".{temporary(place.name)}")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if check is not None:
            check(unfinished)
        is_new = _named(unfinished, place)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    if not is_new and place.read_bytes() != content:
        raise CardaiError(f"{place} exists already, with other content than the same games have here; move it away")
    _sync_folder(place.parent)
    return is_new


def write_bytes(place: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file whole, or leave it as it was. Raises CardaiError if it cannot be written."""
    try:
        write_whole(place, content)
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        raise CardaiError(f"cannot write {place}: {getattr(error, 'strerror', None) or error}") from None


def write_text(place: Path, text: str) -> None:
    """Write a text file whole (UTF-8), or leave it as it was. Raises CardaiError if it cannot be written."""
    try:
        content = text.encode()
    except UnicodeEncodeError:
        raise CardaiError(f"cannot write {place}: its text is not Unicode") from None
    write_bytes(place, content)


def append_line(place: Path, line: str) -> None:
    """Add a line to a text file (UTF-8), whole or not at all. Raises CardaiError if it cannot be written."""
    size = None
    try:
        with place.open("ab", buffering=0) as file:
            size = file.tell()
            content = memoryview(f"{line}\n".encode())
            while content:
                content = content[file.write(content) :]
    except OSError as error:
        with contextlib.suppress(OSError):
            if size:
                os.truncate(place, size)
            elif size == 0:
                place.unlink()
        raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None


def temporary(name: str) -> str:
    """The name of a file until it is finished, NAME.HOST-PROCESS-RANDOM.part: unique on this and other computers."""
    return f"{name}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"


def remove_left_over(folder: Path, name: str | None = None) -> None:
    """Remove temporary files of processes that have ended from a folder.

    `name`: only those of the file with this name. A file is left over if its process ran on this computer and has
    ended, or if it was not written to for a day. Other files, and files that cannot be removed, stay.
    """
    with contextlib.suppress(OSError, ValueError):
        for place in list(folder.iterdir()):
            found = _TEMPORARY.fullmatch(place.name)
            if found is None or name not in (None, found["name"]):
                continue
            if _is_left_over(place, found["host"], int(found["process"])):
                with contextlib.suppress(OSError):
                    place.unlink()


@contextlib.contextmanager
def held(folder: Path, refusal: str) -> Iterator[None]:
    """Hold a folder for this process, and remove what processes that were killed left in it (`remove_left_over`).

    Raises CardaiError with the text `refusal` if another process holds it.
    The operating system releases the folder when the process ends, however it ends. On file systems without locks
    nothing is held. Raises OSError if the folder cannot be opened.
    """
    handle = _handle(folder)
    try:
        if not _lock(handle):
            raise CardaiError(refusal)
        remove_left_over(folder)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Delay Ctrl-C until the block is done, so that nothing is half written or counted twice."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: signals.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if signals:
            signal.raise_signal(signal.SIGINT)


def _handle(folder: Path) -> int:
    """Open what is locked for a folder: the folder, or a file in it on Windows, where folders cannot be opened."""
    return os.open(folder / ".lock", os.O_RDWR | os.O_CREAT) if os.name == "nt" else os.open(folder, os.O_RDONLY)


def _lock(handle: int) -> bool:
    """Lock an open file until it is closed. Returns False if another process has locked it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # pyright: ignore[reportAttributeAccessIssue]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # this file system has no locks
        return True
    return True


@functools.cache
def _host() -> str:
    return re.sub(r"\W", "_", platform.node(), flags=re.ASCII)[:40] or "unnamed"


def _is_left_over(place: Path, host: str, process: int) -> bool:
    if host == _host() and not _is_running(process):
        return True
    return time.time() - place.stat().st_mtime > _OLD


def _is_running(process: int) -> bool:
    """Whether a process of this computer is running. On Windows, where that cannot be asked so simply, it may be."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def _named(unfinished: Path, place: Path) -> bool:
    """Give a finished file its name, unless a file has this name already. Returns whether it got the name."""
    try:
        os.link(unfinished, place)  # unlike a renaming, this never replaces a file
    except FileExistsError:
        return False
    except OSError:  # this file system has no links
        if place.exists():
            return False
        unfinished.replace(place)
    return True


def _sync_folder(folder: Path) -> None:
    """Make the new name of a file durable, if the operating system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
