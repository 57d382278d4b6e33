"""How good positions and moves are to the seat that moves, by an agent: for hints, explanations, reviews and analyses.

Agents see worlds of the seat only. An agent with an evaluator compares moves as it does when it plays (`compared`). One
that searches worlds plays each move on in the same worlds of the seat (`cardai.playing.table.searching`). Figures of
several moves are told apart by the bootstrap interval of their difference in the same worlds (`figures`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game, GameState, Payoff, copies, int_seed
from cardai.game.compiled.chance import ANALYSIS, derived
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import door_value
from cardai.playing.agents.endgame import Endgame
from cardai.playing.agents.notation import Spec, parse
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.spec import agent as agent_of
from cardai.playing.agents.strategy import HandWritten, OnePly, WorldSearch
from cardai.playing.agents.strongest import measured_tables, strongest, strongest_without_search
from cardai.playing.progress import Progress
from cardai.playing.stats.interval import LEVEL, resampled_means
from cardai.playing.table.asking import compare
from cardai.playing.table.searching import values_in_worlds
from cardai.rules import STREAM

_CHUNK = 16  # decisions compared at once
_FEW, _MORE = 8, 10  # moves that `played_on` keeps, and how many times as many worlds it measures their cost in
_PLAYED_ON = 5 << 29  # numbers of the streams of `played_on`: `cardai.measure.coaching` has those around


def usual_judge(game: Game, variant: str, seats: int, worlds: int) -> Spec:
    """What names the best move if nobody does: the strongest agent of the table (`cardai.playing.agents.strongest`).

    In a game without a list of them that declares nobody either, it is rollouts in so many `worlds`.
    """
    if not game.agents.opponents and not measured_tables(game):
        return Spec("rollout", worlds)
    return parse(strongest(game, variant, seats))


def usual_valuer(game: Game, variant: str, seats: int, worlds: int) -> Spec:
    """What values positions if nobody does: the strongest agent without a search.

    If that is a hand-written player, it plays `worlds` on. In a game as in `usual_judge` the usual rollouts do.
    """
    if not game.agents.opponents and not measured_tables(game):
        return Spec("rollout", worlds)
    found = agent_of(game, strongest_without_search(game, variant, seats))
    return parse(found.spec) if isinstance(found.strategy, OnePly) else rollouts_beside(found, worlds)


def rollouts_beside(judge: Agent, worlds: int) -> Spec:
    """Rollouts that stand beside what an agent says: played on by itself if it is a hand-written player."""
    inner = judge.strategy.inner if isinstance(judge.strategy, Endgame) else judge
    return Spec("rollout", worlds, **({"by": inner.spec} if isinstance(inner.strategy, HandWritten) else {}))


def one_ply(agent: Agent) -> OnePly:
    """Returns the strategy of an agent that compares its moves by an evaluator. The caller has refused other agents."""
    assert isinstance(agent.strategy, OnePly)
    return agent.strategy


def plays_on(agent: Agent) -> bool:
    """Whether an agent plays moves on to the end of the game in compiled code, as `rollout:` does."""
    plan = agent.strategy
    return isinstance(plan, WorldSearch) and plan.is_native and plan.turns < 0


@dataclass(frozen=True)
class ComparedFigure:
    """A figure of one move, and how far it is behind that of the best move (below 0 if it is less).

    `low`, `high`: the 95 % interval of the difference, None where the figure is the same in all worlds.
    """

    mean: float
    difference: float
    low: float | None = None
    high: float | None = None

    @property
    def is_told_apart(self) -> bool:
        """Whether the interval of the difference does not contain 0; without an interval, whether it is not 0."""
        if self.low is None or self.high is None:
            return self.difference != 0.0
        return not self.low <= 0.0 <= self.high

    def in_unit(self, payoff: Payoff) -> "ComparedFigure":
        """This figure of scores in the unit of a payoff."""
        if payoff.is_share:
            return self
        span = payoff.high - payoff.low
        low, high = (bound if bound is None else span * bound for bound in (self.low, self.high))
        return ComparedFigure(float(payoff.of(self.mean)), span * self.difference, low, high)


def figures(values: np.ndarray, best: int) -> list[ComparedFigure]:
    """The figure of each move from its values in worlds, f8[worlds, k]. One world: a figure without an interval."""
    means, differences = values.mean(axis=0), values - values[:, best : best + 1]
    if len(values) < 2:
        return [ComparedFigure(float(mean), float(mean - means[best])) for mean in means]
    drawn = resampled_means(differences, 0)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    columns = means, differences.mean(axis=0), low, high
    return [ComparedFigure(*map(float, row)) for row in zip(*columns, strict=True)]


def with_move(game: Game, world: GameState, move: np.record) -> tuple[np.ndarray, int, bool]:
    """The legal moves, MOVE[k], the place of `move` among them, and whether there are more than are listed."""
    moves, more = game.enumerate(world)
    if not (moves == move).any():  # a truncated list may be without it
        moves = np.concatenate([moves, np.array([move], game.move)])
    return moves, int(np.flatnonzero(moves == move)[0]), more


def compared(
    game: Game, agent: Agent, states: np.ndarray, streams: np.ndarray, progress: Progress | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The legal moves in each of STATE[n] `states` and their values to the agent: MOVE[k] and f8[k].

    The values are those by which the agent chooses when it plays. `streams`: STREAM[n], which decide its worlds.
    """
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for first in range(0, len(states), _CHUNK):
        if progress:
            progress(first, len(states), f"weighing moves by {agent.spec}")
        found += compare(game, agent, states[first : first + _CHUNK], streams[first : first + _CHUNK])[0]
    return found


