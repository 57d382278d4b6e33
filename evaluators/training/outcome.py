"""What a training run writes at its end: its model, its report, and the result that the caller gets."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from flax import nnx

from cardai.evaluators.model import FILE as MODEL
from cardai.evaluators.model import Model
from cardai.evaluators.training import report
from cardai.evaluators.training.config import AUTO, command
from cardai.evaluators.training.job import TrainingJob
from cardai.evaluators.training.metrics import Metrics, Reliability
from cardai.evaluators.training.run_folder import REPORT
from cardai.evaluators.training.run_status import RunStatus
from cardai.files import settings
from cardai.files.writing import write_text
from cardai.playing.stats.report import Report


@dataclass(frozen=True)
class TrainingResult(Report, drawn_by="cardai.evaluators.training.show_training:table"):
    """How a training run ended.

    `title`: the game, the body and the moment.
    `stopped`: what ended the run, "epochs", "steps", "minutes" or "patience".
    `best_step`: the step whose weights are in the model.
    `seconds`: how long the run took, over all calls. `states_per_second`: the speed of training alone.
    `validation`: the metrics of the best step; None without a validation part.
    `report`: what `report.json` holds.
    `history`: a line for each validation.
    `calibration`: predictions and outcomes of the test states, by population; empty without a test part.
    """

    folder: Path
    model: Path
    title: str
    stopped: str
    steps: int
    best_step: int
    seconds: float
    states_per_second: float
    validation: Metrics | None
    report: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]]
    calibration: Mapping[str, Reliability]

    def as_json(self) -> dict[str, Any]:
        """Return the report, and the paths of the run's folder and of its model."""
        return {"folder": str(self.folder), "model": str(self.model), **self.report}


def finish(job: TrainingJob, status: RunStatus, module: nnx.Module, logits: np.ndarray) -> TrainingResult:
    """Write the report and the model of a training run that has ended. Returns how the run ended.

    `status`: where the run stood at its end.
    `module`: the network with the weights of the best validation.
    `logits`: its output for the test states before the sigmoid, f4[n].
    """
    config = job.config
    figures = _figures(job, status, logits)
    write_text(job.folder / REPORT, json.dumps(figures, indent=2) + "\n")
    write_model(job, status, module, figures)
    return TrainingResult(
        folder=job.folder,
        model=job.folder / MODEL,
        title=f"{job.game.title}: {config.body}, {config.moment}",
        stopped=status.stopped,
        steps=status.step,
        best_step=status.best_step,
        seconds=status.seconds,
        states_per_second=status.states_per_second(config.batch),
        validation=Metrics.from_json(figures["validation"]) if figures["validation"] else None,
        report=figures,
        history=status.history,
        calibration=report.calibration(job, logits),
    )


def write_model(job: TrainingJob, status: RunStatus, module: nnx.Module, metrics: Mapping[str, Any]) -> None:
    """Write a network as the run's model, with its metrics and with the command that makes it again."""
    config, dataset = job.config, job.dataset
    if status.planned:  # the command must make the same run on a machine of any speed
        config = replace(config, steps=status.planned, minutes=0.0)
    if config.devices == AUTO:
        config = replace(config, devices=len(job.devices.own))
    model = Model.of(
        job.game,
        module,
        body=config.body,
        body_options=config.options,
        moment=config.moment,
        seats=dataset.seats,
        variant=dataset.variant,
        encoder=dataset.recipe.encoder,
        training=settings.identity(config),
        data=dataset.about() | report.labels_of(job),
        metrics=dict(metrics),
        seconds=round(status.seconds, 1),
        command=command(config),
    )
    model.save(job.folder / MODEL)


def _figures(job: TrainingJob, status: RunStatus, logits: np.ndarray) -> dict[str, Any]:
    """Return what `report.json` holds."""
    figures: dict[str, Any] = {
        "stopped": status.stopped,
        "steps": status.step,
        "best_step": status.best_step,
        "seconds": round(status.seconds, 1),
        "states_per_second": round(status.states_per_second(job.config.batch)),
        "states": {"training": len(job.training), "validation": len(job.validation), "test": len(job.test)},
        "split_by": job.config.split_by,
        "body": {"name": job.config.body, **job.config.options},
        "batch": job.config.batch,
        "epochs": job.config.epochs,
        "validation": status.best and status.best["validation"],
    }
    if job.config.devices != 1 or len(job.devices.own) > 1:
        figures["devices"] = job.devices.as_json()
    return figures | report.figures_of_test(job, logits) if len(job.test) else figures
