"""The inductive law: a seat's worlds after a move are what the move makes of its worlds before, and all are as likely.

If the worlds before a move are right, then those after it are the outcomes of the move in them that look to the seat
like the true state: none is missing, and there is no other. The laws list both sides where they are few enough. So they
need not know what is public and what one seat alone knows, and find knowledge that fixes no single card ("at least one
of these"). Positions with few worlds are searched for, mostly late in games, and chosen from many kinds of move.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.conformance.evidence import HINT, SIGMA, bits, place_of_bit, unevenness
from cardai.conformance.law import law
from cardai.conformance.listing import (
    CERTAIN,
    LIKELY,
    TEXTS,
    distinct,
    is_truncated,
    looking_like,
    marks,
    outcomes,
    told_alike,
    worlds_listed,
)
from cardai.conformance.testbed import Position, Testbed, Trace, move_text

PROBE = 24  # worlds drawn to see whether a seat has few; two are the same if it has up to a few hundred
MOST = 1500  # worlds that are listed
PLIES = 16  # positions probed of each game


@dataclass(frozen=True)
class Place:
    """A position and a seat that has few worlds there. `kinds`: how many different ones a probe showed."""

    here: Position
    seat: int
    kinds: int

    @property
    def stratum(self) -> tuple[Any, ...]:
        """What kind of place this is: the laws look at as many kinds as they can."""
        here, after = self.here, self.here.following.state
        part = 4 * here.ply // len(here.trace.moves)
        size = int(np.searchsorted((1, 4, PROBE - 1), self.kinds))
        moved = (int(here.state["turn"]) - self.seat) % len(here.seats)
        reveals, ends = int(after["revealed"]) >> self.seat & 1, int(after["turn"]) < 0
        return here.trace.setup, moved, reveals, int(after["midway"]), ends, part, size


@law
def worlds_after_a_move_are_the_outcomes_of_worlds_before(testbed: Testbed) -> None:
    """Where a seat's worlds can be listed, those after a move are its outcomes in those before: no more, no less.

    The outcomes of all moves that the seat is told in the same words count, as far as they look to it like the true
    state. A world that is missing: `resample` assumes something that the seat has not seen. One too many: it deals
    anew something that the seat has seen.
    """
    left = testbed.effort.listed
    for place in _in_turn(testbed, "outcomes"):
        left -= _compare(testbed, place)
        if left < 0:
            return


def _compare(testbed: Testbed, place: Place) -> int:
    """Break the law if it is broken here. Returns how many states were looked at."""
    here, seat = place.here, place.seat
    looked, difference = _difference(testbed, here, seat, LIKELY)
    if difference is not None:
        _, difference = _difference(testbed, here, seat, CERTAIN)
    if difference is None:
        return looked
    missing, more, number = difference
    played = move_text(testbed.game, here.state, here.move[0])
    if len(missing):
        what = f"resample never deals {len(missing)} of {number} worlds that seat {seat} must hold possible"
        raise here.following.broken(f"after {played}, {what}: {_example(testbed, here.following, missing)}")
    what = f"resample deals {len(more)} worlds beside the {number} that seat {seat} can hold possible"
    raise here.following.broken(f"after {played}, {what}: {_example(testbed, here.following, more)}")


def _difference(
    testbed: Testbed, here: Position, seat: int, surety: float
) -> tuple[int, tuple[np.ndarray, np.ndarray, int] | None]:
    """How many states were looked at; the worlds that are missing, those too many, and how many there should be.

    Instead of the three it gives None if there is no difference, or too much to list.
    """
    before = worlds_listed(testbed, here, seat, MOST, surety)
    after = None if before is None else worlds_listed(testbed, here.following, seat, MOST, surety)
    if before is None or after is None or is_truncated(testbed, here, seat, before):
        return 8 * MOST, None
    states, moves = told_alike(testbed, here, seat, before)
    reached = outcomes(testbed, states, moves, surety, here.ply)
    looked = 500 + 8 * (len(before) + len(after)) + len(states)  # 500: the work that any place costs
    if reached is None:
        return looked, None
    expected = distinct(looking_like(testbed, here.following, seat, reached, TEXTS if surety == LIKELY else None))
    known, drawn = marks(expected), marks(after)
    missing, more = expected[~np.isin(known, drawn)], after[~np.isin(drawn, known)]
    return looked + 2 * len(reached), (missing, more, len(expected)) if len(missing) or len(more) else None


def _example(testbed: Testbed, here: Position, worlds: np.ndarray) -> str:
    """How one of some worlds differs from the true state, for a message."""
    differing = bits(worlds[:1])[0] != bits(here.states)[0]
    if not differing.any():
        return "the true state is one of them"
    return f"one differs from the true state in state.{place_of_bit(testbed.game.state, int(np.argmax(differing)))}"


def _in_turn(testbed: Testbed, salt: str) -> Iterator[Place]:
    """All places found, one of each stratum, then another of each, in an order drawn from the testbed's seed."""
    strata: defaultdict[tuple[Any, ...], list[Place]] = defaultdict(list)
    for place in _places(testbed):
        strata[place.stratum].append(place)
    chance = testbed.chance(salt)
    queues = [[group[i] for i in chance.permutation(len(group))] for group in strata.values()]
    while queues:
        for i in chance.permutation(len(queues)):
            yield queues[i].pop()
        queues = [queue for queue in queues if queue]


