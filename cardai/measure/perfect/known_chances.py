"""The exact probabilities by which an agent plays in every information set of a small game's tree."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cardai.agents.listing import ListedChance
from cardai.agents.spec import Agent
from cardai.agents.strategy import EvenlyRandom, HandWritten, OnePly
from cardai.agents.tree import GameTree
from cardai.errors import CardaiError, short
from cardai.kernel.native import at, raw
from cardai.kernel.rules import lend, make_view
from cardai.rule import STREAM, rule
from cardai.table.asking import compare

OwnChances = Callable[[Any, Any, np.ndarray], Any]
"""(game, world, its legal moves MOVE[n]) -> the probability of each of them, f8[n]."""


def plan_of(tree: GameTree, player: Agent | OwnChances) -> np.ndarray:
    """The plan by which an agent plays, in all information sets of all seats: f8[C].

    Known are those of evenly random moves, of hand-written players, of searches by after-states (`greedy:`, also with
    epsilon), of strategies that give their probabilities (`Strategy.chances`: `cfr:N`, `policy:FILE`), and of a
    function `player(game, world, moves)` of yours. A player that looks at its world plays by the mean over its worlds.
    Raises CardaiError for any other agent.
    """
    game = tree.game
    if not isinstance(player, Agent):
        return _by_worlds(tree, lambda world: _own(tree, player, world))
    player.check_fits(game, tree.variant, tree.seats)
    strategy = player.strategy
    if strategy.randomised:
        raise CardaiError(f"agent {player.spec!r} draws its parameters anew for each game; name fixed ones")
    if isinstance(strategy, EvenlyRandom):
        return tree.uniform()
    if isinstance(strategy, HandWritten):
        return _by_hand(tree, strategy)
    if isinstance(strategy, OnePly) and not strategy.settles and not strategy.temperature and strategy.until < 0:
        return _by_comparing(tree, player, strategy.epsilon)
    chances = strategy.chances
    if chances is not None:
        return _by_worlds(tree, lambda world: chances(game, world)[0])
    raise CardaiError(
        f"the probabilities of agent {player.spec!r} are not known: those of evenly random moves, hand-written players,"
        " greedy:, policy: and cfr: are, and a function's that returns them"
    )


def _by_worlds(tree: GameTree, chances: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A plan from the probabilities in each world, STATE[1]: the mean over all worlds of each information set."""
    chance, plan = ListedChance(tree.game), np.zeros(len(tree.moves))
    members: Any = tree.states[tree.members]
    for place, state in enumerate(members):
        part = slice(tree.first[place], tree.first[place + 1])
        for way in chance.worlds(state, int(tree.owners[place])):
            world = np.array([way.state], tree.game.state)
            plan[part] += float(way.probability) * chances(world)[: part.stop - part.start]
    return plan


def _own(tree: GameTree, player: OwnChances, world: np.ndarray) -> np.ndarray:
    """What a function says of a world, checked."""
    moves = tree.game.moves(world[0])
    found = np.asarray(player(tree.game, world[0], moves))
    if (
        found.shape != (len(moves),)
        or found.dtype.kind not in "fiu"
        or not (found >= 0).all()
        or abs(found.sum() - 1) > 1e-6
    ):
        raise CardaiError(f"a player must return {len(moves)} probabilities that sum to 1 here, not {short(found)}")
    return found


def _by_hand(tree: GameTree, strategy: HandWritten) -> np.ndarray:
    """The plan of a hand-written player, over all its worlds and all that it can draw."""
    game, chance, plan = tree.game, ListedChance(tree.game), np.zeros(len(tree.moves))
    choose = game.compiler.function_of("choose", strategy.call)
    assert choose is not None
    params = np.array(strategy.params or (0.0,))
    members: Any = tree.states[tree.members]
    for place, member in enumerate(tree.members.tolist()):
        seat, begin = int(tree.owners[place]), int(tree.first[place])
        legal = tree.moves[begin : tree.first[place + 1]].tolist()
        if strategy.sees_own and game.rules.blank is not None:
            worlds = [(1.0, _blanked(tree, member, seat))]
        else:
            worlds = [(float(way.probability), way.state) for way in chance.worlds(members[place], seat)]
        for likely, world in worlds:
            for way in chance.choices(choose, world, params):
                if way.state.item() not in legal:
                    game.play(members[place], way.state)  # raises IllegalMove
                plan[begin + legal.index(way.state.item())] += likely * float(way.probability)
    return plan


def _blanked(tree: GameTree, member: int, seat: int) -> Any:
    """What a player that sees only its own gets to see."""
    view = np.zeros(1, tree.game.state)
    blank = tree.game.compiler.entry("blank", tree.game.rules.blank)  # pyright: ignore[reportArgumentType]
    view_first(lend(tree.game.compiler.rules), blank, raw(view), raw(tree.states[member : member + 1]), seat)
    return view[0]


def _by_comparing(tree: GameTree, player: Agent, epsilon: float) -> np.ndarray:
    """The plan of an agent that compares after-states: equally good moves are equally likely."""
    plan, first = np.zeros(len(tree.moves)), tree.first
    worlds, streams = np.ascontiguousarray(tree.states[tree.members]), np.zeros(len(tree.members), STREAM)
    options, _ = compare(tree.game, player, worlds, streams)
    for place, (_, means) in enumerate(options):
        best = means == means.max()
        plan[first[place] : first[place + 1]] = (1.0 - epsilon) * best / best.sum() + epsilon / len(means)
    return plan


@rule
def view_first(rules, blank, views, states, seat):
    """Make views[0] what a seat that sees only its own sees of states[0]."""
    make_view(rules, blank, at(views, 0), at(states, 0), seat)
