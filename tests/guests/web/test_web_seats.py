"""A browser that holds a seat keeps it, whatever link it opens, and a link says at once what it is for."""

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

from starlette.testclient import TestClient
from test_web import HOME, LOW_HAND, NONCE, SOCKETS, TICTACTOE, another, client, offers_of, rows_in, sit, store, views  # noqa: F401

from cardai.guests.web import server
from cardai.guests.web.guards import Hosts
from cardai.guests.web.store import Store


def link(browser, table: str, **wish) -> str:
    answer = browser.post(f"/t/{table}/invite", json=wish)
    assert answer.status_code == 200, answer.text
    return answer.json()["invitation"]


def join(browser, table: str, invitation: str, name: str = "Ben"):
    return browser.post(f"/t/{table}/join", json={"invitation": invitation, "name": name})


def arrive(browser, table: str, invitation: str) -> dict:
    answer = browser.post(f"/t/{table}/arrive", json={"invitation": invitation})
    assert (answer.status_code, answer.headers.get_list("set-cookie")) == (200, [])
    return {name: found for name, found in answer.json().items() if name != "company"}


def place(browser, table: str) -> tuple[int, bool] | None:
    """What a browser shows at a table: the seat, and whether it only watches; None without a place."""
    with browser.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        view = socket.receive_json()
        return None if "closed" in view else (view["seat"], view["watches"])


@pytest.mark.parametrize("wish", [{"seat": 1}, {"watch": True}], ids=["invitation", "spectator"])
def test_who_opens_their_own_link_keeps_their_seat_and_the_link_stays_good(client, wish):  # noqa: F811
    table = sit(client, seats=("me", "friend", "low"))
    invitation = link(client, table, **wish)
    arrived = arrive(client, table, invitation)
    assert arrived["place"] == "seat"
    assert ("send" in arrived["text"], "seat" in arrived["text"]) == (True, True)
    refused = join(client, table, invitation)
    assert (refused.status_code, refused.headers.get_list("set-cookie")) == (400, [])
    assert refused.json()["error"] == arrived["text"]
    assert place(client, table) == (0, False)
    friend = another(client)
    assert join(friend, table, invitation).status_code == 200, "the link was not used up"
    assert place(friend, table) == ((0, True) if "watch" in wish else (1, False))


def test_a_friend_who_opens_their_link_again_is_back_in_their_seat(client):  # noqa: F811
    table = sit(client, seats=("me", "friend", "low"))
    invitation, friend = link(client, table, seat=1), another(client)
    assert arrive(friend, table, invitation) == {"place": None, "link": "seat", "text": ""}
    assert join(friend, table, invitation).status_code == 200
    assert arrive(friend, table, invitation) == {"place": "seat", "link": None, "text": ""}
    assert join(friend, table, invitation).status_code == 400
    assert place(friend, table) == (1, False)


def test_a_player_does_not_become_a_spectator_of_another_seat(client):  # noqa: F811
    table = sit(client, seats=("me", "friend", "low"))
    friend = another(client)
    join(friend, table, link(client, table, seat=1))
    with (
        client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as one,
        friend.websocket_connect(f"{SOCKETS}/t/{table}/socket") as other,
    ):
        for socket in (one, other):
            socket.send_json({"nonce": NONCE})
        views(other, lambda now: "zones" in now)
    watching = link(client, table, watch=True)
    assert arrive(friend, table, watching)["place"] == "seat"
    assert join(friend, table, watching).status_code == 400
    assert place(friend, table) == (1, False)


def test_a_spectator_who_opens_the_link_again_goes_on_watching_and_may_sit_down_by_an_invitation(client):  # noqa: F811
    table = sit(client, seats=("me", "friend", "low"))
    watching, eyes = link(client, table, watch=True), another(client)
    assert arrive(eyes, table, watching)["link"] == "watch"
    assert join(eyes, table, watching).status_code == 200
    assert arrive(eyes, table, watching) == {"place": "watch", "link": None, "text": ""}
    assert place(eyes, table) == (0, True)
    assert join(eyes, table, link(client, table, seat=1)).status_code == 200
    assert place(eyes, table) == (1, False)


