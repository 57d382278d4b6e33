"""Durak's rules one by one, in positions set up for each; numbers are those of games/durak/RULES.md."""

import numpy as np
import pytest

import cardai
from cardai.games.durak import rules
from cardai.rules.cards import DECK36, DECK52

GAME, WHOLE = cardai.load("durak"), cardai.load("durak52")
FULL = (1 << 36) - 1


def position(hands, attacks="", beats="", unbeaten="", stock="", bottom="", trump="S", known=(), **fields):
    """A position: hands by seat; seat 0 attacks seat 1. Cards that are not named have left the game."""
    state = GAME.options(len(hands), fields.pop("variant", "podkidnoy"))[0]
    for seat, hand in enumerate(hands):
        state.hands[seat] = DECK36.cards(hand)
    for seat, cards in dict(known).items():
        state.known[seat] = DECK36.cards(cards)
    state.attacks, state.beats, state.unbeaten = (DECK36.cards(cards) for cards in (attacks, beats, unbeaten))
    state.stock, state.bottom = DECK36.cards(stock), DECK36.cards(bottom)
    everywhere = DECK36.cards(" ".join([*hands, attacks, beats, stock, bottom]))
    state.discards = FULL & ~everywhere
    state.trump = "CDHS".index(trump)
    state.trump_card = DECK36.card(bottom) if bottom else rules.NONE
    state.lowest_trump = int(state.trump)
    state.drew = (1 << len(hands)) - 1
    state.playing = (1 << len(hands)) - 1
    state.attacker, state.defender, state.lead, state.turn = 0, 1, 0, 1 if unbeaten else 0
    state.limit = min(6, int(state.hands[1] | state.beats).bit_count())
    for name, value in fields.items():
        state[name] = value
    return state


def spelled(state):
    return [GAME.text.spell(state, move) for move in GAME.moves(state)]


def play(state, *texts):
    for text in texts:
        state = GAME.play(state, GAME.text.parse(state, text))
    return state


def names(cards):
    return DECK36.names(cards)


@pytest.mark.parametrize("variant", GAME.variants)
def test_1_1_six_cards_each_of_thirty_six(variant):
    for seats in GAME.seats:
        state = GAME.new(seats, seats, variant)
        assert [int(hand).bit_count() for hand in state.hands] == [6] * seats + [0] * (6 - seats)
        places = [*state.hands, state.stock, state.bottom]
        assert sum(map(int, places)) == FULL
        assert sum(int(place).bit_count() for place in places) == 36


@pytest.mark.parametrize("seats", GAME.seats)
def test_1_1_a_deck_of_twenty_four_has_nine_to_ace_and_gives_five_or_six_players_four_cards_each(seats):
    state = GAME.new(seats, seats, "podkidnoy?cards=24")
    places = [*state.hands, state.stock, state.bottom]
    assert sum(map(int, places)) == sum(1 << card for card in range(12, 36))
    assert [int(hand).bit_count() for hand in state.hands[:seats]] == [6 if seats < 5 else 4] * seats
    held = {card for card in range(36) if sum(map(int, state.hands)) >> card & 1 and card & 3 == int(state.trump)}
    assert int(state.lowest_trump) == min(held, default=rules.NONE)


@pytest.mark.parametrize("seats", WHOLE.seats)
def test_1_1_a_deck_of_fifty_two_has_two_to_ace_and_gives_six_cards_each(seats):
    for variant in WHOLE.variants:
        state = WHOLE.new(seats, seats, variant)
        assert [int(hand).bit_count() for hand in state.hands[:seats]] == [6] * seats
        assert sum(map(int, [*state.hands, state.stock, state.bottom])) == (1 << 52) - 1
        world = WHOLE.world(state, 0, seats)
        assert sum(map(int, [*world.hands, world.stock, world.bottom])) == (1 << 52) - 1


