"""Estimates with intervals, and verdicts, for games that come in deals.

All games of one deal share its cards, so they are a cluster and not independent. Outcomes are given by deal, f8[D, R]:
row d holds the games of deal d, NaN for a game that was not played (in an interrupted run). Proportions get Wilson's
score interval with the effective number of games, other means a bootstrap interval over deals.

Instead of outcomes, `estimate`, `proportion`, `mean` and `compare` take their sums by deal, `Deals` (`by_deal`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from cardai.playing.stats.by_deal import MOST_DEALS, Deals, distinct

LEVEL = 0.95
RESAMPLES = 2000
FEWEST_PEOPLE = 5  # no interval on fewer: how unlike people are cannot be seen in them
FEWEST_DEALS = 10  # no verdict on fewer: they are too few for a correlation and for a bootstrap

_CHUNK = 50_000  # random numbers drawn at once: few enough to stay in the processor's cache


@dataclass(frozen=True)
class Estimate:
    """A point estimate and its interval, in the same unit. The bounds are NaN if there are too few games for one.

    - `n`: games; `deals`: the independent clusters that they come from.
    - `design_effect`: how many of these games hold as much information as one independent game.
    """

    point: float
    low: float
    high: float
    n: int
    deals: int
    design_effect: float = 1.0

    def scaled(self, factor: float) -> "Estimate":
        """This estimate in another unit: `scaled(100)` turns shares into percent."""
        return replace(self, point=factor * self.point, low=factor * self.low, high=factor * self.high)

    def contains(self, value: float) -> bool:
        """Whether the interval contains a value."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        """For people: "25.2 (24.6-25.8)", with two digits if the interval is narrow."""
        if not self.n:
            return "-"
        if math.isnan(self.low):
            return f"{self.point:.1f} (no interval)"
        vanishes = any(0 < abs(bound) < 0.05 for bound in (self.low, self.high))
        digits = 2 if vanishes or self.high - self.low < 0.5 else 1
        dash = " to " if self.low < 0 else "-"
        return f"{self.point:.{digits}f} ({self.low:.{digits}f}{dash}{self.high:.{digits}f})"


UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, 0)
"""What no game tells anything of."""


@dataclass(frozen=True)
class Comparison:
    """Two agents on the same deals: `difference` is the first agent's mean less the second agent's.

    `verdict`: the first agent is "better" or "worse", or it is "undecided", which is when the interval contains 0 or
    fewer than `FEWEST_DEALS` deals were played by both.
    """

    difference: Estimate
    verdict: str


def wilson(successes: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval for a proportion. Effective numbers of successes and games need not be whole."""
    if n <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + level / 2)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(max(p * (1 - p) / n + z * z / (4 * n * n), 0.0))
    return (0.0 if successes <= 0 else max(centre - half, 0.0)), (1.0 if successes >= n else min(centre + half, 1.0))


def proportion(outcomes: np.ndarray | Deals, level: float = LEVEL) -> Estimate:
    """The share of ones among outcomes 0 and 1, f8[D, R], with Wilson's interval on the effective number of games.

    The effective number is n / design_effect, times (z/t)^2 with Student's t on D - 1 degrees of freedom, since an
    effect from few deals is itself uncertain (Korn and Graubard 1998). With one game a deal, it is n: plain Wilson.
    """
    deals = Deals.of(outcomes).played
    n = int(deals.total(deals.sizes))
    if n == 0:
        return UNKNOWN
    p, effect = deals.total(deals.sums) / n, design_effect(deals)
    effective = n / effect
    if deals.sizes.max() > 1:
        effective *= _few_deals(deals.number, level)
    low, high = wilson(p * effective, effective, level)
    return Estimate(p, low, high, n, deals.number, effect)


def design_effect(outcomes: np.ndarray | Deals) -> float:
    """The variance of a share divided by that of as many independent games, for outcomes f8[D, R] of 0 and 1.

    The variance is that of the ratio estimator p = (sum of y_d) / (sum of m_d) over deals with m_d games and y_d ones:
    D/(D-1) * sum (y_d - p m_d)^2 / (sum m_d)^2. For n independent games it is p(1-p)/n. The quotient is clipped to
    between 1 and the size of the largest deal, which its true value cannot exceed. It can be below 1, when the seats of
    a deal share one loss; no estimate makes use of that. A single deal counts as one game. If all games end alike, the
    effect cannot be estimated and is taken as 1.
    """
    deals = Deals.of(outcomes).played
    n, ones, number = deals.total(deals.sizes), deals.total(deals.sums), deals.number
    if n == 0 or not 0 < ones < n:
        return 1.0
    if number < 2:
        return float(deals.sizes.max())
    p = ones / n
    variance = number / (number - 1) * deals.total((deals.sums - p * deals.sizes) ** 2) / n**2
    return float(np.clip(variance / (p * (1 - p) / n), 1.0, deals.sizes.max()))