def _places(testbed: Testbed) -> Iterator[Place]:
    """Where a seat seems to have few worlds."""
    for trace in testbed.traces:
        plies = _probed(testbed, trace)
        if not plies:
            continue
        repeated = np.repeat(trace.states[plies], PROBE)
        for seat in range(trace.setup.seats):
            worlds = testbed.compiled.worlds_of_each(repeated, seat, trace.seed % 1_000_003 + seat)
            for ply, seen in zip(plies, marks(worlds).reshape(-1, PROBE), strict=True):
                kinds = len(np.unique(seen))
                if kinds < PROBE:
                    yield Place(Position(trace, ply), seat, kinds)


def _probed(testbed: Testbed, trace: Trace) -> list[int]:
    """At most PLIES plies of a game, half of them from its last quarter, where few cards are hidden."""
    number = len(trace.moves)
    if number <= PLIES:
        return list(range(number))
    chance = testbed.chance("probes", trace.setup, trace.seed)
    late = number - max(PLIES // 2, number // 4)
    chosen = (
        chance.choice(late, PLIES // 2, replace=False),
        late + chance.choice(number - late, PLIES // 2, replace=False),
    )
    return sorted(int(ply) for part in chosen for ply in part)


@law
def listed_worlds_are_even(testbed: Testbed) -> None:
    """Where a seat's worlds can be listed, all are drawn equally often, and so is each of their bits (5 sigma)."""
    left = testbed.effort.tallied
    for place in _in_turn(testbed, "tallies"):
        if place.kinds == 1:
            continue
        worlds = worlds_listed(testbed, place.here, place.seat, MOST // 3, LIKELY)
        if worlds is None or len(worlds) < 2:
            continue
        left -= 1
        draws = max(12_000, 40 * len(worlds))
        if not _is_even(testbed, place, worlds, draws, HINT, 1):
            worlds = worlds_listed(testbed, place.here, place.seat, MOST, CERTAIN)
            if worlds is not None and not _is_even(testbed, place, worlds, 6 * draws, SIGMA, 2):
                what = f"the {len(worlds)} worlds of seat {place.seat} are not drawn equally often"
                raise place.here.broken(f"{what}{_lean(testbed, place, worlds, 6 * draws, 2)}")
        if left <= 0:
            return


def _is_even(testbed: Testbed, place: Place, worlds: np.ndarray, draws: int, sigma: float, seed: int) -> bool:
    counts = _tally(testbed, place, worlds, draws, seed)
    return unevenness(counts.tolist()) <= sigma and bool((np.abs(_leans(worlds, counts)) <= sigma).all())


def _tally(testbed: Testbed, place: Place, worlds: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """How often each of the listed worlds is drawn: i64[N]."""
    drawn = testbed.compiled.worlds(place.here.states, place.seat, draws, seed)
    known, seen = marks(worlds), marks(drawn)
    places = np.minimum(np.searchsorted(known, seen), len(known) - 1)
    return np.bincount(places[known[places] == seen], minlength=len(known))


def _leans(worlds: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """How much more often each bit was drawn set than in an even draw, in standard deviations: f8[bits]."""
    are_set, draws = bits(worlds), int(counts.sum())
    share = are_set.mean(axis=0)
    seen = counts.astype(np.float64) @ are_set
    return (seen - draws * share) / np.sqrt(np.maximum(draws * share * (1 - share), 1e-9))


def _lean(testbed: Testbed, place: Place, worlds: np.ndarray, draws: int, seed: int) -> str:
    """The bit that is most uneven, in words, if it is a bit."""
    leans = _leans(worlds, _tally(testbed, place, worlds, draws, seed))
    worst = int(np.argmax(np.abs(leans)))
    if abs(leans[worst]) <= SIGMA:
        return ""
    return f": state.{place_of_bit(testbed.game.state, worst)} is set too {'often' if leans[worst] > 0 else 'rarely'}"
