"""Exact grades of agents in small games, over the whole tree.

    solution = solve(load("tictactoe"))         # every reachable position and its value
    print(grade(solution, "greedy:open_lines"))

Results are those against an opponent who plays evenly random moves, exact fractions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game
from cardai.guests.exact.choices import asked, weights_of
from cardai.guests.exact.listing import Unlistable
from cardai.guests.exact.solution import Solution, solve
from cardai.playing.agents.notation import Spec
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import Person
from cardai.playing.progress import CountProgress
from cardai.playing.stats.report import Report
from cardai.playing.table.complaints import Complaints

SAMPLES = 32
"""Decisions asked for in each position of an agent that uses luck."""


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


@dataclass(frozen=True)
class Grade(Report, drawn_by="cardai.guests.exact.shown:grades"):
    """How well an agent plays, by its decision in every position of the tree.

    - `first`, `second`: its results in seat 0 and in seat 1.
    - `optimal`: the share of its decisions that perfect play could make too. Every position with more than one legal
      move counts once. `optimal_met`: the same over the positions that can arise when it plays.
    - `luck`: "none" if it always plays the same move in a position. "known" if it draws lots with probabilities that
      are known. "estimated" if they are estimated from `samples` decisions in each position. Estimated shares have no
      bias, because a game meets a position at most once; losing lines that no sample took are not counted.
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

        def share(value: Fraction) -> dict[str, Any]:
            return {"value": float(value), **({"fraction": str(value)} if self.luck != "estimated" else {})}

        def triple(*shares: Fraction) -> dict[str, Any]:
            return dict(zip(("win", "draw", "loss"), map(share, shares), strict=True))

        def seat(one: StrategyOutcome) -> dict[str, Any]:
            return triple(one.win, one.draw, one.loss) | {"lines": one.lines, "losing_lines": one.losing_lines}

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

    `samples`: decisions asked for in each position if the agent uses luck that is not known; `seed`: decides that luck.
    Raises CardaiError for a game that `solve` refuses, for fewer than 2 samples, and for an agent without a fixed
    strategy (a person, one that explores, or a player with parameters drawn anew for each game). Raises IllegalMove if
    the agent chooses an illegal move.
    """
    solution = game if isinstance(game, Solution) else solve(game)
    chosen = agent(solution.game, player)
    if samples < 2:
        raise CardaiError(f"an agent that uses luck is asked at least 2 times a position, not {samples}")
    if chosen.strategy.explores:
        raise CardaiError(f"agent {chosen.spec!r} explores; grade it without epsilon and temperature")
    if isinstance(chosen.strategy, Person):
        raise CardaiError(f"agent {chosen.spec!r} cannot be asked in every position")
    with Complaints(solution.game):
        try:
            weights = weights_of(solution, chosen)
        except Unlistable:
            weights = None
        if weights is not None:
            luck = "known" if np.count_nonzero(weights) > len(solution.deciding) else "none"
        else:
            weights, is_lucky = asked(solution, chosen, seed, samples, progress)
            luck = "estimated" if is_lucky else "none"
    return grade_strategy(solution, chosen.label, weights, luck, samples if luck == "estimated" else 0)


def grade_strategy(solution: Solution, name: str, weights: np.ndarray, luck: str = "known", samples: int = 0) -> Grade:
    """Grade a strategy by its weights (`cardai.guests.exact.choices`), for example all 1, under a name."""
    each = weights.tolist()
    has_choice, outcomes = np.diff(solution.first) > 1, []
    for seat in range(2):
        win, draw, lines, losing = _walk(solution, seat, lambda choices, _: each[choices.start : choices.stop])
        outcomes.append(StrategyOutcome(win, draw, 1 - win - draw, lines, losing))
    met = np.where(solution.turns == 0, *(_met(solution, weights, seat) for seat in range(2)))
    optimal, optimal_met = (_optimal_share(solution, each, counted) for counted in (has_choice, has_choice & met))
    return Grade(solution.game.name, name, outcomes[0], outcomes[1], optimal, optimal_met, luck, samples)


_Result = tuple[Any, Any, Any, Any]
"""The probabilities of a win and of a draw, how many lines there are, and how many of them are lost."""


def _walk(solution: Solution, seat: int, choose: Callable[[range, list[_Result]], Sequence[Any]]) -> _Result:
    """The result of a seat, from the last position to the first. `choose`: (choices, what follows them) -> weights.

    Raises ValueError if all weights of a position are 0.
    """
    turns, first, following = solution.turns.tolist(), solution.first.tolist(), solution.following.tolist()
    scores = (solution.values if seat == 0 else 1.0 - solution.values).tolist()
    found: dict[int, _Result] = {}
    for place in reversed(range(len(turns))):
        if turns[place] < 0:
            score = scores[place]
            found[place] = Fraction(score > 0.5), Fraction(score == 0.5), 1, int(score < 0.5)
            continue
        choices = range(first[place], first[place + 1])
        after = [found[following[choice]] for choice in choices]
        weights = choose(choices, after) if turns[place] == seat else [1] * len(after)
        if not any(weights):
            raise ValueError(f"the strategy has no move in position {place}")
        taken = [(Fraction(weight, sum(weights)), result) for weight, result in zip(weights, after, strict=True)]
        win, draw = (sum((share * result[i] for share, result in taken), Fraction(0)) for i in range(2))
        lines, losing = (sum(result[i] for share, result in taken if share) for i in (2, 3))
        found[place] = win, draw, lines, losing
    return found[0]


def _met(solution: Solution, weights: np.ndarray, seat: int) -> np.ndarray:
    """Which positions can arise in the games of a strategy in a seat, bool[N]."""
    taken = (solution.turns[solution.place_of] != seat) | (weights > 0)
    met = np.zeros(len(solution.states), bool)
    met[0] = True
    for _ in range(int(solution.states["ply"].max())):
        met[solution.following[taken & met[solution.place_of]]] = True
    return met


def _optimal_share(solution: Solution, weights: list[Any], counted: np.ndarray) -> Fraction:
    """Returns the mean probability of an optimal move over the positions in `counted`, bool[N], or 1 if it has none."""
    total, is_optimal = Fraction(0), solution.is_optimal.tolist()
    places = np.flatnonzero(counted)
    for place in places:
        choices = range(solution.first[place], solution.first[place + 1])
        best = sum(weights[choice] for choice in choices if is_optimal[choice])
        total += Fraction(best, sum(weights[choice] for choice in choices))
    return total / len(places) if len(places) else Fraction(1)


def best_against_uniform(solution: Solution, safe: bool = True) -> np.ndarray:
    """The weights that most probably win against evenly random moves, or among equals most probably draw, i64[C].

    `safe`: if it can, it plays only moves after which a perfect opponent would not win.
    """
    chosen = np.zeros(len(solution.moves), np.int64)
    for seat in range(2):
        holds = (solution.values if seat == 0 else 1.0 - solution.values)[solution.following] >= 0.5

        def choose(choices: range, after: list[_Result], holds: np.ndarray = holds) -> list[int]:
            allowed = [i for i, choice in enumerate(choices) if safe and holds[choice]]
            best = max(allowed or range(len(after)), key=lambda i: after[i][:2])
            chosen[choices[best]] = 1
            return [int(i == best) for i in range(len(after))]

        _walk(solution, seat, choose)
    return chosen
