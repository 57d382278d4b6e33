"""How people have done, as a table in a terminal."""

import math
from typing import Any

from cardai.cli.show.grid import add_figures, grid, with_notes
from cardai.playing.stats.interval import FEWEST_PEOPLE, Estimate

LEVEL_WORDS = {"beginner": "beginners", "regular": "regular", "advanced": "advanced", "": "no level stated"}


def table(report: Any) -> Any:
    """A rich renderable of a `cardai.guests.web.people.PeopleReport`."""
    shown, has_losses = grid(f"People at {report.title}"), _has_losses(report)
    shown.add_column("against", overflow="fold")
    shown.add_column("variant")
    add_figures(shown, "seats", "games", "people", f"mean {report.unit or 'score'}", "fair", "share of win %", "fair")
    if has_losses:
        add_figures(shown, "lost %", "all seats")
    for row in report.rows:
        sizes = str(row.seats), str(row.games), str(row.people)
        fair = ["-" if row.fair_score is None else f"{row.fair_score:.2f}", f"{100 * row.fair_share:.1f}"]
        fair += ["-" if row.fair_loss is None else f"{100 * row.fair_loss:.1f}"] * has_losses
        against = ", ".join(row.opponents) or "people only"
        shown.add_row(against, row.variant, *sizes, *_cells(row.score, row.share, row.loss, fair))
        if row.unfinished:
            cells = _cells(row.score_with_all, row.share_with_all, row.loss_with_all, [""] * 3)
            shown.add_row(
                f"  with unfinished games as {'the worst' if report.unit else 'score 0'}",
                "",
                "",
                f"+{row.unfinished}",
                "",
                *cells,
            )
        for level in row.levels:
            cells = _cells(level.score, level.share, level.loss, [""] * 3)
            shown.add_row(f"  {LEVEL_WORDS[level.level]}", "", "", str(level.games), str(level.people), *cells)
    return with_notes(_notes(report), shown)


def _has_losses(report: Any) -> bool:
    """Whether the game counts losses: then all rows have them."""
    return any(row.loss is not None for row in report.rows)


def _cells(score: Estimate, share: Estimate, loss: Estimate | None, fair: list[str]) -> list[str]:
    """Each figure with what is fair beside it."""
    cells = [_score(score), fair[0], str(share.scaled(100)), fair[1]]
    return cells if loss is None else [*cells, str(loss.scaled(100)), fair[2]]


def _score(figure: Estimate) -> str:
    if not figure.n:
        return "-"
    if math.isnan(figure.low):
        return f"{figure.point:.3f} (no interval)"
    return f"{figure.point:.3f} ({figure.low:.3f}-{figure.high:.3f})"


def _notes(report: Any) -> list[str]:
    notes = ["figures: each person counts once, however many games they played; brackets: 95 % intervals over people"]
    if any(math.isnan(row.score.low) for row in report.rows if row.games):
        notes.append(f"no interval: fewer than {FEWEST_PEOPLE} people, so the figure speaks of these people only")
    if any(row.levels for row in report.rows):
        notes.append("beginners, regular, advanced: what people said of themselves before the game")
    sides = "teams" if report.teams else "seats"
    notes.append(
        f"share of win: 1/k for each of the k {sides} with the best score; fair: 1/{sides}, as of equal players"
    )
    if _has_losses(report):
        lost = "less than 0" if report.unit else "score 0"
        notes.append(f"lost: {lost}; all seats: how often a seat of these tables lost, whoever sat there")
    notes.append(f"{report.study} study games are left out: hints were allowed, and moves could be taken back")
    return notes
