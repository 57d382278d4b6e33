"""PPO and NFSP in games whose best play is known exactly."""

import dataclasses

import kuhn_exact as kuhn
import numpy as np
import pytest

import cardai
from cardai.evaluators.policies import nfsp, ppo
from cardai.evaluators.policies.decisions import DecisionEncoder, play_trajectories
from cardai.evaluators.policies.training import PolicyTraining, TrainingTable
from cardai.guests.exact.grade import grade
from cardai.guests.exact.solution import solve
from cardai.playing.agents.spec import agent

QUICK = ppo.PpoConfig(
    games=6000, step_games=250, batch_games=50, learning_rate=3e-3, final_rate=1e-4, shared=32, hidden=32
)


@pytest.mark.parametrize(
    ("opponent", "strategy"),
    [("random", lambda card, history: 0.5), ("honest", lambda card, history: float(card == kuhn.CARDS - 1))],
    ids=["random", "honest"],
)
def test_ppo_learns_the_best_response_to_a_fixed_player_of_kuhn_poker(opponent, strategy):
    policy = ppo.train(kuhn.GAME, dataclasses.replace(QUICK, opponent=opponent), seed=1)
    most = kuhn.best_response_value(strategy, 0) + kuhn.best_response_value(strategy, 1)

    def missed(mine):
        return most - kuhn.mean_value((mine, strategy)) + kuhn.mean_value((strategy, mine))

    assert missed(kuhn.strategy_of(policy.probabilities)) < 0.06  # chips, of both seats together
    assert missed(lambda card, history: 0.5) > 0.4


@pytest.mark.slow
def test_nfsp_approaches_the_equilibrium_of_kuhn_poker():
    config = nfsp.NfspConfig(
        (64,), policy_rate=0.1, value_rate=0.1, epsilon=0.06, final_epsilon=0.0, epochs=50, epoch_games=2000,
        round_games=100, updates=64, memory=30_000, target_every=100,
    )  # fmt: skip
    policy = nfsp.train(kuhn.GAME, config, seed=1)
    assert kuhn.nash_conv(kuhn.strategy_of(policy.probabilities)) < 0.2
    assert kuhn.nash_conv(lambda card, history: 0.5) > 0.9


@pytest.mark.slow
def test_the_best_response_of_nfsp_learns_a_long_game():
    """Durak between two, where a seat makes about 45 decisions and only the end of the game tells what they were worth.

    If a target is the largest value of the next decision, values drift above every score, and in the end the best
    response takes cards to make the game longer.
    """
    config = dataclasses.replace(nfsp.SHALLOW, epochs=12, round_games=50, updates=160)
    table = TrainingTable(cardai.load("durak"), 2, "report", 2, "report")
    algorithm = nfsp.Nfsp(table, config, 2)
    PolicyTraining(table, algorithm).run(None, None, config.epoch_games)
    algorithm.epsilon = 0.0
    report = cardai.match(table.game, [algorithm.agents[nfsp.RESPONSE], "random"], games=400, variant="report")
    assert report.rows[0].score.point > 0.65
    latest = {name: column[: len(algorithm.latest)] for name, column in algorithm.latest.columns.items()}
    values = algorithm.compiled.forward(algorithm.state.values, latest["rows"])
    taken = np.take_along_axis(values, latest["actions"][:, None], axis=1)
    assert abs(float(taken.mean() - latest["scores"].mean())) < 0.2


def test_ppo_learns_tic_tac_toe_against_random_play():
    config = ppo.PpoConfig(
        games=6000, step_games=250, batch_games=50, learning_rate=2e-3, final_rate=1e-4, shared=64, hidden=64,
        opponent="random",
    )  # fmt: skip
    game = cardai.load("tictactoe")
    win, _, _ = grade(solve(game), ppo.train(game, config, seed=1).agent(greedy=True)).averaged
    assert win > 0.8  # random play wins 43.65 %; an agent that never loses wins at most 95.56 %


def test_lessons_teach_the_moves_of_the_teacher():
    game = cardai.load("tictactoe")
    config = ppo.PpoConfig(
        games=1, step_games=1, batch_games=1, learning_rate=0, final_rate=0, shared=64, hidden=64, choices_only=True,
        teacher="greedy:open_lines?epsilon=0.5", lessons=3000, lesson_games=200, lesson_batch=64, lesson_rate=3e-3,
    )  # fmt: skip
    lineups, seeds = np.array([[0, 1], [1, 0]] * 100), np.arange(200, dtype=np.uint64)
    players = [agent(game, "greedy:open_lines"), agent(game, "random")]
    shown = play_trajectories(DecisionEncoder(game, 2), players, lineups, seeds, choices_only=True)
    assert shown is not None
    shown = shown.subset(shown.players == 0)

    def agreement(policy):
        return (policy.probabilities(shown.rows, shown.masks).argmax(axis=1) == shown.actions).mean()

    taught = agreement(ppo.train(game, config, seed=1))
    untaught = agreement(ppo.train(game, dataclasses.replace(config, lessons=1, lesson_games=1), seed=1))
    assert untaught < 0.6 < 0.7 < taught, (untaught, taught)
