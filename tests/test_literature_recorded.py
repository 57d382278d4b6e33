"""Literature agrees with games recorded from another engine: what is legal, all answers, whose turn it is, who wins."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from cardai.games.literature import rules
from cardai.registry import load

GAME = load("literature")
RECORDED = Path(__file__).parent / "data/literature/recorded.jsonl.xz"
QUESTION, CLAIM = range(2)


def recorded():
    with lzma.open(RECORDED, "rt") as lines:
        return [json.loads(line) for line in lines]


def dealt(game):
    """Our state after the recorded deal, before anybody may claim."""
    state = GAME.new(4, 0, "article")
    state["hands"][:4] = game["hands"]
    state["mover"] = game["first"]
    state["window"] = state["turn"] = 0  # whoever is asked first for a claim
    return state


def move(kind, what, step):
    made = np.zeros(1, GAME.move)[0]
    made["kind"], made["what"], made["step"] = kind, what, step
    return made


def passed(state):
    """The state after every seat has said that it claims nothing."""
    while int(state["window"]) != -1:
        state = GAME.play(state, move(rules.NO_CLAIM, 0, 0))
    return state


def claimed(state, seat, half):
    """The state after a claim by a seat, and whether it was proven. Without proof it is played as in the variant table.

    4.1: when the other team has no cards, our closer makes the claim; there, any of the team does.
    """
    closer = int(state["closer"])
    if closer != -1:
        assert closer % 2 == seat % 2
        seat = closer
    while int(state["turn"]) != seat:
        state = GAME.play(state, move(rules.NO_CLAIM, 0, 0))
    claim = move(rules.CLAIM, half, 0)
    is_proven = bool((GAME.moves(state) == claim).any())
    state["proof"] = is_proven
    after = GAME.play(state, claim)
    after["proof"] = 1
    return after, is_proven


@pytest.mark.parametrize("number", range(62))
def test_a_recorded_game_is_one_of_ours(number):
    game = recorded()[number]
    state, proven = dealt(game), []
    for event in game["events"]:
        if event[0] == QUESTION:
            _, asker, asked, card, given, mover = event
            state = passed(state)
            assert int(state["turn"]) == asker
            ask = move(rules.ASK, card, (asked - asker) % 4)
            assert (GAME.moves(state) == ask).any()
            state = GAME.play(state, ask)
            assert int(state["answer"]) == given
        else:
            _, seat, half, right, mover = event
            state, is_proven = claimed(state, seat, half)
            proven.append(is_proven)
            owners = [team for team in range(3) if int(state["won"][team]) >> half & 1]
            assert owners == [seat % 2 if right else 1 - seat % 2]
            assert right or not is_proven
        if int(state["turn"]) != -1 and int(state["closer"]) == -1:
            assert int(passed(state)["mover"]) == mover
    assert int(state["asks"]) == game["asks"]
    assert proven.count(False) <= 2
    if not game["cut"]:
        assert int(state["turn"]) == -1
        ours = GAME.rules.score(state, 0)
        assert {1.0: "EVEN", 0.0: "ODD", 0.5: "NEITHER"}[float(np.ravel(ours)[0])] == game["result"]


def test_the_recording_is_all_there():
    games = recorded()
    events = [event for game in games for event in game["events"]]
    assert (len(games), sum(event[0] == QUESTION for event in events), len(events)) == (62, 5011, 5505)
