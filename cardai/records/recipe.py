"""A recipe: which states of recorded games go into a dataset, and which labels they get."""

import re
from dataclasses import dataclass

from cardai.errors import CardaiError, unknown
from cardai.game import Game
from cardai.game.compiled.doors import check_text
from cardai.playing.agents.evaluator import MOMENTS

STATES = ("all", "choices")
BALANCES = ("natural", "loser")
LABELS = ("score", "win", "not_lost", "share")
"""The labels that any game has: functions of the scores of tables (`cardai.playing.stats.measure.label_of`)."""
_TERM = re.compile(r"(?:(?P<weight>\d+(?:\.\d+)?)\s*\*\s*)?(?P<name>[^\s*+]+)")


@dataclass(frozen=True)
class Recipe:
    """Which states become rows, and their labels. Raises CardaiError for an unknown word or a negative `per_game`.

    - `encoder`: the name of one of the game's encoders; None is its first one.
    - `moment`: "before_draw" takes after-states (the player has moved, chance has not). "drawn" takes settled states,
      without those in the middle of a decision and without ended games, whose score is known.
    - `states`: "all", or "choices" for only the states after a move that had an alternative.
    - `per_game`: the largest number of states taken from one game; they are drawn evenly. 0 takes all.
    - `balance`: "natural" changes nothing. "loser" takes all states of the seats with the game's lowest score, and at
      most as many, drawn evenly, of the other seats.
    - `label`: "score" is the seat's final score in [0, 1]; "win" is 1 if that is 1, else 0; "not_lost" is 0 if it is 0,
      else 1; "share" is 1/k for each of the k seats with the best score, else 0. The name of an outcome of the game
      (`Learning.outcomes`) is that outcome, brought into [0, 1] so that higher is better (`Outcome.as_label`). The
      name of a reward (`Learning.rewards`) is in the same way what the move to the state brought. "5*score+answer" is
      the weighted mean of two labels, here with weights 5 and 1; there may be more.
    - `agents`: only seats whose agent's spec begins with one of these texts, so that labels say how the game ends when
      these agents play on. Empty takes every seat.
    - `steady`: for a seat that explores until some ply (`until` in its spec), only the states from its last exploring
      move on, so that labels say how good any move is when the moves after it do not explore.
    - `teacher`: the spec of an agent that searches over worlds, such as "ahead:best?worlds=2". `per_game` then counts
      decisions with a choice. The teacher searches each one in worlds of its seat: the after-states of all moves that
      it plays on become rows, and their labels are the teacher's means (expert iteration, Anthony et al. 2017). Empty:
      labels say how the game ended.
    """

    encoder: str | None = None
    moment: str = "before_draw"
    states: str = "all"
    per_game: int = 0
    balance: str = "natural"
    label: str = "score"
    agents: tuple[str, ...] = ()
    steady: bool = False
    teacher: str = ""

    def __post_init__(self) -> None:
        choices = {"moment": MOMENTS, "states": STATES, "balance": BALANCES}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise CardaiError(f"recipe: {unknown(name, getattr(self, name), known)}")
        check_text("label", self.label)
        assert self.terms
        if self.teacher and (self.moment, self.balance, self.label) != ("before_draw", "natural", "score"):
            raise CardaiError(
                "recipe: a teacher labels after-states as they occur: moment before_draw, balance natural, label score"
            )
        if self.per_game < 0:
            raise CardaiError(f"recipe: per_game must be at least 0, not {self.per_game}")

    @property
    def terms(self) -> dict[str, float]:
        """The labels that the label is a mean of, with their weights, which sum to 1."""
        weights: dict[str, float] = {}
        for term in self.label.split("+"):
            match = _TERM.fullmatch(term.strip())
            if match is None or match["name"] in weights or float(match["weight"] or 1) <= 0:
                raise CardaiError(
                    f"recipe: label {self.label!r} must be a name, or different names with positive weights, such as"
                    " '5*score+win'"
                )
            weights[match["name"]] = float(match["weight"] or 1)
        return {name: weight / sum(weights.values()) for name, weight in weights.items()}

    def check_label(self, game: Game) -> None:
        """Raise CardaiError if the game has no such label."""
        known = (*LABELS, *game.learning.outcomes, *game.learning.rewards)
        for name in self.terms:
            if name not in known:
                raise CardaiError(f"recipe: {unknown('label', name, known)}")
            outcome = game.learning.outcomes.get(name) or game.learning.rewards.get(name)
            if outcome is not None and outcome.applies is not None:
                raise CardaiError(f"recipe: label {name!r} does not apply to every seat, so that it is no label")
