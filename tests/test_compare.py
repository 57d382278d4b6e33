"""Comparisons of bodies: the same states in the same order for any network; shuffled cells."""

import chex
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from cardai import load
from cardai.errors import CardaiError
from cardai.evaluators.training import compare
from cardai.evaluators.training.compare import cells_shuffled, comparison_of, parameters, rows_per_second
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.train import train
from cardai.game import Segment
from cardai.guests.exact.grade import grade
from cardai.guests.exact.solution import solve
from cardai.records.selfplay import simulate_shards

GAME = load("tictactoe")
BODY = "mlp", {"hidden": [8]}


class Sum(nnx.Module):
    """A body that is not in `cardai.evaluators.bodies`."""

    def __init__(self, rngs):
        self.weigh = nnx.Linear(27, 1, rngs=rngs)

    def __call__(self, rows):
        return self.weigh(rows.astype(jnp.float32))[:, 0]


class Wrong(Sum):
    def __call__(self, rows):
        return self.weigh(rows.astype(jnp.float32))


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    simulate_shards(GAME, {"random": 1.0}, 300, folder=folder / "games", seed=1)
    return TrainConfig(
        game="tictactoe", data=(str(folder / "games"),), out=str(folder / "run"), parts=(0.9, 0.0, 0.1), batch=64,
        epochs=0, steps=40, device="cpu", body=BODY[0], options=BODY[1],
    )  # fmt: skip


@pytest.fixture(scope="module")
def comparison(config):
    return comparison_of(config)


def logits(module, comparison):
    return np.asarray(module(comparison.dataset.take(np.arange(50))))


def test_a_comparison_trains_the_same_network_as_a_training_run(config, comparison):
    report = train(config).report
    trained = comparison.train(comparison.body(*BODY, 0), 0)
    assert abs(report["test"]["split"]["bce"] - trained.test.bce) < 1e-6
    assert trained.states == 40 * 64


def test_networks_with_one_seed_get_the_same_states_in_the_same_order(comparison, monkeypatch):
    seen = []
    batches = compare._batches
    monkeypatch.setattr(compare, "_batches", lambda *a: (seen.append(places) or places for places in batches(*a)))
    trained = [comparison.train(module, 3) for module in (Sum(nnx.Rngs(0)), comparison.body(*BODY, 0))]
    assert len(seen) == 80
    chex.assert_trees_all_equal(seen[:40], seen[40:])
    assert trained[0].test.n == trained[1].test.n > 0
    comparison.train(Sum(nnx.Rngs(0)), 4, steps=1)
    assert (seen[80] != seen[0]).any()


def test_training_a_module_twice_gives_the_same_network_and_leaves_the_module_unchanged(comparison):
    module = Sum(nnx.Rngs(1))
    before = logits(module, comparison)
    first, second = comparison.train(module, 1), comparison.train(module, 1)
    chex.assert_trees_all_equal(nnx.state(first.module), nnx.state(second.module))
    chex.assert_trees_all_equal(logits(first.module, comparison), logits(second.module, comparison))
    chex.assert_trees_all_equal(logits(module, comparison), before)
    assert not np.allclose(logits(first.module, comparison), before)


def test_networks_of_one_structure_do_not_share_their_initial_weights(comparison):
    first, second = (comparison.train(comparison.body(*BODY, seed), 1, steps=1) for seed in (1, 2))
    assert not np.allclose(logits(first.module, comparison), logits(second.module, comparison))


def test_networks_of_one_body_may_have_different_sizes(comparison):
    sizes = [
        parameters(comparison.train(comparison.body("mlp", {"hidden": [n]}, 0), 1, steps=1).module) for n in (4, 6)
    ]
    assert sizes == [4 * 28 + 5, 6 * 28 + 7]


def test_a_network_that_is_not_in_bodies_can_be_graded(comparison):
    player = comparison.train(Sum(nnx.Rngs(0)), 0).player("sum")
    assert 0 < grade(solve(GAME), player).averaged[0] < 1
    with pytest.raises(CardaiError, match="sum was trained for tictactoe"):
        player.check_fits(load("durak"), None, 2)


def test_a_network_with_another_output_shape_is_refused(comparison):
    with pytest.raises(CardaiError, match="one logit for each row"):
        comparison.train(Wrong(nnx.Rngs(0)), 0)


def test_shuffled_cells_stay_aligned_between_planes_and_other_values_stay_in_place():
    layout = (Segment("count", (2,)), Segment("a", (3, 4)), Segment("one"), Segment("b", (3, 4)), Segment("c", (2, 2)))
    order = cells_shuffled(layout, 5)
    assert sorted(order) == list(range(2 + 12 + 1 + 12 + 4))
    assert (order[:2] == [0, 1]).all()
    assert order[14] == 14
    assert (order[2:14] - 2 == order[15:27] - 15).all()
    assert (order[2:14] != np.arange(2, 14)).any()
    assert sorted(order[27:]) == [27, 28, 29, 30]


def test_a_network_with_shuffled_cells_is_evaluated_with_the_same_order(comparison):
    order = cells_shuffled(comparison.layout, 1)
    trained = comparison.train(Sum(nnx.Rngs(0)), 0, order=order)
    rows = comparison.dataset.take(np.arange(20))
    expected = 1 / (1 + np.exp(-np.asarray(trained.module(rows[:, order]))))
    chex.assert_trees_all_close(np.asarray(trained.evaluator("x").score(rows)), expected, atol=1e-6)


def test_parameters_are_counted_and_speeds_measured(comparison):
    assert parameters(Sum(nnx.Rngs(0))) == 28
    rounds = rows_per_second(Sum(nnx.Rngs(0)), comparison.dataset.take(np.arange(64)), rounds=3, seconds=0.001)
    assert len(rounds) == 3
    assert min(rounds) > 0
