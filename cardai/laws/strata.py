"""Kinds of position (strata), so that the laws look at rare positions too, and not only at those that every game has.

A position belongs to several strata: one for its quarter of the game, one for the hands that are left and their sizes,
and so on. They are told from what the core can see: the header, the moves, and the sizes of the places that
`Table.holdings` lists.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cardai.game.compiled.native import HEADER

LARGE = 4  # cards by which a hand grows or shrinks in a large change
MOST_COUNTED = 3  # larger sizes of hands count as one kind
NEARLY = 2  # a number of a state that is as small as this may be a count that has nearly run out

Stratum = tuple[str, int]
"""What is looked at, and its value."""

LARGE_CHANGE: Stratum = ("before a large change", 1)
"""The positions before a hand grows or shrinks by at least LARGE cards."""

GROWTH = "before a place grows"
"""The kind of the positions before a place that is no hand grows by at least LARGE cards, as a stock does that discards
return to: a stratum for each number of seats and each place, the number of the place plus 1 the value."""

SELDOM = "before a field changes that seldom does"
"""The kind of the positions before a field changes that changes at most MOST_CHANGES times before the game ends: a
stratum for each field and each number of seats. What happens once a game, such as that hands are shown to those who are
out, often changes such a field."""

MOST_CHANGES = 2

MANY = {"hands": 12, "number": 4, "before a large change": 2}
"""How many positions of a kind are taken in each round, if not one: of kinds with many strata or with rare faults."""


def strata_of(table: str, states: np.ndarray, sizes: np.ndarray, counters: Sequence[str]) -> dict[Stratum, np.ndarray]:
    """The plies of a game that belong to each stratum: i64[at least 1] by stratum.

    `table`: the variant and the number of seats, in words. `states`: STATE[plies + 1], the last one finished. `sizes`:
    i64[plies + 1, places], the number of cards in each place; it may have no column. `counters`: fields of the state
    with single numbers.
    """
    found = {}
    if len(states) > 1:
        for what, values in _kinds(table, states, sizes, counters):
            for value in np.unique(values[values > 0]):
                found[what, int(value)] = np.flatnonzero(values == value)
    return found


def _kinds(
    table: str, states: np.ndarray, sizes: np.ndarray, counters: Sequence[str]
) -> Iterator[tuple[str, np.ndarray]]:
    """What is looked at, and its value at each ply: i64[plies]. A value of 0 makes no stratum."""
    plies, seats = len(states) - 1, int(states["seats"][0])
    at, turns = np.arange(plies), states["turn"][:-1]
    yield f"quarter: of a game with {seats} seats", 1 + 4 * at // plies
    last = np.array([np.flatnonzero(turns == seat).max(initial=-1) for seat in range(seats)])
    yield "seats that have moves to come", (last >= at[:, None]).sum(axis=1)
    step = np.append((turns[1:] - turns[:-1]) % seats, 0)
    yield f"a seat is passed over: {seats} seats", np.where(step == np.bincount(step).argmax(), 0, step)
    yield "midway", states["midway"][:-1] != 0
    witnesses = np.minimum(np.bitwise_count(states["revealed"]), 2).astype(np.int64)
    yield "turned up to one or more", witnesses[:-1]
    yield "turns up to one or more", witnesses[1:]
    for name in (states.dtype.names or ())[len(HEADER) :]:
        field = states[name].reshape(len(states), -1)
        changes = (field[1:] != field[:-1]).any(axis=1) & (states["turn"][1:] >= 0)
        yield f"{SELDOM}: {name}, {seats} seats", changes & (changes.sum() <= MOST_CHANGES)
    for name in counters:
        values = states[name][:-1]
        yield f"number: {name}, {table}", np.where(values <= NEARLY, values, 0)
    if sizes.size:
        hands = sizes[:, :seats]  # the first places are taken for the hands, as they are in most games
        left, most = (hands > 0).sum(axis=1), hands.max(axis=1)
        least = np.where(hands > 0, hands, most[:, None]).min(axis=1)
        kinds = 100 * left + 10 * np.minimum(least, MOST_COUNTED) + np.minimum(most, MOST_COUNTED)
        yield "hands: left, the smallest, the largest", kinds[:-1]
        yield "places emptied", ((sizes[0] > 0) & (sizes[:-1] == 0)).sum(axis=1)
        for place, left in enumerate(sizes[:, seats:].T, seats + 1):
            runs_out = np.append((left[:-1] > 0) & (left[1:] == 0), False)
            yield f"a place runs out: {seats} seats", place * runs_out[:-1]
            yield f"a place has just run out: {seats} seats", place * np.append(False, runs_out[:-2])
            yield f"the last card of a place: {seats} seats", place * (left[:-1] == 1)
        is_large = np.abs(np.diff(hands, axis=0)).max(axis=1) >= LARGE
        yield LARGE_CHANGE[0], is_large
        yield "after a large change", np.append(False, is_large[:-1])
        for place, growth in enumerate(np.diff(sizes[:, seats:], axis=0).T, seats + 1):
            grows = place * (growth >= LARGE)
            yield f"{GROWTH}: {seats} seats", grows
            yield f"after a place grows: {seats} seats", np.append(0, grows[:-1])


def in_rounds(strata: Iterable[Stratum]) -> Iterator[Stratum]:
    """The strata again and again, in rounds in which each kind has its turn, the rarest strata of a kind first.

    `strata`: at least one, the rarest first. The kind is what stands before a colon in what is looked at.
    """
    kinds: dict[str, list[Stratum]] = {}
    for stratum in strata:
        kinds.setdefault(stratum[0].partition(":")[0], []).append(stratum)
    turns = [(itertools.cycle(found), MANY.get(kind, 1)) for kind, found in kinds.items()]
    while True:
        for strata_of_kind, count in turns:
            yield from itertools.islice(strata_of_kind, count)
