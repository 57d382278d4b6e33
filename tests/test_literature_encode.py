"""What the encoders of Literature write, in positions set up by hand."""

import numpy as np
import pytest
from literature_positions import GAME, HIGH_CLUBS, LOW_CLUBS, LOW_DIAMONDS, cards, position
from views import segments as of_game

from cardai.games.literature.deck import DECK

SEAT = 0


def segments(state, seat, encoder="facts"):
    return of_game(GAME, state, seat, encoder)


def named(plane):
    """The cards of a plane of ranks x suits, in words."""
    return set(DECK.names(sum(1 << int(card) for card in np.flatnonzero(plane))).split())


def three_halves():
    """Low clubs, low diamonds and high clubs are live; seat 1 took 2C from seat 2 and has asked in vain for AD."""
    return position(
        ["AC 3C AD 2D", "2C 4C 3D 8C 9C", "5C 4D 5D TC JC", "6C 6D QC KC"],
        mover=0,
        known={1: "2C"},
        lacks={1: "AD", 0: ""},
        must={1: [LOW_CLUBS, LOW_DIAMONDS]},
        even=[1 + 1],
        odd=[3],
        asker=1,
        asked=0,
        card=int(cards("AD")).bit_length() - 1,
        answer=1,
    )


def test_facts_are_what_the_seat_knows():
    facts = segments(three_halves(), SEAT)
    assert named(facts["own hand"]) == {"AC", "3C", "AD", "2D"}
    assert named(facts["shown: seat +1"]) == {"2C"}
    assert named(facts["lacks: seat +1"]) == {"AD"}
    unseen = {"4C", "5C", "6C", "3D", "4D", "5D", "6D", "8C", "9C", "TC", "JC", "QC", "KC"}
    assert named(facts["may hold: seat +1"]) == unseen | {"2C"}
    assert named(facts["may hold: seat +2"]) == unseen
    assert np.flatnonzero(facts["must have one of: seat +1"]).tolist() == [LOW_CLUBS, LOW_DIAMONDS]
    assert facts["cards in hand"].tolist() == [4, 5, 5, 4]
    assert np.flatnonzero(facts["half-suits of the own team"]).tolist() == [2]
    assert np.flatnonzero(facts["half-suits of the other team"]).tolist() == [3]
    assert np.flatnonzero(facts["half-suits of nobody"]).tolist() == [5, 6, 7]
    assert facts["mover"].tolist() == [1, 0, 0, 0]
    assert facts["last asker"].tolist() == [0, 1, 0, 0]
    assert facts["last asked"].tolist() == [1, 0, 0, 0]
    assert named(facts["last card asked for"]) == {"AD"}
    assert facts["last answer: yes, no"].tolist() == [1, 0]
    assert facts["options: any_seat, proof, wrong"].tolist() == [1, 1, 0]


def test_facts_count_seats_from_the_own_one():
    facts = segments(three_halves(), 3)
    assert named(facts["shown: seat +2"]) == {"2C"}
    assert facts["cards in hand"].tolist() == [4, 4, 5, 5]
    assert facts["mover"].tolist() == [0, 1, 0, 0]
    assert np.flatnonzero(facts["half-suits of the own team"]).tolist() == [3]


def test_a_question_that_is_not_answered_yet_is_in_the_after_state():
    state = three_halves()
    asked = next(move for move in GAME.moves(state) if GAME.text.spell(state, move) == "asks p3 for 4D")
    facts = segments(GAME.after(state, asked), SEAT)
    assert facts["pending move"].tolist() == [1, 0, 0, 0]
    assert facts["last asked"].tolist() == [0, 0, 0, 1]
    assert named(facts["last card asked for"]) == {"4D"}
    assert facts["last answer: yes, no"].tolist() == [0, 0]
    article = GAME.encode(GAME.after(state, asked), SEAT, "article")
    assert article[-4:].tolist() == [0, 3, 2, 4]
    assert GAME.encode(state, SEAT, "article")[-4:].tolist() == [0, 0, 0, 0]


