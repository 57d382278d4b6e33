"""What a training run writes and says while it trains: its history, figures for TensorBoard, and its progress."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.run_folder import BOARD, HISTORY
from cardai.evaluators.training.run_status import RunStatus
from cardai.files.writing import append_line, write_text
from cardai.playing.progress import Progress

_SHOW_SECONDS = 0.2


class RunLog:
    """The history of a run, as lines of JSON and for TensorBoard.

    `history`: the lines so far; they replace what the file holds. `step`: the steps taken; TensorBoard forgets later
    ones.
    """

    def __init__(self, folder: Path, history: Sequence[Mapping[str, Any]], step: int) -> None:
        from tensorboardX import SummaryWriter

        self._place = folder / HISTORY
        write_text(self._place, "".join(f"{json.dumps(line)}\n" for line in history))
        self._board = SummaryWriter(str(folder / BOARD), purge_step=step + 1)

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line to the history file, and its figures to TensorBoard.

        Raises CardaiError if the history cannot be written.
        """
        append_line(self._place, json.dumps(line))
        figures = {"loss": line["loss"], "learning rate": line["learning_rate"]}
        figures |= {f"validation/{name}": value for name, value in (line["validation"] or {}).items()}
        for name, value in figures.items():
            if value is not None:
                self._board.add_scalar(name, value, line["step"])
        self._board.flush()

    def close(self) -> None:
        """Close the files of TensorBoard."""
        self._board.close()


class RunProgress:
    """Reports the progress of a run a few times a second. `per_epoch`: steps in an epoch. `total`: steps in all."""

    def __init__(self, progress: Progress | None, config: TrainConfig, per_epoch: int, total: int | None) -> None:
        self._progress, self._config, self._per_epoch, self._total = progress, config, per_epoch, total
        self._shown = time.perf_counter()

    def show(self, status: RunStatus) -> None:
        """Report epoch, loss, best validation loss and speed, unless that was done a moment ago."""
        now = time.perf_counter()
        if self._progress is None or not status.losses or now - self._shown < _SHOW_SECONDS:
            return
        self._shown = now
        best = f", best {status.best['validation']['bce']:.4f}" if status.best and status.best["validation"] else ""
        epoch = f"epoch {(status.step - 1) // self._per_epoch + 1}"
        speed = f"{status.states_per_second(self._config.batch):,.0f} states/s"
        words = f"{epoch}: loss {status.loss / status.losses:.4f}{best}, {speed}"
        if self._total is not None:
            self._progress(status.step, self._total, words)
        else:
            self._progress(round(status.seconds), round(60 * self._config.minutes), words)
