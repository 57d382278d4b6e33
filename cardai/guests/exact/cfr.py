"""CFR+ (Tammelin 2014): an equilibrium of a small game of hidden information, as an agent.

    plan = solve(GameTree.of(load("examples/leduc")), iterations=1000)
    cardai.agent(game, "cfr:1000")

Regrets are counterfactual, updated seat after seat, and never fall below 0; the average strategy weighs iteration t by
t. In games for two seats whose scores have a fixed sum the average comes as close to an equilibrium as one likes; in
others it is a strong reference without that promise.
"""

from collections import Counter
from typing import Any

import numpy as np

from cardai.errors import CardaiError, positive
from cardai.game import Game
from cardai.guests.exact.tree import GameTree, view_of
from cardai.playing.agents.actions import draw_actions, uniforms_of
from cardai.playing.agents.spec import Agent, count_of
from cardai.playing.agents.strategy import OfFunction

ITERATIONS = 1000
"""How many iterations `solve` takes if it is not told."""


def solve(tree: GameTree, iterations: int = ITERATIONS, measure: str = "score") -> np.ndarray:
    """The average strategy after some iterations of CFR+, a plan f8[C].

    `measure`: what the seats want more of, as in `GameTree.utilities`. Information sets that their own seat never
    reaches are left to evenly random moves.
    """
    utilities, plan = tree.utilities(measure), tree.even
    regrets, sums = np.zeros(len(plan)), np.zeros(len(plan))
    mine = [tree.owners[tree.place_of] == seat for seat in range(tree.seats)]
    owned = [[np.flatnonzero(tree.turns[step.parents] == seat) for step in tree.steps] for seat in range(tree.seats)]
    for iteration in range(1, positive("iterations", iterations) + 1):
        for seat in range(tree.seats):
            reach = tree.reach(plan)
            own = reach[tree.members, seat]  # the same in all histories of an information set of this seat
            sums += np.where(mine[seat], iteration * own[tree.place_of] * plan, 0.0)
            reach[:, seat] = 1.0
            _add_regrets(tree, plan, reach.prod(axis=1), utilities[:, seat].copy(), owned[seat], regrets)
            np.maximum(regrets, 0.0, out=regrets)
            plan = np.where(mine[seat], tree.in_proportion(regrets), plan)
    return tree.in_proportion(sums)


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


def find_agent(game: Game, spec: str, argument: str, options: dict[str, str]) -> Agent:
    """The agent `cfr:N`, for the entry-point group `cardai.agents`. It solves the tree of a table when it sits down."""
    iterations = count_of(spec, argument, "the number of iterations, as in cfr:1000")
    tables: dict[tuple[int, str], dict[tuple[int, Any], np.ndarray]] = {}

    def fits(other: Game, variant: str | None, seats: int) -> None:
        table = seats, game.canonical(variant)
        if table not in tables:
            tables[table] = _by_view(GameTree.of(game, *table), iterations)

    def chances(other: Game, worlds: np.ndarray) -> np.ndarray:
        found = np.zeros((len(worlds), game.max_moves))
        for i, row in enumerate(found):
            world = worlds[i : i + 1]
            seats, turn, variant = int(world["seats"][0]), int(world["turn"][0]), game.variant_of(world[0])
            fits(game, variant, seats)
            shares = tables[seats, variant].get((turn, view_of(game, world, turn)))
            if shares is None:
                raise CardaiError(f"{game.name}: no history of the game looks like this to seat {turn}")
            row[: len(shares)] = shares
        return found

    def choose(other: Game, worlds: np.ndarray) -> np.ndarray:
        drawn = draw_actions(chances(game, worlds), uniforms_of(worlds))
        return np.array([game.moves(world)[place] for world, place in zip(worlds, drawn, strict=True)], game.move)

    strategy = OfFunction(choose, fits, is_foreign=False, chances=chances)
    return Agent(spec, strategy, "near an equilibrium, by CFR+")


def _by_view(tree: GameTree, iterations: int) -> dict[tuple[int, Any], np.ndarray]:
    """The probabilities of a seat's moves, by (seat, what it sees). Raises CardaiError if it sees too little."""
    keys = [*zip(tree.owners.tolist(), tree.views, strict=True)]
    for (seat, _), count in Counter(keys).items():
        if count > 1:
            name = tree.game.name
            raise CardaiError(f"{name}: states do not hold all that seat {seat} has seen, which cfr plays by")
    return dict(zip(keys, np.split(solve(tree, iterations), tree.first[1:-1]), strict=True))
