"""What voids a result: what behaves otherwise than when it was measured does, and nothing else."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import optax
import pytest

from cardai.evaluators.training import trainer
from cardai.experiments.machinery import behaviour, probes, verbs
from cardai.experiments.machinery.catalogue import EXPERIMENTS, module
from cardai.experiments.machinery.report import results_in
from cardai.experiments.machinery.stand_ins import with_stand_ins
from cardai.playing.stats import interval
from cardai.registry import load
from cardai.rules import rule

ROOT = Path(__file__).parents[1]
RESULTS = {result["experiment"]: result for result in results_in(ROOT / "report")}
FEW = ("tictactoe", "complexity", "evaluations", "scaling")
"""Experiments whose behaviour takes seconds to compute: with and without training, with and without durak and moska."""


@pytest.fixture
def afresh(monkeypatch, tmp_path):
    """Values are computed anew, and are kept nowhere."""
    fresh = itertools.count()

    def forget():
        for value in vars(probes).values():
            getattr(value, "cache_clear", lambda: None)()
        number = str(next(fresh))
        monkeypatch.setattr(probes, "code_digest", lambda *parts, suffixes: number)

    monkeypatch.setattr(probes, "cache_root", lambda: tmp_path)
    forget()
    yield forget
    monkeypatch.undo()
    for value in vars(probes).values():
        getattr(value, "cache_clear", lambda: None)()


def changed(name):
    return behaviour.differences(RESULTS[name]["behaviour"], behaviour.behaviour(name, RESULTS[name]["scale"]))


def use(monkeypatch, game):
    """Experiments find this game in the place of the one of its name."""
    monkeypatch.setattr(probes, "load", lambda name: game if name == game.name else load(name))


def test_every_result_of_the_report_is_valid():
    now = {name: changed(name) for name in RESULTS if not EXPERIMENTS[name].missing()}
    assert not any(now.values())


def test_every_experiment_has_a_result_that_rests_on_games():
    assert set(RESULTS) == set(EXPERIMENTS)
    for name, result in RESULTS.items():
        assert any(what.startswith("plays ") for what in result["behaviour"]), name


def test_a_changed_rule_voids_what_is_played_by_it(afresh, monkeypatch):
    use(monkeypatch, load("tictactoe").changed(score=first_wins))
    now_different = changed("tictactoe")
    assert {"plays", "data"} <= {what.split()[0] for what in now_different}
    assert all("tictactoe" in what for what in [*now_different, *changed("complexity")])


@rule
def first_wins(state, seat):
    return 1.0 - seat


def test_another_version_of_a_game_voids_its_results(afresh, monkeypatch):
    game = load("durak")
    use(monkeypatch, game.changed(version=game.version + 1))
    now_different = changed("complexity")
    assert "plays durak podkidnoy 2 random" in now_different
    assert not any("moska" in what for what in now_different)


def test_a_changed_player_voids_the_results_with_this_player_alone(afresh, monkeypatch):
    game = load("durak")
    use(monkeypatch, game.changed(players=dict(game.agents.players) | {"thrifty": game.agents.players["aggressive"]}))
    assert changed("complexity") == [f"plays durak podkidnoy {seats} thrifty" for seats in range(2, 7)]
    assert changed("scaling") == []


def test_a_changed_training_step_voids_what_is_trained(afresh, monkeypatch):
    def decays_biases_too(config, rate):
        return optax.adam(rate, b1=0.8)

    monkeypatch.setattr(trainer, "_optimiser", decays_biases_too)
    now_different = changed("tictactoe")
    assert {what.split()[0] for what in now_different} == {"step"}
    assert changed("complexity") == []


def test_a_changed_estimator_voids_every_result(afresh, monkeypatch):
    original = interval.wilson
    monkeypatch.setattr(interval, "wilson", lambda *args: tuple(1.01 * end for end in original(*args)))
    for name in FEW:
        assert "estimators" in changed(name)


def test_a_value_that_was_computed_for_something_else_is_computed_anew(afresh, tmp_path):
    values = {variant: probes.plays("durak", variant, 2, "random") for variant in ("report", "podkidnoy")}
    one, other = (tmp_path / "behaviour").rglob("*.json")
    one.write_bytes(other.read_bytes())
    other.write_text("damaged")
    probes.plays.cache_clear()
    assert {variant: probes.plays("durak", variant, 2, "random") for variant in values} == values


def test_a_changed_network_file_voids_the_results_that_use_it(afresh, monkeypatch, tmp_path):
    files = behaviour.shipped("moska")
    edited = tmp_path / files[0].name
    edited.write_bytes(files[0].read_bytes() + b"\0")
    monkeypatch.setattr(behaviour, "shipped", lambda game: [edited, *files[1:]] if game == "moska" else [])
    assert changed("scaling") == [f"network moska {edited.stem}"]
    assert changed("complexity") == []


def test_changed_settings_void_a_result_but_not_the_size_of_another_scale(monkeypatch):
    experiment = module("evaluations")
    monkeypatch.setitem(experiment.SCALES, "smoke", replace(experiment.SCALES["smoke"], games=9))
    assert changed("evaluations") == []
    with monkeypatch.context() as patch:
        patch.setattr(experiment, "SEED", experiment.SEED + 1)
        assert changed("evaluations") == ["settings"]
    monkeypatch.setitem(experiment.SCALES, "small", replace(experiment.SCALES["small"], games=401))
    assert changed("evaluations") == ["settings"]


def test_numbers_are_compared_with_a_tolerance_and_digests_are_not():
    then = {"step mlp": [1.0, 2.0], "plays": "abc"}
    assert behaviour.differences(then, {"step mlp": [1.000001, 2.0], "plays": "abc"}) == []
    assert behaviour.differences(then, {"step mlp": [1.01, 2.0], "plays": "abd"}) == ["plays", "step mlp"]
    assert behaviour.differences(then, {"plays": "abc"}) == ["step mlp"]
    assert behaviour.differences(then, {"step mlp": [1.0], "plays": "abc"}) == ["step mlp"]
    assert behaviour.differences({}, {"network moska new": "abc", "outcome moska new": "abc"}) == []
    old = {"network moska old": "abc", "outcome moska old": "abc"}
    assert behaviour.differences(old, {"outcome moska old": "abd"}) == behaviour.differences(old, {}) == [*old]
    assert behaviour.differences({"estimators": [1.0]}, {"estimators": [1.000001]}) == ["estimators"]


def test_agents_with_networks_trained_in_the_experiment_play_with_fixed_weights(tmp_path):
    spec = "ahead:{network moska thesis 4 relative before_draw mlp}?moves=2&worlds=1"
    first = with_stand_ins(spec, tmp_path)
    assert re.fullmatch(rf"ahead:{re.escape(str(tmp_path))}/\w+\.safetensors\?moves=2&worlds=1", first)
    nested = f"styles:{{file {json.dumps('agent = ' + spec)}}}"
    assert str(tmp_path) in Path(with_stand_ins(nested, tmp_path).removeprefix("styles:")).read_text()


def test_the_command_says_which_results_are_valid_and_fails_if_one_is_not(monkeypatch, tmp_path, capsys):
    for name in ("complexity", "scaling"):
        shutil.copy(ROOT / "report" / f"{name}.json", tmp_path)
    then = RESULTS["scaling"]["behaviour"]
    now = {"complexity": RESULTS["complexity"]["behaviour"], "scaling": then | {"settings": "other"}}
    monkeypatch.setattr(behaviour, "behaviour", lambda name, scale: now[name])
    assert verbs.report(tmp_path, check=True) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "complexity: valid" in shown
    assert "scaling: not valid any more, changed: settings" in shown
    assert "1 of 2 results are valid" in shown
    assert verbs.report(tmp_path, check=True, json=True) == 1
    assert json.loads(capsys.readouterr().out)["scaling"] == {"valid": False, "changed": ["settings"]}


@pytest.mark.slow
def test_renaming_moving_and_formatting_void_nothing(tmp_path):
    """A copy of the tree in which a rule, a function of the training and a module have other names and places."""
    for package in ("cardai", "evaluators", "experiments", "games"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))

    def edit(path, *pairs):
        text = (tmp_path / path).read_text("utf-8")
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / path).write_text(text, "utf-8")

    edit("games/tictactoe/__init__.py", ("def deal(", "\n\ndef opening("), ("deal=deal", "deal=opening"))
    edit("evaluators/training/trainer.py", ("_optimiser(", "_optimizer_of("))
    (tmp_path / "cardai/playing/stats/intervals").mkdir()
    (tmp_path / "cardai/playing/stats/interval.py").rename(tmp_path / "cardai/playing/stats/intervals/__init__.py")
    for file in tmp_path.rglob("*.py"):
        text = file.read_text("utf-8")
        text = text.replace("cardai.playing.stats.interval ", "cardai.playing.stats.intervals ")
        text = re.sub(
            r"from cardai.playing.stats import interval$",
            "from cardai.playing.stats import intervals as interval",
            text,
            flags=re.M,
        )
        file.write_text(f"{text}\n# formatted\n", "utf-8")
    code = (
        "import json, sys; from cardai.experiments.machinery.behaviour import behaviour, differences;"
        "print(differences(json.load(open(sys.argv[1]))['behaviour'], behaviour('tictactoe', 'small')))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, ROOT / "report" / "tictactoe.json"], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, check=False,
    )  # fmt: skip
    assert answer.stdout.strip() == "[]", answer.stderr


def test_a_digest_sees_the_ninth_digit_and_no_negative_zero():
    assert probes.digest(np.array([0.0, 1.0])) == probes.digest(np.array([-0.0, 1.0]))
    assert probes.digest(np.array([0.0])) != probes.digest(np.array([1e-8]))
