"""The figures that an experiment measures: rows, each with the claim it is compared with, if any.

    claim = Claim(14.25, games=2000)
    row = Finding("Games lost, %", "NN2-HIF", "B1", Measurement(16.0, 15.5, 16.5, 20_000), claim)

`cardai.experiments.machinery.verdicts` says what a figure means for its claim.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from scipy.special import stdtr, stdtrit

from cardai.playing.stats.interval import FEWEST_DEALS, Estimate, wilson
from cardai.playing.stats.jsonable import plain


class Margin(NamedTuple):
    """`within`: the largest difference that does not matter, in the unit of the row. `of`: of which figures."""

    within: float
    of: str
    why: str


@cache
def margins() -> Mapping[str, Margin]:
    """{name: margin}, each written once in `margins.toml` with its reason, in the order of the file."""
    text = Path(__file__).with_name("margins.toml").read_text("utf-8")
    return {name: Margin(**fields) for name, fields in tomllib.loads(text).items()}


def margin(name: str) -> float:
    """The largest difference that does not matter, in the unit of the row. Raises KeyError for an unknown name."""
    return margins()[name].within


@dataclass(frozen=True)
class Measurement:
    """A measured figure and its 95 % interval, None where there is none. `n`: how many of `counted` it comes from."""

    point: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    counted: str = "games"

    @property
    def is_decisive(self) -> bool:
        """Whether there are a figure and an interval, without which a verdict is "undecided"."""
        return self.point is not None and self.low is not None and self.high is not None


@dataclass(frozen=True)
class Claim:
    """What a source claims about a figure, in the unit of the row.

    `games`: the number of games behind it, 0 if it is exact. A percentage has a Wilson interval then; a mean
    (`is_mean`) the error that ours would have from as many games, since sources do not give its spread.
    `better`: whether a "lower" or "higher" figure is better, or "neither", as for the length of games. `within`: the
    largest difference that does not matter, a `margin`. `words`: shown instead of the value. `is_direction`: the claim
    says only on which side of `value` the figure lies.
    """

    value: float
    games: int = 0
    better: str = "lower"
    within: float = margin("games")
    words: str = ""
    is_direction: bool = False
    is_mean: bool = False

    def measured(self, figure: Measurement | None = None) -> Measurement:
        """What the source measured, with its own 95 % interval, in the unit of the row.

        `figure`: ours with its interval, which a mean takes its spread from.
        """
        if not self.games:
            return Measurement(self.value, self.value, self.value)
        if self.is_mean:
            assert figure is not None
            assert figure.low is not None
            assert figure.high is not None
            half = (figure.high - figure.low) / 2 * math.sqrt(figure.n / self.games)
            return Measurement(self.value, self.value - half, self.value + half, self.games, figure.counted)
        low, high = wilson(self.value / 100 * self.games, self.games)
        return Measurement(self.value, 100 * low, 100 * high, self.games)

    def __str__(self) -> str:
        """The text that tables show in brackets after our figure."""
        return self.words or f"{self.value:g}"


def direction(better: str, words: str) -> Claim:
    """The claim that a difference is above 0 ("higher"), below it ("lower"), or that there is none ("neither")."""
    return Claim(0.0, better=better, words=words, is_direction=True)


@dataclass(frozen=True)
class Finding:
    """A figure in a table: `name` is its line, `column` its column.

    `piece`: the keys of the saved pieces it comes from, separated by spaces; these have seconds, commit and machine.
    `command`: measures this figure alone, "" if no command does. `places`: digits after the point.
    """

    table: str
    name: str
    column: str
    figure: Measurement
    claim: Claim | None = None
    piece: str = ""
    seed: int | str = 0
    command: str = ""
    places: int = 1


@dataclass(frozen=True)
class Findings:
    """What an experiment returns: its figures, without any text about them.

    `drawn`: plain JSON from which, besides the rows, its page and its charts are made.
    """

    rows: Sequence[Finding]
    drawn: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON types; the rows without verdicts."""
        return {"rows": [plain(asdict(row)) for row in self.rows], "drawn": plain(self.drawn)}


def of_estimate(estimate: Estimate | Mapping[str, Any], factor: float = 1.0) -> Measurement:
    """The figure of an estimate (or its JSON) times `factor`; no interval from fewer than ten deals."""
    values = plain(asdict(estimate)) if isinstance(estimate, Estimate) else estimate
    point, low, high = (None if values[key] is None else factor * values[key] for key in ("point", "low", "high"))
    if values.get("deals", FEWEST_DEALS) < FEWEST_DEALS:
        low = high = None
    return Measurement(point, low, high, values["n"])


def over_seeds(figures: Sequence[float], counted: str = "networks") -> Measurement:
    """The mean of figures, one for each seed. Student's interval covers the errors of training and of sampling."""
    if len(figures) < 2:
        return Measurement(figures[0] if figures else None, n=len(figures), counted=counted)
    half = student(len(figures) - 1) * stdev(figures) / math.sqrt(len(figures))
    point = mean(figures)
    return Measurement(point, point - half, point + half, len(figures), counted)


def student(free: int) -> float:
    """The two-sided 95 % point of Student's t, to three decimals. `free`: degrees of freedom, at least 1."""
    return round(float(stdtrit(free, 0.975)), 3)


def tail(value: float, free: int) -> float:
    """The chance that Student's t lies outside +-value. `free`: degrees of freedom, at least 1."""
    return 2 * float(stdtr(free, -abs(value)))


def difference(first: Measurement, second: Measurement) -> Measurement:
    """One figure less another, taken as independent; `n` is the smaller of their two."""
    assert first.point is not None
    assert second.point is not None
    point, n = first.point - second.point, min(first.n, second.n)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Measurement(point, n=n, counted=first.counted)
    below = math.hypot(first.point - first.low, second.high - second.point)
    above = math.hypot(first.high - first.point, second.point - second.low)
    return Measurement(point, point - below, point + above, n, first.counted)
