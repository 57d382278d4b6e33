"""The history of a run of generations: what came of each generation, and the run's report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardai.measure.duel import Duel
from cardai.playing.machine import machine
from cardai.playing.stats.jsonable import plain
from cardai.playing.stats.report import Report


@dataclass(frozen=True)
class Generation:
    """What came of one generation: a line of the history.

    `games`, `states`: the games played for it, and the states in them. `endless`: games that reached no end.
    `learned`: the states that its network was trained on. `steps`: the training steps.
    `bce`: the mean cross-entropy, in nats, on "validation" and "test" states; None without such states.
    `champion`: the name of the champion before this generation.
    `duel`: its model against the champion.
    `strength`: its model against the run's reference, on deals that are the same for all generations.
    `seconds`: step -> how long it took.
    """

    number: int
    games: int
    states: int
    endless: int
    learned: int
    steps: int
    bce: Mapping[str, float | None]
    champion: str
    duel: Duel
    strength: Duel
    seconds: Mapping[str, float]

    @property
    def is_promoted(self) -> bool:
        """Whether its model became the champion."""
        return self.duel.verdict == "better"

    def as_json(self) -> dict[str, Any]:
        """Return the generation as plain JSON types."""
        duels = {"duel": self.duel.as_json(), "strength": self.strength.as_json()}
        return plain(vars(self) | {"promoted": self.is_promoted} | duels)


@dataclass(frozen=True)
class IterateReport(Report, drawn_by="cardai.evaluators.training.show_generations:table"):
    """The generations of a run, and why it ended.

    `title`: the game, the number of seats, the body and the kind of agent.
    `mean_score`: the mean score of equal players, in percent or in the unit of the payoff; None if the game does not
    fix the sum of its scores.
    `reference`: the agent that all models are measured against.
    `champion`: the generation whose model is the champion; 0 while the reference is.
    `model`: the champion's spec.
    `stopped`: what ended the run, "generations", "minutes" or "interrupted", or empty while it goes on.
    """

    game_title: str
    title: str
    mean_score: float | None
    config: Mapping[str, Any]
    reference: str
    champion: int
    model: str
    stopped: str
    generations: tuple[Generation, ...]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run."""
        return self.stopped == "interrupted"

    def as_json(self) -> dict[str, Any]:
        """Return the report, and the machine it was made on, as plain JSON types."""
        fields = {name: value for name, value in vars(self).items() if name not in ("game_title", "mean_score")}
        generations = [generation.as_json() for generation in self.generations]
        return plain(fields | {"generations": generations, "machine": machine()})
