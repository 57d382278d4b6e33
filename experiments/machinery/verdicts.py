"""Verdicts: what our figures say of the claims that they are compared with.

    rows = judged(rows)          # all rows of a result: each gets "verdict" and "needed"

A verdict depends on the difference, our figure less the claim, and its 95 % interval, which covers the sampling errors
of both.

| verdict | claim of a figure | claim of a direction |
|---|---|---|
| reproduced | the interval lies inside the margin, `within` on either side of 0 | it is on the side claimed |
| better | otherwise, if the difference is not 0, and ours is better | |
| missed | otherwise, if it is not 0, and ours is worse, or different if neither is better | it is on the other side |
| undecided | neither: more games of ours would decide it, `needed` in all if the figure stays where it is | so |
| undecidable | neither, and however many we play the source's own error leaves it open | |

That a difference is not 0 is tested for all figures of a line of a table together, by Holm's method: with 95 %
confidence no verdict among them is "better" or "missed" by chance (Holm 1979, Scandinavian Journal of Statistics 6). A
line is what one source says of one player. A whole page together would hide misses behind the number of its figures.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

from cardai.experiments.machinery.findings import Claim, Measurement, difference, student, tail

REPRODUCED, BETTER, MISSED = "reproduced", "better", "missed"
UNDECIDED, UNDECIDABLE = "undecided", "undecidable"
VERDICTS = (REPRODUCED, BETTER, MISSED, UNDECIDED, UNDECIDABLE)

CHANCE = 0.05
_MOST = 10**12
_NORMAL = NormalDist()
_USUAL = _NORMAL.inv_cdf(1 - CHANCE / 2)


class Verdict(NamedTuple):
    """`needed`: how many games, or of what else the figure counts, would decide an undecided claim.

    None for other verdicts, and if more than 10^12 would be needed: the figure shows no difference at all.
    """

    verdict: str
    needed: int | None = None


class _Difference(NamedTuple):
    """Our figure beside what the source measured."""

    ours: Measurement
    theirs: Measurement

    @property
    def whole(self) -> tuple[float, float, float]:
        """Ours less theirs: its point, and its 95 % interval, which covers the errors of both."""
        return _ends(difference(self.ours, self.theirs))

    @property
    def chance(self) -> float:
        """The probability of a difference as large as this one where there is none."""
        point, low, high = self.whole
        half = point - low if point > 0 else high - point
        if half <= 0:
            return 0.0 if point else 1.0
        if self.ours.counted != "games" and 2 <= self.ours.n <= 30:
            free = self.ours.n - 1
            return tail(abs(point) / half * student(free), free)
        return 2 * (1 - _NORMAL.cdf(abs(point) / half * _USUAL))

    def inside(self, margin: float) -> bool:
        """Whether all of the interval lies within the margin."""
        _, low, high = self.whole
        return max(-low, high) <= margin

    def times(self, margin: float | None, chance: float) -> float | None:
        """How many times as many games decide the claim if the difference stays where it is; None if none do.

        `margin`: None for a claim of a direction. `chance`: below which a difference counts as one.
        """
        (ours, own_low, own_high), (theirs, low, high) = _ends(self.ours), _ends(self.theirs)
        point = ours - theirs
        errors = (ours - own_low, high - theirs), (own_high - ours, theirs - low)  # below and above the difference
        farthest = abs(point) * _USUAL / _NORMAL.inv_cdf(1 - chance / 2)
        ways = [_times(*errors[0 if point > 0 else 1], farthest)]
        if margin is not None:
            each = [_times(*error, room) for error, room in zip(errors, (margin + point, margin - point), strict=True)]
            ways.append(None if None in each else max(one for one in each if one is not None))
        return min((way for way in ways if way is not None), default=None)


def _ends(figure: Measurement) -> tuple[float, float, float]:
    """The point and the interval of a figure that has them."""
    assert figure.point is not None
    assert figure.low is not None
    assert figure.high is not None
    return figure.point, figure.low, figure.high


def _times(ours: float, theirs: float, room: float) -> float | None:
    """How many times as many games bring two errors together below `room`; None if none do."""
    left = room * abs(room) - theirs**2
    return None if left <= 0 else max(1.0, ours**2 / left)


def judge(pairs: Sequence[tuple[Measurement, Claim]]) -> list[Verdict]:
    """The verdict on each figure and its claim, all of them tested together."""
    tested = {
        number: _Difference(figure, claim.measured(figure))
        for number, (figure, claim) in enumerate(pairs)
        if figure.is_decisive
    }
    differ, limit = _differing({number: beside.chance for number, beside in tested.items()})
    return [
        _verdict(claim, tested[number], number in differ, limit) if number in tested else Verdict(UNDECIDED)
        for number, (_, claim) in enumerate(pairs)
    ]


def judged(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a result with their verdicts, which replace earlier ones; "" for a row without a claim."""
    verdicts = [Verdict("")] * len(rows)
    lines: dict[tuple[str, str], list[int]] = {}
    for number, row in enumerate(rows):
        if row["claim"]:
            lines.setdefault((row["table"], row["name"]), []).append(number)
    for numbers in lines.values():
        pairs = [(Measurement(**rows[number]["figure"]), Claim(**rows[number]["claim"])) for number in numbers]
        for number, verdict in zip(numbers, judge(pairs), strict=True):
            verdicts[number] = verdict
    return [{**row, **verdict._asdict()} for row, verdict in zip(rows, verdicts, strict=True)]


def _differing(chances: Mapping[int, float]) -> tuple[set[int], float]:
    """By Holm's method: which tests show a difference, and the chance below which one more of them would."""
    differ: set[int] = set()
    for number, chance in sorted(chances.items(), key=lambda item: item[1]):
        if chance >= CHANCE / (len(chances) - len(differ)):
            break
        differ.add(number)
    return differ, CHANCE / max(1, len(chances) - len(differ))


def _verdict(claim: Claim, beside: _Difference, differs: bool, limit: float) -> Verdict:
    sided = claim.is_direction and claim.better != "neither"
    if not sided and beside.inside(claim.within):
        return Verdict(REPRODUCED)
    if differs:
        is_good = claim.better == ("higher" if beside.whole[0] > 0 else "lower")
        return Verdict((REPRODUCED if claim.is_direction else BETTER) if is_good else MISSED)
    times = beside.times(None if sided else claim.within, limit)
    if times is None:
        return Verdict(UNDECIDABLE)
    needed = math.ceil(times * beside.ours.n)
    return Verdict(UNDECIDED, needed if needed <= _MOST else None)