def whole(hands, attacks="", **fields):
    """A position with 52 cards and spades as trump: seat 0 attacks seat 1, whose turn it is if there are attacks."""
    state = WHOLE.options(len(hands), fields.pop("variant", "podkidnoy"))[0]
    for seat, hand in enumerate(hands):
        state.hands[seat] = state.known[seat] = DECK52.cards(hand)
    state.attacks = state.unbeaten = DECK52.cards(attacks)
    state.discards = (1 << 52) - 1 & ~DECK52.cards(" ".join([*hands, attacks]))
    state.trump, state.trump_card, state.lowest_trump, state.playing = 3, rules.NONE, 3, (1 << len(hands)) - 1
    state.defender, state.turn, state.limit = 1, 1 if attacks else 0, int(state.hands[1]).bit_count()
    for name, value in fields.items():
        state[name] = value
    return state


def test_of_fifty_two_cards_a_move_is_the_number_of_its_card_or_52_for_no_card():
    assert [int(move.card) for move in WHOLE.moves(whole(["", "3C AS"], "2C"))] == [4, 51, 52]
    assert sorted(WHOLE.learning.actions.values()) == list(range(53))
    with pytest.raises(cardai.CardaiError, match="cards is 52, not '36'"):
        WHOLE.new(2, 1, "podkidnoy?cards=36")


def test_1_2_with_twenty_four_cards_dealt_out_the_turned_up_card_is_the_last_one_dealt():
    for seats in (4, 6):
        state = GAME.new(seats, 1, "podkidnoy?cards=24")
        assert int(state.stock | state.bottom) == 0
        assert int(state.known[seats - 1]) & 1 << int(state.trump_card)


def test_1_2_a_world_of_a_small_deck_holds_no_small_card():
    state = GAME.new(2, 3, "podkidnoy?cards=24")
    for seed in range(20):
        world = GAME.world(state, 0, seed)
        assert (int(world.hands[1]) | int(world.stock)) & ((1 << 12) - 1) == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("podkidnoy?cards=52", "cards is 0 or 24"), ("report?first_five=3", "first_five.*0, 1 or 2")],
)
def test_an_option_that_the_game_does_not_have_is_refused_with_its_values(text, sentence):
    with pytest.raises(cardai.CardaiError, match=sentence):
        GAME.new(2, 1, text)


def test_1_2_the_turned_up_card_shows_trump_at_the_bottom_and_is_the_last_one_dealt_to_six():
    suits = set()
    for seed in range(100):
        state = GAME.new(2 + seed % 5, seed)
        card = int(state.trump_card)
        suits.add(int(state.trump))
        assert card & 3 == int(state.trump)
        if int(state.seats) < 6:
            assert int(state.bottom) == 1 << card
        else:
            assert int(state.bottom) == int(state.stock) == 0
            assert state.known[5] & state.hands[5] & (1 << card)
    assert suits == {0, 1, 2, 3}


def test_1_2_the_report_has_one_trump_suit_no_card_shown_and_no_hand_of_five_of_a_suit():
    for seed in range(300):
        state = GAME.new(2 + seed % 5, seed, "report")
        assert (int(state.trump), int(state.bottom)) == (3, 0)
        assert max(suit_counts(state)) <= 4
    assert max(max(suit_counts(GAME.new(6, seed))) for seed in range(300)) >= 5


def suit_counts(state):
    clubs = sum(1 << card for card in range(0, 36, 4))
    return [(int(hand) >> suit & clubs).bit_count() for hand in state.hands for suit in range(4)]


@pytest.mark.parametrize("variant", GAME.variants)
def test_1_3_the_lowest_trump_attacks_first_and_is_shown(variant):
    for seed in range(100):
        state = GAME.new(2 + seed % 5, seed, variant)
        held = {
            card: seat for seat in range(int(state.seats)) for card in DECK36.listed(state.hands[seat])
            if card & 3 == int(state.trump)
        }  # fmt: skip
        if held:
            assert int(state.lowest_trump) == min(held)
            assert int(state.attacker) == int(state.turn) == held[min(held)]
            assert state.known[state.attacker] & (1 << min(held))
        else:
            assert int(state.lowest_trump) == rules.NONE


