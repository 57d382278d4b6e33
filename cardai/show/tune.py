"""What a search for better parameters led to, as a table with the verdict in the title."""

from typing import Any

from cardai.measure.tune import TuneResult


def table(result: TuneResult) -> Any:
    """The spec to use, each parameter before and after, and the difference that was measured."""
    from rich.console import Group
    from rich.table import Table

    rows = Table("parameter", "start", "now")
    for name, (start, now) in result.values.items():
        rows.add_row(name, f"{start:g}", f"{now:g}")
    unit = "percentage points" if result.unit == "%" else result.unit
    others = ", ".join(result.others)
    if result.spec == result.start:
        verdict = f"Nothing better was found: the start itself scores {result.score} {result.unit}."
    else:
        verdict = (
            f"{result.verdict}: it scores {result.score} {result.unit}, {result.difference} {unit} more than"
            f" {result.start}, on {result.difference.deals:,} deals on which nothing was chosen (95 % interval)."
        )
    played = (
        f"{result.game}, variant {result.variant}, {result.seats} seats, the others played by {others}. CMA-ES:"
        f" {result.generations} generations, {result.trials:,} trials of {result.trial_games:,} games against each."
    )
    return Group(f"Use {result.spec}", rows, verdict, played)
