"""Strategies for a solved game, and their exact results against an opponent who plays evenly random moves.

A *strategy* says how its owner moves in every position, from either seat: i64[E], a weight for each move of the
solution. The probability of a move is its weight divided by the sum of the weights of its position's moves, so all
results are exact fractions.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cardai.measure.solution import Solution


def uniform(solution: Solution) -> np.ndarray:
    """The strategy that plays all legal moves with the same probability."""
    return np.ones(len(solution.moves), np.int64)


def best_against_uniform(solution: Solution, safe: bool = True) -> np.ndarray:
    """Returns the strategy that most probably wins against evenly random moves, or among equals most probably draws.

    `safe`: if it can, it plays only moves after which a perfect opponent would not win.
    """
    chosen = np.zeros(len(solution.moves), np.int64)
    for seat in range(2):
        chances = {i: _end(solution, i, seat) for i in np.flatnonzero(solution.turns < 0).tolist()}
        holds = (solution.values if seat == 0 else 1.0 - solution.values)[solution.following] >= 0.5
        for i in np.flatnonzero(solution.turns >= 0)[::-1].tolist():
            edges = range(solution.first[i], solution.first[i + 1])
            after = {edge: chances[int(solution.following[edge])] for edge in edges}
            if solution.turns[i] == seat:
                allowed = [edge for edge in edges if holds[edge]] if safe else []
                best = max(allowed or edges, key=lambda edge: after[edge])
                chosen[best] = 1
                chances[i] = after[best]
            else:
                wins, draws = zip(*after.values(), strict=True)
                chances[i] = (Fraction(sum(wins), len(edges)), Fraction(sum(draws), len(edges)))
    return chosen


def _end(solution: Solution, place: int, seat: int) -> tuple[Fraction, Fraction]:
    """A finished game for a seat as chances (to win, to draw): one of them is 1, or none if it is lost."""
    score = solution.values[place] if seat == 0 else 1.0 - solution.values[place]
    return Fraction(int(score > 0.5)), Fraction(int(score == 0.5))


@dataclass(frozen=True)
class StrategyOutcome:
    """The results of a strategy in one seat.

    - `win`, `draw`, `loss`: the probabilities against an opponent who plays evenly random moves.
    - `lines`: how many sequences of moves lead to the end of the game in which every move of the strategy has a
      probability above 0. A strategy without luck has one line for each sequence of the opponent's moves.
    - `losing_lines`: how many of the lines it loses.
    """

    win: Fraction
    draw: Fraction
    loss: Fraction
    lines: int
    losing_lines: int


def play_through(solution: Solution, strategy: np.ndarray, seat: int) -> tuple[StrategyOutcome, np.ndarray]:
    """Returns a strategy's result in a seat, and which positions can arise in its games, bool[N].

    Raises ValueError if the strategy has no move in one of them.
    """
    count = len(solution.states)
    chance, lines = [Fraction(0)] * count, [0] * count
    chance[0], lines[0] = Fraction(1), 1
    shares, paths = [Fraction(0)] * 3, [0] * 3
    turns, first, following = solution.turns.tolist(), solution.first.tolist(), solution.following.tolist()
    weights = np.asarray(strategy).tolist()
    for i in range(count):
        if not lines[i]:
            continue
        if turns[i] < 0:
            win, draw = _end(solution, i, seat)
            result = 0 if win else 1 if draw else 2
            shares[result] += chance[i]
            paths[result] += lines[i]
            continue
        edges = range(first[i], first[i + 1])
        here = [weights[edge] for edge in edges] if turns[i] == seat else [1] * len(edges)
        total = sum(here)
        if total == 0:
            raise ValueError(f"the strategy has no move in position {i}")
        for edge, weight in zip(edges, here, strict=True):
            if weight:
                chance[following[edge]] += chance[i] * Fraction(weight, total)
                lines[following[edge]] += lines[i]
    return StrategyOutcome(*shares, lines=sum(paths), losing_lines=paths[2]), np.array(lines, bool)
