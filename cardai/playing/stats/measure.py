"""Measures: what a table counts of each seat of a game, such as its score, its share of the win, or its points.

At tables with two sides, two seats or two teams, `WonLostTied` counts how the games ended.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cardai.errors import CardaiError, unknown
from cardai.game import MEASURES, Game, Payoff
from cardai.playing.stats.interval import Estimate


@dataclass(frozen=True)
class Measure:
    """What is counted of each seat of a game: one of `MEASURES`, or an outcome of the game.

    - `about`: what it is, in words.
    - `low`, `high`: the range of its values in one game. From 0 to 1 it is given in percent, else in its own unit.
    - `lower_is_better`: as for losses and for points that nobody wants.
    - `unit`: what values count, if the name does not say it: "chips". `by_role`: it applies to some seats only, such as
      the soloist; figures count these alone (`Outcome.applies`).
    """

    name: str
    about: str
    low: float = 0.0
    high: float = 1.0
    lower_is_better: bool = False
    unit: str = ""
    by_role: bool = False

    @property
    def is_share(self) -> bool:
        """Whether values are from 0 to 1: figures are then given in percent, otherwise in the measure's own unit."""
        return (self.low, self.high) == (0.0, 1.0)

    @property
    def scale(self) -> int:
        """What a value is multiplied by when it becomes a figure."""
        return 100 if self.is_share else 1

    @property
    def title(self) -> str:
        """The name with its unit, as in "win %" and "score in chips"."""
        return f"{self.name} %" if self.is_share else f"{self.name}{self.unit and f' in {self.unit}'}"


def measure_of(game: Game, name: str) -> Measure:
    """The measure of this name. Raises CardaiError if neither all games nor this one have it."""
    payoff = game.payoff
    if name == "score" and not payoff.is_share:
        return Measure(name, f"mean payoff in {payoff.unit}", float(payoff.low), float(payoff.high), unit=payoff.unit)
    if name in MEASURES:
        return Measure(name, MEASURES[name], lower_is_better=name == "loss")
    if name not in game.learning.outcomes:
        raise CardaiError(f"{game.name}: {unknown('measure', name, (*MEASURES, *game.learning.outcomes))}")
    outcome = game.learning.outcomes[name]
    low, high, by_role = float(outcome.low), float(outcome.high), outcome.applies is not None
    return Measure(name, outcome.about, low, high, outcome.lower_is_better, by_role=by_role)


def win_shares(scores: np.ndarray) -> np.ndarray:
    """Each seat's share of the win by the scores of its table, both f8[..., seats]: 1/k to each of the k best."""
    best = scores == scores.max(axis=-1, keepdims=True)
    return best / best.sum(axis=-1, keepdims=True)


OF_SCORES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "score": lambda scores: scores,
    "win": lambda scores: scores == 1.0,
    "not_lost": lambda scores: scores > 0.0,
    "loss": lambda scores: scores == 0.0,
    "share": win_shares,
}
"""Functions of the scores of tables, f8[..., seats]; they return an array of the same shape with values in [0, 1].
They are for payoffs from 0 to 1; `label_of` and `value_of` are for all."""


def label_of(payoff: Payoff, name: str, scores: np.ndarray) -> np.ndarray:
    """A function of the scores of tables by its name in `OF_SCORES`, f8[..., seats] in [0, 1].

    In a game with a unit a seat has won if its payoff is above 0, and lost if it is below 0.
    """
    if payoff.is_share or name in ("score", "share"):
        return OF_SCORES[name](scores)
    payoffs = payoff.of(scores)
    return {"win": payoffs > 0.0, "loss": payoffs < 0.0, "not_lost": payoffs >= 0.0}[name]


def value_of(payoff: Payoff, name: str, scores: np.ndarray) -> np.ndarray:
    """The values of one of `MEASURES`, f8[..., seats]: scores in the unit of the payoff, others in [0, 1]."""
    return payoff.of(scores) if name == "score" else label_of(payoff, name, scores)


@dataclass(frozen=True)
class WonLostTied:
    """How games between two sides ended for one of them.

    `of_decided`: the share of the games not tied that it won, in percent, with Wilson's interval, the deal as cluster.
    """

    won: int
    lost: int
    tied: int
    of_decided: Estimate

    @property
    def counts(self) -> str:
        """The games won, lost and tied, as in "1,180-20-70"."""
        return f"{self.won:,}-{self.lost:,}-{self.tied:,}"


def leads(scores: np.ndarray) -> np.ndarray:
    """Each seat's score less that of the other side, both f8[..., seats]; even seats play against odd ones."""
    return scores - np.roll(scores, -1, axis=-1)


def decided(leads: np.ndarray) -> np.ndarray:
    """Which games a side won, 1 or 0, by its leads in them, f8[D, R]; NaN for a game that is tied or did not end."""
    return np.where(np.isnan(leads) | (leads == 0.0), np.nan, leads > 0.0)
