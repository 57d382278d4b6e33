"""How good predicted scores are: cross-entropy, accuracy, Brier score, calibration; figures of calibration and loss.

A label between 0 and 1 counts as that much of a 1 and the rest of a 0: a draw's 0.5 is half a state of each. So every
figure here means the same for wins and for scores.
"""

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from cardai.data.files import write_bytes
from cardai.stats.interval import bootstrap

BINS = 15


@dataclass(frozen=True)
class Metrics:
    """Figures of predictions for `n` states; all NaN where there are none.

    `prior`: the share of label 1. `bce`: mean cross-entropy in nats; `floor`: that of always saying the prior.
    `accuracy`: the share of states whose likelier label is right. `brier`: mean squared error. `ece`: the expected
    calibration error, see `Reliability`.
    """

    n: int
    prior: float
    bce: float
    floor: float
    accuracy: float
    brier: float
    ece: float

    def as_json(self) -> dict[str, float | None]:
        """The figures, None for NaN."""
        return {name: value if math.isfinite(value) else None for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, figures: Mapping[str, Any]) -> Self:
        """The figures that `as_json` wrote."""
        known: dict[str, Any] = {name: math.nan if value is None else value for name, value in figures.items()}
        return cls(**known)

    def __str__(self) -> str:
        """For people: BCE 0.5043 (floor 0.6931), accuracy 73.5 %, Brier 0.1702, ECE 0.0101."""
        quality = f"accuracy {100 * self.accuracy:.1f} %, Brier {self.brier:.4f}, ECE {self.ece:.4f}"
        return f"BCE {self.bce:.4f} (floor {self.floor:.4f}), {quality}"


@dataclass(frozen=True)
class Reliability:
    """Predictions in bins of equal weight, from low to high: f8[bins] each, `weight` sums to 1.

    `predicted` and `observed` are the bins' mean prediction and mean label. Equal predictions share a bin, so there are
    fewer bins where a predictor says few different things.
    """

    predicted: np.ndarray
    observed: np.ndarray
    weight: np.ndarray

    @property
    def ece(self) -> float:
        """The expected calibration error: the mean distance of prediction and label over the bins."""
        return float(np.sum(self.weight * np.abs(self.predicted - self.observed)))


