"""Self-play training in memory: seeds, merged rows, the evaluator that remembers scores, who plays."""

from typing import Any

import chex
import jax
import numpy as np
import pairs
import pytest
from small_game import GAME as SMALL

from cardai.errors import CardaiError
from cardai.evaluators.training import selfplay_in_memory
from cardai.evaluators.training.selfplay_in_memory import (
    CachingEvaluator,
    LabelledRows,
    SelfPlayGeneration,
    SelfPlayProtocol,
    SelfPlayTraining,
)
from cardai.guests.exact.choices import weights_of
from cardai.guests.exact.grade import grade
from cardai.guests.exact.solution import solve
from cardai.playing.agents.spec import agent
from cardai.registry import load

TICTACTOE = load("tictactoe")
OPTIONS = {"hidden": [16]}
PROTOCOL = SelfPlayProtocol(
    iterations=2, games=60, epsilon=0.1, temperature=0.2, window=2, steps=10, merge_rows=True, count_power=0.5,
    training={"batch": 32, "learning_rate": 1e-2},
)  # fmt: skip


@pytest.fixture(scope="module")
def training():
    return SelfPlayTraining(TICTACTOE, PROTOCOL, "mlp", OPTIONS)


def weights(generation: SelfPlayGeneration) -> Any:
    """A copy: the next training step reuses the memory of the state."""
    return jax.tree.map(np.array, generation.state.params)


def weights_by_generation(training: SelfPlayTraining, seed: int) -> list[Any]:
    return [weights(generation) for generation in training.generations(seed)]


def assert_different(first: Any, second: Any) -> None:
    with pytest.raises(AssertionError, match="not exactly equal"):
        chex.assert_trees_all_equal(first, second)


def test_a_seed_decides_everything_whatever_was_trained_before(training):
    first, other, again = (weights_by_generation(training, seed) for seed in (1, 2, 1))
    fresh = weights_by_generation(SelfPlayTraining(TICTACTOE, PROTOCOL, "mlp", OPTIONS), 1)
    chex.assert_trees_all_equal(first, again, fresh)
    for number in range(PROTOCOL.iterations + 1):
        assert_different(first[number], other[number])


def test_generation_zero_is_untrained_and_each_later_one_has_other_weights(training):
    numbers, losses, weights_of = zip(
        *((generation.number, generation.loss, weights(generation)) for generation in training.generations(0)),
        strict=True,
    )
    assert numbers == (0, 1, 2)
    assert np.isnan(losses[0])
    assert all(0 < loss < 2 for loss in losses[1:])
    assert_different(weights_of[0], weights_of[1])
    assert_different(weights_of[1], weights_of[2])


def test_equal_rows_become_one_with_the_mean_of_their_labels():
    rows = np.array([[1, 2], [0, 1], [1, 2], [1, 2]], np.uint8)
    merged = LabelledRows(rows, np.array([0.0, 1.0, 1.0, 0.5], np.float32), np.array([1.0, 4.0, 2.0, 1.0])).merged()
    by_row = {tuple(row): (label, n) for row, label, n in zip(merged.rows.tolist(), *merged[1:], strict=True)}
    assert by_row == {(1, 2): (0.625, 4.0), (0, 1): (1.0, 4.0)}


def test_a_network_is_asked_about_each_row_once(training):
    batches = []
    evaluator = CachingEvaluator(training, next(training.generations(0)).state, 0)
    logits = evaluator._logits
    evaluator._logits = lambda weights, rows: batches.append(rows) or logits(weights, rows)
    rows = np.random.default_rng(0).integers(0, 2, (3000, 27), np.uint8)
    scores = evaluator.score(np.concatenate([rows, rows]))
    assert [batch.shape for batch in batches] == [(1024, 27)] * 3  # 3000 rows; one batch size, so one compiled program
    assert np.array_equal(scores[:3000], scores[3000:])
    assert np.array_equal(evaluator.score(rows[::-1]), scores[:3000][::-1])
    assert len(batches) == 3


def test_an_evaluator_does_not_change_when_the_training_continues(training):
    generations = training.generations(0)
    state = next(generations).state
    early, late = CachingEvaluator(training, state, 0), CachingEvaluator(training, state, 0)
    rows = np.random.default_rng(0).integers(0, 2, (50, 27), np.uint8)
    before = early.score(rows)
    assert next(generations).number == 1
    assert np.array_equal(late.score(rows), before)


