"""The folder of a training run: the names of its files, and which run may train in it."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from cardai.errors import CardaiError
from cardai.evaluators.model import FILE as MODEL
from cardai.evaluators.training import checkpoint
from cardai.evaluators.training.config import TrainConfig
from cardai.files import settings
from cardai.files.writing import held

CONFIG, HISTORY, REPORT, BOARD = "config.toml", "metrics.jsonl", "report.json", "tb"
LOSSES, RELIABILITY = "losses.png", "reliability.png"


@contextlib.contextmanager
def claimed(folder: Path, config: TrainConfig, overwrite: bool) -> Iterator[None]:
    """Hold a folder for a run, which `begin` then begins. A folder that is empty at the end is removed.

    Raises CardaiError unless the folder is new or empty, or holds this very run and no process is training there.
    `overwrite`: a folder with another run will do.
    """
    with contextlib.ExitStack() as stack:
        try:
            if folder.is_dir() and any(folder.iterdir()) and not (folder / CONFIG).exists():
                raise CardaiError(f"{folder} is not a run's folder: it holds files but no {CONFIG}; choose another")
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(held(folder, f"another process is training in {folder}"))
            if not overwrite and (checkpoint.listed(folder) or (folder / MODEL).exists()):
                _refuse_another(folder, config)
        except OSError as error:
            raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # it holds the run
                folder.rmdir()


def begin(folder: Path, config: TrainConfig, overwrite: bool) -> None:
    """Write the config of a run into its folder, once nothing else can refuse it. `overwrite`: clear the folder first.

    Raises CardaiError if the folder cannot be written to.
    """
    try:
        if overwrite and (folder / CONFIG).exists():
            _clear(folder)
        settings.write(config, folder / CONFIG)
    except OSError as error:
        raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None


def _refuse_another(folder: Path, config: TrainConfig) -> None:
    changed = settings.difference(settings.read(TrainConfig, folder / CONFIG), config)
    if changed:
        raise CardaiError(
            f"{folder} holds another run, with {changed}; "
            "choose another folder, or begin anew in this one with --overwrite (in Python overwrite=True)"
        )


def _clear(folder: Path) -> None:
    """Remove the files of a run from its folder, and nothing else."""
    checkpoint.clear(folder)
    for name in (HISTORY, MODEL, REPORT, LOSSES, RELIABILITY):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / BOARD, ignore_errors=True)
