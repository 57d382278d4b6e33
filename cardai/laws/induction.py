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

from cardai.laws.evidence import (
    CERTAIN,
    HINT,
    LIKELY,
    SIGMA,
    bits,
    distinct,
    enough,
    listed,
    marks,
    unevenness,
)
from cardai.laws.knowledge import TEXTS, is_truncated, looking_like, place_of, told_alike
from cardai.laws.law import Steps, each, law, nothing_hidden
from cardai.laws.testbed import Looked, Position, Testbed, Trace, View
from cardai.laws.worlds import likely_declaration
from cardai.rules import mixed

MOST_SETTLED = 150_000  # a move that needs more settling to list its outcomes is not looked at
PROBE = 24  # worlds drawn to see whether a seat has few; two are the same if it has up to a few hundred
MOST = 1500  # worlds that are listed
PLIES = 16  # positions probed of each game
FEW_GAMES = 6  # searched for such positions before their worlds are listed
BLOCK = 20_000  # deals made at once
NEVER = 1e-6  # a world counts as never dealt if fewer unseen ones are expected by chance
RARE = 4  # how much longer rare worlds and outcomes are looked for if some are rarer than others
NOT_LISTED = "no position was found in which the worlds of a seat are few enough to list"


@dataclass(frozen=True, eq=False)
class Case(View):
    """A view in which the seat has few worlds. `kinds`: how many different ones a probe showed."""

    kinds: int

    @property
    def stratum(self) -> tuple[Any, ...]:
        """What kind of case this is: the laws look at as many kinds as they can."""
        after = self.following.state
        part = 4 * self.ply // len(self.trace.moves)
        size = int(np.searchsorted((1, 4, PROBE - 1), self.kinds))
        moved = (self.turn - self.seat) % len(self.seats)
        reveals, ends = int(after["revealed"]) >> self.seat & 1, int(after["turn"]) < 0
        return self.trace.setup, moved, reveals, int(after["midway"]), ends, part, size


def _at_the_deal(testbed: Testbed) -> list[View]:
    seeds, none = [int(testbed.seeds(setup, 1)[0]) for setup in testbed.setups], np.zeros(0)
    deals = [
        Trace(testbed, at, seed, testbed.deals(at, 0, 1), none, none)
        for at, seed in zip(testbed.setups, seeds, strict=True)
    ]
    return [view for deal in deals for view in Position(deal, 0).views]


@each("views", _at_the_deal, none=NOT_LISTED, hidden=True)
def worlds_at_the_deal_are_deals_that_look_alike(here: View) -> bool:
    """Where a seat's worlds at the deal can be listed, they are the deals that look to it like the true one."""
    probe = here.worlds(2 * PROBE)
    worlds = None if len(distinct(probe)) == len(probe) else worlds_listed(here, MOST, CERTAIN)
    if worlds is None:
        return False
    dealt = here.testbed.effort.dealt
    chance, left, number = here.testbed.chance("deals", here.trace.setup, here.seat), dealt, 0
    unseen, known, shares = np.ones(len(worlds), bool), marks(worlds), _shares(here, worlds)
    while left > 0:
        some = here.compiled.dealt(here.states, chance.integers(2**64, size=min(left, BLOCK), dtype=np.uint64))
        alike = looking_like(here, some, TEXTS)
        seen, left, number = marks(alike), left - len(some), number + len(alike)
        strange = _not_rare(here, alike[~np.isin(seen, known)], worlds)
        if len(looking_like(here, strange)):
            what = f"resample never deals seat {here.seat} a deal that looks to it like the true one"
            raise here.broken(f"{what}: {_example(here, strange)}")
        unseen &= ~np.isin(known, seen)
        missed = np.exp(-number * shares)  # how likely it is that a world which is a deal has not come by chance
        expected = missed.sum()
        if left <= 0 and unseen.sum() > expected + 4 * np.sqrt(expected) + 3:
            left = dealt
        if not unseen.any() and expected < 0.05:
            break
        never = unseen & (len(worlds) * missed < NEVER)
        if never.any():
            what = f"resample deals seat {here.seat} worlds that are never dealt: {int(never.sum())} of {len(worlds)}"
            raise here.broken(f"{what}; {_example(here, worlds[never])}")
    return bool(number)


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
            looked, is_compared = _compare(case)
            seen.done, compared = seen.done + looked, compared + (is_compared and case.kinds > 1)
    if not compared:
        raise nothing_hidden(testbed, NOT_LISTED)


