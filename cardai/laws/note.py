"""A note of the call that is under way, in shared memory: after a crash, another process reads where it happened.

The laws call `note_place` and `note_call` before they call into a game. Without a `Note` both do nothing.
"""

import faulthandler
import mmap
import signal
import struct
import tempfile
from collections.abc import Sequence

_HEAD = struct.Struct("<QQQ")  # calls so far, pauses, bytes of text
_SIZE = 4096


class Note:
    """The shared block. `descriptor`: the file behind it, by which a process that is started later opens it too."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._file = None
        if descriptor is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the note)
            self._file.write(bytes(_SIZE))
            self._file.flush()
            descriptor = self._file.fileno()
        self.descriptor = descriptor
        self._block = mmap.mmap(descriptor, _SIZE)

    def write(self, text: str | None = None, more: int = 0) -> None:
        """Count a call and say what it is, what the note says already if None.

        `more`: something begins (1) or ends (-1) that is not the game's time: a compilation, a process's start.
        """
        calls, pauses, size = _HEAD.unpack_from(self._block)
        if text is not None:
            content = text.encode("utf-8", "replace")[: _SIZE - _HEAD.size]
            size = len(content)
            self._block[_HEAD.size : _HEAD.size + size] = content
        _HEAD.pack_into(self._block, 0, calls + 1, max(0, pauses + more), size)

    def read(self) -> tuple[int, bool, str]:
        """The number of calls so far, whether the game's time is paused, and what is being called."""
        calls, pauses, size = _HEAD.unpack_from(self._block)
        size = min(size, _SIZE - _HEAD.size)
        return calls, pauses > 0, self._block[_HEAD.size : _HEAD.size + size].decode("utf-8", "replace")

    def close(self) -> None:
        self._block.close()
        if self._file is not None:
            self._file.close()


_note: Note | None = None
_trace_below: int | None = None
_place: tuple[object, ...] = ()
_words, _is_named = "place unknown", False


def use_note(note: Note, trace: int, trace_below: int | None = None) -> None:
    """From now on this process writes into `note`, and on SIGUSR1 the lines it is running into the file `trace`.

    `trace_below` is the file for the lines of a process that this one starts.
    """
    global _note, _trace_below
    _note, _trace_below = note, trace_below
    faulthandler.register(signal.SIGUSR1, file=trace, all_threads=False)


def note_files() -> tuple[int, ...]:
    """The files of the note and of the trace, for `take_up_note` in a process that is started; () without a note."""
    return () if _note is None or _trace_below is None else (_note.descriptor, _trace_below)


def take_up_note(files: Sequence[int]) -> None:
    """Write into the note of the process that started this one."""
    if files:
        use_note(Note(files[0]), files[1])


def note_place(setup: object, seed: object, ply: object) -> None:
    """What follows concerns this point of a game. `setup`: its variant and seats, in words."""
    global _place, _words, _is_named
    if _note is None:
        return
    if (setup, seed, ply) != _place:
        _place, _words = (setup, seed, ply), f"{setup}, seed {seed}, ply {ply}"
    _note.write(f"{_words}: a rule")
    _is_named = False


def note_call(what: str) -> None:
    """What is called next at this point: the name of a rule or function of the game."""
    global _is_named
    if _note is not None:
        _note.write(f"{_words}: {what}")
        _is_named = True


def note_rule(what: str) -> None:
    """The compiled rule that is called next, unless `note_call` has named it already."""
    global _is_named
    if not _is_named:
        note_call(what)
        _is_named = False


def note_again(more: int = 0) -> None:
    """The same as before is called once more. `more`: the game's time stops (1) or goes on (-1)."""
    if _note is not None:
        _note.write(more=more)


def last_call() -> str:
    """What was called last, also by a process that took up the note. Returns "" without a note."""
    return _note.read()[2] if _note is not None else ""
