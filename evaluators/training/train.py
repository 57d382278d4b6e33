"""Training: recorded games in, a model out. A run has a folder, and a run that was stopped continues there.

    result = train(settings.read(TrainConfig, "nn1.toml"))

The folder holds the config, the history of validations, two checkpoints, the model with the best validation so far,
and at the end a report; see `cardai.evaluators.training.run_folder` for the names. A run that was stopped ends with the
same weights, to the bit, as one that was not.
"""

import contextlib
import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import jax
import numpy as np

from cardai.errors import CardaiError
from cardai.evaluators.bodies.build import build
from cardai.evaluators.training import checkpoint, outcome
from cardai.evaluators.training.batches import collect, epoch_batches, in_advance, recipe_of
from cardai.evaluators.training.checkpoint import Checkpoint
from cardai.evaluators.training.config import AUTO, TrainConfig
from cardai.evaluators.training.defaults import warning
from cardai.evaluators.training.devices import devices_of
from cardai.evaluators.training.interrupt import DelayedInterrupt
from cardai.evaluators.training.job import TrainingJob
from cardai.evaluators.training.metrics import measure
from cardai.evaluators.training.outcome import TrainingResult
from cardai.evaluators.training.run_folder import begin, claimed
from cardai.evaluators.training.run_log import RunLog, RunProgress
from cardai.evaluators.training.run_status import RunStatus, StepTimer
from cardai.evaluators.training.start import fastest, initial_network, planned_steps, total_steps
from cardai.evaluators.training.trainer import Trainer, named_arrays, tree_from
from cardai.playing.progress import Progress
from cardai.registry import load

_IN_FLIGHT = 2  # steps handed to the device before the loss of the oldest one is waited for


def train(
    config: TrainConfig,
    progress: Progress | None = None,
    overwrite: bool = False,
    warn: Callable[[str], None] | None = None,
) -> TrainingResult:
    """Train a network as a config says, or continue a run that was stopped, and report on it.

    If the config's folder holds a run of the same config, that run continues. Its weights come out the same, to the
    bit, as if it had never been stopped (on the same machine, with the same number of devices). `overwrite`: a folder
    with another run is cleared. Ctrl-C ends the run after the present step, with a checkpoint, by KeyboardInterrupt.
    `warn` is called with a sentence if the run has so few steps that its network may not learn much.
    No figures are drawn; that is `cardai.evaluators.training.show_training.draw`.

    Raises CardaiError if the folder holds another run or other files, if the data does not fit the config, or if there
    are fewer devices than it names.
    """
    game, devices = load(config.game), devices_of(config)
    recipe_of(config, game)  # refuses a label before there is a folder
    with claimed(Path(config.out), config, overwrite), jax.default_device(devices.first):
        job = TrainingJob(config, game, collect(config, game, progress), devices)
        job = job.on(devices_of(job.config))  # its batch is known now
        if config.devices == AUTO:
            job = job.on(fastest(job))
        if warn and (sentence := warning(total_steps(job.config, job.per_epoch), job.config.batch, len(job.training))):
            warn(sentence)
        if config.start_from is not None:
            initial_network(job.config, job.dataset)  # refuses a network before the folder is written to
        begin(job.folder, config, overwrite)
        with TrainingRun(job, progress) as run:
            run.train()
            return run.finish()


