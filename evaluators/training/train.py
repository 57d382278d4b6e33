"""Training: records of games in, a model out, in a folder that a stopped run goes on in, to the same bits.

    result = train(read_config("nn1.toml"))

A run's folder holds `config.toml`, `metrics.jsonl` (a line a validation), `tb/` for TensorBoard, two checkpoints,
`model.safetensors` (the best so far by validation), and at the end `report.json` and figures.
"""

import contextlib
import json
import math
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import jax
import numpy as np
from flax import nnx

from cardai.data.dataset import Dataset
from cardai.data.files import write_text
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.progress import Progress
from cardai.registry import load
from evaluators.bodies.build import build
from evaluators.bodies.options import as_plain as as_plain_options
from evaluators.bodies.options import options_of
from evaluators.model import Model
from evaluators.model import load as load_model
from evaluators.network_file import set_tensors
from evaluators.network_file import tensors_of as network_tensors
from evaluators.scorer import device_of
from evaluators.training import checkpoint, report
from evaluators.training.batches import collect, epoch_order, in_advance, split_states, total_steps
from evaluators.training.checkpoint import Checkpoint
from evaluators.training.config import TrainConfig, command
from evaluators.training.metrics import Metrics, measure
from evaluators.training.run_folder import BOARD, HISTORY, MODEL, REPORT, claimed
from evaluators.training.trainer import Trainer, TrainState, evaluated, named_arrays, tree_from

_IN_FLIGHT = 2  # steps handed to the device before the oldest one's loss is waited for
_SHOW_SECONDS = 0.2
_PROBED_SECONDS = 5.0  # how long the speed is measured that a run of so many minutes is planned from


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended. `stopped`: what ended it, "epochs", "steps", "minutes" or "patience".

    `seconds`: from start to end over all parts of the run; `states_per_second`: while learning. `validation`: the
    figures of the step whose weights were kept, None without validation; `report`: what `report.json` holds.
    """

    folder: Path
    model: Path
    stopped: str
    steps: int
    best_step: int
    seconds: float
    states_per_second: float
    validation: Metrics | None
    report: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The report, and where the run and its model lie."""
        return {"folder": str(self.folder), "model": str(self.model), **self.report}

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        speed = f"{self.states_per_second:,.0f} states/s"
        title = f"{self.model}: step {self.best_step} of {self.steps}, stopped by {self.stopped}, {speed}"
        return report.table(self.report, title)


def train(config: TrainConfig, progress: Progress | None = None, overwrite: bool = False) -> TrainingResult:
    """Train a network as a config says, or go on with a run that was stopped, and report on it.

    In a folder with a run of the same config, that run goes on: its weights come out the same, to the bit, as if it had
    never been stopped (on the same machine; the order of data depends on seed and epoch alone). A folder with another
    run is refused with CardaiError unless `overwrite` is given, which begins anew. Ctrl-C ends after the step under
    way, with a checkpoint, by KeyboardInterrupt. Raises CardaiError for data that does not fit, too.
    """
    game, device = load(config.game), device_of(config.device)
    with claimed(Path(config.out), config, overwrite):
        dataset = collect(config, game, progress)
        with jax.default_device(device), _Run(config, game, dataset, device, progress) as run:
            run.learn()
            return run.finish()


def network(config: TrainConfig, dataset: Dataset) -> nnx.Module:
    """The network a run begins with. CardaiError when the model it is to start from is not of the same kind."""
    module = build(config.body, config.options, dataset.layout, config.seed)
    if config.start_from is None:
        return module
    model = load_model(config.start_from)
    for what, theirs, ours in (
        ("game", model.metadata.game, dataset.game),
        ("encoder", model.metadata.encoder, dataset.recipe.encoder),
        ("layout", model.metadata.segments, dataset.layout),
        ("body", model.metadata.body, config.body),
        ("options", dict(model.metadata.body_options), as_plain_options(options_of(config.body, config.options))),
    ):
        if theirs != ours:
            raise CardaiError(f"{config.start_from} cannot be started from: its {what} is {theirs}, this run's {ours}")
    set_tensors(module, network_tensors(model.module))
    return module


