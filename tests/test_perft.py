"""Perft counts: of Tic-Tac-Toe, of Nim against compositions, and with chance."""

import pytest
from nim import deal_any_pile, lucky_turn, nim

from cardai import CardaiError, load
from cardai.measure.perft import perft

TICTACTOE = load("tictactoe")


def test_nim_perft_counts_compositions_into_one_two_and_three():
    assert perft(nim()) == perft_of_pile(10)


def step(paths):
    """The number of ways to each pile, one move later."""
    found = {}
    for pile, ways in paths.items():
        for k in range(1, min(3, pile) + 1):
            found[pile - k] = found.get(pile - k, 0) + ways
    return found


def perft_of_pile(pile):
    counts, paths = [], {pile: 1}
    while paths:
        counts.append(sum(paths.values()))
        paths = step(paths)
    return counts


def test_perft_to_a_depth_and_its_bounds():
    heard = []
    assert perft(TICTACTOE, 5, on_depth=lambda depth, count: heard.append((depth, count))) == [
        1,
        9,
        72,
        504,
        3024,
        15120,
    ]
    assert heard == [(1, 9), (2, 72), (3, 504), (4, 3024), (5, 15120)]
    assert perft(TICTACTOE, 0) == [1]
    assert perft(TICTACTOE, 11)[9:] == [127872, 0, 0]
    with pytest.raises(CardaiError, match="0 or more, not -1"):
        perft(TICTACTOE, -1)
    with pytest.raises(CardaiError, match="100000 at most, not"):
        perft(TICTACTOE, 10**20)
    with pytest.raises(CardaiError, match=r"moves deep would take about .* name a depth .*so far: 1, 9"):
        perft(TICTACTOE, seconds=1e-9)


def test_perft_draws_chance_from_the_stream_of_one_deal():
    lucky = nim(settle=lucky_turn)
    assert perft(lucky, 6, seed=3) == perft(lucky, 6, seed=3)
    dealt = nim(deal=deal_any_pile)
    assert {tuple(perft(dealt, seed=seed)) for seed in range(20)} == {tuple(perft_of_pile(n)) for n in range(5, 10)}
