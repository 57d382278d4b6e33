"""Perft counts: of Tic-Tac-Toe to a depth, what is refused, and with chance."""

import pytest

from cardai import CardaiError, load
from cardai.measure.perft import perft

TICTACTOE = load("tictactoe")


def test_perft_to_a_depth_and_its_bounds():
    assert perft(TICTACTOE, 5) == [1, 9, 72, 504, 3024, 15120]
    assert perft(TICTACTOE, 0) == [1]
    assert perft(TICTACTOE, 11)[9:] == [127872, 0, 0]
    with pytest.raises(CardaiError, match="at least 0, not -1"):
        perft(TICTACTOE, -1)
    with pytest.raises(CardaiError, match="at most 100000, not"):
        perft(TICTACTOE, 10**20)


def test_perft_draws_chance_from_the_stream_of_one_deal():
    counts = [perft(load("durak"), 3, seed=seed) for seed in (3, 3, 4)]
    assert counts[0] == counts[1] != counts[2]
