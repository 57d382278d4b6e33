"""Evaluators made of a few lines of NumPy, for tests of agents that ask one."""

import numpy as np

from cardai.errors import CardaiError


class Judge:
    """An evaluator made of a function of rows: i64[n, width] -> numbers in [0, 1]. `sizes`: rows of each call."""

    def __init__(self, name, encoder, seats, function, *, moment="drawn", batch=512):
        self.name, self.encoder, self.seats, self.function = name, encoder, seats, function
        self.moment, self.batch, self.sizes = moment, batch, []

    def score(self, rows):
        self.sizes.append(len(rows))
        return self.function(rows.astype(np.int64)).astype(np.float32)

    def check_fits(self, game, variant, seats):
        if seats != self.seats:
            raise CardaiError(f"{self.name} is for {self.seats} seats, not {seats}")


def some_order(rows):
    """Any fixed judgement of all that a row says, with few ties."""
    weights = np.random.default_rng(5).integers(1, 1 << 20, rows.shape[1])
    return (rows @ weights % 4099) / 4099


def know(monkeypatch, *judges):
    """Have specs find these evaluators by their names."""
    from cardai.playing.agents.evaluator import find_evaluator

    known = {judge.name: judge for judge in judges}
    monkeypatch.setattr(
        "cardai.playing.agents.spec.find_evaluator", lambda game, name: known.get(name) or find_evaluator(game, name)
    )
