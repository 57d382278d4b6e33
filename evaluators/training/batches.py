"""The states of a training run: which ones, divided into which parts, and in which order they come."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cardai.errors import CardaiError
from cardai.evaluators.training.config import TrainConfig
from cardai.files import settings
from cardai.game import Game
from cardai.playing.progress import Progress
from cardai.records.dataset import Dataset
from cardai.records.dataset import collect as read_dataset
from cardai.records.recipe import Recipe
from cardai.records.split import split

_AHEAD = 2  # batches made ready before they are needed

T = TypeVar("T")
U = TypeVar("U")


def recipe_of(config: TrainConfig, game: Game) -> Recipe:
    """The recipe of a config. Raises CardaiError for words that do not fit together, and for an unknown label."""
    recipe = Recipe(**{name: getattr(config, name) for name in settings.names(Recipe)})
    recipe.check_label(game)
    return recipe


def collect(config: TrainConfig, game: Game, progress: Progress | None = None) -> Dataset:
    """Read the states that a config trains on. Raises CardaiError if its records do not fit it."""
    _refuse_divided(config.data)
    dataset = read_dataset(
        config.data,
        recipe_of(config, game),
        game=game,
        seed=config.seed,
        threads=config.threads,
        limit=config.limit or None,
        progress=progress,
    )
    if config.variant is not None and dataset.variant != game.canonical(config.variant):
        raise CardaiError(f"the records are of the variant {dataset.variant}, not {config.variant}")
    return dataset


def _refuse_divided(paths: Sequence[str]) -> None:
    """Raise CardaiError if paths are the parts of one path that has commas."""
    whole = ",".join(paths)
    if len(paths) > 1 and Path(whole).exists():
        raise CardaiError(f"commas divide paths, and {whole!r} has one: write data as {settings.literal([whole])}")


def split_states(config: TrainConfig, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the places in the dataset of the training, validation and test states, i[n] each.

    Raises CardaiError if a part that the config asks for is empty, or if a batch is larger than the training part.
    """
    training, validation, test = split(dataset, config.split_by, config.parts, config.seed)
    sizes = len(training), len(validation), len(test)
    for name, share, size in zip(("training", "validation", "test"), config.parts, sizes, strict=True):
        if share and not size:
            raise CardaiError(
                f"the {name} part is empty: parts {list(config.parts)} of {len(dataset):,} states from"
                f" {len(dataset.seeds):,} games; give more games or other parts"
            )
    if sizes[0] < config.batch:
        raise CardaiError(f"batch {config.batch} is larger than the {sizes[0]} training states; give a smaller one")
    return training, validation, test


def epoch_order(seed: int, epoch: int, training: np.ndarray) -> np.ndarray:
    """Return the indices of the training states, i[n], in a random order that the seed and the epoch alone decide.

    `training`: these indices, i[n], in any order.
    """
    return np.random.default_rng([seed, epoch]).permutation(training)


def epoch_batches(config: TrainConfig, epoch: int, training: np.ndarray, first: int = 0) -> Iterator[np.ndarray]:
    """Yield the indices of the states of each batch of an epoch, i[batch], from batch number `first` on.

    States that do not fill a last batch are left out.
    """
    order, batch = epoch_order(config.seed, epoch, training), config.batch
    for i in range(first, len(training) // batch):
        yield order[i * batch : (i + 1) * batch]


def in_advance(work: Callable[[T], U], items: Iterable[T], ahead: int = _AHEAD) -> Generator[U]:
    """Yield `work(item)` for each item, in order. Another thread does the work, `ahead` items in advance."""
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
            for future in waiting:
                future.cancel()
