"""Claims of the sources that counting answers: in seeded games, or by arithmetic."""

import math

import numpy as np

import cardai
from cardai.agents.spec import agent
from cardai.cards import single
from cardai.games.hearts.rules import penalty
from cardai.table.many import play

QUEEN = 13
"""The points of the queen of spades; a trick without her has four at most, one for each heart."""


def rounds_of(spec, games):
    """Rounds of Hearts by the paper's rules: {seed: (points of the seats, points of each trick)}; none with a moon."""
    game, seeds = cardai.load("hearts"), np.arange(games, dtype=np.uint64)
    line_ups = np.zeros((games, 4), np.int64)
    played = play(game, [agent(game, spec)], line_ups, seeds, variant="paper", record=True, outcomes=("points",))
    found = {}
    for seed, moves in zip(seeds, played.moves, strict=True):
        state, tricks, before = game.new(seed=int(seed), variant="paper"), [], 0
        for move in moves:
            state = game.play(state, move)
            taken = sum(penalty(int(cards)) for cards in state.taken)
            if int(state.tricks.sum()) > len(tricks):
                tricks.append(taken - before)
                before = taken
        points = [penalty(int(cards)) for cards in state.taken]
        assert sum(tricks) == sum(points) == 26
        if max(points) < 26:
            found[int(seed)] = points, tricks
    return found


def test_a_player_of_hearts_takes_at_most_13_points_in_most_rounds_and_4_in_most_tricks():
    """Demirdöver and others 2022, section 4.2: "mostly", here three quarters of rounds without a moon."""
    for spec in ("careful", "random"):
        rounds = rounds_of(spec, 200)
        points = np.array([each for points, _ in rounds.values() for each in points])
        tricks = np.array([each for _, tricks in rounds.values() for each in tricks])
        print(spec, len(rounds), np.mean(points <= QUEEN), np.mean(tricks <= 4))
        assert np.mean(points <= QUEEN) > 0.75
        assert np.mean(tricks <= 4) > 0.9


def test_whoever_draws_the_last_card_of_moska_need_not_have_the_trump_card():
    """README of the thesis' program, Appendix 1: "guaranteed". The target may turn it up, and kill with it."""
    game, held, total = cardai.load("moska"), 0, 0
    players = [agent(game, "bot3")]
    line_ups, seeds = np.zeros((100, 4), np.int64), np.arange(100, dtype=np.uint64)
    for seed, moves in zip(seeds, play(game, players, line_ups, seeds, record=True).moves, strict=True):
        state = game.new(seats=4, seed=int(seed))
        for move in moves:
            state = game.play(state, move)
            if not state.deck_left:
                break
        trump = single(int(state.trump_card))
        held += any(int(hand) & trump for hand in state.hands)
        total += not state.deck_left
    print(held, total)
    assert 0 < held < total


def test_durak_has_too_many_states_to_store_a_value_for_each():
    """Student report, Approach and Methods. Of a hand and a trump suit alone there are far more than memory holds."""
    hands = sum(math.comb(36, cards) for cards in range(37))
    assert 4 * hands * 8 > 10**12  # bytes of a number for each
