"""The tables of what people did: at the tables of `cardai serve`, in a study, and in a study that is planned."""

import math
from typing import Any

from cardai.cli.show.grid import add_figures, grid, with_notes
from cardai.guests.web.people import Figures, PeopleReport
from cardai.guests.web.plan import StudyPlan
from cardai.guests.web.study_report import StudyReport
from cardai.playing.stats.interval import FEWEST_PEOPLE, Estimate

ONCE = "figures: each person counts once, however many games they played; brackets: 95 % intervals over people"


def people(report: PeopleReport) -> Any:
    """A rich renderable of how people did."""
    shown, has_losses = grid(f"People at {report.title}"), any(row.loss is not None for row in report.rows)
    shown.add_column("against", overflow="fold")
    shown.add_column("variant")
    add_figures(shown, "seats", "games", "people", f"mean {report.unit or 'score'}", "fair", "share of win %", "fair")
    if has_losses:
        add_figures(shown, "lost %", "all seats")
    for row in report.rows:
        fair = ["-" if row.fair_score is None else f"{row.fair_score:.2f}", f"{100 * row.fair_share:.1f}"]
        fair.append("-" if row.fair_loss is None else f"{100 * row.fair_loss:.1f}")
        sizes = str(row.seats), str(row.games), str(row.people)
        shown.add_row(", ".join(row.opponents) or "people only", row.variant, *sizes, *_beside(row, fair))
        if row.unfinished:
            worst = f"  with unfinished games as {'the worst' if report.unit else 'score 0'}"
            shown.add_row(worst, "", "", f"+{row.unfinished}", "", *_beside(row.with_all, [""] * 3))
    return with_notes(_people_notes(report, has_losses), shown)


def _beside(figures: Figures, fair: list[str]) -> list[str]:
    """Each figure with what is fair beside it."""
    cells = [_score(figures.score), fair[0], str(figures.share.scaled(100)), fair[1]]
    return cells if figures.loss is None else [*cells, str(figures.loss.scaled(100)), fair[2]]


def _score(figure: Estimate) -> str:
    if not figure.n:
        return "-"
    if math.isnan(figure.low):
        return f"{figure.point:.3f} (no interval)"
    return f"{figure.point:.3f} ({figure.low:.3f}-{figure.high:.3f})"


def _people_notes(report: PeopleReport, has_losses: bool) -> list[str]:
    notes, sides = [ONCE], "teams" if report.teams else "seats"
    if any(math.isnan(row.score.low) for row in report.rows if row.games):
        notes.append(f"no interval: fewer than {FEWEST_PEOPLE} people, so the figure speaks of these people only")
    notes.append(
        f"share of win: 1/k for each of the k {sides} with the best score; fair: 1/{sides}, as of equal players"
    )
    if has_losses:
        lost = "less than 0" if report.unit else "score 0"
        notes.append(f"lost: {lost}; all seats: how often a seat of these tables lost, whoever sat there")
    notes.append(f"{report.study} study games are left out: hints were allowed, and moves could be taken back")
    return notes


def study(report: StudyReport) -> Any:
    """A rich renderable of a study: its figures, agents on the same deals, and how far each person came."""
    scale, title, is_one = report.scale, report.measure_title, len({row.game for row in report.rows}) < 2
    shown = grid(f"{report.title}: {title}")
    shown.add_column("games of")
    add_figures(shown, "people", "games", title, "with unfinished", "fair", "late less early")
    same = grid("The same deals, the same opponents, an agent in the seat of each person")
    same.add_column("agent", overflow="fold")
    add_figures(same, title, "people less agent")
    for row in report.rows:
        with_all = _text(row.with_all, scale) if row.unfinished else "the same"
        shown.add_row(
            row.what if is_one else f"{row.game}, {row.what}", str(row.people), _games(row),
            _text(row.figure, scale), with_all, f"{scale * row.fair:.1f}", _text(row.learning, scale),
        )  # fmt: skip
        for one in row.references:
            spec = one.spec if is_one else f"{row.game}={one.spec}"
            same.add_row(spec, _text(one.own, scale), _text(one.ahead, scale))
    persons = grid("People")
    persons.add_column("person")
    persons.add_column("level")
    add_figures(persons, "games", title, "early", "late")
    for one in report.persons:
        cells = ("-" if math.isnan(value) else f"{scale * value:.1f}" for value in (one.figure, one.early, one.late))
        persons.add_row(one.person if is_one else f"{one.person} {one.game}", one.level, _games(one), *cells)
    tables = [shown, *([same] if same.rows else []), persons]
    return with_notes(_study_notes(report), *tables)


def _games(row: Any) -> str:
    """How many games a row has, and how many more that were not finished."""
    return f"{row.games}+{row.unfinished}" if row.unfinished else str(row.games)


def _text(figure: Estimate, scale: int) -> str:
    return str(figure.scaled(scale))


def _study_notes(report: StudyReport) -> list[str]:
    notes = [ONCE]
    if any(row.games and math.isnan(row.figure.low) for row in report.rows):
        notes.append(
            f"no interval: fewer than {FEWEST_PEOPLE} people cannot show how unlike people are; it would be about half"
            " the scale wide, and still miss the truth too often"
        )
    for row in report.rows:
        if row.what == "all" and row.games:
            notes.append(
                f"{row.game}, all games in one pot, as if none had the same player: {_text(row.pooled, report.scale)};"
                f" one game of a person tells as much as 1/{row.figure.design_effect:.1f} of an independent one"
            )
    if any(row.what == "in time" for row in report.rows):
        notes.append("in time: games in which no move was made for the person because their time was over")
    notes.append("fair: the mean of all seats; unfinished games are left out, and in their column at their worst")
    notes += [f"table {code}: {game}, {', '.join(line_up)}" for code, game, line_up in report.tables]
    notes += [] if report.is_over else ["the study goes on"]
    if report.deleted:
        notes.append(f"{report.deleted} people deleted their data; nothing of them is counted")
    return [*notes, f"protocol {report.digest}"]


def plan(plan: StudyPlan) -> Any:
    """A rich renderable of a plan: what studies of each size would show."""
    shown, scale = grid(f"Studies of people at {plan.game}, {plan.variant}: {plan.title}"), plan.scale
    add_figures(shown, "people", "games each", "games", "interval", "shows", "covers %")
    for row in plan.rows:
        sizes = str(row.people), str(row.games), str(row.people * row.games)
        shown.add_row(*sizes, f"{scale * row.width:.1f}", f"{scale * row.shows:.1f}", f"{100 * row.covers:.0f}")
    stand_ins = ", ".join(f"{person.spec} {scale * person.mean:.1f}" for person in plan.persons)
    notes = [
        f"table: {', '.join(plan.line_up)}; people are as strong as {stand_ins}; in the mean {scale * plan.truth:.1f}",
        "interval: how wide the 95 % interval over people is, in the median; shows: how far from the truth a value must"
        " be for 4 of 5 studies to exclude it; covers: how many intervals contain the truth",
        f"{plan.drawn} studies of each size, seed {plan.seed}",
    ]
    return with_notes(notes, shown)
