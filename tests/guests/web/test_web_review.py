"""A finished game looked at again: any seat's view of each position, open hands, a link to share; nothing before."""

import json

import pytest
from web_people import LOW_HAND, THREE, another, begin, choose, open_at, play_on, post, run_on, sit, table_of

from cardai.errors import CardaiError
from cardai.guests.web.review import Review, Reviews, key_of


def finished(store, **options):
    return run_on(table_of(store, LOW_HAND, *THREE, seed=3, **options))


def hands(position) -> list[list[int]]:
    return [zone["pieces"] for zone in position["zones"] if zone.get("seat") is not None]


def test_each_position_is_what_the_seat_saw_then_and_lines_name_the_move_that_comes(store):
    table, seen = table_of(store, LOW_HAND, *THREE, seed=3), {}
    while True:
        table.run()
        seen[table._game.ply] = [table.view(seat, False)["zones"] for seat in range(3)]
        if table.is_over:
            break
        choose(table, 0)
    looked = Review(table)
    for ply, views in seen.items():
        for seat, zones in enumerate(views):
            (now,) = looked.positions(seat, ply)["positions"][:1]
            assert (now["ply"], now["zones"]) == (ply, zones)
    assert len(seen) > 2
    given = looked.positions(None, 1)
    assert given["first"] == 0
    assert [mover for mover, *_ in given["lines"]] == table._game.movers
    assert any(pieces for *_, pieces in given["lines"])


def test_all_hands_are_open_and_a_seats_view_hides_those_of_others(store):
    looked, hidden = Review(finished(store)), 0
    for ply, state in enumerate(looked.states):
        truth = [[piece for piece in range(40) if int(hand) >> piece & 1] for hand in state["hands"][:3]]
        assert hands(looked.positions(None, ply)["positions"][0]) == truth
        own = [hands(looked.positions(seat, ply)["positions"][0]) for seat in range(3)]
        assert [own[seat][seat] for seat in range(3)] == truth
        hidden += sum(own[0][other] != truth[other] for other in (1, 2))
    assert hidden > 2


def test_nothing_is_shown_before_the_end_and_then_a_link_opens_it_to_somebody_without_a_place(client, store):
    table, friend = sit(client, seats=THREE), another(client)
    with open_at(client, table) as socket:
        view, key = begin(socket), key_of(store.table(table))
        assert key not in json.dumps(view)
        for message in ({}, {"from": 0}, {"from": 0, "seat": 1}, {"analysis": True, "seat": 1}):
            for asking, sent in ((client, message), (friend, message | {"key": key})):
                assert post(asking, f"/t/{table}/review", sent, 400) == {"error": "the game is not over"}
        last = play_on(socket, view)
    assert post(client, f"/t/{table}/review")["key"] == key
    for wrong in ({}, {"key": "0" * 32}, {"key": ""}, {"key": table}):
        post(friend, f"/t/{table}/review", wrong, 400)
    given = post(friend, f"/t/{table}/review", {"key": key})
    assert (given["end"], given["own"]) == (last["end"], [])
    assert "you" not in [who["kind"] for who in given["seats"]]
    assert friend.get(f"/r/{table}").status_code == 200
    positions = post(friend, f"/t/{table}/review", {"key": key, "from": 1, "seat": 2})["positions"]
    assert [one["ply"] for one in positions] == list(range(1, given["plies"] + 1))
    assert post(friend, f"/t/{table}/review", {"key": key, "analysis": True, "seat": 2})["seat"] == 2
    post(friend, f"/t/{table}/branch", {"key": key, "ply": 0}, 400)


def test_a_study_game_that_ended_otherwise_is_looked_at_anew(store):
    table, reviews = finished(store, study=True), Reviews()
    first = reviews.of(table)
    assert reviews.of(table) is first
    table.undo(0, table._game.movers.index(0))
    with pytest.raises(CardaiError, match="not over"):
        reviews.of(table)
    assert reviews.of(run_on(table, place=0)) is not first
