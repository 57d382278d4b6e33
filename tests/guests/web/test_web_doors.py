"""What strangers can make a server do: keep rows, run out of room, wait for them."""

import asyncio
import time

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from test_web import HOME, LOW_HAND, SOCKETS, another, client, offers_of, sit, store, views  # noqa: F401

from cardai.errors import BadArgument
from cardai.guests.web import server
from cardai.guests.web.guards import Hosts, Rate, neighbourhood


def rows(store) -> dict[str, int]:  # noqa: F811
    """How many rows each table of the store has."""
    names = "person", "table", "seat", "watcher"
    return {name: store.read(f'SELECT count(*) FROM "{name}"')[0][0] for name in names}


WISHES = {"game": "low_hand", "seats": ["me", "low"], "name": "Ann"}
JOIN = {"invitation": "x" * 32, "name": "Ben"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/t/TABLE/join", JOIN), ("/t/TABLE/join", JOIN | {"name": ""}), ("/t/TABLE/join", {}),
        ("/t/TABLE/arrive", JOIN), ("/tables", WISHES | {"name": ""}), ("/tables", WISHES | {"seats": ["me"]}),
        ("/tables", WISHES | {"seats": ["me", "nobody"]}), ("/tables", WISHES | {"challenge": 1}),
        ("/challenge", {"code": "abc", "name": "Ben"}), ("/challenge", {}), ("/t/TABLE/branch", {"ply": 0}),
        ("/t/none/join", JOIN),
    ],
)  # fmt: skip
def test_what_is_refused_adds_no_row_and_sets_no_cookie(client, store, path, message):  # noqa: F811
    table = sit(client)
    before = rows(store)
    answer = another(client).post(path.replace("TABLE", table), json=message)
    if "arrive" not in path:
        assert answer.status_code == 400
    assert (rows(store), answer.headers.get_list("set-cookie")) == (before, [])


def test_an_invitation_without_a_good_name_is_not_used_up_and_adds_nobody(client, store):  # noqa: F811
    table = sit(client, seats=("me", "friend", "low"))
    invitation = client.post(f"/t/{table}/invite", json={"seat": 1}).json()["invitation"]
    before, friend = rows(store), another(client)
    assert friend.post(f"/t/{table}/join", json={"invitation": invitation, "name": "\x00"}).status_code == 400
    assert rows(store) == before
    assert friend.post(f"/t/{table}/join", json={"invitation": invitation, "name": "Ben"}).status_code == 200
    assert rows(store)["person"] == before["person"] + 1


def test_who_watches_is_no_person_of_the_study(client, store):  # noqa: F811
    table = sit(client)
    invitation, before = client.post(f"/t/{table}/invite", json={"watch": True}).json()["invitation"], rows(store)
    assert another(client).post(f"/t/{table}/join", json={"invitation": invitation}).status_code == 200
    assert rows(store) == before


@pytest.mark.parametrize("path", ["/games", "/t/TABLE/join", "/t/TABLE/arrive", "/t/TABLE/invite", "/t/TABLE/record"])
def test_an_address_has_so_many_requests_a_minute(store, monkeypatch, path):  # noqa: F811
    monkeypatch.setattr(server, "REQUESTS", 20)
    app = server.Server(offers_of(LOW_HAND), store, Hosts("127.0.0.1")).app
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as browser:
        path = path.replace("TABLE", sit(browser))
        ask = browser.get if path.endswith(("games", "record")) else lambda path: browser.post(path, json=JOIN)
        codes = [ask(path).status_code for _ in range(20)]
        assert (set(codes[:19]) - {200, 400}, codes[19]) == (set(), 429)
        assert browser.get("/").status_code == 200, "the page says what is wrong"


def test_sockets_count_as_requests(store, monkeypatch):  # noqa: F811
    monkeypatch.setattr(server, "REQUESTS", 3)
    app = server.Server(offers_of(LOW_HAND), store, Hosts("127.0.0.1")).app
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as browser:
        place = f"{SOCKETS}/t/{sit(browser)}/socket"
        for _ in range(2):
            with browser.websocket_connect(place) as socket:
                assert "closed" not in socket.receive_json()
        with browser.websocket_connect(place) as socket:
            assert "minute" in socket.receive_json()["closed"]
            with pytest.raises(WebSocketDisconnect):
                socket.receive_json()


def test_a_seat_has_so_many_links_to_watch(client, store):  # noqa: F811
    table = sit(client)
    asked = [client.post(f"/t/{table}/invite", json={"watch": True}) for _ in range(70)]
    refused = [answer for answer in asked if answer.status_code == 400]
    assert len(refused) == 6
    assert "64" in refused[0].json()["error"]
    assert rows(store)["watcher"] == 64


@pytest.mark.parametrize(
    ("address", "shared"),
    [
        ("2001:db8:1:2::5", "2001:db8:1:2:ffff::1"), ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::2%eth0"), ("testclient", "testclient"),
    ],
)  # fmt: skip
def test_one_network_is_one_address(address, shared):
    assert neighbourhood(address) == neighbourhood(shared)


@pytest.mark.parametrize(("one", "other"), [("10.0.0.1", "10.0.0.2"), ("2001:db8:1:2::5", "2001:db8:1:3::5")])
def test_neighbours_are_told_apart(one, other):
    assert neighbourhood(one) != neighbourhood(other)


def test_many_addresses_do_not_make_each_request_dear():
    rate = Rate(5, 60.0)
    for number in range(30_000):
        rate.allows(str(number))
    begin = time.process_time()
    for number in range(1000):
        rate.allows(f"another {number}")
    assert time.process_time() - begin < 0.25


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(server, "BODY_SECONDS", 0.05)

    async def slowly() -> dict:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    with pytest.raises(BadArgument, match="did not come"):
        asyncio.run(server._body(Request({"type": "http", "headers": [], "method": "POST"}, slowly)))


def test_who_goes_away_in_the_middle_of_a_request_is_no_fault(store, capsys):  # noqa: F811
    async def gone() -> dict:
        return {"type": "http.disconnect"}

    async def ask() -> None:
        request = Request({"type": "http", "headers": [], "method": "POST"}, gone)
        await server.Server(offers_of(LOW_HAND), store, Hosts("127.0.0.1")).answered(server._body)(request)

    asyncio.run(ask())
    assert capsys.readouterr().err == ""
