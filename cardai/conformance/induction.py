"""The inductive law: a seat's worlds after a move are what the move makes of its worlds before, and all are as likely.

If the worlds before a move are right, then those after it are the outcomes of the move in them that look to the seat
like the true state: none is missing, and there is no other. The laws list both sides where they are few enough. So they
need not know what is public and what one seat alone knows, and find knowledge that fixes no single card ("at least one
of these"). Positions with few worlds are searched for, mostly late in games, and chosen from many kinds of move.
"""

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.conformance.evidence import (
    CERTAIN,
    HINT,
    LIKELY,
    SIGMA,
    bits,
    distinct,
    enough,
    listed,
    marks,
    place_of_bit,
    unevenness,
)
from cardai.conformance.knowledge import TEXTS, is_truncated, looking_like, told_alike
from cardai.conformance.law import Steps, law
from cardai.conformance.testbed import Counted, Looked, Position, Testbed, Trace, move_text
from cardai.rule import mixed

MOST_SETTLED = 150_000  # a move that needs more settling to list its outcomes is not looked at
PROBE = 24  # worlds drawn to see whether a seat has few; two are the same if it has up to a few hundred
MOST = 1500  # worlds that are listed
PLIES = 16  # positions probed of each game
FEW_GAMES = 6  # searched for such positions before their worlds are listed
BLOCK = 20_000  # deals made at once
NEVER = 1e-6  # a world counts as never dealt if fewer unseen ones are expected by chance
NOT_LISTED = "not tested: no position was found in which the worlds of a seat are few enough to list"


@dataclass(frozen=True)
class Case:
    """A position and a seat that has few worlds there. `kinds`: how many different ones a probe showed."""

    here: Position
    seat: int
    kinds: int

    @property
    def stratum(self) -> tuple[Any, ...]:
        """What kind of case this is: the laws look at as many kinds as they can."""
        here, after = self.here, self.here.following.state
        part = 4 * here.ply // len(here.trace.moves)
        size = int(np.searchsorted((1, 4, PROBE - 1), self.kinds))
        moved = (int(here.state["turn"]) - self.seat) % len(here.seats)
        reveals, ends = int(after["revealed"]) >> self.seat & 1, int(after["turn"]) < 0
        return here.trace.setup, moved, reveals, int(after["midway"]), ends, part, size


@law
def worlds_at_the_deal_are_deals_that_look_alike(testbed: Testbed) -> Steps:
    """Where a seat's worlds at the deal can be listed, they are the deals that look to it like the true one.

    Here the induction begins. Many deals are made to find those that look like a given one.
    """
    looked = 0
    for setup in (seen := Counted(testbed.setups, "tables")):
        yield seen
        trace = Trace(setup, int(testbed.seeds(setup, 1)[0]), testbed.deals(setup, 0, 1), np.zeros(0), np.zeros(0))
        looked += sum(_is_a_deal(testbed, Position(trace, 0), seat) for seat in range(setup.seats))
    return None if looked else NOT_LISTED


def _is_a_deal(testbed: Testbed, here: Position, seat: int) -> bool:
    """Break the law if worlds of `seat` are no deals, or the reverse. Returns False if there are too many to say."""
    probe = testbed.compiled.worlds(here.states, seat, 2 * PROBE, 0)
    worlds = None if len(distinct(probe)) == len(probe) else worlds_listed(testbed, here, seat, MOST, CERTAIN)
    if worlds is None:
        return False
    chance, left, number = testbed.chance("deals", here.trace.setup, seat), testbed.effort.dealt, 0
    unseen, known = np.ones(len(worlds), bool), marks(worlds)
    while left > 0:
        some = testbed.compiled.dealt(here.states, min(left, BLOCK), int(chance.integers(2**62)))
        alike = looking_like(testbed, here, seat, some, TEXTS)
        seen, left, number = marks(alike), left - len(some), number + len(alike)
        strange = alike[~np.isin(seen, known)]
        if len(looking_like(testbed, here, seat, strange)):
            what = f"resample never deals seat {seat} a deal that looks to it like the true one"
            raise here.broken(f"{what}: {_example(testbed, here, strange)}")
        unseen &= ~np.isin(known, seen)
        expected = len(worlds) * np.exp(-number / len(worlds))  # worlds that are deals and have not come by chance
        if left <= 0 and unseen.sum() > expected + 4 * np.sqrt(expected) + 3:
            left = testbed.effort.dealt
        if not unseen.any() and expected < 0.05:
            break
        if unseen.any() and expected < NEVER:
            what = f"resample deals seat {seat} worlds that are never dealt: {int(unseen.sum())} of {len(worlds)}"
            raise here.broken(f"{what}; {_example(testbed, here, worlds[unseen])}")
    return number > 0


