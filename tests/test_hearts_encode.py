"""What the encoders of Hearts write, in positions set up by hand; numbers are those of games/hearts/RULES.md."""

import numpy as np
import pytest
from test_hearts_rules import after_deal, position
from views import segments as of_game

import cardai
from cardai.rules.cards import DECK52

GAME = cardai.load("hearts")
PAPER_ORDER = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
IN_HAND, WITH_OTHERS, LAID, LAID_BY_OTHERS, GONE = range(5)


def segments(state, seat, encoder="relative"):
    return of_game(GAME, state, seat, encoder)


def named(plane):
    """The cards of a plane of ranks x suits."""
    return " ".join(DECK52.name(int(card)) for card in np.flatnonzero(plane))


def third_to_play():
    """Seat 2 is third to a trick of spades, which seat 1 does not follow.

    Seat 2 passed 3D 9C AC to seat 3, which has played 3D, and got 2H 4S 5C from seat 1.
    """
    state = position(
        ["QD KH", "5H 6H", "4S AS 2H", "9C AC 7D"],
        table=("TS", "8H"),
        taken=((0, "QH QS JD"), (1, "KD")),
        direction=1,
        broken=1,
    )
    state.played[0] &= ~DECK52.cards("3D")
    state.played[3] |= DECK52.cards("3D")
    state.passed[2] = DECK52.cards("3D 9C AC")
    state.passed[1] = DECK52.cards("2H 4S 5C")
    state.lacks[1] = DECK52.cards(" ".join(rank + "S" for rank in "23456789TJQKA"))
    state.tricks[:] = (6, 3, 0, 1)
    return state


def test_relative_shows_the_own_cards_and_what_others_may_and_surely_hold():
    seen = segments(third_to_play(), 2)
    assert named(seen["own hand"]) == "2H 4S AS"
    assert named(seen["own passed"]) == "3D 9C AC"
    assert named(seen["received"]) == "2H 4S"
    assert named(seen["legal"]) == "4S AS"
    assert named(seen["surely holds: seat +1"]) == "9C AC"
    assert named(seen["may hold: seat +1"]) == "5H 6H 7D 9C QD KH AC"
    assert named(seen["may hold: seat +2"]) == named(seen["may hold: seat +3"]) == "5H 6H 7D QD KH"
    assert list(seen["suits lacked: seat +1"]) == [0, 0, 0, 1]
    assert list(seen["suits lacked: seat +3"]) == [1, 0, 0, 1]


def test_relative_shows_the_trick_and_the_round_with_seats_counted_from_the_own():
    seen = segments(third_to_play(), 2)
    assert [named(seen[f"table: seat +{step}"]) for step in range(4)] == ["", "", "TS", "8H"]
    assert named(seen["played before: seat +1"]) == "3D"
    assert seen["played before: seat +2"].sum() == 52 - 10 - 2 - 1
    assert seen["played before: seat +3"].sum() == 0
    assert list(seen["takes the trick"]) == [0, 0, 1, 0]
    assert list(seen["leader"]) == [0, 0, 1, 0]
    assert list(seen["to move"]) == [1, 0, 0, 0]
    assert list(seen["points taken"]) == [0, 0, 14, 0]
    assert list(seen["has points"]) == list(seen["alone with points"]) == [0, 0, 1, 0]
    assert list(seen["took the queen"]) == list(seen["took the jack"]) == [0, 0, 1, 0]
    assert list(seen["tricks taken"]) == [0, 1, 6, 3]
    assert list(np.flatnonzero(seen["tricks done"])) == [10]
    assert [int(seen[name][0]) for name in ("passing", "broken", "points on the table", "cards on the table")] == [
        0, 1, 1, 2,
    ]  # fmt: skip
    assert list(seen["direction"]) == [0, 1, 0, 0]


def test_relative_shows_the_card_just_played_before_the_trick_is_settled():
    state = third_to_play()
    after = GAME.after(state, GAME.text.parse(state, "AS"))
    seen = segments(after, 2)
    assert named(seen["table: seat +0"]) == "AS"
    assert named(seen["own hand"]) == "2H 4S"
    assert list(seen["takes the trick"]) == [1, 0, 0, 0]
    assert named(seen["legal"]) == ""
    assert int(seen["cards on the table"][0]) == 3
    ducked = segments(GAME.after(state, GAME.text.parse(state, "4S")), 2)
    assert list(ducked["takes the trick"]) == [0, 0, 1, 0]


def test_relative_knows_two_alone_with_points_from_one():
    state = third_to_play()
    state.taken[3] = DECK52.cards("3H")
    seen = segments(state, 2)
    assert list(seen["has points"]) == [0, 1, 1, 0]
    assert list(seen["alone with points"]) == [0, 0, 0, 0]


