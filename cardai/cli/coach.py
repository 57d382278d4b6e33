"""What a person at the keyboard is told on request: hints, explanations, where hidden cards may lie, the rules."""

from collections.abc import Callable

from rich.console import Console

from cardai.cli import rulebook
from cardai.cli.show import advice as shown
from cardai.cli.show.progress import Line
from cardai.cli.show.seats import Seats, to_you
from cardai.cli.show.suits import in_suits
from cardai.measure.coaching.advice import Adviser
from cardai.measure.coaching.chances import chances
from cardai.playing.agents.notation import Spec
from cardai.playing.agents.spec import Agent
from cardai.playing.table.one import OneGame
from cardai.registry import rules_of

STUDY = {
    "hint": "the cards of the best move; again: the move; again: why",
    "why": "every legal move beside the best one",
    "chances": "where the cards that you cannot see may lie",
    "undo": "take back, to your last decision",
}
"""Commands at a study table, and what they do."""


class Coach:
    """Answers the person whose turn it is. `judge`: the agent whose move is the best one, None for the usual one."""

    def __init__(self, table: OneGame, judge: str | Spec | Agent | None, console: Console) -> None:
        self.table, self.console, self._judge = table, console, judge
        self._adviser: Adviser | None = None
        self._hints = (-1, 0)  # a ply, and how many hints were given there
        self.answers: dict[str, Callable[[], None]] = {"hint": self.hint, "why": self.why, "chances": self.chances}

    @property
    def adviser(self) -> Adviser:
        """What advises. The first use loads the judge."""
        if self._adviser is None:
            table = self.table
            with Line("loading the judge"):
                self._adviser = Adviser(table.game, self._judge, table.seats, table.variant)
        return self._adviser

    def hint(self) -> None:
        """One step further with each call at the same ply: the cards of the best move, the move, why."""
        ply, given = self._hints
        given = given + 1 if ply == self.table.ply else 1
        self._hints = self.table.ply, given
        if given > 2:
            self.why()
            return
        adviser = self.adviser
        with Line("thinking"):
            hints = adviser.hints(self._world(), self.table.seed)
        if given == 1:
            self._say(shown.first_hint(self.table.game, hints, self._to_you))
        else:
            self._say(f"Best by {hints[0].judge}: {'; '.join(self._to_you(hint.words) for hint in hints)}")

    def why(self) -> None:
        """Print every legal move beside the best one."""
        adviser = self.adviser
        with Line("thinking") as progress:
            explanation = adviser.explain(self._world(), self.table.seed, progress)
        self.console.print(shown.table(self.table.game, explanation, self._to_you))

    def chances(self) -> None:
        """Print where hidden cards may lie."""
        with Line("dealing worlds"):
            found = chances(self.table.game, self._world(), self.table.turn, self.table.seed)
        if found.cards:
            self.console.print(shown.chances_table(self.table.game, found, self._words.names))
        else:
            self._say("You know where every card lies.")

    def rules(self) -> None:
        """Print the rules of the game."""
        rulebook.show(rules_of(self.table.game), self.console)

    @property
    def _words(self) -> Seats:
        """Words for the seat to move."""
        return Seats(self.table.seats, self.table.turn, self.table.game.teams)

    def _to_you(self, words: str) -> str:
        """A move of the seat to move, said to it."""
        return self._words.text(to_you(words))

    def _world(self):
        """A world of the seat to move that takes nothing from the game's streams."""
        return self.table.seen(self.table.turn, self.table.seed)

    def _say(self, text: str) -> None:
        self.console.print(in_suits(text, self.table.game.table.pieces), highlight=False)
