"""How a training run begins: with which network, for how many steps, and on how many devices."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.bodies.build import build
from cardai.evaluators.bodies.options import as_plain, options_of
from cardai.evaluators.model import load
from cardai.evaluators.network_file import set_tensors, tensors_of
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.devices import TrainingDevices
from cardai.evaluators.training.job import TrainingJob
from cardai.evaluators.training.trainer import Trainer
from cardai.measure.speed import timed
from cardai.records.dataset import Dataset

_PROBED_SECONDS = 5.0  # how long the speed is measured from which the steps of a run are planned
_COMPARED_SECONDS, _COMPARED_ROUNDS = 0.5, 3  # for each number of devices
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
    limits = [(config.epochs or 0) * per_epoch, config.steps]
    return min((limit for limit in limits if limit), default=None)


def planned_steps(job: TrainingJob) -> int:
    """Return how many steps fit into the config's minutes, or 0 if the run need not know that before it begins.

    The cosine schedule must know. The speed is that of some training steps, whose results are thrown away.
    """
    config = job.config
    if config.schedule != "cosine" or config.epochs or config.steps:
        return 0
    seconds = step_timer(job)(_PROBED_SECONDS)
    return max(1, round(_SHARE_OF_STEPS * 60 * config.minutes / seconds))


def fastest(job: TrainingJob) -> TrainingDevices:
    """Return the devices on which a job's steps are faster: one, or all that it has.

    Both are measured in turns, by steps whose results are thrown away, and their medians are compared.
    """
    own = job.devices.own
    if len(own) == 1:
        return job.devices
    timers = {number: step_timer(job.on(TrainingDevices(own[:number]))) for number in (1, len(own))}
    rounds = [{number: timer(_COMPARED_SECONDS) for number, timer in timers.items()} for _ in range(_COMPARED_ROUNDS)]
    seconds = {number: statistics.median(times[number] for times in rounds) for number in timers}
    return TrainingDevices(
        own[: min(seconds, key=lambda number: seconds[number])],
        {number: job.config.batch / each for number, each in seconds.items()},
    )


def step_timer(job: TrainingJob) -> Callable[[float], float]:
    """Return a function that takes steps for some seconds and returns the mean seconds of a step.

    The first step, which compiles, is taken before.
    """
    batch, config = job.training[: job.config.batch], replace(job.config, schedule="constant", warm_up=0)
    trainer = Trainer(initial_network(config, job.dataset), config, None, job.devices, job.scale)
    state, loss = trainer.step(job.devices.whole(trainer.start()), *job.fetch(batch))
    loss.block_until_ready()

    def step() -> int:
        nonlocal state
        state, loss = trainer.step(state, *job.fetch(batch))
        loss.block_until_ready()
        return 1

    return lambda least: 1 / timed(step, least).per_second