def measure(logits: np.ndarray, labels: np.ndarray, prior: float | None = None, share: float | None = None) -> Metrics:
    """The figures of predictions sigmoid(`logits`), f[n], for `labels`, f[n] in [0, 1].

    Given a `prior` in (0, 1), they are those for a population that has this share of label 1 and is alike otherwise:
    states are weighted by their labels, and each logit is shifted by the difference of the two log odds, which is what
    a predictor does that learns of the new prior. 0.5 is a balanced test; 0.75 one where one seat of four loses. The
    states given may be a part of a population: `share` is then the share of label 1 in all of it, and `prior` what that
    is to become. All NaN where the labels of a population to be reweighted are all alike.
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
    """95 % intervals of `bce` and `accuracy`: a bootstrap over games, since the states of one game share its end.

    `games`: i[n], equal for states of one game. NaN with fewer than two games.
    """
    _, place = np.unique(games, return_inverse=True)
    sizes = np.bincount(place).astype(float)
    z, ones, zeros = np.asarray(logits, np.float64), np.asarray(labels, np.float64), 1.0 - labels

    def interval(values: np.ndarray) -> tuple[float, float]:
        columns = np.column_stack([np.bincount(place, values), sizes])
        return bootstrap(columns, lambda means: means[:, 0] / means[:, 1], seed)

    return {"bce": interval(_bce(z, ones, zeros)), "accuracy": interval(_right(z, ones, zeros))}


def reliability(logits: np.ndarray, labels: np.ndarray, prior: float | None = None, bins: int = BINS) -> Reliability:
    """What was predicted and what came, in at most `bins` bins; `prior` as in `measure`."""
    z, ones, zeros = _population(logits, labels, prior, None)
    return _binned(sigmoid(z), ones, zeros, bins)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """The share that belongs to a logit, f8[n], without overflow."""
    return np.exp(-np.logaddexp(0, -np.asarray(logits, np.float64)))


def entropy(share: float) -> float:
    """The cross-entropy of always predicting a share that is right on average, in nats."""
    return -sum(part * math.log(part) for part in (share, 1 - share) if part > 0)


def log_odds(share: float) -> float:
    """The logit of a share in (0, 1)."""
    return math.log(share) - math.log1p(-share)


def draw_reliability(curves: Mapping[str, Reliability], title: str, path: str | Path) -> None:
    """Draw calibration curves by name into a file (.png, .svg or .pdf). Raises CardaiError if it cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 4.8), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, curve in curves.items():
        axes.plot(curve.predicted, curve.observed, "o-", markersize=4, label=f"{name}: ECE {curve.ece:.4f}")
    axes.set(title=title, xlabel="predicted", ylabel="observed", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left")
    save_figure(figure, path)


def draw_losses(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    title: str,
    path: str | Path,
    floor: float | None = None,
) -> None:
    """Draw loss curves, name -> (epochs, losses), into a file; `floor`: the loss of always saying the prior."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for name, (epochs, losses) in lines.items():
        axes.plot(epochs, losses, ".-", markersize=4, linewidth=1.2, label=name)
    if floor is not None:
        axes.axhline(floor, color="0.6", linestyle="--", linewidth=1, label="always the mean label")
    axes.set(title=title, xlabel="epoch", ylabel="cross-entropy (nats)")
    axes.grid(alpha=0.3)
    axes.legend()
    save_figure(figure, path)


def save_figure(figure: Any, path: str | Path) -> None:
    """Save a matplotlib figure whole or not at all. Raises CardaiError when it cannot be written."""
    place = Path(path)
    content = io.BytesIO()
    figure.savefig(content, format=place.suffix[1:] or None, dpi=150)
    write_bytes(place, content.getvalue())


def _population(
    logits: np.ndarray, labels: np.ndarray, prior: float | None, share: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits and each state's weight as a 1 and as a 0, f8[n]; all weights sum to 1. Empty where there is none."""
    z, ones = np.asarray(logits, np.float64), np.asarray(labels, np.float64)
    if z.shape != ones.shape or z.ndim != 1:
        raise ValueError(f"logits {z.shape} and labels {ones.shape} do not fit: want [n] of both")
    if not len(z):
        return z, ones, ones
    if prior is None:
        return z, ones / len(z), (1 - ones) / len(z)
    if not 0 < prior < 1:
        raise ValueError(f"a prior is between 0 and 1, not {prior}")
    share = float(np.mean(ones)) if share is None else share
    if not 0 < share < 1:
        return z[:0], ones[:0], ones[:0]
    ones, zeros = ones * (prior / share), (1 - ones) * ((1 - prior) / (1 - share))
    mass = ones.sum() + zeros.sum()
    return z + log_odds(prior) - log_odds(share), ones / mass, zeros / mass


def _bce(z: np.ndarray, ones: np.ndarray, zeros: np.ndarray) -> np.ndarray:
    """Each state's part of the cross-entropy."""
    return ones * np.logaddexp(0, -z) + zeros * np.logaddexp(0, z)


def _right(z: np.ndarray, ones: np.ndarray, zeros: np.ndarray) -> np.ndarray:
    """Each state's part of the accuracy; a logit of 0 is half right."""
    sign = np.sign(z)
    return 0.5 * (ones * (1 + sign) + zeros * (1 - sign))


def _binned(p: np.ndarray, ones: np.ndarray, zeros: np.ndarray, bins: int) -> Reliability:
    """Predictions in bins: a state is in the bin that the middle of its value's share of all weight lies in."""
    values, place = np.unique(p, return_inverse=True)
    mass = np.bincount(place, ones + zeros, len(values))
    middle = (np.cumsum(mass) - 0.5 * mass) / max(mass.sum(), 1e-300)
    chosen = np.minimum((middle * bins).astype(int), bins - 1)[place]
    weight = np.bincount(chosen, ones + zeros, bins)
    kept = weight > 0
    predicted = np.bincount(chosen, (ones + zeros) * p, bins)[kept] / weight[kept]
    observed = np.bincount(chosen, ones, bins)[kept] / weight[kept]
    return Reliability(predicted, observed, weight[kept] / weight.sum())
