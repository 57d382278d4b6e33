"""The tables of a study of people: its figures, agents on the same deals, and how far each person came."""

import math
from typing import Any

from cardai.cli.show.grid import add_figures, grid, with_notes
from cardai.playing.stats.interval import FEWEST_PEOPLE, Estimate


def table(report: Any) -> Any:
    """A rich renderable of a `cardai.guests.web.study_report.StudyReport`."""
    scale, title = report.scale, report.measure_title
    shown = grid(f"{report.title}: {title}")
    shown.add_column("games of")
    add_figures(shown, "people", "games", title, "with unfinished", "fair", "late less early")
    is_one = len({row.game for row in report.rows}) < 2
    for row in report.rows:
        what = row.what if is_one else f"{row.game}, {row.what}"
        games = f"{row.games}+{row.unfinished}" if row.unfinished else str(row.games)
        with_all = _text(row.with_all, scale) if row.unfinished else "the same"
        shown.add_row(
            what, str(row.people), games, _text(row.figure, scale), with_all, f"{scale * row.fair:.1f}",
            _text(row.learning, scale),
        )  # fmt: skip
    same = grid("The same deals, the same opponents, an agent in the seat of each person")
    same.add_column("agent", overflow="fold")
    add_figures(same, title, "people less agent")
    for row in report.rows:
        for one in row.references:
            same.add_row(
                one.spec if is_one else f"{row.game}={one.spec}", _text(one.own, scale), _text(one.ahead, scale)
            )
    people = grid("People")
    people.add_column("person")
    people.add_column("level")
    add_figures(people, "games", title, "early", "late")
    for one in report.persons:
        games = f"{one.games}+{one.unfinished}" if one.unfinished else str(one.games)
        who = one.person if is_one else f"{one.person} {one.game}"
        people.add_row(who, one.level, games, *(_figure(x, scale) for x in (one.figure, one.early, one.late)))
    tables = [shown, *([same] if any(row.references for row in report.rows) else []), people]
    return with_notes(_notes(report), *tables)


def _text(figure: Estimate, scale: int) -> str:
    return str(figure.scaled(scale))


def _figure(value: float, scale: int) -> str:
    return "-" if math.isnan(value) else f"{scale * value:.1f}"


def _notes(report: Any) -> list[str]:
    scale = report.scale
    notes = ["figures: each person counts once, however many games they played; brackets: 95 % intervals over people"]
    if any(row.games and math.isnan(row.figure.low) for row in report.rows):
        notes.append(
            f"no interval: fewer than {FEWEST_PEOPLE} people cannot show how unlike people are; it would be about half"
            " the scale wide, and still miss the truth too often"
        )
    for row in report.rows:
        if row.what == "all" and row.games:
            notes.append(
                f"{row.game}, all games in one pot, as if none had the same player: {_text(row.pooled, scale)};"
                f" one game of a person tells as much as 1/{row.figure.design_effect:.1f} of an independent one"
            )
    if any(row.what == "in time" for row in report.rows):
        notes.append("in time: games in which no move was made for the person because their time was over")
    notes.append("fair: the mean of all seats; unfinished games are left out, and in their column at their worst")
    for code, game, line_up in report.tables:
        notes.append(f"table {code}: {game}, {', '.join(line_up)}")
    if not report.is_over:
        notes.append("the study goes on")
    if report.deleted:
        notes.append(f"{report.deleted} people deleted their data; nothing of them is counted")
    notes.append(f"protocol {report.digest}")
    return notes
