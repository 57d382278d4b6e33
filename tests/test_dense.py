"""Networks scored in compiled code: the same scores as JAX, the same moves, in the threads that play."""

import ast
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from flax import nnx
from hypothesis import given, settings
from hypothesis import strategies as st

import cardai
from cardai.errors import CardaiError
from cardai.evaluators import scorer
from cardai.evaluators.bodies.arrays import hidden_of, layers_of, shapes_of
from cardai.evaluators.bodies.build import build, construct
from cardai.evaluators.bodies.options import options_of
from cardai.evaluators.model import SHIPPED, load
from cardai.evaluators.network_file import tensor_specs, tensors_of
from cardai.game import Segment
from cardai.game.compiled.native import at, raw
from cardai.game.compiled.rules import lend
from cardai.playing.agents.evaluator import network_of, set_device
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import OnePly
from cardai.playing.compiled.dense import network, renamed, score_row, space_for
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.asking import ask, compare
from cardai.rules import JIT, STREAM, rule

pytestmark = pytest.mark.skipif(not JIT, reason="plain Python asks evaluators")

MOST = 1e-5  # by how much a score may differ from JAX's
MODELS = sorted(SHIPPED.glob("*/*.safetensors"))
DENSE = [place for place in MODELS if load(place).metadata.body == "mlp"]


@pytest.fixture(autouse=True)
def chosen():
    set_device("cpu", "auto")
    yield
    set_device("cpu", "auto")


def states_of(game_name: str, variant: str, seats: int, count: int) -> np.ndarray:
    """States of evenly random games, with more than one legal move."""
    game, rng, found = cardai.load(game_name), np.random.default_rng(7), []
    while len(found) < count:
        state = game.new(seats, int(rng.integers(1 << 40)), variant)
        while state["turn"] >= 0:
            moves = game.moves(state)
            if len(moves) > 1:
                found.append(state.copy())
            state = game.play(state, moves[rng.integers(len(moves))])
    picked = rng.choice(len(found), count, replace=False)
    states = np.zeros(count, game.state)
    for i, place in enumerate(picked):
        states[i] = found[place]
    return states


def reference(layers, rows: np.ndarray) -> np.ndarray:
    values = rows.astype(np.float64)
    for i, (kernel, bias) in enumerate(layers):
        values = values @ kernel + bias
        values = values if i + 1 == len(layers) else np.maximum(values, 0)
    return 1 / (1 + np.exp(-values[:, 0]))


@rule
def score_all(network, rows, count, scores, space):
    for i in range(count):
        scores[i] = score_row(network, at(rows, i), i % 5 == 0, space)


