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


def test_1_3_without_a_trump_the_first_attacker_is_drawn():
    states = [GAME.new(2, seed) for seed in range(6000)]
    firsts = [int(state.attacker) for state in states if state.lowest_trump == rules.NONE]
    assert len(firsts) > 50
    assert abs(sum(firsts) - len(firsts) / 2) < 2.5 * np.sqrt(len(firsts))


def test_2_1_what_does_not_beat_is_refused_by_name():
    state = position(["6D", "6C 9D"], "7C", "", "7C")
    with pytest.raises(ValueError, match="9D' is no move here; a move is takes"):
        play(state, "beats with 9D")


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


def test_2_6_the_trump_of_the_rank_beats_or_transfers():
    state = attacked(["KC", "7S AH", "8C 9D TS"], "7C", stock="6C")
    assert spelled(state) == ["transfers with 7S", "beats 7C with 7S", "takes"]
    assert [GAME.table.picks(state, move) for move in GAME.moves(state)] == [1 << 7, 1 << 7, 0]
    beaten = play(state, "beats with 7S")
    assert (names(beaten.attacks), names(beaten.beats), int(beaten.defender)) == ("7C", "7S", 1)
    state = play(state, "transfers with 7S")
    assert (names(state.attacks), int(state.defender), names(state.hands[1])) == ("7C 7S", 2, "AH")
    assert spelled(play(state, "beats 7C with 8C")) == ["beats 7S with TS", "takes"], "a trump is beaten by trumps"


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