def test_a_link_that_does_not_work_any_more_says_so_before_a_name_is_asked_for(client):  # noqa: F811
    table = sit(client, seats=("me", "friend", "low"))
    earlier, later = link(client, table, seat=1), link(client, table, seat=1)
    late = another(client)
    for old in (earlier, "x" * 32, ""):
        arrived = arrive(late, table, old)
        assert (arrived["place"], arrived["link"]) == (None, None)
        assert "new one" in arrived["text"]
    assert arrive(late, table, later)["link"] == "seat"
    client.post(f"/t/{table}/fill", json={"seat": 1, "agent": "low"})
    assert arrive(late, table, later)["link"] is None
    assert late.post("/t/nothing/arrive", json={"invitation": later}).status_code == 400
    assert late.post(f"/t/{table}/arrive", json={}).status_code == 400


def test_two_invitations_to_one_table_in_one_browser_seat_it_once_and_the_second_stays_good(client):  # noqa: F811
    table = sit(client, seats=("me", "friend", "friend"))
    first, second = link(client, table, seat=1), link(client, table, seat=2)
    friend, other = another(client), another(client)
    assert join(friend, table, first).status_code == 200
    assert arrive(friend, table, second)["text"] == join(friend, table, second).json()["error"]
    assert place(friend, table) == (1, False)
    assert join(other, table, second, "Cy").status_code == 200
    assert [place(browser, table) for browser in (client, friend, other)] == [(0, False), (1, False), (2, False)]


def test_seats_at_two_tables_and_a_seat_by_invitation_at_a_third_are_all_kept(client):  # noqa: F811
    host, guest = client, another(client)
    own = [sit(guest), sit(guest, "tictactoe", ("me", "random"))]
    third = sit(host, seats=("me", "friend", "low"))
    assert join(guest, third, link(host, third, seat=1)).status_code == 200
    assert [place(guest, table) for table in (*own, third)] == [(0, False), (0, False), (1, False)]


def test_looking_saving_inviting_and_filling_set_no_cookie(client):  # noqa: F811
    table = sit(client, "tictactoe", ("me", "friend"))
    before = {(cookie.name, cookie.path): cookie.value for cookie in client.cookies.jar}
    answers = [
        client.get("/"),
        client.get(f"/t/{table}"),
        client.get("/games"),
        client.get(f"/t/{table}/record"),
        client.post(f"/t/{table}/invite", json={"seat": 1}),
        client.post(f"/t/{table}/invite", json={"watch": True}),
        client.post(f"/t/{table}/fill", json={"seat": 1, "agent": "random"}),
    ]
    assert all("set-cookie" not in answer.headers for answer in answers)
    assert {(cookie.name, cookie.path): cookie.value for cookie in client.cookies.jar} == before


def test_a_person_stays_the_same_at_two_servers_that_share_a_browser(client, store, tmp_path):  # noqa: F811
    """Cookies do not tell ports apart: a second server sees the first one's, and must not replace it."""
    sit(client)
    person = {cookie.name: cookie.value for cookie in client.cookies.jar}["person"]
    elsewhere = Store(tmp_path / "other.sqlite")
    second = server.Server(offers_of(TICTACTOE, LOW_HAND), elsewhere, Hosts("127.0.0.1")).app
    with TestClient(second, base_url=HOME, headers={"origin": HOME}, cookies={"person": person}) as browser:
        for _ in range(2):
            browser.post("/tables", json={"game": "low_hand", "seats": ["me", "low"], "name": "Ann"})
        assert {cookie.value for cookie in browser.cookies.jar if cookie.name == "person"} == {person}
        assert rows_in(elsewhere, "person") == 1
    elsewhere.close()
    made_up = another(client)
    made_up.cookies.set("person", "x", domain="127.0.0.1", path="/")
    answer = made_up.post("/tables", json={"game": "low_hand", "seats": ["me", "low"], "name": "Ann"})
    assert "person=x;" not in str(answer.headers.get_list("set-cookie"))
