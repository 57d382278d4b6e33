"""Durak's hand-written players, heuristic, encoders and suites."""

import numpy as np
import pytest
from test_durak_rules import position
from views import chosen as move_of
from views import segments

import cardai
from cardai.measure import bench
from cardai.rules.cards import DECK36

GAME = cardai.load("durak")


def chosen(name, state, **params):
    return GAME.text.spell(state, move_of(GAME, name, state, **params))


HAND = "6S 7C 9H JD AH AS"


@pytest.mark.parametrize(("name", "opens"), [("defensive", "7C"), ("aggressive", "AH"), ("thrifty", "7C")])
def test_each_player_opens_with_its_kind_of_card(name, opens):
    state = position([HAND, "6C 6D 6H 7D 7H 7S"], stock="8C", bottom="KS")
    assert chosen(name, state) == f"attacks {opens}"


@pytest.mark.parametrize("name", ["defensive", "aggressive"])
def test_the_reports_players_beat_with_the_weakest_and_take_only_when_they_must(name):
    assert chosen(name, position(["", "6S TC KC"], "9C", "", "9C")) == "beats 9C with TC"
    assert chosen(name, position(["", "TS 7S 8C"], "9C", "", "9C", stock="KC")) == "beats 9C with 7S"
    assert chosen(name, position(["", "TD 7H 8C"], "9C", "", "9C")) == "takes"


@pytest.mark.parametrize(("name", "adds"), [("defensive", "9H"), ("aggressive", "TD")])
def test_the_reports_players_add_whatever_they_can(name, adds):
    state = position(["9H TD 9S 6C", "KC KD KH"], "9C", "TC")
    assert chosen(name, state) == f"adds {adds}"
    assert chosen(name, position(["9S 6C", "KC KD KH"], "9C", "TC")) == "adds 9S"
    assert chosen(name, position(["7S 6C", "KC KD KH"], "9C", "TC")) == "passes"


def test_the_thrifty_player_keeps_trumps_while_there_is_a_deck_and_no_longer():
    hands, table = ["9S 6C", "KC KD KH", "7C 8H"], ("9C", "TC")
    assert chosen("thrifty", position(hands, *table, stock="8C 8D", bottom="KS")) == "passes"
    assert chosen("thrifty", position(hands, *table)) == "adds 9S"


def test_the_thrifty_player_takes_when_beating_is_dearer():
    state = position(["KD", "AS 7D", "KH JD"], "8H", "", "8H", stock="8C 8D 9C 9D TC TD", bottom="KS")
    assert chosen("thrifty", state) == "beats 8H with AS"
    assert chosen("thrifty", state, tempo=0.0) == "takes"


def test_the_thrifty_player_prefers_to_beat_with_a_rank_on_the_table():
    state = position(["QH 8D", "9C TC 8S", "KH JD"], "TD 8C", "KD", "8C", stock="9D", bottom="KS")
    assert chosen("thrifty", state) == "beats 8C with TC"
    assert chosen("thrifty", state, matched=0.0) == "beats 8C with 9C"


def test_hand_value_likes_trumps_few_cards_and_no_take():
    def value(state):
        return GAME.value(state, 1, "hand_value")

    def held(hand, **fields):
        return value(position(["KC 6H", hand, "6D"], **{"stock": "8C 8D", "bottom": "KS"} | fields))

    assert held("AS 9C") > held("AH 9C")
    assert held("AS 9C", stock="", bottom="") < held("AS", stock="", bottom="")
    beaten = position(["", "7D 9C TH TD JC", "6D"], "8C", "", "8C", stock="8D 9D", bottom="KS", trump="H")
    taken = GAME.after(beaten, GAME.text.parse(beaten, "takes"))
    assert value(GAME.after(beaten, GAME.text.parse(beaten, "beats with 9C"))) > value(taken)


def cards_of(plane):
    return DECK36.names(sum(1 << int(card) for card in np.flatnonzero(plane)))


def test_report_is_the_reports_181_values():
    state = position(["KC", "9S KH"], "7C 8C", "9C", "8C")
    seen = segments(GAME, state, 1, "report")
    assert sum(part.size for part in seen.values()) == 181
    assert cards_of(seen["own hand"]) == "9S KH"
    assert list(np.flatnonzero(seen["legal moves"])) == [DECK36.card("9S"), 36]
    assert (cards_of(seen["attacks"]), cards_of(seen["beats"])) == ("7C 8C", "9C")
    assert seen["discards"].sum() == 36 - 6
    assert segments(GAME, state, 0, "report")["legal moves"].sum() == 0


def test_a_view_of_fifty_two_cards_has_thirteen_ranks_and_all_cards():
    game = cardai.load("durak52")
    state = game.new(3, seed=1)
    places = segments(game, state, 0, "relative")
    hand = places["own hand"].reshape(13, 4)
    trump_first = [int(state.trump), *(suit for suit in range(4) if suit != int(state.trump))]
    ranks = [sum(int(state.hands[0]) >> 4 * rank + suit & 1 for suit in trump_first) for rank in range(13)]
    assert hand.sum(axis=1).tolist() == ranks
    assert hand[:, 0].tolist() == [int(state.hands[0]) >> 4 * rank + int(state.trump) & 1 for rank in range(13)]
    mine = game.encode(state, int(state.turn))
    assert mine[-53:-1].sum() == 6
    assert mine[-1] == 0  # the first attacker must play a card


def test_relative_counts_seats_from_the_own_one_and_puts_trump_first():
    state = position(["KD 7S", "9S KH", "6D 7D JS"], "7C", "", "7C", stock="6C", known={2: "7D", 1: "KH"})
    seen = segments(GAME, state, 1, "relative")
    assert list(seen["hand sizes"]) == [2, 3, 2]
    assert list(seen["defender"]) == list(seen["to move"]) == [1, 0, 0]
    assert list(seen["attacker"]) == [0, 0, 1]
    # Suits: spades are trump, then hearts (KH is held), then clubs and diamonds.
    assert [tuple(map(int, place)) for place in np.argwhere(seen["own hand"].reshape(9, 4))] == [(3, 0), (7, 1)]
    assert np.argwhere(seen["known of the 1. on the left"].reshape(9, 4)).tolist() == [[1, 3]]
    assert np.argwhere(seen["legal cards"].reshape(9, 4)).tolist() == [[3, 0]]
    assert seen["no card is legal"] == 1


def test_bout_over_is_seen_between_the_decision_and_what_follows():
    state = position(["7D", "KC KD 8H", "6D"], "7C", "9C", passed=4, lead=0)
    passed = GAME.after(state, GAME.text.parse(state, "passes"))
    added = GAME.after(state, GAME.text.parse(state, "adds 7D"))
    assert segments(GAME, passed, 0, "relative")["bout over"] == 1
    assert segments(GAME, added, 0, "relative")["bout over"] == 0
    assert segments(GAME, state, 0, "relative")["bout over"] == 0


def test_every_suite_can_be_run_with_its_own_agents():
    for name, suite in GAME.agents.suites.items():
        report = bench.run_suite(GAME, name, games=8, threads=1)
        assert not report.missing
        assert len(report.rows) == len(suite.rows) * len(suite.agents)
