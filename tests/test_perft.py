"""Perft counts: of Tic-Tac-Toe to a depth, what is refused, and with chance."""

import pytest

from cardai import CardaiError, load
from cardai.measure.perft import perft

TICTACTOE = load("tictactoe")


def test_perft_to_a_depth_and_its_bounds():
    heard = []
    counts = [1, 9, 72, 504, 3024, 15120]
    assert perft(TICTACTOE, 5, on_depth=lambda depth, count: heard.append((depth, count))) == counts
    assert heard == [*enumerate(counts)][1:]
    assert perft(TICTACTOE, 0) == [1]
    assert perft(TICTACTOE, 11)[9:] == [127872, 0, 0]
    with pytest.raises(CardaiError, match="0 or more, not -1"):
        perft(TICTACTOE, -1)
    with pytest.raises(CardaiError, match="100000 at most, not"):
        perft(TICTACTOE, 10**20)
    with pytest.raises(CardaiError, match=r"moves deep would take about .* name a depth .*so far: 1, 9"):
        perft(TICTACTOE, seconds=1e-9)


def test_perft_draws_chance_from_the_stream_of_one_deal():
    counts = [perft(load("durak"), 3, seed=seed) for seed in (3, 3, 4)]
    assert counts[0] == counts[1] != counts[2]
