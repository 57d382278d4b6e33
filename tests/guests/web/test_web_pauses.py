"""How long agents wait before they move: long enough to follow what is new, and not for the fifth "no claim"."""

import pytest
from web_people import table_of

import cardai
from cardai.guests.web.store import LEFT, RESIGNED


@pytest.fixture
def table(store):
    seats = ("me", "random", "friend", "random", "random", "random")
    return table_of(store, cardai.load("literature"), *seats, opponents=["random"])


def said(table, seat):
    return [words for _, words, *_ in table.view(seat, False)["log"]]


def test_the_pause_is_short_after_what_everybody_has_just_heard_from_another(table):
    assert table.pause() == table.row.pause == 0.6
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


def test_what_is_set_at_a_table_is_there_after_a_restart(table, store):
    changes = (
        lambda: table.set_pause(0.2),
        lambda: table.leave(0, LEFT),
        lambda: table.come_back(0),
        table.run,
        lambda: table.leave(2, RESIGNED),
        lambda: table.follow_on("the next table"),
    )
    for change in changes:
        change()
        kept = store.table(table.row.id)
        assert {**vars(kept), "moves": []} == {**vars(table.row), "moves": []}
    assert kept.pause == 0.2
