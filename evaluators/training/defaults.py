"""What a training run does where its config leaves that to the number of its training states.

    config = completed(config, states=80_000)  # layers, batch and epochs are numbers now

Few states need a small network and small batches: a run of few steps has not learned yet when it ends. The numbers were
measured on Tic-Tac-Toe, Durak and Whist: docs/training.md has the table.
"""

import math
from dataclasses import replace

from cardai.errors import CardaiError
from cardai.evaluators.bodies.options import as_plain, options_of
from cardai.evaluators.model import read_metadata
from cardai.evaluators.training.config import TrainConfig

LAYERS = ((20_000, (64, 32)), (1_000_000, (128, 64)), (10_000_000, (256, 128)))
"""The hidden layers of an mlp for fewer training states than the number before them; `LARGEST` for more."""
LARGEST = (512, 256, 128)
BATCHES = 256, 16_384
"""The smallest and the largest batch. In between, a pass over the states has about a thousand steps."""
STEPS = 3000
"""The steps that the passes over the states come to, if `PASSES` allow it."""
PASSES = 3, 30
"""The fewest and the most passes."""
FEW_STEPS = 500
"""A run of fewer steps is warned of."""


def completed(config: TrainConfig, states: int) -> TrainConfig:
    """Return a config with layers, batch and epochs, for a run on this number of training states.

    What the config gives stays. Layers are those of the model in `start_from`, if there is one.
    """
    batch = config.batch or usual_batch(states)
    epochs = usual_epochs(states, batch) if config.epochs is None else config.epochs
    options = dict(config.options)
    if config.body == "mlp" and "hidden" not in options:
        options = {**_layers(config, states), **options}
    return replace(config, batch=batch, epochs=epochs, options=as_plain(options_of(config.body, options)))


def usual_batch(states: int) -> int:
    """Return the batch for a number of training states: a power of two, and at most an eighth of them."""
    least, most = BATCHES
    wanted = min(max(_power_of_two(states / 1000), least), most)
    return min(wanted, _power_of_two(max(1, states // 8)))


def usual_epochs(states: int, batch: int) -> int:
    """Return how many passes over the training states there are, if the config does not say."""
    least, most = PASSES
    return min(max(math.ceil(STEPS / max(1, states // batch)), least), most)


def warning(steps: int | None, batch: int, states: int) -> str:
    """Return a sentence if a run has too few steps to learn much, otherwise an empty text. `steps`: None is unknown."""
    if steps is None or steps >= FEW_STEPS:
        return ""
    return (
        f"this run has {steps} steps of {batch:,} states, which is fewer than {FEW_STEPS}: its network may not have "
        f"learned much when it ends; give more games (it trains on {states:,} states), a smaller batch or more epochs"
    )


def _layers(config: TrainConfig, states: int) -> dict[str, list[int]]:
    if config.start_from is not None:
        metadata = read_metadata(config.start_from)
        if metadata.body != config.body:
            raise CardaiError(
                f"{config.start_from} cannot be started from: its body is {metadata.body}, this run's {config.body}"
            )
        return dict(metadata.body_options)
    return {"hidden": list(next((layers for below, layers in LAYERS if states < below), LARGEST))}


def _power_of_two(number: float) -> int:
    return 1 << max(0, math.floor(math.log2(max(1.0, number))))
