"""What an experiment's fingerprint depends on: all that makes its figures, and nothing that only shows them."""

import shutil

import pytest

from experiments.machinery import provenance
from experiments.machinery.catalogue import EXPERIMENTS

ALL = set(EXPERIMENTS)
WITH_MOSKA = {name for name, entry in EXPERIMENTS.items() if "moska" in entry.games}
WITH_DURAK = {name for name, entry in EXPERIMENTS.items() if "durak" in entry.games}
WITH_MODELS = {name for name, entry in EXPERIMENTS.items() if "moska" in entry.models}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the code and the models."""
    root = tmp_path_factory.mktemp("tree")
    for package in provenance.PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(provenance.ROOT / package, root / package, ignore=ignored)
    shutil.copy(provenance.ROOT / "pyproject.toml", root)
    return root


@pytest.fixture
def changed_by(tree, monkeypatch):
    """A function: the experiments whose fingerprint changes when files of the copy are edited, which it undoes."""
    monkeypatch.setattr(provenance, "ROOT", tree)

    def fingerprints():
        provenance.fingerprint.cache_clear()
        return {name: provenance.fingerprint(name) for name in EXPERIMENTS}

    def changed(*paths):
        before = fingerprints()
        contents = {path: (tree / path).read_bytes() for path in paths}
        for path, content in contents.items():
            (tree / path).write_bytes(content + b"\n# edited\n")
        after = fingerprints()
        for path, content in contents.items():
            (tree / path).write_bytes(content)
        provenance.fingerprint.cache_clear()
        return {name for name in EXPERIMENTS if before[name] != after[name]}

    return changed


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("cardai/stats/interval.py", ALL),  # estimates
        ("experiments/machinery/findings.py", ALL),  # means over networks, verdicts
        ("cardai/measure/bench.py", ALL),  # through the machinery that measures
        ("cardai/files/writing.py", ALL),  # imported in a function
        ("evaluators/model.py", ALL),  # an entry point: every agent's spec may name a model
        ("evaluators/scorer.py", ALL),
        ("evaluators/policies/policy.py", ALL),
        ("cardai/__init__.py", ALL),
        ("evaluators/models/moska/best.safetensors", WITH_MODELS),
        ("evaluators/policies/shipped/literature/best.safetensors", {"literature", "strength"}),
        ("games/moska/rules.py", WITH_MOSKA),
        ("games/durak/endgame.py", WITH_DURAK),
        ("experiments/scaling.py", {"scaling"}),
        ("evaluators/training/compare.py", {"mlp-vs-cnn", "transfer"}),
    ],
)
def test_what_makes_figures_changes_the_fingerprints_of_those_that_use_it(changed_by, path, expected):
    assert changed_by(path) == expected


def test_what_only_shows_changes_no_fingerprint(changed_by, tree):
    rooms = [tree.joinpath(*room.split(".")) for room in provenance.SHOWING]
    files = [file for room in rooms for file in (room.rglob("*.py") if room.is_dir() else [room.with_suffix(".py")])]
    paths = [file.relative_to(tree).as_posix() for file in files]
    assert {"cardai/show/grid.py", "cardai/app/cli.py", "experiments/pages/scaling.py"} <= set(paths)
    assert changed_by(*paths) == set()


def test_an_entry_point_counts_for_the_group_that_is_asked_for(changed_by, tree):
    project = tree / "pyproject.toml"
    whole = project.read_text("utf-8")
    (tree / "evaluators" / "mine.py").write_text("")
    project.write_text(whole.replace('"cardai.agents"]\n', '"cardai.agents"]\nmine = "evaluators.mine:find_agent"\n'))
    assert changed_by("evaluators/mine.py") == ALL
    project.write_text(whole.replace('"cardai.verbs"]\n', '"cardai.verbs"]\nmine = "evaluators.mine:mine"\n'))
    assert changed_by("evaluators/mine.py") == set()
    project.write_text(whole)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nothing_that_measures_imports_what_only_shows(name):
    for path in provenance.sources(name):
        shown = {module for module in provenance.imported(path) if provenance.only_shows(module)}
        shown -= {module for module in shown if module.startswith("experiments.machinery.catalogue")}
        assert not shown, path.relative_to(provenance.ROOT)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_imports_no_game_that_it_does_not_name(name):
    games = {
        module.split(".")[1]
        for path in provenance.sources(name)
        if not path.is_relative_to(provenance.ROOT / "games")
        for module in provenance.imported(path)
        if module.startswith("games.")
    }
    assert games <= set(EXPERIMENTS[name].games)
