"""Kuhn and Leduc poker: they keep all laws, and Leduc pays what its rules say."""

from pathlib import Path

import pytest

import cardai
from cardai.laws import check

EXAMPLES = Path(__file__).parent.parent / "examples"
KUHN, LEDUC = (cardai.load(str(EXAMPLES / name)) for name in ("kuhn", "leduc"))


@pytest.mark.parametrize("game", [KUHN, LEDUC], ids=lambda game: game.name)
def test_the_examples_keep_all_laws(game):
    assert [verdict for verdict in check(game, effort="quick") if verdict.verdict == "broken"] == []


@pytest.mark.parametrize("hands", [(0, 1), (4, 2)])
def test_leduc_pays_what_its_rules_say(hands):
    def play(*words, middle=None):
        state = LEDUC.new()
        state.hands[:] = hands
        for word in words:
            before = int(state.middle)
            state = LEDUC.play(state, LEDUC.text.parse(state, word))
            if middle is not None and int(state.middle) != before:
                state.middle = middle
        return LEDUC.outcome(state, "chips").tolist()

    rich = ("raise", "raise", "call", "raise", "raise", "call")
    assert play("raise", "fold") == [1, -1]
    assert play("call", "raise", "raise", "fold") == [3, -3]
    if hands == (0, 1):  # two jacks
        assert play(*rich, middle=3) == [0, 0]
    else:  # king against queen
        assert play(*rich, middle=0) == [13, -13]
        assert play(*rich, middle=3) == [-13, 13]
        assert play("call", "call", "call", "call", middle=5) == [1, -1]
