"""Grades of agents in open endings: how often they find a best move, and how much score they give away.

report = measure_endings(load("moska"), ["greedy:best", "bot3", "bot3", "bot3"], games=1000)
print(report.grades["greedy:best"].lost_wins)

It works for every game that says where nothing is hidden any more (`Rules.is_open`). `cardai.agents.endgame` solves
these positions.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from cardai.agents.endgame import NODES, solver_of
from cardai.errors import positive
from cardai.game import Game, GameState
from cardai.kernel.fence import roomy
from cardai.kernel.native import at, call_is_open, copy, raw
from cardai.kernel.rules import legal_moves, lend, play_move
from cardai.measure.perfect.played import padded, play_games
from cardai.rule import rule
from cardai.stats import interval
from cardai.stats.interval import Estimate
from cardai.stats.jsonable import plain
from cardai.stats.progress import CountProgress
from cardai.stats.report import Report


@dataclass(frozen=True)
class EndgameGrade:
    """How an agent plays the endings of its own games.

    - `endings`: games with an ending in which the agent had at least one decision.
    - `decisions`: positions in these endings in which the agent was to move and had more than one legal move.
    - `unsolved`: decisions that took more nodes than the limit; no other figure contains them.
    - `critical`: solved decisions in which some legal moves score less than others.
    - `optimal`: share of critical decisions in which the agent played a best move.
    - `lost`: mean score given away in an ending, summed over its decisions; endings with an unsolved one are left out.
    - `won`: endings that perfect play wins (a score of 1) from the agent's first decision on, if that is solved.
    - `lost_wins`: the share of these in which the agent ended with less.
    """

    endings: int
    decisions: int
    unsolved: int
    critical: int
    optimal: Estimate
    lost: Estimate
    won: int
    lost_wins: Estimate


@dataclass(frozen=True)
class EndingsReport(Report, drawn_by="cardai.show.endings:table"):
    """What the endings of some games were like, and how each agent played them.

    - `games`: games finished; `endless`: games given up after the game's `max_plies` moves, which count in no figure.
    - `reached`: games in which a seat had a choice in an open position; `decided`: those in which the first such choice
      was solved, so that perfect play from there decides the game.
    - `decisions`, `solved`: all choices in open positions, and those that the solver settled within `limit` nodes.
    - `nodes`, `milliseconds`: the median and the 95th percentile over all of them, and the mean: for the scores of all
      legal moves, with what the solver remembers of the ones before.
    """

    game: str
    variant: str
    seats: int
    games: int
    endless: int
    limit: int
    reached: int
    decided: int
    decisions: int
    solved: int
    nodes: tuple[float, float, float]
    milliseconds: tuple[float, float, float]
    grades: dict[str, EndgameGrade]

    def as_json(self) -> dict[str, Any]:
        """The report as plain JSON types."""
        return plain(asdict(self))


def measure_endings(
    game: Game,
    agents: Sequence[str],
    games: int,
    seed: int = 0,
    *,
    variant: str | None = None,
    limit: int = NODES,
    threads: int | None = None,
    progress: CountProgress | None = None,
) -> EndingsReport:
    """Play games between agents and grade how each agent played the endings.

    agents: specs, one for each seat. Each deal is played in all rotations that seat different agents, so `games` is
    rounded up to whole deals. limit: nodes the solver may visit for one decision. Intervals are 95 % and treat deals as
    independent: Wilson's for shares, bootstrap for means. Raises CardaiError for a bad agent, if `games` is below 1,
    and for a game that declares no open positions.
    """
    positive("games", games)
    solver = solver_of(game, limit)
    variant = game.canonical(variant)
    specs, deals, played_games, endless = play_games(game, agents, games, seed, variant, threads, progress)
    endings, efforts = [], []
    for played_game in played_games:
        states, played = decisions_of(game, played_game.start, played_game.moves)
        judged = [_judged(solver, states[i : i + 1], played[i], efforts) for i in range(len(states))]
        endings.append(_PlayedEnding(played_game.deal, played_game.lineup, played_game.scores, states["turn"], judged))
    reached = [ending for ending in endings if ending.judged]
    return EndingsReport(
        game.name,
        variant,
        len(agents),
        len(endings),
        endless,
        limit,
        len(reached),
        sum(not np.isnan(ending.judged[0].best) for ending in reached),
        len(efforts),
        sum(not np.isnan(one.best) for ending in reached for one in ending.judged),
        _spread([nodes for nodes, _ in efforts]),
        _spread([1e3 * seconds for _, seconds in efforts]),
        {spec: _grade(reached, place, deals, seed) for place, spec in enumerate(specs)},
    )


def decisions_of(game: Game, deal: GameState, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Replay a game and return its decisions in open positions: the states STATE[n] and the moves played, MOVE[n].

    deal: the first state. moves: MOVE[plies], all moves of the game. States with a single legal move are left out.
    """
    assert game.rules.is_open is not None
    moves = np.ascontiguousarray(moves)
    states, places = np.zeros(len(moves) + 1, game.state), np.zeros(len(moves), np.int64)
    states[0] = deal
    is_open, space = game.compiler.entry("is_open", game.rules.is_open), roomy(game.max_moves, game.move)
    n = note_decisions(lend(game.compiler.rules), is_open, raw(states), raw(moves), len(moves), raw(space), places)
    return states[:n], moves[places[:n]]


