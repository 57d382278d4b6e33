"""An agent asked in worlds that somebody else holds plays as it would at the table."""

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.agents.strategy import OfFunction
from cardai.playing.table.asking import moves_in
from cardai.rules import JIT

MOSKA, TICTACTOE = cardai.load("moska"), cardai.load("tictactoe")


def positions(game, seats, count):
    """A position after a few random moves of each of some games."""
    stream, found = np.random.default_rng(1), []
    for seed in range(count):
        state = game.new(seats, seed)
        for _ in range(int(stream.integers(0, 5))):
            moves = game.moves(state)
            state = game.play(state, moves[stream.integers(len(moves))])
        found.append(state)
    return np.array(found, game.state)


@pytest.mark.parametrize(
    "spec", ["random", "bot3", "greedy:hand_value", "sampled:hand_value?worlds=5", "rollout:2", "greedy:best"]
)
def test_every_kind_of_agent_plays_legal_moves_that_the_worlds_decide(spec):
    if not JIT and spec == "greedy:best":
        pytest.skip("slow in plain Python")
    states = positions(MOSKA, 4, 30 if JIT else 2)
    player = agent(MOSKA, spec)
    moves = moves_in(MOSKA, player, states)
    for state, move in zip(states, moves, strict=True):
        assert MOSKA.rules.is_legal(state, move)
    backwards = moves_in(MOSKA, player, states[::-1])
    assert np.array_equal(moves, backwards[::-1])
    if spec == "random":
        others = states.copy()
        others["rng"] += np.uint64(1)
        assert not np.array_equal(moves_in(MOSKA, player, others), moves)


def test_a_function_is_asked_as_it_is():
    states = positions(TICTACTOE, 2, 5)
    firsts = np.array([TICTACTOE.moves(state)[0] for state in states])
    player = Agent("mine", OfFunction(lambda game, worlds: firsts))
    assert np.array_equal(moves_in(TICTACTOE, player, states), firsts)


def test_parameters_drawn_for_each_game_are_refused():
    with pytest.raises(CardaiError, match="draws its parameters anew"):
        moves_in(MOSKA, agent(MOSKA, "bot3?randomised"), positions(MOSKA, 4, 1))
