"""How people have done, as a table in a terminal."""

import math
from typing import Any

from cardai.show.grid import add_figures, grid, with_notes
from cardai.stats.interval import Estimate

LEVEL_WORDS = {"beginner": "beginners", "regular": "regular", "advanced": "advanced", "": "no level stated"}


def table(report: Any) -> Any:
    """A rich renderable of a `cardai.web.people.PeopleReport`."""
    shown = grid(f"People at {report.title}")
    shown.add_column("against", overflow="fold")
    shown.add_column("variant")
    add_figures(shown, "seats", "games", "people", "mean score", "fair", "lost %", "fair %")
    for row in report.rows:
        fair = "-" if row.fair_score is None else f"{row.fair_score:.2f}"
        against = ", ".join(row.opponents) or "people only"
        cells = str(row.seats), str(row.games), str(row.people), _score(row.score), fair, str(row.loss.scaled(100))
        shown.add_row(against, row.variant, *cells, f"{100 * row.fair_share:.1f}")
        if row.unfinished:
            cells = "", f"+{row.unfinished}", "", _score(row.score_with_all), "", str(row.loss_with_all.scaled(100)), ""
            shown.add_row("  with unfinished games as lost", "", *cells)
        for level in row.levels:
            words = f"  {LEVEL_WORDS[level.level]}"
            cells = "", str(level.games), str(level.people), _score(level.score), "", str(level.loss.scaled(100)), ""
            shown.add_row(words, "", *cells)
    return with_notes(_notes(report), shown)


def _score(figure: Estimate) -> str:
    if not figure.n:
        return "-"
    if math.isnan(figure.low):
        return f"{figure.point:.3f} (no interval)"
    return f"{figure.point:.3f} ({figure.low:.3f}-{figure.high:.3f})"


def _notes(report: Any) -> list[str]:
    notes = ["brackets: 95 % intervals over people, since the games of one person are not independent"]
    if any(math.isnan(row.score.low) for row in report.rows if row.games):
        notes.append("no interval: fewer than 10 people, so the figure speaks of these people only")
    if any(row.levels for row in report.rows):
        notes.append("beginners, regular, advanced: what people said of themselves before the game")
    notes.append("lost: score 0; fair: what a seat has on average, 1 / seats of the losses if one seat loses")
    notes.append(f"{report.study} study games are left out: hints were allowed, and moves could be taken back")
    return notes