@law
def worlds_after_a_move_are_the_outcomes_of_worlds_before(testbed: Testbed) -> Steps:
    """Where a seat's worlds can be listed, those after a move are its outcomes in those before: no more, no less.

    The outcomes of all moves that the seat is told in the same words count, as far as they look to it like the true
    state. A world that is missing: `resample` assumes something that the seat has not seen. One too many: it deals
    anew something that the seat has seen.
    """
    compared, seen = 0, Looked(testbed.effort.listed, "states")
    for case in _in_turn(testbed, "outcomes", seen):
        yield seen
        if case and not seen.enough:
            looked, is_compared = _compare(testbed, case)
            seen.done, compared = seen.done + looked, compared + (is_compared and case.kinds > 1)
    return None if compared else NOT_LISTED


def _compare(testbed: Testbed, case: Case) -> tuple[int, bool]:
    """Break the law if it is broken here. Returns how many states were looked at, and whether they could be listed."""
    here, seat = case.here, case.seat
    looked, difference = _difference(testbed, here, seat, LIKELY)
    if difference is not None and difference.is_one:
        _, difference = _difference(testbed, here, seat, CERTAIN)
    if difference is None or not difference.is_one:
        return looked, difference is not None
    missing, more, number = difference.missing, difference.more, difference.number
    played = move_text(testbed.game, here.state, here.move[0])
    if len(missing):
        what = f"resample never deals {len(missing)} of {number} worlds that seat {seat} must hold possible"
        raise here.following.broken(f"after {played}, {what}: {_example(testbed, here.following, missing)}")
    what = f"resample deals {len(more)} worlds beside the {number} that seat {seat} can hold possible"
    raise here.following.broken(f"after {played}, {what}: {_example(testbed, here.following, more)}")


@dataclass(frozen=True)
class Difference:
    """Worlds after a move that `resample` never deals, STATE[N], those it should not deal, and how many it should."""

    missing: np.ndarray
    more: np.ndarray
    number: int

    @property
    def is_one(self) -> bool:
        """Whether there is a difference."""
        return len(self.missing) + len(self.more) > 0


def _difference(testbed: Testbed, here: Position, seat: int, surety: float) -> tuple[int, Difference | None]:
    """How many states were looked at, and the difference. None if there is too much to list."""
    before = worlds_listed(testbed, here, seat, MOST, surety)
    after = None if before is None else worlds_listed(testbed, here.following, seat, MOST, surety)
    if before is None or after is None or is_truncated(testbed, here, seat, before):
        return 8 * MOST, None
    states, moves = told_alike(testbed, here, seat, before)
    reached = outcomes(testbed, states, moves, surety, here.ply)
    looked = 500 + 8 * (len(before) + len(after)) + len(states)  # 500: the work that any case costs
    if reached is None:
        return looked, None
    expected = distinct(looking_like(testbed, here.following, seat, reached, TEXTS if surety == LIKELY else None))
    known, drawn = marks(expected), marks(after)
    missing, more = expected[~np.isin(known, drawn)], after[~np.isin(drawn, known)]
    return looked + 2 * len(reached), Difference(missing, more, len(expected))


