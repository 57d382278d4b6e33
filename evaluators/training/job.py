"""What a training run is given: its config, its game and its states."""

import contextlib
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import numpy as np

from cardai.data.dataset import Dataset
from cardai.game import Game
from evaluators.training.batches import in_advance, split_states
from evaluators.training.config import TrainConfig
from evaluators.training.trainer import Trainer, evaluation_batch


class TrainingJob:
    """What a training run is given. `training`, `validation`, `test`: the places of its states in the dataset, i[n].

    Raises CardaiError if a part that the config asks for is empty, or if a batch is larger than the training part.
    """

    def __init__(self, config: TrainConfig, game: Game, dataset: Dataset, device: Any) -> None:
        self.config, self.game, self.dataset, self.device = config, game, dataset, device
        self.training, self.validation, self.test = split_states(config, dataset)
        self.folder = Path(config.out)

    @property
    def per_epoch(self) -> int:
        """The number of steps in an epoch."""
        return len(self.training) // self.config.batch

    @cached_property
    def identity(self) -> dict[str, str]:
        """Hashes of the config and of the data, which a checkpoint of this run has too."""
        return {"config": self.config.fingerprint(), "data": self.dataset.digest}

    def fetch(self, states: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """Return the rows u8[n, width] and the labels f4[n] of some states, on the device."""
        return jax.device_put((self.dataset.take(states), self.dataset.labels[states]), self.device)

    def logits(self, trainer: Trainer, weights: tuple[Any, Any], states: np.ndarray) -> np.ndarray:
        """Return the logits that a network with these weights gives to some states, f4[n], in evaluation mode."""
        size = evaluation_batch(self.config.batch)
        parts = (states[first : first + size] for first in range(0, len(states), size))
        logits = np.zeros(len(states), np.float32)
        with contextlib.closing(in_advance(self.dataset.take, parts)) as chunks:
            for i, rows in enumerate(chunks):
                padded = np.zeros((size, rows.shape[1]), np.uint8)
                padded[: len(rows)] = rows
                batch = np.asarray(trainer.logits(weights, jax.device_put(padded, self.device)))
                logits[i * size : i * size + len(rows)] = batch[: len(rows)]
        return logits
