"""The table of a benchmark: of a suite or of a match."""

from typing import Any

from cardai.measure.bench_report import BenchReport
from cardai.show import match, suite


def table(report: BenchReport[Any]) -> Any:
    """A rich renderable of the report of a suite or a match."""
    return suite.table(report) if report.kind == "suite" else match.table(report)
