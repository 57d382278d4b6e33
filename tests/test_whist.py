"""Mini-Whist, the worked example of docs/dealing.md, plays by its rules and keeps every law."""

import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import cardai
from cardai.cli import keyboard
from cardai.laws import check
from cardai.rules import rule
from cardai.rules.cards import Deck

GAME = cardai.load(str(Path(__file__).parent.parent / "examples/whist"))
DECK = Deck(ranks="9TJQKA")


def position(*hands, trump="C", **fields):
    """A position in which seat 0 leads; cards that are not named have been played."""
    state = GAME.new(len(hands), seed=1)
    state.hands[: len(hands)] = [DECK.cards(hand) for hand in hands]
    state.known[:] = 0
    state.trump = DECK.suits.index(trump)
    state.played = (1 << 24) - 1 & ~int(np.bitwise_or.reduce(state.hands))
    for name, value in fields.items():
        state[name][: len(value)] = value
    return state


def play(state, *cards):
    for card in cards:
        state = GAME.play(state, GAME.text.parse(state, card))
    return state


def legal(state):
    return " ".join(GAME.text.spell(state, move) for move in GAME.moves(state))


def test_every_law_holds():
    assert [verdict for verdict in check(GAME, seed=1, effort="quick") if verdict.verdict == "broken"] == []


@pytest.mark.parametrize("seats", [3, 4])
def test_1_all_cards_are_dealt_and_a_card_of_the_dealer_is_shown(seats):
    for seed in range(50):
        state = GAME.new(seats, seed)
        assert [int(hand).bit_count() for hand in state.hands[:seats]] == [24 // seats] * seats
        assert np.bitwise_or.reduce(state.hands) == (1 << 24) - 1
        (shown,) = DECK.listed(int(state.known[seats - 1]))
        assert int(state.hands[seats - 1]) >> shown & 1
        assert (int(state.trump), int(state.turn)) == (shown & 3, 0)


def test_2_1_a_seat_follows_suit_if_it_can():
    state = position("9S AH", "TS AD QC", "9H JH")
    assert legal(play(state, "9S")) == "TS"
    assert legal(play(state, "9S", "TS")) == "9H JH"


@pytest.mark.parametrize(
    ("cards", "taker"),
    [("9S TS AH", 1), ("TS 9S AH", 0), ("AS KS 9C", 2), ("9S TC 9C", 1), ("9C AS AH", 0)],
)
def test_2_2_the_highest_trump_or_the_highest_card_of_the_suit_led_takes_the_trick(cards, taker):
    rest = ("KD", "QD", "JD")
    state = play(position(*[f"{card} {more}" for card, more in zip(cards.split(), rest, strict=True)]), *cards.split())
    assert (int(state.turn), int(state.leader)) == (taker, taker)
    assert state.tricks.tolist()[:3] == [int(seat == taker) for seat in range(3)]


def test_3_1_scores_are_shares_of_the_tricks():
    state = position("AS", "9S", "TS", tricks=[1, 2, 4])
    assert GAME.points(play(state, "AS", "9S", "TS")).tolist() == [2 / 8, 2 / 8, 4 / 8]


def test_4_3_who_does_not_follow_suit_lacks_it_and_4_4_who_follows_tells_nothing():
    state = play(position("9S AH", "TS AD", "9H JH"), "9S", "TS", "9H")
    assert [DECK.names(int(lack)) for lack in state.lacks[:3]] == ["", "", "9S TS JS QS KS AS"]
    assert "has no S" in GAME.text.show(state, 0)


def test_4_worlds_are_all_deals_that_agree_with_what_is_known_and_as_likely():
    """Seat 1 has no spades, seat 2 no hearts, and holds the king of diamonds: enumerated by trying all orders."""
    state = position(
        "9S AH TD", "9H JH QD", "KD KS AS", lacks=[0, DECK.cards("9S TS JS QS KS AS"), DECK.cards("9H TH JH QH KH AH")]
    )
    state.hands[1], state.hands[2] = DECK.cards("9H QD JD 9C"), DECK.cards("KD TC AS JC")
    state.known[2] = DECK.cards("KD")
    hidden = DECK.listed(DECK.cards("9H QD JD 9C TC AS JC"))
    wanted = {
        (sum(1 << card for card in order[:4]), sum(1 << card for card in order[4:]) | int(state.known[2]))
        for order in permutations(hidden)
        if not any(card & 3 == 3 for card in order[:4]) and not any(card & 3 == 2 for card in order[4:])
    }
    assert len(wanted) == 10
    counts = dict.fromkeys(wanted, 0)
    for seed in range(4000):
        world = GAME.world(state, 0, seed)
        counts[int(world.hands[1]), int(world.hands[2])] += 1
    assert stats.chisquare(list(counts.values())).pvalue > 1e-6


honest = GAME.rules.resample


@rule
def resample_without_lacks(state, seat, stream):
    """Forgets who could not follow suit."""
    lacks = state.lacks.copy()
    state.lacks[:] = 0
    honest(state, seat, stream)
    state.lacks[:] = lacks


def test_4_3_worlds_that_forget_who_could_not_follow_suit_break_a_law():
    law = "what_every_outcome_shares_is_known"
    (verdict,) = check(GAME.changed(resample=resample_without_lacks), laws=[law], effort="quick", seconds=math.inf)
    assert "state.hands" in verdict.why


def test_it_can_be_played_at_the_keyboard(tmp_path):
    script = tmp_path / "moves.txt"
    script.write_text("1\n" * 6)
    scores = keyboard.play(GAME, ["human", *["thrifty"] * 3], script=script, seed=3)
    assert scores is not None
    assert scores.sum() == pytest.approx(1.0)
