"""How good predicted scores are: cross-entropy, accuracy, Brier score and calibration.

A state with a label between 0 and 1 counts as two parts of a state: the label's share with label 1, the rest with label
0. A draw, 0.5, is half a state of each. So each metric has the same meaning for wins and for scores.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from cardai.playing.stats.interval import bootstrap

BINS = 15


@dataclass(frozen=True)
class Metrics:
    """How good the predictions for `n` states are. All metrics are NaN if there are no states.

    `prior`: the share of label 1.
    `bce`: the mean cross-entropy in nats. `floor`: that of a predictor that always predicts the prior.
    `accuracy`: the share of states whose likelier label is right.
    `brier`: the mean squared error.
    `ece`: the expected calibration error, see `Reliability`.
    """

    n: int
    prior: float
    bce: float
    floor: float
    accuracy: float
    brier: float
    ece: float

    def as_json(self) -> dict[str, float | None]:
        """Return the metrics by name, None for NaN."""
        return {name: value if math.isfinite(value) else None for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, figures: Mapping[str, Any]) -> Self:
        """Return the metrics that `as_json` returned."""
        values: dict[str, Any] = {name: math.nan if value is None else value for name, value in figures.items()}
        return cls(**values)

    def __str__(self) -> str:
        """Return a line for people: BCE 0.5043 (floor 0.6931), accuracy 73.5 %, Brier 0.1702, ECE 0.0101."""
        quality = f"accuracy {100 * self.accuracy:.1f} %, Brier {self.brier:.4f}, ECE {self.ece:.4f}"
        return f"BCE {self.bce:.4f} (floor {self.floor:.4f}), {quality}"


@dataclass(frozen=True)
class Reliability:
    """Predictions and outcomes (calibration): bins of predictions from low to high, f8[bins] each.

    `predicted`, `observed`: the mean prediction and the mean label of each bin.
    `weight`: the share of the states in each bin; it sums to 1. The bins have equal weights as far as possible: equal
    predictions share a bin, so a predictor with few different predictions has fewer bins.
    """

    predicted: np.ndarray
    observed: np.ndarray
    weight: np.ndarray

    @property
    def ece(self) -> float:
        """The expected calibration error: the mean distance between prediction and label, over the bins."""
        return float(np.sum(self.weight * np.abs(self.predicted - self.observed)))


def measure(logits: np.ndarray, labels: np.ndarray, prior: float | None = None, share: float | None = None) -> Metrics:
    """Return the metrics of the predictions sigmoid(`logits`), f[n], for `labels`, f[n] in [0, 1].

    `prior`, in (0, 1): measure for a population in which this share of the labels is 1, and which is otherwise the
    same. States are weighted by their labels, and each logit is shifted by the difference of the two log odds, as a
    predictor that knows the new prior would do. 0.5 is a balanced test; 0.75 is one in which one seat of four loses.
    `share`: the share of label 1 before reweighting, if the states are a part of a larger population; that of the
    states themselves if not given. All metrics are NaN if that share is 0 or 1.
    """
    z, ones, zeros = _population(logits, labels, prior, share)
    if not len(z):
        return Metrics(len(labels), *[math.nan] * 6)
    p, mean = sigmoid(z), float(min(ones.sum(), 1.0))
    return Metrics(
        n=len(labels),
        prior=mean,
        bce=float(np.sum(_bce(z, ones, zeros))),
        floor=entropy(mean),
        accuracy=float(np.sum(_right(z, ones, zeros))),
        brier=float(np.sum(ones * (1 - p) ** 2 + zeros * p**2)),
        ece=_binned(p, ones, zeros, BINS).ece,
    )


def intervals(
    logits: np.ndarray, labels: np.ndarray, games: np.ndarray, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Return 95 % intervals of `bce` and `accuracy`, by a bootstrap over games: states of a game share its outcome.

    `games`: i[n], the same number for states of the same game. The bounds are NaN with fewer than two games.
    """
    _, place = np.unique(games, return_inverse=True)
    sizes = np.bincount(place).astype(float)
    z, ones, zeros = np.asarray(logits, np.float64), np.asarray(labels, np.float64), 1.0 - labels

    def interval(values: np.ndarray) -> tuple[float, float]:
        columns = np.column_stack([np.bincount(place, values), sizes])
        return bootstrap(columns, lambda means: means[:, 0] / means[:, 1], seed)

    return {"bce": interval(_bce(z, ones, zeros)), "accuracy": interval(_right(z, ones, zeros))}


