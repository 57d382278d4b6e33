"""Choices at the same time through the adapters: PettingZoo's parallel environments, OpenSpiel's simultaneous nodes."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import signals

import cardai
from cardai.errors import CardaiError, IllegalMove
from cardai.guests import adapters

GOOFSPIEL = str(Path(__file__).parents[3] / "examples/goofspiel")
TABLES = [(GOOFSPIEL, 2, "standard"), (GOOFSPIEL, 3, "carried?cards=5"), (signals.GAME, 3, None)]
tables = pytest.mark.parametrize(("game", "seats", "variant"), TABLES, ids=["two", "three", "signals"])


def parallel(game, seats, variant, **options):
    pytest.importorskip("pettingzoo", reason="the extra `zoo` brings PettingZoo")
    return adapters.parallel(game, seats=seats, variant=variant, **options)


def spiel(variant, **options):
    pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    return pyspiel.load_game(adapters.register(GOOFSPIEL, variant=variant, name=f"test_{variant}", **options))


def sampled(env, infos, rng):
    masks = {name: infos[name]["action_mask"] for name in env.agents}
    return {name: int(rng.choice(np.flatnonzero(mask))) if mask.any() else 0 for name, mask in masks.items()}


# PettingZoo.


@tables
def test_pettingzoos_own_tests_of_parallel_environments_pass(game, seats, variant):
    env = parallel(game, seats, variant)
    from pettingzoo.test import parallel_api_test

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(env, num_cycles=200)


@tables
def test_a_seed_fixes_the_games_that_follow(game, seats, variant):
    def rows():
        env, rng, seen = parallel(game, seats, variant), np.random.default_rng(3), []
        for seed in (7, None, None):
            observations, infos = env.reset(seed=seed)
            while env.agents:
                seen += [row.tobytes() for view in observations.values() for row in view.values()]
                observations, *_, infos = env.step(sampled(env, infos, rng))
        return seen

    assert rows() == rows()


@tables
def test_parallel_games_are_those_of_the_core(game, seats, variant):
    env, rng = parallel(game, seats, variant), np.random.default_rng(3)
    core = env.game
    for seed in range(20):
        observations, infos = env.reset(seed=seed)
        state = core.new(seats, env.game_seed, variant)
        while env.agents:
            for seat, name in enumerate(env.possible_agents):
                may = seat in core.choosing(state)
                legal = (
                    [core.learning.actions[move.item()] for move in core.moves(core.at_turn(state, seat))]
                    if may
                    else []
                )
                assert np.flatnonzero(infos[name]["action_mask"]).tolist() == legal
                assert (observations[name]["observation"] == core.encode(state, seat)).all()
                assert (observations[name]["action_mask"] == infos[name]["action_mask"]).all()
            actions = sampled(env, infos, rng)
            observations, rewards, over, cut, infos = env.step(actions)
            numbers = {number: fields for fields, number in core.learning.actions.items()}
            for seat in core.choosing(state):
                state = core.play(state, np.array([numbers[actions[f"player_{seat}"]]], core.move)[0])
        assert list(rewards.values()) == core.points(state).tolist()
        assert all(over.values())
        assert not any(cut.values())


def test_an_illegal_or_missing_action_changes_nothing():
    env = parallel(GOOFSPIEL, 2, "standard?cards=3")
    before, _ = env.reset(seed=1)
    for actions in ({"player_0": 0, "player_1": 3}, {"player_0": 0}, {"player_0": 0, "player_1": None}):
        with pytest.raises(IllegalMove):
            env.step(actions)
    after, *_ = env.step({"player_0": 2, "player_1": 0})
    assert before["player_0"]["action_mask"][:3].tolist() == [1, 1, 1]
    assert after["player_0"]["action_mask"][:3].tolist() == [1, 1, 0]


def test_a_game_of_turns_is_no_parallel_environment():
    pytest.importorskip("pettingzoo", reason="the extra `zoo` brings PettingZoo")
    with pytest.raises(CardaiError, match=r"tictactoe: its seats move one after the other; aec\(\) is for such games"):
        adapters.parallel("tictactoe")


def test_in_turn_no_seat_sees_what_another_has_chosen():
    pytest.importorskip("pettingzoo", reason="the extra `zoo` brings PettingZoo")
    seen = []
    for action in range(3):
        env = adapters.aec(GOOFSPIEL, variant="standard?cards=3")
        env.reset(seed=5)
        env.step(action)
        assert env.agent_selection == "player_1"
        seen.append(env.observe("player_1"))
    assert all((one[key] == seen[0][key]).all() for one in seen for key in one)


# OpenSpiel.


@pytest.mark.parametrize("variant", ["standard?cards=3", "descending?cards=4", "standard"])
def test_openspiels_own_test_passes(variant):
    game = spiel(variant)
    import pyspiel

    assert game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    pyspiel.random_sim_test(game, 3, False, False)
    pyspiel.random_sim_test(pyspiel.convert_to_turn_based(game), 3, False, False)


def test_games_through_openspiel_are_those_of_the_core():
    game, core, rng = spiel("descending?cards=5"), cardai.load(GOOFSPIEL), np.random.default_rng(1)
    for _ in range(50):
        state, truth = game.new_initial_state(), core.new(2, 0, "descending?cards=5")
        while not state.is_terminal():
            assert state.is_simultaneous_node()
            joint = []
            for seat in range(2):
                legal = [int(move["card"]) for move in core.moves(core.at_turn(truth, seat))]
                assert state.legal_actions(seat) == legal
                joint.append(int(rng.choice(legal)))
            state.apply_actions(joint)
            for card in joint:
                truth = core.play(truth, np.array([(card,)], core.move)[0])
            lines = state.information_state_string(0).splitlines()
            shown = f"p1: has chosen; all show: p0 bids {joint[0] + 1}, p1 bids {joint[1] + 1}"
            assert shown in lines
        assert state.returns() == (core.points(truth) - 0.5).tolist()


def test_openspiels_cfr_comes_near_the_equilibrium_of_goofspiel_with_three_cards():
    game = spiel("descending?cards=3")
    import pyspiel
    from open_spiel.python.algorithms import cfr, exploitability

    in_turn = pyspiel.convert_to_turn_based(game)
    solver = cfr.CFRSolver(in_turn)
    before = exploitability.exploitability(in_turn, solver.average_policy())
    for _ in range(30):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(in_turn, solver.average_policy()) < min(0.03, before / 4)
