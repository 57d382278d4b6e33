"""The network for the win of a round: trained in generations by one command, and stronger at what it is for."""

import sys

import pytest

import cardai
from cardai.evaluators.model import load as load_model
from cardai.experiments import hearts_winner, moska_students
from cardai.experiments.hearts_winner import Sizes, train
from cardai.measure.duplicate import outcomes, outcomes_of_place, play_rotated
from cardai.playing.agents.spec import agent
from cardai.playing.stats import interval
from cardai.playing.stats.deals import rotations

HEARTS = cardai.load("hearts")


def test_generations_are_trained_and_a_second_call_returns_the_last_one(tmp_path):
    small = {"batch": 64, "check_steps": 2, "warm_up": 0, "parts": (0.8, 0.1, 0.1), "per_game": 8, "threads": 1}
    sizes = Sizes(generations=2, games=60, steps=4)
    place = train(tmp_path, sizes, **small)
    model = load_model(place)
    model.check_fits(HEARTS, "standard", 4)
    assert model.metadata.training["label"] == "score+2*share"
    assert "winner1" in str(model.metadata.data["agents"])
    assert train(tmp_path, sizes, **small) == place


@pytest.mark.parametrize("program", [hearts_winner, moska_students])
@pytest.mark.parametrize(
    ("cause", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "the same command goes on"),
        (cardai.CardaiError("no such folder"), 2, "no such folder"),
    ],
)
def test_a_program_that_trains_ends_as_cardai_does(program, cause, code, told, monkeypatch, tmp_path, capsys):
    def stopped(*_, progress, **__):
        assert progress is not None
        raise cause

    monkeypatch.setattr(program, "train", stopped)
    monkeypatch.setattr(sys, "argv", ["program", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        program.main()
    assert end.value.code == code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("foe", ["duck", "careful"])
def test_it_wins_more_rounds_than_the_network_that_learned_the_score(foe):
    """On the same 400 deals, each in all rotations; the difference is 7 to 11 percentage points."""
    line_ups = [[agent(HEARTS, f"greedy:{model}"), *[agent(HEARTS, foe)] * 3] for model in ("winner", "best")]
    shares = []
    for line_up in line_ups:
        results, places = play_rotated(HEARTS, line_up, rotations(4), 400, 20261201, "standard", 2, None)
        shares.append(outcomes_of_place(places, 0, outcomes(HEARTS.payoff, "share", results.complete())))
    assert interval.mean(shares[0] - shares[1]).point > 0