def _example(testbed: Testbed, here: Position, worlds: np.ndarray) -> str:
    """How one of some worlds differs from the true state, for a message."""
    differing = bits(worlds[:1])[0] != bits(here.states)[0]
    if not differing.any():
        return "the true state is one of them"
    return f"one differs from the true state in state.{place_of_bit(testbed.game.state, int(np.argmax(differing)))}"


def _in_turn(testbed: Testbed, salt: str, seen: Looked) -> Iterator[Case | None]:
    """Cases found, one of each stratum, then another of each, in an order drawn from the testbed's seed.

    A few games are searched and their cases given, until `seen` has come as far as these games are of all; then the
    next few. None is given before each search of a game, which may take long. It ends when there is `enough`.
    """
    games, searched = testbed.mixed(testbed.traces), _searched(testbed)
    for end in range(FEW_GAMES, len(games) + FEW_GAMES, FEW_GAMES):
        while len(searched) < min(end, len(games)):  # the laws share what they find
            yield None
            if seen.enough:
                return
            if len(searched) < min(end, len(games)):
                searched.append(list(_cases(testbed, games[len(searched)])))
        strata: defaultdict[tuple[Any, ...], list[Case]] = defaultdict(list)
        for case in itertools.chain(*searched[end - FEW_GAMES : end]):
            strata[case.stratum].append(case)
        chance = testbed.chance(salt, end)
        queues = [[group[i] for i in chance.permutation(len(group))] for group in strata.values()]
        for case in _one_of_each(queues, chance):
            if seen.enough or seen.done * len(games) >= seen.total * min(end, len(games)):
                break
            yield case
        if seen.enough:
            return


def _one_of_each(queues: list[list[Case]], chance: np.random.Generator) -> Iterator[Case]:
    while queues:
        for i in chance.permutation(len(queues)):
            yield queues[i].pop()
        queues = [queue for queue in queues if queue]


@functools.lru_cache(maxsize=1)
def _searched(testbed: Testbed) -> list[list[Case]]:
    """The cases in each game that has been searched for them, so far."""
    return []


