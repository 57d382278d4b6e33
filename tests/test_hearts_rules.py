"""The rules of Hearts one by one, in positions set up for each; numbers are those of games/hearts/RULES.md."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardai
from cardai.games.hearts import rules
from cardai.measure.perft import perft
from cardai.rules import rule
from cardai.rules.cards import DECK52

HEARTS = cardai.load("hearts")
OPTIONS = HEARTS.variants["standard"]
NONE = rules.NONE
SEATS = range(4)
FULL = (1 << 52) - 1
CLUBS, DIAMONDS, ALL_HEARTS, SPADES = (int(rules.ALL_HEARTS) >> 2 << suit for suit in range(4))
QUEEN = 1 << 43
LEFT, ACROSS, RIGHT, HOLD = 1, 2, 3, 0


def cards(names):
    return DECK52.cards(names)


def suits(clubs="", diamonds="", hearts="", spades=""):
    """The names of cards from their ranks, suit by suit."""
    parts = zip("CDHS", (clubs, diamonds, hearts, spades), strict=True)
    return " ".join(f"{rank}{suit}" for suit, ranks in parts for rank in ranks)


def game(**options):
    """Hearts with the variant `standard` but for some options."""
    return HEARTS.changed(variants={"tried": OPTIONS | options})


def position(hands, leader=0, table=(), taken=(), **fields):
    """A position of the play: the hands from seat `leader` on, which leads or has led to the trick.

    `table`: the cards laid to the trick, the leader's first; they are in no hand. `taken`: (seat, cards), counted from
    the leader too. The rest of the deck counts as played by the leader, and nobody has taken it. Other fields are
    options, if there is an option of that name, or fields of the state.
    """
    options = {name: fields.pop(name) for name in OPTIONS if name in fields}
    state = game(**options).options(4, "tried")[0]
    seats = [(leader + step) % 4 for step in SEATS]
    for seat, hand in zip(seats, hands, strict=True):
        state.hands[seat] = cards(hand)
    state.table[:] = NONE
    for seat, card in zip(seats, table, strict=False):
        state.table[seat] = DECK52.card(card)
        state.played[seat] |= cards(card)
    for step, names in taken:
        state.taken[seats[step]] = cards(names)
    state.played[leader] |= FULL & ~sum(int(hand) for hand in state.hands) & ~cards(" ".join(table))
    state.leader, state.turn = leader, seats[len(table)]
    for name, value in fields.items():
        state[name] = value
    return state


def legal(state):
    return " ".join(DECK52.name(card) for card in HEARTS.moves(state)["card"])


def play(state, names):
    """The state after these cards have been played or passed in turn."""
    for name in names.split():
        state = HEARTS.play(state, HEARTS.text.parse(state, name))
    return state


def after_deal(direction, variant="standard"):
    """A deal with this direction, and its seed."""
    for seed in range(100):
        state = HEARTS.new(4, seed, variant)
        if state.direction == direction:
            return state
    raise AssertionError(f"no deal of 100 has the direction {direction}")


def passed_on(state):
    """The state after each seat has passed its three lowest cards."""
    while state.leader == NONE and state.ply < 12:
        state = HEARTS.play(state, HEARTS.moves(state)[0])
    return state


def lowest_of(hand, number):
    return sum(1 << card for card in DECK52.listed(hand)[:number])


# 1 Setting up


def test_1_2_directions_go_left_right_across_hold_and_begin_again():
    state, seen = HEARTS.new(4, 1, "match"), []
    while state.turn >= 0:
        if len(seen) == state.rounds:
            seen.append(int(state.direction))
        state = HEARTS.play(state, HEARTS.moves(state)[-1])
    assert len(seen) > 4
    assert seen == ([LEFT, RIGHT, ACROSS, HOLD] * 10)[: len(seen)]


def test_1_2_a_game_of_one_round_has_each_direction_with_the_same_chance():
    directions = [int(HEARTS.new(4, seed).direction) for seed in range(4000)]
    assert np.bincount(directions, minlength=4) == pytest.approx([1000] * 4, abs=150)  # 5.5 sigma


def test_1_2_the_cycle_goes_on_from_the_direction_drawn():
    after = {LEFT: RIGHT, RIGHT: ACROSS, ACROSS: HOLD, HOLD: LEFT}
    for first in after:
        state = position(["2D", "3D", "4D", "5D"], limit=100, passing=2)
        state.first_direction, state.direction = rules.DIRECTIONS.index(first), first
        assert play(state, "2D 3D 4D 5D").direction == after[first]


@pytest.mark.parametrize("variant", ["standard", "paper_plain"])
def test_1_2_where_cards_are_held_the_play_begins_at_once(variant):
    state = after_deal(HOLD, variant)
    assert int(state.hands[state.turn]) & 1
    assert state.leader == state.turn
    assert legal(state) == "2C"


# 2 Passing


@pytest.mark.parametrize("direction", [LEFT, ACROSS, RIGHT])
def test_2_1_all_cards_change_hands_at_once(direction):
    before = after_deal(direction)
    after = passed_on(before)
    given = [lowest_of(hand, 3) for hand in before.hands]
    for seat in SEATS:
        got = given[(seat - direction) % 4]
        assert int(after.hands[seat]) == int(before.hands[seat]) & ~given[seat] | got
        assert int(after.passed[seat]) == given[seat]
    assert after.revealed == 0b1111
    assert legal(after) == "2C"


def test_2_2_seats_choose_in_turn_one_card_at_a_time_and_none_twice():
    state, order = after_deal(LEFT), []
    while state.leader == NONE and state.ply < 12:
        hand, chosen = int(state.hands[state.turn]), int(state.passed[state.turn])
        order.append((int(state.turn), chosen.bit_count(), int(state.midway)))
        assert hand.bit_count() == 13
        assert cards(legal(state)) == hand & ~chosen
        state = HEARTS.play(state, HEARTS.moves(state)[-1])
    assert order == [(seat, number, int(number > 0)) for seat in SEATS for number in range(3)]


# 3 Tricks


@pytest.mark.parametrize("leader", SEATS)
def test_3_1_the_two_of_clubs_is_led(leader):
    hands = [suits("258", "26TA", "26", "26TA"), suits("369", "37J", "37JK", "37J")]
    hands += [suits("47TJQ", "48Q", "48Q", "48"), suits("KA", "59K", "59TA", "59QK")]
    state = position(hands, leader)
    assert legal(state) == "2C"
    assert legal(position(hands, leader, any_club=1)) == "2C 5C 8C"


# Hands of a first trick: the seat that leads holds the two of clubs, the next one no club.
LEADER = suits("23456789T", "2", "", "234")


def first_trick(second, **options):
    rest = DECK52.names(FULL & ~cards(LEADER) & ~cards(second))
    third, fourth = rest.split()[:13], rest.split()[13:]
    return play(position([LEADER, second, " ".join(third), " ".join(fourth)], **options), "2C")


def test_3_3_no_points_are_played_to_the_first_trick_if_there_is_another_card():
    hand = suits("", "4", "3456789TJQK", "Q")
    assert legal(first_trick(hand)) == "4D"
    assert cards(legal(first_trick(hand, no_points_first=0))) == cards(hand)
    assert legal(first_trick(suits("", "4", "3456789TJQ", "QA"))) == "4D AS"


@pytest.mark.parametrize("hand", [suits(hearts="3456789TJQKA", spades="Q"), suits(hearts="23456789TJQKA")])
def test_3_3_a_hand_of_thirteen_point_cards_may_play_any_of_them(hand):
    assert cards(legal(first_trick(hand))) == cards(hand)


def test_3_5_the_paper_says_the_queen_does_not_break_and_openspiel_that_it_does():
    assert {name: values["queen_breaks"] for name, values in HEARTS.variants.items()} == {
        name: int(not name.startswith("paper")) for name in HEARTS.variants
    }


# 4 Points. The last trick of a round: the leader takes it, with no point card in it.
LAST = ["9D", "2D", "3D", "4D"]
HEARTS_TAKEN = suits(hearts="23456789TJQKA")
MOST_HEARTS = suits(hearts="23456789TJQK")


def totals(taken, leader=0, **options):
    """The points at the end of a round in which the seats have taken these cards, counted from the leader."""
    end = play(position(LAST, leader, taken=taken, **options), " ".join(LAST))
    assert end.turn == NONE
    return [int(end.totals[(leader + step) % 4]) for step in SEATS]


@pytest.mark.parametrize("leader", SEATS)
@pytest.mark.parametrize("shooter", SEATS)
def test_4_2_who_takes_all_26_points_shoots_the_moon(leader, shooter):
    taken = [(shooter, f"{HEARTS_TAKEN} QS")]
    others = [seat for seat in SEATS if seat != shooter]
    assert totals(taken, leader, moon=0) == [26 * (seat == shooter) for seat in SEATS]
    assert totals(taken, leader, moon=1) == [26 * (seat in others) for seat in SEATS]
    assert totals(taken, leader, moon=2) == [-26 * (seat == shooter) for seat in SEATS]


@pytest.mark.parametrize("moon", [0, 1, 2])
def test_4_2_one_heart_elsewhere_is_no_moon(moon):
    assert totals([(1, f"{MOST_HEARTS} QS"), (2, "AH")], moon=moon) == [0, 25, 1, 0]
    assert totals([(1, HEARTS_TAKEN), (2, "QS")], moon=moon) == [0, 13, 13, 0]


@pytest.mark.parametrize(("moon", "with_jack", "without"), [(1, [0, -10], [-10, 0]), (2, [-26, -36], [-36, -26])])
def test_4_3_the_jack_comes_on_top_of_the_moon_and_is_not_needed_for_it(moon, with_jack, without):
    moon_cards, other = f"{HEARTS_TAKEN} QS", 26 * (moon == 1)
    assert totals([(0, f"{moon_cards} JD")], moon=moon, jack=1) == [with_jack[1], other, other, other]
    assert totals([(0, moon_cards), (1, "JD")], moon=moon, jack=1) == [without[1], other - 10, other, other]


def test_4_4_five_points_less_without_a_trick_unless_one_seat_takes_all_points():
    state = position(LAST, taken=[(1, f"{MOST_HEARTS} QS"), (2, "AH")], no_trick_bonus=1)
    state.tricks[:] = [0, 9, 1, 0]
    assert [int(points) for points in play(state, " ".join(LAST)).totals] == [0, 25, 1, -5]
    for moon, points in ((0, [0, 26, 0, 0]), (1, [26, 0, 26, 26])):
        shot = position(LAST, taken=[(1, f"{HEARTS_TAKEN} QS")], no_trick_bonus=1, moon=moon)
        shot.tricks[:] = [0, 12, 0, 0]
        assert [int(points) for points in play(shot, " ".join(LAST)).totals] == points


# 5 The end


def at_the_end_of_a_round(before, taken, **fields):
    """A match after a round in which the seats took these cards, with these totals before it."""
    state = position(LAST, taken=taken, limit=100, **fields)
    state.totals[:] = before
    return play(state, " ".join(LAST))


def test_5_1_rounds_are_played_until_somebody_has_a_hundred():
    goes_on = at_the_end_of_a_round([99, 50, 60, 70], [(1, "2H")])
    assert (goes_on.turn >= 0, goes_on.rounds, [int(points) for points in goes_on.totals]) == (
        True,
        1,
        [99, 51, 60, 70],
    )
    over = at_the_end_of_a_round([99, 50, 60, 70], [(0, "2H")])
    assert (over.turn, [int(points) for points in over.totals]) == (NONE, [100, 50, 60, 70])
    assert HEARTS.points(over).tolist() == [0, 1, 0, 0]


def test_5_1_a_new_round_deals_all_cards_anew_and_begins_with_the_pass():
    before = {"broken": 1, "lacks": [CLUBS, SPADES, 0, CLUBS], "passed": [7, 56, 448, 3584]}
    state = at_the_end_of_a_round([0, 0, 0, 0], [(1, "2H")], passing=1, first_direction=0, **before)
    assert [int(hand).bit_count() for hand in state.hands] == [13] * 4
    assert sum(int(hand) for hand in state.hands) == FULL
    for name in ("passed", "played", "lacks", "known", "taken", "tricks"):
        assert not state[name].any(), name
    assert (state.direction, state.leader, state.turn, state.broken, state.revealed) == (RIGHT, NONE, 0, 0, 0b1111)


@pytest.mark.parametrize(
    ("before", "shares"),
    [([99, 10, 10, 20], [0, 0.5, 0.5, 0]), ([99, 7, 7, 7], [0, 1 / 3, 1 / 3, 1 / 3]), ([99, 9, 8, 9], [0, 0, 1, 0])],
)
def test_5_1_seats_with_the_same_lowest_total_share_the_win(before, shares):
    state = at_the_end_of_a_round(before, [(0, "2H")])
    assert state.turn == NONE
    assert HEARTS.points(state).tolist() == pytest.approx(shares)


def test_5_1_the_fortieth_round_is_the_last():
    for rounds, is_over in ((38, False), (39, True)):
        state = at_the_end_of_a_round([0, 50, 60, 70], [(1, "2H")], rounds=rounds)
        assert (state.turn == NONE) == is_over


# 6 What the players know


def ruled_out(state):
    """The cards that everybody knows each seat cannot hold; asserts that worlds of all seats agree."""
    for viewer in SEATS:
        for seed in range(10):
            world = HEARTS.world(state, viewer, seed)
            assert not any(int(world.hands[seat]) & int(state.lacks[seat]) for seat in SEATS)
    return [int(lacks) for lacks in state.lacks]


def only(seat, excluded):
    return [excluded * (other == seat) for other in SEATS]


@pytest.mark.parametrize("leader", SEATS)
@pytest.mark.parametrize("lead_for_queen", [0, 1])
def test_6_1_who_leads_an_unbroken_heart_has_nothing_but_hearts(leader, lead_for_queen):
    hands = ["5H 6H 7H", "3S 4D 2H", "6C 7C 3H", "8C 9D QS"]
    state = play(position(hands, leader, lead_for_queen=lead_for_queen), "5H")
    kept = ALL_HEARTS | (QUEEN if lead_for_queen else 0)
    assert ruled_out(state) == only(leader, FULL & ~kept)


@pytest.mark.parametrize("leader", SEATS)
def test_6_1_who_plays_points_to_the_first_trick_has_nothing_but_points(leader):
    hand = suits("", "", "3456789TJQKA", "Q")
    for card in ("3H", "QS"):
        state = turned(play(first_trick(hand), card), leader)
        assert ruled_out(state) == only((leader + 1) % 4, FULL & ~(ALL_HEARTS | QUEEN))


def turned(state, steps):
    """The same position with each seat `steps` to the left."""
    copy = state.copy()
    for name in ("hands", "passed", "played", "lacks", "known", "taken", "tricks", "table", "totals"):
        copy[name][:] = np.roll(state[name], steps)
    copy.leader, copy.turn = (state.leader + steps) % 4, (state.turn + steps) % 4
    return copy


def test_6_1_what_was_chosen_freely_excludes_nothing():
    hands = ["AC 2D 5S 5H", "3C 4D 6S 6H", "6C 7C 7S 7H", "8C 9D 8S 8H"]
    for fields, names in (
        ({}, "AC 3C 6C 8C"),
        ({"broken": 1}, "5H 6H 7H 8H"),
        ({"must_break": 0}, "5H 6H 7H 8H"),
        ({}, "5S 6S 7S 8S"),
    ):
        assert ruled_out(play(position(hands, **fields), names)) == [0] * 4
    free = first_trick(suits("", "4", "3456789TJQK", "Q"), no_points_first=0)
    assert ruled_out(play(free, "QS")) == only(1, CLUBS)
    assert ruled_out(play(first_trick(suits("", "4", "3456789TJQK", "Q")), "4D")) == only(1, CLUBS)


def test_6_1_nobody_knows_where_the_two_of_clubs_is_while_cards_are_passed():
    state = after_deal(LEFT)
    holder = next(seat for seat in SEATS if int(state.hands[seat]) & 1)
    for viewer in SEATS:
        places = {
            seat for seed in range(200) for seat in SEATS if int(HEARTS.world(state, viewer, seed).hands[seat]) & 1
        }
        assert places == ({holder} if viewer == holder else {seat for seat in SEATS if seat != viewer})


# 7 Score


def scores(taken, **options):
    return HEARTS.points(play(position(LAST, taken=taken, **options), " ".join(LAST))).tolist()


SPLIT = [(1, suits(hearts="23456")), (2, f"{suits(hearts='789TJQKA')} QS")]
MOON = [(1, f"{HEARTS_TAKEN} QS")]


def test_7_1_the_score_is_the_share_of_the_points_that_were_avoided():
    assert scores(SPLIT) == pytest.approx([1, 21 / 26, 5 / 26, 1])
    assert scores(MOON) == [0, 1, 0, 0]
    assert scores(MOON, moon=0) == [1, 0, 1, 1]


def test_7_1_the_fewest_points_that_a_seat_can_have_score_one():
    assert scores([*SPLIT, (0, "JD")], jack=1) == pytest.approx([1, 21 / 36, 5 / 36, 26 / 36])
    assert scores(MOON, moon=2) == pytest.approx([26 / 52, 1, 26 / 52, 26 / 52])
    assert scores([(1, f"{HEARTS_TAKEN} QS JD")], moon=2, jack=1) == pytest.approx([26 / 62, 1, 26 / 62, 26 / 62])
    assert scores(SPLIT, no_trick_bonus=1) == pytest.approx([26 / 31, 26 / 31, 10 / 31, 1])
    assert scores(SPLIT, no_trick_bonus=1, jack=1) == pytest.approx([26 / 36, 26 / 36, 10 / 36, 31 / 36])
    assert scores(MOON, no_trick_bonus=1, moon=2) == pytest.approx([26 / 52, 1, 26 / 52, 26 / 52])


def test_7_2_a_round_of_a_match_is_one_round_after_others_that_are_drawn():
    starts = [HEARTS.new(4, seed, "match_round") for seed in range(400)]
    assert {int(start.rounds) for start in starts} == set(range(13))
    for start in starts:
        assert sum(int(points) for points in start.totals) == 26 * start.rounds
        assert max(start.totals) < 100
        assert start.direction == (1, 3, 2, 0)[start.rounds % 4]
    assert len({tuple(start.totals) for start in starts if start.rounds > 0}) > 300
    state, rounds = starts[0], int(starts[0].rounds)
    while state.turn >= 0:
        state = HEARTS.play(state, HEARTS.moves(state)[0])
    assert (int(state.rounds), sum(int(points) for points in state.totals)) == (rounds + 1, 26 * (rounds + 1))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([49, 50, 50, 50], [50, 50, 50, 50]),
        ([0, 50, 50, 50], [1, 50, 50, 50]),
        ([99, 10, 10, 20], [100, 10, 10, 20]),
    ],
)
def test_7_2_the_score_is_what_the_round_changed_in_the_share_of_the_win_that_the_totals_promise(before, now):
    state = at_the_end_of_a_round(before, [(0, "2H")], aim=4)
    assert (state.turn, [int(points) for points in state.totals]) == (NONE, now)
    after = [0, 0.5, 0.5, 0] if max(now) == 100 else promised(now)
    wanted = [(1 + new - old) / 2 for new, old in zip(after, promised(before), strict=True)]
    assert HEARTS.points(state).tolist() == pytest.approx(wanted, abs=1e-9)
    assert promised([1, 50, 50, 50]) == pytest.approx([0.9103, 0.0299, 0.0299, 0.0299], abs=1e-4)


def promised(totals):
    """The shares of the win that rule 7.2 promises in a match to 100 points."""
    parts = np.exp(-np.array(totals) / (4.73 + 1.36 * (100 - max(totals)) ** 0.5))
    return (parts / parts.sum()).tolist()


def decided(taken, hands=("9D 5C", "2D 6C", "3D 7C", "4D 8C"), **options):
    state = position(hands, taken=taken, **options)
    return [float(rules.decided(state, seat)) for seat in SEATS]


def test_the_score_is_decided_once_all_cards_that_count_are_taken():
    assert decided(SPLIT) == pytest.approx([1, 21 / 26, 5 / 26, 1])
    assert decided(MOON) == [0, 1, 0, 0]
    assert decided([(1, MOST_HEARTS), (2, "QS")]) == [-1] * 4
    assert decided([(1, HEARTS_TAKEN)]) == [-1] * 4
    assert decided(SPLIT, jack=1) == [-1] * 4
    assert decided(SPLIT, limit=100) == [-1] * 4
    assert decided(SPLIT, no_trick_bonus=1) == [-1] * 4


# Counts


@rule
def deal_held(state):
    """The k-th card of 2C..AC 2D..AD 2H..AH 2S..AS goes to seat k % 4, and nothing is passed."""
    for place in range(52):
        state.hands[place % 4] |= 1 << (4 * (place % 13) + place // 13)
    for seat in range(4):
        state.table[seat] = -1
    rules.start_play(state)


@rule
def deal_to_pass_left(state):
    deal_held(state)
    state.known[:] = 0
    state.direction, state.leader, state.turn = 1, -1, 0


@pytest.mark.parametrize(
    ("deal", "counts"),
    [
        (deal_held, [1, 3, 9, 27, 235, 703, 2176, 6480, 53537, 144239, 400221, 1156032]),
        (deal_to_pass_left, [13, 156, 1716, 22308]),
    ],
)
def test_sequences_of_moves_from_a_fixed_deal_are_counted_exactly(deal, counts):
    """The counts of two other implementations."""
    assert perft(HEARTS.changed(deal=deal), len(counts), 4, "standard") == [1, *counts]


# Properties of any game


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    choices=st.randoms(use_true_random=False),
    options=st.fixed_dictionaries(
        {
            "passing": st.integers(0, 2),
            "moon": st.integers(0, 2),
            **{name: st.integers(0, 1) for name in ("jack", "no_trick_bonus", "must_break", "queen_breaks")},
            **{name: st.integers(0, 1) for name in ("no_points_first", "lead_for_queen", "any_club")},
            "aim": st.sampled_from([0, 4]),
        }
    ),
)
def test_every_card_is_in_one_place_and_what_is_known_is_true(seed, choices, options):
    state, certain = game(**options).new(4, seed, "tried"), {}
    while state.turn >= 0:
        places = HEARTS.table.holdings(state)
        assert sum(places) == FULL
        assert sum(place.bit_count() for place in places) == 52
        for seat in SEATS:
            assert int(state.hands[seat]) & int(state.lacks[seat]) == 0
            assert int(state.known[seat]) & ~int(state.hands[seat]) == 0
            if seat not in certain and rules.decided(state, seat) != -1:
                certain[seat] = float(rules.decided(state, seat))
        moves = HEARTS.moves(state)
        state = HEARTS.play(state, moves[choices.randrange(len(moves))])
    assert sum(int(taken) for taken in state.taken) == FULL
    moon = any(int(taken) & rules.POINT_CARDS == rules.POINT_CARDS for taken in state.taken)
    bonuses = 10 * options["jack"]
    if not moon:
        bonuses += 5 * options["no_trick_bonus"] * sum(int(tricks) == 0 for tricks in state.tricks)
    points = 26 if not moon or options["moon"] == 0 else {1: 78, 2: -26}[options["moon"]]
    assert int(sum(state.totals)) == points - bonuses
    assert all(0 <= score <= 1 for score in HEARTS.points(state))
    assert all(HEARTS.points(state)[seat] == score for seat, score in certain.items())


# Text


def test_cards_are_read_as_people_and_other_programs_write_them():
    state = position(["QS TH 2D", "4D 5D 6D", "6C 7D 8D", "8C 9D TD"], broken=1)
    for text, name in (
        ("QS", "QS"), ("qs", "QS"), ("SQ", "QS"), ("Q♠", "QS"), ("♠Q", "QS"), ("leads QS", "QS"), ("play 2d", "2D"),
        ("10H", "TH"), ("h10", "TH"), ("TH", "TH"), ("10♥", "TH"),
    ):  # fmt: skip
        assert DECK52.name(HEARTS.text.parse(state, text)["card"]) == name


@pytest.mark.parametrize("text", ["", "QX", "passes QS", "QS KS", "SS", "plays", "plays QS now"])
def test_what_is_no_card_or_another_phases_verb_is_refused(text):
    with pytest.raises(ValueError, match=r"try: plays QS, or QS|is not a card"):
        HEARTS.text.parse(position(["QS 2D", "4D 5D", "6C 7D", "8C 9D"]), text)


def test_moves_are_spelled_by_what_they_do():
    state = after_deal(LEFT)
    assert HEARTS.text.spell(state, HEARTS.moves(state)[0]).startswith("passes ")
    state = position(["QS 2D", "4D 5D", "6C 7D", "8C 9D"])
    assert HEARTS.text.spell(state, HEARTS.moves(state)[0]) == "leads 2D"
    state = play(state, "2D")
    assert HEARTS.text.spell(state, HEARTS.moves(state)[0]) == "plays 4D"
    state = play(state, "4D")
    assert [HEARTS.text.spell(state, move) for move in HEARTS.moves(state)] == ["plays 7D"]
    state = play(position(["QS 2D", "4D 5D", "6C 7C", "8C 9D"]), "2D 4D")
    assert [HEARTS.text.spell(state, move) for move in HEARTS.moves(state)] == ["discards 6C", "discards 7C"]


def test_2_1_others_are_told_that_a_card_is_passed_and_not_which():
    state = after_deal(LEFT)
    tell = HEARTS.text.tell
    assert tell is not None
    assert {tell(state, move, 1) for move in HEARTS.moves(state)} == {"passes a card"}
    state = passed_on(state)
    assert tell(state, HEARTS.moves(state)[0], 1) == "leads 2C"


def test_show_has_the_own_pass_and_what_was_passed_to_the_seat_only():
    state = passed_on(after_deal(LEFT))
    for seat in SEATS:
        text = HEARTS.text.show(state, seat)
        assert f"You passed {DECK52.names(state.passed[seat])} to p{(seat + 1) % 4}" in text
        assert f"You got    {DECK52.names(state.passed[(seat - 1) % 4])} from p{(seat - 1) % 4}" in text
        assert DECK52.names(state.passed[(seat + 1) % 4]) not in text


def test_show_says_which_passed_cards_the_receiver_still_holds():
    state = passed_on(after_deal(LEFT))
    line = HEARTS.text.show(state, 0).splitlines()[2]
    known = DECK52.names(int(state.passed[0]) | int(state.known[1]))
    assert line.startswith("p1  13 cards")
    assert f"holds {known}" in line
    while int(state.passed[0]) & int(state.hands[1]):
        state = HEARTS.play(state, HEARTS.moves(state)[0])
    assert "holds" not in HEARTS.text.show(state, 0).splitlines()[2]


def test_show_has_cards_chosen_to_be_passed_apart_from_the_hand():
    state = HEARTS.play(after_deal(LEFT), HEARTS.moves(after_deal(LEFT))[0])
    chosen = DECK52.names(state.passed[0])
    assert f"You pass   {chosen} to p1" in HEARTS.text.show(state, 0)
    assert chosen not in HEARTS.text.show(state, 0).splitlines()[-1]
    assert "You pass" not in HEARTS.text.show(state, 1)


def test_the_ending_says_the_points_and_who_shot_the_moon():
    ending = HEARTS.text.ending
    assert ending is not None
    assert (
        ending(play(position(LAST, taken=SPLIT), " ".join(LAST))) == "Points: p0 has 0, p1 has 5, p2 has 21, p3 has 0."
    )
    shot = play(position(LAST, taken=MOON), " ".join(LAST))
    assert ending(shot) == "p1 shot the moon. Points: p0 has 26, p1 has 0, p2 has 26, p3 has 26."
    match = at_the_end_of_a_round([99, 10, 10, 20], [(0, "2H")])
    assert (
        ending(match) == "Points after 1 round: p0 has 100, p1 has 10, p2 has 10, p3 has 20; p1 and p2 share the win."
    )
