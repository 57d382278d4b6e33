"""A browser that holds a seat keeps it, whatever link it opens, and a link says at once what it is for."""

from contextlib import closing

import pytest
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
    with_a_friend,
)

from cardai.guests.web.store import Store


def arrive(browser, table: str, invitation: str) -> dict:
    answer = browser.post(f"/t/{table}/arrive", json={"invitation": invitation})
    assert (answer.status_code, answer.headers.get_list("set-cookie")) == (200, [])
    return {name: found for name, found in answer.json().items() if name != "company"}


def place(browser, table: str) -> tuple[int, bool] | None:
    """What a browser shows at a table: the seat, and whether it only watches; None without a place."""
    with open_at(browser, table) as socket:
        view = socket.receive_json()
        return None if "closed" in view else (view["seat"], view["watches"])


@pytest.mark.parametrize("wish", [{"seat": 1}, {"watch": True}, {"device": True}], ids=["seat", "watch", "device"])
def test_who_opens_their_own_link_keeps_their_seat_and_the_link_stays_good(client, wish):
    table = sit(client, seats=("me", "friend", "low"))
    invitation = link(client, table, **wish)
    arrived = arrive(client, table, invitation)
    assert arrived["place"] == "seat"
    assert "You keep your seat" in arrived["text"]
    refused = client.post(f"/t/{table}/join", json={"invitation": invitation, "name": "Ben"})
    assert (refused.status_code, refused.headers.get_list("set-cookie")) == (400, [])
    assert refused.json()["error"] == arrived["text"]
    assert place(client, table) == (0, False)
    friend = another(client)
    join(friend, table, invitation)  # it was not used up
    assert place(friend, table) == (1 if "seat" in wish else 0, "watch" in wish)


def test_a_friend_who_opens_their_link_again_is_back_in_their_seat(client):
    table = sit(client, seats=("me", "friend", "low"))
    invitation, friend = link(client, table, seat=1), another(client)
    assert arrive(friend, table, invitation) == {"place": None, "link": "seat", "text": ""}
    join(friend, table, invitation)
    assert arrive(friend, table, invitation) == {"place": "seat", "link": None, "text": ""}
    join(friend, table, invitation, status=400)
    watching = link(client, table, watch=True)  # nor does a player become a spectator of another seat
    assert arrive(friend, table, watching)["place"] == "seat"
    join(friend, table, watching, status=400)
    assert place(friend, table) == (1, False)


def test_a_spectator_who_opens_the_link_again_goes_on_watching_and_may_sit_down_by_an_invitation(client):
    table = sit(client, seats=("me", "friend", "low"))
    watching, eyes = link(client, table, watch=True), another(client)
    assert arrive(eyes, table, watching)["link"] == "watch"
    join(eyes, table, watching)
    assert arrive(eyes, table, watching) == {"place": "watch", "link": None, "text": ""}
    assert place(eyes, table) == (0, True)
    join(eyes, table, link(client, table, seat=1))
    assert place(eyes, table) == (1, False)


def test_a_link_that_does_not_work_any_more_says_so_before_a_name_is_asked_for(client):
    table = sit(client, seats=("me", "friend", "low"))
    earlier, later, late = link(client, table, seat=1), link(client, table, seat=1), another(client)
    for old in (earlier, "x" * 32, ""):
        arrived = arrive(late, table, old)
        assert (arrived["place"], arrived["link"]) == (None, None)
        assert "new one" in arrived["text"]
    assert arrive(late, table, later)["link"] == "seat"
    post(client, f"/t/{table}/fill", {"seat": 1, "agent": "low"})
    assert arrive(late, table, later)["link"] is None
    post(late, "/t/nothing/arrive", {"invitation": later}, 400)


def test_two_invitations_to_one_table_in_one_browser_seat_it_once_and_the_second_stays_good(client):
    table = sit(client, seats=("me", "friend", "friend"))
    first, second = link(client, table, seat=1), link(client, table, seat=2)
    friend, other = another(client), another(client)
    join(friend, table, first)
    assert arrive(friend, table, second)["text"] == join(friend, table, second, status=400)["error"]
    join(other, table, second, "Cy")
    assert [place(browser, table) for browser in (client, friend, other)] == [(0, False), (1, False), (2, False)]


def test_seats_at_two_tables_and_a_seat_by_invitation_at_a_third_are_all_kept(client):
    third, guest = with_a_friend(client)
    own = [sit(guest), sit(guest, "tictactoe", ("me", "random"))]
    assert [place(guest, table) for table in (*own, third)] == [(0, False), (0, False), (1, False)]


def test_looking_saving_inviting_and_filling_set_no_cookie(client):
    table = sit(client, "tictactoe", ("me", "friend"))
    before = {(cookie.name, cookie.path): cookie.value for cookie in client.cookies.jar}
    answers = [client.get(path) for path in ("/", f"/t/{table}", "/games", f"/t/{table}/record")]
    answers += [client.post(f"/t/{table}/invite", json=wish) for wish in ({"seat": 1}, {"watch": True})]
    answers.append(client.post(f"/t/{table}/fill", json={"seat": 1, "agent": "random"}))
    assert all("set-cookie" not in answer.headers for answer in answers)
    assert {(cookie.name, cookie.path): cookie.value for cookie in client.cookies.jar} == before


def test_a_person_stays_the_same_at_two_servers_that_share_a_browser(client, tmp_path):
    """Cookies do not tell ports apart: a second server sees the first one's, and must not replace it."""
    sit(client)
    person = {cookie.name: cookie.value for cookie in client.cookies.jar}["person"]
    with (
        closing(Store(tmp_path / "other.sqlite")) as elsewhere,
        browser_at(served(elsewhere, LOW_HAND), cookies={"person": person}) as browser,
    ):
        for _ in range(2):
            sit(browser)
        assert {cookie.value for cookie in browser.cookies.jar if cookie.name == "person"} == {person}
        assert count_rows(elsewhere, "person") == [1]
    made_up = another(client)
    made_up.cookies.set("person", "x", domain="127.0.0.1", path="/")
    assert "person=x;" not in str(made_up.post("/tables", json=WISHES).headers.get_list("set-cookie"))
