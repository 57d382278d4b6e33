"""Networks taught in memory: the same seed gives the same network, and what is known by heart is what was judged."""

import jax
import numpy as np
import optax
import pytest
from small_game import GAME as SMALL

from cardai.agents.spec import agent
from cardai.errors import CardaiError
from cardai.measure.agent_strategy import strategy_of
from cardai.measure.grade import grade
from cardai.measure.solution import solve
from cardai.registry import load
from evaluators.training import selfplay_in_memory
from evaluators.training.selfplay_in_memory import (
    CachingEvaluator,
    LabelledRows,
    SelfPlayGeneration,
    SelfPlayProtocol,
    SelfPlayTraining,
)

TICTACTOE = load("tictactoe")
OPTIONS = {"hidden": [16]}
PROTOCOL = SelfPlayProtocol(
    iterations=2, games=60, epsilon=0.1, temperature=0.2, window=2, steps=10, merge_rows=True, count_power=0.5,
    training={"batch": 32, "learning_rate": 1e-2},
)  # fmt: skip


@pytest.fixture(scope="module")
def training():
    return SelfPlayTraining(TICTACTOE, PROTOCOL, "mlp", OPTIONS)


def weights(generation: SelfPlayGeneration) -> list[np.ndarray]:
    return [np.array(leaf) for leaf in jax.tree.leaves(generation.state.params)]


def course(training: SelfPlayTraining, seed: int) -> list[list[np.ndarray]]:
    return [weights(one) for one in training.generations(seed)]


def same(one: list, other: list) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_seed_decides_everything_whatever_was_taught_before(training):
    first, other, again = course(training, 1), course(training, 2), course(training, 1)
    fresh = course(SelfPlayTraining(TICTACTOE, PROTOCOL, "mlp", OPTIONS), 1)
    for number in range(PROTOCOL.iterations + 1):
        assert same(first[number], again[number])
        assert same(first[number], fresh[number])
        assert not same(first[number], other[number])


def test_the_first_generation_has_random_weights_and_each_later_one_has_learned(training):
    kept = [(one.number, weights(one), one.loss) for one in training.generations(0)]
    assert [number for number, *_ in kept] == [0, 1, 2]
    assert np.isnan(kept[0][2])
    assert all(0 < loss < 2 for *_, loss in kept[1:])
    assert not same(kept[0][1], kept[1][1])
    assert not same(kept[1][1], kept[2][1])


def test_equal_rows_become_one_with_the_mean_of_their_labels():
    rows = np.array([[1, 2], [0, 1], [1, 2], [1, 2]], np.uint8)
    found = LabelledRows(rows, np.array([0.0, 1.0, 1.0, 0.5], np.float32), np.array([1.0, 4.0, 2.0, 1.0])).merged()
    by_row = {tuple(row): (label, n) for row, label, n in zip(found.rows.tolist(), *found[1:], strict=True)}
    assert by_row == {(1, 2): (0.625, 4.0), (0, 1): (1.0, 4.0)}


def test_merging_leaves_the_gradient_as_it_was():
    stream = np.random.default_rng(0)
    rows, labels = stream.integers(0, 2, (500, 3), np.uint8), stream.integers(0, 3, 500).astype(np.float32) / 2
    slope = stream.standard_normal(3).astype(np.float32)

    def loss(by, known):
        losses = optax.sigmoid_binary_cross_entropy(known.rows @ by, known.labels)
        return (losses * known.counts).sum() / known.counts.sum()

    known = LabelledRows(rows, labels, np.ones(500))
    assert len(known.merged().rows) == 8
    apart, merged = (jax.grad(loss)(slope, one) for one in (known, known.merged()))
    assert np.allclose(apart, merged, atol=1e-6)


def test_merging_in_parts_is_merging_all():
    stream = np.random.default_rng(1)
    parts = [LabelledRows(stream.integers(0, 2, (40, 4), np.uint8), stream.random(40), np.ones(40)) for _ in range(3)]
    one, other = LabelledRows.joined([part.merged() for part in parts]).merged(), LabelledRows.joined(parts).merged()
    assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(one.counts, other.counts)
    assert np.allclose(one.labels, other.labels)


def test_a_network_is_asked_about_a_row_once(training):
    asked = []
    judge = CachingEvaluator(training, next(training.generations(0)).state, 0)
    network = judge._logits
    judge._logits = lambda by, rows: asked.append(rows) or network(by, rows)
    rows = np.random.default_rng(0).integers(0, 2, (3000, 27), np.uint8)
    first = judge.score(np.concatenate([rows, rows]))
    assert len(asked) == 3  # 3000 rows, 1024 at once
    assert np.array_equal(first[:3000], first[3000:])
    assert np.array_equal(judge.score(rows[::-1]), first[:3000][::-1])
    assert len(asked) == 3


