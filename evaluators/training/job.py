"""What a training run is given: its config, its game and its states."""

import contextlib
import copy
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import jax
import numpy as np

from cardai.evaluators.training.batches import in_advance, split_states
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.defaults import completed
from cardai.evaluators.training.devices import TrainingDevices
from cardai.evaluators.training.rows_on_device import RowsOnDevice, fits
from cardai.evaluators.training.trainer import LabelScale, Trainer, evaluation_batch, labels_scale
from cardai.files import settings
from cardai.game import Game
from cardai.records.dataset import Dataset


class TrainingJob:
    """What a training run is given. `training`, `validation`, `test`: the places of its states in the dataset, i[n].

    `config`: the one that it was made with, completed by the number of training states.

    Raises CardaiError if a part that the config asks for is empty, or if a batch is larger than the training part.
    """

    def __init__(self, config: TrainConfig, game: Game, dataset: Dataset, devices: TrainingDevices) -> None:
        self.game, self.dataset, self.devices = game, dataset, devices
        self.training, self.validation, self.test = split_states(config, dataset)
        self.config = completed(config, len(self.training))
        self.folder = Path(config.out)

    def on(self, devices: TrainingDevices) -> Self:
        """Return this job on other devices."""
        other = copy.copy(self)
        other.devices = devices
        other.__dict__.pop("_kept", None)
        return other

    @property
    def per_epoch(self) -> int:
        """The number of steps in an epoch."""
        return len(self.training) // self.config.batch

    @cached_property
    def identity(self) -> dict[str, str]:
        """Hashes of the config and of the data, which a checkpoint of this run has too."""
        return {"config": settings.fingerprint(self.config), "data": self.dataset.digest}

    @cached_property
    def _kept(self) -> RowsOnDevice | None:
        """The rows on the device of this job, if they are to be kept there."""
        device = self.devices.first
        return RowsOnDevice(self.dataset, device) if self.devices.is_one and fits(self.dataset, device) else None

    @cached_property
    def scale(self) -> LabelScale | None:
        """How the labels are standardised, by those of the training states; None for the loss bce."""
        return labels_scale(self.game, self.config.loss, self.dataset.recipe.terms, self.dataset.labels[self.training])

    def fetch(self, states: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """Return the rows u8[n, width] and the labels f4[n] of some states, on the devices."""
        if self._kept is not None:
            return self._kept(states)
        rows, labels = self.devices.divided((self.dataset.take(states), self.dataset.labels[states]))
        return rows, labels

    def logits(self, trainer: Trainer, weights: tuple[Any, Any], states: np.ndarray) -> np.ndarray:
        """Return the logits that a network with these weights gives to some states, f4[n], in evaluation mode."""
        size = evaluation_batch(self.config.batch, len(self.devices.own))
        parts = (states[first : first + size] for first in range(0, len(states), size))
        logits = np.zeros(len(states), np.float32)
        with contextlib.closing(in_advance(self.dataset.take, parts)) as chunks:
            for i, rows in enumerate(chunks):
                padded = np.zeros((size, rows.shape[1]), np.uint8)
                padded[: len(rows)] = rows
                batch = np.asarray(trainer.logits(weights, *self.devices.divided((padded,))))
                scored = logits[i * size : (i + 1) * size]
                scored[:] = batch[: len(scored)]
        return logits
