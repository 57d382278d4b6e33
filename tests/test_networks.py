"""The store of experiments: stages are kept, generations learn on, and nothing that differs is taken up."""

import json

import pytest

import cardai
from cardai.errors import CardaiError
from cardai.evaluators.training.config import TrainConfig
from cardai.experiments.machinery import networks
from cardai.experiments.machinery.networks import NetworkStore
from cardai.files import settings

TICTACTOE = cardai.load("tictactoe")
LEARNING = {"options": {"hidden": [8], "dropout": [0.0]}, "batch": 64, "steps": 6, "epochs": 0}


def made(folder, steps=6, games=300):
    shop = NetworkStore(TICTACTOE, folder, {**LEARNING, "steps": steps}, device="cpu")
    first = shop.games("games", {"random": 1.0}, games, seed=1)
    return shop.generations((first,), games=[20, 20], opponents={"random": 1.0}, seed=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("networks")
    assert made(place) == str(place / "best" / "model.safetensors")
    return place


def test_each_generation_begins_with_the_last_and_learns_from_all_games(folder):
    configs = {name: settings.read(TrainConfig, folder / name / "config.toml") for name in ("after0", "after1", "best")}
    assert [len(config.data) for config in configs.values()] == [1, 2, 3]
    assert configs["after0"].start_from is None
    assert configs["best"].start_from == str(folder / "after1" / "model.safetensors")
    plans = [json.loads((folder / f"later{number}" / "simulation.json").read_text("utf-8")) for number in (1, 2)]
    assert [f"greedy:{folder / name / 'model.safetensors'}" in plan["pool"] for name, plan in
            zip(("after0", "after1"), plans, strict=True)] == [True, True]  # fmt: skip


def test_what_is_done_is_not_done_again(folder, monkeypatch):
    monkeypatch.setattr(networks, "train", lambda *a: pytest.fail("trained again"))
    made(folder)


def test_other_settings_in_the_same_folder_are_refused(folder):
    with pytest.raises(CardaiError, match="holds another run, with steps"):
        made(folder, steps=7)
    with pytest.raises(CardaiError, match="does not belong to a simulation"):
        made(folder, games=200)


def test_a_simulation_that_was_stopped_is_not_learned_from(folder, monkeypatch, tmp_path):
    def stopped(*args, **options):
        class Summary:
            interrupted = True

        return Summary

    monkeypatch.setattr(networks, "simulate_shards", stopped)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path)
    assert not (tmp_path / "after0").exists()
