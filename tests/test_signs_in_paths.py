"""Paths with signs that specs and lists use: they can be quoted, and where they were not, the sign is named."""

import dataclasses
import shutil
from pathlib import Path

import pytest

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.evaluators.training.config import TrainConfig, command
from cardai.evaluators.training.train import train
from cardai.files import settings
from cardai.records.selfplay import parse_pool

MODEL = Path(__file__).parent.parent / "evaluators/models/tictactoe/mlp.safetensors"
SIGNS = [",", "?", "&", ":", "@", "=", "a(b)", "?,&:@="]


@pytest.fixture(params=SIGNS)
def folder(request, tmp_path) -> Path:
    """A folder with a sign in its name, which holds a model as the folder of a run does."""
    place = tmp_path / f"runs{request.param}2"
    place.mkdir()
    shutil.copy(MODEL, place / "model.safetensors")
    return place


def test_an_agent_of_a_path_with_a_sign_has_a_spec_that_names_it(folder):
    game = cardai.load("tictactoe")
    for path in (folder, folder / "model.safetensors"):
        agent = cardai.agent(game, cardai.Greedy(path))
        assert cardai.agent(game, f"greedy:({path})").spec == agent.spec
        assert cardai.agent(game, agent.spec).spec == agent.spec


def test_a_line_up_on_the_command_line_may_name_it(folder, capsys):
    assert run(["match", "tictactoe", "--games", "2", "--seats", f"greedy:({folder}),random"]) == 0
    assert "random" in capsys.readouterr().out
    spec = cardai.agent(cardai.load("tictactoe"), cardai.Greedy(folder)).spec
    assert run(["exact", "grade", "tictactoe", "--agent", f"{spec},random"]) == 0
    assert run(["play", "tictactoe", "--seats", f"{spec},random", "--seed", "1"]) in (0, 2)
    assert parse_pool([f"greedy:({folder})@3", f"sampled:({folder})"]) == {
        spec: 3.0,
        spec.replace("greedy", "sampled"): 1.0,
    }


@pytest.fixture
def games(tmp_path) -> Path:
    file = tmp_path / "games, old.jsonl"
    cardai.match(cardai.load("tictactoe"), ["random", "random"], games=20, record=file)
    return file


TRAINING = ["--steps", "1", "--batch", "8", "--parts", "[0.6, 0.2, 0.2]", "--options.hidden", "[4]"]


def test_data_with_a_comma_is_quoted_or_the_comma_is_named_and_nothing_is_written(games, tmp_path, capsys):
    words = ["train", "--game", "tictactoe", "--out", str(tmp_path / "run"), *TRAINING, "--data"]
    assert run([*words, str(games)]) == 2
    assert f'commas divide paths, and {str(games)!r} has one: write data as ["{games}"]' in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert run([*words, f'["{games}"]']) == 0
    assert (tmp_path / "run/model.safetensors").exists()


def test_the_command_of_a_model_quotes_a_comma(tmp_path):
    config = TrainConfig(game="tictactoe", data=("a,b", "c"), out="run", steps=1)
    words = command(config).split("--data ")[1].split(" --")[0]
    given = {"game": "tictactoe", "out": "run", "steps": "1", "data": words.strip("'")}
    assert settings.read(TrainConfig, None, given).data == ("a,b", "c")


def test_a_run_that_cannot_begin_leaves_the_folder_as_it_was(games, tmp_path):
    out = tmp_path / "run"
    config = TrainConfig(game="tictactoe", data=(str(games),), out=str(out), steps=1, batch=8, parts=(0.6, 0.2, 0.2),
                         options={"hidden": [4]})  # fmt: skip
    refused = {
        "cannot read": {"data": ("nothing.jsonl",)},
        "is larger than": {"batch": 10_000},
        "cannot be started from": {"start_from": str(MODEL)},
    }
    for sentence, change in refused.items():
        with pytest.raises(CardaiError, match=sentence):
            train(dataclasses.replace(config, **change))
        assert not out.exists()
    train(config)
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    for sentence, change in refused.items():
        with pytest.raises(CardaiError, match=sentence):
            train(dataclasses.replace(config, **change), overwrite=True)
        assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == before