def _cases(testbed: Testbed, trace: Trace) -> Iterator[Case]:
    """Where a seat seems to have few worlds in a game."""
    plies = _probed(testbed, trace)
    repeated = np.repeat(trace.states[plies], PROBE)
    for seat in range(trace.setup.seats if plies else 0):
        worlds = testbed.compiled.worlds_of_each(repeated, seat, trace.seed % 1_000_003 + seat)
        for ply, seen in zip(plies, marks(worlds).reshape(-1, PROBE), strict=True):
            kinds = len(np.unique(seen))
            if kinds < PROBE:
                yield Case(Position(trace, ply), seat, kinds)


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
def listed_worlds_are_even(testbed: Testbed) -> Steps:
    """Where a seat's worlds can be listed, all are drawn equally often, and so is each of their bits (5 sigma)."""
    seen = Looked(testbed.effort.tallied, "views")
    for case in _in_turn(testbed, "tallies", seen):
        yield seen
        if seen.enough or case is None or case.kinds == 1:
            continue
        worlds = worlds_listed(testbed, case.here, case.seat, MOST // 3, LIKELY)
        if worlds is None or len(worlds) < 2:
            continue
        seen.done += 1
        draws = max(12_000, 40 * len(worlds))
        if not _is_even(testbed, case, worlds, draws, HINT, 1):
            worlds = worlds_listed(testbed, case.here, case.seat, MOST, CERTAIN)
            if worlds is not None and not _is_even(testbed, case, worlds, 6 * draws, SIGMA, 2):
                what = f"the {len(worlds)} worlds of seat {case.seat} are not drawn equally often"
                raise case.here.broken(f"{what}{_lean(testbed, case, worlds, 6 * draws, 2)}")
    return None if seen.done else NOT_LISTED


def _is_even(testbed: Testbed, case: Case, worlds: np.ndarray, draws: int, sigma: float, seed: int) -> bool:
    counts = _tally(testbed, case, worlds, draws, seed)
    return unevenness(counts.tolist()) <= sigma and bool((np.abs(_leans(worlds, counts)) <= sigma).all())


def _tally(testbed: Testbed, case: Case, worlds: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """How often each of the listed worlds is drawn: i64[N]."""
    drawn = testbed.compiled.worlds(case.here.states, case.seat, draws, seed)
    known, seen = marks(worlds), marks(drawn)
    places = np.minimum(np.searchsorted(known, seen), len(known) - 1)
    return np.bincount(places[known[places] == seen], minlength=len(known))


def _leans(worlds: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """How much more often each bit was drawn set than in an even draw, in standard deviations: f8[bits]."""
    are_set, draws = bits(worlds), int(counts.sum())
    share = are_set.mean(axis=0)
    seen = counts.astype(np.float64) @ are_set
    return (seen - draws * share) / np.sqrt(np.maximum(draws * share * (1 - share), 1e-9))


def _lean(testbed: Testbed, case: Case, worlds: np.ndarray, draws: int, seed: int) -> str:
    """The bit that is most uneven, in words, if it is a bit."""
    leans = _leans(worlds, _tally(testbed, case, worlds, draws, seed))
    worst = int(np.argmax(np.abs(leans)))
    if abs(leans[worst]) <= SIGMA:
        return ""
    return f": state.{place_of_bit(testbed.game.state, worst)} is set too {'often' if leans[worst] > 0 else 'rarely'}"


# Lists.


def worlds_listed(testbed: Testbed, here: Position, seat: int, most: int, surety: float) -> np.ndarray | None:
    """All worlds of a seat, STATE[N] by `marks`. None if there seem to be more than `most`."""
    seed = int(mixed(here.ply + 1_000 * seat))
    return listed(lambda count, salt: testbed.compiled.worlds(here.states, seat, count, seed + salt), most, surety, 0)


def outcomes(testbed: Testbed, states: np.ndarray, moves: np.ndarray, surety: float, seed: int) -> np.ndarray | None:
    """All settled states that these moves can lead to by chance, STATE[M] by `marks`, each once.

    `states`, `moves`: STATE[N], MOVE[N], pair by pair. Returns None if that takes too many draws.
    """
    chance = np.random.default_rng(seed)
    found, by_chance = _settled(testbed, states, moves, chance)
    lists, uncertain = [distinct(found)], np.flatnonzero(by_chance)
    pairs, seen, rounds = np.arange(len(uncertain)), marks(found[uncertain]), 1
    while len(uncertain):
        first = np.unique(seen + pairs.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15), return_index=True)[1]
        pairs, seen = pairs[first], seen[first]  # each outcome of a pair once
        more = enough(int(np.bincount(pairs).max()), surety) - rounds
        if more <= 0:
            break
        if (rounds + more) * len(uncertain) > MOST_SETTLED:
            return None
        found, _ = _settled(testbed, np.tile(states[uncertain], more), np.tile(moves[uncertain], more), chance)
        pairs = np.concatenate([pairs, np.tile(np.arange(len(uncertain)), more)])
        seen = np.concatenate([seen, marks(found)])
        lists.append(distinct(found))
        rounds += more
    return distinct(np.concatenate(lists))


def _settled(
    testbed: Testbed, states: np.ndarray, moves: np.ndarray, chance: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The settled states after moves, each with a fresh stream, STATE[N], and whether chance was drawn, bool[N]."""
    before = states.copy()
    before["rng"] = chance.integers(0, 2**64, len(before), np.uint64)
    after = testbed.compiled.moved(before, moves)
    return after, after["rng"] != before["rng"]
