"""Students of Moska begin by playing as the network before them does, and learn in stages."""

import numpy as np

import cardai
from cardai.evaluators.model import find
from cardai.evaluators.model import load as load_model
from cardai.experiments.moska_students import BIG, ENCODER, SMALL, StudentStages, grown, train, typical_rows

MOSKA = cardai.load("moska")


def test_a_network_with_more_inputs_and_wider_layers_scores_as_before():
    rows, expert = typical_rows(MOSKA, 30), find(MOSKA, "expert")
    own = MOSKA.encoder(expert.encoder).width(4)
    before = np.asarray(expert.score(rows[:, :own]), np.float64)
    for hidden in (SMALL, BIG):
        begun = grown(expert, ENCODER, rows, hidden)
        assert begun.metadata.body_options["hidden"] == list(hidden)
        assert np.abs(np.asarray(begun.score(rows)) - before).max() < 1e-5
    shifted = np.asarray(grown(expert, ENCODER, rows, SMALL, shift=0.8).score(rows), np.float64)
    sure = (before > 0.99) | (before < 0.01)
    shifted, before = shifted[~sure], before[~sure]
    odds = np.log(shifted / (1 - shifted)) - np.log(before / (1 - before))
    assert np.allclose(odds, 0.8, atol=1e-3)
    assert len(odds) > 100
    assert rows[:, own:].any(axis=0).mean() > 0.8  # the new inputs say something


def test_students_are_trained_in_stages_and_a_second_call_returns_them(tmp_path):
    small = {"batch": 64, "warm_up": 0, "parts": (0.8, 0.1, 0.1), "per_game": 2, "threads": 1}
    sizes = StudentStages(games=(150, 150, 150), steps=(3, 3, 3), start_games=20)
    made = train(tmp_path, sizes, device="cpu", **small)
    assert list(made) == ["small1", "big2", "student", "student_small"]
    for place in made.values():
        load_model(place).check_fits(MOSKA, "thesis", 4)
    assert load_model(made["student"]).metadata.training["start_from"] == made["big2"]
    assert train(tmp_path, sizes, device="cpu", **small) == made
