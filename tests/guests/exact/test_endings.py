"""Exact values with all cards open agree with a plain recursion and with minimax; what exact values say of players."""

from dataclasses import replace

import numpy as np
import pairs
import pytest

from cardai.errors import CardaiError
from cardai.games.durak.rules import deck_left
from cardai.guests.exact.endings import measure_endings, play_games
from cardai.guests.exact.open_hands import proven, solve_open_hands
from cardai.measure.duplicate import play_rotated
from cardai.measure.situations import situations_of
from cardai.playing.agents.endgame import EndingSolver
from cardai.records.record import replay
from cardai.registry import load

GAMES = {name: load(name) for name in ("durak", "hearts", "moska", "tictactoe")}
DURAK, HEARTS, MOSKA, TICTACTOE = GAMES.values()
CASES = [(name, number) for name, game in GAMES.items() for number in range(len(situations_of(game)))]


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


@pytest.mark.parametrize("variant", ["standard", "jack"])
@pytest.mark.parametrize("seed", range(4))
def test_the_scores_are_those_of_a_plain_recursion(variant, seed):
    state = played(HEARTS, seed, 10, variant)
    solved = solve_open_hands(HEARTS, state)
    assert np.array_equal(solved.moves, HEARTS.moves(state))
    expected = [values(HEARTS, HEARTS.play(state, move))[int(state["turn"])] for move in solved.moves]
    assert solved.scores.tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_for_two_seats_they_are_those_of_perfect_play(seed):
    state = played(TICTACTOE, seed, 4)
    solved = solve_open_hands(TICTACTOE, state)
    exact = EndingSolver(TICTACTOE).solve(np.array([state], TICTACTOE.state))[0]
    assert np.array_equal(solved.scores, exact.scores)


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


@pytest.mark.parametrize(("name", "number"), CASES)
def test_the_right_moves_of_situations_are_proven(name, number):
    situation = situations_of(GAMES[name])[number]
    assert not situation.source
    assert proven(GAMES[name], situation) == set(situation.right)


# Grades


def test_players_who_think_give_less_away_than_random_ones():
    line_up = ["random", "pimc?worlds=50", "duck", "random"]
    report = measure_endings(HEARTS, line_up, 24, seed=3, last=12, worlds=10)
    lost = {spec: grade.lost.point for spec, grade in report.grades.items()}
    assert lost["pimc?worlds=50"] < lost["duck"] < lost["random"]
    assert all(grade.unsolved == 0 and grade.decisions > 20 for grade in report.grades.values())
    assert report.as_json()["grades"]["duck"]["optimal"]["n"] == report.grades["duck"].critical
    assert "10 worlds with all cards open" in str(report)


def test_perfect_players_lose_no_won_ending_and_random_ones_do():
    report = measure_endings(MOSKA, ["endgame:bot3?nodes=20000", "random", "bot3"], 90, limit=20_000)
    perfect, careless = report.grades["endgame:bot3?nodes=20000"], report.grades["random"]
    assert report.reached >= report.decided > 20
    assert report.decisions >= report.solved > 50
    assert min(perfect.critical, perfect.won) > 5
    assert (perfect.optimal.point, perfect.lost_wins.point) == (1.0, 0.0)
    assert min(careless.lost.point, careless.lost_wins.point) > 0.0
    assert set(report.as_json()["grades"]) == {"endgame:bot3?nodes=20000", "random", "bot3"}


def test_grades_of_one_run_are_to_the_last_digit_those_that_results_of_experiments_hold():
    grade = measure_endings(DURAK, ["thrifty", "random"], 100, variant="report", limit=20_000).grades["thrifty"]
    assert (grade.endings, grade.decisions, grade.unsolved, grade.critical) == (100, 487, 40, 51)
    assert (grade.optimal.point, grade.lost.point) == (0.8431372549019608, 0.08552631578947369)


def test_numbers_out_of_range_are_refused():
    for numbers in ({"games": 0}, {"last": 0}, {"worlds": 0}, {"limit": 0}):
        with pytest.raises(CardaiError, match="must be at least 1, not 0"):
            measure_endings(HEARTS, ["duck"] * 4, **({"games": 4, "last": 16} | numbers))
    with pytest.raises(CardaiError, match="hearts has no endings to solve"):
        measure_endings(HEARTS, ["duck"] * 4, 4)


def test_an_interrupted_run_gives_no_report(monkeypatch):
    def interrupted(*arguments, **options):
        results, places = play_rotated(*arguments, **options)
        return replace(results, interrupted=True), places

    monkeypatch.setattr("cardai.guests.exact.endings.play_rotated", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure_endings(HEARTS, ["duck"] * 4, 4, last=16)


def test_games_that_are_graded_are_played_once_in_each_rotation():
    found, turns, _ = play_games(pairs.GAME, ["high", "low"] * 2, 9, 3, "standard", None, None)
    assert (len(found), turns) == (10, 2)
    assert [game.lineup for game in found[:2]] == [(0, 1, 0, 1), (1, 0, 1, 0)]


def test_foreign_code_plays_no_graded_deal_twice():
    found, _, _ = play_games(DURAK, ["python:remembering:noting", "thrifty"], 20, 1, None, 1, None)
    assert len({game.seed for game in found}) == 20
    for game in found[:4]:  # the seeds are those of the games
        assert replay(DURAK, game)["turn"] < 0
