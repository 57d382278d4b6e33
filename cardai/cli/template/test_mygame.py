"""My Game plays by its rules. Tests are named after what must be true, and quote the rule number.

The first part is true of any rules: keep it. `TestSampleGame` tests the rules that this file came with: replace it, as
soon as you replace them, with a test for each of your rules that could be written wrongly.
"""

from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.laws import check

GAME = cardai.load(Path(__file__).parent.as_posix())


def test_every_law_holds():
    assert [verdict for verdict in check(GAME) if verdict.verdict == "broken" or verdict.cause == "field"] == []


@pytest.mark.parametrize("seats", GAME.seats)
@pytest.mark.parametrize("variant", GAME.variants)
def test_games_are_played_to_their_end(variant, seats):
    results = cardai.play(
        GAME, [cardai.agent(GAME, "random")], np.zeros((20, seats), int), np.arange(20), variant=variant
    )
    assert results.finished.all()


@pytest.mark.parametrize("name", GAME.agents.players)
def test_every_player_written_by_hand_plays(name):
    assert cardai.match(GAME, [name] * GAME.default_seats, games=4).endless == 0


class TestSampleGame:
    """The rules of the sample: replace these tests with those of your rules."""

    def test_who_swaps_a_card_draws_another(self):  # 2.1
        before = GAME.new(seats=2, seed=1)
        swap = GAME.moves(before)[1]
        after = GAME.play(before, swap)
        gone = 1 << int(swap["card"])
        assert after["discards"] == gone
        assert not after["hands"][0] & gone
        assert int(after["hands"][0]).bit_count() == 3

    def test_a_card_of_another_hand_may_not_be_swapped(self):  # 2.1
        state = GAME.new(seats=2, seed=1)
        move = np.zeros(1, GAME.move)[0]
        move["kind"] = 1
        move["card"] = int(state["hands"][1]).bit_length() - 1
        with pytest.raises(cardai.IllegalMove):
            GAME.play(state, move)
