"""Checkpoints of a training run: one safetensors file each. The last two are kept.

A file is written whole or not at all. Its metadata hold, as JSON, the run that it belongs to (name -> fingerprint), the
step, what else the run needs to continue, and a digest (`cardai.files.tensors`).
"""

import contextlib
import errno
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as bytes_of

from cardai.errors import CardaiError
from cardai.files.kind import TENSORS, foreign_kind
from cardai.files.reading import parse_json_line, read_bytes, unreadable
from cardai.files.tensors import damage_in, digested
from cardai.files.writing import write_whole

FORMAT = "cardai checkpoint 1"
KEPT = 2

_LARGEST = 1 << 36  # bytes
_NAME = re.compile(r"checkpoint-(\d{9})\.safetensors")


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is.

    `run`: what the checkpoint belongs to, as {"config": fingerprint, "data": fingerprint}.
    `tensors`: all arrays, by name.
    `status`: the rest, as types that JSON has.
    """

    step: int
    run: Mapping[str, str]
    tensors: Mapping[str, np.ndarray]
    status: Mapping[str, Any] = field(default_factory=dict)


def save(folder: str | Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint, then remove all but the last two. Returns its path.

    If writing fails or is interrupted, the earlier checkpoints stay. Raises CardaiError if the file cannot be written.
    """
    place = Path(folder) / f"checkpoint-{checkpoint.step:09d}.safetensors"
    entries = {"format": FORMAT, "step": checkpoint.step, "run": dict(checkpoint.run)}
    entries["facts"] = dict(checkpoint.status)  # what format 1 calls it
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, digested(bytes_of(dict(checkpoint.tensors), {"cardai": json.dumps(entries)})))
    except OSError as error:
        raise CardaiError(_cannot_write(place, error)) from None
    _forget_old(place.parent)
    return place


def newest(folder: str | Path, run: Mapping[str, str]) -> Checkpoint | None:
    """Return the newest checkpoint in a folder, or None if there is none.

    Raises CardaiError if it belongs to another run, and says what differs; or if it cannot be read or is damaged, and
    says which older one is sound and how to continue from that.
    """
    places = listed(folder)
    if not places:
        return None
    try:
        return load(places[-1], run)
    except DamagedCheckpoint as error:
        sound = _newest_sound(places[:-1], run)
        if sound is None:
            hint = (
                "no older checkpoint is sound, so the run must begin anew, with --overwrite (in Python overwrite=True)"
            )
        else:
            hint = f"{sound.name} is sound: to continue from it, delete {places[-1].name}"
        raise CardaiError(f"{error}; {hint}") from None


class DamagedCheckpoint(CardaiError):
    """The file of a checkpoint is not as it was written."""


def load(path: str | Path, run: Mapping[str, str]) -> Checkpoint:
    """Read a checkpoint of a run.

    Raises DamagedCheckpoint if it is not as it was written, CardaiError if it belongs to another run.
    """
    place = Path(path)
    try:
        content = read_bytes(place, _LARGEST)
    except OSError as error:
        raise unreadable(place, error) from None
    entries, tensors = _parsed(place, content)
    checkpoint = Checkpoint(entries["step"], entries["run"], tensors, entries["facts"])
    for what, fingerprint in run.items():
        if checkpoint.run.get(what) != fingerprint:
            raise CardaiError(f"{place} is a checkpoint of another run: its {what} is not this run's")
    return checkpoint


def listed(folder: str | Path) -> list[Path]:
    """Return the files of the checkpoints in a folder, oldest first."""
    place = Path(folder)
    return sorted(file for file in place.iterdir() if _NAME.fullmatch(file.name)) if place.is_dir() else []


def clear(folder: str | Path) -> None:
    """Remove all checkpoints in a folder, also a half-written one."""
    for place in [*listed(folder), *Path(folder).glob(".checkpoint-*.part")]:
        place.unlink(missing_ok=True)


def _parsed(place: Path, content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the entries of a file's metadata, and its tensors. Raises DamagedCheckpoint."""
    try:
        tensors = tensors_of(content)
        size = int.from_bytes(content[:8], "little")
        entries = parse_json_line(parse_json_line(content[8 : 8 + size])["__metadata__"]["cardai"])
        kinds = {"step": int, "run": dict, "facts": dict}
        fits = entries["format"] == FORMAT and all(isinstance(entries[name], kind) for name, kind in kinds.items())
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        kind = foreign_kind(content)
        why = kind if kind not in ("", TENSORS) else why
        raise DamagedCheckpoint(f"{place} is damaged or not a checkpoint ({why})") from None
    damage = damage_in(content) if fits else "it is of another format"
    if damage:
        raise DamagedCheckpoint(f"{place} is damaged: {damage}")
    return entries, tensors


def _newest_sound(places: list[Path], run: Mapping[str, str]) -> Path | None:
    for place in reversed(places):
        try:
            load(place, run)
        except CardaiError:
            continue
        return place
    return None


def _forget_old(folder: Path) -> None:
    """Remove all but the newest checkpoints, and half-written files of killed processes, as far as that is possible."""
    for place in [*listed(folder)[:-KEPT], *folder.glob(".checkpoint-*.part")]:
        with contextlib.suppress(OSError):
            place.unlink()


def _cannot_write(place: Path, error: OSError) -> str:
    why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
    before = listed(place.parent) if place.parent.is_dir() else []
    kept = f"; {before[-1].name} is kept, and the run can continue from it" if before else ""
    return f"cannot write {place}: {why}{kept}"
