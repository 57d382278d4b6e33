"""Splitting a dataset into parts for training, validation and test."""

from collections.abc import Sequence

import numpy as np

from cardai.errors import BadArgument, unknown, whole
from cardai.game import int_seed
from cardai.game.compiled.doors import check_kind, check_list, check_text
from cardai.records.dataset import Dataset
from cardai.rules import mixed, rule

_SPLIT = 0x5B117  # keeps the draws of a split apart from other draws that a game's seed decides


def split(
    data: Dataset, by: str = "game", parts: Sequence[float] = (0.92, 0.06, 0.02), seed: int = 0
) -> tuple[np.ndarray, ...]:
    """Divide the states into parts, by default training, validation and test. Returns their indices: i4 or i8[m] each.

    `parts` are the expected shares of the states. `by`:

    - "game": the game's seed decides, so all states of a game are in the same part, and stay there when games are
      added.
    - "state": each state is drawn by itself, so states of one game are in several parts. That makes results on the
      later parts look better than they are; it is here to measure by how much.

    Raises CardaiError for another `by`, and for parts that are not shares with the sum 1.
    """
    check_kind("data", data, Dataset, "a Dataset")
    parts, seed = check_list("parts", parts, (int, float), "shares, numbers from 0 to 1"), whole("seed", seed)
    if check_text("by", by) not in ("game", "state"):
        raise BadArgument(f"split: {unknown('way to split by', by, ('game', 'state'))}")
    if not parts or any(not 0 <= share <= 1 for share in parts) or abs(sum(parts) - 1) > 1e-9:
        raise BadArgument(f"split: the parts {', '.join(f'{share:g}' for share in parts)} are no shares that sum to 1")
    numbers = data.seeds if by == "game" else np.arange(len(data), dtype=np.uint64)
    places = np.zeros(len(numbers))
    scatter(numbers, np.array([mixed(int_seed(seed ^ _SPLIT))], np.uint64), places)
    bounds = np.cumsum(parts)[:-1]
    part = np.searchsorted(bounds, places, side="right").astype(np.int8)
    if by == "game":
        part = part[data.game_of]
    kind = np.int32 if len(data) < 2**31 else np.int64
    return tuple(np.flatnonzero(part == index).astype(kind) for index in range(len(parts)))


@rule
def scatter(numbers, key, places):
    """Set `places`, f8[n], to pseudo-random places in [0, 1): the same for the same number of u8[n] and key u8[1]."""
    for i in range(len(numbers)):
        places[i] = np.int64(mixed(np.uint64(numbers[i]) ^ np.uint64(key[0])) >> np.uint64(11)) / 9007199254740992.0