def test_1_3_without_a_trump_the_first_attacker_is_drawn():
    states = [GAME.new(2, seed) for seed in range(6000)]
    firsts = [int(state.attacker) for state in states if state.lowest_trump == rules.NONE]
    assert len(firsts) > 50
    assert abs(sum(firsts) - len(firsts) / 2) < 2.5 * np.sqrt(len(firsts))


def test_2_1_the_defender_beats_in_suit_or_with_trumps_or_takes():
    hand = "6C 9C KC 9D 6S QS"
    assert spelled(position(["", hand], "8C", "", "8C")) == [
        "beats 8C with 6S", "beats 8C with 9C", "beats 8C with QS", "beats 8C with KC", "takes",
    ]  # fmt: skip
    assert spelled(position(["", hand], "7S", "", "7S")) == ["beats 7S with QS", "takes"]
    assert spelled(position(["", "6C 6D"], "7C", "", "7C")) == ["takes"]


def test_2_1_what_does_not_beat_is_refused_by_name():
    state = position(["6D", "6C 9D"], "7C", "", "7C")
    with pytest.raises(ValueError, match="9D' is no move here; a move is takes"):
        play(state, "beats with 9D")


def test_2_2_added_cards_have_a_rank_on_the_table():
    state = position(["7D 9H TC AC", "KC KD", "8S"], "7C", "9C")
    assert spelled(state) == ["adds 7D", "adds 9H", "passes"]


def test_2_2_the_right_to_add_passes_to_the_left_over_the_defender_and_those_without_cards():
    state = position(["7D", "KC KD", "", "8C", "7H"], "7C", "9C", stock="6C", lead=3, turn=3)
    state = play(state, "passes")
    assert int(state.turn) == 4
    state = play(state, "passes")
    assert int(state.turn) == 0
    assert names(state.attacks) == "7C"
    assert names(play(state, "passes").discards & DECK36.cards("7C 9C")) == "7C 9C"


@pytest.mark.parametrize("option", range(3))
def test_2_3_five_attack_cards_in_the_first_bout_or_until_a_discard(option):
    """OpenFool #21 asks for "first discard" of 5 cards, durakengine #7 for "5 before the first discard"."""
    rng, at_most, later_fives = np.random.default_rng(option), set(), 0
    for seed in range(40):
        state, bouts = GAME.new(3, seed, f"podkidnoy?first_five={option}"), 0
        while state.turn >= 0 and bouts < 4:
            held = int(state.hands[state.defender]).bit_count()
            is_early = (option == 1 and bouts == 0) or (option == 2 and state.discards == 0)
            assert int(state.limit) == min(5 if is_early else 6, held)
            later_fives += bouts > 0 and int(state.limit) == 5 < held
            taking = rng.integers(2)
            state = play(state, spelled(state)[0])
            while state.attacks:
                if state.turn >= 0:
                    at_most.add((is_early, int(state.attacks).bit_count()))
                moves = spelled(state)
                state = play(state, moves[-1] if taking and int(state.turn) == int(state.defender) else moves[0])
            bouts += 1
    assert all(most <= (5 if is_early else 6) for is_early, most in at_most)
    assert (later_fives > 5) == (option == 2)


def test_2_4_the_bout_ends_when_the_defender_has_no_card_left():
    state = position(["7D 9H", "9C", "7H"], "7C", "", "7C", stock="6C 6D 6H 6S TC TD TH TS JC JD JH")
    state = play(state, "beats with 9C")
    assert int(state.attacks) == 0
    assert [int(hand).bit_count() for hand in state.hands[:3]] == [6, 2, 6]


def test_2_4_after_a_take_others_add_up_to_the_limit_in_podkidnoy():
    state = play(position(["7D 7H 7S", "KD KC", "9D"], "7C", "", "7C"), "takes")
    assert spelled(state) == ["adds 7D", "adds 7H", "adds 7S", "passes"]
    state = play(state, "adds 7D")
    assert names(state.hands[1]) == "7C 7D KC KD", "the defender held two cards"
    state = play(position(["7D 7H 7S", "KD KC QC", "9D"], "7C", "", "7C"), "takes", "adds 7D", "passes", "passes")
    assert names(state.hands[1]) == "7C 7D QC KC KD"