class TrainingRun:
    """A training run in progress. It begins from the newest checkpoint in its folder, if there is one."""

    def __init__(self, job: TrainingJob, progress: Progress | None) -> None:
        self.job, self.config = job, job.config
        self._timer, self._saved = StepTimer(), time.perf_counter()
        self._losses: deque[jax.Array] = deque()  # of the steps that the device may not have done yet
        self._best: dict[str, np.ndarray] = {}  # the weights of the best validation
        newest = checkpoint.newest(job.folder, job.identity)
        self.status = _status(job.folder, newest) if newest else RunStatus(planned=planned_steps(job))
        self.total = self.status.planned or total_steps(self.config, job.per_epoch)
        self.trainer = Trainer(self._network(newest), self.config, self.total, job.devices, job.scale)
        self.state = job.devices.whole(self.trainer.start())
        if newest:
            self._restore(newest)
        self._timer.go_on_from(self.status)
        self._log = RunLog(job.folder, self.status.history, self.status.step)
        self._progress = RunProgress(progress, self.config, job.per_epoch, self.total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._log.close()

    def train(self) -> None:
        """Take steps until a limit, patience or Ctrl-C ends the run."""
        with DelayedInterrupt() as interrupt:
            while not self.status.stopped:
                epoch, done = divmod(self.status.step, self.job.per_epoch)
                places = epoch_batches(self.config, epoch, self.job.training, done)
                with contextlib.closing(in_advance(self.job.fetch, places)) as batches:
                    self._train_on(batches, interrupt)

    def finish(self) -> TrainingResult:
        """Evaluate the best weights on the test states, and write the report and the model."""
        weights = self._best_weights()
        logits = self.job.logits(self.trainer, self.job.devices.whole(weights), self.job.test)
        return outcome.finish(self.job, self.status, self.trainer.module(weights), logits)

    def _network(self, newest: Checkpoint | None) -> Any:
        """Return the network to train. The weights of a run that continues are in its checkpoint."""
        if newest is None:
            return initial_network(self.config, self.job.dataset)
        return build(self.config.body, self.config.options, self.job.dataset.layout, seed=0)

    def _restore(self, newest: Checkpoint) -> None:
        self.state = self.job.devices.whole(tree_from(self.state, newest.tensors))
        self._best = {name: value for name, value in newest.tensors.items() if name.startswith("best")}
        if self.status.stopped == "minutes" and not self.status.is_time_up(self.config.minutes):
            self.status.stopped = ""  # the config allows more minutes than it did

    def _train_on(self, batches: Iterable[tuple[jax.Array, jax.Array]], interrupt: DelayedInterrupt) -> None:
        """Take a step with each batch. After each step, validate and write a checkpoint if these are due."""
        status = self.status
        self._timer.start()
        for rows, labels in batches:
            self.state, loss = self.trainer.step(self.state, rows, labels)
            self._losses.append(loss)
            status.step += 1
            self._wait(_IN_FLIGHT)
            self._timer.stop(status, lambda: self._wait(0))
            status.stop_at_limits(self.config, self.total)
            self._progress.show(status)
            if has_validated := self._is_validation_due():
                self._validate()
            if interrupt.came or status.stopped or self._is_checkpoint_due(has_validated):
                self._save()
            if interrupt.came:
                raise KeyboardInterrupt
            if status.stopped:
                return
            self._timer.start()

    def _wait(self, in_flight: int) -> None:
        """Wait for all steps but the last few, and add up their losses. Raises CardaiError if one is not finite."""
        while len(self._losses) > in_flight:
            loss = float(self._losses.popleft())
            if not math.isfinite(loss):
                raise CardaiError(
                    f"the loss is {loss} at step {self.status.step - len(self._losses)}: training has diverged;"
                    f" try a learning_rate below {self.config.learning_rate:g}, or clip 1"
                )
            self.status.loss += loss
            self.status.losses += 1

    def _is_validation_due(self) -> bool:
        step, every = self.status.step, self.config.check_steps
        return bool(step % self.job.per_epoch == 0 or (every and step % every == 0) or self.status.stopped)

    def _validate(self) -> None:
        """Evaluate the present weights on the validation states. If they are best, keep them and write the model."""
        self._wait(0)
        status, states, metrics = self.status, self.job.validation, None
        if len(states):
            logits = self.job.logits(self.trainer, self.trainer.weights(self.state), states)
            metrics = measure(logits, self.job.dataset.labels[states]).as_json()
        line = {
            "step": status.step,
            "epoch": round(status.step / self.job.per_epoch, 4),
            "loss": status.loss / status.losses,
            "learning_rate": np.asarray(self.trainer.rate(status.step - 1)).item(),
            "validation": metrics,
            "states_per_second": round(status.states_per_second(self.config.batch)),
            "seconds": round(status.seconds, 1),
        }
        self._log.add(line)
        if status.add_validation(line, self.config.patience):
            self._best = named_arrays(self.trainer.weights(self.state), "best")
            module = self.trainer.module(self._best_weights())
            outcome.write_model(self.job, status, module, {"validation": metrics})

    def _best_weights(self) -> tuple[Any, Any]:
        """Return the weights of the best validation, or the last weights without a validation part.

        They are on the first device alone.
        """
        return jax.device_put(tree_from(self.trainer.weights(self.state), self._best, "best"), self.job.devices.first)

    def _is_checkpoint_due(self, has_validated: bool) -> bool:
        minutes = self.config.checkpoint_minutes
        return time.perf_counter() - self._saved > 60 * minutes if minutes else has_validated

    def _save(self) -> None:
        self._wait(0)
        tensors = named_arrays(self.state) | self._best
        checkpoint.save(self.job.folder, Checkpoint(self.status.step, self.job.identity, tensors, asdict(self.status)))
        self._saved = time.perf_counter()


def _status(folder: Path, newest: Checkpoint) -> RunStatus:
    """Return where a run stood at its newest checkpoint. Raises CardaiError if the checkpoint does not say so."""
    try:
        return RunStatus.from_json(newest.status)
    except CardaiError as error:
        place = checkpoint.listed(folder)[-1]
        raise CardaiError(f"{place} is damaged: {error}; delete it to continue from an older one") from None
