"""Evaluators made of a function or object of yours: NumPy, scikit-learn, torch."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardai.errors import BadArgument, positive, short, unknown, whole
from cardai.game import Game, is_game
from cardai.game.compiled.doors import check_text
from cardai.playing.agents.evaluator import MOMENTS


@dataclass(frozen=True, eq=False)
class FunctionEvaluator:
    """An evaluator of `game` that calls a function of rows, for tables of any size the encoder allows."""

    game: Game
    name: str
    function: Callable[[np.ndarray], Any]
    encoder: str
    moment: str
    batch: int
    seats: int | None = None

    def score(self, rows: np.ndarray) -> np.ndarray:
        """The function's scores, f[n], of rows u8[n, width]. Raises CardaiError for other rows."""
        if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.ndim != 2:
            raise BadArgument(f"{self.name} scores rows u8[n, width], not {short(rows)}")
        return np.asarray(self.function(rows))

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it is asked about the game it was made for."""
        if is_game(game) is not self.game:
            raise BadArgument(f"{self.name} is an evaluator of {self.game.name}, not of {game.name}")
        game.options(whole("seats", seats), variant)


def evaluator(
    game: Game,
    source: Any,
    *,
    encoder: str | None = None,
    moment: str = "before_draw",
    name: str | None = None,
    batch: int = 2048,
) -> FunctionEvaluator:
    """An evaluator from a function or object of yours; `Greedy(evaluator)` plays by it.

    `source` is one of:
    - a function from rows, u8[n, width], to scores, f[n] in [0, 1]: how good each position is for the seat whose view
      the row is,
    - an object with `predict_proba` (a scikit-learn classifier): the probability of its last class,
    - an object with `predict` (a scikit-learn regressor): what it predicts, which must lie in [0, 1],
    - a torch module: called in evaluation mode and without gradients on rows as float32; it must answer with scores
      [n] or [n, 1] in [0, 1].
    `encoder`: which of the game's encoders makes the rows, its first by default. `moment`: the states it is made for,
    "before_draw" (after-states, for greedy) or "drawn" (settled states, for sampled). `batch`: how many rows it is best
    given at once. Raises CardaiError for anything else.
    """
    is_game(game).encoder(encoder)
    if check_text("moment", moment) not in MOMENTS:
        raise BadArgument(unknown("moment", moment, MOMENTS))
    positive("batch", batch)
    label = (None if name is None else check_text("name", name)) or getattr(source, "__name__", type(source).__name__)
    return FunctionEvaluator(game, label, _scorer(source), encoder or next(iter(game.learning.encoders)), moment, batch)


def _scorer(source: Any) -> Callable[[np.ndarray], Any]:
    """The function of rows that an object of a known kind stands for."""
    if hasattr(source, "predict_proba"):
        return lambda rows: source.predict_proba(rows)[:, -1]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(source, torch.nn.Module):
        return lambda rows: _by_torch(torch, source, rows)
    if hasattr(source, "predict"):
        return source.predict
    if callable(source):
        return source
    raise BadArgument(
        f"source {short(source)} is neither a function of rows nor an object with predict or predict_proba"
    )


def _by_torch(torch: Any, module: Any, rows: np.ndarray) -> np.ndarray:
    module.eval()
    first = next(module.parameters(), None)
    with torch.no_grad():
        answer = module(torch.as_tensor(rows, dtype=torch.float32, device=None if first is None else first.device))
    return answer.reshape(len(rows)).cpu().numpy()
