"""What becomes of an exception inside a compiled rule."""

import sys

from cardai.errors import CardaiError, place_of
from cardai.game import Game


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
