"""Exact values with all cards open: against a plain recursion, against minimax, and what they say of players."""

from dataclasses import replace

import numpy as np
import pytest

from cardai.agents.endgame import EndingSolver
from cardai.errors import CardaiError
from cardai.games.durak.rules import deck_left
from cardai.measure.duplicate import play_rotated
from cardai.measure.perfect.open_hands import measure_hands, solve_open_hands
from cardai.registry import load

DURAK, HEARTS, TICTACTOE = load("durak"), load("hearts"), load("tictactoe")


def played(game, seed, left, variant=None):
    """A state of a game of random moves, `left` plies before its end."""
    rng, states = np.random.default_rng(seed), [game.new(seed=seed, variant=variant)]
    while states[-1]["turn"] >= 0:
        states.append(game.play(states[-1], rng.choice(game.moves(states[-1]))))
    return states[-1 - left]


def values(game, state):
    """The scores of all seats if each plays the first of its best moves."""
    if state["turn"] < 0:
        return tuple(game.rules.score(state, seat) for seat in range(int(state["seats"])))
    seat = int(state["turn"])
    return max((values(game, game.play(state, move)) for move in game.moves(state)), key=lambda found: found[seat])


@pytest.mark.parametrize("variant", ["standard", "jack", "paper_moon"])
@pytest.mark.parametrize("seed", range(4))
def test_the_scores_are_those_of_a_plain_recursion(variant, seed):
    state = played(HEARTS, seed, 10, variant)
    solved = solve_open_hands(HEARTS, state)
    assert np.array_equal(solved.moves, HEARTS.moves(state))
    for move, scores in zip(solved.moves, solved.scores, strict=True):
        assert tuple(scores) == values(HEARTS, HEARTS.play(state, move))


@pytest.mark.parametrize("seed", range(5))
def test_for_two_seats_they_are_those_of_perfect_play(seed):
    state = played(TICTACTOE, seed, 4)
    solved = solve_open_hands(TICTACTOE, state)
    exact = EndingSolver(TICTACTOE).solve(np.array([state], TICTACTOE.state))[0]
    assert np.array_equal(solved.scores[:, int(state["turn"])], exact.scores)


def test_a_position_beyond_the_limit_is_not_solved():
    state = played(HEARTS, 1, 12)
    needed = solve_open_hands(HEARTS, state).nodes
    assert solve_open_hands(HEARTS, state, needed).is_solved
    few = solve_open_hands(HEARTS, state, needed - 1)
    assert not few.is_solved
    assert np.isnan(few.scores).all()


def test_chance_that_decides_later_is_refused():
    """In Durak the order of the deck is drawn card by card."""
    rng, state = np.random.default_rng(3), DURAK.new(seed=3)
    while deck_left(state) > 3:
        state = DURAK.play(state, rng.choice(DURAK.moves(state)))
    with pytest.raises(CardaiError, match="chance decides something"):
        solve_open_hands(DURAK, state)


def test_a_game_that_is_over_cannot_be_solved():
    with pytest.raises(CardaiError, match="to move"):
        solve_open_hands(HEARTS, played(HEARTS, 1, 0))


def test_players_who_think_give_less_away_than_random_ones():
    report = measure_hands(HEARTS, ["random", "pimc?worlds=50", "duck", "random"], 24, seed=3, last=12, worlds=10)
    lost = {spec: grade.lost.point for spec, grade in report.grades.items()}
    assert lost["pimc?worlds=50"] < lost["duck"] < lost["random"]
    assert all(grade.unsolved == 0 and grade.decisions > 20 for grade in report.grades.values())
    assert report.as_json()["grades"]["duck"]["best"]["n"] == report.grades["duck"].decisions


def test_numbers_out_of_range_are_refused():
    for numbers in ({"games": 0}, {"last": 0}, {"worlds": 0}, {"limit": 0}):
        with pytest.raises(CardaiError, match="must be at least 1, not 0"):
            measure_hands(HEARTS, ["duck"] * 4, **({"games": 4} | numbers))


def test_an_interrupted_run_gives_no_report(monkeypatch):
    def interrupted(*arguments, **options):
        results, places = play_rotated(*arguments, **options)
        return replace(results, interrupted=True), places

    monkeypatch.setattr("cardai.measure.perfect.played.play_rotated", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure_hands(HEARTS, ["duck"] * 4, 4)