def _compare(here: Case) -> tuple[int, bool]:
    """Break the law if it is broken here. Returns how many states were looked at, and whether they could be listed."""
    looked, expected, after = _before_and_after(here, LIKELY)
    if not np.array_equal(marks(expected), marks(after)):
        _, expected, after = _before_and_after(here, CERTAIN if here.testbed.is_even else RARE * CERTAIN)
    known, drawn = marks(expected), marks(after)
    missing, more = _not_rare(here.following, expected[~np.isin(known, drawn)], after), after[~np.isin(drawn, known)]
    told = f"after {here.text(here.move)}, resample"
    if len(missing):
        what = f"never deals {len(missing)} of {len(expected)} worlds that seat {here.seat} must hold possible"
        raise here.following.broken(f"{told} {what}: {_example(here.following, missing)}")
    if len(more):
        what = f"deals {len(more)} worlds beside the {len(expected)} that seat {here.seat} can hold possible"
        raise here.following.broken(f"{told} {what}: {_example(here.following, more)}")
    return looked, len(after) > 0


def _before_and_after(here: Case, surety: float) -> tuple[int, np.ndarray, np.ndarray]:
    """Worlds after the move: how many states were looked at, those that should be, STATE[N], and that are, STATE[M].

    There are none if there is too much to list.
    """
    none = here.states[:0]
    before = worlds_listed(here, MOST, surety)
    after = None if before is None else worlds_listed(here.following, MOST, surety)
    if before is None or after is None or is_truncated(here, before):
        return 8 * MOST, none, none
    states, moves = told_alike(here, before)
    reached = outcomes(here.testbed, states, moves, surety, here.ply)
    looked = 500 + 8 * (len(before) + len(after)) + len(states)  # 500: the work that any case costs
    if reached is None:
        return looked, none, none
    expected = distinct(looking_like(here.following, reached, TEXTS if surety == LIKELY else None))
    return looked + 2 * len(reached), expected, after


def _not_rare(here: View, states: np.ndarray, worlds: np.ndarray) -> np.ndarray:
    """The states that would be among the worlds if `resample` dealt them: about as likely as the rarest at least."""
    if not len(states) or here.testbed.is_even:
        return states
    weights = here.weights(np.concatenate([states, worlds]))
    return states[weights[: len(states)] > weights[len(states) :].min(initial=np.inf) / 2]


def _shares(here: View, worlds: np.ndarray) -> np.ndarray:
    weights = here.weights(worlds)
    return weights / weights.sum()


def _example(here: View, worlds: np.ndarray) -> str:
    """How one of some worlds differs from the true state, for a message."""
    differing = bits(worlds[:1])[0] != bits(here.states)[0]
    if not differing.any():
        return "the true state is one of them"
    return f"one differs from the true state in {place_of(here, differing)}"


def _in_turn(testbed: Testbed, salt: str, seen: Looked) -> Iterator[Case | None]:
    """Cases found, one of each stratum, then another of each, in an order drawn from the testbed's seed.

    A few games are searched and their cases given, until `seen` has come as far as these games are of all; then the
    next few. None is given before each search of a game, which may take long. It ends when there is `enough`.
    """
    games, searched = testbed.mixed(testbed.traces), _searched(testbed)
    for first in range(0, len(games), FEW_GAMES):
        few = games[first : first + FEW_GAMES]
        while len(searched) < first + len(few):  # the laws share what they find
            yield None
            if seen.enough:
                return
            if len(searched) < first + len(few):
                searched.append(_cases(games[len(searched)]))
        strata: defaultdict[tuple[Any, ...], list[Case]] = defaultdict(list)
        for case in itertools.chain(*searched[first : first + FEW_GAMES]):
            strata[case.stratum].append(case)
        chance = testbed.chance(salt, first + FEW_GAMES)
        queues = [[group[i] for i in chance.permutation(len(group))] for group in strata.values()]
        for case in _one_of_each(queues, chance):
            if seen.enough or seen.done * len(games) >= seen.total * (first + len(few)):
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


