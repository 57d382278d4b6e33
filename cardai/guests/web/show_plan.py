"""The table of a study that is planned: what studies of each size would show."""

from typing import Any

from cardai.cli.show.grid import add_figures, grid, with_notes
from cardai.guests.web.plan import StudyPlan


def table(plan: StudyPlan) -> Any:
    """A rich renderable of a plan."""
    shown, scale = grid(f"Studies of people at {plan.game}, {plan.variant}: {plan.title}"), plan.scale
    add_figures(shown, "people", "games each", "games", "interval", "shows", "covers %")
    for row in plan.rows:
        width, shows = f"{scale * row.width:.1f}", f"{scale * row.shows:.1f}"
        shown.add_row(
            str(row.people), str(row.games), str(row.people * row.games), width, shows, f"{100 * row.covers:.0f}"
        )
    stand_ins = ", ".join(f"{person.spec} {scale * person.mean:.1f}" for person in plan.persons)
    notes = [
        f"table: {', '.join(plan.line_up)}; people are as strong as {stand_ins}; in the mean {scale * plan.truth:.1f}",
        "interval: how wide the 95 % interval over people is, in the median; shows: how far from the truth a value must"
        " be for 4 of 5 studies to exclude it; covers: how many intervals contain the truth",
        f"{plan.drawn} studies of each size, seed {plan.seed}",
    ]
    return with_notes(notes, shown)
