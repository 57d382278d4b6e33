"""`cardai.policy`: a function of rows and masks plays, many decisions at once."""

from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.errors import CardaiError
from cardai.guests.exact.exploitability import exploitability
from cardai.guests.exact.tree import GameTree

GAME = cardai.load("tictactoe")
KUHN = cardai.load(str(Path(__file__).parent.parent / "examples" / "kuhn"))


def lowest(rows, masks):
    return masks.argmax(axis=1)


def evenly(rows, masks):
    return masks / masks.sum(axis=1, keepdims=True)


def scores(first, second, games=60, seed=3):
    lineups = np.tile([0, 1], (games, 1))
    return cardai.play(GAME, [first, second], lineups, np.arange(seed, seed + games, dtype=np.uint64), threads=1)


def test_it_plays_the_actions_that_the_function_names_in_few_calls():
    calls = []

    def counted(rows, masks):
        assert rows.dtype == np.uint8
        assert rows.shape == (len(masks), 27)
        assert masks.dtype == bool
        assert (masks.sum(axis=1) > 1).all()
        calls.append(len(rows))
        return lowest(rows, masks)

    mine = cardai.policy(GAME, counted, name="lowest")
    one_by_one = cardai.player(lambda game, world: game.moves(world)[0])  # pyright: ignore[reportArgumentType]
    ours, theirs = scores(mine, cardai.agent(GAME, "random")), scores(one_by_one, cardai.agent(GAME, "random"))
    assert np.array_equal(ours.scores, theirs.scores)
    assert sum(calls) > 100
    assert len(calls) < 20
    assert str(mine)
    assert mine.spec == "lowest"
    report = cardai.match(GAME, [mine, "random"], games=20)
    assert "lowest" in str(report)


def test_chances_are_drawn_from_and_the_same_games_come_again():
    def corner(rows, masks):
        return np.where(masks, np.arange(9) == 0, 0) + np.where(masks[:, :1], 0.0, evenly(rows, masks))

    mine, other = cardai.policy(GAME, evenly), cardai.agent(GAME, "random")
    first, again = scores(mine, other, 400), scores(mine, other, 400)
    assert np.array_equal(first.scores, again.scores)
    assert 0.5 < first.scores[:, 0].mean() < 0.75  # 0.649 for evenly random players
    games = cardai.play(GAME, [cardai.policy(GAME, corner), other], np.tile([0, 1], (50, 1)),
                        np.arange(50, dtype=np.uint64), record=True)  # fmt: skip
    assert {int(moves[0]["cell"]) for moves in games.moves if moves is not None} == {0}


def test_its_chances_are_known_to_exact_measures():
    tree = GameTree.of(KUHN)
    mine, random = (exploitability(tree, player) for player in (cardai.policy(KUHN, evenly), "random"))
    assert mine.as_json()["nash_conv"] == pytest.approx(random.as_json()["nash_conv"])


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda rows, masks: np.full(len(rows), 9), r"<lambda> returned the action 9, which is illegal; legal are \["),
        (lambda rows, masks: np.zeros(len(rows)), r"<lambda> returned float64\[.*\], not actions, whole numbers \["),
        (lambda rows, masks: masks * np.nan, "must return chances that are finite, at least 0"),
        (lambda rows, masks: np.ones(masks.shape), "0 for illegal actions"),
        (lambda rows, masks: np.zeros(masks.shape), "the chance 0"),
    ],
)
def test_an_answer_of_another_kind_is_named(function, said):
    with pytest.raises(CardaiError, match=said):
        scores(cardai.policy(GAME, function), cardai.agent(GAME, "random"))


def test_what_it_cannot_be_made_of_or_play_is_refused():
    with pytest.raises(CardaiError, match="must be a function"):
        cardai.policy(GAME, 3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(CardaiError, match="no encoder 'none'"):
        cardai.policy(GAME, lowest, encoder="none")
    with pytest.raises(CardaiError, match="lowest is a policy for tictactoe, not for kuhn"):
        cardai.match(KUHN, [cardai.policy(GAME, lowest), "random"], games=2)
    moska = cardai.load("moska")
    if not moska.learning.actions:
        with pytest.raises(CardaiError, match="moska does not number its moves"):
            cardai.policy(moska, lowest)