def test_chances_add_up_and_follow_from_facts():
    """4C lies with seat 1 or 2, and the two other hidden cards in one of two ways: four deals."""
    state = position(
        ["AC 3C", "2C 4C", "5C", "6C"], known={1: "2C"}, lacks={3: "4C"}, must={}, even=[1, 2, 3], odd=[4, 5, 6, 7]
    )
    chances = segments(state, SEAT, "chances")
    by_seat = [chances[f"chance of each card, in 255ths: seat +{step}"] for step in (1, 2, 3)]
    plane = {name: [int(row[DECK.card(name)]) for row in by_seat] for name in ("2C", "4C", "5C", "6C", "AC")}
    assert plane == {
        "2C": [255, 0, 0],
        "4C": [128, 128, 0],
        "5C": [64, 64, 128],
        "6C": [64, 64, 128],
        "AC": [0, 0, 0],
    }


def test_chances_say_how_likely_a_yes_is_and_what_the_team_may_expect():
    state = position(
        ["AC 3C", "2C 4C", "5C", "6C"], known={1: "2C"}, lacks={3: "4C"}, must={}, even=[1, 2, 3], odd=[4, 5, 6, 7]
    )
    expected, proven, yes = (
        "cards of each half-suit expected in the own team, in 255ths of six",
        "half-suits that the seat can prove",
        "chance that the pending question is answered with yes, in 255ths",
    )
    before = segments(state, SEAT, "chances")
    assert before[yes].tolist() == [0]
    assert before[expected].tolist() == [128, 0, 0, 0, 0, 0, 0, 0]  # two, and 1/2 + 1/4 + 1/4 with seat 2: half of six
    for name, chance in (("2C", 255), ("4C", 128), ("5C", 64)):
        asked = next(move for move in GAME.moves(state) if GAME.text.spell(state, move) == f"asks p1 for {name}")
        assert segments(GAME.after(state, asked), SEAT, "chances")[yes].tolist() == [chance]
    assert before[proven].tolist() == [0] * 8
    hands = ["AC 2C 3C 4C 5C", "AD 2D 3D", "6C", "4D 5D 6D"]
    state = position(hands, known={2: "6C"}, even=[2, 3, 4], odd=[5, 6, 7])
    assert segments(state, SEAT, "chances")[proven].tolist() == [1, 0, 0, 0, 0, 0, 0, 0]


def test_the_encoding_of_the_article_has_its_size_and_its_views():
    state = three_halves()
    row = GAME.encode(state, SEAT, "article")
    assert len(row) == 1149
    own, first = row[:229], row[229:458]
    assert own[0] == 0
    assert own[1:5].tolist() == [4, 5, 5, 4]
    hands = own[5:].reshape(4, 56)
    card = DECK.card
    assert [int(hands[0][card(name)]) for name in ("AC", "2C", "4C")] == [3, 1, 1]
    assert [int(hands[1][card(name)]) for name in ("AC", "2C", "4C", "AD", "AH")] == [1, 3, 2, 1, 1]
    assert hands[0][48:56].tolist() == [2, 2, 0, 0, 0, 0, 0, 0]
    assert hands[1][48:56].tolist() == [2, 1, 0, 0, 0, 0, 0, 0]
    known = first[5:].reshape(4, 56)
    assert first[0] == 0
    assert [int(known[0][card(name)]) for name in ("AC", "2C")] == [2, 1]  # nobody else has seen the ace
    assert row[229 * 2] == 1


@pytest.mark.parametrize("encoder", ["facts", "chances", "article"])
@pytest.mark.parametrize("seats", [4, 6])
def test_every_encoder_takes_every_table(encoder, seats):
    state = GAME.new(seats, 1)
    assert len(GAME.encode(state, 1, encoder)) == GAME.encoder(encoder).width(seats)
    assert HIGH_CLUBS == 4
