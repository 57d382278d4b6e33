"""The scorer: the network's scores, in few programs, at once, for a row whatever stands beside it."""

import jax
import numpy as np
import pytest
from flax import nnx
from hypothesis import given
from hypothesis import strategies as st

from cardai.errors import CardaiError
from cardai.evaluators import scorer
from cardai.evaluators.bodies.build import build
from cardai.evaluators.scorer import SMALLEST, Scorer, device_of, pieces, set_device
from cardai.game import Segment

LAYOUT = (Segment("hand", (5, 4)), Segment("left"))
WIDTH = 21


@pytest.fixture(scope="module")
def module():
    module = build("mlp", {"hidden": [32, 16], "dropout": 0.5}, LAYOUT, seed=0)
    module(rows(256, seed=1))
    return module


@pytest.fixture
def chosen():
    set_device("auto")  # whatever a test of another file chose
    yield
    set_device("auto")


def rows(count, seed=0):
    return np.random.default_rng(seed).integers(0, 30, (count, WIDTH)).astype(np.uint8)


@given(st.integers(0, 100_000), st.integers(0, 8))
def test_pieces_hold_all_rows_and_waste_little(n, doublings):
    largest = SMALLEST << doublings
    sizes = pieces(n, largest)
    assert all(size % SMALLEST == 0 and size & (size - 1) == 0 and size <= largest for size in sizes)
    assert sizes == sorted(sizes, reverse=True)
    empty = sum(sizes) - n
    assert empty >= 0
    if sizes:
        assert empty < sizes[-1]  # only the last is not full
        assert 4 * empty <= sizes[-1] or empty < SMALLEST


def test_scores_are_the_sigmoid_of_the_logits_in_evaluation(module):
    some = rows(100)
    copy = nnx.clone(module)
    copy.eval()
    found = np.asarray(Scorer(module).score(some))
    assert (found.dtype, found.shape) == (np.float32, (100,))
    assert np.allclose(found, 1 / (1 + np.exp(-np.asarray(copy(some), np.float64))), rtol=0, atol=1e-6)
    assert not module.dense.dropouts[0].deterministic  # the module goes on training


def test_any_module_can_be_scored():
    class Bare(nnx.Module):
        def __init__(self):
            self.dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(0))

        def __call__(self, rows):
            return self.dropout(rows[:, 0] * 1.0)

    assert np.allclose(Scorer(Bare()).score(np.zeros((5, 2), np.uint8)), 0.5)


def test_no_more_programs_are_compiled_than_there_are_batch_sizes(module):
    score = Scorer(module, batch=512)
    score._score.clear_cache()
    for _ in range(2):
        for n in (1, 5, 64, 65, 100, 128, 200, 256, 300, 511, 512, 513, 1300):
            assert np.asarray(score.score(rows(n))).shape == (n,)
        assert score._score._cache_size() == 4  # 64, 128, 256, 512
    other = build("mlp", {"hidden": [32, 16], "dropout": 0.5}, LAYOUT, seed=1)
    again = Scorer(other, batch=512)
    assert not np.allclose(again.score(rows(512)), score.score(rows(512)))
    assert again._score._cache_size() == 4  # networks of one structure share them


def test_a_module_with_an_attribute_that_cannot_be_hashed_is_scored():
    class Odd(nnx.Module):
        def __init__(self):
            self.columns = slice(0, 1)

        def __call__(self, rows):
            return rows[:, self.columns].sum(axis=1) * 1.0

    assert np.allclose(Scorer(Odd()).score(np.zeros((5, 2), np.uint8)), 0.5)


def test_a_score_does_not_depend_on_the_batch_it_is_in(module):
    some, score = rows(1000), Scorer(module, batch=512)
    together = np.asarray(score.score(some))
    alone = np.concatenate([np.asarray(score.score(some[i : i + 1])) for i in range(0, 1000, 50)])
    assert np.abs(alone - together[::50]).max() < 1e-6
    other = np.asarray(Scorer(module, batch=128).score(some[::-1].copy()))[::-1]
    assert np.abs(other - together).max() < 1e-6


def test_no_rows_have_no_scores(module):
    assert np.asarray(Scorer(module).score(rows(0))).shape == (0,)


def test_the_answer_is_on_its_way_and_rows_are_sent_as_bytes(module):
    waited, seen = [], []

    class Late:
        def __init__(self, n):
            self.n = n

        def __array__(self, dtype=None, copy=None):
            waited.append(self.n)
            return np.full(self.n, 0.25, np.float32)

    score = Scorer(module, batch=64)
    score._score = lambda weights, piece: seen.append(piece) or Late(len(piece))
    answer = score.score(rows(100))
    assert waited == []
    assert [(piece.shape, piece.dtype) for piece in seen] == [((64, WIDTH), np.uint8)] * 2
    assert len(answer) == 100
    assert np.array_equal(np.asarray(answer), np.full(100, 0.25, np.float32))
    assert waited == [64, 64]
    assert np.asarray(answer, np.float64).dtype == np.float64


def test_a_device_that_does_not_exist_is_refused_by_name(monkeypatch, chosen):
    with pytest.raises(CardaiError, match="there is no device 'tpu'; did you mean gpu or cpu"):
        set_device("tpu")
    with pytest.raises(CardaiError, match="there is no device 'tpu'"):
        device_of("tpu")

    def devices(platform=None):
        if platform == "gpu":
            raise RuntimeError("Unknown backend")
        return found

    found = jax.devices("cpu")
    monkeypatch.setattr(jax, "devices", devices)
    with pytest.raises(CardaiError, match="device 'gpu': JAX finds none here, only cpu"):
        set_device("gpu")
    assert scorer.chosen() == ("auto", "auto")


def test_the_chosen_device_is_where_scorers_compute(module, chosen):
    set_device("cpu")
    assert device_of().platform == "cpu"
    assert Scorer(module).device.platform == "cpu"
