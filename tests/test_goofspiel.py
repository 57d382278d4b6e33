"""Goofspiel: its rules, OpenSpiel's goofspiel as an oracle, and exact values of games with few cards."""

from pathlib import Path

import numpy as np
import pytest
from stage_games import Solution, openspiel_value, solved

import cardai
from cardai.laws import check
from cardai.measure.perft import perft
from cardai.playing.agents.spec import agent

GAME = cardai.load(str(Path(__file__).parent.parent / "examples/goofspiel"))


def started(variant, *rounds, seats=2, seed=0):
    """The state after rounds of bids, in values of cards."""
    state = GAME.new(seats, seed, variant)
    for bids in rounds:
        for bid in bids:
            state = GAME.play(state, GAME.text.parse(state, f"bid {bid}"))
    return state


# The rules.


def test_each_hand_has_a_card_of_each_value_and_the_first_prize_is_turned_up():  # 1.1 to 1.3
    state = started("standard?cards=6", seats=3)
    assert state["hands"].tolist() == [63, 63, 63]
    assert int(state["left"]) | 1 << int(state["prize"]) == 63
    assert started("descending")["prize"] == 12
    assert {int(started("standard", seed=seed)["prize"]) for seed in range(300)} == set(range(13))


def test_the_highest_bid_takes_the_prize_and_a_tie_takes_nothing():  # 2.2, 2.3
    state = started("descending?cards=4", (1, 3), seats=2)
    assert state["points"].tolist()[:2] == [0, 4]
    assert state["hands"].tolist()[:2] == [0b1110, 0b1011]
    assert started("descending?cards=4", (2, 2, 1), seats=3)["points"].tolist() == [0] * 3
    assert started("descending?cards=4", (2, 2, 3), seats=3)["points"].tolist()[:3] == [0, 0, 4]


def test_a_prize_that_nobody_gets_may_be_carried():  # 2.4
    assert started("descending?carried=1&cards=4", (2, 2), (1, 3))["points"].tolist()[:2] == [0, 7]
    assert started("descending?cards=4", (2, 2), (1, 3))["points"].tolist()[:2] == [0, 3]
    assert started("descending?carried=1&cards=4", (2, 2))["pot"] == 4
    assert started("descending?carried=1&cards=2", (1, 1))["points"].tolist()[:2] == [0, 0]


def test_the_last_cards_are_shown_without_a_choice():  # 2.5
    state = started("descending?cards=3", (3, 1), (1, 3))
    assert state["turn"] == -1
    assert state["bids"].tolist()[:2] == [1, 1]
    assert state["points"].tolist()[:2] == [3, 2]


def test_the_score_is_shared_by_those_with_most_points():  # 3.1
    assert GAME.points(started("descending?cards=2", (1, 2))).tolist() == [0, 1]
    assert GAME.points(started("descending?cards=2", (1, 1))).tolist() == [0.5, 0.5]
    assert GAME.points(started("descending?cards=2", (2, 2, 1), seats=3)).tolist() == [0, 0, 1]


def test_the_tree_has_a_history_for_each_pair_of_bids():
    assert perft(GAME, 6, variant="descending?cards=4") == [1, 4, 16, 48, 144, 288, 576]


@pytest.mark.parametrize("effort", ["quick", pytest.param("normal", marks=pytest.mark.slow)])
def test_goofspiel_keeps_every_law(effort):
    results = check(GAME, effort=effort, seconds=3 if effort == "quick" else None)
    assert [result.why for result in results if result.verdict == "broken"] == []
    assert [result.why for result in results if result.cause == "call"] == []


# Players.


def scores(specs, lineups, games, seed=0, variant="standard"):
    agents = [agent(GAME, spec) for spec in specs]
    places = np.tile(lineups, (games, 1))
    return cardai.play(GAME, agents, places, range(seed, seed + games), variant=variant).scores


@pytest.mark.parametrize("seats", [2, 3])
def test_a_one_ply_agent_beats_random_ones_from_every_seat(seats):
    for seat in range(seats):
        lineup = [int(other == seat) for other in range(seats)]
        for spec in ("greedy:prospects", "sampled:prospects?worlds=30"):
            assert scores(["random", spec], lineup, 400)[:, seat].mean() > 1 / seats + 0.1