def test_relative_finds_the_cards_that_only_one_seat_may_hold():
    state = position(["2H 4S", "7D 8D", "3H KH", "5H 6H"], leader=2)
    state.lacks[0] = state.lacks[1] = DECK52.cards(" ".join(rank + "D" for rank in "23456789TJQKA"))
    seen = segments(state, 2)
    assert named(seen["may hold: seat +1"]) == "3H 5H 6H 7D 8D KH"
    assert named(seen["surely holds: seat +1"]) == "7D 8D"
    assert named(seen["surely holds: seat +2"]) == ""


def test_relative_takes_chosen_cards_out_of_the_hand_while_cards_are_passed():
    state = after_deal(3)
    first, second = GAME.moves(state)[:2]
    chosen_one = GAME.play(state, first)
    for passing, chosen in ((chosen_one, 1), (GAME.after(chosen_one, second), 2)):
        seen = segments(passing, 0)
        assert seen["own passed"].sum() == chosen
        assert seen["own hand"].sum() == 13 - chosen
        assert not (seen["own passed"] & seen["own hand"]).any()
        assert int(seen["passing"][0]) == 1
        assert list(seen["direction"]) == [0, 0, 0, 1]
        assert all(not seen[name].any() for name in ("received", "leader", "takes the trick"))
        assert all(seen[f"may hold: seat +{step}"].sum() == 39 for step in (1, 2, 3))


def test_relative_shows_totals_above_the_lowest_and_the_points_to_the_limit():
    state = GAME.new(4, 1, "match")
    state.totals[:] = (90, 3, 40, 17)
    seen = segments(state, 1)
    assert list(seen["total above the lowest"]) == [0, 37, 14, 87]
    assert int(seen["points left to the limit"][0]) == 10
    assert int(segments(GAME.new(4, 1, "standard"), 1)["points left to the limit"][0]) == 0


def test_relative_names_the_variant():
    rows = {variant: tuple(segments(GAME.new(4, 1, variant), 0)[name].tobytes() for name in ("moon", "aim", "options"))
            for variant in GAME.variants}  # fmt: skip
    assert rows["match_round"] == rows["match"]  # what is learned in the one is played in the other
    assert len(set(rows.values())) == len(GAME.variants) - 1


def placed(state, seat, encoder):
    """For each card in the paper's order, where it is; one place for each card."""
    row = GAME.encode(state, seat, encoder).reshape(52, 5)
    assert (row.sum(1) == 1).all()
    return {name: int(place) for name, place in zip(PAPER_ORDER, row.argmax(1), strict=True)}


def test_paper_play_is_the_papers_52_one_hot_vectors_of_5():
    state = third_to_play()
    after = GAME.after(state, GAME.text.parse(state, "AS"))
    assert GAME.encoder("paper_play").width(4) == 260
    others = {"QD", "KH", "5H", "6H", "9C", "AC", "7D"}
    for here, own in ((state, {"2H", "4S", "AS"}), (after, {"2H", "4S"})):
        where = placed(here, 2, "paper_play")
        assert {name for name, place in where.items() if place == IN_HAND} == own
        assert {name for name, place in where.items() if place == WITH_OTHERS} == others
        assert {name for name, place in where.items() if place == LAID_BY_OTHERS} == {"TS", "8H"}
        assert where["AS"] == (IN_HAND if "AS" in own else LAID)
        assert sum(place == GONE for place in where.values()) == 52 - 3 - 7 - 2


def test_paper_pass_is_the_papers_two_vectors_of_52():
    state = after_deal(2)
    assert GAME.encoder("paper_pass").width(4) == 104
    hand = DECK52.listed(state.hands[0])
    for number in range(3):
        seen = segments(state, 0, "paper_pass")
        assert {PAPER_ORDER[place] for place in np.flatnonzero(seen["in hand"])} == set(map(DECK52.name, hand))
        assert {PAPER_ORDER[place] for place in np.flatnonzero(seen["chosen"])} == set(
            map(DECK52.name, DECK52.listed(state.passed[0]))
        )
        assert seen["chosen"].sum() == number
        state = GAME.after(state, GAME.moves(state)[0]) if number == 2 else GAME.play(state, GAME.moves(state)[0])
    assert segments(state, 0, "paper_pass")["chosen"].sum() == 3


@pytest.mark.parametrize("direction", [0, 1, 2, 3])
def test_paper_dealt_is_the_dealt_hand_through_the_whole_round(direction):
    state, rng = after_deal(direction), np.random.default_rng(0)
    dealt = [set(map(DECK52.name, DECK52.listed(hand))) for hand in state.hands]
    while state.turn >= 0:
        for seat in range(4):
            where = placed(state, seat, "paper_dealt")
            assert {name for name, place in where.items() if place == IN_HAND} == dealt[seat]
            assert set(where.values()) == {IN_HAND, WITH_OTHERS}
        state = GAME.play(state, rng.choice(GAME.moves(state)))