def test_a_judge_stays_as_it_is_while_its_network_learns(training):
    generations = training.generations(0)
    state = next(generations).state
    early, late = CachingEvaluator(training, state, 0), CachingEvaluator(training, state, 0)
    rows = np.random.default_rng(0).integers(0, 2, (50, 27), np.uint8)
    before = early.score(rows)
    assert next(generations).number == 1
    assert np.array_equal(late.score(rows), before)


def test_a_generation_saved_as_a_model_plays_as_it_did(training, tmp_path):
    *_, last = training.generations(3)
    last.model(about="taught by itself").save(tmp_path / "one.safetensors")
    solution = solve(TICTACTOE)
    loaded = agent(TICTACTOE, f"greedy:{tmp_path / 'one.safetensors'}")
    assert np.array_equal(strategy_of(solution, last.agent())[0], strategy_of(solution, loaded)[0])


@pytest.mark.parametrize(("opponent", "first", "networks"), [("", "", 2), ("random", "", 1), ("", "random", 0)])
def test_who_sits_at_the_table(monkeypatch, opponent, first, networks):
    seen = []
    play = selfplay_in_memory.play
    monkeypatch.setattr(
        selfplay_in_memory, "play", lambda game, *given, **more: seen.append(given) or play(game, *given, **more)
    )
    protocol = SelfPlayProtocol(1, 8, opponent=opponent, first_players=first, steps=1, training={"batch": 4})
    list(SelfPlayTraining(TICTACTOE, protocol, "mlp", OPTIONS).generations(0))
    ((players, lineups, seeds),) = seen
    mine = np.array([player.evaluator is not None for player in players])[lineups]
    assert (mine.sum(axis=1) == networks).all()
    assert mine.sum(axis=0).tolist() == [4 * networks, 4 * networks]  # each seat as often
    assert len(set(seeds.tolist())) == 8


def test_exploring_is_for_games_and_not_for_grades(training):
    generation = next(training.generations(0))
    assert (generation.agent().epsilon, generation.agent().temperature) == (0.0, 0.0)
    assert grade(solve(TICTACTOE), generation.agent()).luck in ("none", "known")


def test_it_learns_from_as_many_iterations_as_are_kept():
    def states(kept):
        protocol = SelfPlayProtocol(3, 50, opponent="random", window=kept, steps=1, training={"batch": 4})
        return [one.states for one in SelfPlayTraining(TICTACTOE, protocol, "mlp", OPTIONS).generations(0)]

    (none, *each), (_, *pairs) = states(1), states(2)
    assert none == 0
    assert all(250 <= one <= 450 for one in each)  # 50 games of 5 to 9 moves
    assert pairs[0] == each[0]
    assert all(500 <= two <= 900 for two in pairs[1:])


def test_any_game_will_do():
    protocol = SelfPlayProtocol(1, 20, steps=2, training={"batch": 8})
    *_, last = SelfPlayTraining(SMALL, protocol, "mlp", OPTIONS).generations(0)
    assert last.states > 20


def test_a_judge_refuses_another_game_and_table(training):
    judge = CachingEvaluator(training, next(training.generations(0)).state, 0)
    judge.check_fits(TICTACTOE, "standard", 2)
    with pytest.raises(CardaiError, match=r"generation 0 was taught tictactoe, variant standard, with 2 seats"):
        judge.check_fits(SMALL, None, 2)
    with pytest.raises(CardaiError, match="2 seats"):
        judge.check_fits(TICTACTOE, None, 3)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"games": 0}, "games must be at least 1, not 0"),
        ({"window": -1}, "window must be at least 1, not -1"),
        ({"epsilon": 1.5}, "epsilon 1.5"),
        ({"temperature": -1.0}, "temperature -1"),
        ({"count_power": 0.5}, "count_power 0.5 needs merge_rows"),
    ],
)
def test_impossible_protocols_are_refused(fields, said):
    with pytest.raises(CardaiError, match=said):
        SelfPlayProtocol(**({"iterations": 1, "games": 1} | fields))


def test_weights_that_run_away_are_named(training, monkeypatch):
    monkeypatch.setattr(training.trainer, "step", lambda state, rows, labels: (state, np.float32(np.nan)))
    with pytest.raises(CardaiError, match="iteration 1: the weights have run away"):
        list(training.generations(0))
