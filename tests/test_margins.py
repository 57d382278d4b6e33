"""Margins of claims: each is written once, with a reason, and is that of every figure of the report."""

import re
from pathlib import Path

from cardai.experiments.machinery import report
from cardai.experiments.machinery.findings import margins

ROOT = Path(__file__).parent.parent
RESULTS = report.results_in(ROOT / "report")


def test_every_figure_of_the_report_has_a_margin_with_a_reason():
    claims = [row["claim"] for result in RESULTS for row in result["rows"] if row["claim"]]
    known = {margin.within for margin in margins().values()}
    assert {claim["within"] for claim in claims if not claim["is_direction"]} <= known
    assert all(margin.why and margin.of for margin in margins().values())


def test_no_experiment_writes_a_margin_of_its_own_and_each_is_used():
    texts = {path: path.read_text("utf-8") for path in (ROOT / "experiments").rglob("*.py")}
    own = [path.name for path, text in texts.items() if re.search(r"within=[\d.]", text)]
    assert not own
    used = {name for text in texts.values() for name in re.findall(r'margin\(\s*"([^"]+)"\s*\)', text)}
    assert used == set(margins())


def test_the_page_of_the_method_shows_them():
    text = (ROOT / "report" / "method.md").read_text("utf-8")
    assert all(f"| {margin.of} | {margin.within:g} | {margin.why} |" in text for margin in margins().values())
