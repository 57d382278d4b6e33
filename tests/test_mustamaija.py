"""Musta Maija plays by its rules, keeps every law, and is less complex than Moska. Tests name the rules of RULES.md."""

from pathlib import Path

import numpy as np
import pytest

import cardai
from cardai.laws import check
from cardai.measure.complexity import measure
from cardai.playing.table.many import play
from cardai.rules import JIT
from cardai.rules.cards import DECK52

GAME = cardai.load(str(Path(__file__).parent.parent / "examples/mustamaija"))
DIAMONDS = 1
ALL = (1 << 52) - 1
MAIJA = 1 << DECK52.card("QS")


def position(*hands, stock="", bottom="", bouts=200):
    """A position in which seat 0 attacks and diamonds are trumps; cards that are not named have left the game."""
    state = GAME.new(len(hands), seed=1)
    state.hands[: len(hands)] = [DECK52.cards(hand) for hand in hands]
    state.known[:] = 0
    state.stock, state.bottom, state.trump = DECK52.cards(stock), DECK52.cards(bottom), DIAMONDS
    state.gone = ALL & ~int(np.bitwise_or.reduce(state.hands) | state.stock | state.bottom)
    state.bouts_left = bouts
    return state


def moves(state):
    return [GAME.text.spell(state, move) for move in GAME.moves(state)]


def after(state, *texts):
    for text in texts:
        state = GAME.play(state, GAME.text.parse(state, text))
    return state


def hand(state, seat):
    return DECK52.names(state.hands[seat])


@pytest.mark.parametrize("seats", range(2, 7))
def test_1_five_cards_each_and_a_trump_that_is_no_spade(seats):
    for seed in range(50):
        state = GAME.new(seats, seed)
        assert [int(cards).bit_count() for cards in state.hands[:seats]] == [5] * seats
        (turned,) = DECK52.listed(int(state.bottom))
        assert turned % 4 == state.trump != 3
        assert int(np.bitwise_or.reduce(state.hands)) | int(state.stock | state.bottom) == ALL
        assert (int(state.turn), int(state.attacker), int(state.defender)) == (0, 0, 1)


def test_2_1_cards_of_one_suit_at_most_as_many_as_the_defender_has():
    state = position("2C 4C 9C 3H", "5H 7S", "2S QS")
    assert moves(state) == ["lays 2C", "lays 3H", "lays 4C", "lays 9C"]
    state = after(state, "lay 4C")
    assert moves(state) == [
        "lays 9C",
        "no more",
    ]  # from the lowest to the highest, so that each attack is one way of play
    assert after(state, "no more").turn == 1
    assert after(position("2C 4C 9C", "5H 7S", "QS"), "lay 2C", "lay 4C").turn == 1  # the defender has two
    assert after(position("4C 3H", "5H 7S", "QS"), "lay 4C").turn == 0  # nobody learns that no club is left
    assert after(position("4C", "5H 7S", "QS"), "lay 4C").turn == 1


def test_2_2_the_attacker_draws_before_the_defender_answers():
    state = after(
        position("2C 4C 9C 3H 5H", "6H 7S 8S 9S QS", stock="TC JC", bottom="2D"), "lay 2C", "lay 4C", "lay 9C"
    )
    state = after(state, "no more")
    assert hand(state, 0) == "2D 3H 5H TC JC"
    assert state.known[0] == DECK52.cards("2D")  # 4.1: the turned-up card is drawn last
    assert (int(state.stock), int(state.bottom), int(state.turn)) == (0, 0, 1)


def test_2_3_2_4_a_card_is_beaten_by_a_higher_one_or_a_trump_and_maija_by_none():
    state = after(position("8S QS 2H", "7S 9S AS 3D AH", "2S"), "lay 8S", "lay QS", "no more")
    assert moves(state) == ["beats 8S with 3D", "beats 8S with 9S", "beats 8S with AS", "leaves 8S"]
    state = after(state, "beat 8S with 9S")
    assert moves(state) == ["leaves QS"]
    assert moves(after(position("8S 2H", "QS 7S", "2S"), "lays 8S", "no more")) == ["leaves 8S"]  # nor does it beat one
    state = after(position("5D 2H", "QS 4D 6D KS", "2S"), "lay 5D", "no more")
    assert moves(state) == ["beats 5D with 6D", "leaves 5D"]  # a trump is beaten by higher ones only


