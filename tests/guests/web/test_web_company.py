"""Who is at the table, who is waited for and for how long: everybody there is told, and nothing of the game with it."""

import json
import time

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

import anyio
from test_web import HOME, NONCE, PATIENCE, SOCKETS, another, client, sit, store, views  # noqa: F401
from test_web_seats import join, link

from cardai.guests.web.commitment import fingerprint


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


# What people say.


def frames(socket, until):
    for _ in range(200):
        found = socket.portal.call(frame_of, socket)
        if until(found):
            return found
    raise AssertionError("this frame never came")


def arrive(*sockets):
    """Wait until the server tells each of these tabs what happens: it sends a view first."""
    for socket in sockets:
        frames(socket, lambda now: "seats" in now)


def test_everybody_hears_a_phrase_of_the_list_and_nothing_else(client):  # noqa: F811
    table, friend = with_a_friend(client)
    eyes = another(client)
    join(eyes, table, link(client, table, watch=True))
    with open_at(client, table) as mine, open_at(friend, table) as theirs, open_at(eyes, table) as watching:
        arrive(mine, theirs, watching)
        for nonsense in ("you fool", "<b>", 3, None, ["hello"], {"hello": 1}):
            theirs.send_json({"say": nonsense})
            assert "you can say hello" in frames(theirs, lambda now: "error" in now)["error"]
        theirs.send_json({"say": "luck"})
        for socket in (mine, theirs, watching):
            assert frames(socket, lambda now: "said" in now) == {"said": [1, "luck"]}
        watching.send_json({"say": "hello"})
        assert frames(watching, lambda now: "error" in now)["error"] == "you only watch"


def test_nobody_talks_without_end(client):  # noqa: F811
    table, friend = with_a_friend(client)
    with open_at(client, table) as mine, open_at(client, table) as second, open_at(friend, table) as theirs:
        arrive(mine, second, theirs)
        for socket in (mine, second, mine):
            socket.send_json({"say": "turn"})
            assert frames(theirs, lambda now: "said" in now)["said"] == [0, "turn"]
        second.send_json({"say": "turn"})
        frames(second, lambda now: "moment" in now.get("error", ""))
        theirs.send_json({"say": "moment"})
        assert frames(theirs, lambda now: "said" in now)["said"] == [1, "moment"], "each seat has its own limit"


# The next game, and further devices.


def finished(client, friend, table):  # noqa: F811
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        for socket in (mine, theirs):
            socket.send_json({"pause": 0})
            socket.send_json({"nonce": NONCE})
        views(mine, lambda now: "turn" in now)
        for browser in (client, friend):
            assert browser.post(f"/t/{table}/leave", json={"resign": True}).status_code == 200
        views(mine, lambda now: now["over"])


def test_the_people_of_a_game_meet_at_the_next_table_whoever_comes_first(client, store):  # noqa: F811
    table, friend = with_a_friend(client, takeover=15)
    assert client.post(f"/t/{table}/rematch", json={}).json()["error"] == "the game is not over"
    finished(client, friend, table)
    eyes = another(client)
    join(eyes, table, link(client, table, watch=True))
    assert eyes.post(f"/t/{table}/rematch", json={}).status_code == 400
    with open_at(client, table) as mine:
        assert not views(mine, lambda now: True)["rematch"]
        following = friend.post(f"/t/{table}/rematch", json={}).json()["table"]
        views(mine, lambda now: now["rematch"])
    with open_at(friend, following) as theirs:
        theirs.send_json({"nonce": NONCE})
        waiting = views(theirs, lambda now: True)
        assert waiting["seats"][:2] == [{"name": "Ann", "kind": "empty"}, {"name": "Ben", "kind": "you"}]
        assert client.post(f"/t/{table}/rematch", json={}).json()["table"] == following
        with open_at(client, following) as mine:
            mine.send_json({"nonce": "cd" * 32})
            assert views(mine, lambda now: "turn" in now)["seat"] == 0
            assert friend.post(f"/t/{table}/rematch", json={}).json()["table"] == following
            theirs.send_json({"say": "hello"})
            frames(mine, lambda now: "said" in now)
    old, new = store.table(table), store.table(following)
    assert (new.takeover, [row.person for row in new.seats]) == (15, [row.person for row in old.seats])
    assert new.secret != old.secret
    assert [row.gone for row in new.seats] == ["", "", ""]
    with open_at(friend, following) as theirs:
        assert views(theirs, lambda now: True)["seat"] == 1, "who came twice has their seat"
    finished(client, friend, following)
    assert client.post(f"/t/{table}/rematch", json={}).json()["table"] not in (table, following)


