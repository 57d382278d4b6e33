"""The strategy of an agent for a solved game: the agent is asked for its move in every position."""

import numpy as np

from cardai.agents.spec import Agent
from cardai.agents.strategy import EvenlyRandom, HandWritten, OnePly, Person
from cardai.errors import CardaiError
from cardai.game import int_seed
from cardai.kernel.native import (
    at,
    call_choose,
    clear,
    next_of,
    raw,
    seed_state,
    seed_stream,
)
from cardai.measure.perfect.strategy import uniform
from cardai.measure.solution import Solution
from cardai.rule import STREAM, mixed, rule
from cardai.stats.progress import CountProgress
from cardai.table.asking import ask, compare

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
    if player.strategy.randomised:
        raise CardaiError(f"agent {player.spec!r} draws its parameters anew for each game; grade it with fixed ones")
    if player.strategy.explores:
        raise CardaiError(f"agent {player.spec!r} explores; grade it without epsilon and temperature")
    if isinstance(player.strategy, EvenlyRandom):
        return uniform(solution), "known"
    asked = _Asked(solution, player, seed)
    if isinstance(player.strategy, OnePly):
        asked.round()  # nothing is hidden, so its values are certain and only equal ones are left to luck
        weights = asked.best
        decided = np.add.reduceat(weights, solution.first[asked.places])
        return weights, "none" if (decided == 1).all() else "known"
    weights = asked.round()
    if isinstance(player.strategy, HandWritten) and not asked.drew_lots:
        return weights, "none"
    for done in range(1, samples):
        weights += asked.round()
        if not player.strategy.is_native and done == 1 and weights.max() == 2 and not ((weights == 1).any()):
            return weights, "none"  # asked twice in every position, it answered the same
        if progress:
            progress(done + 1, samples)
    return weights, "estimated"


class _Asked:
    """An agent being asked for its move in every position of a solution."""

    def __init__(self, solution: Solution, player: Agent, seed: int) -> None:
        if isinstance(player.strategy, Person):
            raise CardaiError(f"agent {player.spec!r} cannot be asked in every position")
        player.check_fits(solution.game, solution.variant, 2)
        self.solution, self.player = solution, player
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
        game, player = self.solution.game, self.player
        if isinstance(player.strategy, OnePly):
            options, chosen = compare(game, player, worlds, streams)
            for first, (_, means) in zip(self.first.tolist(), options, strict=True):
                self.best[first : first + len(means)] = means == means.max()
            return chosen
        if isinstance(player.strategy, HandWritten):
            return self._chosen_by_hand(player.strategy, worlds, streams)
        size = len(worlds) if not player.strategy.is_native else _ASKED_AT_ONCE
        parts = [slice(i, i + size) for i in range(0, len(worlds), size)]
        return np.concatenate([ask(game, player, worlds[part], streams[part]) for part in parts])

    def _chosen_by_hand(self, player: HandWritten, worlds: np.ndarray, streams: np.ndarray) -> np.ndarray:
        """A hand-written player's moves. Nothing is hidden: each position is its own world, and nothing is blanked."""
        game, chosen = self.solution.game, np.zeros(len(worlds), self.solution.game.move)
        params = np.array([player.params or (0.0,)])
        for i in range(0, len(worlds), _ASKED_AT_ONCE):
            part = slice(i, i + _ASKED_AT_ONCE)
            lent = raw(worlds[part]), len(worlds[part]), raw(params), params.shape[1], raw(streams[part])
            choose_in_each(player.call, *lent, raw(chosen[part]), game.move.itemsize)
        return chosen


def _keys(records: np.ndarray) -> list[bytes]:
    """The bytes of each record."""
    data, width = records.tobytes(), records.dtype.itemsize
    return [data[i : i + width] for i in range(0, len(data), width)]


@rule
def choose_in_each(call, states, count, params, width, streams, chosen, move_size):
    """Let a hand-written player choose in each state, each time with a random stream of its own."""
    for i in range(count):
        clear(at(chosen, i), move_size)
        call_choose(call, at(states, i), at(chosen, i), params, 0, width, at(streams, i))


@rule
def give_luck(source, worlds, streams, count):
    """Seed `count` worlds and as many streams from one stream."""
    for i in range(count):
        seed_state(at(worlds, i), next_of(at(source, 0)))
        seed_stream(at(streams, i), next_of(at(source, 0)))
