"""The mutation score on the page of the laws is that of the faults that are planted now."""

import re
from pathlib import Path

import mutation_score
import pytest

from cardai.laws import LAWS

PAGE = Path(__file__).parents[1] / "docs/conformance.md"


def rows() -> dict[str, list[int]]:
    """The table on the page: faults planted, and dead at each effort, by law."""
    block = mutation_score.BLOCK.search(PAGE.read_text("utf-8"))
    assert block
    found = re.findall(r"^\| `?(\w+)`? \|((?: \d+ \|)+)$", block[0], re.M)
    return {law: [int(number) for number in re.findall(r"\d+", numbers)] for law, numbers in found}


def test_the_page_has_the_score_of_each_law_for_the_faults_that_are_planted():
    planted = [law for _, law, _ in mutation_score.faults()]
    assert list(rows()) == [*LAWS, "all"]
    for law, (faults, *dead) in rows().items():
        assert faults == (len(planted) if law == "all" else planted.count(law)), "run tests/mutation_score.py --into"
        assert len(dead) == len(mutation_score.EFFORTS)
        assert all(0 <= number <= faults for number in dead)
        assert dead[0] > 0


def test_a_score_counts_the_dead_and_names_the_living(monkeypatch):
    kept = [fault for fault in mutation_score.faults() if fault[0] in ("UNSORTED", "LISTED_TWICE")]
    sound = ("SOUND", "moves_are_in_order", mutation_score.passing.GAME)
    monkeypatch.setattr(mutation_score, "faults", lambda: iter([*kept, sound]))
    living = mutation_score.score(["moves_are_in_order", "moves_are_distinct"], ["quick"], 1)
    text = mutation_score.table(living, 1)
    assert living["moves_are_in_order"] == {"quick": ["SOUND"]}
    assert "| moves_are_in_order | 2 | 1 |" in text
    assert "| moves_are_distinct | 1 | 1 |" in text
    assert "| all | 3 | 2 |" in text
    assert "Alive: SOUND (quick)." in text


def test_whole_checks_count_the_dead_by_effort_and_seed(monkeypatch):
    known = {name: game for name, _, game in mutation_score.faults()}
    monkeypatch.setattr(mutation_score, "whole_faults", lambda: {name: known[name] for name in ("UNSORTED", "SKIPPED")})
    monkeypatch.setattr(
        mutation_score, "killer", lambda game, effort, seed: "" if (game, seed) == (known["SKIPPED"], 1) else "a_law"
    )
    text, lives = mutation_score.whole_table(["quick", "normal"], 2)
    assert f"| quick | 0 | 1 of {len(mutation_score.planted_rare.PLANTED)} | 1 of {mutation_score.OLD} |" in text
    assert f"| normal | 1 | 0 of {len(mutation_score.planted_rare.PLANTED)} | 1 of {mutation_score.OLD} |" in text
    assert "Alive: SKIPPED (quick, seed 1), SKIPPED (normal, seed 1)." in text
    assert lives


def test_a_whole_check_ends_with_the_first_law_that_is_broken():
    fault = next(game for name, _, game in mutation_score.faults() if name == "UNSORTED")
    assert mutation_score.killer(fault, "quick", 0) in LAWS


@pytest.mark.slow
def test_the_score_at_quick_effort_is_that_of_the_page():
    """Slow: all planted faults, some minutes. The page is written with `tests/mutation_score.py --into`."""
    living = mutation_score.score(list(LAWS), ["quick"], 0)
    assert {law: row[1] for law, row in rows().items() if law != "all"} == {
        law: rows()[law][0] - len(found["quick"]) for law, found in living.items()
    }
