"""Card sets do what Python's own sets do, and the page about them lists all of them."""

import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import small_game
from hypothesis import given, settings
from hypothesis import strategies as st

import cardai
from cardai.errors import CardaiError
from cardai.game import state_dtype
from cardai.rules import JIT, STREAM, rule
from cardai.rules import cards as kit
from cardai.rules.cards import DECK36, DECK52, Deck, full_deck, single

card_sets = st.frozensets(st.integers(0, 51))
card = st.integers(0, 51)


def bits(cards):
    return sum(1 << one for one in cards)


def as_set(cards):
    return {one for one in range(63) if int(cards) >> one & 1}


@settings(deadline=None)  # the first example compiles
@given(card_sets, card)
def test_has_single_rank_and_suit(cards, one):
    assert bool(kit.has(bits(cards), one)) == (one in cards)
    assert as_set(kit.single(one)) == {one}
    assert 4 * int(kit.rank(one)) + int(kit.suit(one)) == one
    assert 0 <= int(kit.suit(one)) < 4


@settings(deadline=None)  # the first example compiles
@given(card_sets, card)
def test_ranks_and_suits_of_a_set(cards, one):
    ranks = {other // 4 for other in cards}
    assert as_set(kit.ranks_of(bits(cards))) == {other for other in range(52) if other // 4 in ranks}
    assert as_set(kit.same_rank(one)) == {other for other in range(52) if other // 4 == one // 4}
    assert as_set(kit.suit_cards(one % 4)) & set(range(52)) == {other for other in range(52) if other % 4 == one % 4}
    assert int(kit.highest_rank(bits(cards))) == max(ranks, default=-1)


@settings(deadline=None)  # the first example compiles
@given(st.frozensets(st.integers(0, 103), max_size=20))
def test_what_the_cards_of_a_set_are_worth(cards):
    values, wide = np.arange(104) % 13 + 1, np.zeros(kit.words(104), np.int64)
    for one in cards:
        kit.add(wide, one)
    assert kit.sum_of(wide, values) == sum(one % 13 + 1 for one in cards)
    few = [one for one in cards if one < 52]
    assert kit.sum_of(bits(few), values) == sum(one % 13 + 1 for one in few)


@pytest.mark.parametrize("size", [1, 16, 36, 52])
def test_full_deck(size):
    assert as_set(kit.full_deck(size)) == set(range(size))


@settings(deadline=None)  # the first example compiles
@given(st.frozensets(card, max_size=9), st.integers(0, 10))
def test_next_subset_goes_through_all_of_them_in_numeric_order(cards, most):
    expected = sorted(
        bits(part) for size in range(1, min(len(cards), most) + 1) for part in combinations(sorted(cards), size)
    )
    found, chosen = [], kit.next_subset(0, bits(cards), most)
    while chosen:
        found.append(int(chosen))
        chosen = kit.next_subset(chosen, bits(cards), most)
    assert found == expected


@settings(deadline=None)  # the first example compiles
@given(card_sets, st.integers(0, 52))
def test_filled_adds_the_lowest_cards_that_are_missing(cards, size):
    added = [one for one in range(52) if one not in cards][: max(0, size - len(cards))]
    assert as_set(kit.filled(bits(cards), size)) == {*cards, *added}


@settings(deadline=None)  # the first example compiles
@given(st.frozensets(card, min_size=1), st.integers(0, 2**64 - 1))
def test_any_of_takes_a_card_of_the_set(cards, seed):
    stream = np.zeros(1, STREAM)[0]
    stream.rng = seed
    assert int(kit.any_of(bits(cards), stream)) in cards


def test_any_of_takes_each_card_equally_often():
    stream, cards, n = np.zeros(1, STREAM)[0], (0, 7, 8, 31, 51), 20_000
    counts = np.bincount([int(kit.any_of(bits(cards), stream)) for _ in range(n)], minlength=52)[list(cards)]
    assert counts.sum() == n
    assert abs(counts - n / 5).max() < 5 * np.sqrt(n * 0.2 * 0.8)


def test_any_kind_takes_each_card_of_counts_equally_often():
    stream, counts, n = np.zeros(1, STREAM)[0], np.array([0, 3, 0, 1, 2, 0]), 20_000
    drawn = np.bincount([int(kit.any_kind(counts, stream)) for _ in range(n)], minlength=6)
    shares = counts / 6
    assert (np.abs(drawn - n * shares) <= 5 * np.sqrt(n * shares * (1 - shares))).all()


@settings(deadline=None)  # the first example compiles
@given(card_sets, st.integers(0, 5), st.integers(0, 63))
def test_put_writes_a_value_a_card_and_says_where_it_ended(cards, first, size):
    row = np.full(72, 9, np.uint8)
    assert int(kit.put(row, first, bits(cards), size)) == first + size
    assert row[first : first + size].tolist() == [int(one in cards) for one in range(size)]
    assert (row[:first] == 9).all()
    assert (row[first + size :] == 9).all()


@settings(deadline=None)  # the first example compiles
@given(card_sets, st.integers(0, 5), st.sampled_from([36, 52]), st.permutations(range(4)))
def test_put_by_suit_writes_a_value_a_card_with_the_suits_in_the_order_given(cards, first, size, suits):
    row, order = np.full(64, 9, np.uint8), sum(suit << 2 * k for k, suit in enumerate(suits))
    assert int(kit.put_by_suit(row, first, bits(cards), size, order)) == first + size
    assert {4 * (place // 4) + suits[place % 4] for place in range(size) if row[first + place] == 1} == {
        one for one in cards if one < size
    }
    assert (row[:first] == 9).all()
    assert (row[first + size :] == 9).all()


@settings(deadline=None)  # the first example compiles
@given(st.integers(0, 51), st.permutations(range(4)))
def test_a_card_is_placed_by_the_rank_and_the_place_of_its_suit(card, suits):
    places = kit.suit_places(sum(suit << 2 * k for k, suit in enumerate(suits)))
    assert divmod(int(kit.placed(card, places)), 4) == (card // 4, suits.index(card % 4))


@settings(deadline=None)  # the first example compiles
@given(card_sets)
def test_names_go_out_and_come_back(cards):
    assert DECK52.cards(DECK52.names(bits(cards))) == bits(cards)
    assert DECK52.listed(bits(cards)) == sorted(cards)


def test_names_are_read_as_people_write_them():
    assert DECK52.card("10h") == DECK52.card("TH") == 4 * 8 + 2
    assert DECK52.cards("2c, as") == 1 | 1 << 51
    assert DECK36.card("6C") == 0
    assert (DECK36.size, DECK52.size) == (36, 52)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("1S", "'1S' is not a card"), ("6S 6X", "'6X' is not a card"), ("6S 6s", "'6s' is named twice")],
)
def test_names_that_are_none_are_refused(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        DECK52.cards(text)


def test_a_card_of_another_deck_is_refused():
    with pytest.raises(ValueError, match="a rank of 6789TJQKA"):
        DECK36.card("2S")


PAGE = (Path(__file__).parents[1] / "docs/cards.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| .+ \| `(.+)` \| `(.+)` \|$", PAGE, re.MULTILINE)


def test_the_page_lists_everything_that_the_module_offers_and_nothing_else():
    assert sorted(name for name, _, _ in ROWS) == sorted(kit.__all__)


def test_the_docstring_of_the_module_lists_everything_that_it_offers_and_nothing_else():
    lines = re.findall(r"^    [a-z ]+?  +(\w+(?:, \w+)*)$", str(kit.__doc__), re.MULTILINE)
    assert sorted(name for line in lines for name in line.split(", ")) == sorted(kit.__all__)


@pytest.mark.parametrize(("name", "example", "result"), ROWS, ids=[name for name, _, _ in ROWS])
def test_the_examples_of_the_page_give_what_it_says(name, example, result):
    space = {one: getattr(kit, one) for one in kit.__all__}
    space |= {"s": DECK52.cards("6S TH TS"), "stream": np.zeros(1, STREAM)[0], "row": np.zeros(52, np.uint8)}
    space |= {"w": np.array([1 << 3, 1 << 100 - 60]), "k": np.array([0, 2, 0])}
    assert name in example
    assert eval(example, space) == eval(result)


def ways_to_write(card: int, deck: Deck) -> set[str]:
    """The name of a card as people and other programs write it."""
    rank, suit = deck.ranks[card // 4], deck.suits[card % 4]
    ranks = {rank, rank.lower(), *(["10"] if rank == "T" else [])}
    suits = {suit, suit.lower(), *{"C": "♣♧", "D": "♦♢", "H": "♥♡", "S": "♠♤"}[suit]}
    suits |= {other + "\ufe0f" for other in suits if not other.isascii()}  # as phones write a symbol
    return {text for one in ranks for other in suits for text in (one + other, other + one)}


@pytest.mark.parametrize("deck", [DECK36, DECK52], ids=["36", "52"])
def test_a_card_is_read_in_every_way_that_it_is_written(deck):
    for card in range(deck.size):
        ways = ways_to_write(card, deck)
        assert len(ways) == (
            36 if card // 4 == deck.ranks.index("T") else 24 if card // 4 >= len(deck.ranks) - 4 else 12
        )
        for text in ways:
            assert deck.card(text) == deck.card(f" {text} ") == card
            assert deck.cards(f"{text}, {deck.name((card + 1) % deck.size)}").bit_count() == 2


@pytest.mark.parametrize(
    "text", ["", "S", "10", "SS", "66", "S10S", "1010S", "0S", "1S", "6\u017f", "6ß", "\uff16S", "6 S", "6S6"]
)
def test_what_only_looks_like_a_card_is_none(text):
    with pytest.raises(ValueError, match=r"is not a card; a card is a rank of .* and a suit of CDHS: AS"):
        DECK52.card(text)


def test_a_deck_without_a_ten_has_no_card_written_10():
    with pytest.raises(ValueError, match="'10S' is not a card"):
        Deck(ranks="2345").card("10S")


wide_sets = st.frozensets(st.integers(0, 107))


def words_of(cards):
    """A wide set of up to 108 cards."""
    return np.array([sum(1 << one - 60 * i for one in cards if one // 60 == i) for i in range(2)], np.int64)


def as_wide(cards):
    return {60 * i + one for i, word in enumerate(cards) for one in range(60) if int(word) >> one & 1}


@settings(deadline=None)  # the first example compiles
@given(wide_sets, st.integers(0, 107))
def test_wide_sets_are_asked_as_others_are(cards, one):
    wide = words_of(cards)
    assert bool(kit.has(wide, one)) == (one in cards)
    assert int(kit.count(wide)) == len(cards)
    assert (int(kit.lowest(wide)), int(kit.highest(wide))) == (min(cards, default=-1), max(cards, default=-1))
    assert int(kit.next_card(wide, one)) == min((card for card in cards if card > one), default=-1)
    assert int(kit.next_card(wide, -1)) == min(cards, default=-1)
    assert kit.as_int(wide) == bits(cards)
    assert Deck(packs=2, others="XY").listed(wide) == sorted(cards)


@settings(deadline=None)  # the first example compiles
@given(wide_sets, wide_sets, st.integers(0, 107))
def test_wide_sets_change_as_sets_of_python_do(cards, others, one):
    for function, second, expected in (
        (kit.add, one, cards | {one}),
        (kit.remove, one, cards - {one}),
        (kit.unite, words_of(others), cards | others),
        (kit.subtract, words_of(others), cards - others),
        (kit.intersect, words_of(others), cards & others),
        (kit.assign, words_of(others), others),
    ):
        wide = words_of(cards)
        function(wide, second)
        assert as_wide(wide) == expected, function
    assert bool(kit.meets(words_of(cards), words_of(others))) == bool(cards & others)
    wide = words_of(cards)
    kit.clear(wide)
    assert as_wide(wide) == set()


@settings(deadline=None)  # the first example compiles
@given(wide_sets, st.integers(0, 120))
def test_filled_adds_the_lowest_cards_that_a_wide_set_lacks(cards, size):
    added = [one for one in range(120) if one not in cards][: max(0, size - len(cards))]
    wide = words_of(cards)
    assert as_wide(kit.filled(wide, size)) == {*cards, *added}
    assert as_wide(wide) == cards


@settings(deadline=None)  # the first example compiles
@given(wide_sets, st.integers(0, 5), st.integers(0, 120))
def test_put_writes_a_value_a_card_of_a_wide_set(cards, first, size):
    row = np.full(130, 9, np.uint8)
    assert int(kit.put(row, first, words_of(cards), size)) == first + size
    assert row[first : first + size].tolist() == [int(one in cards) for one in range(size)]
    assert (row[:first] == 9).all()
    assert (row[first + size :] == 9).all()


@rule
def draw_from(cards, stream, counts):
    for _ in range(20_000):
        counts[kit.any_of(cards, stream)] += 1


def test_any_of_takes_each_card_of_a_wide_set_equally_often():
    cards, counts = (0, 7, 59, 60, 61, 103), np.zeros(120, np.int64)
    draw_from(words_of(cards), np.zeros(1, STREAM)[0], counts)
    assert counts[list(cards)].sum() == 20_000
    assert abs(counts[list(cards)] - 20_000 / 6).max() < 5 * np.sqrt(20_000 * 5 / 36)


STATE = state_dtype(hands=(3, kit.words(104)), known=(), table=kit.words(104))


@rule
def both_kinds(state, seat):
    """Both forms of each rule in one rule, on fields of a record."""
    kit.add(state.hands[seat], 103)
    kit.unite(state.hands[seat], state.table)
    state.known |= kit.single(5)
    found = kit.count(state.known) + 10 * kit.count(state.hands[seat])
    found += 100 * kit.has(state.hands[seat], 103) + 1000 * kit.has(state.known, 5) + 10_000 * kit.lowest(state.table)
    return found


def test_one_rule_takes_sets_of_both_kinds_from_a_state():
    state = np.zeros(1, STATE)[0]
    kit.add(state.table, 60)
    assert both_kinds(state, 1) == 1 + 20 + 100 + 1000 + 600_000
    assert as_wide(state.hands[1]) == {60, 103}
    assert as_wide(state.hands[0]) == as_wide(state.hands[2]) == set()


def test_a_deck_may_have_several_packs_and_cards_without_a_suit():
    two = Deck(packs=2)
    assert two.size == 104
    assert len(set(two.all_names)) == 104
    assert two.all_names[52 + 51] == "bAS"
    assert (two.card("a2C"), two.card("B10H"), two.card("bs2"), two.card("bA♠")) == (0, 52 + 34, 52 + 3, 103)
    ranks, suits = (*"0123456789", "skip", "reverse", "+2"), ("red", "green", "blue", "yellow")
    uno = Deck(ranks=ranks, suits=suits, others=("wild", "+4"))
    assert uno.size == 54
    assert (uno.card("wild"), uno.card("+4"), uno.card("SKIPred"), uno.card("redskip")) == (52, 53, 40, 40)


@pytest.mark.parametrize(
    ("deck", "text", "complaint"),
    [
        (Deck(packs=2), "7H", "'7H' is not a card; a card is a pack, a to b, a rank of .* and a suit of CDHS: bAS"),
        (Deck(packs=2), "c7H", "'c7H' is not a card"),
        (Deck(ranks=("one", "two"), others=("X",)), "3C", "a rank of one, two and a suit of CDHS, or X: X"),
    ],
)
def test_a_name_that_is_none_is_refused_in_the_words_of_the_deck(deck, text, complaint):
    with pytest.raises(ValueError, match=complaint):
        deck.card(text)


@pytest.mark.parametrize(
    ("parts", "complaint"),
    [
        ({"packs": 0}, "packs must be at least 1, not 0"),
        ({"packs": 27}, "packs must be at most 26, not 27"),
        ({"ranks": "2233"}, "two cards of a deck are called '2C'"),
        ({"others": ("2C",)}, "two cards of a deck are called '2C'"),
    ],
)
def test_a_deck_that_cannot_be_is_refused(parts, complaint):
    with pytest.raises(CardaiError, match=complaint):
        Deck(**parts)


def test_a_full_deck_of_more_cards_than_a_number_holds_is_refused():
    assert as_set(kit.full_deck(62)) == set(range(62))
    with pytest.raises(CardaiError, match="full_deck makes a set in one number, of at most 62 cards"):
        kit.full_deck(63)


PLAIN = """
from cardai.rules.cards import has, same_rank, single

def legal(card):
    return single(card) if card % 2 else has(5, card)

for card in (62, 61, 63, -1):
    try:
        print(legal(card))
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_plain_python_says_which_rule_makes_a_set_of_too_high_a_card(tmp_path):
    place = tmp_path / "rules.py"
    place.write_text(PLAIN)
    run = subprocess.run(
        [sys.executable, place], env=os.environ | {"CARDAI_JIT": "0"}, capture_output=True, text=True, check=True
    )
    limit = f"a set in one number has the cards 0 to 61, a wide set (docs/cards.md) any ({place}, line 5)"
    assert run.stdout.splitlines() == [
        f"CardaiError the rule legal calls has with card 62; {limit}",
        str(1 << 61),
        f"CardaiError the rule legal calls single with card 63; {limit}",
        f"CardaiError the rule legal calls single with card -1; {limit}",
    ]


CARDS = 104


@rule
def all_cards():
    return full_deck(CARDS)


@rule
def deal_too_many(state):
    state.turn = 0
    state.discards = all_cards()


@rule
def deal_too_high(state):
    state.turn = 0
    state.discards = single(70)


@rule
def deal_many(state):
    state.turn = 0
    state.discards = full_deck(state.seats + 100)


def test_a_constant_set_that_a_number_cannot_hold_is_refused_with_the_line():
    line = deal_too_high.__code__.co_firstlineno + 3 if not JIT else deal_too_high.py_func.__code__.co_firstlineno + 3
    words = rf"the rule deal_too_high calls single\(70\), where 61 is the most; .*test_cards.py, line {line}: state"
    with pytest.raises(CardaiError, match=words):
        small_game.GAME.changed(deal=deal_too_high).new()
    with pytest.raises(CardaiError, match=r"the rule all_cards calls full_deck\(104\), where 62 is the most"):
        small_game.GAME.changed(deal=deal_too_many).compile()


def test_a_set_that_turns_out_too_large_ends_the_games():
    with pytest.raises(CardaiError, match=r"low_hand: a rule raised .*full_deck makes a set in one number"):
        cardai.match(small_game.GAME.changed(deal=deal_many), ["random", "random"], games=1)
