"""Training: records of games in, a model out, in a folder that a stopped run goes on in, to the same bits.

    result = train(read_config("nn1.toml"))

A run's folder holds `config.toml`, `metrics.jsonl` (a line a validation), `tb/` for TensorBoard, two checkpoints,
`model.safetensors` (the best so far by validation), and at the end `report.json` and the figures `losses.png` and
`reliability.png`.
"""

import contextlib
import json
import math
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import jax
import numpy as np

from cardai import features
from cardai.features import Dataset, Recipe
from cardai.game import CardaiError, Game, Phase
from cardai.registry import load
from evaluators import checkpoint, metrics
from evaluators.bodies import build
from evaluators.checkpoint import Checkpoint
from evaluators.config import TrainConfig, command, difference, read_config, write_config
from evaluators.learner import Learner, State, evaluated, tensors_of, tree_of
from evaluators.metrics import Metrics, measure
from evaluators.model import FILE as MODEL
from evaluators.model import Model
from evaluators.scorer import device as device_of

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what is being done) a few times a second."""

CONFIG, HISTORY, REPORT = "config.toml", "metrics.jsonl", "report.json"
FIGURES = ("losses.png", "reliability.png")
BOARD = "tb"

_IN_FLIGHT = 2  # steps handed to the device before the oldest one's loss is waited for
_SHOW_SECONDS = 0.2
_CHUNK = 16384  # test states looked at in one go
_AHEAD = 2  # batches made ready before they are needed

T, U = TypeVar("T"), TypeVar("U")


@dataclass(frozen=True)
class Result:
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
        from rich.table import Table

        speed = f"{self.states_per_second:,.0f} states a second"
        title = f"{self.model}: step {self.best_step} of {self.steps} (stopped by {self.stopped}), {speed}"
        table = Table("states", "number", "BCE", "floor", "accuracy %", "Brier", "ECE", title=title, title_justify="left")
        for column in table.columns[1:]:
            column.justify = "right"
        for name, found in _told(self.report):
            table.add_row(name, f"{found.n:,}", *_figures(found))
        return table


def _told(report: Mapping[str, Any]) -> Iterator[tuple[str, Metrics]]:
    """The figures of a report, each with the states it is for."""
    if report["validation"]:
        yield "validation", Metrics.from_json(report["validation"])
    for name, found in report.get("test", {}).items():
        yield ("test" if name == "split" else f"test, {name}"), Metrics.from_json(found)
    for phase, parts in report.get("phases", {}).items():
        for part, found in parts.items():
            yield f"test, {phase} {part}", Metrics.from_json(found["split"])


def _figures(found: Metrics) -> list[str]:
    figures = found.bce, found.floor, 100 * found.accuracy, found.brier, found.ece
    digits = 4, 4, 1, 4, 4
    return [f"{one:.{places}f}" if math.isfinite(one) else "-" for one, places in zip(figures, digits, strict=True)]


@dataclass
class _Course:
    """Where a run is, besides its arrays; kept in checkpoints as JSON."""

    step: int = 0
    seconds: float = 0.0
    learning_seconds: float = 0.0
    loss: float = 0.0  # sum over the steps since the last validation
    losses: int = 0  # their number
    best_step: int = 0
    best: dict[str, Any] | None = None  # the line of `history` that belongs to it
    worse: int = 0  # validations since then
    history: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""


def train(config: TrainConfig, progress: Progress | None = None, overwrite: bool = False) -> Result:
    """Train a network as a config says, or go on with a run that was stopped, and report on it.

    In a folder with a run of the same config, that run goes on: its weights come out the same, to the bit, as if it had
    never been stopped (on the same machine; the order of data depends on seed and epoch alone). A folder with another
    run is refused with CardaiError unless `overwrite` is given, which begins anew. Ctrl-C ends after the step under
    way, with a checkpoint, by KeyboardInterrupt. Raises CardaiError for data that does not fit, too.
    """
    folder, game = Path(config.out), load(config.game)
    _claim(folder, config, overwrite)
    device = device_of(config.device)
    dataset = collect(config, game, progress)
    with jax.default_device(device), _Run(config, game, dataset, device, progress) as run:
        run.go_on()
        run.learn()
        return run.finish()


def collect(config: TrainConfig, game: Game, progress: Progress | None = None) -> Dataset:
    """The states that a config learns from. Raises CardaiError when its records do not fit it."""
    recipe = Recipe(
        encoder=config.encoder or next(iter(game.encoders), ""),
        moment=config.moment,
        states=config.states,
        per_game=config.per_game,
        balance=config.balance,
        label=config.label,
    )
    dataset = features.collect(
        config.data,
        recipe,
        game=game,
        seed=config.seed,
        threads=config.threads,
        limit=config.limit or None,
        progress=progress,
    )
    if config.variant is not None and dataset.variant != config.variant:
        raise CardaiError(f"the records are of the variant {dataset.variant}, not {config.variant}")
    return dataset


def epoch_order(seed: int, epoch: int, training: np.ndarray) -> np.ndarray:
    """The order in which an epoch takes the training states, i[n]: theirs in a random order that depends on no more."""
    return np.random.default_rng([seed, epoch]).permutation(training)


def total_steps(config: TrainConfig, per_epoch: int) -> int | None:
    """After how many steps a run ends at the latest; None when only time ends it."""
    limits = [config.epochs * per_epoch] * (config.epochs > 0) + [config.steps] * (config.steps > 0)
    return min(limits, default=None)


class _Run:
    """A run while it is under way; left as a context, it gives back the interrupt handler and closes its files."""

    def __init__(
        self, config: TrainConfig, game: Game, dataset: Dataset, device: jax.Device, progress: Progress | None
    ) -> None:
        self.config, self.game, self.dataset, self.device, self.progress = config, game, dataset, device, progress
        self.folder, self.course = Path(config.out), _Course()
        self.training, self.validation, self.test = parted(config, dataset)
        self.per_epoch = len(self.training) // config.batch
        self.total = total_steps(config, self.per_epoch)
        module = build(config.body, config.options, dataset.layout, config.seed)
        self.learner = Learner(module, config, self.total)
        self.identity = {"config": config.fingerprint(), "data": dataset.digest}
        self.state = jax.device_put(self.learner.start(), device)
        self.best: dict[str, np.ndarray] = {}
        self._pending: deque[jax.Array] = deque()
        self._interrupt = _Interrupt()
        self._board: Any = None
        self._began = self._mark = self._saved = self._shown = time.perf_counter()
        self._earlier = 0.0  # seconds of the run's parts before this one

    def __enter__(self) -> Self:
        self._interrupt.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._interrupt.__exit__(kind, error, trace)
        if self._board is not None:
            self._board.close()

    def go_on(self) -> None:
        """Take up where the folder's newest checkpoint is, if there is one."""
        found = checkpoint.newest(self.folder, self.identity)
        if found is not None:
            self.course = _Course(**found.facts)
            self._earlier = self.course.seconds
            parts = [tree_of(part, found.tensors, name) for name, part in zip(State._fields, self.state, strict=True)]
            self.state = jax.device_put(State(*parts), self.device)
            self.best = {name: value for name, value in found.tensors.items() if name.startswith("best")}
        _write_text(self.folder / HISTORY, "".join(f"{json.dumps(line)}\n" for line in self.course.history))
        from tensorboardX import SummaryWriter

        self._board = SummaryWriter(str(self.folder / BOARD), purge_step=self.course.step + 1)

    def learn(self) -> None:
        """Step until something ends the run."""
        while not self.course.stopped:
            epoch, done = divmod(self.course.step, self.per_epoch)
            order, batch = epoch_order(self.config.seed, epoch, self.training), self.config.batch
            places = (order[i * batch : (i + 1) * batch] for i in range(done, self.per_epoch))
            with contextlib.closing(in_advance(self._fetched, places)) as batches:
                self._learn_from(batches)

    def finish(self) -> Result:
        """Judge the best weights by the test states, write report, figures and model."""
        course = self.course
        logits = self._logits(self.test, self._kept())
        report = self._report(logits)
        _write_text(self.folder / REPORT, json.dumps(report, indent=2) + "\n")
        self._write_model(report)
        self._draw(logits)
        best = course.best and course.best["validation"]
        return Result(
            folder=self.folder,
            model=self.folder / MODEL,
            stopped=course.stopped,
            steps=course.step,
            best_step=course.best_step,
            seconds=course.seconds,
            states_per_second=self._speed(),
            validation=Metrics.from_json(best) if best else None,
            report=report,
        )

    def _learn_from(self, batches: Iterable[tuple[jax.Array, jax.Array]]) -> None:
        self._mark = time.perf_counter()
        for rows, labels in batches:
            self.state, loss = self.learner.step(self.state, rows, labels)
            self._pending.append(loss)
            self.course.step += 1
            self._settle(_IN_FLIGHT)
            self._clock()
            self._stop_if_over()
            self._show()
            if self._validation_due():
                self._validate()
            if self._interrupt.came or self.course.stopped or self._checkpoint_due():
                self._save()
            if self._interrupt.came:
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
        now = time.perf_counter()
        self.course.learning_seconds += now - self._mark
        self.course.seconds = self._earlier + now - self._began

    def _stop_if_over(self) -> None:
        if self.total is not None and self.course.step >= self.total:
            self.course.stopped = "steps" if self.course.step == self.config.steps else "epochs"
        elif self.config.minutes and self.course.seconds >= 60 * self.config.minutes:
            self.course.stopped = "minutes"

    def _validation_due(self) -> bool:
        step, every = self.course.step, self.config.check_steps
        return bool(step % self.per_epoch == 0 or (every and step % every == 0) or self.course.stopped)

    def _checkpoint_due(self) -> bool:
        minutes = self.config.checkpoint_minutes
        return time.perf_counter() - self._saved > 60 * minutes if minutes else not self.course.losses

    def _validate(self) -> None:
        """Judge the weights as they are; keep them and write the model if they are the best so far."""
        self._settle(0)
        self._mark = time.perf_counter()
        course, found = self.course, None
        if len(self.validation):
            found = measure(self._logits(self.validation, self.learner.weights(self.state)), self.dataset.labels[self.validation])
        line = {
            "step": course.step,
            "epoch": round(course.step / self.per_epoch, 4),
            "loss": course.loss / course.losses,
            "learning_rate": float(self.learner.rate(course.step - 1)),
            "validation": found.as_json() if found else None,
            "states_per_second": round(self._speed()),
            "seconds": round(course.seconds, 1),
        }
        course.loss, course.losses = 0.0, 0
        course.history.append(line)
        with (self.folder / HISTORY).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._plot(line)
        if found is None or course.best is None or found.bce < course.best["validation"]["bce"]:
            course.best, course.best_step, course.worse = line, course.step, 0
            self.best = tensors_of(self.learner.weights(self.state), "best")
            self._write_model({"validation": line["validation"]})
        else:
            course.worse += 1
            if self.config.patience and course.worse >= self.config.patience and not course.stopped:
                course.stopped = "patience"

    def _logits(self, places: np.ndarray, weights: tuple[Any, Any]) -> np.ndarray:
        """The logits of some states in evaluation mode, f4[n]."""
        step = evaluated(self.config.batch)
        parts = (places[first : first + step] for first in range(0, len(places), step))
        logits = np.zeros(len(places), np.float32)
        with contextlib.closing(in_advance(self.dataset.take, parts)) as chunks:
            for i, rows in enumerate(chunks):
                padded = np.zeros((step, rows.shape[1]), np.uint8)
                padded[: len(rows)] = rows
                found = np.asarray(self.learner.logits(weights, jax.device_put(padded, self.device)))
                logits[i * step : i * step + len(rows)] = found[: len(rows)]
        return logits

    def _save(self) -> None:
        self._settle(0)
        parts = zip(State._fields, self.state, strict=True)
        tensors = {name: value for field, part in parts for name, value in tensors_of(part, field).items()}
        checkpoint.save(
            self.folder, Checkpoint(self.course.step, self.identity, tensors | self.best, asdict(self.course))
        )
        self._saved = time.perf_counter()

    def _kept(self) -> tuple[Any, Any]:
        """The weights that are kept: those of the best validation, or the last without one."""
        return jax.device_put(tree_of(self.learner.weights(self.state), self.best, "best"), self.device)

    def _write_model(self, found: Mapping[str, Any]) -> None:
        """Write the best weights as a model, with what is known of them."""
        config, dataset = self.config, self.dataset
        model = Model.of(
            self.game,
            self.learner.module(self._kept()),
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
        course, dataset = self.course, self.dataset
        report: dict[str, Any] = {
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
            return report
        labels = dataset.labels[self.test]
        intervals = metrics.intervals(logits, labels, dataset.game_of[self.test], self.config.seed)
        found = {"test": self._judged(logits, labels), "intervals": intervals}
        return report | found | {"phases": self._by_phase(logits, labels)}

    def _priors(self) -> dict[str, float | None]:
        """The populations that the test is reported for, by the share of label 1 in them; None: as it is."""
        fair = self.game.score_sum(self.dataset.seats)
        natural = fair / self.dataset.seats if fair and self.config.balance != "natural" else None
        named: dict[str, float | None] = {"split": None, "balanced": 0.5}
        return named | ({"natural": natural} if natural else {})

    def _judged(self, logits: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
        found: dict[str, Any] = {
            name: measure(logits, labels, prior).as_json() for name, prior in self._priors().items()
        }
        return found

    def _by_phase(self, logits: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
        """The figures of each part of each phase of the game, as it is in the split and as it is in a balanced one."""
        found: dict[str, Any] = {}
        share = float(np.mean(labels))
        for name, phase in features.phases_in(self.game, self.dataset.layout).items():
            numbers = self._numbers(phase)
            found[name] = {
                phase.name(int(number)): {
                    kind: measure(logits[numbers == number], labels[numbers == number], prior, share).as_json()
                    for kind, prior in self._priors().items()
                }
                for number in np.unique(numbers)
            }
        return found

    def _numbers(self, phase: Phase) -> np.ndarray:
        """Which part of a phase each test state is in, i[n]."""
        parts = (self.test[first : first + _CHUNK] for first in range(0, len(self.test), _CHUNK))
        rows = (self.dataset.take(part) for part in parts)
        return np.concatenate([features.phase_of(phase, self.dataset.layout, some) for some in rows])

    def _draw(self, logits: np.ndarray) -> None:
        """The figures: losses over epochs, and calibration on the test states."""
        history = self.course.history
        lines = {"training": ([line["epoch"] for line in history], [line["loss"] for line in history])}
        checked = [line for line in history if line["validation"]]
        if checked:
            losses = [line["validation"]["bce"] for line in checked]
            lines["validation"] = ([line["epoch"] for line in checked], losses)
        floor = checked[-1]["validation"]["floor"] if checked else None
        metrics.draw_losses(lines, f"{self.game.title}: {self.config.body}", self.folder / FIGURES[0], floor)
        if len(self.test):
            labels = self.dataset.labels[self.test]
            curves = {name: metrics.reliability(logits, labels, prior) for name, prior in self._priors().items()}
            metrics.draw_reliability(curves, f"{self.game.title}: {self.config.body}", self.folder / FIGURES[1])

    def _plot(self, line: Mapping[str, Any]) -> None:
        figures = {"loss": line["loss"], "learning rate": line["learning_rate"]}
        figures |= {f"validation/{name}": value for name, value in (line["validation"] or {}).items() if value is not None}
        for name, value in figures.items():
            self._board.add_scalar(name, value, line["step"])
        self._board.flush()

    def _speed(self) -> float:
        """States learned from in a second, validations and checkpoints not counted."""
        return self.course.step * self.config.batch / max(self.course.learning_seconds, 1e-9)

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


def in_advance(work: Callable[[T], U], items: Iterable[T], ahead: int = _AHEAD) -> Iterator[U]:
    """What `work` makes of each item, in order, done by another thread a few items before it is asked for."""
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[Any] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()


def parted(config: TrainConfig, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places of the training, validation and test states. CardaiError where a part that is asked for is empty."""
    parts = features.split(dataset, config.split_by, config.parts, config.seed)
    sizes = [len(part) for part in parts]
    for name, share, size in zip(("training", "validation", "test"), config.parts, sizes, strict=True):
        if share and not size:
            raise CardaiError(
                f"the {name} part is empty: parts {list(config.parts)} of {len(dataset):,} states from"
                f" {len(dataset.seeds):,} games; give more games or other parts"
            )
    if sizes[0] < config.batch:
        raise CardaiError(f"batch {config.batch} is larger than the {sizes[0]} training states; give a smaller one")
    return parts


def _claim(folder: Path, config: TrainConfig, overwrite: bool) -> None:
    """Make the run's folder ready, or refuse it: it must be new, empty, or hold this run."""
    place = folder / CONFIG
    try:
        if place.exists() and not overwrite:
            changed = difference(read_config(place), config)
            if changed:
                raise CardaiError(
                    f"{folder} holds another run, with {changed}; choose another folder or ask for it to be overwritten"
                )
        elif place.exists():
            _clear(folder)
        elif folder.is_dir() and any(folder.iterdir()):
            raise CardaiError(f"{folder} is not a run's folder: it holds files but no {CONFIG}; choose another")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CardaiError(f"cannot write to {folder}: {error.strerror or error}") from None
    write_config(config, place)


def _clear(folder: Path) -> None:
    """Remove what a run leaves in its folder, and nothing else."""
    checkpoint.clear(folder)
    for name in (HISTORY, MODEL, REPORT, *FIGURES):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / BOARD, ignore_errors=True)


def _write_text(place: Path, text: str) -> None:
    try:
        checkpoint.write_whole(place, text.encode())
    except OSError as error:
        raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None
