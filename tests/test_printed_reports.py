"""A report prints in Python as on the command line, with all that did not go to plan."""

import ast
import importlib
import pkgutil
import re
from dataclasses import is_dataclass, replace
from pathlib import Path

import pytest

import cardai
from cardai.cli.main import run
from cardai.evaluators.training.generations import Generation, IterateReport
from cardai.guests.exact.endings import measure_endings
from cardai.measure import complexity, perf
from cardai.measure.bench import run_suite
from cardai.measure.duel import Duel
from cardai.measure.league import run_all
from cardai.playing.stats.interval import Estimate
from cardai.playing.stats.report import Report
from cardai.records.selfplay import simulate

ROOT = Path(__file__).parent.parent
MODULES = (
    "cardai.measure.analysis", "cardai.guests.exact.grade",
    "cardai.guests.exact.exploitability", "cardai.guests.web.people",
    "cardai.evaluators.training.outcome", "cardai.measure.situations", "cardai.measure.strongest",
    "cardai.evaluators.training.learn", "cardai.guests.web.plan", "cardai.guests.web.study_report",
    "cardai.measure.tune",
)  # fmt: skip
NOT_PRINTED = {
    "Presence",
    "Report",
    "Explanation",
    "Offer",
    "Metrics",
    "TrainingDevices",
    "Generation",
}  # parts of reports, and what pages are sent
ENDLESS = "3 games did not end"
PAIR = ["random", "greedy:open_lines"]
FIGURE = Estimate(50.0, 40.0, 60.0, 7, 7)
DUEL = Duel("new", "old", 7, 3, 7, 1, 0.95, FIGURE, FIGURE, "undecided")


def classes_with_json() -> set[str]:
    files = [file for folder in ("cardai", "evaluators") for file in (ROOT / folder).rglob("*.py")]
    return {
        node.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(item, ast.FunctionDef) and item.name == "as_json" for item in node.body)
    }


def test_every_report_that_has_json_prints_as_its_table():
    for module in MODULES:
        importlib.import_module(module)
    reports = {kind.__name__: kind for kind in Report.__subclasses__()}
    assert set(reports) >= classes_with_json() - NOT_PRINTED
    for kind in reports.values():
        assert callable(pkgutil.resolve_name(kind._drawn_by))
        assert kind.__str__ is Report.__str__


def test_a_match_says_in_python_what_it_says_on_the_command_line(capsys):
    line_up = ["aggressive"] * 3
    assert run(["match", "durak", "--seats", ",".join(line_up), "--games", "40"]) == 0
    told, report = capsys.readouterr().out, cardai.match(cardai.load("durak"), line_up, games=40)

    def lasting(text: str) -> list[str]:
        return [line.rstrip() for line in text.strip().splitlines() if " games in " not in line]

    assert report.endless == 40 - report.games > 0
    assert f"{report.endless} games did not end" in str(report)
    assert lasting(str(report)) == lasting(told)


def reports(tmp_path):
    """A report of each kind that plays games, as if 3 of them had not ended."""
    game = cardai.load("tictactoe")
    league = run_all(["tictactoe"], 20)
    tables = (replace(league.tables[0], endless=3), *league.tables[1:])
    trees = complexity.measure(game, None, 20)
    generation = Generation(1, 7, 7, 3, 7, 7, {"validation": None, "test": None}, "old", DUEL, DUEL, {"all": 1.0})
    return [
        replace(run_suite(game, games=20), endless=3),
        replace(cardai.match(game, PAIR, games=20), endless=3),
        replace(league, tables=tables),
        replace(trees, rows=(replace(trees.rows[0], endless=3),)),
        replace(measure_endings(game, PAIR, 4), endless=3),
        replace(measure_endings(game, PAIR, 4, last=2, worlds=1), endless=3),
        replace(simulate(game, {"random": 1.0}, 20, out=tmp_path / "g.jsonl"), endless=3),
        DUEL,
        IterateReport("", "", None, {}, "old", 0, "", "interrupted", (generation,)),
    ]


def test_every_report_says_which_games_did_not_end(tmp_path):
    for report in reports(tmp_path):
        assert is_dataclass(report)
        assert ENDLESS in str(report), type(report)
        assert '"endless": 3' in str(report.as_json()).replace("'", '"'), type(report)


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 6])
def test_every_report_says_that_it_was_interrupted(tmp_path, kind):
    report = reports(tmp_path)[kind]
    assert "stopped before the end" in str(replace(report, interrupted=True))
    assert "stopped before the end" not in str(report)
    assert replace(report, interrupted=True).as_json()["interrupted"] is True


def test_speed_says_how_many_games_did_not_end():
    report = perf.measure(cardai.load("tictactoe"), 0.001, 1)
    assert {row.endless for row in report.rows} == {0.0}
    assert "did not end" not in str(report)
    slow = replace(report, rows=(replace(report.rows[0], endless=0.25), *report.rows[1:]))
    assert f"{report.rows[0].agent}: 25 % of its games did not end" in str(slow)


def test_a_long_spec_is_folded_behind_its_signs_and_not_within_a_word():
    """What stands in the lines of a cell is, put together, the spec."""
    specs = [
        "greedy:mlp?epsilon=0.125&temperature=0.5&until=300",
        "ahead:open_lines?worlds=2&others=(greedy:mlp?any_variant)",
    ]
    report = cardai.match(cardai.load("tictactoe"), specs, games=4)
    lines = str(report).split("Mean score")[0].splitlines()
    cells = [cell for line in lines if (cell := line[2:28].strip()) and ":" not in line[:2]]
    folded = "".join(cells)
    assert specs[0] in folded
    assert specs[1] in folded
    words = {word for spec in specs for word in re.findall(r"\w+", spec)}
    assert words <= {word for cell in cells for word in re.findall(r"\w+", cell)}
