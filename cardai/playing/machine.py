"""The machine that a figure was measured on: versions, processors, commit."""

import functools
import hashlib
import os
import platform
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cardai.errors import positive
from cardai.rules import JIT

_CORE = Path(__file__).resolve().parents[1]
_PARTS = ("evaluators", "experiments", "games")


def machine() -> dict[str, Any]:
    """The versions, processor and commit that a reader needs to assess or repeat a measurement."""
    import numba
    import numpy as np

    return {
        "cardai": version("cardai"),
        "commit": commit(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__ if JIT else None,
        "jit": JIT,
        "platform": platform.platform(),
        "processor": processor(),
        "cpus": os.cpu_count(),
        "usable_cpus": default_threads(),
    }


def commit() -> str | None:
    """The commit of the checkout that this package runs from, with "-dirty" if files differ from it.

    Returns None if the package does not run from a checkout or git does not answer.
    """
    if not (_CORE.parent / ".git").exists():
        return None
    head = _git("rev-parse", "--short=12", "HEAD")
    changes = _git("status", "--porcelain")
    return f"{head}-dirty" if head and changes else head


def processor() -> str:
    """The processor's name, from the operating system."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


@functools.cache
def code_digest(*parts: str, suffixes: tuple[str, ...] = (".py",)) -> str:
    """A digest of the files of the core and of some other `parts` of the package, and of their names: 12 hex digits."""
    rooms = {place.name: place for place in _CORE.iterdir() if place.name not in _PARTS}
    rooms |= {part: _CORE / part if (_CORE / part).is_dir() else _CORE.parent / part for part in parts}
    return files_digest(rooms, suffixes)


def files_digest(places: Mapping[str, Path], suffixes: tuple[str, ...] = (".py",)) -> str:
    """A digest of the files in some folders (or single files), and of their names: 12 hex digits."""
    digest = hashlib.blake2b(digest_size=6)
    for name, place in sorted(places.items()):
        for file in [place] if place.is_file() else sorted(place.rglob("*")):
            if file.suffix in suffixes:
                digest.update(f"{name}/{file.relative_to(place).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache  # a process asks once
def _git(*command: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_CORE.parent), *command], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):  # no git, or it refuses this folder
        return None
    return done.stdout.strip() or None


def thread_count(threads: int | None) -> int:
    """Returns the number of threads to use. None means all processors. Raises CardaiError below 1 and above 1024."""
    return default_threads() if threads is None else positive("threads", threads, 1024)


def default_threads() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
