"""Search in trees of information sets: `ismcts:N` and `epimc:N`."""

import os
import subprocess
import sys

import numpy as np
import pytest
from guess import GAME as GUESS
from test_search import Exact, same_in_other_worlds, states_of

import cardai
from cardai.errors import CardaiError
from cardai.playing.agents.spec import agent
from cardai.playing.agents.strategy import OnePly, TreeSearch
from cardai.playing.table.asking import ask
from cardai.registry import load

MOSKA, DURAK, HEARTS, TTT = load("moska"), load("durak"), load("hearts"), load("tictactoe")


def lets_guess(variant: str, spec: str) -> bool:
    """Whether seat 0 lets the coin be guessed instead of taking the sure share."""
    state = GUESS.new(2, 5, variant)
    streams = np.zeros(1, cardai.rules.STREAM)
    return bool(ask(GUESS, agent(GUESS, spec), np.array([state], GUESS.state), streams)[0]["says"])


@pytest.mark.parametrize(
    ("spec", "is_fooled"),
    [
        ("rollout:200?by=knowing", True),  # each world is played on by somebody who sees the coin: worth 1
        ("epimc:200?depth=1&by=knowing", True),  # the same
        ("epimc:200?depth=2&by=knowing", False),  # one guess in all worlds that look the same: worth 1/2
        ("ismcts:400?by=knowing", False),
        ("ismcts:400?by=knowing&single", False),
    ],
)
def test_a_tree_of_information_sets_does_not_count_on_what_it_will_not_know(spec, is_fooled):
    assert lets_guess("own", spec) == is_fooled


@pytest.mark.parametrize(
    ("spec", "is_fooled"),
    [
        ("ismcts:400?by=random", False),  # seat 1 chooses by what it sees: worth nothing
        ("ismcts:400?by=random&single", True),  # seat 1 chooses by what seat 0 sees: worth 1/2
        ("epimc:200?depth=2&by=random", False),
    ],
)
def test_with_several_observers_others_use_what_they_know(spec, is_fooled):
    assert lets_guess("other", spec) == is_fooled


def test_ismcts_holds_tic_tac_toe_against_perfect_play():
    report = cardai.match(TTT, ["ismcts:2000", "endgame:random"], games=20, seed=1)
    assert report.rows[0].score.point >= 47.5  # of the 50 of draws alone


def test_epimc_whose_tree_holds_the_whole_game_plays_perfectly():
    """From its third move on: what follows has at most 720 lines."""
    perfect, deep = agent(TTT, "endgame:random"), agent(TTT, "epimc:1?depth=8")
    for seed in range(30):
        states, luck = np.array([TTT.new(2)], TTT.state), np.random.default_rng(seed)
        for _ in range(3):
            states[0] = TTT.play(states[0], luck.choice(TTT.moves(states[0])))
        scores = []
        for first in (deep, perfect):
            state, player = states.copy(), first
            while state["turn"][0] >= 0:
                state[0] = TTT.play(state[0], ask(TTT, player, state, np.full(1, seed, cardai.rules.STREAM))[0])
                player = perfect
            scores.append(TTT.points(state[0])[int(states["turn"][0])])
        assert scores[0] == scores[1]


@pytest.mark.parametrize(
    "spec", ["ismcts:40", "ismcts:40?single", "epimc:4", "epimc:3?depth=3", "ismcts:30?judge=JUDGE"]
)
@pytest.mark.parametrize("game", [MOSKA, DURAK, HEARTS], ids=["moska", "durak", "hearts"])
def test_it_plays_the_same_in_every_world_of_its_seat(game, spec):
    spec = spec.replace("JUDGE", "podkidnoy4" if game is DURAK else "best")
    states = states_of(game, 4, 24)
    assert same_in_other_worlds(game, agent(game, spec), states) == len(states) > 8


