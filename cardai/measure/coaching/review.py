"""A game just played, looked at again: the analysis with a judge that fits it.

The analysis (`cardai.measure.analysis`) keeps apart what a seat chose, what it drew, and what others and chance did.
"""

from collections.abc import Sequence

from cardai.data.record import RecordedGame
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.measure.analysis import Analysis, analyse, spec_of
from cardai.stats.progress import Progress


def review(
    game: Game,
    played: RecordedGame,
    names: Sequence[str],
    seat: int | None = None,
    progress: Progress | None = None,
) -> Analysis | None:
    """Analyse a finished game by the first model for its table, or by the game's first heuristic.

    `names`: who sat in each seat. `seat`: show only what this seat may know. Returns None if the game has neither.
    """
    judge = reviewer(game, played.variant, len(played.lineup))
    return None if judge is None else analyse(game, played, judge, names=names, seat=seat, progress=progress)


def reviewer(game: Game, variant: str, seats: int) -> str | None:
    """The spec of the agent that judges the positions of a game that was played, None if there is none."""
    try:
        return spec_of(game, variant, seats)
    except CardaiError:
        return next((f"greedy:{name}" for name in game.heuristics), None)