def mean(outcomes: np.ndarray | Deals, seed: int = 0) -> Estimate:
    """The mean of outcomes f8[D, R] with the percentile interval of a bootstrap over deals."""
    deals = Deals.of(outcomes).played
    n = int(deals.total(deals.sizes))
    if n == 0:
        return UNKNOWN
    columns = np.column_stack([deals.sums, deals.sizes])
    low, high = bootstrap(columns, lambda means: means[:, 0] / means[:, 1], seed, counts=deals.counts)
    return Estimate(deals.total(deals.sums) / n, low, high, n, deals.number)


def estimate(outcomes: np.ndarray | Deals, seed: int = 0) -> Estimate:
    """The estimate of a mean: `proportion` if every outcome is 0 or 1, else `mean`."""
    deals = Deals.of(outcomes)
    return proportion(deals) if deals.is_binary else mean(deals, seed)


def of_people(outcomes: np.ndarray, least: float = 0.0, most: float = 1.0) -> Estimate:
    """What a person like these scores in the mean: each person counts once, however many games they played.

    outcomes: f8[K, R], from `least` to `most`: row k holds the games of person k, NaN for none. The estimate is the
    mean m of the people's means. The interval is Wilson's, with m(1 - m) / s^2 for the number of games, where s is the
    standard error of m over the people, and with Student's t on K - 1 degrees of freedom for z. So it holds for people
    of unequal strength and with unequal numbers of games. The bounds are NaN for fewer than `FEWEST_PEOPLE`.
    """
    own = Deals.of(outcomes).played
    n, people = int(own.sizes.sum()), own.number
    if not people:
        return UNKNOWN
    means = (own.sums / own.sizes - least) / (most - least)
    centre, low, high, effect = float(means.mean()), math.nan, math.nan, 1.0
    if people >= FEWEST_PEOPLE:
        square, spread = float(means.var(ddof=1)) / people, centre * (1 - centre)
        effective = spread / square if square and spread else float(n)
        effect = max(n / effective, 1.0)
        effective *= _few_deals(people, LEVEL)
        low, high = wilson(centre * effective, effective)
    point, low, high = (least + (most - least) * value for value in (centre, low, high))
    return Estimate(point, low, high, n, people, effect)


def bootstrap(
    columns: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    seed: int = 0,
    level: float = LEVEL,
    counts: np.ndarray | None = None,
) -> tuple[float, float]:
    """The percentile interval of a statistic of column means, over the rows of `columns`, f8[D, C].

    `statistic` gets the column means of all resamples, f8[B, C], and returns f8[B]. `counts`: as in `resampled_means`.
    The same seed gives the same interval. With fewer than two rows, the bounds are NaN.
    """
    if (len(columns) if counts is None else counts.sum()) < 2:
        return math.nan, math.nan
    return percentiles(statistic(resampled_means(columns, seed, counts)), level)


