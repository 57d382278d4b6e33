"""Grades of agents in endings between two seats: how often they find a best move, and how much score they give away.

grades = grade_endgames(game, ["defensive", "aggressive"], games=1000)
print(grades["defensive"].optimal)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cardai.agents.spec import agent
from cardai.cards import count
from cardai.errors import CardaiError
from cardai.game import Game, GameState
from cardai.kernel.native import at, begin_ply, copy, raw
from cardai.kernel.rules import lend
from cardai.rule import rule
from cardai.stats import interval
from cardai.stats.deals import deal_seeds, rotations
from cardai.stats.interval import Estimate
from cardai.table.many import play

from .endgame_solver import LIMIT, Solver, is_ending
from .rules import act, choices, settle


@dataclass(frozen=True)
class EndgameGrade:
    """How an agent plays the endings of its own games.

    `endings`: games with an ending in which the agent had at least one decision.
    `decisions`: positions in these endings in which the agent was to move and had more than one legal move.
    `unsolved`: decisions that took more nodes than the limit; no other figure contains them.
    `critical`: solved decisions in which some legal moves score less than others.
    `optimal`: share of critical decisions in which the agent played a best move.
    `lost`: mean score given away in an ending, summed over its decisions; endings with an unsolved one are left out.
    """

    endings: int
    decisions: int
    unsolved: int
    critical: int
    optimal: Estimate
    lost: Estimate


def grade_endgames(
    game: Game,
    agents: Sequence[str],
    games: int,
    seed: int = 0,
    *,
    variant: str | None = None,
    limit: int = LIMIT,
    threads: int | None = None,
) -> dict[str, EndgameGrade]:
    """Play games between agents and grade how each agent played the endings: {spec: grade}.

    agents: specs, one for each seat. Each deal is played once with every rotation of the seats, so `games` is rounded
    up to whole deals. limit: nodes the solver may visit for one ending. Intervals are 95 % and treat deals as
    independent: Wilson's for shares, bootstrap for means. Raises CardaiError for a bad agent or if `games` is below 1.
    """
    if games < 1:
        raise CardaiError(f"there must be 1 game or more, not {games}")
    specs, seats = list(dict.fromkeys(agents)), len(agents)
    deals = -(-games // seats)
    lineups = np.tile(np.array([specs.index(spec) for spec in agents])[rotations(seats)], (deals, 1))
    seeds = np.repeat(deal_seeds(seed, deals), seats)
    players = [agent(game, spec) for spec in specs]
    results = play(game, players, lineups, seeds, variant=variant, threads=threads, record=True)
    solver, endings = Solver(limit), []
    for number, (lineup, moves) in enumerate(zip(lineups, results.moves, strict=True)):
        if moves is not None and results.finished[number]:
            states, actions = decisions_of(game, game.new(seats, int(seeds[number]), variant), moves)
            endings.append(_PlayedEnding(number // seats, lineup[states["turn"]], *_losses(solver, states, actions)))
    return {spec: _grade(endings, place, deals, seed) for place, spec in enumerate(specs)}


def decisions_of(game: Game, deal: GameState, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Replay a game and return its decisions in the ending: the states STATE[n] and the actions played, i64[n].

    deal: the first state. moves: MOVE[plies], all moves of the game. States with a single legal move are left out.
    """
    states, actions = np.zeros(len(moves) + 1, game.state), np.zeros(len(moves), np.int64)
    states[0] = deal
    n = note_decisions(lend(game.rules), states, raw(states), moves, len(moves), actions)
    return states[:n], actions[:n]


@rule
def note_decisions(rules, states, block, moves, plies, actions):
    """Replay a game from states[0], keep the decisions of its ending at the front of `states`, and return their number.

    states: STATE[plies + 1]. block: the memory of `states`. moves: MOVE[plies]. actions: i64[plies], filled with the
    actions that were played in the decisions kept.
    """
    n = 0  # states[n] is the current position; the decisions kept lie before it
    for ply in range(plies):
        if is_ending(states[n]) and count(choices(states[n], states[n].turn)) > 1:
            actions[n] = moves[ply].card
            copy(at(block, n + 1), at(block, n), rules.state_size)
            n += 1
        begin_ply(at(block, n))
        act(states[n], moves[ply])
        settle(states[n])
    return n


class _PlayedEnding(NamedTuple):
    """The n decisions in one game's ending."""

    deal: int  # number of the deal
    agents: np.ndarray  # i64[n]: which agent decided
    worst: np.ndarray  # f8[n]: the score that the worst move gives away; NaN where unsolved
    lost: np.ndarray  # f8[n]: the score that the move played gave away; NaN where unsolved


def _losses(solver: Solver, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The score that the worst move and the move played give away in each state: f8[n] each, NaN where unsolved."""
    if not len(states):
        return np.zeros(0), np.zeros(0)
    solved = solver.solve(states)
    worst = np.min(np.where(np.isnan(solved.scores), np.inf, solved.scores), axis=1)
    return solved.best - worst, solved.best - solved.scores[np.arange(len(states)), actions]


def _grade(played: Sequence[_PlayedEnding], place: int, deals: int, seed: int) -> EndgameGrade:
    """The grade of agent number `place`. seed: of the bootstrap."""
    optimal: list[list[float]] = [[] for _ in range(deals)]
    lost: list[list[float]] = [[] for _ in range(deals)]
    endings = decisions = unsolved = 0
    for ending in played:
        own = ending.agents == place
        if not own.any():
            continue
        endings += 1
        decisions += int(own.sum())
        unsolved += int(np.isnan(ending.lost[own]).sum())
        optimal[ending.deal] += (ending.lost[own & (ending.worst > 0)] == 0).astype(float).tolist()
        if not np.isnan(ending.lost[own]).any():
            lost[ending.deal].append(float(ending.lost[own].sum()))
    shares = interval.proportion(_padded(optimal))
    return EndgameGrade(endings, decisions, unsolved, shares.n, shares, interval.mean(_padded(lost), seed))


def _padded(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """Rows of different lengths as one table f8[len(rows), longest], filled up with NaN."""
    table = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
