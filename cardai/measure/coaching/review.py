"""A game just played, looked at again: the analysis with a judge that fits it.

The analysis (`cardai.measure.analysis`) keeps apart what a seat chose, what it drew, and what others and chance did.
"""

from collections.abc import Sequence

from cardai.data.record import RecordedGame
from cardai.game import Game
from cardai.measure.analysis import Analysis, analyse, usual_spec
from cardai.stats.progress import Progress


def review(
    game: Game,
    played: RecordedGame,
    names: Sequence[str],
    seat: int | None = None,
    progress: Progress | None = None,
) -> Analysis:
    """Analyse a finished game by the first model for its table, or by rollouts if there is none.

    `names`: who sat in each seat. `seat`: show only what this seat may know. Raises CardaiError for a game that does
    not replay.
    """
    judge = usual_spec(game, played.variant, len(played.lineup))
    return analyse(game, played, judge, names=names, seat=seat, progress=progress)