def test_2_5_taken_cards_are_known_and_beaten_ones_discarded():
    state = play(position(["7D", "KD KC QC", "6C"], "7C 8C", "9C", "8C"), "takes", "passes", "passes")
    assert names(state.known[1]) == "7C 8C 9C"
    state = play(position(["7D 8D", "KD KC 8S"], "7C", "9C"), "passes")
    assert int(state.discards) & DECK36.cards("7C 9C") == DECK36.cards("7C 9C")


def test_3_1_the_attacker_draws_first_then_clockwise_and_the_defender_last():
    hands = ["6C 6D 6H 6S", "KC KD KH", "7C 7D 7H 7S", "8C 8D 8H 8S"]
    state = position(hands, "9C", "TC", stock="AC AD AH AS JC", lead=2, attacker=2, defender=3, turn=2)
    state = play(state, "passes", "passes", "passes")
    assert [int(hand).bit_count() for hand in state.hands[:4]] == [6, 4, 6, 4], "two for 2, two for 0, one for 1"
    assert int(state.revealed) == 0b0111


def test_3_1_the_turned_up_card_is_drawn_last_and_known():
    state = position(["6C 6D 6H 6S 7C", "KC KD KH QC JC", "7D 7H 7S 8C 8D 8H"], "9C", "TC", stock="AC", bottom="8S")
    state = play(state, "passes", "passes")
    assert names(state.known[1]) == "8S"
    assert int(state.revealed) == 0b01
    assert int(state.bottom) == 0


def test_3_2_players_without_cards_leave_once_the_deck_is_empty():
    state = play(position(["", "KC KD", "6C", "6D"], "9C", "TC", lead=2, turn=2), "passes", "passes")
    assert int(state.playing) == 0b1110
    state = play(position(["", "KC KD", "6C", "6D"], "9C", "TC", stock="8C", lead=2, turn=2), "passes", "passes")
    assert names(state.hands[0]) == "8C"
    assert int(state.playing) == 0b1111


@pytest.mark.parametrize(
    ("hand", "answer", "following"),
    [("TC KD", "beats with TC", 1), ("KD KH", "takes", 2), ("TC", "beats with TC", 2)],
)
def test_3_3_the_defender_attacks_next_unless_it_took_or_left(hand, answer, following):
    state = position(["6C", hand, "6D", "6H"], "9C", "", "9C")
    state = play(state, answer)
    while state.attacks != 0:
        state = play(state, "passes")
    assert int(state.attacker) == int(state.turn) == following


def attacked(hands, attacks, **fields):
    """A position of `perevodnoy` in which seat 1 defends against `attacks`, all of one rank and none beaten."""
    state = position(hands, attacks, "", attacks, **{"variant": "perevodnoy"} | fields)
    state.limit = rules.room_against(state, 1)
    state.transferable = rules.ways_to_transfer(state)
    return state


def test_2_6_a_card_of_the_rank_transfers_the_attack_to_the_next_player_on_the_left():
    """OpenFool #30 words the rule."""
    state = attacked(["KC", "7D AH", "8C 9D QS"], "7C", stock="6C")
    assert spelled(state) == ["transfers with 7D", "takes"]
    state = play(state, "transfers with 7D")
    assert (int(state.attacker), int(state.defender), int(state.turn)) == (1, 2, 2)
    assert names(state.hands[1]) == "AH", "the card leaves the hand: durakengine #1"
    assert names(state.attacks) == names(state.unbeaten) == "7C 7D"
    assert spelled(state) == ["beats 7C with 8C", "beats 7C with QS", "takes"]


def test_2_6_nobody_transfers_without_the_option():
    for variant in ("podkidnoy", "report"):
        assert spelled(attacked(["KC", "7D 7S", "8C 9D"], "7C", variant=variant)) == ["beats 7C with 7S", "takes"]


