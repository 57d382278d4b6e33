"""Estimates with intervals, and verdicts, for games that come in deals.

All games of one deal share its cards, so they are a cluster and not independent. Outcomes are given by deal, f8[D, R]:
row d holds the games of deal d, NaN for a game that was not played (in an interrupted run). Proportions get Wilson's
score interval with the effective number of games, other means a bootstrap interval over deals.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

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


def proportion(outcomes: np.ndarray, level: float = LEVEL) -> Estimate:
    """The share of ones among outcomes 0 and 1, f8[D, R], with Wilson's interval on the effective number of games.

    The effective number is n / design_effect, times (z/t)^2 with Student's t on D - 1 degrees of freedom, since an
    effect from few deals is itself uncertain (Korn and Graubard 1998). With one game a deal, it is n: plain Wilson.
    """
    sums, sizes = _by_deal(outcomes)
    n, deals = int(sizes.sum()), len(sizes)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0)
    p, effect = float(sums.sum()) / n, design_effect(outcomes)
    effective = n / effect
    if sizes.max() > 1:
        effective *= _few_deals(deals, level)
    low, high = wilson(p * effective, effective, level)
    return Estimate(p, low, high, n, deals, effect)


def design_effect(outcomes: np.ndarray) -> float:
    """The variance of a share divided by that of as many independent games, for outcomes f8[D, R] of 0 and 1.

    The variance is that of the ratio estimator p = (sum of y_d) / (sum of m_d) over deals with m_d games and y_d ones:
    D/(D-1) * sum (y_d - p m_d)^2 / (sum m_d)^2. For n independent games it is p(1-p)/n. The quotient is clipped to
    between 1 and the size of the largest deal, which its true value cannot exceed. It can be below 1, when the seats of
    a deal share one loss; no estimate makes use of that. A single deal counts as one game. If all games end alike, the
    effect cannot be estimated and is taken as 1.
    """
    sums, sizes = _by_deal(outcomes)
    n, deals = sizes.sum(), len(sizes)
    if n == 0 or not 0 < sums.sum() < n:
        return 1.0
    if deals < 2:
        return float(sizes.max())
    p = sums.sum() / n
    variance = deals / (deals - 1) * np.sum((sums - p * sizes) ** 2) / n**2
    return float(np.clip(variance / (p * (1 - p) / n), 1.0, sizes.max()))


def mean(outcomes: np.ndarray, seed: int = 0, level: float = LEVEL) -> Estimate:
    """The mean of outcomes f8[D, R] with the percentile interval of a bootstrap over deals."""
    sums, sizes = _by_deal(outcomes)
    n, deals = int(sizes.sum()), len(sizes)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0)
    low, high = bootstrap(np.column_stack([sums, sizes]), lambda means: means[:, 0] / means[:, 1], seed, level)
    return Estimate(float(sums.sum()) / n, low, high, n, deals)


def estimate(outcomes: np.ndarray, seed: int = 0, level: float = LEVEL) -> Estimate:
    """The estimate of a mean: `proportion` if every outcome is 0 or 1, else `mean`."""
    return proportion(outcomes, level) if _is_binary(outcomes) else mean(outcomes, seed, level)


def of_people(outcomes: np.ndarray, least: float = 0.0, most: float = 1.0, level: float = LEVEL) -> Estimate:
    """What a person like these scores in the mean: each person counts once, however many games they played.

    outcomes: f8[K, R], from `least` to `most`: row k holds the games of person k, NaN for none. The estimate is the
    mean m of the people's means. The interval is Wilson's, with m(1 - m) / s^2 for the number of games, where s is the
    standard error of m over the people, and with Student's t on K - 1 degrees of freedom for z. So it holds for people
    of unequal strength and with unequal numbers of games. The bounds are NaN for fewer than `FEWEST_PEOPLE`.
    """
    sums, sizes = _by_deal(outcomes)
    n, people = int(sizes.sum()), len(sizes)
    if not people:
        return Estimate(math.nan, math.nan, math.nan, 0, 0)
    means = (sums / sizes - least) / (most - least)
    centre, low, high, effect = float(means.mean()), math.nan, math.nan, 1.0
    if people >= FEWEST_PEOPLE:
        square, spread = float(means.var(ddof=1)) / people, centre * (1 - centre)
        effective = spread / square if square and spread else float(n)
        effect = max(n / effective, 1.0)
        effective *= _few_deals(people, level)
        low, high = wilson(centre * effective, effective, level)
    point, low, high = (least + (most - least) * value for value in (centre, low, high))
    return Estimate(point, low, high, n, people, effect)


def bootstrap(
    columns: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray], seed: int = 0, level: float = LEVEL
) -> tuple[float, float]:
    """The percentile interval of a statistic of column means, over the rows of `columns`, f8[D, C].

    `statistic` gets the column means of all resamples, f8[B, C], and returns f8[B]. The same seed gives the same
    interval. With fewer than two rows, the bounds are NaN.
    """
    if len(columns) < 2:
        return math.nan, math.nan
    return percentiles(statistic(resampled_means(columns, seed)), level)


def resampled_means(columns: np.ndarray, seed: int) -> np.ndarray:
    """Column means f8[B, C] of B = `RESAMPLES` resamples of the rows of `columns`, f8[D, C] with D > 0."""
    rng, rows = np.random.default_rng(seed), len(columns)
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
    one: np.ndarray, other: np.ndarray, *, lower_is_better: bool = False, seed: int = 0, level: float = LEVEL
) -> Comparison:
    """Compare two agents' outcomes on the same deals, f8[D, R] and f8[D, S], deal by deal.

    Deals that one of them has not played are left out. If all outcomes are 0 or 1, the interval of the difference is
    made of the two Wilson intervals (Newcombe's square-and-add) with the correlation of the two agents' shares over
    deals, so that the luck of the deal, which both have, cancels. Else it is a bootstrap of the difference over deals.
    """
    first, second = _by_deal(one, keep_empty=True), _by_deal(other, keep_empty=True)
    if len(first[0]) != len(second[0]):
        raise ValueError(f"{len(first[0])} and {len(second[0])} deals cannot be compared deal by deal")
    both = (first[1] > 0) & (second[1] > 0)
    one, other = _as_deals(one)[both], _as_deals(other)[both]
    if _is_binary(one) and _is_binary(other):
        difference = _difference_of_shares(one, other, level)
    else:
        difference = _difference_of_means(one, other, seed, level)
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


def _difference_of_shares(one: np.ndarray, other: np.ndarray, level: float) -> Estimate:
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


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Returns the correlation of two agents' shares over deals.

    It is 0 if there are too few deals or one share does not vary.
    """
    if len(one) < FEWEST_DEALS:
        return 0.0
    first, second = np.nanmean(one, axis=1), np.nanmean(other, axis=1)
    spread = first.std() * second.std()
    if spread == 0.0:
        return 0.0
    return float(np.clip(np.mean((first - first.mean()) * (second - second.mean())) / spread, -1.0, 1.0))


def _difference_of_means(one: np.ndarray, other: np.ndarray, seed: int, level: float) -> Estimate:
    columns = np.column_stack([*_by_deal(one), *_by_deal(other)])

    def difference(means: np.ndarray) -> np.ndarray:
        return means[:, 0] / means[:, 1] - means[:, 2] / means[:, 3]

    point = float(difference(columns.mean(axis=0)[None])[0]) if len(columns) else math.nan
    low, high = bootstrap(columns, difference, seed, level)
    return Estimate(point, low, high, int(min(columns[:, 1].sum(), columns[:, 3].sum())), len(columns))


def _verdict(difference: Estimate, lower_is_better: bool) -> str:
    if difference.deals < FEWEST_DEALS or difference.contains(0.0):
        return "undecided"
    return "better" if (difference.point < 0) == lower_is_better else "worse"


def _as_deals(outcomes: np.ndarray) -> np.ndarray:
    values = np.asarray(outcomes, float)
    return values[:, None] if values.ndim == 1 else values


def _by_deal(outcomes: np.ndarray, keep_empty: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Each deal's sum and number of games, f8[D] both. Deals without a game are left out unless `keep_empty`."""
    values = _as_deals(outcomes)
    sums, sizes = np.nansum(values, axis=1), np.isfinite(values).sum(axis=1).astype(float)
    played = slice(None) if keep_empty else sizes > 0
    return sums[played], sizes[played]


def _is_binary(outcomes: np.ndarray) -> bool:
    values = np.asarray(outcomes, float)
    return bool(np.all((values == 0) | (values == 1) | np.isnan(values)))


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
