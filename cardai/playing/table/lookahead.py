"""One-ply search for many decisions at once: the Python side of `cardai.playing.compiled.lookahead`."""

from collections.abc import Generator
from typing import Any

import numpy as np

from cardai.errors import CardaiError
from cardai.game import Game
from cardai.game.compiled.native import raw
from cardai.game.compiled.rules import lend
from cardai.playing.agents.evaluator import Evaluator
from cardai.playing.agents.strategy import Question
from cardai.playing.compiled import lookahead
from cardai.playing.compiled.lookahead import BATCH, MOVES, ROWS, VALUE, Judge, Leaves, Look, Pending, Scratch
from cardai.playing.table.cast import leaves_of, scratch_of

MOST_BYTES = 1 << 29  # of rows in a batch, which one decision may fill; a run holds a few batches for each agent
SMALLEST = 2048  # moves that a batch has room for at least


class Lookahead:
    """A batch of decisions: their moves, and the rows that an evaluator must judge to compare them.

    `evaluator`: an evaluator, or the address of a compiled heuristic, which needs no rows. It is used again and again:
    what it hands out is valid until the next `gather`. Strategies are given it, so the states, which are the true ones,
    are private.
    """

    def __init__(self, game: Game, evaluator: Evaluator | Any, seats: int) -> None:
        self.game, self.evaluator, self.is_value = game, evaluator, not hasattr(evaluator, "score")
        if self.is_value:
            self._judge, self.width, batch = Judge(VALUE, evaluator, 0), 1, SMALLEST
        else:
            encoder = game.encoder(evaluator.encoder)
            self._judge = Judge(BATCH, game.compiler.entry("encode", encoder.encode), 0)
            self.width, batch = encoder.width(seats), evaluator.batch
        self._rules, self._base = lend(game.compiler.rules), scratch_of(game)
        self._make_room(max(batch, SMALLEST, game.max_moves))

    def _make_room(self, room: int) -> None:
        self._scratch: Scratch = self._base._replace(leaves=leaves_of(self.game, room, self.width))
        self._lent = lend(self._scratch)

    @property
    def leaves(self) -> Leaves:
        """The batch."""
        return self._scratch.leaves

    def gather(self, pending: Pending, settles: bool, worlds: int, peeks: bool, whole: bool = False) -> int:
        """Take in decisions, as many as there is room for. The arguments are those of `Look`.

        Returns how many it took: at least one, and all of them if `whole`. Raises CardaiError if that needs more rows
        than memory should hold.
        """
        self._pending, count, places = lend(pending), len(pending.picked), pending.places
        self._kept, look = pending, Look(self._judge, settles, peeks, worlds)
        before = pending.streams[places] if whole else None
        while True:
            self.leaves.used[:] = 0
            self.asked = int(lookahead.gather(self._rules, look, self._pending, count, self._lent))
            if self.asked == count or (self.asked and not whole):
                return self.asked
            if before is not None:
                pending.streams[places] = before
            if 2 * self.leaves.room * self.width > MOST_BYTES:
                advice = "; take fewer worlds" if worlds > 1 else ""
                what = "one decision needs" if count == 1 or not whole else f"{count} decisions need"
                raise CardaiError(f"{what} more than {self.leaves.room} rows{advice}")
            self._make_room(2 * self.leaves.room)

    @property
    def question(self) -> Question:
        """Returns what the evaluator is asked.

        It has no rows if every position is decided, or judged by a heuristic.
        """
        return Question(self.evaluator, self.leaves.rows[: self.leaves.used[ROWS]])

    def ask(self) -> Generator[Question, np.ndarray, np.ndarray]:
        """Yield the question, unless it has no rows, and return what `weigh` makes of the scores."""
        return self.weigh((yield self.question) if len(self.question.rows) else np.zeros(0))

    def weigh(self, scores: np.ndarray) -> np.ndarray:
        """Returns the mean score of each move of all decisions, f8[moves], from the scores of the rows, f8[rows]."""
        if not self.is_value:
            lookahead.weigh(raw(scores if len(scores) else np.zeros(1)), self._lent)
        return self.leaves.means[: self.leaves.used[MOVES]]

    def choose(self, epsilon: float, temperature: float) -> tuple[np.ndarray, int]:
        """Returns the best move of each decision, MOVE[n], and the first decision without a legal move, or -1."""
        chosen = np.zeros(self.asked, self.game.move)
        stuck = lookahead.choose(self._rules, epsilon, temperature, self._pending, raw(chosen), self._lent)
        return chosen, int(stuck)

    def options(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """After `weigh`: copies of each decision's moves, MOVE[n], and their mean scores, f8[n]."""
        ends = self.leaves.move_end[: self.asked].tolist()
        parts = [slice(i, j) for i, j in zip([0, *ends[:-1]], ends, strict=True)]
        return [(self.leaves.moves[part].copy(), self.leaves.means[part].copy()) for part in parts]
