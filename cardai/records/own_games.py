"""What a model's training could see, derived from games of its own variant that are played for it.

A model's file says for which variant, encoder and states it was trained, but not what its inputs were there. So a few
hundred games of that variant are played by the game's hand-written players and at random, always the same ones, and
read with the model's own recipe. From them follow the inputs that never vary (`constant_columns`), and how much more
often a label comes in play than in a dataset that does not draw states as they come (`natural_shift`).
"""

import contextlib
import functools
import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game
from cardai.playing.agents.spec import agent
from cardai.records.dataset import Dataset, collect_games
from cardai.records.recipe import Recipe
from cardai.records.record import RecordedGame
from cardai.records.selfplay import simulate_here

GAMES = 400
"""How many games are played. In each game that comes with cardai they show every input that varied for its models in
more than one of 30,000 states of their training."""
SEED = 20261125


@functools.lru_cache(maxsize=16)
def own_games(game: Game, variant: str, seats: int) -> tuple[RecordedGame, ...]:
    """Return the games: `GAMES`, without endless ones, by the hand-written players and random moves, drawn evenly."""
    pool = {"random": 1.0}
    for name in game.agents.players:
        with contextlib.suppress(CardaiError):  # a player that does not play this table
            agent(game, name).check_fits(game, variant, seats)
            pool[name] = 1.0
    return tuple(simulate_here(game, pool, GAMES, seed=SEED, variant=variant, seats=seats))


@functools.lru_cache(maxsize=64)
def constant_columns(game: Game, variant: str, seats: int, encoder: str, moment: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of an encoder that never vary in own games, i64[k], and what they are there, u8[k].

    `moment`: which states are looked at, as in `Recipe`.
    """
    data = _collected(game, variant, seats, Recipe(encoder=encoder, moment=moment))
    return constant_in(rows for _, rows in data.parts())


def constant_in(chunks: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns that are the same in all rows of some arrays u8[n, width], i64[k], and their values, u8[k]."""
    low, high = None, None
    for rows in chunks:
        if len(rows):
            least, most = rows.min(axis=0), rows.max(axis=0)
            low = least if low is None else np.minimum(low, least)
            high = most if high is None else np.maximum(high, most)
    if low is None or high is None:
        return np.zeros(0, np.int64), np.zeros(0, np.uint8)
    columns = np.flatnonzero(low == high)
    return columns, low[columns]


@functools.lru_cache(maxsize=64)
def natural_shift(game: Game, variant: str, seats: int, recipe: Recipe, training_mean: float | None = None) -> float:
    """Return what to add to the log odds of a model so that its values say how often its label comes in play.

    It is the log odds of the label's mean over states as they come, less those of its mean in training: the correction
    for another prior (Saerens, Latinne and Decaestecker 2002; King and Zeng 2001). It is exact if the label has two
    values and states were drawn by it alone. `training_mean`: the mean label in training, if the model says it;
    otherwise it is that of the recipe in own games. Returns 0 if one of the means is 0 or 1.
    """
    natural = _mean_label(game, variant, seats, replace(recipe, balance="natural"))
    trained = _mean_label(game, variant, seats, recipe) if training_mean is None else training_mean
    if not (0 < natural < 1 and 0 < trained < 1):
        return 0.0
    return math.log(natural / (1 - natural)) - math.log(trained / (1 - trained))


def _mean_label(game: Game, variant: str, seats: int, recipe: Recipe) -> float:
    return float(_collected(game, variant, seats, recipe).labels.astype(np.float64).mean())


def _collected(game: Game, variant: str, seats: int, recipe: Recipe) -> Dataset:
    return collect_games(game, own_games(game, variant, seats), recipe)
