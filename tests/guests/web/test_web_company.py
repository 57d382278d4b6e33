"""Who is at the table, who is waited for and for how long: everybody there is told, and nothing of the game with it."""

import time

from web_clients import NONCE
from web_people import (
    another,
    companies,
    finish,
    frames,
    join,
    link,
    move,
    open_at,
    post,
    sit,
    take_part,
    views,
    watch,
    with_a_friend,
)

from cardai.guests.web.commitment import fingerprint


def test_everybody_is_told_who_comes_and_goes_and_how_many_watch(client):
    table, friend = with_a_friend(client)
    with open_at(client, table) as mine:
        with open_at(friend, table) as theirs:
            companies(mine, lambda now: now["here"] == [0, 1])
            assert companies(theirs, lambda now: True)["here"] == [0, 1]
            with open_at(watch(client, table), table) as watching:
                for one in (mine, theirs, watching):
                    companies(one, lambda now: (now["here"], now["watching"]) == ([0, 1], 1))
            companies(mine, lambda now: now["watching"] == 0)
            with open_at(friend, table):
                pass
        companies(mine, lambda now: now["here"] == [0])


def test_who_is_waited_for_and_since_when(client):
    table, friend = with_a_friend(client)
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        take_part(mine, theirs)
        view = views(mine, lambda now: "turn" in now and now["turn"] in (0, 1))
        browser, socket = (client, mine) if view["turn"] == 0 else (friend, theirs)
        time.sleep(0.3)
        known = browser.get(f"/t/{table}/company").json()
        assert (known["seat"], known["names"], known["over"]) == (view["turn"], ["Ann", "Ben", None], False)
        ((seat, seconds),) = known["waits"]
        assert seat == view["turn"]
        assert 0.3 <= seconds < 20
        move(socket, view if "moves" in view else views(socket, lambda now: "moves" in now))
        companies(mine, lambda now: [one for one, _ in now["waits"]] == [1 - seat])
        ((_, again),) = browser.get(f"/t/{table}/company").json()["waits"]
        assert again < seconds + 20
    assert another(client).get(f"/t/{table}/company").status_code == 400, "only for those who have a place there"


def test_a_link_says_who_waits_behind_it_and_a_dead_one_says_nothing(client):
    table = sit(client, seats=("me", "friend", "low"))
    invitation, guest = link(client, table, seat=1), another(client)
    with open_at(client, table):
        arrived = post(guest, f"/t/{table}/arrive", {"invitation": invitation})
        assert arrived["company"]["title"] == "Low Hand"
        assert (arrived["company"]["names"], arrived["company"]["here"]) == (["Ann", None, None], [0])
    assert post(guest, f"/t/{table}/arrive", {"invitation": invitation})["company"]["here"] == []
    assert "company" not in post(guest, f"/t/{table}/arrive", {"invitation": "x" * 32})


def test_one_person_alone_is_sent_no_company(client):
    table = sit(client)
    with open_at(client, table) as mine, open_at(client, table):
        take_part(mine)
        for _ in range(3):
            assert "company" not in frames(mine, lambda frame: True)


# The next game, and further devices.


def finished(client, friend, table):
    """Both give up, and agents play to the end."""
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        take_part(mine, theirs)
        views(mine, lambda now: "turn" in now)
        for browser in (client, friend):
            post(browser, f"/t/{table}/leave", {"resign": True})
        views(mine, lambda now: now["over"])


def test_the_people_of_a_game_meet_at_the_next_table_whoever_comes_first(client, store):
    table, friend = with_a_friend(client, takeover=15)
    assert post(client, f"/t/{table}/rematch", {}, 400)["error"] == "the game is not over"
    finished(client, friend, table)
    with open_at(client, table) as mine:
        assert not views(mine)["rematch"]
        following = post(friend, f"/t/{table}/rematch")["table"]
        views(mine, lambda now: now["rematch"])
    with open_at(friend, following) as theirs:
        theirs.send_json({"nonce": NONCE})
        assert views(theirs)["seats"][:2] == [{"name": "Ann", "kind": "empty"}, {"name": "Ben", "kind": "you"}]
        assert post(client, f"/t/{table}/rematch")["table"] == following
        with open_at(client, following) as mine:
            mine.send_json({"nonce": "cd" * 32})
            assert views(mine, lambda now: "turn" in now)["seat"] == 0
            assert post(friend, f"/t/{table}/rematch")["table"] == following
    old, new = store.table(table), store.table(following)
    assert (new.takeover, [row.person for row in new.seats]) == (15, [row.person for row in old.seats])
    assert new.secret != old.secret
    assert [row.gone for row in new.seats] == ["", "", ""]
    with open_at(friend, following) as theirs:
        assert views(theirs)["seat"] == 1, "who came twice has their seat"
    finished(client, friend, following)
    assert post(client, f"/t/{table}/rematch")["table"] not in (table, following)


def test_who_does_not_come_to_the_next_table_is_replaced_and_told_so(client):
    table, friend = with_a_friend(client)
    finished(client, friend, table)
    following = post(client, f"/t/{table}/rematch")["table"]
    post(client, f"/t/{following}/fill", {"seat": 1, "agent": "low"})
    assert "somebody else" in post(friend, f"/t/{table}/rematch", {}, 400)["error"]
    assert finish(client, following)["seats"][1]["kind"] == "agent"


def test_a_seat_is_played_on_two_devices_and_is_lost_on_neither(client):
    table, phone = sit(client, "tictactoe", ("me", "random")), another(client)
    invitation = link(client, table, device=True)
    assert post(phone, f"/t/{table}/arrive", {"invitation": invitation})["link"] == "device"
    join(phone, table, invitation)
    join(another(client), table, invitation, status=400)
    with open_at(client, table) as mine, open_at(phone, table) as theirs:
        take_part(theirs)
        for socket, ply in ((theirs, 0), (mine, 2)):
            view = views(socket, lambda now: now.get("ply") == ply and "moves" in now)  # noqa: B023
            assert (view["seat"], view["watches"]) == (0, False)
            move(socket, view)
        for socket in (mine, theirs):
            views(socket, lambda now: now["ply"] > 2)
    for browser in (client, phone):
        with open_at(browser, table) as socket:
            assert views(socket)["seat"] == 0
    assert link(phone, table, device=True)


def test_who_comes_in_and_never_opens_the_table_does_not_hold_up_the_deal(client, store):
    table = sit(client, seats=("me", "friend", "low"))
    invitation, friend = link(client, table, seat=1), another(client)
    arrived = post(friend, f"/t/{table}/arrive", {"invitation": invitation})["company"]
    assert arrived["commitment"] == fingerprint(store.table(table).secret)
    message = {"invitation": invitation, "name": "Ben", "nonce": "xy"}
    post(friend, f"/t/{table}/join", message, 400)  # and the link stays good
    with open_at(client, table) as mine:
        mine.send_json({"nonce": NONCE})
        post(friend, f"/t/{table}/join", {**message, "nonce": "cd" * 32})
        views(mine, lambda now: "turn" in now)
    assert [row.nonce for row in store.table(table).seats[:2]] == [bytes.fromhex(NONCE), b"\xcd" * 32]
