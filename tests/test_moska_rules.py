"""Moska's rules one by one, in positions set up for each; numbers are those of games/moska/RULES.md."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cardai
from cardai.games.moska import moves, rules
from cardai.rules.cards import DECK52, beaters

GAME = cardai.load("moska")


def position(hands, table="", killed="", deck="", turn=0, target=1, trump="S", ready=(), known=(), **fields):
    """A position: hands by seat, the deck from the bottom. Cards that are not named have left the game."""
    state = GAME.options(len(hands), fields.pop("variant", "thesis"))[0]
    everywhere = 0
    for seat, hand in enumerate(hands):
        state.hands[seat] = DECK52.cards(hand)
        everywhere |= int(state.hands[seat])
    for seat, cards in dict(known).items():
        state.known[seat] = DECK52.cards(cards)
    cards = [DECK52.card(name) for name in deck.split()]
    state.deck[:] = rules.NONE
    state.deck[: len(cards)] = cards
    state.deck_left = len(cards)
    state.table, state.killed = DECK52.cards(table), DECK52.cards(killed)
    everywhere |= int(state.table) | int(state.killed) | DECK52.cards(deck)
    state.discards = (1 << 52) - 1 & ~everywhere
    state.trump = "CDHS".index(trump)
    state.trump_card = cards[0] if cards else DECK52.card("2" + trump)
    state.playing = sum(1 << seat for seat, hand in enumerate(hands) if hand or cards or seat == target)
    state.ready = sum(1 << seat for seat in ready)
    state.drawn = (1 << len(hands)) - 1
    state.turned, state.last, state.pending, state.bout_deck = rules.NONE, rules.NONE, rules.SKIP, bool(cards)
    state.turn, state.target = turn, target
    for name, value in fields.items():
        state[name] = value
    return state


def spelled(state):
    return [GAME.text.spell(state, move) for move in GAME.moves(state)]


def play(state, text):
    return GAME.play(state, GAME.text.parse(state, text))


def names(cards):
    return DECK52.names(cards)


def test_1_1_six_cards_each_and_1_2_the_trump_card_at_the_bottom():
    for seats in GAME.seats:
        state = GAME.new(seats=seats, seed=seats)
        hands = state.hands[:seats]
        assert [int(hand).bit_count() for hand in hands] == [6] * seats
        assert int(state.deck_left) == 52 - 6 * seats
        assert int(state.trump_card) == int(state.deck[0])
        assert int(state.trump_card) & 3 == int(state.trump)


def test_1_3_the_two_of_trumps_is_exchanged_and_the_card_known():
    exchanged = kept = 0
    for seed in range(300):
        state = GAME.new(seed=seed)
        two = 1 << int(state.trump)
        holders = [seat for seat in range(4) if state.hands[seat] & two]
        assert holders == [], "somebody still holds the two of trumps"
        if int(state.deck[0]) == int(state.trump):
            receivers = [seat for seat in range(4) if state.known[seat]]
            exchanged += len(receivers)
            assert all(state.known[seat] & state.hands[seat] == state.known[seat] for seat in receivers)
        else:
            kept += 1
            assert not state.known.any()
    assert exchanged > 50
    assert kept > 50


def test_1_4_every_seat_is_the_first_target_equally_often():
    targets = np.bincount([int(GAME.new(seed=seed).target) for seed in range(4000)], minlength=4)
    assert abs(targets - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)


def test_1_4_the_initiating_player_sits_on_the_targets_right():
    assert rules.initiating_seat(position(["6C", "7C", "8C"], target=1)) == 0
    assert rules.initiating_seat(position(["", "7C", "8C"], target=1, turn=2)) == 2


@pytest.mark.parametrize(("variant", "allowed"), [("thesis", False), ("appendix", True)])
def test_2_4_once_the_deck_is_gone_the_target_may_attack_itself_in_the_appendix_only(variant, allowed):
    state = position(["5C", "6C", "KD"], table="6H", turn=1, bout_deck=1, variant=variant)
    assert ("plays 6C to himself" in spelled(state)) == allowed


def brute_force_kills(hand, table, trump):
    """All (killers, targets) for which some matching exists, found by trying every matching."""
    found = set()
    hand, table = DECK52.listed(hand), DECK52.listed(table)
    for size in range(1, min(len(hand), len(table)) + 1):
        for targets in combinations(table, size):
            for cards in permutations(hand, size):
                if all(int(beaters(t, trump)) >> c & 1 for c, t in zip(cards, targets, strict=True)):
                    found.add((sum(1 << c for c in cards), sum(1 << t for t in targets)))
    return found


@given(
    st.lists(st.integers(0, 51), min_size=2, max_size=10, unique=True), st.integers(1, 5), st.integers(0, 3), st.data()
)
@settings(max_examples=200, deadline=None)
def test_3_1_kills_are_complete_and_distinct(cards, on_table, trump, data):
    on_table = min(on_table, len(cards) - 1)
    table = sum(1 << c for c in cards[:on_table])
    hand = sum(1 << c for c in cards[on_table : on_table + 5])
    buffer = np.zeros(1000, GAME.move)
    n = moves.list_kills(hand, table, trump, buffer, 0)
    listed = [(int(m.cards), int(m.targets)) for m in buffer[:n]]
    assert listed == sorted(brute_force_kills(hand, table, trump))
    chosen = sum(1 << c for c in data.draw(st.sets(st.sampled_from(cards))))
    pair = (chosen & hand, chosen & table)
    if pair[0] and pair[1]:
        assert bool(moves.is_kill(*pair, trump)) == (pair in listed)


def test_3_2_the_deck_may_be_turned_unless_a_deck_card_lies_unkilled():
    state = position(["5C", "7C", "KD"], table="6H", deck="2S 9D 9C", turn=1)
    assert "turns the deck" in spelled(state)
    after = play(state, "turns the deck")  # 9C kills nothing
    assert names(after.table) == "6H 9C"
    assert names(after.barring) == "9C"
    after.turn = 1
    assert "turns the deck" not in spelled(after)


def test_3_2_a_turned_card_must_kill_if_it_can_and_the_target_chooses_which_card():
    state = position(["5C", "7C", "KD"], table="6H TH QH", deck="2S 9D JH", turn=1)
    asked = play(state, "turns the deck")
    assert (int(asked.turn), int(asked.midway)) == (1, 1)
    assert spelled(asked) == ["kills 6H with turned JH", "kills TH with turned JH"]
    after = play(asked, "kills TH with turned JH")
    assert names(after.killed) == "TH JH"
    assert names(after.table) == "6H QH"


def test_4_4_after_a_skip_the_player_is_ready_and_after_another_move_nobody_else_is():
    state = position(["6C 6D", "7C 8C 9C", "KD"], table="6H", turn=2, ready=[0])
    assert int(play(state, "skips").ready) == 0b101
    state.turn, state.ready = 0, 0b100
    assert int(play(state, "attacks 6C").ready) == 0b001


def test_4_4_in_the_appendix_an_attacker_who_has_played_is_asked_again():
    state = position(["6C 6D", "7C 8C 9C", "KD"], table="6H", turn=0, ready=[2], variant="appendix")
    assert int(play(state, "attacks 6C").ready) == 0


def test_4_4_a_new_bout_begins_with_nobody_ready():
    assert int(play(position(["5C", "7C", "KD"], table="6H", turn=1, ready=[0, 2]), "ends, picks 6H").ready) == 0


def test_5_2_with_two_left_an_attacker_who_plays_the_last_card_in_hand_has_won():
    after = play(position(["6C", "7C 8C"], table="6H", turn=0), "attacks 6C")
    assert int(after.turn) == -1
    assert GAME.points(after).tolist() == [1.0, 0.0]


def test_6_1_a_seat_that_is_not_ready_is_asked_but_not_the_last_mover():
    asked = set()
    for seed in range(200):
        state = position(["6C 6D", "7C 8C 9C", "KD", "KC"], table="6H", turn=0, ready=[3], rng=seed)
        asked.add(int(play(state, "skips").turn))
    assert asked == {1, 2}


def test_6_1_the_last_mover_is_asked_if_nobody_else_is_left():
    state = position(["6C 6D", "7C 8C 9C", "KD"], table="6H", turn=0, ready=[1, 2], variant="appendix")
    asked = {int(play(state, "attacks 6C").turn)}
    assert asked <= {1, 2}
    alone = position(["6C 6D", "7C 8C 9C", ""], table="6H", turn=0, ready=[1], variant="appendix")
    assert int(play(alone, "skips").turn) == 1


def test_6_2_when_all_attackers_are_ready_the_target_is_asked():
    state = position(["6C 6D", "7C 8C 9C", "KD"], table="6H", turn=0, ready=[1, 2])
    assert int(play(state, "skips").turn) == 1


def test_7_3_with_two_left_and_no_deck_everything_is_known():
    state = position(["5C 6C", "7C 8C"], table="6H", turn=1, ready=[0])
    assert names(play(state, "ends, picks 6H").known[0]) == "5C 6C"


def kinds_allowed(state):
    """The kinds of which some move is legal. If a set of cards may be played, so may one card, or one kills another."""
    cards = [1 << card for card in range(52)]
    sets = {
        rules.END: [(int(state.table), 0), (int(state.table | state.killed), 0)],
        rules.KILL: [(card, target) for card in cards for target in cards if card & int(state.hands[state.turn])],
        rules.TURN: [(0, 0)],
        rules.SKIP: [(0, 0)],
    }
    move, kinds = np.zeros(1, GAME.move)[0], set()
    for kind in range(8):
        for chosen, targets in sets.get(kind, [(card, 0) for card in cards]):
            move["kind"], move["cards"], move["targets"] = kind, chosen, targets
            if kind not in kinds and GAME.is_allowed(state, move):
                kinds.add(kind)
    return kinds


def test_a_truncated_list_has_every_kind_of_move_that_is_legal():
    """Target and attackers with 14 to 34 cards in hand: often a single card may be played, or a single one kills."""
    chance, seen = np.random.default_rng(8), []
    while len(seen) < 150:
        cards = chance.permutation(52)
        size, on_table, dead, role = (int(chance.integers(*bounds)) for bounds in ((14, 35), (1, 7), (0, 3), (0, 2)))
        parts = np.split(cards[:-2], np.cumsum([size, on_table, dead]))
        big, table, killed, other = (DECK52.names(sum(1 << int(card) for card in part)) for part in parts)
        hands = [other, big] if role else [big, other]
        deck = " ".join(DECK52.name(card) for card in cards[-2:])
        state = position(hands, table=table, killed=killed, deck=deck, turn=role, ready=[0] if role else [])
        listed, was_truncated = GAME.enumerate(state)
        if was_truncated:
            seen.append(set(listed["kind"].tolist()))
            assert seen[-1] == kinds_allowed(state), (hands, table, killed, deck)
    assert sum(rules.SELF in kinds for kinds in seen) > 40
    assert sum(rules.ATTACK in kinds for kinds in seen) > 10


def all_deals(state, seat):
    """Every hand that the other of two seats may hold, as `seat` sees it; no card may be known."""
    pool = DECK52.listed(int(rules.unknown_to(state, seat)))
    size = int(state.hands[1 - seat]).bit_count()
    return {sum(1 << card for card in chosen) for chosen in combinations(pool, size)}


def test_worlds_contain_every_possible_deal_equally_often():
    """Each of the 84 possible hands, and each possible top card of the deck, is dealt equally often (5 sigma)."""
    state = position(["5C 6C 7C", "8C 9C TC"], table="6H", deck="2S 3D 4D 5D 6D 7D 8D", turn=0)
    hands = all_deals(state, 0)
    assert len(hands) == 84
    n = 6000
    seen, tops = {}, {}
    for seed in range(n):
        world = GAME.world(state, 0, seed)
        seen[int(world.hands[1])] = seen.get(int(world.hands[1]), 0) + 1
        tops[int(world.deck[6])] = tops.get(int(world.deck[6]), 0) + 1
        assert int(world.deck[0]) == int(state.deck[0])
    expected = n / 84
    assert set(seen) == hands
    assert max(abs(count - expected) for count in seen.values()) < 5 * np.sqrt(expected)
    assert len(tops) == 9
    assert max(abs(count - n / 9) for count in tops.values()) < 5 * np.sqrt(n / 9)


def test_the_bitmap_has_442_values_for_four_and_says_what_it_should():
    state = position(
        ["5C 6C", "8C 9C TC", "JC", "KC"], table="6H", killed="7H", deck="2S 3D", target=1, known={1: "9C"}, ready=[2]
    )
    row = GAME.encode(state, 0, "bitmap").tolist()
    assert len(row) == 442
    assert row[:26] == [2, 2, 3, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]
    planes = [sum(bit << card for card, bit in enumerate(row[26 + 52 * i : 78 + 52 * i])) for i in range(8)]
    in_game, table, killed, *known, own = planes
    assert (names(table), names(killed), names(known[1]), names(own)) == ("6H", "7H", "9C", "5C 6C")
    assert in_game == (1 << 52) - 1 & ~int(state.discards)


def test_1_3_no_world_of_the_opening_has_the_two_of_trumps_in_a_hand():
    for seed in range(400):
        state = GAME.new(seats=3, seed=seed)
        world = GAME.world(state, 0, seed)
        assert not any(int(hand) >> int(state.trump) & 1 for hand in world.hands)


def test_7_4_the_unseen_two_of_trumps_is_in_the_deck_or_where_cards_were_drawn():
    """Seat 1 has drawn, seat 2 has not: the two is never with seat 2, and equally often in all other places."""
    state = next(s for s in (GAME.new(seats=3, seed=seed) for seed in range(99)) if not s.known.any())
    assert int(state.deck[0]) != int(state.trump)
    two = 1 << int(state.trump)
    cards = DECK52.listed(int(state.hands[1]))[:2]
    rules.leave_hand(state, 1, sum(1 << card for card in cards))
    state.discards |= sum(1 << card for card in cards)
    rules.draw_to_six(state, 1)
    worlds = [GAME.world(state, 0, seed) for seed in range(4000)]
    found = np.array([[int(hand) & two != 0 for hand in world.hands[:3]] for world in worlds]).sum(axis=0)
    places = int(state.deck_left) - 1 + 6
    assert found[[0, 2]].tolist() == [0, 0]
    assert abs(found[1] - 4000 * 6 / places) < 5 * np.sqrt(4000 * 6 / places)
    rules.leave_hand(state, 1, int(state.hands[1]))
    assert int(state.drawn) == 0
