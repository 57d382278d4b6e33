"""Exact grades of agents in small games, over the whole tree.

solution = solve(load("tictactoe"))         # every reachable position and its value
report = grade(solution, "greedy:open_lines")
rich.print(cardai.show.grades.table([report]))
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cardai.agents.notation import Spec
from cardai.agents.spec import Agent, agent
from cardai.game import Game
from cardai.measure.perfect.agent_strategy import SAMPLES, strategy_of
from cardai.measure.perfect.strategy import StrategyOutcome, play_through
from cardai.measure.solution import Solution, solve
from cardai.stats.progress import CountProgress
from cardai.stats.report import Report
from cardai.table.complaints import Complaints


@dataclass(frozen=True)
class Grade(Report, drawn_by="cardai.show.grades:table"):
    """How well an agent plays, by its decision in every position of the tree.

    - `first`, `second`: its results in seat 0 and in seat 1.
    - `optimal`: the share of its decisions that perfect play could make too. Every position with more than one legal
      move counts once. `optimal_met`: the same over the positions that can arise when it plays.
    - `luck`: "none" if it always plays the same move in a position. "known" if it draws lots evenly among moves that
      are known. "estimated" if its probabilities are estimated from `samples` decisions in each position. Estimated
      shares have no bias, because a game meets a position at most once; losing lines that no sample took are not
      counted.
    """

    game: str
    agent: str
    first: StrategyOutcome
    second: StrategyOutcome
    optimal: Fraction
    optimal_met: Fraction
    luck: str
    samples: int

    @property
    def averaged(self) -> tuple[Fraction, Fraction, Fraction]:
        """The mean probabilities of win, draw and loss over the two seats."""
        one, two = self.first, self.second
        return (one.win + two.win) / 2, (one.draw + two.draw) / 2, (one.loss + two.loss) / 2

    @property
    def losing_lines(self) -> int:
        """How many lines it loses, in both seats together. An agent with 0 cannot lose."""
        return self.first.losing_lines + self.second.losing_lines

    def as_json(self) -> dict[str, Any]:
        """The grade as plain JSON types: shares as numbers, and unless they are estimates also as text, "191/192"."""
        exact = self.luck != "estimated"

        def share(value: Fraction) -> dict[str, Any]:
            return {"value": float(value), **({"fraction": str(value)} if exact else {})}

        def triple(win: Fraction, draw: Fraction, loss: Fraction) -> dict[str, Any]:
            return {"win": share(win), "draw": share(draw), "loss": share(loss)}

        def seat(outcome: StrategyOutcome) -> dict[str, Any]:
            shares = triple(outcome.win, outcome.draw, outcome.loss)
            return {**shares, "lines": outcome.lines, "losing_lines": outcome.losing_lines}

        return {
            "game": self.game,
            "agent": self.agent,
            "against": "evenly random moves",
            "first": seat(self.first),
            "second": seat(self.second),
            "averaged": triple(*self.averaged),
            "optimal": share(self.optimal),
            "optimal_met": share(self.optimal_met),
            "luck": self.luck,
            "samples": self.samples,
        }


def grade(
    game: Game | Solution,
    player: str | Spec | Agent,
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    progress: CountProgress | None = None,
) -> Grade:
    """Grade an agent by its decision in every position of the game.

    `samples`: decisions asked for in each position if the agent uses luck; `seed`: decides that luck. Raises
    CardaiError for a game that `solve` refuses and for an agent without a fixed strategy (a person, or a player with
    parameters drawn anew for each game). Raises IllegalMove if the agent chooses an illegal move.
    """
    solution = game if isinstance(game, Solution) else solve(game)
    chosen = agent(solution.game, player)
    with Complaints(solution.game):
        weights, luck = strategy_of(solution, chosen, seed=seed, samples=samples, progress=progress)
    return grade_strategy(solution, chosen.label, weights, luck, samples if luck == "estimated" else 0)


def grade_strategy(solution: Solution, name: str, strategy: np.ndarray, luck: str = "known", samples: int = 0) -> Grade:
    """Grade a strategy, for example `uniform(solution)`, under a name."""
    first, met_first = play_through(solution, strategy, 0)
    second, met_second = play_through(solution, strategy, 1)
    has_choice = np.diff(solution.first) > 1
    met = has_choice & np.where(solution.turns == 0, met_first, met_second)
    optimal = _optimal_share(solution, strategy, has_choice)
    return Grade(
        solution.game.name, name, first, second, optimal, _optimal_share(solution, strategy, met), luck, samples
    )


def _optimal_share(solution: Solution, strategy: np.ndarray, counted: np.ndarray) -> Fraction:
    """Returns the mean probability of an optimal move over the positions in `counted`, bool[N], or 1 if it has none."""
    total = Fraction(0)
    places = np.flatnonzero(counted)
    for i in places:
        edges = slice(solution.first[i], solution.first[i + 1])
        total += Fraction(int(strategy[edges][solution.is_optimal[edges]].sum()), int(strategy[edges].sum()))
    return total / len(places) if len(places) else Fraction(1)