def test_who_does_not_come_to_the_next_table_is_replaced_and_told_so(client):  # noqa: F811
    table, friend = with_a_friend(client)
    finished(client, friend, table)
    following = client.post(f"/t/{table}/rematch", json={}).json()["table"]
    assert client.post(f"/t/{following}/fill", json={"seat": 1, "agent": "low"}).status_code == 200
    assert "somebody else" in friend.post(f"/t/{table}/rematch", json={}).json()["error"]
    with open_at(client, following) as mine:
        mine.send_json({"nonce": NONCE})
        assert views(mine, lambda now: "turn" in now)["seats"][1]["kind"] == "agent"


def test_a_challenge_is_played_once(client, store):  # noqa: F811
    wishes = {"game": "low_hand", "seats": ["me", "low"], "name": "Ann", "challenge": 2}
    table = client.post("/tables", json=wishes).json()["table"]
    with open_at(client, table) as mine:
        mine.send_json({"pause": 0})
        view = views(mine, lambda now: now["over"] or "moves" in now)
        while not view["over"]:
            mine.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
            ply = view["ply"]
            view = views(mine, lambda now: now["over"] or (now["ply"] > ply and "moves" in now))  # noqa: B023
    assert client.post(f"/t/{table}/rematch", json={}).json()["error"] == "this deal is played once"


def test_a_seat_is_played_on_two_devices_and_is_lost_on_neither(client):  # noqa: F811
    table, phone, thief = sit(client, "tictactoe", ("me", "random")), another(client), another(client)
    invitation = link(client, table, device=True)
    assert (
        client.post(f"/t/{table}/arrive", json={"invitation": invitation})
        .json()["text"]
        .startswith("This is your link")
    )
    assert client.post(f"/t/{table}/join", json={"invitation": invitation}).status_code == 400
    assert phone.post(f"/t/{table}/arrive", json={"invitation": invitation}).json()["link"] == "device"
    assert phone.post(f"/t/{table}/join", json={"invitation": invitation}).status_code == 200
    assert thief.post(f"/t/{table}/join", json={"invitation": invitation, "name": "Cy"}).status_code == 400
    with open_at(client, table) as mine, open_at(phone, table) as theirs:
        theirs.send_json({"pause": 0})
        mine.send_json({"nonce": NONCE})
        for socket, ply in ((theirs, 0), (mine, 2)):
            view = views(socket, lambda now: now.get("ply") == ply and "moves" in now)  # noqa: B023
            assert (view["seat"], view["watches"]) == (0, False)
            socket.send_json({"ply": ply, "move": view["moves"][0][0]})
        for socket in (mine, theirs):
            views(socket, lambda now: now["ply"] > 2)
    for browser in (client, phone):
        with open_at(browser, table) as socket:
            assert views(socket, lambda now: True)["seat"] == 0
    again = phone.post(f"/t/{table}/invite", json={"device": True})
    assert again.status_code == 200


def test_who_comes_in_and_never_opens_the_table_does_not_hold_up_the_deal(client, store):  # noqa: F811
    table = sit(client, seats=("me", "friend", "low"))
    invitation, friend = link(client, table, seat=1), another(client)
    arrived = friend.post(f"/t/{table}/arrive", json={"invitation": invitation}).json()["company"]
    assert arrived["commitment"] == fingerprint(store.table(table).secret)
    message = {"invitation": invitation, "name": "Ben", "nonce": "xy"}
    assert friend.post(f"/t/{table}/join", json=message).status_code == 400, "and the link stays good"
    with open_at(client, table) as mine:
        mine.send_json({"nonce": NONCE})
        assert friend.post(f"/t/{table}/join", json={**message, "nonce": "cd" * 32}).status_code == 200
        views(mine, lambda now: "turn" in now)
    assert [row.nonce for row in store.table(table).seats[:2]] == [bytes.fromhex(NONCE), b"\xcd" * 32]
