"""CFR+ (Tammelin 2014): an equilibrium of a small game of hidden information, as an agent.

    plan = solve(GameTree.of(load("examples/leduc")), iterations=1000)
    cardai.agent(game, "cfr:1000")

Regrets are counterfactual, updated seat after seat, and never fall below 0; the average strategy weighs iteration t by
t. In games for two seats whose scores have a fixed sum the average comes as close to an equilibrium as one likes; in
others it is a strong reference without that promise.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardai.agents.strategy import Strategy, Thinking
from cardai.agents.tree import GameTree, view_of
from cardai.errors import CardaiError, positive
from cardai.game import Game
from cardai.stats.progress import CountProgress

ITERATIONS = 1000
"""How many iterations `cfr` takes if its spec does not say."""


def solve(
    tree: GameTree, iterations: int = ITERATIONS, measure: str = "score", progress: CountProgress | None = None
) -> np.ndarray:
    """The average strategy after some iterations of CFR+, a plan f8[C].

    `measure`: what the seats want more of, as in `GameTree.utilities`. Information sets that their own seat never
    reaches are left to evenly random moves.
    """
    utilities = tree.utilities(measure)
    plan, even = tree.uniform(), tree.uniform()
    regrets, sums = np.zeros(len(plan)), np.zeros(len(plan))
    mine = [tree.owners[tree.set_of_choice] == seat for seat in range(tree.seats)]
    owned = [[np.flatnonzero(tree.turns[step.parents] == seat) for step in tree.steps] for seat in range(tree.seats)]
    for iteration in range(1, positive("iterations", iterations) + 1):
        for seat in range(tree.seats):
            reach = tree.reach(plan)
            own = reach[tree.members, seat]  # the same in all histories of an information set of this seat
            sums += np.where(mine[seat], iteration * own[tree.set_of_choice] * plan, 0.0)
            reach[:, seat] = 1.0
            _add_regrets(tree, plan, reach.prod(axis=1), utilities[:, seat].copy(), owned[seat], regrets)
            np.maximum(regrets, 0.0, out=regrets)
            plan = np.where(mine[seat], _in_proportion(tree, regrets, even), plan)
        if progress and iteration % 20 == 0:
            progress(iteration, iterations)
    return _in_proportion(tree, sums, even)


def _add_regrets(
    tree: GameTree,
    plan: np.ndarray,
    others: np.ndarray,
    values: np.ndarray,
    owned: list[np.ndarray],
    regrets: np.ndarray,
) -> None:
    """Add what each move of a seat would have gained over its plan, times how likely the others and chance come there.

    others: f8[N], that probability. values: f8[N], what ended histories are worth to the seat; it is written over.
    owned: for each step the moves that are the seat's.
    Sums are taken in the order of a walk through the tree: CFR+ divides by regrets as small as rounding errors, and in
    another order it takes another way.
    """
    for step, mine in zip(reversed(tree.steps), reversed(owned), strict=True):
        after, values[step.befores] = step.fold(values, tree.chances, plan)
        parents = step.parents[mine]
        np.add.at(regrets, step.choices[mine], others[parents] * (after[mine] - values[parents]))


def _in_proportion(tree: GameTree, weights: np.ndarray, even: np.ndarray) -> np.ndarray:
    """A plan whose moves are as likely as their weights say; evenly random where all are 0."""
    totals = np.bincount(tree.set_of_choice, weights)[tree.set_of_choice]
    return np.where(totals > 0.0, weights / np.where(totals > 0.0, totals, 1.0), even)


@dataclass(frozen=True, eq=False)
class CounterfactualRegret(Strategy):
    """Plays the average strategy of `iterations` iterations of CFR+, which it computes for a table when it first sits
    down there.
    """

    game: Game
    iterations: int = ITERATIONS
    _solved: dict[tuple[int, str], tuple[GameTree, dict[Any, int], list[np.ndarray]]] = field(default_factory=dict)

    is_trusted = True
    is_foreign = False

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError if the game is too large, or if its states do not hold what a seat must remember."""
        super().check_fits(game, variant, seats)
        self._plan(seats, game.canonical(variant))

    def chances(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, game: Game, worlds: np.ndarray
    ) -> np.ndarray:
        """The probability of each legal move in STATE[n]: f8[n, max_moves], 0 beyond the last."""
        found = np.zeros((len(worlds), game.max_moves))
        for i in range(len(worlds)):
            shares, _ = self._decision(worlds[i : i + 1])
            found[i, : len(shares)] = shares
        return found

    def think(self, decisions: Any) -> Thinking:
        """Draw a move in each decision, by the streams of the worlds."""
        worlds = decisions.worlds()
        moves, lots = np.zeros(len(worlds), self.game.move), (worlds["rng"] >> np.uint64(11)) * 2.0**-53
        for i in range(len(worlds)):
            shares, legal = self._decision(worlds[i : i + 1])
            moves[i] = legal[min(int(np.searchsorted(np.cumsum(shares), lots[i], side="right")), len(legal) - 1)]
        return moves
        yield

    def _decision(self, world: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The probabilities and the moves in STATE[1]."""
        seats, turn = int(world["seats"][0]), int(world["turn"][0])
        tree, places, plans = self._plan(seats, self.game.variant_of(world[0]))
        view = view_of(self.game, world, turn, _blank_of(self.game))
        if (turn, view) not in places:
            raise CardaiError(f"{self.game.name}: no history of the game looks like this to seat {turn}")
        place = places[turn, view]
        part = slice(tree.first[place], tree.first[place + 1])
        if not plans:
            plans.append(solve(tree, self.iterations))
        return plans[0][part], tree.moves[part]

    def _plan(self, seats: int, variant: str) -> tuple[GameTree, dict[Any, int], list[np.ndarray]]:
        """The tree of a table, its information sets by (seat, view), and the plan, once it has been computed."""
        if (seats, variant) not in self._solved:
            tree = GameTree.of(self.game, seats, variant)
            places: dict[Any, int] = {}
            for place, view in enumerate(tree.views):
                seat = int(tree.owners[place])
                if (seat, view) in places:
                    raise CardaiError(
                        f"{self.game.name}: states do not hold all that seat {seat} has seen, which cfr plays by"
                    )
                places[seat, view] = place
            self._solved[seats, variant] = tree, places, []
        return self._solved[seats, variant]


def _blank_of(game: Game) -> Any:
    return game.compiler.entry("blank", game.rules.blank) if game.rules.blank else None
