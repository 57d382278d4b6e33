"""What strangers can make a server do: keep rows, run out of room, wait for them."""

import asyncio
import time

import pytest
from starlette.requests import Request
from starlette.websockets import WebSocketDisconnect
from web_people import (
    LOW_HAND,
    WISHES,
    another,
    browser_at,
    count_rows,
    join,
    link,
    open_at,
    post,
    served,
    sit,
    watch,
)

from cardai.errors import BadArgument
from cardai.guests.web import requests, server
from cardai.guests.web.guards import Rate, neighbourhood

JOIN = {"invitation": "x" * 32, "name": "Ben"}


def rows(store) -> list[int]:
    return count_rows(store, "table", "seat", "watcher", "person")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/t/TABLE/join", JOIN), ("/t/TABLE/join", JOIN | {"name": ""}), ("/t/TABLE/join", {}),
        ("/tables", WISHES | {"name": ""}), ("/tables", WISHES | {"seats": ["me", "nobody"]}),
        ("/challenge", {"code": "abc", "name": "Ben"}), ("/t/TABLE/branch", {"ply": 0}), ("/t/none/join", JOIN),
    ],
)  # fmt: skip
def test_what_is_refused_adds_no_row_and_sets_no_cookie(client, store, path, message):
    table = sit(client)
    before = rows(store)
    answer = another(client).post(path.replace("TABLE", table), json=message)
    assert (answer.status_code, rows(store), answer.headers.get_list("set-cookie")) == (400, before, [])


def test_an_invitation_without_a_good_name_is_not_used_up_and_who_watches_is_no_person(client, store):
    table = sit(client, seats=("me", "friend", "low"))
    invitation, friend = link(client, table, seat=1), another(client)
    before = rows(store)
    join(friend, table, invitation, "\x00", 400)
    assert rows(store) == before
    join(friend, table, invitation)
    watch(client, table)
    assert rows(store) == [1, 3, 1, before[-1] + 1]


def test_an_address_has_so_many_requests_and_sockets_a_minute(store, monkeypatch):
    monkeypatch.setattr(server, "REQUESTS", 10)
    with browser_at(served(store, LOW_HAND)) as browser:
        table = sit(browser)
        for path in ("/games", f"/t/{table}/record"):
            browser.get(path)
        for what in ("join", "arrive", "invite"):
            browser.post(f"/t/{table}/{what}", json=JOIN)
        for _ in range(4):
            with open_at(browser, table) as socket:
                assert "closed" not in socket.receive_json()
        with open_at(browser, table) as socket:
            assert "minute" in socket.receive_json()["closed"]
            with pytest.raises(WebSocketDisconnect):
                socket.receive_json()
        post(browser, f"/t/{table}/join", JOIN, 429)
        assert browser.get("/").status_code == 200, "the page says what is wrong"


def test_a_seat_has_so_many_links_to_watch(client, store):
    table = sit(client)
    for _ in range(64):
        link(client, table, watch=True)
    assert "64" in post(client, f"/t/{table}/invite", {"watch": True}, 400)["error"]
    assert count_rows(store, "watcher") == [64]


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("2001:db8:1:2::5", "2001:db8:1:2:ffff::1", True), ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True), ("testclient", "testclient", True),
        ("10.0.0.1", "10.0.0.2", False), ("2001:db8:1:2::5", "2001:db8:1:3::5", False),
    ],
)  # fmt: skip
def test_one_network_is_one_address(one, other, is_one):
    assert (neighbourhood(one) == neighbourhood(other)) == is_one


def test_many_addresses_do_not_make_each_request_dear():
    rate = Rate(5, 60.0)
    for number in range(30_000):
        rate.allows(str(number))
    begin = time.process_time()
    for number in range(1000):
        rate.allows(f"another {number}")
    assert time.process_time() - begin < 0.25


def asked(receive) -> Request:
    return Request({"type": "http", "headers": [], "method": "POST"}, receive)


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(requests, "BODY_SECONDS", 0.05)

    async def slowly() -> dict:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    with pytest.raises(BadArgument, match="did not come"):
        asyncio.run(requests.body(asked(slowly)))


def test_who_goes_away_in_the_middle_of_a_request_is_no_fault(serving, capsys):
    async def gone() -> dict:
        return {"type": "http.disconnect"}

    asyncio.run(serving.answered(requests.body)(asked(gone)))
    assert capsys.readouterr().err == ""
