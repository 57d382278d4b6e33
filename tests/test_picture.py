"""Pictures of positions: whole SVG, every card, and nothing that a seat does not see."""

import re
from xml.etree import ElementTree

import pytest

import cardai
import cardai.records.record
from cardai.cli.show.picture import picture
from cardai.game import listed_pieces
from cardai.playing.table.one import OneGame

GAMES = {name: cardai.load(name) for name in cardai.available()}
EXAMPLES = {"crazy": cardai.load("examples/crazy")}


def played(game, plies=6, seed=3):
    table = OneGame(game, [cardai.agent(game, "random")] * game.default_seats, seed)
    while table.ply < plies and table.step():
        pass
    return table


def faces(text: str) -> set[str]:
    found = re.findall(r'class="[CDHS] i"[^>]*>(10|[2-9JQKA])([♣♦♥♠])<', text)
    return {rank.replace("10", "T") + "CDHS"["♣♦♥♠".index(sign)] for rank, sign in found}


@pytest.mark.parametrize("name", [*GAMES, *EXAMPLES])
def test_each_game_has_a_picture_with_the_cards_that_a_seat_sees_and_no_others(name):
    game = (GAMES | EXAMPLES)[name]
    table = played(game)
    for seat in range(table.seats):
        text = picture(game, table.seen(seat, 1), seat)
        ElementTree.fromstring(text)
        zones = game.table.zones(table.seen(seat, 1), seat)
        seen = {game.table.pieces[piece] for zone in zones if zone.look != "grid" for piece in zone.listed}
        assert faces(text) == {one[-2:] for one in seen if re.fullmatch(r"[a-z]?[2-9TJQKA][CDHS]", one)}
        assert text == picture(game, table._slots.states[0], seat), "all worlds of the seat look the same"


def test_a_picture_is_of_the_seat_to_move_unless_told():
    table = played(GAMES["hearts"])
    state = table.seen(table.turn, 1)
    assert picture(table.game, state) == picture(table.game, state, table.turn)


@pytest.mark.parametrize("name", ["hearts", "durak", "literature", "moska"])
def test_a_picture_with_all_hands_open_shows_every_card_and_a_seats_view_only_its_own(name):
    game = GAMES[name]
    table = played(game, plies=3)
    state = table._slots.states[0]
    hands = [{game.table.pieces[piece] for piece in listed_pieces(int(hand))} for hand in state["hands"][: table.seats]]
    everything = picture(game, state, is_open=True)
    assert set.union(*hands) <= faces(everything)
    assert everything._repr_html_().startswith('<img alt="')
    for seat in range(table.seats):
        seen = faces(picture(game, state, seat))
        known = {
            game.table.pieces[piece] for zone in game.table.zones(table.seen(seat, 1), seat) for piece in zone.listed
        }
        assert hands[seat] <= seen == known
        assert not re.search(r"\bp\d\b", picture(game, state, seat))
