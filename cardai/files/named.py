"""Files that specs name, such as models: which were read for a spec, and where copies of another machine's files lie.

A task for another machine takes the files along that its specs name. There they lie under other paths, but the specs,
which stand in records and tables, stay as they are.
"""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

_copies: dict[str, Path] = {}
_noting: list[dict[str, Path]] = []


def place_of(name: str) -> Path | None:
    """Where the copy of the file lies that a spec calls `name`. Returns None if the file is to be looked for itself."""
    return _copies.get(name)


def note(name: str, place: Path) -> None:
    """Note that the file at `place` was read for what a spec calls `name`."""
    for notes in _noting:
        notes[name] = place


@contextlib.contextmanager
def noted() -> Iterator[dict[str, Path]]:
    """Yields a dict that takes the files that are read inside the block: name -> path."""
    notes: dict[str, Path] = {}
    _noting.append(notes)
    try:
        yield notes
    finally:
        _noting.remove(notes)


def digest_of(content: bytes) -> str:
    """What a file's content is known by: 32 hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def digests_of(files: Mapping[str, Path]) -> dict[str, str]:
    """The digests of files that were noted. A run that is continued asks by them whether one has changed."""
    return {name: digest_of(place.read_bytes()) for name, place in sorted(files.items())}


def use_copies(copies: Mapping[str, Path]) -> None:
    """From now on find these files, and no others, at the paths of their copies: name -> path."""
    _copies.clear()
    _copies.update(copies)
