"""A table of a study without aids shows nothing that a person would have to remember; planted leaks are found."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest

import cardai
from cardai.game import Zone, listed_pieces
from cardai.guests.web import commitment, tables
from cardai.guests.web.guards import new_token
from cardai.guests.web.offers import Offer
from cardai.guests.web.protocol import Aids
from cardai.guests.web.store import SeatRow, Store, TableRow
from cardai.guests.web.tables import WebTable

SEATS = {"moska": 4, "durak": 3, "hearts": 4, "literature": 4}
NONE = Aids()
MOST = 60  # own moves of a game that are looked at


def middle(name: str, state, seat: int) -> int:
    """What lies open for everybody by the rules, from the state's own fields; also what a seat of Hearts passes on."""
    if name == "moska":
        turned = 0 if state["turned"] < 0 else 1 << int(state["turned"])
        trump = 1 << int(state["trump_card"]) if state["deck_left"] else 0
        return int(state["table"]) | int(state["killed"]) | turned | trump
    if name == "durak":
        return int(state["attacks"]) | int(state["beats"]) | int(state["bottom"])
    if name == "hearts":
        trick = sum(1 << int(card) for card in state["table"] if card >= 0)
        return trick | int(state["passed"][seat])
    return 0


def named(words: str, pieces: list[str]) -> set[str]:
    return set(re.findall(rf"(?<!\w)(?:{'|'.join(sorted(pieces, key=len, reverse=True))})(?!\w)", words))


def reminders(view: dict, table: WebTable, seat: int) -> list[str]:
    """Notes of zones that say more than a note without its reminder."""
    game = table.offer.game
    notes = {zone.note for zone in game.table.zones(table._game.seen(seat, 1), seat)}
    return [zone["note"] for zone in view["zones"] if zone.get("note", "") not in notes | {""}]


def leaks(view: dict, table: WebTable, seat: int) -> list[str]:
    """What a view shows that its seat would have to remember."""
    name, state, pieces = table.offer.game.name, table._game._state, view["pieces"]
    lying = set(listed_pieces(int(state["hands"][seat]) | middle(name, state, seat)))
    offered = {piece for _, picked in view.get("moves", ()) for piece in picked}
    shown = {piece for zone in view["zones"] for piece in zone["pieces"]}
    told = {word for _, *words in view["log"][:-1] for word in named(" ".join(words), pieces)}
    found = [f"shows {pieces[piece]}" for piece in shown - lying - offered]
    found += [f"tells {word}" for word in told if pieces.index(word) not in lying]
    if len(view["log"]) > 1 and any(mover == seat for mover, *_ in view["log"][1:-1]):
        found.append("tells what was before the last own move")
    return found + [f"says {note}" for note in reminders(view, table, seat)]


def all_leaks(folder, game, aids: Aids = NONE, seed: int = 1, seats: range | None = None) -> list[str]:
    """Play a game of a person who plays at random, and look at each view of theirs. Returns what it showed too much."""
    luck, count, found = random.Random(seed), SEATS[game.name], []
    offer = Offer(game.name, game, {"random": cardai.agent(game, "random")}, tuple(game.variants), count)
    for seat in seats or range(2):
        store = Store(folder / f"{new_token()}.sqlite")
        own, variant = SeatRow(name="you", token=b"x", nonce=bytes([seed])), game.default_variant
        rows = [own if place == seat else SeatRow(agent="random") for place in range(count)]
        row = TableRow(new_token(), game.name, game.version, variant, bytes(commitment.SECRET_BYTES), rows)
        store.add_table(row)
        table = WebTable(row, offer, store, aids)
        table.deal()
        for _ in range(MOST):
            while table.agent_moves_next:
                found += leaks(table.view(seat, False), table, seat)
                table.step()
            view = table.view(seat, False)
            found += leaks(view, table, seat) if not view["over"] else []
            if view["over"]:
                break
            assert table.play(seat, view["ply"], luck.choice(view["moves"])[0]) == ""
        store.close()
    return found


@pytest.mark.parametrize("name", SEATS)
def test_without_aids_nothing_is_shown_that_has_to_be_remembered(name, tmp_path):
    assert all_leaks(tmp_path, cardai.load(name)) == []


@pytest.mark.parametrize("name", SEATS)
def test_with_aids_the_same_table_shows_more(name, tmp_path):
    assert all_leaks(tmp_path, cardai.load(name), Aids(known_cards=True), seats=range(1))


def shows_known_cards(game):
    """Hands in which known cards lie open on the table."""
    return lambda state, seat: [replace(zone, open=zone.pieces) for zone in game.table.zones(state, seat)]


def shows_them_elsewhere(game):
    """A further place with the known cards of all."""

    def zones(state, seat):
        found = game.table.zones(state, seat)
        known = [piece for zone in found if zone.look == "fan" and zone.seat != seat for piece in zone.listed]
        return [*found, Zone("Known", known)]

    return zones


@pytest.mark.parametrize("name", ["moska", "hearts", "literature"])
@pytest.mark.parametrize("leaky", [shows_known_cards, shows_them_elsewhere])
def test_a_planted_leak_of_known_cards_is_found(name, leaky, tmp_path):
    game = cardai.load(name)
    assert all_leaks(tmp_path, game.changed(zones=leaky(game)))


@pytest.mark.parametrize(
    "log", [lambda log, seat, view: log[-40:], lambda log, seat, view: log[-6:]], ids=["all", "a few"]
)
def test_a_planted_leak_in_the_log_is_found(log, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "bare_log", log)
    assert all_leaks(tmp_path, cardai.load("hearts"), seats=range(1))


def test_a_place_is_shown_as_on_a_real_table():
    hand = Zone("Hand", [3, 4], hidden=2, seat=1, look="fan", note="leads", reminder="hides 7S", marks={3: "not p0"})
    assert hand.words == "leads, hides 7S"
    other, own = hand.unaided(0), hand.unaided(1)
    assert (other.listed, other.hidden, other.words, other.marks) == ([], 4, "leads", {})
    assert (own.listed, own.hidden, own.words, own.marks) == ([3, 4], 2, "leads", {3: "not p0"})
    pile = Zone("Pile", [1, 2, 3], look="pile", open=[3]).unaided(0)
    assert (pile.listed, pile.hidden) == ([3], 2)
    row = Zone("Not seen yet", 0b110, open=0).unaided(0)
    assert (row.listed, row.hidden) == ([], 0)
    assert Zone("Hand", [3], seat=1, look="fan", open=[3]).unaided(0).listed == [3], "as hands lie in Hanabi"
    with pytest.raises(cardai.CardaiError, match="must be among its pieces"):
        Zone("Hand", [3], open=[4])
    assert np.all(Zone("Trick", 0b11).unaided(2).listed == [0, 1])