def test_the_first_and_the_last_seat_play_equally_well():
    """Mean scores of 2000 games; a fair share lies within four standard errors."""
    for spec in ("greedy:prospects", "rollout:8"):
        found = scores([spec], [0, 0], 2000 if spec[0] == "g" else 500)[:, 0]
        assert abs(found.mean() - 0.5) < 4 * 0.5 / len(found) ** 0.5


# OpenSpiel as an oracle.

ORACLE = [(cards, seats, order) for cards in (4, 5, 6) for seats in (2, 3) for order in ("random", "descending")]


@pytest.mark.parametrize("games", [25, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("cards", "seats", "order"), ORACLE)
def test_games_are_those_of_openspiel(cards, seats, order, games):
    pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    points = {"points_order": order, "returns_type": "total_points"}
    theirs = pyspiel.load_game("goofspiel", {"num_cards": cards, "players": seats, **points})
    rng = np.random.default_rng(cards)
    for seed in range(games):
        state, other = (
            started(f"{'standard' if order == 'random' else order}?cards={cards}", seats=seats, seed=seed),
            None,
        )
        other = theirs.new_initial_state()
        while state["turn"] >= 0:
            if other.is_chance_node():
                other.apply_action(int(state["prize"]))
            joint = []
            for seat in range(seats):
                legal = [int(move["card"]) for move in GAME.moves(GAME.at_turn(state, seat))]
                assert other.legal_actions(seat) == legal
                joint.append(int(rng.choice(legal)))
            for card in joint:
                state = GAME.play(state, np.array([(card,)], GAME.move)[0])
            other.apply_actions(joint)
        if other.is_chance_node():  # the last prize
            (((last, _),)) = other.chance_outcomes()
            other.apply_action(last)
        assert other.is_terminal()
        assert other.returns() == state["points"].tolist()[:seats]


# Exact values.


def test_matrix_games_are_solved():
    value, mixture = solved(np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]]))
    assert value == pytest.approx(0)
    assert mixture == pytest.approx([1 / 3] * 3)
    value, mixture = solved(np.array([[3.0, -1], [-2, 1]]))
    assert value == pytest.approx(1 / 7)
    assert mixture == pytest.approx([3 / 7, 4 / 7])


EXACT = ["descending?cards=4", "standard?cards=3"]
LARGE = ["standard?cards=4", "descending?cards=5", "standard?cards=5", "descending?cards=6"]


@pytest.fixture(scope="module", params=[*EXACT, *(pytest.param(one, marks=pytest.mark.slow) for one in LARGE)])
def solution(request):
    found = Solution(GAME)
    found.variant = request.param
    found.start = GAME.new(2, 0, request.param)
    return found


def test_the_game_is_worth_a_half_by_symmetry(solution):
    assert solution.value(solution.start) == pytest.approx(0.5, abs=1e-9)


def test_values_inside_the_game_are_those_of_openspiels_game(solution):
    pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` brings OpenSpiel")
    order, cards = solution.variant.partition("?")[0].replace("standard", "random"), int(solution.variant[-1])
    theirs = pyspiel.load_game("goofspiel", {"num_cards": cards, "points_order": order})
    known, rng, values = {}, np.random.default_rng(0), set()
    for seed in range(40):
        state, other = GAME.new(2, seed, solution.variant), theirs.new_initial_state()
        while state["turn"] >= 0:
            if other.is_chance_node():
                other.apply_action(int(state["prize"]))
            value = openspiel_value(other, known)
            assert solution.value(state) == pytest.approx(0.5 + value / 2, abs=1e-7)
            values.add(round(value, 6))
            joint = [int(rng.choice(other.legal_actions(seat))) for seat in range(2)]
            other.apply_actions(joint)
            for card in joint:
                state = GAME.play(state, np.array([(card,)], GAME.move)[0])
    assert len(values) > 2


def test_nobody_gains_against_the_exact_solution(solution):
    for seat in range(2):
        assert solution.best_reply(solution.start, seat) == pytest.approx(0.5, abs=1e-7)


def test_agents_lose_to_the_exact_solution_or_draw(solution):
    exact = cardai.player(solution.play)
    for spec in ("random", "greedy:prospects", "matching"):
        for lineup in ([0, 1], [1, 0]):
            games = 150
            found = cardai.play(
                GAME, [exact, agent(GAME, spec)], np.tile(lineup, (games, 1)), range(games), variant=solution.variant
            ).scores[:, lineup.index(0)]
            assert found.mean() >= 0.5 - 4 * found.std() / games**0.5
            assert spec != "random" or found.mean() > 0.55
