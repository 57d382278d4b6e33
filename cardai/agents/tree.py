"""The whole tree of a small game, hidden information included, and what each seat can tell apart in it.

    tree = GameTree.of(load("examples/kuhn"))
    values = tree.values(tree.uniform(), tree.utilities())

A *history* is a deal and everything that happened after it. An *information set* holds the histories that the seat to
move cannot tell apart, given all that it has seen since the deal: its own moves, what it was told of the others'
moves, and its view after each of them (perfect recall). A *plan* says how every seat plays: f8[C], a probability for
each move of each information set.
"""

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cardai.agents.listing import MOST_WAYS, ListedChance
from cardai.errors import CardaiError, positive, unknown
from cardai.game import Game, GameState, is_game
from cardai.kernel.fence import roomy
from cardai.kernel.native import at, call_blank, raw, seed_state
from cardai.kernel.rules import SCORE, door_legal, door_play, door_value, lend
from cardai.kernel.together import told_of
from cardai.rule import rule

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
class GameTree:
    """All N histories of a game, those with fewer moves first; I information sets; C choices, a move in one of these.

    - `states`: STATE[N], their streams 0. `turns`: i64[N], the seat to move, -1 where the game is over.
    - `parents`: i64[N], the history one move earlier; -1 for a deal. The histories after one are neighbours.
    - `chances`: f8[N], how likely chance makes this history of the one before and the move.
    - `choices`: i64[N], the choice that led to it; -1 for a deal.
    - `sets`: i64[N], the information set of the seat to move, -1 where the game is over.
    - `levels`: the histories of the same number of moves, slices.
    - `first`: i64[I + 1]. The choices of information set i are first[i] to first[i + 1] - 1, its moves in canonical
      order. `moves`: MOVE[C]. `owners`: i64[I], whose information set it is. `members`: i64[I], a history in it.
    - `views`: the view of the seat to move in each information set, without what it saw before.
    """

    game: Game
    variant: str
    seats: int
    states: np.ndarray
    turns: np.ndarray
    parents: np.ndarray
    chances: np.ndarray
    choices: np.ndarray
    sets: np.ndarray
    levels: tuple[slice, ...]
    first: np.ndarray
    moves: np.ndarray
    owners: np.ndarray
    members: np.ndarray
    views: tuple[Any, ...]

    @classmethod
    def of(
        cls, game: Game, seats: int | None = None, variant: str | None = None, limit: int = MOST_HISTORIES
    ) -> "GameTree":
        """List the tree of a game.

        Raises CardaiError for a game with more than `limit` histories, with chance that cannot be listed
        (`cardai.agents.listing`), or with a truncated list of moves, and if two histories that a seat cannot tell apart
        have different legal moves.
        """
        seats = is_game(game).default_seats if seats is None else seats
        variant = game.canonical(variant)
        return _Listing(game, seats, variant, positive("limit", limit)).tree()

    def utilities(self, measure: str = "score") -> np.ndarray:
        """What each ended history is worth to each seat, f8[N, seats]; 0 where the game goes on.

        `measure`: "score", in the unit of the game's payoff, or an outcome of the game in its own unit, of which a
        lower one counts as better if the game says so: then its sign is turned. Raises CardaiError for another name,
        and for an outcome that does not apply to every seat.
        """
        game, values = self.game, np.zeros((len(self.states), self.seats))
        if measure != "score" and measure not in game.learning.outcomes:
            raise CardaiError(f"{game.name}: {unknown('measure', measure, ('score', *game.learning.outcomes))}")
        is_score = measure == "score"
        if not is_score and game.learning.outcomes[measure].applies is not None:
            raise CardaiError(f"{game.name}: the outcome {measure} does not apply to every seat, so it is no utility")
        entry = (
            game.compiler.rules.calls[SCORE]
            if is_score
            else game.compiler.entry("outcome", game.learning.outcomes[measure].rule)
        )
        sign = -1.0 if not is_score and game.learning.outcomes[measure].lower_is_better else 1.0
        for place in np.flatnonzero(self.turns < 0).tolist():
            state = raw(self.states[place : place + 1])
            for seat in range(self.seats):
                values[place, seat] = sign * float(door_value(entry, state, seat))
            values[place] = game.payoff.of(values[place]) if is_score else values[place]
        return values

    @functools.cached_property
    def set_of_choice(self) -> np.ndarray:
        """The information set of each choice, i64[C]."""
        return np.repeat(np.arange(len(self.owners)), np.diff(self.first))

    def uniform(self) -> np.ndarray:
        """The plan of evenly random moves, f8[C]."""
        return (1.0 / np.diff(self.first))[self.set_of_choice]

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
            found.append(
                TreeStep(
                    level, np.cumsum(is_new) - 1, choices[is_new], parents[is_new], places.astype(np.int64), befores
                )
            )
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
        self.parents: list[int] = []
        self.chances: list[float] = []
        self.choices: list[int] = []
        self.sets: list[int] = []
        self.seen: list[tuple[int, ...]] = []  # what each seat has seen until then, as a number
        self.numbers: dict[Any, int] = {}
        self.known: dict[tuple[int, int], int] = {}  # (seat, what it has seen) -> information set
        self.first, self.moves = [0], []
        self.owners: list[int] = []
        self.members: list[int] = []
        self.views: list[Any] = []
        self.blank = game.compiler.entry("blank", game.rules.blank) if game.rules.blank else None

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
        states = np.concatenate(self.states)
        numbers = (np.array(items, np.int64) for items in (self.parents, self.choices, self.sets))
        parents, choices, sets = numbers
        return GameTree(
            self.game, self.variant, self.seats, states, np.ascontiguousarray(states["turn"]), parents,
            np.array(self.chances), choices, sets, tuple(levels), np.array(self.first, np.int64),
            np.array(self.moves, self.game.move), np.array(self.owners, np.int64), np.array(self.members, np.int64),
            tuple(self.views),
        )  # fmt: skip

    def _add(self, state: GameState, parent: int, chance: float, choice: int, events: tuple[Any, ...]) -> None:
        """Add a history. `events`: what each seat has noticed of the move before it."""
        if len(self.states) >= self.limit:
            raise CardaiError(f"{self.game.name} is too large: it has more than {self.limit} histories")
        record: np.ndarray = np.zeros(1, self.game.state)
        record[0] = state
        place, turn = len(self.states), int(record["turn"][0])
        before = self.seen[parent] if parent >= 0 else (-1,) * self.seats
        views = [self._view(record, seat) for seat in range(self.seats)]
        self.seen.append(
            tuple(
                self.numbers.setdefault((seat, before[seat], events[seat], views[seat]), len(self.numbers))
                for seat in range(self.seats)
            )
        )
        self.states.append(record)
        self.parents.append(parent)
        self.chances.append(chance)
        self.choices.append(choice)
        self.sets.append(-1 if turn < 0 else self._set(place, turn, views[turn]))

    def _view(self, record: np.ndarray, seat: int) -> Any:
        """Everything that a seat sees in a position, as something that can be compared."""
        return view_of(self.game, record, seat, self.blank)

    def _set(self, place: int, turn: int, view: Any) -> int:
        """The information set of a history in which `turn` is to move."""
        n = int(door_legal(self.rules, raw(self.states[place]), raw(self.buffer)))
        if n <= 0:
            problem = "has no legal move" if n == 0 else f"has more than {self.game.max_moves} legal moves"
            raise CardaiError(f"{self.game.name}: seat {turn} {problem} in one of its histories")
        moves = self.buffer[:n].tolist()
        key = turn, self.seen[place][turn]
        if key not in self.known:
            self.known[key] = len(self.owners)
            self.owners.append(turn)
            self.members.append(place)
            self.views.append(view)
            self.moves += moves
            self.first.append(len(self.moves))
        found = self.known[key]
        if self.moves[self.first[found] : self.first[found + 1]] != moves:
            raise CardaiError(f"{self.game.name}: seat {turn} sees two histories alike in which its moves are not")
        return found

    def _told(self, state: GameState, move: np.record, seat: int) -> str:
        """What another seat is told of a move."""
        if self.game.rules.together is not None:
            return told_of(self.game, state, move, seat, state)
        return self.game.text.tell(state, move, seat) if self.game.text.tell else self.game.text.spell(state, move)

    def _expand(self, place: int) -> None:
        """Add what can follow a history."""
        found = self.sets[place]
        if found < 0:
            return
        before, turn = self.states[place], int(self.states[place]["turn"][0])
        for choice in range(self.first[found], self.first[found + 1]):
            move = np.array([self.moves[choice]], self.game.move)
            events = tuple(
                move.tobytes() if seat == turn else self._told(before[0], move[0], seat) for seat in range(self.seats)
            )
            state = before.copy()
            door_play(self.rules, raw(state), raw(move), True)
            if state["rng"][0] == 0:
                self._add(state[0], place, 1.0, choice, events)
                continue
            after = before.copy()
            door_play(self.rules, raw(after), raw(move), False)
            for way in self.chance.settled(after[0]):
                self._add(way.state, place, float(way.probability), choice, events)


def view_of(game: Game, record: np.ndarray, seat: int, blank: Any = None) -> Any:
    """Everything that a seat sees in a position, STATE[1], as something that can be compared.

    It is the blanked state if the game can make one (`blank`: the compiled rule), and otherwise what texts and
    encoders show.
    """
    turn = int(record["turn"][0])
    if blank is not None:
        view = record.copy()
        blank_first(blank, raw(view), seat)
        return view.tobytes()
    state = record[0]
    rows = tuple(game.encode(state, seat, name).tobytes() for name in game.learning.encoders)
    return turn, game.text.show(state, seat), rows


@rule
def blank_first(blank, states, seat):
    """Write over what is hidden from a seat in states[0], and over its stream."""
    seed_state(at(states, 0), 0)
    call_blank(blank, at(states, 0), seat)
