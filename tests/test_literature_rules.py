"""The rules of Literature one by one, in positions set up for each; numbers are those of games/literature/RULES.md."""

from typing import Any

import numpy as np
import pytest
from literature_positions import (
    GAME,
    HIGH_CLUBS,
    HIGH_DIAMONDS,
    HIGH_HEARTS,
    HIGH_SPADES,
    LOW_CLUBS,
    LOW_DIAMONDS,
    LOW_HEARTS,
    LOW_SPADES,
    asks,
    claims,
    names,
    owner,
    play,
    position,
    spelled,
    without_windows,
)

from cardai.errors import IllegalMove
from cardai.games.literature.deck import DECK, card_of, cards_of, half_of
from cardai.games.literature.rules import NOBODY, NONE
from cardai.games.literature.text import NAMES, ending

FULL = (1 << 48) - 1
WITHOUT_PROOF = ("table", "strict")
ALL = (LOW_CLUBS, LOW_DIAMONDS, LOW_HEARTS, LOW_SPADES, HIGH_CLUBS, HIGH_DIAMONDS, HIGH_HEARTS, HIGH_SPADES)


def two_halves(**more):
    """A position with low clubs and low diamonds in four hands, p0 to ask."""
    return position(["AC 2C AD", "3C 2D 3D", "4C 5C 4D", "6C 5D 6D"], **more)


def a_long_hand(**more):
    """The same half-suits; p2 has so many cards that p0 may think it has all that p0 lacks."""
    return position(["AC 2C AD", "3C 2D", "4C 5C 3D 4D 5D", "6C 6D"], **more)


def half_cards(half):
    """The cards of a half-suit, the lowest first, in another way."""
    return [4 * (6 * (half >> 2) + i) + (half & 3) for i in range(6)]


# 1 Setting up


def test_1_1_eight_half_suits_of_six_without_sevens():
    assert [DECK.names(sum(1 << card for card in half_cards(half))) for half in (LOW_CLUBS, HIGH_SPADES)] == [
        "AC 2C 3C 4C 5C 6C",
        "8S 9S TS JS QS KS",
    ]
    assert NAMES[LOW_DIAMONDS] == "low diamonds"
    assert NAMES[HIGH_HEARTS] == "high hearts"
    assert sorted(card for half in range(8) for card in half_cards(half)) == list(range(48))
    for half in range(8):
        assert [int(card_of(half, i)) for i in range(6)] == half_cards(half)
        assert int(cards_of(half)) == sum(1 << card for card in half_cards(half))
        assert {int(half_of(card)) for card in half_cards(half)} == {half}


@pytest.mark.parametrize("variant", GAME.variants)
@pytest.mark.parametrize(("seats", "size"), [(4, 12), (6, 8)])
def test_1_2_all_cards_are_dealt_and_the_first_mover_is_drawn(variant, seats, size):
    movers = np.zeros(seats)
    for seed in range(300):
        state = GAME.new(seats, seed, variant)
        assert [int(hand).bit_count() for hand in state.hands] == [size] * seats + [0] * (6 - seats)
        assert sum(int(hand) for hand in state.hands) == FULL
        assert not state.known.any()
        assert not state.lacks.any()
        assert not state.must.any()
        movers[state.mover] += 1
    assert movers.min() > 300 / seats - 40  # 4 sigma and more


def test_1_2_only_four_or_six_play():
    assert list(GAME.seats) == [4, 6]


# 2 Asking


def test_2_1_the_mover_asks_opponents_for_cards_of_half_suits_that_it_holds():
    state = position(["AC", "2C 3C AD", "4C 2D 3D", "5C 6C 4D 5D 6D"])
    assert asks(state) == [f"asks p{seat} for {card}C" for card in "23456" for seat in (1, 3)]


def test_2_1_with_six_three_opponents_can_be_asked():
    state = position(["AC", "2C", "3C", "4C", "5C", "6C"], mover=4)
    assert [text for text in asks(state) if text.endswith("AC")] == [f"asks p{seat} for AC" for seat in (5, 1, 3)]


