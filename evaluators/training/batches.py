"""The states of a training run: which ones, divided into which parts, and in which order they come."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from cardai.data.dataset import Dataset
from cardai.data.dataset import collect as read_dataset
from cardai.data.recipe import Recipe
from cardai.data.split import split
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.progress import Progress
from evaluators.training.config import TrainConfig

_AHEAD = 2  # batches made ready before they are needed

T = TypeVar("T")
U = TypeVar("U")


def collect(config: TrainConfig, game: Game, progress: Progress | None = None) -> Dataset:
    """The states that a config learns from. Raises CardaiError when its records do not fit it."""
    recipe = Recipe(
        encoder=config.encoder,
        moment=config.moment,
        states=config.states,
        per_game=config.per_game,
        balance=config.balance,
        label=config.label,
        agents=config.agents,
        steady=config.steady,
    )
    found = read_dataset(
        config.data,
        recipe,
        game=game,
        seed=config.seed,
        threads=config.threads,
        limit=config.limit or None,
        progress=progress,
    )
    if config.variant is not None and found.variant != config.variant:
        raise CardaiError(f"the records are of the variant {found.variant}, not {config.variant}")
    return found


def split_states(config: TrainConfig, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places of the training, validation and test states. CardaiError where a part that is asked for is empty."""
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
    """The order in which an epoch takes the training states, i[n]: theirs in a random order that depends on no more."""
    return np.random.default_rng([seed, epoch]).permutation(training)


def total_steps(config: TrainConfig, per_epoch: int) -> int | None:
    """After how many steps a run ends at the latest; None when only time ends it."""
    limits = [config.epochs * per_epoch] * (config.epochs > 0) + [config.steps] * (config.steps > 0)
    return min(limits, default=None)


def in_advance(work: Callable[[T], U], items: Iterable[T], ahead: int = _AHEAD) -> Generator[U]:
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