@pytest.mark.parametrize("depth", [1, 2])
def test_a_level_that_has_no_room_is_played_on_with_known_hands(depth):
    """Moska's longest lists have hundreds of moves: two choices in many worlds do not fit."""
    state = max(states_of(MOSKA, 4, 60), key=lambda one: len(MOSKA.moves(one)))
    streams = np.zeros(1, cardai.rules.STREAM)
    move = ask(MOSKA, agent(MOSKA, f"epimc:3000?depth={depth}&by=random"), np.array([state], MOSKA.state), streams)[0]
    assert any((move == one).all() for one in MOSKA.moves(state))


def test_with_few_iterations_a_judge_says_which_moves_are_tried():
    """Moska has up to hundreds of moves: each tried once, by chance, five iterations know nothing."""
    found = cardai.match(MOSKA, ["ismcts:5?judge=best", "bot3", "bot3", "bot3"], 100, seed=2, variant="thesis")
    assert found.rows[0].loss.high < 25


def test_a_judge_of_two_seats_searches_a_tree_in_a_game_for_more():
    players = [agent(DURAK, spec) for spec in ("ismcts:3?judge=report2", "epimc:1?judge=report2")]
    assert [player.fits(DURAK, "report", 2) for player in players] == [True, True]
    assert [player.fits(DURAK, "report", 4) for player in players] == [False, False]


def test_the_first_move_that_ismcts_tries_by_a_judge_is_the_one_that_the_judge_likes_best():
    """One iteration: all moves have a first value, and the best one is tried a second time."""
    states = np.array(states_of(MOSKA, 4, 24), MOSKA.state)
    streams = np.zeros(len(states), cardai.rules.STREAM)
    found = ask(MOSKA, agent(MOSKA, "ismcts:1?judge=best&bonus=0"), states, streams)
    greedy = ask(MOSKA, agent(MOSKA, "greedy:best"), states, streams)
    assert np.array_equal(found, greedy)


def test_more_thought_is_better_in_durak():
    report = cardai.match(DURAK, ["ismcts:200", "ismcts:3"], games=100, seed=2)
    assert report.rows[0].score.low > 50


SCRIPT = """
import numpy as np, cardai
from cardai.playing.table.many import play
for name in ("tictactoe", "examples/leduc"):
    game, seats = cardai.load(name), 2
    for spec in ("ismcts:12", "ismcts:12?single", "epimc:2?depth=2", "epimc:2?depth=3"):
        agents = [cardai.agent(game, spec), *[cardai.agent(game, "random")] * (seats - 1)]
        results = play(game, agents, np.arange(seats)[None], np.array([4], np.uint64), threads=1, record=True)
        print(spec, results.moves[0][:12].tolist())
"""


def test_plain_python_plays_as_compiled_code():
    command = [sys.executable, "-c", SCRIPT]
    found = [
        subprocess.run(command, env=os.environ | {"CARDAI_JIT": jit}, capture_output=True, text=True, check=True).stdout
        for jit in "01"
    ]
    assert found[0] == found[1]
    assert found[0].count("\n") == 8


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("ismcts", "is not the number of worlds, as in ismcts:100"),
        ("epimc:10?depth=9", "depth must be from 0 to 8"),
        ("epimc:10?depth=0", "is not a number of choices"),
        ("epimc:10?single", "takes no option 'single'"),
        ("ismcts:10?depth=2", "takes no option 'depth'"),
        ("ismcts:10?by=rollout:3", "cannot play worlds on"),
        ("ismcts:10?by=bot3&judge=best", "judge and by exclude each other"),
        ("ismcts:10?judge=hand_value", "only a network judges for all seats on one scale"),
        ("ismcts:10?bonus=-1", "is not a number of at least 0"),
    ],
)
def test_what_it_cannot_do_is_said_in_a_sentence(spec, words):
    with pytest.raises(CardaiError, match=words.replace("?", r"\?")):
        agent(MOSKA, spec)


def test_an_evaluator_that_is_asked_outside_compiled_code_is_refused():
    with pytest.raises(CardaiError, match="compiled code only"):
        TreeSearch(OnePly(Exact(MOSKA, 4, asks=True)), 10).check_fits(MOSKA, None, 4)
