"""How a training run begins: with which network, and for how many steps."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import jax
from flax import nnx

from cardai.data.dataset import Dataset
from cardai.errors import CardaiError
from evaluators.bodies.build import build
from evaluators.bodies.options import as_plain, options_of
from evaluators.model import load
from evaluators.network_file import set_tensors, tensors_of
from evaluators.training.config import TrainConfig
from evaluators.training.job import TrainingJob
from evaluators.training.trainer import Trainer

_PROBED_SECONDS = 5.0  # how long the speed is measured from which the steps of a run are planned
_SHARE_OF_STEPS = 0.9  # of the minutes; the rest is for validations and checkpoints


def initial_network(config: TrainConfig, dataset: Dataset) -> nnx.Module:
    """Return the network that a run begins with.

    Raises CardaiError if the model in `start_from` has another game, encoder, layout, body or body options. Its dropout
    may be another one, since that is no weight.
    """
    module = build(config.body, config.options, dataset.layout, config.seed)
    if config.start_from is None:
        return module
    model = load(config.start_from)
    for what, theirs, ours in (
        ("game", model.metadata.game, dataset.game),
        ("encoder", model.metadata.encoder, dataset.recipe.encoder),
        ("layout", model.metadata.segments, dataset.layout),
        ("body", model.metadata.body, config.body),
        ("options", _shape(model.metadata.body_options), _shape(as_plain(options_of(config.body, config.options)))),
    ):
        if theirs != ours:
            raise CardaiError(f"{config.start_from} cannot be started from: its {what} is {theirs}, this run's {ours}")
    set_tensors(module, tensors_of(model.module))
    return module


def _shape(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that weights depend on."""
    return {name: value for name, value in options.items() if name != "dropout"}


def total_steps(config: TrainConfig, per_epoch: int) -> int | None:
    """Return the number of steps after which a run ends at the latest, or None if only its minutes end it."""
    limits = [config.epochs * per_epoch] * (config.epochs > 0) + [config.steps] * (config.steps > 0)
    return min(limits, default=None)


def planned_steps(job: TrainingJob) -> int:
    """Return how many steps fit into the config's minutes, or 0 if the run need not know that before it begins.

    The cosine schedule must know. The speed is that of some training steps, whose results are thrown away.
    """
    config, batch = job.config, job.training[: job.config.batch]
    if config.schedule != "cosine" or config.epochs or config.steps:
        return 0
    trainer = Trainer(initial_network(config, job.dataset), replace(config, schedule="constant", warm_up=0), None)
    state, loss = trainer.step(jax.device_put(trainer.start(), job.device), *job.fetch(batch))
    loss.block_until_ready()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < _PROBED_SECONDS:
        state, loss = trainer.step(state, *job.fetch(batch))
        loss.block_until_ready()
        steps += 1
    seconds = (time.perf_counter() - began) / steps
    return max(1, round(_SHARE_OF_STEPS * 60 * config.minutes / seconds))
