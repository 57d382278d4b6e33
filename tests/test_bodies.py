"""The bodies: what they take and refuse, that they learn, and that evaluation is what training was."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.bodies import convolution, layers
from cardai.evaluators.bodies.build import build, construct
from cardai.evaluators.bodies.cnn import columns, plane_shape, split_runs
from cardai.evaluators.bodies.convolution import convolved
from cardai.evaluators.bodies.layers import Dropout, Statistics
from cardai.evaluators.bodies.options import BODIES, as_plain, options_of
from cardai.game import Segment
from cardai.registry import load

LAYOUT = (
    Segment("left"),
    Segment("hand", (5, 4)),
    Segment("sizes", (3,)),
    Segment("table", (5, 4)),
    Segment("board", (3, 3)),
)
WIDTH = 1 + 20 + 3 + 20 + 9
SMALL = {
    "mlp": {"hidden": [16, 8], "dropout": [0.5, 0.2]},
    "cnn": {"channels": [4, 4], "dense": [8]},
    "cnn_flat": {"channels": [4, 4], "dense": [8]},
    "linear": {},
}


def rows(count, seed=0, width=WIDTH, most=2):
    return np.random.default_rng(seed).integers(0, most, (count, width)).astype(np.uint8)


def small(body, seed=0, **more):
    return build(body, SMALL[body] | more, LAYOUT, seed)


@nnx.jit
def logits(module, some):
    return module(some)


def arrays(module):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(nnx.as_pure(nnx.state(module)))]


def encodings():
    for game, seats in (("tictactoe", 2), ("moska", 2), ("moska", 4), ("moska", 8), ("examples/thirtyone", 3)):
        for name, encoder in load(game).learning.encoders.items():
            yield pytest.param(encoder.layout(seats), id=f"{game} {name} {seats}")


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("layout", list(encodings()))
def test_any_body_takes_any_encoder(body, layout):
    width = sum(segment.size for segment in layout)
    module = nnx.eval_shape(lambda: construct(body, {}, layout))
    found = nnx.eval_shape(lambda module, rows: module(rows), module, jax.ShapeDtypeStruct((7, width), jnp.uint8))
    assert (found.shape, found.dtype) == ((7,), jnp.float32)


def test_the_default_mlp_is_the_thesis_network():
    module = nnx.eval_shape(lambda: construct("mlp", {}, load("moska").encoder("bitmap").layout(4)))
    weights = nnx.state(module, nnx.Param)
    assert sum(leaf.size for leaf in jax.tree.leaves(weights)) == 1_097_751  # "1.10 M parameters"
    assert [one.rate for one in module.dense.dropouts] == [0.4, 0.4, 0.35, 0.0]


@pytest.mark.parametrize("body", BODIES)
def test_a_seed_decides_weights_and_masks(body):
    first, again, other = (small(body, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(*pair) for pair in zip(arrays(first), arrays(again), strict=True))
    one, same, different = (logits(module, rows(32)) for module in (first, again, other))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, different)


@pytest.mark.parametrize("body", BODIES)
def test_evaluation_changes_nothing_and_repeats(body):
    module = small(body)
    logits(module, rows(32))
    module.eval()
    before, some = arrays(module), rows(9, seed=1)
    assert np.array_equal(logits(module, some), logits(module, some))
    assert all(np.array_equal(*pair) for pair in zip(before, arrays(module), strict=True))


@pytest.mark.parametrize("body", BODIES)
def test_training_moves_statistics_and_masks_on(body):
    module = small(body)
    before = arrays(module)
    logits(module, rows(32))
    assert any(not np.array_equal(*pair) for pair in zip(before, arrays(module), strict=True))


@pytest.mark.parametrize("body", BODIES)
def test_counts_up_to_255_and_constant_columns_are_taken(body):
    module = small(body)
    some = rows(64, most=256)
    some[:, :5], some[:, 5:9] = 255, 0
    for _ in range(3):
        assert np.isfinite(logits(module, some)).all()
    module.eval()
    assert np.isfinite(logits(module, rows(64, seed=3, most=256))).all()


@pytest.mark.parametrize("body", ["mlp", "linear"])
def test_the_folded_network_judges_alike_and_has_no_statistics_left(body):
    module = small(body)
    for seed in range(3):
        logits(module, rows(64, seed, most=40))
    folded = module.folded()
    assert not module.dense.dropouts or not module.dense.dropouts[0].deterministic  # it is a copy
    module.eval()
    some = rows(50, seed=9, most=40)
    assert np.allclose(logits(folded, some), logits(module, some), rtol=0, atol=2e-5)
    assert not jax.tree.leaves(nnx.state(folded, nnx.BatchStat))


@pytest.mark.parametrize("body", BODIES)
def test_every_body_learns_what_a_bit_means(body):
    module, some = small(body, seed=3), rows(256, seed=5)
    labels = some[:, 2].astype(np.float32)
    module.set_attributes(rate=0.0, raise_if_not_found=False)
    graph, params, rest = nnx.split(module, nnx.Param, ...)
    optimiser = optax.adam(5e-2)

    @jax.jit
    def step(params, rest, moments):
        def loss_of(params):
            module = nnx.merge(graph, params, rest, copy=True)
            losses = optax.sigmoid_binary_cross_entropy(module(some), labels)
            return losses.mean(), nnx.split(module, nnx.Param, ...)[2]

        (loss, rest), gradient = jax.value_and_grad(loss_of, has_aux=True)(params)
        updates, moments = optimiser.update(gradient, moments, params)
        return optax.apply_updates(params, updates), rest, moments, loss

    moments, losses = optimiser.init(params), []
    for _ in range(100):
        params, rest, moments, loss = step(params, rest, moments)
        losses.append(float(loss))
    assert losses[-1] < 0.1 < 0.4 < losses[0]
    module = nnx.merge(graph, params, rest)
    module.eval()
    assert np.array_equal(np.asarray(logits(module, some)) > 0, labels > 0.5)


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        ("mpl", {}, "there is no body 'mpl'; did you mean mlp?"),
        ("linear", {"hidden": [3]}, "linear: there is no field 'hidden'; there is none"),
        ("mlp", {"hiden": [3]}, "mlp: there is no field 'hiden'; did you mean hidden?"),
        ("mlp", {"hidden": "big"}, "mlp: hidden must be a list of whole numbers, not 'big'"),
        ("mlp", {"hidden": [0]}, "mlp: hidden must be 0 to 64 numbers from 1 to 65536, not [0]"),
        ("mlp", {"hidden": [3, 4], "dropout": [0.1]}, "dropout must be one number, or one for each of hidden [3, 4]"),
        ("mlp", {"dropout": 1}, "mlp: dropout must be at least 0 and below 1, not [1.0, 1.0, 1.0, 1.0]"),
        ("cnn", {"channels": []}, "cnn: channels must be 1 to 64 numbers from 1 to 65536, not []"),
        ("cnn", {"kernel": [3, 3, 3]}, "cnn: kernel must be a height and a width of at most 32, not [3, 3, 3]"),
        ("cnn", {"kernel": 6}, "cnn: a kernel of 6 x 6 does not fit planes of 5 x 4"),
        ("cnn", {"batch_norm": 1}, "cnn: batch_norm must be true or false, not 1"),
        ("cnn_flat", {"kernel": [4]}, "cnn_flat: kernel must be a whole number, not [4]"),
        ("cnn_flat", {"stride": 0}, "cnn_flat: stride must be 1 to 256, not 0"),
        ("cnn_flat", {"kernel": 60}, "cnn_flat: a kernel of 60 does not fit a line of 49 values"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name(body, options, message):
    with pytest.raises(CardaiError) as refused:
        build(body, options, LAYOUT, seed=0)
    assert message in str(refused.value)


def test_a_layout_without_planes_is_refused_by_cnn_alone():
    layout = (Segment("left"), Segment("sizes", (3,)))
    with pytest.raises(CardaiError, match="cnn: this encoder has no planes"):
        build("cnn", {}, layout, seed=0)
    for body in ("mlp", "cnn_flat", "linear"):
        assert logits(build(body, SMALL[body], layout, seed=0), rows(3, width=4)).shape == (3,)


def test_a_row_without_values_or_with_too_many_is_refused():
    for layout in ((), (Segment("much", (300, 300)),)):
        with pytest.raises(CardaiError, match="a row has 1 to 65536 values"):
            build("mlp", {}, layout, seed=0)


@pytest.mark.parametrize("body", BODIES)
def test_options_survive_json(body):
    options = options_of(body, SMALL[body])
    assert options_of(body, as_plain(options)) == options
    assert all(not isinstance(value, tuple) for value in as_plain(options).values())


def test_dropout_of_other_layers_than_the_thesis_is_none_unless_given():
    assert options_of("mlp", {"hidden": [8, 8]}).dropout == (0.0, 0.0)
    assert options_of("mlp", {"hidden": [8, 8], "dropout": 0.3}).dropout == (0.3, 0.3)
    assert options_of("mlp", {"hidden": 8}).hidden == (8,)
    assert options_of("cnn", {"kernel": 2}).kernel == (2, 2)


def test_planes_are_stacked_as_channels_and_the_rest_joins():
    assert plane_shape(LAYOUT) == (5, 4)
    assert plane_shape((Segment("board", (3, 3)), Segment("cards", (5, 4)))) == (3, 3)  # the first of those as common
    planes, rest = split_runs(LAYOUT, lambda segment: segment.shape == (5, 4))
    assert planes == ((1, 21), (24, 44))
    assert rest == ((0, 1), (21, 24), (44, 53))
    some = rows(6, most=200)
    assert np.array_equal(columns(some, planes), np.concatenate([some[:, 1:21], some[:, 24:44]], 1))
    assert np.array_equal(columns(some, rest), np.concatenate([some[:, :1], some[:, 21:24], some[:, 44:]], 1))


def test_a_cnn_sees_a_pattern_wherever_it_lies():
    """The same pattern one rank further up gives the same features one rank further up."""
    module = small("cnn")
    planes = np.zeros((1, 5, 4, 2), np.float32)
    planes[0, 1, 1, 0] = planes[0, 2, 2, 1] = 1
    seen, moved = module.convolved(planes), module.convolved(np.roll(planes, 1, axis=1))
    assert np.allclose(seen[0, 1:3], moved[0, 2:4], atol=1e-6)
    assert not np.allclose(seen, moved)


@pytest.mark.parametrize(
    ("shape", "kernel", "stride"),
    [
        ((3, 13, 4, 3), (3, 3), 1),
        ((3, 13, 4, 3), (4, 2), 1),
        ((3, 3, 3, 2), (3, 3), 1),
        ((3, 3, 3, 2), (2, 2), 1),
        ((3, 1, 41, 3), (1, 4), 1),
        ((3, 1, 41, 3), (1, 5), 3),
        ((3, 9, 12, 3), (3, 3), 1),
    ],
)
def test_a_convolution_and_its_gradients_are_those_of_xla(shape, kernel, stride):
    random = np.random.default_rng(0)
    planes = random.normal(size=shape).astype(np.float32)
    weights = random.normal(size=(*kernel, shape[-1], 4)).astype(np.float32)

    def with_gradients(how):
        def total(*both):
            values = how(*both, stride)
            return jnp.sin(values).sum(), values

        return jax.tree.leaves(jax.jit(jax.grad(total, (0, 1), has_aux=True))(planes, weights))

    for one, other in zip(with_gradients(convolved), with_gradients(convolution._by_xla), strict=True):
        assert np.allclose(one, other, rtol=1e-4, atol=1e-4)


def test_statistics_are_the_mean_of_the_first_batches_then_a_moving_average():
    statistics, batches = Statistics(3), [rows(20, seed, width=3, most=256) for seed in range(5)]
    for batch in batches:
        logits(statistics, batch.astype(np.float32))
    assert np.allclose(statistics.mean[...], np.mean([batch.mean(0) for batch in batches], 0), rtol=1e-5)
    assert np.allclose(statistics.variance[...], np.mean([batch.var(0) for batch in batches], 0), rtol=1e-5)
    statistics.batches[...] = jnp.float32(1000.0)
    before = np.asarray(statistics.mean[...])
    logits(statistics, np.zeros((4, 3), np.float32))
    assert np.allclose(statistics.mean[...], layers.MEMORY * before, rtol=1e-5)


def test_statistics_bring_features_to_one_scale():
    values = rows(200, width=3, most=256).astype(np.float32) * [1, 0.1, 0.01]
    scaled = np.asarray(Statistics(3)(values))
    assert np.allclose(scaled.mean(0), 0, atol=1e-4)
    assert np.allclose(scaled.std(0), 1, atol=0.01)


def begun(rate, seed):
    dropout = Dropout(rate)
    dropout.begin(np.random.default_rng(seed))
    return dropout


def test_dropout_leaves_out_its_share_evenly_and_keeps_the_mean():
    rate, ones = 0.35, np.ones((512, 400), np.float32)
    dropout = begun(rate, seed=1)
    masks = [np.asarray(logits(dropout, ones)) for _ in range(3)]
    for mask in masks:
        assert set(np.unique(mask)) == {0.0, np.float32(1 / (1 - rate))}
        kept = mask > 0
        spread = np.sqrt(rate * (1 - rate))
        assert abs(kept.mean() - (1 - rate)) < 5 * spread / np.sqrt(kept.size)
        for axis in (0, 1):  # no unit and no row is favoured: their shares scatter as those of fair coins
            shares = kept.mean(axis)
            assert 0.8 < shares.std() / (spread / np.sqrt(kept.shape[axis])) < 1.2
    for one, other in itertools.combinations([*masks, np.roll(masks[0], 1, 1), np.roll(masks[0], 1, 0)], 2):
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 5 / np.sqrt(one.size)


def test_dropout_masks_of_layers_and_seeds_have_nothing_in_common():
    ones = np.ones((256, 256), np.float32)
    module = build("mlp", {"hidden": [4, 4], "dropout": 0.5}, LAYOUT, seed=0)
    masks = [np.asarray(logits(one, ones)) for one in (*module.dense.dropouts, begun(0.5, 1), begun(0.5, 2))]
    for one, other in itertools.combinations(masks, 2):
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 5 / 256