@rule
def note_decisions(rules, is_open, states, moves, plies, space, places):
    """Replay a game from states[0], keep its decisions in open positions at the front, and return their number.

    states: STATE[plies + 1]. moves: MOVE[plies]. space: MOVE[max_moves]. places: i64[plies], filled with the plies of
    the decisions kept.
    """
    n = 0  # states[n] is the current position; the decisions kept lie before it
    for ply in range(plies):
        state = at(states, n)
        if call_is_open(is_open, state) != 0 and abs(legal_moves(rules, state, space, 0)) > 1:
            places[n] = ply
            copy(at(states, n + 1), state, rules.state_size)
            n += 1
        play_move(rules, at(states, n), at(moves, ply))
    return n


class _Judged(NamedTuple):
    """A decision under perfect play: the scores of the best, the worst and the played move; NaN where unsolved."""

    best: float
    worst: float
    played: float


class _PlayedEnding(NamedTuple):
    """The n decisions in one game's ending."""

    deal: int  # number of the deal
    lineup: np.ndarray  # i64[seats]: which agent sat where
    scores: np.ndarray  # f8[seats]: how the game ended
    turns: np.ndarray  # i64[n]: the seat that decided
    judged: list[_Judged]


def _judged(solver: Any, states: np.ndarray, played: Any, efforts: list[tuple[int, float]]) -> _Judged:
    """Solve a position, STATE[1]. Adds the nodes and seconds that it took to `efforts`."""
    began = time.thread_time()
    (solved,) = solver.solve(states)
    efforts.append((solved.nodes, time.thread_time() - began))
    if not solved.is_solved:
        return _Judged(np.nan, np.nan, np.nan)
    place = int(np.argmax(solved.moves == played))
    return _Judged(float(solved.scores.max()), float(solved.scores.min()), float(solved.scores[place]))


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and mean, all 0 without values."""
    if not values:
        return 0.0, 0.0, 0.0
    return float(np.median(values)), float(np.percentile(values, 95)), float(np.mean(values))


def _grade(reached: Sequence[_PlayedEnding], place: int, deals: int, seed: int) -> EndgameGrade:
    """The grade of agent number `place`, each of its seats an ending of its own. seed: of the bootstrap."""
    optimal: list[list[float]] = [[] for _ in range(deals)]
    lost: list[list[float]] = [[] for _ in range(deals)]
    lost_wins: list[list[float]] = [[] for _ in range(deals)]
    endings = decisions = unsolved = 0
    for ending in reached:
        for seat in np.flatnonzero(ending.lineup == place):
            own = [one for one, turn in zip(ending.judged, ending.turns, strict=True) if turn == seat]
            if not own:
                continue
            endings += 1
            decisions += len(own)
            unsolved += sum(np.isnan(one.best) for one in own)
            optimal[ending.deal] += [float(one.played == one.best) for one in own if one.worst < one.best]
            if not any(np.isnan(one.best) for one in own):
                lost[ending.deal].append(sum(one.best - one.played for one in own))
            if own[0].best == 1.0:
                lost_wins[ending.deal].append(float(ending.scores[seat] < 1.0))
    found = interval.proportion(padded(optimal))
    thrown = interval.proportion(padded(lost_wins))
    given = interval.mean(padded(lost), seed)
    return EndgameGrade(endings, decisions, unsolved, found.n, found, given, thrown.n, thrown)
