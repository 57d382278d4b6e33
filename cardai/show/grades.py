"""The table of exact grades."""

from fractions import Fraction
from typing import Any

from cardai.measure.grade import Grade
from cardai.show.grid import NAME_WIDTH, grid


def table(*grades: Grade) -> Any:
    """A rich table with one line for each grade. All grades are of one game."""
    table = grid(f"{grades[0].game}: exact grades against evenly random moves (win / draw / loss in %)", is_narrow=True)
    table.add_column("agent", width=min(max(len(grade.agent) + 1 for grade in grades), NAME_WIDTH), overflow="fold")
    for name in ("moving first", "moving second", "averaged", "losing lines", "optimal", "optimal when met"):
        table.add_column(name, justify="right")
    for grade in grades:
        first, second = grade.first, grade.second
        table.add_row(
            grade.agent + ("*" if grade.luck == "estimated" else ""),
            _percents(first.win, first.draw, first.loss),
            _percents(second.win, second.draw, second.loss),
            _percents(*grade.averaged),
            f"{grade.losing_lines} of {first.lines + second.lines}",
            _percents(grade.optimal),
            _percents(grade.optimal_met),
        )
    if any(grade.luck == "estimated" for grade in grades):
        samples = max(grade.samples for grade in grades)
        table.caption = f"* uses luck: its moves are estimated from {samples} decisions in each position"
    return table


def _percents(*shares: Fraction) -> str:
    return " / ".join(f"{float(100 * share):.2f}" if share not in (0, 1) else str(int(100 * share)) for share in shares)
