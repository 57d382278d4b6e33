"""The experiment on Hearts: what a row counts, which hands a decider tries, and what the composed agent is made of."""

from dataclasses import fields

import numpy as np
import pytest

from cardai.evaluators.bodies.build import build
from cardai.evaluators.model import Model
from cardai.experiments import hearts
from cardai.experiments.hearts import DQN, OWN, PaperRow
from cardai.experiments.hearts_networks import Stages, SubAgents, judged, passes, plays, quantile
from cardai.experiments.machinery.lab import Lab
from cardai.files.reading import read_toml
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds
from cardai.registry import load
from cardai.rules import JIT

HEARTS = load("hearts")
pytestmark = pytest.mark.skipif(not JIT, reason="plays whole games")


@pytest.fixture
def lab(tmp_path):
    return Lab("hearts", tmp_path, "smoke", hearts.SCALES["smoke"])


@pytest.fixture
def decider(tmp_path):
    """An untrained decider: the path of its file."""
    options = {"hidden": [8], "dropout": [0.0]}
    made = build("mlp", options, HEARTS.encoder("paper_dealt").layout(4), 3)
    made.eval()
    place = tmp_path / "decider.safetensors"
    Model.of(
        HEARTS, made, variant="paper", encoder="paper_dealt", body="mlp", body_options=options, moment="before_draw"
    ).save(place)
    return str(place)


def test_four_equal_players_share_the_win_and_the_points(lab):
    told = hearts.played(lab, PaperRow("T5 off", OWN, "paper", "duck", "duck"), 80, 5)
    assert told["own share"]["point"] == pytest.approx(25)
    assert told["own points"]["point"] == pytest.approx(told["foes points"]["point"])
    assert told["foes moon"]["point"] == pytest.approx(3 * told["own moon"]["point"])
    assert told["own share"]["n"] == 80
    assert "tried" not in told


def test_points_and_moons_are_those_of_the_agent_and_of_the_other_three(lab):
    told = hearts.played(lab, PaperRow("T4.2", DQN, "paper", "random", "duck"), 400, 5)
    assert told["own points"]["point"] > 1.2 * told["foes points"]["point"]
    assert told["own share"]["point"] < 22
    points = told["own points"]["point"] + 3 * told["foes points"]["point"]
    moons = (told["own moon"]["point"] + told["foes moon"]["point"]) / 100
    assert points == pytest.approx(26 + 52 * moons)  # 4.2: a moon counts 78 points instead of 26
    assert moons > 0


def test_a_try_is_a_hand_that_the_decider_gives_more_than_the_threshold(lab, decider):
    def played(above):
        return hearts.played(lab, PaperRow("T4.2", DQN, "paper", "duck", "duck", (decider, above)), 80, 5)

    always, never = played(-1.0), played(1.0)
    assert (always["tried"]["point"], never["tried"]["point"]) == (100, 0)
    assert always["made"]["point"] == always["own moon"]["point"]
    assert (never["made"]["n"], never["made"]["point"]) == (0, None)
    scores = judged(HEARTS, decider, "paper", deal_seeds(5, 20))
    middle = float(np.median(scores))
    assert played(middle)["tried"]["point"] == pytest.approx(50)
    assert quantile(HEARTS, decider, "paper", 0.5, 20, 5) == pytest.approx(middle)


def test_a_decider_judges_the_hand_that_each_seat_was_dealt(decider):
    scores = judged(HEARTS, decider, "paper", np.array([7, 8]))
    for i, seed in enumerate((7, 8)):
        state = HEARTS.new(4, seed, "paper")
        for seat in range(4):
            row = HEARTS.encode(state, seat, "paper_dealt")[None]
            found = agent(HEARTS, f"greedy:{decider}").evaluator
            assert found is not None
            assert scores[i, seat] == pytest.approx(float(np.asarray(found.score(row))[0]))


def test_the_composed_agent_asks_the_moon_decider_first_and_the_breaker_only_in_play(lab, decider):
    stages = Stages(lab)
    stages.__dict__["sub_agents"] = SubAgents(*(field.name for field in fields(SubAgents)))
    place = stages.composed(0.3, ("breaker_play", "breaker_decider", 0.5)).removeprefix("styles:")
    lists = read_toml(place)
    assert [line["agent"] for line in lists["passing"]] == [passes("moon_passing"), passes("tuned_passing")]
    assert [line["agent"] for line in lists["playing"]] == [
        plays("moon_play"), plays("breaker_play"), plays("tuned_play")
    ]  # fmt: skip
    assert [(line.get("gate"), line.get("above")) for line in lists["playing"]] == [
        ("moon_decider?any_variant", 0.3), ("breaker_decider?any_variant", 0.5), (None, None)
    ]  # fmt: skip
    assert len(read_toml(stages.composed(0.3).removeprefix("styles:"))["playing"]) == 2


def test_a_styles_file_is_an_agent(lab, decider):
    spec = Stages(lab).styles("one", [("duck",)], [("duck", decider, 0.5), ("careful",)])
    assert agent(HEARTS, spec).spec == spec
