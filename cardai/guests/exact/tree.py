"""The whole tree of a small game, hidden information included, and what each seat can tell apart in it.

    tree = GameTree.of(load("examples/kuhn"))
    values = tree.values(tree.even, tree.utilities())

A *history* is a deal and everything that happened after it. An *information set* holds the histories that the seat to
move cannot tell apart, given all that it has seen since the deal: its own moves, what it was told of the others'
moves, and its view after each of them (perfect recall). A *plan* says how every seat plays: f8[C], a probability for
each move of each information set.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardai.errors import CardaiError, positive, unknown
from cardai.game import Game, GameState, is_game
from cardai.game.compiled.fence import roomy
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import door_legal, door_play, lend
from cardai.game.compiled.together import told_of
from cardai.guests.exact.choices import ListedGame, blanked
from cardai.guests.exact.listing import MOST_WAYS, ListedChance

MOST_HISTORIES = 1_000_000
"""How many histories a tree may have if no other limit is given."""


class TreeStep(NamedTuple):
    """The m moves that lead from one level of a tree to the next, K histories at `level`.

    - `made`: i64[K], the move that leads to each history of the level; several have the same if chance follows it.
    - `choices`, `parents`: i64[m], the choice of each move, and the history it is made in.
    - `places`: i64[m], the place of this history among the g that the moves start from; `befores`: i64[g], all of them.
    """

    level: slice
    made: np.ndarray
    choices: np.ndarray
    parents: np.ndarray
    places: np.ndarray
    befores: np.ndarray

    def fold(self, values: np.ndarray, chances: np.ndarray, plan: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each move and each history before is worth: f8[m] and f8[g].

        values, chances: f8[N], what all histories are worth, and how likely chance makes them. plan: f8[C]. Sums are
        taken one by one in the order of histories, which decides how they are rounded.
        """
        moves = np.bincount(self.made, values[self.level] * chances[self.level], len(self.choices))
        return moves, np.bincount(self.places, moves * plan[self.choices], len(self.befores))