def _cases(trace: Trace) -> list[Case]:
    """Where a seat seems to have few worlds in a game."""
    found, plies = [], _probed(trace)
    repeated = np.repeat(trace.states[plies], PROBE)
    for seat in range(trace.setup.seats if plies else 0):
        worlds = trace.testbed.compiled.worlds_of_each(repeated, seat, trace.seed % 1_000_003 + seat)
        for ply, seen in zip(plies, marks(worlds).reshape(-1, PROBE), strict=True):
            kinds = len(np.unique(seen))
            if kinds < PROBE:
                found.append(Case(trace, ply, seat, kinds))
    return found


def _probed(trace: Trace) -> list[int]:
    """At most PLIES plies of a game, half of them from its last quarter, where few cards are hidden."""
    number, half = len(trace.moves), PLIES // 2
    if number <= PLIES:
        return list(range(number))
    chance, late = trace.testbed.chance("probes", trace.setup, trace.seed), number - max(half, number // 4)
    early = chance.choice(late, half, replace=False)
    return sorted([*early.tolist(), *(late + chance.choice(number - late, half, replace=False)).tolist()])


@law
def worlds_are_even(testbed: Testbed) -> Steps:
    """Where a seat's worlds can be listed, each is drawn as often as its weight says, and each bit is set so (5 sigma).

    Worlds have the same weight, unless cards are alike or the game has a rule `weight` (see `Game.weigh`).
    """
    seen = Looked(testbed.effort.tallied, "views")
    for case in _in_turn(testbed, "tallies", seen):
        yield seen
        if seen.enough or case is None or case.kinds == 1:
            continue
        worlds = worlds_listed(case, MOST // 3, LIKELY)
        if worlds is None or len(worlds) < 2:
            continue
        seen.done += 1
        draws = max(12_000, 40 * len(worlds))
        if _unevenness(case, worlds, draws, 1).max() > HINT:
            worlds = worlds_listed(case, MOST, CERTAIN)
            uneven = _unevenness(case, worlds, 6 * draws, 2) if worlds is not None else np.zeros(1)
            if worlds is not None and uneven.max() > SIGMA:
                often = "equally often" if testbed.is_even else "as often as their weights say (Game.weigh)"
                what = f"the {len(worlds)} worlds of seat {case.seat} are not drawn {often}"
                lean = f": {place_of(case, uneven[1:] == uneven[1:].max())} is set too often or too rarely"
                lean = lean if uneven[1:].max() > SIGMA else ""
                off = functools.partial(_unevenness, case, worlds, 6 * draws, 2)
                raise case.broken(what + lean + likely_declaration(case, worlds, off))
    if not seen.done:
        raise nothing_hidden(testbed, NOT_LISTED)


def _unevenness(here: View, worlds: np.ndarray, draws: int, seed: int, shares: np.ndarray | None = None) -> np.ndarray:
    """How far draws of the listed worlds, and then their bits, are from their shares, in standard deviations.

    f8[1 + bits]. `shares`: f8[worlds]; those that the game declares if None.
    """
    known, seen, are_set = marks(worlds), marks(here.worlds(draws, seed)), bits(worlds)
    places = np.minimum(np.searchsorted(known, seen), len(known) - 1)
    counts = np.bincount(places[known[places] == seen], minlength=len(known))
    is_even, drawn = here.testbed.is_even and shares is None, int(counts.sum())
    shares = _shares(here, worlds) if shares is None else shares
    share = shares @ are_set
    more = counts.astype(np.float64) @ are_set - drawn * share
    leans = np.abs(more) / np.sqrt(np.maximum(drawn * share * (1 - share), 1e-9))
    return np.append(unevenness(counts.tolist(), None if is_even else shares), leans)


# Lists.


def worlds_listed(here: View, most: int, surety: float) -> np.ndarray | None:
    """All worlds of a seat, STATE[N] by `marks`. None if there seem to be more than `most`."""
    seed = int(mixed(here.ply + 1_000 * here.seat))
    weigh = None if here.testbed.is_even else here.weights
    return listed(lambda count, salt: here.worlds(count, seed + salt), most, surety, 0, weigh)


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
