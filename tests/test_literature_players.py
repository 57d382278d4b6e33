"""The hand-written players of Literature, in positions set up by hand and against each other."""

import numpy as np
import pytest
from literature_positions import GAME, position
from views import chosen

from cardai.measure.bench import run_suite
from cardai.playing.agents.spec import agent
from cardai.playing.stats.deals import deal_seeds
from cardai.playing.table.many import play

TEAMS = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])


def choice(state, name, seed=0, **params):
    """The move that a player plays in a position, in words. It gets what its seat knows and nothing else."""
    known = state.copy()
    assert GAME.rules.blank is not None
    GAME.rules.blank(known, int(state["turn"]))
    return GAME.text.spell(state, chosen(GAME, name, known, seed, **params))


def match(one, other, games, seed=3, variant="article"):
    """Games won by `one`, by `other`, and ties; each team sits on either side."""
    deals = games // 2
    results = play(
        GAME,
        [agent(GAME, one), agent(GAME, other)],
        np.tile(TEAMS, (deals, 1)),
        np.repeat(deal_seeds(seed, deals), 2),
        variant=variant,
    )
    assert results.finished.all()
    own = np.where(np.tile([True, False], deals), results.scores[:, 0], results.scores[:, 1])
    return int((own == 1).sum()), int((own == 0).sum()), int((own == 0.5).sum())


def endgame(**fields):
    """Low clubs are live. Seat 0 has three of them, its opponents the others."""
    return position(["AC 2C 3C", "4C 5C", "", "6C"], even=[1, 2, 3, 4], odd=[5, 6, 7], **fields)


def test_logic_asks_where_the_chance_is_greatest():
    state = endgame(lacks={3: "4C", 1: "6C"})  # 6C lies with seat 3, so 4C and 5C with seat 1
    assert choice(state, "logic") in ("asks p1 for 4C", "asks p1 for 5C", "asks p3 for 6C")
    state = endgame(lacks={3: "4C"})
    assert choice(state, "logic") == "asks p1 for 4C"


def test_plausible_never_asks_in_vain_if_it_need_not():
    state = endgame(lacks={1: "6C", 3: "4C 5C"})
    assert {choice(state, "plausible", seed) for seed in range(40)} == {
        "asks p1 for 4C",
        "asks p1 for 5C",
        "asks p3 for 6C",
    }


def test_forgetful_asks_a_card_back():
    state = position(
        ["AC 2C", "3C 4C 5C", "", "6C"],
        known={1: "3C"},
        even=[1, 2, 3, 4],
        odd=[5, 6, 7],
        moved=0,
        asker=1,
        asked=0,
        card=4 * 2,
        answer=1,
    )
    assert choice(state, "forgetful") == "asks p1 for 3C"


def test_all_but_the_keeper_claim_what_is_proven():
    hands = ["AC 2C 3C 4C 5C AD", "2D 3D 4D", "6C", "5D 6D"]
    state = position(hands, known={2: "6C"}, even=[2, 3, 4], odd=[5, 6, 7])
    for spec in ("plausible", "logic", "forgetful"):
        assert choice(state, spec) == "claims low clubs"
    assert choice(state, "keeper", ask_at=0.1).startswith("asks")
    assert choice(state, "keeper", ask_at=1.0) == "claims low clubs"


@pytest.mark.parametrize(("mover", "expected"), [(1, "claims low clubs"), (2, "no claim")])
def test_a_keeper_claims_out_of_turn_to_take_the_turn(mover, expected):
    hands = ["AC 2C 3C 4C 5C AD", "2D 3D 4D", "6C", "5D 6D"]
    state = position(hands, mover=mover, known={2: "6C"}, even=[2, 3, 4], odd=[5, 6, 7], window=0, turn=0)
    assert choice(state, "keeper") == expected


@pytest.mark.parametrize("name", GAME.agents.players)
def test_a_mover_who_gives_the_turn_away_claims_nothing(name):
    hands = ["", "AD 2D 3D", "AC 2C 3C", "4D", "4C 5C 6C", "5D 6D"]
    state = position(hands, known={2: "AC 2C 3C", 4: "4C 5C 6C"}, variant="table", giving=1)
    assert choice(state, name) in ("gives the turn to p2", "gives the turn to p4")


@pytest.mark.parametrize(("one", "other", "least"), [("logic", "plausible", 0.95), ("plausible", "forgetful", 0.95)])
def test_who_knows_more_wins(one, other, least):
    won, lost, _ = match(one, other, 200)
    assert won > least * (won + lost)


@pytest.mark.parametrize(("suite", "row"), [("article", "untrained"), ("six", "untrained")])
def test_a_suite_seats_whole_teams_of_the_measured_agent(suite, row):
    report = run_suite(GAME, suite, agents=["logic"], games=8, threads=1)
    (result,) = [one for one in report.rows if one.row == row]
    assert result.score.point > 80


@pytest.mark.slow
def test_the_network_is_stronger_than_logic():
    won, lost, _ = match("policy:best?greedy", "logic", 4000, seed=7)
    assert won / (won + lost) > 0.6
