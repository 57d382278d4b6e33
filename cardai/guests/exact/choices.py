"""Where seats choose in a small game, and how an agent chooses there: exactly if that is known, else by asking it.

*Weights* say how a player chooses everywhere, from all seats: whole numbers or Fractions [C], one for each choice. The
probability of a choice is its weight divided by the sum of the weights at its place, so all results can be exact.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, int_seed
from cardai.game.compiled.native import at, call_blank, raw, seed_state
from cardai.guests.exact.listing import ListedChance, Way
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import EvenlyRandom, HandWritten, OnePly
from cardai.playing.progress import CountProgress
from cardai.playing.table.asking import ask, compare
from cardai.rules import STREAM, rule

_ASKED_AT_ONCE = 8  # positions that an agent decides in between two checks for Ctrl-C


@dataclass(frozen=True, eq=False)
class ListedGame:
    """I places in a game, and C choices there.

    The choices of place i are first[i] to first[i + 1] - 1, the legal moves there in canonical order; a place without
    any is the end of a game. `first`: i64[I + 1]. `moves`: MOVE[C].
    """

    game: Game
    variant: str
    seats: int
    first: np.ndarray
    moves: np.ndarray

    @property
    def positions(self) -> np.ndarray:
        """A position at each place, STATE[I]."""
        raise NotImplementedError

    @functools.cached_property
    def deciding(self) -> np.ndarray:
        """The places that have choices, i64[at most I]."""
        return np.flatnonzero(np.diff(self.first))

    @functools.cached_property
    def place_of(self) -> np.ndarray:
        """The place of each choice, i64[C]."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @functools.cached_property
    def even(self) -> np.ndarray:
        """The probabilities of evenly random moves, f8[C]."""
        return 1.0 / np.diff(self.first)[self.place_of]

    def in_proportion(self, weights: np.ndarray) -> np.ndarray:
        """The probabilities f8[C] that weights say; evenly random where all are 0."""
        totals = np.bincount(self.place_of, weights)[self.place_of]
        return np.where(totals > 0.0, weights / np.where(totals > 0.0, totals, 1.0), self.even)

    def choice(self, place: int, move: np.record) -> int:
        """The number of a move at a place. Raises IllegalMove."""
        found = self._numbers.get((place, move.tobytes()))
        if found is None:
            self.game.play(self.positions[place], move)  # raises IllegalMove
        return self._numbers[place, move.tobytes()]

    @functools.cached_property
    def _numbers(self) -> dict[tuple[int, bytes], int]:
        return {(int(place), self.moves[i].tobytes()): i for i, place in enumerate(self.place_of)}


def weights_of(listed: ListedGame, player: Agent) -> np.ndarray | None:
    """The weights by which an agent chooses if they are known, else None; a search by its best moves.

    Known are those of evenly random moves, of hand-written players, and of searches that compare moves one ply ahead,
    whose equally good moves are equally likely. A player that looks at its world plays by the mean over its worlds.
    Raises CardaiError for an agent without a fixed strategy, and for chance that cannot be listed.
    """
    player.check_fits(listed.game, listed.variant, listed.seats)
    strategy = player.strategy
    if strategy.randomised:
        raise CardaiError(f"agent {player.spec!r} draws its parameters anew for each game; name fixed ones")
    if isinstance(strategy, EvenlyRandom):
        return np.ones(len(listed.moves), np.int64)
    if isinstance(strategy, OnePly):
        states = np.ascontiguousarray(listed.positions[listed.deciding])
        options, _ = compare(listed.game, player, states, np.zeros(len(states), STREAM))
        return np.concatenate([means == means.max() for _, means in options]).astype(np.int64)
    return _by_hand(listed, strategy) if isinstance(strategy, HandWritten) else None


def _by_hand(listed: ListedGame, strategy: HandWritten) -> np.ndarray:
    """The weights of a hand-written player, over all its worlds and all that it can draw."""
    game, weights = listed.game, np.full(len(listed.moves), Fraction(0))
    choose, params = game.compiler.function_of("choose", strategy.call), np.array(strategy.params or (0.0,))
    assert choose is not None
    chance, sees_own = ListedChance(game), strategy.sees_own and game.rules.blank is not None
    for place, state, worlds in worlds_of(listed, chance):
        if sees_own:
            worlds = [Way(Fraction(1), blanked(game, listed.positions[place : place + 1], int(state["turn"]))[0])]
        for world in worlds:
            for way in chance.choices(choose, world.state, params):
                weights[listed.choice(place, way.state)] += world.probability * way.probability
    return weights


def worlds_of(listed: ListedGame, chance: ListedChance) -> Iterator[tuple[int, Any, list[Way]]]:
    """Each place that has choices, its position, and all worlds of the seat to move there."""
    for place in listed.deciding.tolist():
        state: Any = listed.positions[place]
        yield place, state, chance.worlds(state, int(state["turn"]))


def asked(
    listed: ListedGame, player: Agent, seed: int, samples: int, progress: CountProgress | None
) -> tuple[np.ndarray, bool]:
    """How often an agent made each choice, i64[C], when it was asked `samples` times at each place; `seed`: its luck.

    Also returns whether it uses luck: not if code outside compiled code answers twice the same everywhere. Raises
    CardaiError for an agent that cannot be asked, and IllegalMove.
    """
    luck, weights = np.random.default_rng(int(int_seed(seed))), np.zeros(len(listed.moves), np.int64)
    for done in range(1, samples + 1):
        worlds = np.ascontiguousarray(listed.positions[listed.deciding])
        streams = np.zeros(len(worlds), STREAM)
        worlds["rng"], streams["rng"] = luck.integers(2**64, size=(2, len(worlds)), dtype=np.uint64)
        size = _ASKED_AT_ONCE if player.strategy.is_native else max(len(worlds), 1)
        for first in range(0, len(worlds), size):
            part = slice(first, first + size)
            moves: Any = ask(listed.game, player, worlds[part], streams[part])
            for place, move in zip(listed.deciding[part].tolist(), moves, strict=True):
                weights[listed.choice(place, move)] += 1
        if done == 2 and not player.strategy.is_native and set(weights.tolist()) <= {0, 2}:
            return weights, False
        if progress:
            progress(done, samples)
    return weights, True


def blanked(game: Game, states: np.ndarray, seat: int) -> np.ndarray:
    """A copy of STATE[1] in which the rule `blank` has written over what is hidden from a seat, and over the stream."""
    view = states.copy()
    assert game.rules.blank is not None
    blank_first(game.compiler.entry("blank", game.rules.blank), raw(view), seat)
    return view


@rule
def blank_first(blank, states, seat):
    """Write over what is hidden from a seat in states[0], and over its stream."""
    seed_state(at(states, 0), 0)
    call_blank(blank, at(states, 0), seat)
