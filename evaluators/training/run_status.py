"""Where a training run is: its steps, its time, its validations, and why it ended."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from cardai.errors import CardaiError
from cardai.evaluators.training.config import TrainConfig
from cardai.files import settings
from cardai.files.settings import setting


def _count() -> Any:
    return setting(span=(0, math.inf), default=0)


@dataclass
class RunStatus:
    """Where a training run is, besides its arrays. Checkpoints hold it as JSON.

    `planned`: the number of steps that was planned from the config's minutes; 0 if none was.
    `step`: the steps taken.
    `seconds`: how long the run has taken, over all calls.
    `timed_seconds`, `timed_steps`: the steps alone; the first step of a call compiles, and is not counted.
    `loss`, `losses`: the sum and the number of the losses since the last validation.
    `best_step`, `best`: the step of the best validation, and its line of the history.
    `worse`: the number of validations since the best one.
    `history`: a line for each validation.
    `stopped`: what ended the run, "epochs", "steps", "minutes" or "patience"; empty until then.
    """

    planned: int = _count()
    step: int = _count()
    seconds: float = _count()
    timed_seconds: float = _count()
    timed_steps: int = _count()
    loss: float = _count()
    losses: int = _count()
    best_step: int = _count()
    best: Mapping[str, Any] | None = None
    worse: int = _count()
    history: list = field(default_factory=list)
    stopped: str = ""

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> Self:
        """Return the status of which a checkpoint holds the entries. Raises CardaiError for anything else."""
        status = settings.made(cls, entries)
        if not all(map(_is_line, [*status.history, *([] if status.best is None else [status.best])])):
            raise CardaiError("its history or its best is no validation")
        return status

    def add_validation(self, line: dict[str, Any], patience: int) -> bool:
        """Add a line to the history. Returns whether the weights are the best so far.

        Without a validation part, the newest weights always are. `patience` validations in a row that are not better
        end the run; 0 never does.
        """
        self.loss, self.losses = 0.0, 0
        self.history.append(line)
        is_best = (
            line["validation"] is None
            or self.best is None
            or line["validation"]["bce"] < self.best["validation"]["bce"]
        )
        if is_best:
            self.best, self.best_step, self.worse = line, self.step, 0
        else:
            self.worse += 1
            if patience and self.worse >= patience and not self.stopped:
                self.stopped = "patience"
        return is_best

    def stop_at_limits(self, config: TrainConfig, total: int | None) -> None:
        """Set `stopped` if the steps or the minutes are over. `total`: the steps of the run, or None."""
        if total is not None and self.step >= total:
            by_steps = self.step == config.steps
            self.stopped = "minutes" if self.planned else "steps" if by_steps else "epochs"
        elif self.is_time_up(config.minutes):
            self.stopped = "minutes"

    def is_time_up(self, minutes: float) -> bool:
        """Whether the minutes are over. A run whose steps were planned from its minutes takes all of these steps."""
        if self.planned:
            return self.step >= self.planned
        return 0 < 60 * minutes <= self.seconds

    def states_per_second(self, batch: int) -> float:
        """Return the speed of training, without validations and checkpoints, or 0 if it is not known yet."""
        return self.timed_steps * batch / self.timed_seconds if self.timed_seconds else 0.0


def _is_line(line: Any) -> bool:
    """Whether a JSON value is a line of the history."""
    if not isinstance(line, dict) or not all(_is_number(line.get(name)) for name in ("step", "epoch", "loss")):
        return False
    validation = line.get("validation")
    if validation is None:
        return True
    return isinstance(validation, dict) and _is_number(validation.get("bce"))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


class StepTimer:
    """Measures the time of a run and of its steps, and adds it to the run's status. Begins when it is made."""

    def __init__(self) -> None:
        self._began = self._mark = time.perf_counter()
        self._earlier = 0.0
        self._is_warm = False

    def go_on_from(self, status: RunStatus) -> None:
        """Count the time of this call after that of earlier calls of the run."""
        self._earlier = status.seconds

    def start(self) -> None:
        """Begin to time a step."""
        self._mark = time.perf_counter()

    def stop(self, status: RunStatus, wait: Callable[[], None]) -> None:
        """End to time a step. `wait` waits for all steps; it is called once, after the first step, which compiles."""
        if not self._is_warm:
            wait()
            self._is_warm, self._mark = True, time.perf_counter()
        now = time.perf_counter()
        if now > self._mark:
            status.timed_seconds += now - self._mark
            status.timed_steps += 1
        status.seconds = self._earlier + now - self._began