@dataclass(frozen=True, eq=False)
class GameTree(ListedGame):
    """All N histories of a game, those with fewer moves first; its places are the I information sets.

    - `states`: STATE[N], their streams 0.
    - `parents`: i64[N], the history one move earlier; -1 for a deal. The histories after one are neighbours.
    - `chances`: f8[N], how likely chance makes this history of the one before and the move.
    - `choices`: i64[N], the choice that led to it; -1 for a deal.
    - `sets`: i64[N], the information set of the seat to move, -1 where the game is over.
    - `levels`: the histories of the same number of moves, slices.
    - `members`: i64[I], a history in each information set. `views`: what the seat to move sees in it, without what it
      saw before.
    """

    states: np.ndarray
    parents: np.ndarray
    chances: np.ndarray
    choices: np.ndarray
    sets: np.ndarray
    levels: tuple[slice, ...]
    members: np.ndarray
    views: tuple[Any, ...]

    @classmethod
    def of(
        cls, game: Game, seats: int | None = None, variant: str | None = None, limit: int = MOST_HISTORIES
    ) -> "GameTree":
        """List the tree of a game.

        Raises CardaiError for a game with more than `limit` histories, with chance that cannot be listed, or with a
        truncated list of moves, and if two histories that a seat cannot tell apart have different legal moves.
        """
        seats = is_game(game).default_seats if seats is None else seats
        return _Listing(game, seats, game.canonical(variant), positive("limit", limit)).tree()

    @functools.cached_property
    def positions(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The states of `members`."""
        return self.states[self.members]

    @functools.cached_property
    def turns(self) -> np.ndarray:
        """i64[N]: the seat to move, -1 where the game is over."""
        return np.ascontiguousarray(self.states["turn"], np.int64)

    @property
    def owners(self) -> np.ndarray:
        """i64[I]: whose information set it is."""
        return self.turns[self.members]

    def utilities(self, measure: str = "score") -> np.ndarray:
        """What each ended history is worth to each seat, f8[N, seats]; 0 where the game goes on.

        `measure`: "score", in the unit of the game's payoff, or an outcome of the game in its own unit, of which a
        lower one counts as better if the game says so: then its sign is turned. Raises CardaiError for another name,
        and for an outcome that does not apply to every seat.
        """
        game, values = self.game, np.zeros((len(self.states), self.seats))
        outcome = game.learning.outcomes.get(measure) if measure != "score" else None
        if outcome is None and measure != "score":
            raise CardaiError(f"{game.name}: {unknown('measure', measure, ('score', *game.learning.outcomes))}")
        if outcome is not None and outcome.applies is not None:
            raise CardaiError(f"{game.name}: the outcome {measure} does not apply to every seat, so it is no utility")
        sign = -1.0 if outcome is not None and outcome.lower_is_better else 1.0
        for place in np.flatnonzero(self.turns < 0).tolist():
            state: Any = self.states[place]
            worth = game.payoff.of(game.points(state)) if outcome is None else game.outcome(state, measure)
            values[place] = sign * worth
        return values

    def reach(self, plan: np.ndarray) -> np.ndarray:
        """How much each seat, and last chance, contributes to the probability of each history: f8[N, seats + 1]."""
        found = np.ones((len(self.states), self.seats + 1))
        found[:, -1] = self.chances
        for level in self.levels[1:]:
            parents = self.parents[level]
            own = found[parents]
            own[np.arange(len(parents)), self.turns[parents]] *= plan[self.choices[level]]
            own[:, -1] *= self.chances[level]
            found[level] = own
        return found

    @functools.cached_property
    def steps(self) -> tuple[TreeStep, ...]:
        """The moves between levels, the first ones first."""
        found = []
        for level in self.levels[1:]:
            choices, parents = self.choices[level], self.parents[level]
            is_new = (np.diff(choices, prepend=-1) != 0) | (np.diff(parents, prepend=-1) != 0)
            befores, places = np.unique(parents[is_new], return_inverse=True)
            made = np.cumsum(is_new) - 1
            found.append(TreeStep(level, made, choices[is_new], parents[is_new], places.astype(np.int64), befores))
        return tuple(found)

    def values(self, plan: np.ndarray, utilities: np.ndarray) -> np.ndarray:
        """What each history is worth to each seat if all play by the plan: f8[N, seats]."""
        found = utilities.copy()
        for step in reversed(self.steps):
            for seat in range(self.seats):
                found[step.befores, seat] = step.fold(found[:, seat], self.chances, plan)[1]
        return found

    def mean_values(self, values: np.ndarray) -> np.ndarray:
        """What the game is worth before the deal, f8[seats], from the values of histories."""
        return self.chances[self.levels[0]] @ values[self.levels[0]]

    def best_response(self, plan: np.ndarray, utilities: np.ndarray, seat: int) -> np.ndarray:
        """The plan in which `seat` plays its best response to the others, who play by `plan`: f8[C].

        The first of equally good moves is taken. Information sets that the others never reach keep theirs.
        """
        answer, reach = plan.copy(), self.reach(plan)
        reach[:, seat] = 1.0
        weights = reach.prod(axis=1)  # how likely the others and chance come here, if the seat wants to
        values = utilities[:, seat].copy()
        for step in reversed(self.steps):
            after = step.fold(values, self.chances, answer)[0]
            own = self.turns[step.parents] == seat
            come = weights[step.parents[own]]
            worth = np.bincount(step.choices[own], come * after[own], len(plan))
            comes = np.bincount(step.choices[own], come, len(plan))
            for place in np.unique(self.sets[step.parents[own]]).tolist():
                part = slice(self.first[place], self.first[place + 1])
                if comes[part].any():
                    answer[part] = 0.0
                    answer[part.start + int(np.argmax(worth[part]))] = 1.0
            values[step.befores] = step.fold(values, self.chances, answer)[1]
        return answer


class _Listing:
    """A tree being listed, one number of moves after the other."""

    def __init__(self, game: Game, seats: int, variant: str, limit: int) -> None:
        self.game, self.seats, self.variant, self.limit = game, seats, variant, limit
        self.chance = ListedChance(game, min(limit, MOST_WAYS))
        self.rules, self.buffer = lend(game.compiler.rules), roomy(game.max_moves, game.move)
        self.states: list[np.ndarray] = []  # STATE[1] each
        self.histories: list[tuple[int, float, int, int]] = []  # parent, chance, choice, information set
        self.seen: list[tuple[int, ...]] = []  # what each seat has seen until then, as a number
        self.numbers: dict[Any, int] = {}
        self.known: dict[tuple[int, int], int] = {}  # (seat, what it has seen) -> information set
        self.first, self.moves = [0], []
        self.members: list[int] = []
        self.views: list[Any] = []

    def tree(self) -> GameTree:
        levels, begin = [], 0
        for way in self.chance.deals(self.seats, self.variant):
            self._add(way.state, -1, float(way.probability), -1, ("",) * self.seats)
        while begin < len(self.states):
            end = len(self.states)
            levels.append(slice(begin, end))
            for place in range(begin, end):
                self._expand(place)
            begin = end
        parents, chances, choices, sets = map(np.array, zip(*self.histories, strict=True))
        return GameTree(
            self.game, self.variant, self.seats, np.array(self.first, np.int64), np.array(self.moves, self.game.move),
            np.concatenate(self.states), parents, chances, choices, sets, tuple(levels),
            np.array(self.members, np.int64), tuple(self.views),
        )  # fmt: skip

    def _add(self, state: GameState, parent: int, chance: float, choice: int, events: Sequence[Any]) -> None:
        """Add a history. `events`: what each seat has noticed of the move before it."""
        if len(self.states) >= self.limit:
            raise CardaiError(f"{self.game.name} is too large: it has more than {self.limit} histories")
        record: np.ndarray = np.zeros(1, self.game.state)
        record[0] = state
        before = self.seen[parent] if parent >= 0 else (-1,) * self.seats
        views = [view_of(self.game, record, seat) for seat in range(self.seats)]
        keys = zip(range(self.seats), before, events, views, strict=True)
        self.seen.append(tuple(self.numbers.setdefault(key, len(self.numbers)) for key in keys))
        self.states.append(record)
        turn = int(record["turn"][0])
        self.histories.append((parent, chance, choice, -1 if turn < 0 else self._set(turn, views[turn])))

    def _set(self, turn: int, view: Any) -> int:
        """The information set of the last history, in which `turn` is to move."""
        place = len(self.states) - 1
        n = int(door_legal(self.rules, raw(self.states[place]), raw(self.buffer)))
        if n <= 0:
            problem = "has no legal move" if n == 0 else f"has more than {self.game.max_moves} legal moves"
            raise CardaiError(f"{self.game.name}: seat {turn} {problem} in one of its histories")
        moves = self.buffer[:n].tolist()
        found = self.known.setdefault((turn, self.seen[place][turn]), len(self.members))
        if found == len(self.members):
            self.members.append(place)
            self.views.append(view)
            self.moves += moves
            self.first.append(len(self.moves))
        if self.moves[self.first[found] : self.first[found + 1]] != moves:
            raise CardaiError(f"{self.game.name}: seat {turn} sees two histories alike in which its moves are not")
        return found

    def _expand(self, place: int) -> None:
        """Add what can follow a history."""
        before, found = self.states[place], self.histories[place][3]
        for choice in range(self.first[found], self.first[found + 1]) if found >= 0 else ():
            move = np.array([self.moves[choice]], self.game.move)
            events: list[Any] = [told_of(self.game, before[0], move[0], seat, before[0]) for seat in range(self.seats)]
            events[int(before["turn"][0])] = move.tobytes()
            state, after = before.copy(), before.copy()
            door_play(self.rules, raw(state), raw(move), True)
            if state["rng"][0] == 0:
                self._add(state[0], place, 1.0, choice, events)
                continue
            door_play(self.rules, raw(after), raw(move), False)
            for way in self.chance.settled(after[0]):
                self._add(way.state, place, float(way.probability), choice, events)


def view_of(game: Game, record: np.ndarray, seat: int) -> Any:
    """Everything that a seat sees in a position, STATE[1], as something that can be compared.

    It is the blanked state if the game can make one, and otherwise what texts and encoders show.
    """
    if game.rules.blank is not None:
        return blanked(game, record, seat).tobytes()
    rows = tuple(game.encode(record[0], seat, name).tobytes() for name in game.learning.encoders)
    return int(record["turn"][0]), game.text.show(record[0], seat), rows
