"""A game's own loop plays the evenly random games that the driver plays, move for move, and reports what it reports."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError
from cardai.playing.agents.spec import evenly_random
from cardai.playing.table import evenly, many
from cardai.rules import JIT, rule

pytestmark = pytest.mark.skipif(not JIT, reason="plain Python has one loop")
LEDUC = str(Path(__file__).parent.parent / "examples" / "leduc")
TICTACTOE = cardai.load("tictactoe")


@pytest.fixture
def own_loop(monkeypatch):
    """Games get a loop of their own after the first call of the driver. The list has a line for each call of a loop."""
    calls, play = [], many._Table._play_evenly
    monkeypatch.setattr(evenly, "_owns", {})
    monkeypatch.setattr(evenly, "PAYS_TO_COMPILE", 1)
    monkeypatch.setattr(evenly, "FAST", 0.0)
    monkeypatch.setattr(many, "LOOP_BUDGET", 1000)
    monkeypatch.setattr(many._Table, "_play_evenly", lambda *args: calls.append(args[1:]) or play(*args))
    return calls


def played(game, games=500, **options):
    lineups = np.zeros((games, game.default_seats), np.int64)
    return cardai.play(game, [evenly_random(game)], lineups, range(games), **options)


def compare(name, own_loop, games=500):
    by_driver = played(cardai.load(name), games, tally=True, threads=1)
    assert not own_loop
    game = cardai.load(name)
    for threads in (1, 1, 2):
        begun = len(own_loop)
        by_loop = played(game, games, threads=threads)
        for column in ("scores", "plies", "finished", "endless"):
            assert (getattr(by_loop, column) == getattr(by_driver, column)).all()
        assert by_loop.decisions == by_driver.decisions
        played(game, 1)  # the first call of all is the driver's
        assert len(own_loop) > begun + 1


@pytest.mark.parametrize("name", ["tictactoe", LEDUC])
def test_the_own_loop_plays_the_same_games(name, own_loop):
    compare(name, own_loop)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["durak", "hearts", "literature", "moska"])
def test_the_own_loop_plays_the_same_games_of_all(name, own_loop):
    compare(name, own_loop, 50)


def test_the_own_loop_goes_on_where_the_driver_has_stopped(own_loop, monkeypatch):
    """In the middle of a game, after one slice of time."""
    by_driver = played(cardai.load("tictactoe"), 3000, tally=True)
    monkeypatch.setattr(many, "SLICE_SECONDS", 0.0)
    by_loop = played(TICTACTOE.changed(), 3000, threads=1)
    assert len(own_loop) > 2  # the driver has made 1000 decisions, which is not the end of a game
    assert (by_loop.scores == by_driver.scores).all()
    assert by_loop.decisions == by_driver.decisions


def test_the_own_loop_leaves_games_that_do_not_end(own_loop):
    game = TICTACTOE.changed(max_plies=6)
    assert played(game).endless.sum() > 300
    results = played(game)
    assert own_loop
    assert results.endless.sum() == played(game, tally=True).endless.sum()
    assert (results.finished ^ results.endless).all()


def test_a_busy_machine_plays_with_the_same_loop(own_loop, monkeypatch):
    """Whether a loop pays is seen from the time of processors, not from the clock, which may be that of others."""
    monkeypatch.setattr(evenly, "FAST", 1.0)
    monkeypatch.setattr(many.time, "perf_counter", itertools.count(0.0, 1e9).__next__)
    played(TICTACTOE.changed())
    assert own_loop


@pytest.mark.parametrize("more", ["record", "checked", "tally", "another agent", "a game for that it is too early"])
def test_the_driver_plays_what_the_own_loop_cannot(more, own_loop, monkeypatch):
    game = TICTACTOE.changed()
    if more == "another agent":
        lineups, agents = np.tile([0, 1], (50, 1)), [evenly_random(game), cardai.agent(game, "greedy:open_lines")]
        for _ in range(2):
            cardai.play(game, agents, lineups, range(50))
    elif more.startswith("a game"):
        monkeypatch.setattr(evenly, "PAYS_TO_COMPILE", 10**6)
        played(game)
        played(game)
    else:
        played(game, **{more: True})
        played(game, **{more: True})
    assert not own_loop


@rule
def lists_nothing_later(state, moves):
    moves[0].cell = 4 if state.ply == 0 else 0
    return 1 if state.ply < 2 else 0


@rule
def lists_too_many(state, moves):
    for cell in range(9):
        moves[cell].cell = cell
    return 9 if state.ply < 2 else 300


@rule
def raises_later(state):
    state.turn = 1 // (1 - state.ply // 3)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"legal": lists_nothing_later}, r"tictactoe, game seed \d+, ply 2: seat 0 is to move and has no legal move"),
        ({"legal": lists_too_many}, r"tictactoe, game seed \d+, ply 2: .*the rule legal says that it wrote 300 moves"),
        ({"settle": raises_later}, r"tictactoe: a rule raised ZeroDivisionError"),
    ],
)
def test_the_own_loop_says_what_is_wrong_with_a_rule(rules, words, own_loop):
    game = TICTACTOE.changed(max_plies=2, **rules)
    played(game, 1)
    longer = game.changed(max_plies=9)
    evenly._owns[longer] = evenly._owns[game]
    with pytest.raises(CardaiError, match=words):
        played(longer)
    assert own_loop
