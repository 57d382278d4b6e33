"""The strategy of an agent for a solved game: the agent is asked for its move in every position."""

import numpy as np

from cardai.agents.spec import Agent
from cardai.errors import CardaiError
from cardai.game import int_seed
from cardai.kernel import driver
from cardai.kernel.driver import decide, legal_moves, lend
from cardai.kernel.native import (
    at,
    call_choose,
    clear,
    get,
    get_float,
    next_of,
    raw,
    seed_state,
    seed_stream,
    set,
)
from cardai.measure.solution import Solution
from cardai.measure.strategy import uniform
from cardai.progress import CountProgress
from cardai.rule import STREAM, mixed, rule
from cardai.table.cast import cast_of, scratch_of
from cardai.table.lookahead import decide as decide_outside

SAMPLES = 32
"""Decisions asked for in each position of an agent that uses luck."""
_ASKED_AT_ONCE = 8  # positions that an agent decides in between two checks for Ctrl-C


def strategy_of(
    solution: Solution, player: Agent, *, seed: int = 0, samples: int = SAMPLES, progress: CountProgress | None = None
) -> tuple[np.ndarray, str]:
    """An agent's strategy, i64[E], and its luck: "none", "known" or "estimated", as in `Grade`.

    Raises CardaiError for an agent without a fixed strategy, or one that explores, and for fewer than 2 samples.
    """
    if samples < 2:
        raise CardaiError(f"an agent that uses luck is asked at least 2 times a position, not {samples}")
    if player.randomised:
        raise CardaiError(f"agent {player.spec!r} draws its parameters anew for each game; grade it with fixed ones")
    if player.epsilon or player.temperature:
        raise CardaiError(f"agent {player.spec!r} explores; grade it without epsilon and temperature")
    if player.kind == driver.UNIFORM:
        return uniform(solution), "known"
    asked = _Asked(solution, player, seed)
    if player.kind in (driver.GREEDY, driver.SAMPLED, driver.PEEKING):
        asked.round()  # nothing is hidden, so its values are certain and only equal ones are left to luck
        weights = asked.best
        decided = np.add.reduceat(weights, solution.first[asked.places])
        return weights, "none" if (decided == 1).all() else "known"
    weights = asked.round()
    if player.kind == driver.NATIVE and not asked.drew_lots:
        return weights, "none"
    for done in range(1, samples):
        weights += asked.round()
        if player.kind == driver.OUTSIDE and done == 1 and weights.max() == 2 and not ((weights == 1).any()):
            return weights, "none"  # asked twice in every position, it answered the same
        if progress:
            progress(done + 1, samples)
    return weights, "estimated"


class _Asked:
    """An agent being asked for its move in every position of a solution."""

    def __init__(self, solution: Solution, player: Agent, seed: int) -> None:
        if player.kind == driver.OUTSIDE and player.choose is None:
            raise CardaiError(f"agent {player.spec!r} cannot be asked in every position")
        player.check_fits(solution.game, solution.variant, 2)
        self.solution, self.player = solution, player
        self.rules, self.cast = solution.game.rules, cast_of(solution.game, [player])
        self.scratch = scratch_of(solution.game, self.cast)
        self.places = np.flatnonzero(solution.turns >= 0)
        self.positions = np.ascontiguousarray(solution.states[self.places])
        self.first = np.ascontiguousarray(solution.first[self.places])
        self.source = np.zeros(1, STREAM)
        self.source["rng"] = mixed(int_seed(seed))
        self.best = np.zeros(len(solution.moves), np.int64)
        self.drew_lots = False
        edges = zip(solution.parents.tolist(), _keys(solution.moves), strict=True)
        self.edges = {edge: i for i, edge in enumerate(edges)}

    def round(self) -> np.ndarray:
        """Ask once in every position: i64[E], 1 for the moves chosen."""
        worlds, streams = self.positions.copy(), np.zeros(len(self.positions), STREAM)
        give_luck(raw(self.source), raw(worlds), raw(streams), len(worlds))
        before = worlds["rng"].copy(), streams["rng"].copy()
        chosen = self._choose(worlds, streams)
        self.drew_lots |= bool((worlds["rng"] != before[0]).any() or (streams["rng"] != before[1]).any())
        weights = np.zeros(len(self.solution.moves), np.int64)
        for place, move, key in zip(self.places.tolist(), chosen, _keys(chosen), strict=True):
            if (place, key) not in self.edges:
                self.solution.game.play(self.solution.states[place], move)  # raises IllegalMove
            weights[self.edges[place, key]] = 1
        return weights

    def _choose(self, worlds: np.ndarray, streams: np.ndarray) -> np.ndarray:
        count, chosen = len(worlds), np.zeros(len(worlds), self.solution.game.move)
        if self.player.choose is not None:
            return np.asarray(self.player.choose(self.solution.game, worlds), self.solution.game.move)
        if self.player.evaluator is not None:
            places = np.arange(count)
            found = decide_outside(self.solution.game, self.player, worlds, streams, places, places, chosen)
            for first, (_, worth) in zip(self.first.tolist(), found, strict=True):
                self.best[first : first + len(worth)] = worth == worth.max()
            return chosen
        rules, cast = lend(self.rules), lend(self.cast)
        if self.player.kind == driver.NATIVE:
            ask_native(rules, cast, raw(worlds), raw(streams), count, raw(chosen))
        else:
            best, scratch = raw(self.best), lend(self.scratch)
            for i in range(0, count, _ASKED_AT_ONCE):
                part = slice(i, i + _ASKED_AT_ONCE)
                asked = [raw(array[part]) for array in (worlds, streams, chosen, self.first)]
                n = len(worlds[part])
                ask_searching(rules, cast, asked[0], asked[1], n, scratch, asked[2], asked[3], best)
        return chosen


def _keys(records: np.ndarray) -> list[bytes]:
    """The bytes of each record."""
    data, width = records.tobytes(), records.dtype.itemsize
    return [data[i : i + width] for i in range(0, len(data), width)]


@rule
def give_luck(source, worlds, streams, count):
    """Seed `count` worlds and as many streams from one stream."""
    for i in range(count):
        seed_state(at(worlds, i), next_of(at(source, 0)))
        seed_stream(at(streams, i), next_of(at(source, 0)))


@rule
def ask_native(rules, cast, worlds, streams, count, chosen):
    """Let a hand-written player choose in each of `count` worlds."""
    for i in range(count):
        clear(at(chosen, i), rules.move_size)
        call_choose(get(cast.calls, 0), at(worlds, i), at(chosen, i), cast.params, 0, cast.width, at(streams, i))


@rule
def ask_searching(rules, cast, worlds, streams, count, scratch, chosen, first, best):
    """Let a player who compares moves choose in each of `count` worlds.

    Also marks in `best`: i64[E], from first[i] on, the moves of worlds[i] whose mean was the highest: those it
    draws lots among.
    """
    for i in range(count):
        decide(rules, cast, 0, at(worlds, i), cast.params, 0, True, scratch, at(streams, i), at(chosen, i))
        n = abs(legal_moves(rules, at(worlds, i), scratch.moves, 0))
        highest = -np.inf
        for k in range(n):
            highest = max(highest, get_float(scratch.totals, k) / get(scratch.counts, k))
        for k in range(n):
            set(best, get(first, i) + k, get_float(scratch.totals, k) / get(scratch.counts, k) == highest)