def test_a_generation_saved_as_a_model_plays_as_it_did(training, tmp_path):
    *_, last = training.generations(3)
    last.model(about="trained by self-play").save(tmp_path / "last.safetensors")
    solution = solve(TICTACTOE)
    loaded = agent(TICTACTOE, f"greedy:{tmp_path / 'last.safetensors'}")
    assert np.array_equal(weights_of(solution, last.agent()), weights_of(solution, loaded))


@pytest.fixture
def seen(monkeypatch):
    """What games were played with: agents, line-ups and seeds."""
    calls, play = [], selfplay_in_memory.play
    monkeypatch.setattr(
        selfplay_in_memory, "play", lambda game, *given, **more: calls.append(given) or play(game, *given, **more)
    )
    return calls


@pytest.mark.parametrize(("opponent", "first", "networks"), [("", "", 2), ("random", "", 1), ("", "random", 0)])
def test_agents_take_the_seats_that_the_protocol_says(seen, opponent, first, networks):
    protocol = SelfPlayProtocol(1, 8, opponent=opponent, first_players=first, steps=1, training={"batch": 4})
    list(SelfPlayTraining(TICTACTOE, protocol, "mlp", OPTIONS).generations(0))
    ((players, lineups, seeds),) = seen
    mine = np.array([player.evaluator is not None for player in players])[lineups]
    assert (mine.sum(axis=1) == networks).all()
    assert mine.sum(axis=0).tolist() == [4 * networks, 4 * networks]  # each seat as often
    assert len(set(seeds.tolist())) == 8


def test_in_a_game_of_teams_the_network_plays_a_whole_team_against_an_opponent(seen):
    protocol = SelfPlayProtocol(1, 4, opponent="random", steps=1, training={"batch": 4})
    list(SelfPlayTraining(pairs.GAME, protocol, "mlp", OPTIONS).generations(0))
    ((_, lineups, _),) = seen
    assert lineups.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]] * 2


def test_the_agent_of_a_generation_does_not_explore(training):
    generation = next(training.generations(0))
    assert not generation.agent().strategy.explores
    assert grade(solve(TICTACTOE), generation.agent()).luck in ("none", "known")


def test_the_window_says_how_many_iterations_are_trained_on():
    def states_by_generation(window):
        protocol = SelfPlayProtocol(3, 50, opponent="random", window=window, steps=1, training={"batch": 4})
        training = SelfPlayTraining(TICTACTOE, protocol, "mlp", OPTIONS)
        return [generation.states for generation in training.generations(0)]

    (untrained, *single), (_, *double) = states_by_generation(1), states_by_generation(2)
    assert untrained == 0
    assert all(250 <= states <= 450 for states in single)  # 50 games of 5 to 9 moves
    assert double[0] == single[0]
    assert all(500 <= states <= 900 for states in double[1:])


def test_an_evaluator_refuses_another_game_and_table(training):
    evaluator = CachingEvaluator(training, next(training.generations(0)).state, 0)
    evaluator.check_fits(TICTACTOE, "standard", 2)
    with pytest.raises(CardaiError, match=r"generation 0 was trained for tictactoe, variant standard, with 2 seats"):
        evaluator.check_fits(SMALL, None, 2)
    with pytest.raises(CardaiError, match="2 seats"):
        evaluator.check_fits(TICTACTOE, None, 3)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"games": 0}, "games must be at least 1, not 0"),
        ({"epsilon": 1.5}, "epsilon 1.5"),
        ({"count_power": 0.5}, "count_power 0.5 needs merge_rows"),
    ],
)
def test_impossible_protocols_are_refused(fields, message):
    with pytest.raises(CardaiError, match=message):
        SelfPlayProtocol(**({"iterations": 1, "games": 1} | fields))


def test_a_loss_that_is_not_finite_is_an_error(training, monkeypatch):
    monkeypatch.setattr(training.trainer, "step", lambda state, rows, labels: (state, np.float32(np.nan)))
    with pytest.raises(CardaiError, match="iteration 1: training has diverged"):
        list(training.generations(0))
