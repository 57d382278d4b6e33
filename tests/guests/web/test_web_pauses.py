"""How long agents wait before they move: long enough to follow what is new, and not for the fifth "no claim"."""

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

from test_web import store  # noqa: F401

import cardai
from cardai.guests.web import room
from cardai.guests.web.guards import digest, new_token
from cardai.guests.web.offers import offer_of
from cardai.guests.web.store import LEFT, RESIGNED

LITERATURE = cardai.load("literature")


@pytest.fixture
def table(store):  # noqa: F811
    rooms = room.Room({LITERATURE.name: offer_of(LITERATURE, ["random"])}, store)
    seats = ["me", "random", "friend", "random", "random", "random"]
    made = rooms.table(rooms.create({"game": "literature", "seats": seats, "name": "Ann"}, b"ann")[0])
    assert made is not None
    made.sit(made.invite(2), "Ben", b"ben", digest(new_token()))
    for seat in made.people:
        made.add_nonce(seat, bytes([seat]) * 32)
    return made


def said(table, seat):
    return [words for _, words, *_ in table.view(seat, False)["log"]]


def test_the_pause_is_short_after_what_everybody_has_just_heard_from_another(table):
    lengths = {True: set(), False: set()}
    for ply in range(120):
        recent = said(table, 0)[-8:]
        is_again = len(recent) > 1 and recent[-1] in recent[:-1]
        lengths[is_again].add(table.pause() / table.row.pause)
        if not table.step():
            view = next(view for seat in (0, 2) if "moves" in (view := table.view(seat, False)))
            table.play(view["seat"], ply, [view["moves"][0][0]])
    assert lengths[False] == {1.0}
    assert len(lengths[True]) == 1
    assert max(lengths[True]) <= 0.3
    assert said(table, 0).count("no claim") > 20


def test_nothing_is_short_at_the_beginning(table):
    assert table.pause() == table.row.pause == 0.6


def test_what_is_set_at_a_table_is_there_after_a_restart(table, store):  # noqa: F811
    def ways():
        yield lambda: table.set_pause(0.2)
        yield lambda: table.leave(0, LEFT)
        yield lambda: table.come_back(0)
        yield table.run
        yield lambda: table.leave(2, RESIGNED)
        yield lambda: table.follow_on("the next table")

    for change in ways():
        change()
        kept = store.table(table.row.id)
        assert {**vars(kept), "moves": []} == {**vars(table.row), "moves": []}
    assert kept.pause == 0.2
