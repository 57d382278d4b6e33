"""A finished game looked at again: any seat's view of each position, open hands, a link to share; nothing before."""

import json

import numpy as np
import pytest
from test_web import LOW_HAND, another, begin, client, play_on, store  # noqa: F401 - fixtures
from test_web_learning import set_up, socket_of, web_table

from cardai.errors import CardaiError
from cardai.guests.web import review
from cardai.guests.web.review import Review, Reviews, key_of
from cardai.guests.web.tables import WebTable

ASKED = ({}, {"from": 0}, {"from": 0, "seat": 1}, {"analysis": True, "seat": 1})


def finished(store, **options):  # noqa: F811
    table = web_table(store, **options)
    while not table.is_over:
        table.play(0, table._game.ply, table.view(0, False)["moves"][-1][0])
        table.run()
    return table


def hands(position) -> list[list[int]]:
    return [zone["pieces"] for zone in position["zones"] if zone.get("seat") is not None]


def test_each_position_is_what_the_seat_saw_then(store):  # noqa: F811
    table, seen = web_table(store), {}
    while True:
        seen[table._game.ply] = [table.view(seat, False)["zones"] for seat in range(3)]
        if table.is_over:
            break
        table.play(0, table._game.ply, table.view(0, False)["moves"][-1][0])
        table.run()
    looked = Review(table)
    for ply, views in seen.items():
        for seat, zones in enumerate(views):
            (now,) = looked.positions(seat, ply)["positions"][:1]
            assert now["ply"] == ply
            assert now["zones"] == zones
    assert len(seen) > 2


def test_all_hands_are_open_and_a_seats_view_hides_those_of_others(store):  # noqa: F811
    looked, hidden = Review(finished(store)), 0
    for ply, state in enumerate(looked.states):
        truth = [[piece for piece in range(40) if int(hand) >> piece & 1] for hand in state["hands"][:3]]
        assert hands(looked.positions(None, ply)["positions"][0]) == truth
        own = [hands(looked.positions(seat, ply)["positions"][0]) for seat in range(3)]
        assert [own[seat][seat] for seat in range(3)] == truth
        hidden += sum(own[0][other] != truth[other] for other in (1, 2))
    assert hidden > 2


def test_lines_go_back_as_far_as_a_log_and_name_the_move_that_comes(store):  # noqa: F811
    table = finished(store)
    looked = Review(table)
    given = looked.positions(None, 1)
    assert given["first"] == 0
    assert [mover for mover, *_ in given["lines"]] == table._game.movers
    assert any(pieces for *_, pieces in given["lines"])


@pytest.mark.parametrize("message", ASKED)
def test_nothing_is_shown_before_the_end(client, store, message):  # noqa: F811
    table = set_up(client)
    with socket_of(client, table) as socket:
        begin(socket)
        key = key_of(store.table(table))
        for asking, sent in ((client, message), (another(client), message | {"key": key})):
            answer = asking.post(f"/t/{table}/review", json=sent)
            assert (answer.status_code, answer.json()) == (400, {"error": "the game is not over"})


def test_a_review_that_forgets_to_ask_for_the_end_is_found(client, monkeypatch):  # noqa: F811
    """A planted leak: the game so far is given as if it were over."""
    monkeypatch.setattr(WebTable, "result", lambda table: (table.row.seed, table._game.moves, np.zeros(3)))
    monkeypatch.setattr(review, "replay", lambda game, played, note: LOW_HAND.new(3, played.seed))
    table = set_up(client)
    with socket_of(client, table) as socket:
        begin(socket)
        assert client.post(f"/t/{table}/review", json={"from": 0}).status_code == 200


def test_the_link_opens_the_review_to_somebody_without_a_place(client, store):  # noqa: F811
    table = set_up(client)
    with socket_of(client, table) as socket:
        view = begin(socket)
        assert key_of(store.table(table)) not in json.dumps(view)
        last = play_on(socket, view)
    key = client.post(f"/t/{table}/review", json={}).json()["key"]
    friend = another(client)
    for wrong in ({}, {"key": "0" * 32}, {"key": ""}, {"key": None}, {"key": table}):
        assert friend.post(f"/t/{table}/review", json=wrong).status_code == 400
    given = friend.post(f"/t/{table}/review", json={"key": key}).json()
    assert given["end"] == last["end"]
    assert given["own"] == []
    assert "you" not in [who["kind"] for who in given["seats"]]
    assert friend.get(f"/r/{table}").status_code == 200
    positions = friend.post(f"/t/{table}/review", json={"key": key, "from": 1, "seat": 2}).json()["positions"]
    assert [one["ply"] for one in positions] == list(range(1, given["plies"] + 1))
    assert friend.post(f"/t/{table}/review", json={"key": key, "analysis": True, "seat": 2}).json()["seat"] == 2
    assert friend.post(f"/t/{table}/branch", json={"key": key, "ply": 0}).status_code == 400


@pytest.mark.parametrize(
    "message",
    [{"from": -1}, {"from": 10**6}, {"from": "0"}, {"from": True}, {"from": None}, {"from": 0, "seat": 3},
     {"from": 0, "seat": -1}, {"from": 0, "seat": "1"}, {"from": 0, "seat": True}, {"from": 0, "seat": [1]}],
)  # fmt: skip
def test_what_does_not_exist_is_refused(store, message):  # noqa: F811
    with pytest.raises(CardaiError, match="there is no such"):
        Reviews().answer(finished(store), message, 0)


def test_a_study_game_that_ended_otherwise_is_looked_at_anew(store):  # noqa: F811
    table, reviews = finished(store), Reviews()
    first = reviews.of(table)
    assert reviews.of(table) is first
    ply = table._game.movers.index(0)
    table.undo(0, ply)
    with pytest.raises(CardaiError, match="not over"):
        reviews.of(table)
    while not table.is_over:
        table.play(0, table._game.ply, table.view(0, False)["moves"][0][0])
        table.run()
    assert reviews.of(table) is not first
