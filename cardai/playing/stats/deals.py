"""Duplicate deals: the seeds of a run's deals, and the rotations in which a line-up plays each of them."""

import hashlib
import secrets
from collections.abc import Hashable, Sequence

import numpy as np

from cardai.game import int_seed
from cardai.game.compiled.chance import siphash
from cardai.rules import rule


def deal_seeds(seed: int, deals: int, salt: str = "", first: int = 0) -> np.ndarray:
    """The seeds of a run's deals, u64[deals], from the run's seed and its salt (see `new_salt`).

    A deal's seed tells nothing of the others. The seeds of a shorter run are the first seeds of a longer one. `first`:
    the number of the first of these deals in the run.
    """
    key = hashlib.blake2b(b"deals" + int(int_seed(seed)).to_bytes(8, "little") + salt.encode(), digest_size=16).digest()
    seeds = np.zeros(deals, np.uint64)
    _fill(np.frombuffer(key, np.uint64), first, seeds)
    return seeds


def new_salt() -> str:
    """A salt that nobody can guess, drawn from the operating system: 32 hexadecimal digits.

    Somebody who can guess a run's seed can deal its games and know all hands. With a salt the seeds of the deals cannot
    be guessed. The salt repeats them.
    """
    return secrets.token_hex(16)


def rotations(seats: int) -> np.ndarray:
    """Who sits where, i64[seats, seats]: in rotation r, place p of the line-up sits in seat (p + r) mod seats."""
    turns = np.arange(seats)
    return (turns[None, :] - turns[:, None]) % seats


def distinct_rotations(line_up: Sequence[Hashable]) -> np.ndarray:
    """The rotations of a line-up without those that seat equal agents alike, i64[R, seats], as in `rotations`.

    The first R seats of the line-up repeat round the table: R is 2 for A, B, A, B, and 1 if all are equal.
    """
    seats = list(line_up)
    period = next(turn for turn in range(1, len(seats) + 1) if seats[turn:] + seats[:turn] == seats)
    return rotations(len(seats))[:period]


def seats_of_side(number: np.ndarray, seats: int, teams: int) -> np.ndarray:
    """Which seats a side has in games of these numbers, bool[G, seats]: the sides take turns, side 0 in game 0.

    A side is a team, or a single seat in a game without teams (`teams` is 0).
    """
    sides = teams or seats
    return np.arange(seats) % sides == (number % sides)[:, None]


@rule
def _fill(key, first, seeds):
    for i in range(len(seeds)):
        seeds[i] = siphash(key[0], key[1], first + i)
