"""What the values of an evaluator mean: probabilities of an end, shifted to natural play where that is known, or a
heuristic's numbers without a unit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.agents.evaluator import Evaluator
from cardai.agents.spec import Agent
from cardai.data.recipe import LABELS
from cardai.game import Game

_LABEL_NAMES = {
    "score": "expected score",
    "win": "chance to win",
    "not_lost": "chance not to lose",
    "share": "expected share of the win",
}


@dataclass(frozen=True)
class ValueScale:
    """What the values of an agent's evaluator mean.

    - `name`: what a value is, for people; `source`: why it is taken so, for people.
    - `bounded`: the values are in [0, 1] and predict `label`, a function of the table's scores or an outcome of the
      game. A heuristic's values are not bounded and have no unit.
    - `shift`: what was added to the log odds of the values.
    """

    name: str
    bounded: bool
    label: str = "score"
    shift: float = 0.0
    source: str = ""


def scale_of(game: Game, agent: Agent, seats: int) -> ValueScale:
    """The scale of an agent's values, by the data that its model was trained on (`metadata.data`).

    A model that was trained on data balanced by loser has seen a loser in every second state. In a game whose mean
    score is m, its log odds are ln(m / (1 - m)) too low for natural play (`docs/data.md`). They are shifted by that if
    its label is the score and the game promises the sum of scores.
    """
    evaluator = agent.evaluator
    if evaluator is None:
        return ValueScale(f"value by {agent.spec}", bounded=False, source="a heuristic's numbers have no unit")
    metadata: Any = getattr(evaluator, "metadata", None)
    recipe: Mapping[str, Any] = dict(getattr(metadata, "data", None) or {}).get("recipe") or {}
    label, balance = str(recipe.get("label", "score")), recipe.get("balance")
    if label not in LABELS and label not in game.outcomes:
        label = "score"
    name, total = _LABEL_NAMES.get(label, f"expected {label}, from 0 to 1 (the best)"), game.score_sum(seats)
    if balance is None:
        return ValueScale(name, True, label, source="as the model gives it; it does not say how its states were drawn")
    if balance == "natural":
        return ValueScale(name, True, label, source="as the model gives it, trained on states as they come in play")
    if label != "score" or not total or not 0 < total < seats:
        reason = "as in data balanced by loser, where every second state is a loser's: too low or too high for play"
        return ValueScale(name, True, label, source=reason)
    shift = float(np.log(total / (seats - total)))
    reason = f"trained on data balanced by loser; the log odds are shifted by {shift:+.3f} to natural play"
    return ValueScale(name, True, label, shift, reason)


class ShiftedEvaluator:
    """An evaluator with a constant added to the log odds of its scores."""

    def __init__(self, evaluator: Evaluator, shift: float) -> None:
        self.evaluator, self.odds = evaluator, float(np.exp(shift))
        self.name, self.encoder, self.moment = evaluator.name, evaluator.encoder, evaluator.moment
        self.seats, self.batch = evaluator.seats, evaluator.batch

    def score(self, rows: np.ndarray) -> np.ndarray:
        """Scores of rows u8[n, width]: f8[n] in [0, 1]. A number of the evaluator outside [0, 1] is not changed."""
        p = np.asarray(self.evaluator.score(rows)).astype(np.float64)
        inside = (p >= 0) & (p <= 1)
        return np.where(inside, p * self.odds / np.where(inside, p * self.odds + (1 - p), 1), p)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError as the evaluator does."""
        self.evaluator.check_fits(game, variant, seats)
