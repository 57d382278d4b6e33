"""Checkpoints of a training run: one safetensors file each, written whole or not at all, the last two kept.

A file's metadata holds, as JSON, what run it belongs to (`run`, a mapping of names to fingerprints), the `step`,
whatever else the trainer must know to go on, and a digest of all of it: a damaged file is never taken for a good one.
"""

import contextlib
import errno
import hashlib
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

from cardai.data.files import write_whole
from cardai.errors import CardaiError

FORMAT = "cardai checkpoint 1"
KEPT = 2

_NAME = re.compile(r"checkpoint-(\d{9})\.safetensors")


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is. `tensors`: all arrays, by name; `facts`: the rest, as JSON types; `run`: see `save`."""

    step: int
    run: Mapping[str, str]
    tensors: Mapping[str, np.ndarray]
    facts: Mapping[str, Any] = field(default_factory=dict)


def save(folder: str | Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint, then remove all but the last two; its path.

    `run` says what the checkpoint belongs to: {"config": hash, "data": hash}. Whatever happens in here (a full disk,
    Ctrl-C), the checkpoints that were there before stay. Raises CardaiError when it cannot be written.
    """
    place = Path(folder) / f"checkpoint-{checkpoint.step:09d}.safetensors"
    facts = {"format": FORMAT, "step": checkpoint.step, "run": dict(checkpoint.run), "facts": dict(checkpoint.facts)}
    facts["digest"] = _digest(facts, checkpoint.tensors)
    content = bytes_of(dict(checkpoint.tensors), {"cardai": json.dumps(facts)})
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, content)
    except OSError as error:
        raise CardaiError(_cannot_write(place, error)) from None
    _forget_old(place.parent)
    return place


def newest(folder: str | Path, run: Mapping[str, str]) -> Checkpoint | None:
    """The newest checkpoint in a folder; None when there is none.

    Raises CardaiError when it cannot be read or is damaged, and says which older one is sound and how to go on from it;
    and when it belongs to another run, naming what is different.
    """
    places = listed(folder)
    if not places:
        return None
    try:
        return load(places[-1], run)
    except Damaged as error:
        sound = _newest_sound(places[:-1], run)
        if sound is None:
            hint = "there is no older one that is sound, so the run must begin anew: ask for it to be overwritten"
        else:
            hint = f"{sound.name} is sound: to go on from it, delete {places[-1].name}"
        raise CardaiError(f"{error}; {hint}") from None


class Damaged(CardaiError):
    """A checkpoint's file is not as it was written."""


def load(path: str | Path, run: Mapping[str, str]) -> Checkpoint:
    """Read a checkpoint. Raises Damaged when it is not as it was written, CardaiError when it is of another run."""
    place = Path(path)
    try:
        content = place.read_bytes()
    except OSError as error:
        raise CardaiError(f"cannot read {place}: {error.strerror or error}") from None
    facts, tensors = _parsed(place, content)
    for what, fingerprint in run.items():
        if facts["run"].get(what) != fingerprint:
            raise CardaiError(f"{place} is a checkpoint of another run: its {what} is not this one's")
    return Checkpoint(facts["step"], facts["run"], tensors, facts["facts"])


def listed(folder: str | Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    place = Path(folder)
    return sorted(one for one in place.iterdir() if _NAME.fullmatch(one.name)) if place.is_dir() else []


def clear(folder: str | Path) -> None:
    """Remove all checkpoints of a folder, and what an interrupted one left."""
    for place in [*listed(folder), *Path(folder).glob(".checkpoint-*.part")]:
        place.unlink(missing_ok=True)


def _parsed(place: Path, content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        tensors = tensors_of(content)
        size = int.from_bytes(content[:8], "little")
        facts = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["cardai"])
        digest = facts.pop("digest")
        fits = facts["format"] == FORMAT and isinstance(facts["step"], int) and isinstance(facts["run"], dict)
        sound = fits and digest == _digest(facts, tensors)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Damaged(f"{place} is damaged or no checkpoint ({why})") from None
    if not sound:
        raise Damaged(f"{place} is damaged: its content does not fit its digest")
    return facts, tensors


def _digest(facts: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=16)
    for name in sorted(tensors):
        value = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {value.dtype} {value.shape}".encode())
        digest.update(value.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _newest_sound(places: list[Path], run: Mapping[str, str]) -> Path | None:
    for place in reversed(places):
        try:
            load(place, run)
        except CardaiError:
            continue
        return place
    return None


def _forget_old(folder: Path) -> None:
    """Remove all but the newest checkpoints, and what killed processes left. What cannot be removed does no harm."""
    for place in [*listed(folder)[:-KEPT], *folder.glob(".checkpoint-*.part")]:
        with contextlib.suppress(OSError):
            place.unlink()


def _cannot_write(place: Path, error: OSError) -> str:
    why = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
    before = listed(place.parent) if place.parent.is_dir() else []
    kept = f"; {before[-1].name} is kept, and the run can go on from it" if before else ""
    return f"cannot write {place}: {why}{kept}"