def test_2_5_2_6_what_is_left_is_taken_and_who_beats_all_attacks_next():
    state = after(position("4C 9C 2H", "5C QS 3S", "2S 3H"), "lay 4C", "lay 9C", "no more")
    some = after(state, "beat 4C with 5C", "leave 9C")
    assert hand(some, 1) == "3S 9C QS"
    assert some.known[1] == DECK52.cards("9C")  # 4.1
    assert int(some.gone) & DECK52.cards("4C 5C 9C") == DECK52.cards("4C 5C")
    assert (int(some.attacker), int(some.defender), int(some.turn)) == (2, 0, 2)
    all_beaten = after(position("4C 2H", "5C QS 3S", "2S 3H"), "lay 4C", "no more", "beat 4C with 5C")
    assert (int(all_beaten.attacker), int(all_beaten.defender), int(all_beaten.turn)) == (1, 2, 1)


def test_2_5_the_defender_draws_up_after_the_bout():
    state = position("4C 2H", "5C QS 3S 4S 6S", stock="7H 8H 9H TH", bottom="2D")
    state = after(state, "lay 4C", "no more", "beat 4C with 5C")
    assert [int(cards).bit_count() for cards in state.hands[:2]] == [5, 5]
    assert int(state.stock | state.bottom) == 0
    state = after(position("4C 2H", "5C QS 3S 4S 6S", stock="7H 8H 9H TH KH", bottom="2D"), "lay 4C", "no more")
    assert int(state.hands[1]).bit_count() == 5  # and not before it


def test_3_who_has_no_cards_is_out_and_the_last_one_has_lost():
    state = after(position("4C", "5C", "QS 2H", "8H"), "lay 4C", "beat 4C with 5C")
    assert (int(state.attacker), int(state.defender)) == (2, 3)  # p0 and p1 are out
    state = after(state, "lay 2H", "beat 2H with 8H")
    assert int(state.turn) == -1
    assert GAME.points(state).tolist() == [1, 1, 0, 1]
    assert GAME.text.ending(state) == "p2 is left with Maija."


def test_3_3_3_4_after_the_last_bout_all_with_cards_share_the_loss():
    state = after(position("4C 2H", "5C", "QS", bouts=1), "lay 4C", "beat 4C with 5C")
    assert int(state.turn) == -1
    assert GAME.points(state).tolist() == [0.5, 1, 0.5]
    assert GAME.text.ending(state) == "p0, p2 have lost together."


@pytest.mark.skipif(not JIT, reason="plays whole games")
@pytest.mark.parametrize("seats", [2, 4, 6])
def test_the_loser_holds_maija(seats):
    house = cardai.agent(GAME, "house")
    results = play(GAME, [house], np.zeros((300, seats), int), np.arange(300), record=True)
    alone = 0
    for seed, (moves_made, scores) in enumerate(zip(results.moves, results.scores, strict=True)):
        state = GAME.new(seats, seed)
        for move in moves_made:
            state = GAME.play(state, move)
        losers = np.flatnonzero(state.hands[:seats])
        assert any(int(state.hands[seat]) & MAIJA for seat in losers)
        assert scores.sum() == pytest.approx(seats - 1)
        alone += len(losers) == 1
    print(f"{seats} seats: {alone} of 300 games have one loser")
    assert alone > 270


def test_every_law_holds():
    assert [verdict for verdict in check(GAME, seed=1, effort="quick", seconds=6) if verdict.verdict == "broken"] == []


@pytest.mark.skipif(not JIT, reason="plays whole games")
def test_moska_is_more_complex():
    """The size of the tree by evenly random play, as a power of ten, by either mean; for 2, 4 and 6 players."""
    maija, moska = (measure(game, [2, 4, 6], games=1000, seed=0).rows for game in (GAME, cardai.load("moska")))
    for ours, theirs in zip(maija, moska, strict=True):
        for name in ("power", "geometric"):
            one, other = getattr(ours, name), getattr(theirs, name)
            print(f"{ours.players} players, {name}: Musta Maija {one}, Moska {other}")
            assert one.high < other.low
