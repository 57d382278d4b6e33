"""Duplicate deals: the seeds of a run's deals, and the rotations in which a line-up plays each of them."""

import numpy as np

from cardai.game import int_seed
from cardai.rule import STREAM, mixed, next_bits, rule


def deal_seeds(seed: int, deals: int) -> np.ndarray:
    """The seeds of a run's deals, u64[deals]: the first outputs of SplitMix64 started at mixed(seed).

    The seeds of a shorter run are the first seeds of a longer one.
    """
    stream, seeds = np.zeros(1, STREAM), np.zeros(deals, np.uint64)
    stream["rng"] = mixed(int_seed(seed))
    _fill(stream[0], seeds)
    return seeds


def rotations(seats: int) -> np.ndarray:
    """Who sits where, i64[seats, seats]: in rotation r, place p of the line-up sits in seat (p + r) mod seats."""
    turns = np.arange(seats)
    return (turns[None, :] - turns[:, None]) % seats


def whole_rotations(games: int, seats: int) -> int:
    """The number of games rounded up so that every deal is played in all its rotations."""
    return -(-games // seats) * seats


@rule
def _fill(stream, seeds):
    for i in range(len(seeds)):
        seeds[i] = next_bits(stream)