def test_2_6_the_trump_of_the_rank_beats_or_transfers():
    state = attacked(["KC", "7S AH", "8C 9D TS"], "7C", stock="6C")
    assert spelled(state) == ["transfers with 7S", "beats 7C with 7S", "takes"]
    assert [GAME.table.picks(state, move) for move in GAME.moves(state)] == [1 << 7, 1 << 7, 0]
    beaten = play(state, "beats with 7S")
    assert (names(beaten.attacks), names(beaten.beats), int(beaten.defender)) == ("7C", "7S", 1)
    state = play(state, "transfers with 7S")
    assert (names(state.attacks), int(state.defender), names(state.hands[1])) == ("7C 7S", 2, "AH")
    assert spelled(play(state, "beats 7C with 8C")) == ["beats 7S with TS", "takes"], "a trump is beaten by trumps"


def test_2_6_nobody_transfers_to_a_player_with_fewer_cards_than_the_attack_would_have():
    """The written rule: no transfer to a player who has fewer cards than are transferred."""
    for third, may in (("", False), ("8C", False), ("8C 9D", True)):
        state = attacked(["KC KD", "7D AH", third, "QC QD QH"], "7C", stock="6C")
        assert ("transfers with 7D" in spelled(state)) == may
    state = attacked(["KC KD KH", "7D AH", "8C 9D", "QC QD QH"], "7C 7H")
    assert "transfers with 7D" not in spelled(state), "three cards to two"


def test_2_6_between_two_the_attack_goes_back_to_who_began_it_if_they_have_cards_for_it():
    """durakengine #26: with nobody else to take the attack, the defender could transfer it to itself."""
    state = play(attacked(["8C KD", "7D AH"], "7C"), "transfers with 7D")
    assert (int(state.attacker), int(state.defender), int(state.turn)) == (1, 0, 0)
    assert spelled(attacked(["KD", "7D AH"], "7C")) == ["takes"]
    assert spelled(attacked(["", "7D AH"], "7C")) == ["takes"]


def test_5_4_a_card_that_transfers_was_dealt_or_drawn_as_any_other_card_played():
    state = attacked(["KC", "7D AH", "8C 9D"], "7C", stock="6C", drew=0, known={1: "7D"})
    known = play(state, "transfers with 7D")
    assert int(known.dealt[1]) == 0
    assert int(known.known[1]) == 0
    state.known[1] = 0
    assert names(play(state, "transfers with 7D").dealt[1]) == "7D"


def showing(hands, attacks, **fields):
    """A position in which seat 1 defends against `attacks` and trumps may be shown."""
    return attacked(hands, attacks, **{"variant": "perevodnoy?transfer=2"} | fields)


def test_2_7_the_trump_of_the_rank_transfers_if_it_is_shown_and_stays_in_the_hand():
    state = showing(["KC", "7S AH", "8C 9D"], "7C")
    assert sorted(spelled(state)) == ["beats 7C with 7S", "shows 7S", "takes", "transfers with 7S"]
    state = play(state, "shows 7S")
    assert (names(state.hands[1]), names(state.known[1])) == ("7S AH", "7S")
    assert (names(state.attacks), names(state.unbeaten)) == ("7C", "7C")
    assert (int(state.attacker), int(state.defender), int(state.turn), int(state.limit)) == (1, 2, 2, 2)
    assert spelled(state) == ["beats 7C with 8C", "takes"]
    assert {
        names(GAME.world(state, seat, seed).hands[1] & DECK36.cards("7S")) for seat in (0, 2) for seed in range(9)
    } == {"7S"}


def test_2_7_only_the_trump_of_the_rank_is_shown_and_only_before_a_card_is_beaten():
    assert spelled(showing(["KC", "8S 7D", "8C 9D"], "7C")) == ["transfers with 7D", "beats 7C with 8S", "takes"]
    state = play(showing(["KC 9C", "7S 8D AH", "8C 9D"], "7C 7D"), "beats 7C with 7S")
    assert spelled(state) == ["beats 7D with 8D", "takes"]
    assert "shows 7S" not in spelled(showing(["KC", "8S AH", "8C 9D"], "7S"))


