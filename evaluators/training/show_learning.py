"""Shows what `learn` has learned: what it chose, how strong the agent is, and how to play against it."""

from typing import Any

from cardai.cli.show.grid import endless_notes, grid, with_notes
from cardai.evaluators.training.learn import LearnReport


def table(report: LearnReport) -> Any:
    """Return the choices, a line for each opponent, and the command that plays against the agent."""
    title = f"{report.agent or 'no agent yet'}: {report.seconds:.0f} s of learning {report.game}, {report.seats} seats"
    lines = grid(title)
    lines.add_column("among")
    unit = report.strength[0].unit if report.strength else "%"
    heads = ("mean score %", "points ahead") if unit == "%" else (f"mean score in {unit}", f"{unit} ahead")
    for heading in (*heads, "", "games"):
        lines.add_column(heading, justify="right", no_wrap=True)
    for one in report.strength:
        lines.add_row(one.other, str(one.score), str(one.difference), one.verdict, f"{one.games:,}")
    notes = [
        *([report.too_short] if report.too_short else []),
        *report.choices,
        *(f"not measured: {spec}: {why}" for spec, why in report.left_out.items()),
    ]
    if report.strength:
        notes.append("strength: on deals by which nothing was chosen, with 95 % intervals")
    notes += endless_notes(sum(one.endless for one in report.strength))
    if report.agent:
        notes.append(f"play against it: {report.play}")
    return with_notes(notes, lines)
