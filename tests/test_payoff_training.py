"""Networks of payoffs: labels and rewards are standardised where a payoff has a unit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bidding import GAME
from flax import nnx

from cardai.evaluators import model
from cardai.evaluators.policies import nfsp
from cardai.evaluators.policies.decisions import Trajectories
from cardai.evaluators.policies.ppo import Ppo, PpoConfig
from cardai.evaluators.policies.training import TrainingTable
from cardai.evaluators.training.compare import BodyComparison, comparison_of
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.metrics import regression
from cardai.evaluators.training.selfplay_in_memory import SelfPlayProtocol, SelfPlayTraining
from cardai.evaluators.training.train import train
from cardai.evaluators.training.trainer import LabelScale
from cardai.games import tictactoe
from cardai.records.selfplay import simulate

PLACE = str(Path(__file__).with_name("bidding.py"))


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    file = tmp_path_factory.mktemp("payoff") / "games.record"
    simulate(GAME, {"careful": 1.0}, 800, out=file, seed=3)
    return str(file)


def trained(record, folder, **more):
    options = {"options": {"hidden": [16]}, "epochs": 8, "batch": 128, "learning_rate": 3e-3, "parts": (0.8, 0.1, 0.1)}
    return train(TrainConfig(game=PLACE, data=(record,), out=str(folder), **(options | more)))


@pytest.fixture(scope="module")
def result(record, tmp_path_factory):
    return trained(record, tmp_path_factory.mktemp("payoff") / "run")


def test_a_network_of_payoffs_says_what_it_explains_in_points(result):
    figures = result.report["regression"]
    assert figures["unit"] == "points"
    point, low, high = figures["r2"]
    assert low < point < high
    assert point > 0.2
    assert figures["error"][0] < 30  # points


def test_the_metadata_say_how_labels_were_standardised(result):
    about = model.load(result.model).metadata.data["standardised"]
    assert about["unit"] == "points"
    assert 0 < about["mean"] < 20
    assert 10 < about["deviation"] < 40


def test_the_model_predicts_what_was_trained(record, result, tmp_path):
    """The scale of the labels is folded into the last layer, so that a model's scores need no other reading."""
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


def explained(trained, labels, rows) -> float:
    """The share of the variance of labels that a network of a comparison explains."""
    scores = np.asarray(trained.evaluator("it").score(rows))
    return 1 - float(np.mean((scores - labels) ** 2) / np.var(labels))


class Foreign(nnx.Module):
    """A network that is none of ours: its last layer has another name."""

    def __init__(self, width: int, rngs: nnx.Rngs) -> None:
        self.first, self.last = nnx.Linear(width, 16, rngs=rngs), nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, rows):
        return self.last(nnx.relu(self.first(rows / 4.0)))[:, 0]


def test_a_comparison_learns_standardised_payoffs_with_networks_of_all_kinds(record, tmp_path):
    config = TrainConfig(
        game=PLACE, data=(record,), out=str(tmp_path / "x"), batch=128, steps=400, epochs=0, learning_rate=3e-3,
        parts=(0.8, 0.1, 0.1),
    )  # fmt: skip
    comparison = comparison_of(config, GAME)
    places = np.arange(len(comparison.dataset))
    rows, labels = comparison.dataset.take(places), comparison.dataset.labels
    ours = comparison.train(comparison.body("mlp", {"hidden": [16]}, seed=0), seed=0)
    foreign = comparison.train(Foreign(comparison.width, nnx.Rngs(0)), seed=0)
    assert explained(ours, labels, rows) > 0.2
    assert explained(foreign, labels, rows) > 0.2
    by_loss = {}
    for loss in ("regression", "bce"):
        again = BodyComparison(GAME, comparison.dataset, replace(config, loss=loss))
        by_loss[loss] = explained(again.train(again.body("mlp", {"hidden": [16]}, seed=0), seed=0), labels, rows)
    assert by_loss["regression"] == explained(ours, labels, rows) != by_loss["bce"]


def test_training_in_memory_learns_standardised_payoffs(tmp_path):
    protocol = SelfPlayProtocol(iterations=1, games=300, first_players="careful", steps=200, training={"batch": 128})
    training = SelfPlayTraining(GAME, protocol, "mlp", {"hidden": [16]})
    scale, rows = LabelScale.of_random_play(GAME, None, 3), np.zeros((50, GAME.encoder().width(3)), np.uint8)
    rows[:] = np.random.default_rng(0).integers(2, size=rows.shape)
    generations = training.generations(seed=0)
    untrained = next(generations).agent().evaluator.score(rows)
    assert np.abs(untrained - scale.mean).max() < 6 * scale.deviation
    last = next(generations)
    assert last.loss < 0.6  # in deviations: half the variance is 0.5
    last.model().save(tmp_path / "m.safetensors")
    saved = model.load(tmp_path / "m.safetensors")
    assert np.asarray(saved.score(rows)) == pytest.approx(last.agent().evaluator.score(rows), abs=1e-4)


def test_nfsp_learns_action_values_from_standardised_payoffs():
    table = TrainingTable(GAME, 0, None, None, None)
    learner = nfsp.Nfsp(table, nfsp.NfspConfig((8,), policy_rate=1e-3, value_rate=1e-3), 0)
    scale = LabelScale.of_random_play(GAME, None, 3)
    low, high = learner.compiled.span
    assert low == pytest.approx(-scale.mean / scale.deviation)
    assert high == pytest.approx((1 - scale.mean) / scale.deviation)
    assert high - low > 2  # deviations, and not one score
    learner._remember(decisions([0.6, 0.7]))
    kept = learner.latest.sample(table.stream, 1, 50)["scores"]
    expected = [(score - scale.mean) / scale.deviation for score in (0.6, 0.7)]
    assert np.unique(kept) == pytest.approx(expected, abs=1e-5)
    share = nfsp.Nfsp(TrainingTable(tictactoe.GAME, 0, None, None, None), learner.config, 0)
    assert share.compiled.span == (0.0, 1.0)


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