@pytest.mark.parametrize(
    ("attacks", "number"), [("7C", "6D"), ("6C", "7D"), ("7D", "6C"), ("AC", "KD"), ("7C 7D", "6D")]
)
def test_2_7_to_show_has_the_number_that_the_rules_say(attacks, number):
    state = showing(["KH", f"{attacks[0]}S {number}", "8C 9D TD"], attacks)  # nor does it matter who holds that card
    (shown,) = (move for move in GAME.moves(state) if GAME.text.spell(state, move).startswith("shows"))
    assert DECK36.name(shown.card) == number
    assert GAME.text.parse(state, GAME.text.spell(state, shown)) == shown
    assert DECK36.names(GAME.table.picks(state, shown)) == f"{attacks[0]}S"


def test_2_7_a_shown_card_counts_as_one_that_may_have_been_dealt():
    state = play(showing(["KC", "7S AH", "8C 9D"], "7C", drew=0), "shows 7S")
    assert names(state.dealt[1]) == "7S"
    assert int(state.since[1]) == 0
    state = play(showing(["KC", "7S AH", "8C 9D"], "7C", drew=0b010), "shows 7S")
    assert names(state.since[1]) == "7S"


def test_4_1_the_last_with_cards_has_lost():
    state = play(position(["", "KC KD"], "9C", "", "9C"), "takes")
    assert int(state.turn) == -1
    assert list(GAME.points(state)) == [1, 0]


def test_4_1_those_who_leave_together_last_share_and_earlier_leavers_have_won():
    state = position(["", "KC", "", ""], "9C", "", "9C", playing=0b1011)
    state = play(state, "beats with KC")
    assert int(state.turn) == -1
    assert list(GAME.points(state)) == [0.5, 0.5, 1, 0.5]


def test_5_1_a_card_played_is_no_longer_known():
    state = position(["7C 7D", "KC"], known={0: "7C"})
    assert int(play(state, "attacks 7C").known[0]) == 0
    assert names(play(state, "attacks 7D").known[0]) == "7C"


def test_5_3_two_players_without_a_deck_have_no_secrets():
    state = play(position(["7D 8D", "KD KC 8S", ""], "7C", "9C", playing=0b111), "passes")
    assert list(state.known[:2]) == list(state.hands[:2])
    for seat in range(3):
        world = GAME.world(state, seat, seed=4)
        assert list(world.hands) == list(state.hands)


def test_a_move_is_the_number_of_its_card_or_36_for_no_card():
    assert [int(move.card) for move in GAME.moves(position(["", "6C AS"], "8C", "", "8C"))] == [35, 36]
    assert sorted(GAME.learning.actions.values()) == list(range(37))
    assert all(fields == (number,) for fields, number in GAME.learning.actions.items())


def test_show_names_roles_and_known_cards_and_no_hidden_card():
    state = position(["7D 7H", "KD KC", "9D JD"], "7C", "9C", stock="6C", bottom="8S", known={1: "KD"}, passed=4)
    text = GAME.text.show(state, seat=2)
    assert "Trump spades (S), lowest dealt: 6S; 2 cards in the deck, 8S at the bottom." in text
    assert "p0  2 cards, attacker\n" in text
    assert "p1  2 cards, defender, known: KD\n" in text
    assert "p2  2 cards, passed (you)\n" in text
    assert not {"KC", "7D", "7H"} & set(text.replace(",", " ").split())


def test_without_a_deck_a_position_can_occur_again():
    """Three players who always take pass two cards around: nothing in the rules ends such a game."""
    first = state = position(["6C 9H", "9D", "7C 9C"])
    for card, attacker, defender in (
        ("6C", 0, 1), ("7C", 2, 0), ("6C", 1, 2), ("7C", 0, 1), ("6C", 2, 0), ("7C", 1, 2)
    ):  # fmt: skip
        assert (state.attacker, state.defender) == (attacker, defender)
        state = play(state, f"attacks {card}", "takes")
        while state.attacks:
            state = play(state, "passes")
    for name in ("hands", "stock", "discards", "attacks", "attacker", "defender", "turn", "playing", "taking"):
        assert np.array_equal(state[name], first[name]), name
