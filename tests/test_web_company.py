"""Who is at the table, who is waited for and for how long: everybody there is told, and nothing of the game with it."""

import json
import time

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

import anyio
from test_web import HOME, NONCE, PATIENCE, SOCKETS, another, client, sit, store, views  # noqa: F401
from test_web_seats import join, link


async def frame_of(socket) -> dict:
    with anyio.fail_after(PATIENCE):
        return socket._raise_on_close(message := await socket._send_rx.receive()) or json.loads(message["text"])


def companies(socket, until):
    """Take frames until the company is as wanted."""
    for _ in range(200):
        found = socket.portal.call(frame_of, socket).get("company")
        if found is not None and until(found):
            return found
    raise AssertionError("this company never came")


def open_at(browser, table: str):
    return browser.websocket_connect(f"{SOCKETS}/t/{table}/socket")


def with_a_friend(client, game: str = "low_hand", seats=("me", "friend", "low"), **wishes):  # noqa: F811
    """A table with two people: its id and the friend's browser."""
    answer = client.post("/tables", json={"game": game, "seats": list(seats), "name": "Ann", **wishes})
    assert answer.status_code == 200, answer.text
    table, friend = answer.json()["table"], another(client)
    assert join(friend, table, link(client, table, seat=seats.index("friend"))).status_code == 200
    return table, friend


def test_everybody_is_told_who_comes_and_goes_and_how_many_watch(client):  # noqa: F811
    table, friend = with_a_friend(client)
    eyes = another(client)
    with open_at(client, table) as mine:
        with open_at(friend, table) as theirs:
            companies(mine, lambda now: now["here"] == [0, 1])
            assert companies(theirs, lambda now: True)["here"] == [0, 1]
            assert join(eyes, table, link(client, table, watch=True)).status_code == 200
            with open_at(eyes, table) as watching:
                for one in (mine, theirs, watching):
                    companies(one, lambda now: (now["here"], now["watching"]) == ([0, 1], 1))
            companies(mine, lambda now: now["watching"] == 0)
            with open_at(friend, table):
                pass
        companies(mine, lambda now: now["here"] == [0])


def test_who_is_waited_for_and_since_when(client):  # noqa: F811
    table, friend = with_a_friend(client)
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        for one in (mine, theirs):
            one.send_json({"pause": 0})
            one.send_json({"nonce": NONCE})
        view = views(mine, lambda now: "turn" in now and now["turn"] in (0, 1))
        browser, socket = (client, mine) if view["turn"] == 0 else (friend, theirs)
        time.sleep(0.3)
        known = browser.get(f"/t/{table}/company").json()
        assert (known["seat"], known["names"], known["over"]) == (view["turn"], ["Ann", "Ben", None], False)
        ((seat, seconds),) = known["waits"]
        assert seat == view["turn"]
        assert 0.3 <= seconds < 20
        moving = views(socket, lambda now: "moves" in now) if "moves" not in view else view
        socket.send_json({"ply": moving["ply"], "move": moving["moves"][0][0]})
        companies(mine, lambda now: [one for one, _ in now["waits"]] == [1 - seat])
        ((_, again),) = browser.get(f"/t/{table}/company").json()["waits"]
        assert again < seconds + 20
    assert another(client).get(f"/t/{table}/company").status_code == 400, "only for those who have a place there"


def test_a_link_says_who_waits_behind_it_and_a_dead_one_says_nothing(client):  # noqa: F811
    table = sit(client, seats=("me", "friend", "low"))
    invitation, guest = link(client, table, seat=1), another(client)
    with open_at(client, table):
        arrived = guest.post(f"/t/{table}/arrive", json={"invitation": invitation}).json()
        assert arrived["company"]["title"] == "Low Hand"
        assert (arrived["company"]["names"], arrived["company"]["here"]) == (["Ann", None, None], [0])
    arrived = guest.post(f"/t/{table}/arrive", json={"invitation": invitation}).json()
    assert arrived["company"]["here"] == []
    assert "company" not in guest.post(f"/t/{table}/arrive", json={"invitation": "x" * 32}).json()


def test_one_person_alone_is_sent_no_company(client):  # noqa: F811
    table = sit(client)
    with open_at(client, table) as mine, open_at(client, table):
        mine.send_json({"pause": 0})
        mine.send_json({"nonce": NONCE})
        for _ in range(3):
            assert "company" not in mine.portal.call(frame_of, mine)
