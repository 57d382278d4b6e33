"""The network for matches begins by playing as `best` does, and learns from rounds within matches."""

import numpy as np

import cardai
from cardai.data.dataset import collect_games
from cardai.data.recipe import Recipe
from cardai.data.selfplay import simulate_here
from cardai.evaluators.model import find
from cardai.evaluators.model import load as load_model
from cardai.experiments.hearts_match import Sizes, prepared, train

HEARTS = cardai.load("hearts")


def log_odds(scores):
    scores = np.asarray(scores, np.float64)
    return np.log(scores / (1 - scores))


def test_the_start_ranks_all_moves_as_best_does_with_held_inputs():
    played = simulate_here(HEARTS, {"careful": 1.0}, 40, seed=3, variant="match_round")
    data = collect_games(HEARTS, played, Recipe(encoder="relative", moment="before_draw", per_game=26))
    rows = data.take(np.arange(len(data)))
    best = find(HEARTS, "best").at_table(HEARTS, HEARTS.options(4, "match"))
    own, theirs = log_odds(prepared(60).score(rows)), log_odds(best.score(rows))
    slope, offset = np.polyfit(theirs, own, 1)
    is_close = np.abs(own - slope * theirs - offset) < 2e-3 * own.std()
    assert slope > 0
    assert is_close.mean() > 0.99  # an input that varied once in a million states of training is held, but not cleared


def test_a_network_is_trained_for_rounds_within_matches_and_a_second_call_returns_it(tmp_path):
    small = {"batch": 64, "check_steps": 2, "warm_up": 0, "parts": (0.8, 0.1, 0.1), "per_game": 8, "threads": 1}
    place = train(tmp_path, Sizes(start_games=40, games=60, steps=4), **small)
    model = load_model(place)
    model.check_fits(HEARTS, "match_round", 4)
    assert train(tmp_path, Sizes(start_games=40, games=60, steps=4), **small) == place