@given(
    features=st.integers(1, 70),
    hidden=st.lists(st.integers(1, 90), max_size=3),
    seed=st.integers(0, 1 << 30),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
@settings(max_examples=150, deadline=None)
def test_scores_are_those_of_the_layers(features, hidden, seed, density):
    rng = np.random.default_rng(seed)
    widths = [features, *hidden, 1]
    layers = [
        (rng.normal(0, 1 / np.sqrt(n), (n, m)).astype(np.float32), rng.normal(0, 0.3, m).astype(np.float32))
        for n, m in itertools.pairwise(widths)
    ]
    rows = (rng.integers(0, rng.choice([2, 6, 256]), (13, features)) * (rng.random((13, features)) < density)).astype(
        np.uint8
    )
    wanted, dense = reference(layers, rows / 1.0), network(layers)
    assert dense.features == features
    assert np.abs(dense.score(rows) - wanted).max() <= MOST
    scores, space = np.zeros(13), space_for([dense])
    score_all(dense.address, raw(rows), 13, scores, lend(space))  # rows compared with an earlier one
    assert np.abs(scores - wanted).max() <= MOST
    assert space.scored[0] == 13


def test_rows_that_do_not_lie_side_by_side_score_as_their_copy():
    random = np.random.default_rng(4)
    layers = [(random.normal(size=(40, 8)).astype(np.float32), np.zeros(8, np.float32))]
    dense = network([*layers, (random.normal(size=(8, 1)).astype(np.float32), np.zeros(1, np.float32))])
    rows = random.integers(0, 3, (5000, 60)).astype(np.uint8)
    assert (dense.score(rows[:, :40]) == dense.score(np.ascontiguousarray(rows[:, :40]))).all()


def test_compiled_code_is_lent_nothing_that_is_gone_before_it_runs():
    lent = 0
    for place in Path(cardai.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(place.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("raw", "lend")):
                continue
            for argument in node.args:
                is_new = isinstance(argument, ast.Call) and ast.unparse(argument.func).startswith("np.")
                assert not is_new, f"{place}, line {node.lineno}: the array of {ast.unparse(node)} is freed at once"
                lent += 1
    assert lent > 100


def test_no_rows_have_no_scores():
    assert network([(np.zeros((3, 1), np.float32), np.zeros(1, np.float32))]).score(
        np.zeros((0, 3), np.uint8)
    ).shape == (0,)


def test_layers_and_rows_that_do_not_fit_are_refused():
    one, two = (np.zeros((3, 4), np.float32), np.zeros(4, np.float32)), (np.zeros((4, 1), np.float32), np.zeros(1))
    for layers in ([one], [two, one], [one, one, two], [(one[0], one[1][:2]), two], [(one[0][0], one[1]), two]):
        with pytest.raises(CardaiError, match="a layer has a kernel"):
            network(layers)
    with pytest.raises(CardaiError, match="a network has at least one layer"):
        network([])
    for rows in (np.zeros((2, 4), np.uint8), np.zeros((2, 3)), [[0, 0, 0]], np.zeros(3, np.uint8)):
        with pytest.raises(CardaiError, match=r"rows must be an array u8\[n, 3\]"):
            network([one, two]).score(rows)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("place", DENSE, ids=lambda place: f"{place.parent.name}-{place.stem}")
def test_shipped_models_score_as_in_jax_and_prefer_the_same_moves(place):
    """Of moves whose means differ by more than rounding, both scorers prefer the same one."""
    model = load(place)
    own, count = model.metadata, 60
    game = cardai.load(own.game)
    states = states_of(own.game, own.variant, own.seats, count)
    search = "greedy" if own.moment == "before_draw" else "sampled"
    spec = f"{search}:{place}" + ("?worlds=6" if search == "sampled" else "")
    player = agent(game, spec)

    def streams() -> np.ndarray:
        found = np.zeros(count, STREAM)
        found["rng"] = np.arange(count, dtype=np.uint64)
        return found

    set_device("cpu", "jax")
    assert not player.strategy.is_native
    slow, wanted = compare(game, player, states, streams())
    set_device("cpu", "native")
    assert player.strategy.is_native
    fast, _ = compare(game, player, states, streams())
    chosen = ask(game, player, states, streams())  # in the driver: rows compared with the first of the decision
    for (moves, slow_means), (same, fast_means), first, second in zip(slow, fast, wanted, chosen, strict=True):
        assert (moves == same).all()
        assert np.abs(slow_means - fast_means).max() <= MOST
        (one,), (other,) = (np.flatnonzero(moves == move) for move in (first, second))
        assert abs(slow_means[one] - slow_means[other]) <= 2 * MOST


def test_games_are_the_same_whatever_is_live_and_whoever_scores():
    game = cardai.load("moska")
    agents = [agent(game, "greedy:best"), agent(game, "sampled:nn2?worlds=3&epsilon=0.1"), agent(game, "bot3")]
    lineups, seeds = np.tile([0, 1, 2, 1], (10, 1)), deal_seeds(3, 10)

    def played(**how):
        results = cardai.play(game, agents, lineups, seeds, record=True, **how)
        return [moves.tobytes() for moves in results.moves if moves is not None], results

    set_device("cpu", "native")
    moves, first = played()
    assert first.batches == 0
    for how in ({"live": 1}, {"live": 3, "threads": 1}, {"live": 10, "threads": 2, "checked": True}):
        found, results = played(**how)
        assert (found, results.rows) == (moves, first.rows)
    set_device("cpu", "jax")
    found, results = played()
    assert results.batches > 0
    same = sum(one == other for one, other in zip(found, moves, strict=True))
    assert same >= 8  # a tie within rounding may change a game


@pytest.mark.parametrize("hidden", [(), (20,), (40, 24)])
def test_a_network_of_renamed_rows_has_the_mean_score(hidden):
    rng, widths = np.random.default_rng(5), (9, *hidden, 1)
    layers = [
        (rng.normal(size=shape).astype("f4"), rng.normal(size=shape[1]).astype("f4"))
        for shape in itertools.pairwise(widths)
    ]
    rows = rng.integers(0, 3, (50, 9), dtype=np.uint8)
    orders = np.array([rng.permutation(9) for _ in range(7)])
    plain = network(layers)
    wanted = np.mean([plain.score(rows[:, order]) for order in orders], axis=0)
    np.testing.assert_allclose(renamed(plain, orders).score(rows), wanted, atol=1e-6)


class Overflowing:
    """An evaluator whose network's sums overflow: infinity less infinity."""

    name, encoder, moment, seats, batch = "overflowing", "bitmap", "before_draw", 4, 64
    is_foreign = False

    def __init__(self, width: int) -> None:
        kernel = np.full((width, 2), 3e38, np.float32) * np.float32([1, -1])
        last = np.float32([[3e38], [3e38]])
        both = np.abs(kernel)
        self.network = network(
            [(both, np.zeros(2, np.float32)), (last * np.float32([[1], [-1]]), np.zeros(1, np.float32))]
        )

    def score(self, rows):
        return self.network.score(rows)

    def check_fits(self, game, variant, seats):
        pass


def test_a_score_that_is_not_a_number_is_refused():
    from cardai.playing.table.one import OneGame

    game = cardai.load("moska")
    judge = Overflowing(game.encoder("bitmap").width(4))
    player = Agent("mine", OnePly(judge))
    words = "agent 'mine', evaluator overflowing: it scores a position nan, which is not in"
    with pytest.raises(CardaiError, match=words + r" \[0, 1\], in the game with seed 5"):
        cardai.play(game, [player], np.zeros((1, 4), np.int64), np.array([5]))
    with pytest.raises(CardaiError, match=words):
        OneGame(game, [player] * 4, seed=5).run()
    states = states_of("moska", game.default_variant, 4, 3)
    with pytest.raises(CardaiError, match=words):
        ask(game, player, states, np.zeros(3, STREAM))


def test_a_network_for_other_rows_is_refused():
    game = cardai.load("moska")
    mine = Agent("mine", OnePly(Overflowing(7)))
    with pytest.raises(CardaiError, match=r"overflowing scores rows of 7 values, not of \d+"):
        mine.check_fits(game, None, 4)
    states = states_of("moska", game.default_variant, 4, 1)
    with pytest.raises(CardaiError, match=r"overflowing scores rows of 7 values, not of \d+"):
        ask(game, mine, states, np.zeros(1, STREAM))
    judge = Overflowing(7)
    judge.network = 5  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(CardaiError, match=r"its network must be made by dense.network\(\), not 5"):
        network_of(judge)


def test_the_scorer_is_chosen_by_body_and_device_or_by_name():
    moska, tictactoe = cardai.load("moska"), cardai.load("tictactoe")
    best, cnn = agent(moska, "greedy:best"), agent(tictactoe, "greedy:cnn")
    assert best.strategy.is_native
    assert not cnn.strategy.is_native
    set_device("cpu", "jax")
    assert not best.strategy.is_native
    set_device("cpu", "native")
    with pytest.raises(CardaiError, match="cnn is a cnn; scorer 'native' scores only the bodies mlp and linear"):
        cnn.check_fits(tictactoe, None, 2)
    with pytest.raises(CardaiError, match="there is no scorer 'fast'"):
        set_device("cpu", "fast")


def test_the_choice_by_body_and_device_comes_back_after_another_one():
    best = agent(cardai.load("moska"), "greedy:best")
    set_device("cpu", "jax")
    assert not best.strategy.is_native
    set_device()
    assert scorer.chosen() == ("auto", "auto")
    assert best.strategy.is_native


@pytest.mark.parametrize(("body", "given"), [("linear", {}), ("mlp", {}), ("mlp", {"hidden": [7, 20], "dropout": 0.2})])
def test_dense_bodies_as_arrays_are_those_of_flax(body, given):
    layout = (Segment("hand", (5, 4)), Segment("left"))
    options = options_of(body, given)
    hidden = hidden_of(options)
    assert hidden is not None
    module = nnx.eval_shape(lambda: construct(body, given, layout))
    specs = tensor_specs(module)
    assert {name: spec.shape for name, spec in specs.items()} == shapes_of(21, hidden)
    real = build(body, given, layout, seed=3)
    rows = np.random.default_rng(0).integers(0, 9, (64, 21)).astype(np.uint8)
    real(rows)  # running statistics of these rows
    real.eval()
    wanted = 1 / (1 + np.exp(-np.asarray(real(rows), np.float64)))
    assert np.abs(network(layers_of(tensors_of(real))).score(rows) - wanted).max() <= MOST


def test_a_network_is_read_and_played_without_jax():
    program = (
        "import sys, cardai\n"
        "cardai.match(cardai.load('moska'), ['greedy:best', 'bot3', 'bot3', 'bot3'], games=4)\n"
        "print([name for name in ('jax', 'flax') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
