"""What is said when a rule, an agent or an evaluator breaks its contract in a game."""

import sys

import numpy as np

from cardai.errors import CardaiError, place_of
from cardai.game import Game, GameState
from cardai.playing.agents.spec import Agent


class NoLegalMove(CardaiError):
    """A seat is to move and has no legal move. `place`: the index of the decision."""

    def __init__(self, game: Game, seat: int, place: int) -> None:
        super().__init__(f"{game.name}: seat {seat} is to move and has no legal move")
        self.place = place


def check_listed(game: Game, state: GameState, where: str = "") -> None:
    """Raise CardaiError if a seat has no legal move because the rule `legal` wrote more than its buffer holds.

    `where`: the game in words, for the message.
    """
    try:
        game.moves(state)
    except CardaiError as error:
        raise CardaiError(f"{where}: {error}" if where else str(error)) from None


class BadScore(CardaiError):
    """An evaluator has scored a position by something that is not a number in [0, 1].

    `who`: the beginning of the sentence, which names agent and evaluator. `where`: its end.
    """

    def __init__(self, who: str, score: float, where: str = "") -> None:
        super().__init__(f"{who}: it scores a position {score:g}, which is not in [0, 1]{where}")


class NoNumber(BadScore):
    """An agent's network, scored in compiled code, has scored a position by something that is not a number."""

    def __init__(self, agent: Agent, where: str = "") -> None:
        name = agent.evaluator.name if agent.evaluator is not None else "of the other seats"
        super().__init__(f"agent {agent.spec!r}, evaluator {name}", np.nan, where)


class Complaints:
    """Turns an exception inside a compiled rule, which compiled callers cannot pass on, into one of ours."""

    def __init__(self, game: Game) -> None:
        self.game, self.first = game, None

    def __enter__(self) -> None:
        self.before = sys.unraisablehook
        sys.unraisablehook = self._note

    def _note(self, unraisable: object) -> None:
        self.first = self.first or getattr(unraisable, "exc_value", None)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        sys.unraisablehook = self.before
        if self.first is not None:
            raise CardaiError(f"{self.game.name}: a rule raised {self.first!r}{place_of(self.first)}") from self.first