def resampled_means(columns: np.ndarray, seed: int, counts: np.ndarray | None = None) -> np.ndarray:
    """Column means f8[B, C] of B = `RESAMPLES` resamples of the rows of `columns`, f8[D, C] with D > 0.

    `counts`: f8[D], how many rows each row stands for; None for one. Up to `MOST_DEALS` rows are drawn one by one, as
    those of all published figures were, so that these repeat to the last digit. Of more it is drawn how often each
    different row comes (multinomially), which has the same distribution and takes no longer for more rows.
    """
    rng, rows = np.random.default_rng(seed), len(columns) if counts is None else int(counts.sum())
    if rows > MOST_DEALS:
        different, often = distinct(columns, counts)
        if len(different) <= MOST_DEALS:
            step = max(1, _CHUNK // len(different))
            sizes = [min(step, RESAMPLES - first) for first in range(0, RESAMPLES, step)]
            return np.concatenate([rng.multinomial(rows, often / rows, size) @ different / rows for size in sizes])
    columns = columns if counts is None else np.repeat(columns, counts.astype(int), axis=0)
    step, means = max(1, _CHUNK // rows), []
    for first in range(0, RESAMPLES, step):
        size = min(step, RESAMPLES - first)
        drawn = rng.integers(rows, size=(size, rows)) + rows * np.arange(size)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=size * rows).reshape(size, rows)
        means.append(weights @ columns / rows)
    return np.concatenate(means)


def percentiles(drawn: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """The bounds between which the middle share `level` of the numbers lies."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def compare(
    one: np.ndarray | Deals,
    other: np.ndarray | Deals,
    *,
    lower_is_better: bool = False,
    seed: int = 0,
    level: float = LEVEL,
) -> Comparison:
    """Compare two agents' outcomes on the same deals, f8[D, R] and f8[D, S], deal by deal.

    Deals that one of them has not played are left out. If all outcomes are 0 or 1, the interval of the difference is
    made of the two Wilson intervals (Newcombe's square-and-add) with the correlation of the two agents' shares over
    deals, so that the luck of the deal, which both have, cancels. Else it is a bootstrap of the difference over deals.
    Two `Deals` must be of one `DealSums`.
    """
    first, second = Deals.of(one), Deals.of(other)
    if len(first.sums) != len(second.sums):
        raise ValueError(f"{first.number} and {second.number} deals cannot be compared deal by deal")
    both = (first.sizes > 0) & (second.sizes > 0)
    first, second = first.where(both), second.where(both)
    if first.is_binary and second.is_binary:
        difference = _difference_of_shares(first, second, level)
    else:
        difference = _difference_of_means(first, second, seed, level)
    return Comparison(difference, _verdict(difference, lower_is_better))


def agreement(figure: Estimate, claim: float, claim_games: int = 0) -> str:
    """Compare a figure with a claim, both as fractions: it "agrees", or the figure is "lower" or "higher".

    A claim from `claim_games` games has an interval of its own (Wilson). The two agree if the interval of their
    difference contains 0. A claim from 0 games is taken as exact: the two agree if the figure's interval contains it.
    """
    low, high = wilson(claim * claim_games, claim_games) if claim_games else (claim, claim)
    low, high = _square_and_add(figure.point, (figure.low, figure.high), claim, (low, high), 0.0)
    if math.isnan(low) or low <= 0 <= high:
        return "agrees"
    return "lower" if high < 0 else "higher"


def _difference_of_shares(one: Deals, other: Deals, level: float) -> Estimate:
    first, second = proportion(one, level), proportion(other, level)
    bounds = (first.low, first.high), (second.low, second.high)
    low, high = _square_and_add(first.point, bounds[0], second.point, bounds[1], _correlation(one, other))
    return Estimate(first.point - second.point, low, high, min(first.n, second.n), first.deals)


def _square_and_add(
    p: float, p_bounds: tuple[float, float], q: float, q_bounds: tuple[float, float], correlation: float
) -> tuple[float, float]:
    """Returns the interval of p - q from those of p and q (Newcombe 1998; if correlated, Zou and Donner 2008)."""

    def reach(a: float, b: float) -> float:
        return math.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0))

    below = reach(p - p_bounds[0], q_bounds[1] - q)
    above = reach(p_bounds[1] - p, q - q_bounds[0])
    return p - q - below, p - q + above


def _correlation(one: Deals, other: Deals) -> float:
    """Returns the correlation of two agents' shares over deals.

    It is 0 if there are too few deals or one share does not vary.
    """
    if one.number < FEWEST_DEALS:
        return 0.0
    first, second = (own.sums / own.sizes for own in (one, other))
    first, second = first - one.mean(first), second - one.mean(second)
    spread = math.sqrt(one.mean(first * first)) * math.sqrt(one.mean(second * second))
    if spread == 0.0:
        return 0.0
    return float(np.clip(one.mean(first * second) / spread, -1.0, 1.0))


def _difference_of_means(one: Deals, other: Deals, seed: int, level: float) -> Estimate:
    columns = np.column_stack([one.sums, one.sizes, other.sums, other.sizes])

    def difference(means: np.ndarray) -> np.ndarray:
        return means[:, 0] / means[:, 1] - means[:, 2] / means[:, 3]

    games = int(min(one.total(one.sizes), other.total(other.sizes)))
    if not games:
        return UNKNOWN
    whole = np.average(columns, axis=0, weights=one.counts)
    low, high = bootstrap(columns, difference, seed, level, one.counts)
    return Estimate(float(difference(whole[None])[0]), low, high, games, one.number)


def _verdict(difference: Estimate, lower_is_better: bool) -> str:
    if difference.deals < FEWEST_DEALS or difference.contains(0.0):
        return "undecided"
    return "better" if (difference.point < 0) == lower_is_better else "worse"


def _few_deals(deals: int, level: float) -> float:
    """(z / t)^2 with Student's t on deals - 1 degrees of freedom, by its expansion in 1 / degrees (Fisher 1926)."""
    z, free = NormalDist().inv_cdf(0.5 + level / 2), max(deals - 1, 1)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return (z / sum(term / free**power for power, term in enumerate(terms))) ** 2
