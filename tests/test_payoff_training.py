"""Networks of payoffs: labels and rewards are standardised where a payoff has a unit."""

from pathlib import Path

import numpy as np
import pytest
from bidding import GAME

from cardai.data.selfplay import simulate
from cardai.evaluators import model
from cardai.evaluators.policies.decisions import Trajectories
from cardai.evaluators.policies.ppo import Ppo, PpoConfig
from cardai.evaluators.policies.training import TrainingTable
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.metrics import regression
from cardai.evaluators.training.train import train
from cardai.evaluators.training.trainer import LabelScale
from cardai.games import tictactoe

PLACE = str(Path(__file__).with_name("bidding.py"))


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    file = tmp_path_factory.mktemp("payoff") / "games.record"
    simulate(GAME, {"careful": 1.0}, 800, out=file, seed=3)
    return str(file)


def trained(record, folder, **more):
    options = {
        "body": "mlp",
        "options": {"hidden": [16]},
        "epochs": 8,
        "batch": 128,
        "learning_rate": 3e-3,
        "parts": (0.8, 0.1, 0.1),
    }
    return train(TrainConfig(game=PLACE, data=(record,), out=str(folder), **(options | more)))


def test_a_network_of_payoffs_says_what_it_explains_in_points(record, tmp_path):
    result = trained(record, tmp_path / "run")
    figures = result.report["regression"]
    assert figures["unit"] == "points"
    point, low, high = figures["r2"]
    assert low < point < high
    assert point > 0.2
    assert figures["error"][0] < 30  # points


def test_the_metadata_say_how_labels_were_standardised(record, tmp_path):
    result = trained(record, tmp_path / "run")
    about = model.load(result.model).metadata.data["standardised"]
    assert about["unit"] == "points"
    assert 0 < about["mean"] < 20
    assert 10 < about["deviation"] < 40


def test_the_model_predicts_what_was_trained(record, tmp_path):
    """The scale of the labels is folded into the last layer, so that a model's scores need no other reading."""
    result = trained(record, tmp_path / "run")
    again = trained(record, tmp_path / "more", start_from=str(result.model), steps=1, epochs=0, learning_rate=1e-12)
    for name in ("r2", "error"):
        assert again.report["regression"][name] == pytest.approx(result.report["regression"][name], rel=0.01)


def test_scores_of_a_share_are_trained_by_cross_entropy(record, tmp_path):
    assert "regression" not in trained(record, tmp_path / "bce", loss="bce").report
    assert "regression" not in trained(record, tmp_path / "win", label="win").report


def test_an_output_of_one_is_about_one_deviation():
    scale = LabelScale.of(np.array([0.6, 0.7, 0.8], np.float32))
    one = 1 / (1 + np.exp(-(scale.offset + scale.slope)))
    assert scale.mean == pytest.approx(0.7)
    assert one == pytest.approx(0.7 + scale.deviation, abs=0.01)


def test_regression_is_explained_variance():
    labels = np.array([0.0, 1.0, 0.5, 0.25])
    assert regression(labels, labels, np.arange(4), 10.0)["r2"][0] == 1.0
    constant = regression(np.full(4, labels.mean()), labels, np.arange(4), 10.0)
    assert constant["r2"][0] == pytest.approx(0.0, abs=1e-12)
    assert constant["error"][0] == pytest.approx(10 * labels.std())
    assert constant["correlation"][0] is None


def decisions(scores) -> Trajectories:
    n = len(scores)
    columns = {
        "masks": np.ones((n, 2), bool),
        "actions": np.zeros(n, int),
        "games": np.arange(n),
        "players": np.zeros(n, int),
    }
    return Trajectories(
        rows=np.zeros((n, 3), np.uint8), scores=np.array(scores, float), last=np.ones(n, bool), **columns
    )


def test_rewards_in_points_have_mean_0_and_deviation_1():
    learner = Ppo(TrainingTable(GAME, 0, None, None, None), PpoConfig(games=10), 0)
    assert learner.config.rewards == "standardised"
    standardised = learner._standardised(decisions([0.6, 0.7, 0.65, 0.65])).scores
    assert standardised.mean() == pytest.approx(0, abs=1e-5)
    assert standardised.std() == pytest.approx(1, abs=1e-3)
    kept = learner.kept()
    other = Ppo(learner.table, PpoConfig(games=10), 0)
    other.restore(kept)
    assert other.moments.tolist() == learner.moments.tolist()


def test_games_that_all_end_alike_give_rewards_of_0():
    learner = Ppo(TrainingTable(GAME, 0, None, None, None), PpoConfig(games=10), 0)
    assert np.abs(learner._standardised(decisions([2 / 3] * 4)).scores).max() < 0.01


def test_scores_of_a_share_stay_as_they_are():
    table = TrainingTable(tictactoe.GAME, 0, None, None, None)
    assert Ppo(table, PpoConfig(games=10), 0).config.rewards == "scores"
