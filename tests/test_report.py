"""The report that comes with cardai: every page of it says what its sealed results say, and nothing else."""

import json
import re
from pathlib import Path

import pytest

from cardai.experiments import moska_students
from cardai.experiments.machinery import report
from cardai.experiments.machinery.catalogue import EXPERIMENTS, page_of
from cardai.experiments.machinery.words import rows_by_place
from cardai.experiments.pages import front, ratings
from cardai.playing.stats.interval import wilson

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "report"
RESULTS = report.results_in(FOLDER)
RUNS = ratings.runs_in(FOLDER)
NAMES = [result["experiment"] for result in RESULTS]
MOST_WORDS = 25
SMALLEST = 9.0
"""Pixels of the smallest text of a figure on a phone."""
PHONE = 390 - 2 * 16
"""Pixels that a figure gets on a phone's screen."""


NEW: set[str] = set()
"""Experiments that are younger than the report in this repository; the next report has them."""


def test_it_has_results_of_nearly_every_experiment():
    missing = set(EXPERIMENTS) - set(NAMES)
    assert missing <= {"peers", *NEW}  # peers needs other libraries


def test_the_front_page_is_written_from_the_results():
    titles = list(front.draw(RESULTS))
    assert titles == ["transfer", "claims"]
    assert (FOLDER / "README.md").read_text("utf-8") == report.overview(RESULTS, RUNS, titles)
    assert (FOLDER / "method.md").read_text("utf-8") == report.method(RESULTS)


@pytest.mark.parametrize("result", RESULTS, ids=NAMES)
def test_the_first_answer_is_short(result):
    """At most 25 words and three numbers; conditions follow in the other answers."""
    first, *others = page_of(result["experiment"]).answers(result)
    assert len(first.split()) <= MOST_WORDS, first
    assert len(re.findall(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d", re.sub(r"`[^`]*`|NN2|Bot3", "", first))) <= 6, first
    assert others


def test_the_first_answer_of_the_ratings_is_short():
    assert len(ratings.answers(RUNS)[0].split()) <= MOST_WORDS


def test_the_front_page_is_short():
    """One look: a few sentences, two figures, and a line for each question."""
    before, _, table = report.overview(RESULTS, RUNS, ["transfer", "claims"]).partition("\n## Questions and answers\n")
    assert len(re.sub(r"!\[.*?\]\(.*?\)", "", before).split()) <= 120
    cells = [cell for line in table.splitlines() if line.startswith("| [") for cell in line.split(" | ")[1:]]
    assert max(len(cell.split()) for cell in cells) <= MOST_WORDS


def test_the_picture_of_strength_shows_the_strongest_agent_as_it_is_listed_now():
    tables = json.loads((ROOT / "games/moska/strongest.json").read_text("utf-8"))["tables"]
    (usual,) = (table for table in tables if (table["variant"], table["seats"]) == ("thesis", 4))
    assert usual["strongest"][-1] == moska_students.SEARCHES[front.STRONGEST]


@pytest.mark.parametrize("result", RESULTS, ids=NAMES)
def test_a_page_is_written_from_its_result(result):
    name = result["experiment"]
    titles = list(page_of(name).draw(result))
    assert (FOLDER / f"{name}.md").read_text("utf-8") == report.page(result, titles)
    assert all((FOLDER / f"{name}-{title}.svg").exists() for title in titles)


def test_the_page_of_ratings_is_written_from_the_history():
    figures = ratings.draw(RUNS)
    assert (FOLDER / "ratings.md").read_text("utf-8") == ratings.page(RUNS, list(figures))
    assert len(figures) == len(RUNS[-1]["tables"])


def test_figures_in_the_readme_are_those_of_the_report():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len((report.MARKS[0] + report.excerpt(RESULTS) + report.MARKS[1]).splitlines()) <= 12
    between = text.split(report.MARKS[0] + "\n")[1].split(report.MARKS[1])[0]
    assert between == report.excerpt(RESULTS)


def test_a_figure_leads_to_its_row_in_full_which_has_its_command():
    for result in RESULTS:
        text = (FOLDER / f"{result['experiment']}.md").read_text("utf-8")
        lines = dict(re.findall(r'^\| <a id="(r-\w{6})" (.*)$', text, re.MULTILINE))
        assert len(lines) == len(result["rows"])
        assert set(re.findall(r"\]\(#(r-\w{6})\)", text)) == set(lines)
        assert all(re.search(r"\| `cardai [^`]+` \|", line) for line in lines.values())


def test_all_of_it_was_measured_from_a_checkout_without_changes():
    for result in RESULTS:
        assert result["scale"] == "small"
        assert all(commit and "dirty" not in commit for commit in result["commits"]), result["experiment"]
    assert all(run["machine"]["commit"] and "dirty" not in run["machine"]["commit"] for run in RUNS)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.svg")), ids=lambda path: path.stem)
def test_text_in_figures_is_legible_on_a_phone_and_in_the_dark(path):
    drawn = path.read_text("utf-8")
    box = re.search(r'viewBox="([^"]+)"', drawn)
    assert box is not None
    width = float(box[1].split()[2])
    texts = [text for text in re.findall(r"<t(?:ext|span)[^>]*>", drawn) if "font" in text]
    sizes = [float(size) for text in texts for size in re.findall(r"font(?:-size)?: ([\d.]+)px", text)]
    assert len(sizes) == len(texts) > 0
    assert min(sizes) * PHONE / width >= SMALLEST
    assert all("currentColor" in text for text in texts)


def test_the_line_that_docs_explain_stands_in_the_report_and_their_sums_are_right():
    text = " ".join((ROOT / "docs" / "reading-a-result.md").read_text("utf-8").split())
    row = rows_by_place(RESULTS[NAMES.index("moska-table1")])["Games lost, %", "NN2-HIF", "B2"]
    assert f"| NN2-HIF | {report.cell(row)} |" in text
    assert "of one point to either side from 4 600 games, and of half a point from 18 500" in text
    for games, half in ((4600, 0.01), (18_500, 0.005), (2000, 0.015)):
        low, high = wilson(0.14 * games, games)
        assert (high - low) / 2 == pytest.approx(half, abs=0.0005)
    assert "14.25 % of 2 000 games has the interval 12.8 to 15.9" in text
    assert [round(100 * bound, 1) for bound in wilson(285, 2000)] == [12.8, 15.9]


def test_the_page_on_other_libraries_copies_no_figure():
    assert not re.search(r"\d %|\d x|\d{4,}", (ROOT / "docs" / "peers.md").read_text("utf-8"))