def test_2_1_a_claimed_half_suit_cannot_be_asked_for():
    state = two_halves()
    claimed = position(["AC 2C", "3C", "4C 5C", "6C"], even=[LOW_DIAMONDS])
    with pytest.raises(IllegalMove, match="2D"):
        GAME.play(claimed, GAME.text.parse(state, "asks p1 for 2D"))


def test_2_3_a_question_whose_answer_everybody_knows_is_allowed():
    state = two_halves(known={2: "4C"}, lacks={1: "6C"})
    assert {"asks p1 for 6C", "asks p1 for 4C", "asks p3 for 4C"} <= set(asks(state))


# 3 Claiming


def test_3_1_a_right_claim_wins_the_half_suit_and_its_cards_leave_the_game():
    state = position(["AC 2C 3C 2D", "AD 3D", "4C 5C 6C 4D", "5D 6D"], variant="table", known={2: "4C"})
    state = play(state, "claims low clubs")
    assert owner(state, LOW_CLUBS) == "even"
    assert [names(hand) for hand in state.hands[:4]] == ["2D", "AD 3D", "4D", "5D 6D"]
    assert not state.known.any()


def test_3_1_with_six_a_claim_names_the_holder_of_each_card():
    state = position(["AC 2C AD", "2D", "3C 4C 3D", "4D", "5C 6C 5D", "6D"], variant="table")
    assert owner(play(state, "claims low clubs with 5C 6C at p4"), LOW_CLUBS) == "even"
    assert owner(play(state, "claims low clubs with 4C 5C at p4"), LOW_CLUBS) == "nobody"


def test_3_1_the_first_teammate_on_the_left_has_the_cards_that_are_not_named():
    state = position(["2D", "AC 2C AD", "3D", "3C 4C 4D", "5D", "5C 6C 6D"], mover=3, variant="table")
    assert owner(play(state, "claims low clubs with AC 2C at p1"), LOW_CLUBS) == "odd"


@pytest.mark.parametrize("variant", WITHOUT_PROOF)
def test_3_2_if_an_opponent_held_a_card_the_opponents_have_the_half_suit(variant):
    state = play(a_long_hand(variant=variant), "claims low clubs")
    assert owner(state, LOW_CLUBS) == "odd"
    assert names(state.hands[1]) == "2D"


@pytest.mark.parametrize(("variant", "result"), [("table", "nobody"), ("strict", "odd")])
def test_3_2_a_wrong_claim_of_cards_that_the_own_team_held(variant, result):
    state = position(["AC 2C AD", "2D", "3C 4C 3D", "4D", "5C 6C 5D", "6D"], variant=variant)
    assert owner(play(state, "claims low clubs with 3C 4C at p4"), LOW_CLUBS) == result


def test_3_3_with_four_players_there_is_at_most_one_claim_for_each_half_suit():
    assert claims(a_long_hand(variant="table")) == ["low clubs", "low diamonds"]


@pytest.mark.parametrize(
    ("facts", "left"),
    [
        ({"known": {1: "3C"}}, []),  # a card shown at an opponent
        ({"known": {2: "4C"}}, ["low clubs"]),
        ({"lacks": {2: "6C"}}, []),
        ({"lacks": {1: "6C"}}, ["low clubs"]),
        ({"known": {2: "4D"}}, ["low clubs"]),
        ({"known": {2: "3D 4D"}}, []),  # p2 has three other cards, and p0 does not see four of low clubs
    ],
)
def test_3_3_no_claim_that_the_claimant_sees_to_be_false(facts, left):
    state = a_long_hand(variant="table", **facts)
    assert [text for text in claims(state) if "clubs" in text] == left


def test_3_3_a_half_suit_that_an_opponent_must_have_a_card_of_may_be_claimed_without_proof():
    assert "low clubs" in claims(a_long_hand(variant="table", must={1: [LOW_CLUBS]}))