@dataclass
class _Course:
    """Where a run is, besides its arrays; kept in checkpoints as JSON."""

    planned: int = 0  # steps that fit into the minutes, when the schedule must know the end
    step: int = 0
    seconds: float = 0.0
    timed_seconds: float = 0.0  # of steps alone, the first of each part of the run (which compiles) not counted
    timed_steps: int = 0
    loss: float = 0.0  # sum over the steps since the last validation
    losses: int = 0  # their number
    best_step: int = 0
    best: dict[str, Any] | None = None  # the line of `history` that belongs to it
    worse: int = 0  # validations since then
    history: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""


class _Run:
    """A run under way: takes up its newest checkpoint, learns, finishes. Left as a context, it closes its files."""

    def __init__(
        self, config: TrainConfig, game: Game, dataset: Dataset, device: Any, progress: Progress | None
    ) -> None:
        self.config, self.game, self.dataset, self.device, self.progress = config, game, dataset, device, progress
        self.folder = Path(config.out)
        self.identity = {"config": config.fingerprint(), "data": dataset.digest}
        self.training, self.validation, self.test = split_states(config, dataset)
        self.per_epoch = len(self.training) // config.batch
        self._pending: deque[jax.Array] = deque()
        self._began = self._mark = self._saved = self._shown = time.perf_counter()
        self._is_warm = False

        found = checkpoint.newest(self.folder, self.identity)
        self.course = _Course(**found.facts) if found else _Course(planned=self._planned())
        self.total = self.course.planned or total_steps(config, self.per_epoch)
        module = network(config, dataset) if not found else build(config.body, config.options, dataset.layout, 0)
        self.trainer = Trainer(module, config, self.total)
        self.state = jax.device_put(self.trainer.start(), device)
        self.best: dict[str, np.ndarray] = {}
        if found:
            parts = [
                tree_from(part, found.tensors, name) for name, part in zip(TrainState._fields, self.state, strict=True)
            ]
            self.state = jax.device_put(TrainState(*parts), device)
            self.best = {name: value for name, value in found.tensors.items() if name.startswith("best")}
        if self.course.stopped == "minutes" and not self._time_is_up():
            self.course.stopped = ""  # it was given more time since
        self._earlier = self.course.seconds  # of the run's parts before this one
        write_text(self.folder / HISTORY, "".join(f"{json.dumps(line)}\n" for line in self.course.history))
        from tensorboardX import SummaryWriter

        self._board = SummaryWriter(str(self.folder / BOARD), purge_step=self.course.step + 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._board.close()

    def learn(self) -> None:
        """Step until something ends the run."""
        with _Interrupt() as interrupt:
            while not self.course.stopped:
                epoch, done = divmod(self.course.step, self.per_epoch)
                order, batch = epoch_order(self.config.seed, epoch, self.training), self.config.batch
                places = (order[i * batch : (i + 1) * batch] for i in range(done, self.per_epoch))
                with contextlib.closing(in_advance(self._fetched, places)) as batches:
                    self._learn_from(batches, interrupt)

    def finish(self) -> TrainingResult:
        """Judge the best weights by the test states; write report, model and figures."""
        course, config = self.course, self.config
        logits = self._logits(self.test, self._kept())
        found = self._report(logits)
        write_text(self.folder / REPORT, json.dumps(found, indent=2) + "\n")
        self._write_model(found)
        populations = report.priors(config, self.game, self.dataset.seats)
        title = f"{self.game.title}: {config.body}, {config.moment}"
        report.draw(self.folder, title, course.history, logits, self.dataset.labels[self.test], populations)
        return TrainingResult(
            folder=self.folder,
            model=self.folder / MODEL,
            stopped=course.stopped,
            steps=course.step,
            best_step=course.best_step,
            seconds=course.seconds,
            states_per_second=self._speed(),
            validation=Metrics.from_json(found["validation"]) if found["validation"] else None,
            report=found,
        )

    def _learn_from(self, batches: Iterable[tuple[jax.Array, jax.Array]], interrupt: "_Interrupt") -> None:
        self._mark = time.perf_counter()
        for rows, labels in batches:
            self.state, loss = self.trainer.step(self.state, rows, labels)
            self._pending.append(loss)
            self.course.step += 1
            self._settle(_IN_FLIGHT)
            self._clock()
            self._show()
            if has_validated := self._validation_due():
                self._validate()
            if interrupt.came or self.course.stopped or self._checkpoint_due(has_validated):
                self._save()
            if interrupt.came:
                raise KeyboardInterrupt
            if self.course.stopped:
                return
            self._mark = time.perf_counter()

    def _fetched(self, places: np.ndarray) -> tuple[jax.Array, jax.Array]:
        return jax.device_put((self.dataset.take(places), self.dataset.labels[places]), self.device)

    def _settle(self, in_flight: int) -> None:
        """Wait for all steps but the last few, and add up their losses."""
        while len(self._pending) > in_flight:
            loss = float(self._pending.popleft())
            if not math.isfinite(loss):
                raise CardaiError(
                    f"the loss is {loss} at step {self.course.step - len(self._pending)}: the weights have run away;"
                    f" try a learning_rate below {self.config.learning_rate:g}, or clip 1"
                )
            self.course.loss += loss
            self.course.losses += 1

    def _clock(self) -> None:
        """Count the time of a step, and see whether the run is over."""
        course = self.course
        if not self._is_warm:
            self._settle(0)
            self._is_warm, self._mark = True, time.perf_counter()
        now = time.perf_counter()
        if now > self._mark:
            course.timed_seconds += now - self._mark
            course.timed_steps += 1
        course.seconds = self._earlier + now - self._began
        if self.total is not None and course.step >= self.total:
            by_steps = course.step == self.config.steps
            course.stopped = "minutes" if course.planned else "steps" if by_steps else "epochs"
        elif self._time_is_up():
            course.stopped = "minutes"

    def _time_is_up(self) -> bool:
        """Whether the minutes are over; a run whose steps were planned from them makes all its steps."""
        if self.course.planned:
            return self.course.step >= self.course.planned
        return 0 < 60 * self.config.minutes <= self.course.seconds

    def _validation_due(self) -> bool:
        step, every = self.course.step, self.config.check_steps
        return bool(step % self.per_epoch == 0 or (every and step % every == 0) or self.course.stopped)

    def _checkpoint_due(self, has_validated: bool) -> bool:
        minutes = self.config.checkpoint_minutes
        return time.perf_counter() - self._saved > 60 * minutes if minutes else has_validated

    def _validate(self) -> None:
        """Judge the weights as they are; keep them and write the model if they are the best so far."""
        self._settle(0)
        course, found, places = self.course, None, self.validation
        if len(places):
            found = measure(self._logits(places, self.trainer.weights(self.state)), self.dataset.labels[places])
        line = {
            "step": course.step,
            "epoch": round(course.step / self.per_epoch, 4),
            "loss": course.loss / course.losses,
            "learning_rate": np.asarray(self.trainer.rate(course.step - 1)).item(),
            "validation": found.as_json() if found else None,
            "states_per_second": round(self._speed()),
            "seconds": round(course.seconds, 1),
        }
        course.loss, course.losses = 0.0, 0
        course.history.append(line)
        self._log(line)
        if found is None or course.best is None or found.bce < course.best["validation"]["bce"]:
            course.best, course.best_step, course.worse = line, course.step, 0
            self.best = named_arrays(self.trainer.weights(self.state), "best")
            self._write_model({"validation": line["validation"]})
        else:
            course.worse += 1
            if self.config.patience and course.worse >= self.config.patience and not course.stopped:
                course.stopped = "patience"

    def _log(self, line: Mapping[str, Any]) -> None:
        """Add a line to the history, in the file and for TensorBoard."""
        place = self.folder / HISTORY
        try:
            with place.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None
        figures = {"loss": line["loss"], "learning rate": line["learning_rate"]}
        figures |= {f"validation/{name}": value for name, value in (line["validation"] or {}).items()}
        for name, value in figures.items():
            if value is not None:
                self._board.add_scalar(name, value, line["step"])
        self._board.flush()

    def _logits(self, places: np.ndarray, weights: tuple[Any, Any]) -> np.ndarray:
        """The logits of some states in evaluation mode, f4[n]."""
        step = evaluated(self.config.batch)
        parts = (places[first : first + step] for first in range(0, len(places), step))
        logits = np.zeros(len(places), np.float32)
        with contextlib.closing(in_advance(self.dataset.take, parts)) as chunks:
            for i, rows in enumerate(chunks):
                padded = np.zeros((step, rows.shape[1]), np.uint8)
                padded[: len(rows)] = rows
                found = np.asarray(self.trainer.logits(weights, jax.device_put(padded, self.device)))
                logits[i * step : i * step + len(rows)] = found[: len(rows)]
        return logits

    def _save(self) -> None:
        self._settle(0)
        parts = zip(TrainState._fields, self.state, strict=True)
        tensors = {name: value for prefix, part in parts for name, value in named_arrays(part, prefix).items()}
        now = Checkpoint(self.course.step, self.identity, tensors | self.best, asdict(self.course))
        checkpoint.save(self.folder, now)
        self._saved = time.perf_counter()

    def _kept(self) -> tuple[Any, Any]:
        """The weights that are kept: those of the best validation, or the last without one."""
        return jax.device_put(tree_from(self.trainer.weights(self.state), self.best, "best"), self.device)

    def _write_model(self, found: Mapping[str, Any]) -> None:
        """Write the best weights as a model, with what is known of them."""
        config, dataset = self.config, self.dataset
        if self.course.planned:  # so that the command makes the same run wherever it is given
            config = replace(config, steps=self.course.planned, minutes=0.0)
        model = Model.of(
            self.game,
            self.trainer.module(self._kept()),
            body=config.body,
            body_options=config.options,
            moment=config.moment,
            seats=dataset.seats,
            variant=dataset.variant,
            encoder=dataset.recipe.encoder,
            training=config.identity(),
            data=dataset.about(),
            metrics=dict(found),
            seconds=round(self.course.seconds, 1),
            command=command(config),
        )
        model.save(self.folder / MODEL)

    def _report(self, logits: np.ndarray) -> dict[str, Any]:
        course = self.course
        found: dict[str, Any] = {
            "stopped": course.stopped,
            "steps": course.step,
            "best_step": course.best_step,
            "seconds": round(course.seconds, 1),
            "states_per_second": round(self._speed()),
            "states": {"training": len(self.training), "validation": len(self.validation), "test": len(self.test)},
            "split_by": self.config.split_by,
            "validation": course.best and course.best["validation"],
        }
        if not len(self.test):
            return found
        return found | report.judged(self.config, self.game, self.dataset, self.test, logits)

    def _speed(self) -> float:
        """States learned from in a second, validations and checkpoints not counted; 0 when that is not known yet."""
        course = self.course
        return course.timed_steps * self.config.batch / course.timed_seconds if course.timed_seconds else 0.0

    def _show(self) -> None:
        now, course = time.perf_counter(), self.course
        if self.progress is None or not course.losses or now - self._shown < _SHOW_SECONDS:
            return
        self._shown = now
        best = f", best {course.best['validation']['bce']:.4f}" if course.best and course.best["validation"] else ""
        epoch = f"epoch {(course.step - 1) // self.per_epoch + 1}"
        words = f"{epoch}: loss {course.loss / course.losses:.4f}{best}, {self._speed():,.0f} states/s"
        if self.total is not None:
            self.progress(course.step, self.total, words)
        else:
            self.progress(round(course.seconds), round(60 * self.config.minutes), words)

    def _planned(self) -> int:
        """How many steps fit into the minutes, by the speed of some that are then forgotten; 0 if it need not be known.

        A tenth is left for validations and checkpoints.
        """
        config = self.config
        if config.schedule != "cosine" or config.epochs or config.steps:
            return 0
        trainer = Trainer(network(config, self.dataset), replace(config, schedule="constant", warm_up=0), None)
        state, batch = jax.device_put(trainer.start(), self.device), self._fetched(self.training[: config.batch])
        state, loss = trainer.step(state, *batch)
        loss.block_until_ready()
        began, steps = time.perf_counter(), 0
        while time.perf_counter() - began < _PROBED_SECONDS:
            state, loss = trainer.step(state, *self._fetched(self.training[: config.batch]))
            loss.block_until_ready()
            steps += 1
        seconds = (time.perf_counter() - began) / steps
        return max(1, round(0.9 * 60 * config.minutes / seconds))


class _Interrupt:
    """Turns the first Ctrl-C into `came`, so that a step is not torn; the second one is not held back."""

    def __init__(self) -> None:
        self.came = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: object) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