class EvaluatedPosition(NamedTuple):
    """A position to be evaluated: `worlds`, STATE[n], are worlds of `seat`, which has moved into it with move `ply`."""

    ply: int
    seat: int
    worlds: np.ndarray


def positions(
    game: Game,
    agent: Agent,
    states: Sequence[GameState],
    moves: Sequence[np.record],
    seed: int = 0,
    only: int | None = None,
) -> list[EvaluatedPosition]:
    """The positions of a game that an agent's evaluator is asked about: one for each ply, or none for some plies.

    `states`: those before each move, and the last. An evaluator of after-states gets the after-state of the move in a
    world that the seat had before the move. An evaluator of settled states gets worlds of the settled state, unless
    the game is over or the seat is in the middle of its decision. `only`: the one seat whose positions are wanted.
    """
    asked = []
    for ply, move in enumerate(moves):
        before, settled = states[ply], states[ply + 1]
        seat, world_seed = int(before["turn"]), int(derived(int_seed(seed), ANALYSIS, 2 * ply))
        if only not in (None, seat):
            continue
        if not one_ply(agent).settles:
            world = game.world(before, seat, world_seed)
            asked.append(EvaluatedPosition(ply, seat, copies(game.after(world, move))))
        elif settled["turn"] >= 0 and not (settled["turn"] == seat and settled["midway"]):
            count = one_ply(agent).worlds if agent.evaluator is None else 1
            worlds = np.array([game.world(settled, seat, world_seed + i) for i in range(count)])
            asked.append(EvaluatedPosition(ply, seat, worlds))
    return asked


def evaluated(game: Game, agent: Agent, asked: Sequence[EvaluatedPosition]) -> dict[int, float]:
    """The value of each position by ply: the mean over its worlds.

    Raises CardaiError if an evaluator's score is not in [0, 1].
    """
    if not asked:
        return {}
    agent = agent.at_table(game, asked[0].worlds)
    evaluator = agent.evaluator
    if evaluator is None:
        return {position.ply: _mean_value(agent, position) for position in asked}
    rows = np.stack([game.encode(position.worlds[0], position.seat, evaluator.encoder) for position in asked])
    scores = np.asarray(evaluator.score(rows))
    if scores.shape != (len(rows),) or not ((scores >= 0) & (scores <= 1)).all():
        raise CardaiError(f"agent {agent.spec!r}: its evaluator does not score each position by a number in [0, 1]")
    return {position.ply: float(score) for position, score in zip(asked, scores, strict=True)}


def _mean_value(agent: Agent, position: EvaluatedPosition) -> float:
    worlds = [np.ascontiguousarray(position.worlds[i : i + 1]) for i in range(len(position.worlds))]
    return float(np.mean([door_value(one_ply(agent).value, raw(world), position.seat) for world in worlds]))


def weighed(
    game: Game,
    agent: Agent,
    states: Sequence[GameState],
    seed: int,
    progress: Progress | None,
    only: int | None = None,
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """What `compared` returns, by ply. `states`: those before each move. Only plies with a choice are there.

    `only`: the one seat whose moves are wanted.
    """
    asked_of = [ply for ply, state in enumerate(states) if only in (None, int(state["turn"]))]
    plies = [ply for ply in asked_of if len(game.moves(states[ply])) > 1]
    streams = np.zeros(len(plies), STREAM)
    streams["rng"] = [derived(int_seed(seed), ANALYSIS, 2 * ply + 1) for ply in plies]
    asked = np.array([states[ply] for ply in plies], game.state)
    return dict(zip(plies, compared(game, agent, asked, streams, progress), strict=True))


class MoveWorth(NamedTuple):
    """A move that was played, beside the others: see `cardai.measure.analysis.AnalysedMove`."""

    listed: int
    worth: float | None
    best: str | None
    best_worth: float | None


def played_on(game: Game, agent: Agent, state: GameState, move: np.record, seed: int) -> MoveWorth | None:
    """What a move cost beside the best one, by an agent that `plays_on`. Returns None for a move without a choice.

    The best move is found in three steps: all moves in half of the agent's worlds, the best `_FEW` of them in as many
    as it has, then the best one and the one that was played in `_MORE` times as many new ones. The cost is measured in
    these last worlds only, so that the choice does not flatter it. A move is called better only where the 95 % interval
    of the cost does not contain 0.

    `state`: before the move; only a world of the seat to move is used. `seed`: decides the worlds.
    """
    plan, place = agent.strategy, _PLAYED_ON + 4 * int(state["ply"])
    assert isinstance(plan, WorldSearch)
    bits = [int(derived(int_seed(seed), ANALYSIS, place + step)) for step in range(4)]
    world = game.world(state, int(state["turn"]), bits[0])
    moves, own, _ = with_move(game, world, move)
    if len(moves) == 1:
        return None
    chosen = np.arange(len(moves))
    for worlds, most, luck in ((max(4, plan.worlds // 2), _FEW, bits[1]), (max(8, plan.worlds), 1, bits[2])):
        means = values_in_worlds(game, agent, world, moves[chosen], worlds, luck).mean(axis=0)
        chosen = chosen[np.argsort(-means, kind="stable")[:most]]
    best = int(chosen[0])
    ends = values_in_worlds(game, agent, world, moves[[best, own]], _MORE * plan.worlds, bits[3])
    cost, worth = ends[:, 0] - ends[:, 1], float(ends[:, 1].mean())
    low = figures(ends, 1)[0].low
    if best == own or low is None or low <= 0:
        return MoveWorth(len(moves), worth, None, worth)
    return MoveWorth(len(moves), worth, game.text.spell(world, moves[best]), worth + float(cost.mean()))