def test_3_3_with_six_each_way_to_place_the_cards_is_a_claim():
    hands = ["AC 2C 3C 4C AD", "2D", "5C 3D", "4D", "6C 5D", "6D"]
    state = position(hands, variant="table")
    texts = [text for text in claims(state) if "clubs" in text]
    assert texts == ["low clubs", *(f"low clubs with {some} at p4" for some in ("5C", "6C", "5C 6C"))]
    state = position(hands, variant="table", lacks={2: "6C"})
    texts = [text for text in claims(state) if "clubs" in text]
    assert texts == [f"low clubs with {some} at p4" for some in ("6C", "5C 6C")]
    state = position(hands, variant="table", known={2: "3D", 4: "6C"})
    texts = [text for text in claims(state) if "clubs" in text]
    assert texts == [f"low clubs with {some} at p4" for some in ("6C", "5C 6C")]
    state = position(hands, variant="table", known={2: "5C 3D"})
    assert [text for text in claims(state) if "clubs" in text] == ["low clubs with 6C at p4"]


def test_3_4_with_proof_a_claim_must_be_proven():
    state = position(["AC 2C 3C AD", "2D 3D", "4C 5C 6C 4D", "5D 6D"])
    assert claims(state) == []
    assert claims(GAME.world(state, 0, 1)) == []
    shown = position(["AC 2C 3C AD", "2D 3D", "4C 5C 6C 4D", "5D 6D"], known={2: "4C 5C 6C"})
    assert claims(shown) == ["low clubs"]


def test_3_4_cards_of_other_half_suits_prove_nothing_unless_all_have_seen_them():
    # p0 sees AD, so it knows that 5D and 6D are the two cards of p3, and 6C is with p2. The others do not know this.
    facts: dict[str, Any] = {"known": {2: "4C 5C 4D"}, "lacks": {1: "6C 5D 6D", 2: "2D 3D 5D 6D"}}
    state = position(["AC 2C 3C AD", "2D 3D", "4C 5C 6C 4D", "5D 6D"], **facts)
    assert {names(GAME.world(state, 0, seed).hands[2]) for seed in range(20)} == {"4C 4D 5C 6C"}
    assert claims(state) == []


def window_position(**more):
    """p0 has all of high clubs, p1 all of high hearts; p2 asks p1 for 3D, in vain."""
    hands = ["8C 9C TC JC QC KC 3C 4C 5C 6C", "8H 9H TH JH QH KH 2D", "AC AD", "2C 3D 4D 5D 6D"]
    return play(position(hands, mover=2, **more), "asks p1 for 3D")


def test_3_5_after_an_ask_all_seats_may_claim_in_order():
    state, seats = window_position(), []
    while state.window != NONE:
        assert state.turn == state.window
        seats.append(int(state.window))
        state = play(state, "no claim")
    assert seats == [0, 1, 2, 3]
    assert (state.turn, state.mover) == (1, 1)


def test_3_5_a_wrong_claim_in_a_window_leaves_the_mover():
    state = window_position(proof=0)
    state = without_windows(play(state, "claims low clubs"))  # p3 has 2C
    assert owner(state, LOW_CLUBS) == "odd"
    assert state.mover == 1


def test_3_5_windows_open_after_the_deal_too():
    state = GAME.new(4, 3)
    assert (state.window, state.turn) == (0, 0)
    state = without_windows(state)
    assert (state.window, state.turn) == (NONE, state.mover)


@pytest.mark.parametrize("variant", WITHOUT_PROOF)
def test_3_5_without_any_seat_only_the_mover_claims_and_stays_the_mover(variant):
    assert GAME.new(4, 3, variant).window == NONE
    state = play(two_halves(variant=variant), "asks p1 for 6C")
    assert (state.window, state.turn) == (NONE, 1)
    state = play(a_long_hand(variant=variant), "claims low clubs")  # p1 has a card of it
    assert owner(state, LOW_CLUBS) == "odd"
    assert (state.window, state.turn) == (NONE, 0)


def test_3_5_seats_are_passed_over_if_an_opponent_has_a_card_of_each_half_suit():
    shown, due = {1: "3C", 3: "5D"}, {3: [LOW_DIAMONDS]}
    assert play(two_halves(known=shown), "asks p1 for 2D").window == 1  # the even team can have nothing to claim
    assert play(two_halves(known={1: "3C"}, must=due), "asks p1 for 6C").window == 1
    assert play(two_halves(known={1: "3C"}, must=due, proof=0), "asks p1 for 6C").window == 0
    state = play(two_halves(known=shown | {0: "AC 2C AD"}), "asks p1 for 6C")
    assert (state.window, state.turn) == (NONE, 1)


