"""The experiment on bodies: sizes that are called equal are, its control differs by cells alone, scores are its own."""

import numpy as np
import pytest
from flax import nnx

from cardai import load
from cardai.evaluators.bodies.build import construct
from cardai.evaluators.training.compare import parameters
from cardai.experiments import mlp_vs_cnn
from cardai.experiments.machinery.duplicate import outcomes_of
from cardai.experiments.mlp_vs_cnn import GAMES, KINDS, PAIRS, SCALES, body_of, differences_table
from cardai.experiments.pages.mlp_vs_cnn import compared
from cardai.game import Row, Suite
from cardai.measure.bench import run_suite
from cardai.playing.agents.spec import agent


def layout_of(name):
    setup = GAMES[name]
    return load(name).encoder(setup.learning.get("encoder")).layout(setup.seats)


def sized(body, options, layout):
    return parameters(nnx.eval_shape(lambda: construct(body, options, layout)))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", GAMES)
def test_what_is_called_as_many_parameters_is_within_five_percent(name, scale):
    layout, own = layout_of(name), SCALES[scale].own[name]
    bodies = {kind: body_of(kind, own, layout) for kind in KINDS}
    found = {kind: sized(*body, layout) for kind, body in bodies.items()}
    assert abs(found["mlp"] / found["cnn"] - 1) < 0.05
    assert found["cnn"] == found["shuffled"] == found["cnn-few"]
    assert found["mlp"] == found["long"] == found["mlp-few"]
    assert abs(found["own"] / found["mlp"] - 1) > 0.05


def test_every_pair_is_of_kinds_and_claims_are_tested_where_the_other_is_an_mlp():
    assert all(set(pair) <= set(KINDS) for pair in PAIRS.values())
    bodies = {kind: body_of(kind, SCALES["smoke"].own["tictactoe"], layout_of("tictactoe"))[0] for kind in KINDS}
    assert [tuple(bodies[kind] for kind in PAIRS[pair]) for pair in mlp_vs_cnn.CLAIMED] == [("cnn", "mlp")] * 3


def test_a_score_is_that_of_the_player_who_is_measured():
    """Who never loses against random players is at seat r in rotation r; the others must not be counted."""
    durak = load("durak")
    won = outcomes_of(durak, agent(durak, "thrifty"), ["random"], 60, 3, "report", "win")
    turned = outcomes_of(durak, agent(durak, "random"), ["thrifty"], 60, 3, "report", "win")
    assert won.shape == (30, 2)
    assert won.mean() > 0.7
    assert turned.mean() < 0.3


def test_in_a_game_of_teams_the_player_has_all_seats_of_its_team_and_each_deal_is_played_on_both_sides():
    literature = load("literature")
    scores = outcomes_of(literature, agent(literature, "logic"), ["plausible"] * 2, 40, 3, "article", "score")
    assert scores.shape == (20, 2)
    assert scores.mean() > 0.9
    equals = outcomes_of(literature, agent(literature, "plausible"), ["plausible"] * 2, 40, 3, "article", "score")
    assert equals.shape == (40, 2)
    np.testing.assert_array_equal(equals.sum(axis=1), 1)


def test_shares_of_the_win_are_those_of_a_suite():
    hearts = load("hearts")
    shares = outcomes_of(hearts, agent(hearts, "careful"), ["duck"] * 3, 80, 3, "standard", "share")
    suite = Suite(about="", measure="share", rows={"duck": Row(("duck",) * 3)}, agents=(), variant="standard")
    (row,) = run_suite(hearts.changed(suites={"one": suite}), "one", ["careful"], 80, seed=3).rows
    assert 100 * shares.mean() == pytest.approx(row.figure.point)


@pytest.mark.parametrize(
    ("game", "point", "words"),
    [
        ("tictactoe", 1.0, "the CNN wins 1.0 percentage points more of its games (0.2 to 1.8)"),
        ("tictactoe", -1.0, "the MLP wins 1.0 percentage points more of its games (0.2 to 1.8)"),
        ("moska", 1.0, "the MLP loses 1.0 percentage points fewer of its games (0.2 to 1.8)"),
        ("moska", -1.0, "the CNN loses 1.0 percentage points fewer of its games (0.2 to 1.8)"),
        ("durak", -1.0, "the MLP avoids losing in 1.0 percentage points more of its games (0.2 to 1.8)"),
        ("hearts", 1.0, "the CNN gets 1.0 percentage points more of the win (0.2 to 1.8)"),
        ("literature", -1.0, "the MLP scores 1.0 percentage points more (0.2 to 1.8)"),
        ("moska", 0.5, "no difference is shown; CNN minus MLP is 0.5 percentage points (-0.3 to 1.3)"),
    ],
)
def test_a_difference_is_said_with_the_better_body_first_and_the_whole_interval_decides(game, point, words):
    setup = GAMES[game]
    figure = {"point": point, "low": point - 0.8, "high": point + 0.8}
    row = {(differences_table(setup), "equal seconds", f"{setup.counted}, points"): {"figure": figure}}
    assert compared(row, setup, "equal seconds") == words
