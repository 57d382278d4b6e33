"""The experiment on Literature: what it counts in a game, and whose games it counts."""

import numpy as np
import pytest
from literature_positions import GAME

from cardai.experiments import literature
from cardai.experiments.literature import ASKS, AT_ONCE, BACK, CUT, DECIDED, TIED, WON, played
from cardai.rules import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="plays whole games")


def game_of(texts, seed):
    """The moves of a game, in words, and the state after them; nobody claims in a window."""
    state, moves = GAME.new(4, seed, "article"), []
    for text in [*texts, None]:
        while int(state["window"]) != -1:
            moves.append(GAME.text.parse(state, "no claim"))
            state = GAME.play(state, moves[-1])
        if text is not None:
            moves.append(GAME.text.parse(state, text))
            state = GAME.play(state, moves[-1])
    return np.array(moves, GAME.move), state


def asks_of(state, kind):
    """The asks of the mover that are answered with yes (1) or no (0), in words."""
    moves = [move for move in GAME.moves(state) if int(move["kind"]) == 0]
    return [GAME.text.spell(state, move) for move in moves if int(GAME.play(state, move)["answer"]) == kind]


def test_a_card_asked_back_is_counted_and_no_other():
    """A seat gets a card, fails with the same opponent, and is asked for the card at once, or for another one."""
    for seed in range(200):
        _, state = game_of([], seed)
        for got in asks_of(state, 1):
            _, after = game_of([got], seed)
            failed = [text for text in asks_of(after, 0) if text.split()[1] == got.split()[1]]
            back = f"asks p{int(state['turn'])} for {got.split()[-1]}"
            for text in failed:
                _, last = game_of([got, text], seed)
                legal = [GAME.text.spell(last, move) for move in GAME.moves(last)]
                if back in legal:
                    other = next(text for text in legal if text != back)
                    assert literature.marks_of(GAME, seed, game_of([got, text, back], seed)[0]) == (1, 0)
                    assert literature.marks_of(GAME, seed, game_of([got, text, other], seed)[0]) == (0, 0)
                    return
    raise AssertionError("no such game")


def test_equal_teams_win_alike_and_shares_add_up():
    told = played(GAME, "plausible", "plausible", 60, 5)
    assert told[DECIDED]["point"] == pytest.approx(50)
    assert 2 * told[WON]["point"] + told[TIED]["point"] == pytest.approx(100)
    assert told[WON]["n"] == 60
    assert 60 < told[ASKS]["point"] < 110
    assert told[CUT]["point"] == 0


def test_figures_are_those_of_the_first_team():
    better, worse = played(GAME, "logic", "plausible", 60, 5), played(GAME, "plausible", "logic", 60, 5)
    assert better[DECIDED]["point"] > 90
    assert better[DECIDED]["point"] + worse[DECIDED]["point"] == pytest.approx(100)
    assert better[BACK]["point"] == pytest.approx(worse[BACK]["point"])
    assert better[BACK]["point"] > 1
    assert better[AT_ONCE]["point"] > 0