def test_3_6_a_mover_without_cards_gives_the_turn_to_a_teammate():
    hands = ["AC 2C", "AD 2D", "3C 4C 3D", "4D", "5C 6C 5D", "6D"]
    state = play(position(hands, variant="table"), "claims low clubs with 5C 6C at p4")
    assert spelled(state) == ["gives the turn to p2", "gives the turn to p4"]
    state = play(state, "gives the turn to p4")
    assert (state.turn, state.mover, state.giving) == (4, 4, 0)


def test_3_6_the_turn_is_given_after_the_windows():
    hands = ["AC 2C 3C 4C 5C 6C", "AD 2D", "3D", "4D", "5D", "6D"]
    state = position(hands, mover=2, window=0)
    state.turn = 0
    state = play(state, "claims low clubs")
    assert (state.window, state.mover) == (0, 0)
    state = without_windows(state)
    assert state.giving == 1
    assert spelled(state) == ["gives the turn to p2", "gives the turn to p4"]


def test_3_6_a_seat_without_cards_is_asked_in_windows():
    hands = ["", "AD 2D", "AC 2C 3C 4C 5C 3D", "6C 4D", "5D", "6D"]
    state = position(hands, mover=2, known={2: "AC 2C 3C 4C 5C"})
    state = play(state, "asks p3 for 6C")
    assert state.window == 0
    assert claims(state) == ["low clubs"]


# 4 The end


def test_4_1_when_a_team_has_no_cards_the_asker_claims_all_at_once():
    state = position(["AC 2C AD 2D 5D", "6D", "3C 4C 5C 6C 3D 4D", ""])
    state = play(state, "asks p1 for 6D")
    assert (state.window, state.turn, state.closer) == (NONE, 0, 0)
    assert spelled(state) == ["claims low clubs", "claims low diamonds"]
    state = play(state, "claims low diamonds", "claims low clubs")
    assert state.turn == NONE
    assert owner(state, LOW_CLUBS) == owner(state, LOW_DIAMONDS) == "even"


def test_4_1_a_claim_in_a_window_may_leave_a_team_without_cards():
    state = position(["AC 2C 3C 4C 5C 6C", "AD 2D", "", "3D 4D 5D 6D"], mover=3, window=0)
    state.turn = 0
    state = play(state, "claims low clubs")
    assert (state.window, state.closer, state.turn) == (NONE, 1, 1)
    assert spelled(state) == ["claims low diamonds"]


def test_4_1_the_closer_goes_on_without_cards():
    state = position(["AD 2D 5D", "6D", "AC 2C 3C 4C 5C 6C 3D 4D", ""])
    state = play(state, "asks p1 for 6D", "claims low diamonds")
    assert state.hands[0] == 0
    assert state.turn == 0
    assert spelled(state) == ["claims low clubs"]


def test_4_1_with_six_the_closer_needs_no_proof_and_may_be_wrong():
    state = position(["AC 2C 3C", "6C", "4C", "", "5C", ""])
    state = play(state, "asks p1 for 6C")
    assert spelled(state) == ["claims low clubs with 4C at p4", "claims low clubs with 5C at p4"]
    assert owner(play(state, "claims low clubs with 5C at p4"), LOW_CLUBS) == "even"
    assert owner(play(state, "claims low clubs with 4C at p4"), LOW_CLUBS) == "nobody"


def test_4_1_without_cards_the_mover_leaves_it_to_the_next_on_the_left_who_has_some():
    # p0 claims the last cards of its team; the odd team closes, and p1 has no cards.
    state = position(["AC 2C 3C", "", "4C 5C 6C", "AD 2D 3D 4D 5D 6D"], variant="table")
    state = play(state, "claims low clubs")
    assert (state.mover, state.closer, state.turn) == (0, 3, 3)


