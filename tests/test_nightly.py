"""The list of nightly tests names tests that exist, and what a file looks at decides whether it runs again."""

import ast

import nightly
import pytest


@pytest.mark.parametrize("file", nightly.LISTED)
def test_a_listed_test_exists(file):
    tree = ast.parse((nightly.TESTS / file).read_text("utf-8"))
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert [name for name in nightly.LISTED[file] if name.partition("[")[0] not in {*functions, "*"}] == []


def test_a_file_runs_again_when_what_it_looks_at_has_changed(tmp_path, monkeypatch):
    for place in ("cardai/game", "cardai/laws", "cardai/cli", "games"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "a.py").write_text("")
    (tmp_path / "tests").mkdir()
    monkeypatch.setattr(nightly, "ROOT", tmp_path)
    monkeypatch.setattr(nightly, "TESTS", tmp_path / "tests")
    files = {"rules": "import helper\n", "laws": "from cardai.laws import check\n", "verbs": "import subprocess\n"}
    for name, text in (files | {"helper": "import rules\n"}).items():
        (tmp_path / "tests" / f"{name}.py").write_text(text)

    def changed_by(place):
        nightly.digest_of.cache_clear()
        before = {name: nightly.state_of(f"{name}.py") for name in files}
        (tmp_path / place).write_text("changed = True\n")
        nightly.digest_of.cache_clear()
        return {name for name in files if nightly.state_of(f"{name}.py") != before[name]}

    assert changed_by("cardai/cli/a.py") == {"verbs"}
    assert changed_by("cardai/laws/a.py") == {"laws", "verbs"}
    assert changed_by("games/a.py") == {"rules", "laws", "verbs"}
    assert changed_by("tests/helper.py") == {"rules"}
    nightly.digest_of.cache_clear()
