"""The folder of a simulation: its description, the names of its files, and which process may write them."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError, short
from cardai.files.reading import read_json
from cardai.files.writing import held, write_whole
from cardai.playing.machine import processor
from cardai.records.mixture import FORMAT, PLAN, WEIGHTS

MIXED = "mixed"
"""Stands for the device of a simulation that machines of several kinds may have played."""


def file_name(first: int, end: int) -> str:
    """The name of the file of the games first..end-1."""
    return f"games-{first:09d}-{end - 1:09d}.jsonl.gz"


def chosen_files(only: str | None, files: int) -> range:
    """The numbers of the files that a text such as "30-39" or "7" names, of `files` files numbered from 0.

    None names all. Raises CardaiError for any other text, and for a number that no file has.
    """
    if only is None:
        return range(files)
    found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", only, re.ASCII)
    if not found or int(found[1]) > int(found[2] or found[1]):
        raise CardaiError(f"{short(only)} does not name files; write 30-39 for ten files, or 30 for one")
    chosen = range(int(found[1]), int(found[2] or found[1]) + 1)
    if chosen[-1] >= files:
        raise CardaiError(f"{only} does not name files of this simulation, which has {files:,}, numbered from 0")
    return chosen


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Make the folder and hold it for this process."""
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(held(folder, f"another process is writing games into {folder}"))
        except (OSError, ValueError) as error:  # ValueError: a name with a null byte
            raise CardaiError(f"cannot write {folder}: {getattr(error, 'strerror', None) or error}") from None
        yield


def keep_plan(folder: Path, plan: dict[str, Any], device: str | None = None) -> list[str]:
    """Write the description of a simulation into its folder. Raises CardaiError if the folder has another one.

    Returns the specs of the pool as the folder has them. They name its networks by the paths that these had at first;
    it is the same simulation while these files have the same content.

    `device`: what the networks of a cluster compute on, or `MIXED`. None: there are none, or this machine plays alone.
    Networks on other kinds of device round differently, so a folder with games of one kind takes no others.
    """
    file = folder / PLAN
    if file.exists():
        written = read_json(file)
        _refuse_other(file, written, plan)
        before = written.get("device")
        if device is None and before not in (None, MIXED, processor()):
            raise CardaiError(
                f"networks played the games of {folder} on {short(before)}, here it would be {processor()}"
            )
        plan = plan | {name: written[name] for name in ("pool", WEIGHTS)}
        if device in (None, before):
            return list(plan["pool"])
        if device != MIXED:
            known = short(before) if before else "a machine that was not noted"
            raise CardaiError(f"networks played the games of {folder} on {known}, not on {device}; --mixed allows both")
    try:
        table = plan if device is None else plan | {"device": device}
        write_whole(file, f"{json.dumps(table, indent=2, ensure_ascii=False)}\n".encode())
    except OSError as error:
        raise CardaiError(f"cannot write {error.filename or file}: {error.strerror or error}") from None
    return list(plan["pool"])


def _refuse_other(file: Path, written: Any, plan: dict[str, Any]) -> None:
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise CardaiError(f"{file} is damaged: its format is not {FORMAT!r}")
    for part in ("pool", WEIGHTS):
        if not isinstance(written.get(part), dict):
            raise CardaiError(f"{file} is damaged: it has no {part}")
    for name, wanted in plan.items():
        if name not in ("pool", WEIGHTS) and written.get(name) != wanted:
            raise _other_simulation(file, name, written.get(name), wanted)
    if _contents(written) != _contents(plan):
        pool, wanted = written["pool"], plan["pool"]
        if list(pool.items()) != list(wanted.items()):
            raise _other_simulation(file, "pool", pool, wanted)
        differ = (one for one, digest in plan[WEIGHTS].items() if written[WEIGHTS].get(one) != digest)
        changed = next(differ, "the pool")
        raise CardaiError(f"{changed} has other weights now than when it played the games of {file.parent}")


def _other_simulation(file: Path, name: str, existing: Any, wanted: Any) -> CardaiError:
    return CardaiError(f"{file.parent} holds a simulation with {name} {_in_words(existing)}, not {_in_words(wanted)}")


def _contents(plan: dict[str, Any]) -> list[tuple[str, Any]]:
    """The pool of a description with the content of each file in place of its path, in order, which decides draws."""
    pool = list(plan["pool"].items())
    for name, digest in plan[WEIGHTS].items():
        whole = re.compile(rf"(?<=[:=(]){re.escape(name)}(?=[?&)]|$)")
        pool = [(whole.sub(lambda _, digest=digest: str(digest), spec), weight) for spec, weight in pool]
    return pool


def refuse_strangers(folder: Path, files: Sequence[Path], shard: int, games: int) -> None:
    """Raise CardaiError if the folder has a record file that is none of the simulation's `files`."""
    own = set(files)
    for file in sorted(folder.glob("[!.]*.jsonl*")):
        if file not in own and file.suffix != ".part":
            raise CardaiError(f"{file} does not belong to a simulation of {games:,} games in files of {shard:,}")


def _in_words(value: Any) -> str:
    if isinstance(value, dict) and all(type(number) in (int, float) for number in value.values()):
        return ", ".join(f"{name}@{number:g}" for name, number in value.items()) or "none"
    return value if isinstance(value, str) else short(value)
