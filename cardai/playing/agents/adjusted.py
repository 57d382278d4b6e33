"""Evaluators adjusted to how they are used.

Inputs are held at one value, a constant is added to the log odds, or scores are averaged over names of the suits.
"""

from typing import Any, cast

import numpy as np

from cardai.game import Game
from cardai.playing.agents.evaluator import Evaluator, network_of
from cardai.playing.compiled.dense import DenseNetwork, holding, renamed, shifted


class _Adjusted:
    """An evaluator that passes on all that another one says of itself, except its scores."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.name, self.encoder, self.moment = evaluator.name, evaluator.encoder, evaluator.moment
        self.seats = evaluator.seats
        self.is_foreign = getattr(evaluator, "is_foreign", True)
        self.is_isolated = getattr(evaluator, "is_isolated", False)
        self.metadata: Any = getattr(evaluator, "metadata", None)
        self._networks: tuple[DenseNetwork, DenseNetwork] | None = None

    @property
    def batch(self) -> int:
        """How many rows the evaluator is best asked at once."""
        return self.evaluator.batch

    @property
    def network(self) -> DenseNetwork | None:
        """The adjusted network that compiled code scores. None if the evaluator is asked."""
        network = network_of(self.evaluator)
        if network is None:
            return None
        if self._networks is None or self._networks[0] is not network:
            self._networks = network, self._adjusted(network)
        return self._networks[1]

    def _adjusted(self, network: DenseNetwork) -> DenseNetwork:
        raise NotImplementedError

    def _over(self, evaluator: Evaluator) -> Evaluator:
        """Another evaluator, adjusted in the same way."""
        raise NotImplementedError

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError as the evaluator does."""
        self.evaluator.check_fits(game, variant, seats)

    def at_table(self, game: Game, states: np.ndarray) -> Evaluator:
        """Return what it is at a table: the evaluator as that is there, adjusted."""
        there = at_table(self.evaluator, game, states)
        return cast("Evaluator", self) if there is self.evaluator else self._over(there)

    def natural_shift(self, game: Game) -> float:
        """Return the shift of the evaluator, see `natural_shift`."""
        return natural_shift(self.evaluator, game)


class HeldEvaluator(_Adjusted):
    """An evaluator that sees the same numbers in some columns of every row: `values`, u8[k], in `columns`, i64[k]."""

    def __init__(self, evaluator: Evaluator, columns: np.ndarray, values: np.ndarray) -> None:
        super().__init__(evaluator)
        self.columns, self.values = columns, values

    def _adjusted(self, network: DenseNetwork) -> DenseNetwork:
        return holding(network, self.columns, self.values)

    def score(self, rows: np.ndarray) -> Any:
        """Scores of rows u8[n, width], which are not changed: f[n] in [0, 1], as the evaluator gives them."""
        held = rows.copy()
        held[:, self.columns] = self.values
        return self.evaluator.score(held)

    def at_table(self, game: Game, states: np.ndarray) -> Evaluator:
        """Return what the evaluator is at a table, whose inputs need not be held if that is its own variant."""
        return at_table(self.evaluator, game, states)


class ShiftedEvaluator(_Adjusted):
    """An evaluator with a constant, `shift`, added to the log odds of its scores."""

    def __init__(self, evaluator: Evaluator, shift: float) -> None:
        super().__init__(evaluator)
        self.shift, self._odds = shift, float(np.exp(shift))

    def _adjusted(self, network: DenseNetwork) -> DenseNetwork:
        return shifted(network, self.shift)

    def score(self, rows: np.ndarray) -> np.ndarray:
        """Scores of rows u8[n, width]: f8[n] in [0, 1]. A number of the evaluator outside [0, 1] is not changed."""
        p = np.asarray(self.evaluator.score(rows)).astype(np.float64)
        inside = (p >= 0) & (p <= 1)
        return np.where(inside, p * self._odds / np.where(inside, p * self._odds + (1 - p), 1), p)

    def _over(self, evaluator: Evaluator) -> Evaluator:
        return ShiftedEvaluator(evaluator, self.shift)

    def natural_shift(self, game: Game) -> float:
        """Return 0: it is shifted already."""
        return 0.0


class RenamedEvaluator(_Adjusted):
    """The mean of an evaluator's scores over names of the suits: of row[columns[0]] and so on, i64[k, width].

    A network that tells the suits apart by their names has learned each of them from a part of its games only, and
    differs from one to the other by chance. The mean has less of that.
    """

    def __init__(self, evaluator: Evaluator, columns: np.ndarray) -> None:
        super().__init__(evaluator)
        self.columns = columns

    def _adjusted(self, network: DenseNetwork) -> DenseNetwork:
        return renamed(network, self.columns)

    def score(self, rows: np.ndarray) -> np.ndarray:
        """Scores of rows u8[n, width]: f8[n] in [0, 1]."""
        return np.mean([np.asarray(self.evaluator.score(rows[:, order]), np.float64) for order in self.columns], axis=0)

    def _over(self, evaluator: Evaluator) -> Evaluator:
        return RenamedEvaluator(evaluator, self.columns)


def at_table(evaluator: Evaluator, game: Game, states: np.ndarray) -> Evaluator:
    """Return what an evaluator is at a table: another one if it was made for other options and says so.

    `states`: STATE[n] of that table, n at least 1; they hold its options. Raises CardaiError if an evaluator that was
    made for another variant does not know that variant.
    """
    adapt = getattr(evaluator, "at_table", None)
    return evaluator if adapt is None else adapt(game, states)


def natural_shift(evaluator: Evaluator, game: Game) -> float:
    """Return what must be added to the log odds of an evaluator's scores, so that they say how often things happen.

    It is not 0 for a model that was trained on states that are not drawn as they come in play. An evaluator that says
    nothing of it has 0.
    """
    say = getattr(evaluator, "natural_shift", None)
    return 0.0 if say is None else float(say(game))