def regression(
    predictions: np.ndarray, labels: np.ndarray, games: np.ndarray, factor: float, seed: int = 0
) -> dict[str, list[float | None]]:
    """Return how much of labels, f[n], predictions, f[n], explain: [figure, low, high] by name, None without a value.

    `r2`: the share of the labels' variance. `correlation`: Pearson's. `error`: the root of the mean squared error,
    times `factor`. Intervals are 95 %, by a bootstrap over `games`, i[n].
    """
    p, y = np.asarray(predictions, np.float64), np.asarray(labels, np.float64)
    _, place = np.unique(games, return_inverse=True)
    terms = np.ones_like(p), p, y, p * p, y * y, p * y, (p - y) ** 2
    columns = np.column_stack([np.bincount(place, term) for term in terms])

    def moments(means: np.ndarray) -> tuple[np.ndarray, ...]:
        size, p, y, pp, yy, py, error = means.T
        return error / size, yy / size - (y / size) ** 2, pp / size - (p / size) ** 2, (py - p * y / size) / size

    statistics: dict[str, Callable[..., np.ndarray]] = {
        "r2": lambda error, spread, *_: 1 - error / spread,
        "correlation": lambda _, spread, own, both: both / np.sqrt(spread * own),
        "error": lambda error, *_: factor * np.sqrt(error),
    }
    found: dict[str, list[float | None]] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, statistic in statistics.items():
            point = statistic(*moments(columns.mean(axis=0)[None]))[0] if len(p) else math.nan
            bounds = bootstrap(columns, lambda means, of=statistic: of(*moments(means)), seed) if len(p) else ()
            numbers = [float(point), *map(float, bounds or (math.nan, math.nan))]
            found[name] = [number if math.isfinite(number) else None for number in numbers]
    return found


def reliability(logits: np.ndarray, labels: np.ndarray, prior: float | None = None, bins: int = BINS) -> Reliability:
    """Return the calibration in at most `bins` bins. `prior`: as in `measure`."""
    z, ones, zeros = _population(logits, labels, prior, None)
    return _binned(sigmoid(z), ones, zeros, bins)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Return the probabilities of logits, f8[n], without overflow."""
    return np.exp(-np.logaddexp(0, -np.asarray(logits, np.float64)))


def entropy(share: float) -> float:
    """Return the cross-entropy, in nats, of always predicting the mean label `share`."""
    return -sum(part * math.log(part) for part in (share, 1 - share) if part > 0)


def log_odds(share: float) -> float:
    """Return the logit of a probability in (0, 1)."""
    return math.log(share) - math.log1p(-share)


def _population(
    logits: np.ndarray, labels: np.ndarray, prior: float | None, share: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the logits, and each state's weight with label 1 and with label 0, f8[n] each. All weights sum to 1.

    Empty without states, or if a population to be reweighted has one label only.
    """
    z, ones = np.asarray(logits, np.float64), np.asarray(labels, np.float64)
    if z.shape != ones.shape or z.ndim != 1:
        raise ValueError(f"logits {z.shape} and labels {ones.shape} do not fit: both must be [n]")
    if not len(z):
        return z, ones, ones
    if prior is None:
        return z, ones / len(z), (1 - ones) / len(z)
    if not 0 < prior < 1:
        raise ValueError(f"a prior must be between 0 and 1, not {prior}")
    share = float(np.mean(ones)) if share is None else share
    if not 0 < share < 1:
        return z[:0], ones[:0], ones[:0]
    ones, zeros = ones * (prior / share), (1 - ones) * ((1 - prior) / (1 - share))
    mass = ones.sum() + zeros.sum()
    return z + log_odds(prior) - log_odds(share), ones / mass, zeros / mass


def _bce(z: np.ndarray, ones: np.ndarray, zeros: np.ndarray) -> np.ndarray:
    """Return each state's part of the cross-entropy."""
    return ones * np.logaddexp(0, -z) + zeros * np.logaddexp(0, z)


def _right(z: np.ndarray, ones: np.ndarray, zeros: np.ndarray) -> np.ndarray:
    """Return each state's part of the accuracy. A logit of 0 is half right."""
    sign = np.sign(z)
    return 0.5 * (ones * (1 + sign) + zeros * (1 - sign))


def _binned(p: np.ndarray, ones: np.ndarray, zeros: np.ndarray, bins: int) -> Reliability:
    """Divide predictions into bins of equal weight.

    The predictions are sorted. Equal ones occupy an interval of the total weight; its middle decides their bin.
    """
    values, place = np.unique(p, return_inverse=True)
    mass = np.bincount(place, ones + zeros, len(values))
    middle = (np.cumsum(mass) - 0.5 * mass) / max(mass.sum(), 1e-300)
    bin_of = np.minimum((middle * bins).astype(int), bins - 1)[place]
    weight = np.bincount(bin_of, ones + zeros, bins)
    filled = weight > 0
    predicted = np.bincount(bin_of, (ones + zeros) * p, bins)[filled] / weight[filled]
    observed = np.bincount(bin_of, ones, bins)[filled] / weight[filled]
    return Reliability(predicted, observed, weight[filled] / weight.sum())
