"""What the values of an evaluator mean: probabilities of an end, shifted to natural play where that is known, or a
heuristic's numbers without a unit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cardai.game import Game, GameState, Payoff
from cardai.playing.agents.adjusted import ShiftedEvaluator, natural_shift
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OnePly, WorldSearch
from cardai.records.recipe import LABELS

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
    - `unit`: the unit of the game's payoff if values are given in it, else "".
    """

    name: str
    bounded: bool
    label: str = "score"
    shift: float = 0.0
    source: str = ""
    unit: str = ""

    @property
    def is_share(self) -> bool:
        """Whether the values are shown as numbers from 0 to 1."""
        return self.bounded and not self.unit


def scale_of(game: Game, agent: Agent, seats: int) -> ValueScale:
    """The scale of an agent's values: expected payoffs if the game has a unit and they predict the score."""
    scale, payoff = _scale_of_scores(game, agent, seats), game.payoff
    if payoff.is_share or not scale.bounded or scale.label != "score":
        return scale
    return replace(scale, name=f"expected {payoff.unit}", unit=payoff.unit)


def payoff_of(game: Game, scale: ValueScale) -> Payoff:
    """What turns an agent's values into numbers of a scale (`Payoff.of`)."""
    return game.payoff if scale.unit else Payoff()


def _scale_of_scores(game: Game, agent: Agent, seats: int) -> ValueScale:
    """The scale of an agent's values as its evaluator gives them, by what that says of its training.

    A model that was not trained on states as they come in play, for example with a loser in every second state, gives
    chances of that training. Its log odds are shifted to natural play (`cardai.playing.agents.adjusted.natural_shift`).
    """
    evaluator = agent.evaluator
    if isinstance(agent.strategy, WorldSearch) and agent.strategy.turns < 0:
        return ValueScale("expected score", True, source=f"the mean over the worlds that {agent.spec} plays to the end")
    if evaluator is None:
        return ValueScale(f"value by {agent.spec}", bounded=False, source="a heuristic's numbers have no unit")
    metadata: Any = getattr(evaluator, "metadata", None)
    recipe: Mapping[str, Any] = dict(getattr(metadata, "data", None) or {}).get("recipe") or {}
    label, balance = str(recipe.get("label", "score")), recipe.get("balance")
    if label not in LABELS and label not in game.learning.outcomes:
        label = "score"
    name = _LABEL_NAMES.get(label, f"expected {label}, from 0 to 1 (the best)")
    if balance is None:
        return ValueScale(name, True, label, source="as the model gives it; it does not say how its states were drawn")
    shift = natural_shift(evaluator, game)
    if balance == "natural" and not shift:
        return ValueScale(name, True, label, source="as the model gives it, trained on states as they come in play")
    trained = "data balanced by loser" if balance == "loser" else "what a search said, by a model of balanced data"
    reason = f"trained on {trained}; the log odds are shifted by {shift:+.3f} to natural play"
    return ValueScale(name, True, label, shift, reason)


def shifted_agent(agent: Agent, scale: ValueScale) -> Agent:
    """Return an agent that looks one ply ahead, with its values on a scale that `scale_of` found for it."""
    strategy = agent.strategy
    if not scale.shift or not isinstance(strategy, OnePly) or strategy.evaluator is None:
        return agent
    return replace(agent, strategy=replace(strategy, evaluator=ShiftedEvaluator(strategy.evaluator, scale.shift)))


def unit_of(game: Game, scale: ValueScale, state: GameState) -> tuple[float, str]:
    """A difference of 1 between values in words: how many, and of what. `state`: any of the game, for its options."""
    if scale.unit:
        return 1.0, scale.unit
    if not scale.bounded:
        return 1.0, f"in the numbers of {scale.name.removeprefix('value by ')}, which have no unit"
    if scale.label == "score":
        return game.payoff.worth(state)
    if scale.label in game.learning.outcomes:
        outcome = game.learning.outcomes[scale.label]
        return outcome.high - outcome.low, outcome.about
    return 100.0, f"percentage points: {scale.name}"