@pytest.mark.parametrize(
    ("even", "odd", "scores"),
    [
        (ALL[2:6], ALL[6:], [1, 0, 1, 0]),
        (ALL[2:5], ALL[5:], [0.5, 0.5, 0.5, 0.5]),
        ((), ALL[2:], [0, 1, 0, 1]),
        (ALL[2:3], (), [1, 0, 1, 0]),  # nobody has five
    ],
)
def test_4_2_more_half_suits_win(even, odd, scores):
    # The even team claims its last cards; the odd team has low diamonds left and closes.
    state = position(["AC 2C 3C 4C 5C 6C", "AD 2D 3D", "", "4D 5D 6D"], even=even, odd=odd, variant="table")
    state = play(state, "claims low clubs")
    assert state.turn == 1
    state = play(state, "claims low diamonds")
    assert state.turn == NONE
    assert GAME.points(state).tolist() == scores


def test_4_3_a_game_is_cut_after_the_last_ask_and_its_windows():
    hands = ["8C 9C TC JC QC KC AC", "3C", "4C 5C", "2C 6C"]
    state = position(hands, mover=2, asks=200, odd=[LOW_HEARTS, LOW_SPADES])
    state = play(state, "asks p1 for 2C")
    assert state.window == 0
    state = without_windows(play(state, "claims high clubs"))
    assert (state.turn, state.asks) == (NONE, 201)
    assert GAME.points(state).tolist() == [0.5] * 4
    assert "a tie" in ending(state)


def test_4_3_the_ask_before_the_last_does_not_end_the_game():
    state = position(["AC 2C", "3C 4C", "5C 6C", ""], variant="table", asks=398)
    state = play(state, "asks p1 for 5C")
    assert state.turn == 1
    assert play(state, "asks p0 for AC").turn == NONE


# 5 What everybody knows


def test_5_2_everybody_but_the_player_asked_is_shown_something_by_an_answer():
    assert play(two_halves(), "asks p1 for 6C").revealed == 0b1101
    assert play(two_halves(), "asks p1 for 3C").revealed == 0b1101
    assert play(two_halves(known={1: "3C"}), "asks p1 for 3C").revealed == 0
    assert play(a_long_hand(variant="table"), "claims low clubs").revealed == 0b1111


# Text


def test_a_seat_is_shown_its_hand_and_what_everybody_knows():
    state = two_halves(known={2: "4C"}, lacks={3: "AD"}, must={1: [LOW_CLUBS]}, odd=[HIGH_HEARTS], asks=7)
    text = GAME.text.show(play(state, "asks p1 for 6D"), 1).splitlines()
    assert text[0] == "p0 may claim; p1 is the mover. 8 of at most 201 asks."
    assert text[1].startswith("p0's team has none; p1's team has 1 (high hearts); nobody has 5 (low hearts, ")
    assert text[2] == "Last ask: p0 asked p1 for 6D: no."
    assert text[3:7] == [
        "p0  3 cards; has a hidden card of low diamonds; lacks 6D",
        "p1  3 cards; has a hidden card of low clubs; lacks 6D (you)",
        "p2  3 cards; shown 4C",
        "p3  3 cards; lacks AD",
    ]
    assert text[7] == "Your hand  3C | 2D 3D"


def test_the_last_claim_is_shown():
    state = position(["AC 2C AD", "2D", "3C 4C 3D", "4D", "5C 6C 5D", "6D"], variant="table")
    text = "Last claim: p0 claimed low clubs with 5C 6C at p4: right."
    assert text in GAME.text.show(play(state, "claims low clubs with 5C 6C at p4"), 3)
    assert "at p4: wrong." in GAME.text.show(play(state, "claims low clubs with 5C at p4"), 3)


def test_a_finished_game_says_how_it_ended():
    state = position(["AC 2C 3C 4C 5C 6C", "", "", ""], even=[LOW_HEARTS], odd=[LOW_SPADES])
    assert ending(play(state, "claims low clubs")) == "p0's team has 2 half-suits, p1's team 1: p0 and p2 win."
    assert int(state.won[NOBODY]).bit_count() == 5
