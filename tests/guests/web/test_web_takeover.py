"""Whoever leaves, gives up or does not answer holds nobody up: an agent plays for them, and the figures say so."""

import sqlite3
import time

import numpy as np
import pytest
import small_game

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

from test_web import LOW_HAND, NONCE, TICTACTOE, another, client, sit, store, views  # noqa: F401
from test_web_company import open_at, with_a_friend
from test_web_seats import join, link
from test_web_together import choose, table_of

from cardai.errors import BadArgument
from cardai.guests.web import tables
from cardai.guests.web.export import export
from cardai.guests.web.offers import offer_of
from cardai.guests.web.people import measure_people
from cardai.guests.web.store import LEFT, RESIGNED
from cardai.guests.web.tables import WebTable
from cardai.playing.stats.measure import win_shares
from cardai.records.record import Reader, verify

TICTACTOE_HELPER = offer_of(TICTACTOE).stand_in("standard", 2)


def marks(store, table: str) -> list[tuple[int, str | None]]:  # noqa: F811
    """The seat of each move in the file, and the agent that made it for the person."""
    question = "SELECT seat, agent FROM move WHERE table_id = ? ORDER BY ply"
    return sqlite3.connect(store.path).execute(question, (table,)).fetchall()


def say(browser, table: str, what: str, **message):
    return browser.post(f"/t/{table}/{what}", json=message)


def begin(*sockets):
    for socket in sockets:
        socket.send_json({"pause": 0})
        socket.send_json({"nonce": NONCE})


def test_an_agent_plays_for_whoever_leaves_and_gives_the_seat_back(client, store):  # noqa: F811
    table, friend = with_a_friend(client, "tictactoe", ("me", "friend"))
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        begin(mine, theirs)
        view = views(mine, lambda now: "moves" in now)
        assert say(friend, table, "leave").status_code == 200
        view = views(mine, lambda now: now["seats"][1].get("gone") == LEFT)
        ply = view["ply"]
        mine.send_json({"ply": ply, "move": view["moves"][0][0]})
        view = views(mine, lambda now: now["ply"] > ply and now["turn"] == 0)
        absent = views(theirs, lambda now: now.get("ply") == view["ply"])
        assert (absent["seats"][1]["kind"], "moves" in absent) == ("you", False)
        assert marks(store, table) == [(0, None), (1, TICTACTOE_HELPER)]
        assert say(friend, table, "back").status_code == 200
        views(mine, lambda now: "gone" not in now["seats"][1])
        mine.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
        again = views(theirs, lambda now: "moves" in now)
        theirs.send_json({"ply": again["ply"], "move": again["moves"][0][0]})
        views(theirs, lambda now: now["ply"] > again["ply"])
    assert marks(store, table)[3] == (1, None)


def test_whoever_does_not_answer_in_time_is_late_and_may_come_back(client, store, monkeypatch):  # noqa: F811
    monkeypatch.setattr(tables, "MINUTE", 0.4)
    table, friend = with_a_friend(client, "tictactoe", ("me", "friend"), takeover=1)
    with open_at(client, table) as mine:
        with open_at(friend, table) as theirs:
            begin(mine, theirs)
            view = views(mine, lambda now: "moves" in now)
            mine.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
            views(theirs, lambda now: "moves" in now)
            view = views(mine, lambda now: now["seats"][1].get("gone") == "late" and "moves" in now)
        monkeypatch.setattr(tables, "MINUTE", 2.0)
        mine.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
        view = views(mine, lambda now: now["ply"] > view["ply"] and "moves" in now)
        with open_at(friend, table) as theirs:
            assert "moves" not in views(theirs, lambda now: True), "who looks in has not said that they are back"
            assert say(friend, table, "back").status_code == 200
            mine.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
            again = views(theirs, lambda now: "moves" in now)
            theirs.send_json({"ply": again["ply"], "move": again["moves"][0][0]})
            assert "gone" not in views(theirs, lambda now: now["ply"] > again["ply"])["seats"][1]
    assert [agent for seat, agent in marks(store, table) if seat == 1] == [TICTACTOE_HELPER] * 2 + [None]


def test_nobody_is_late_while_nobody_looks_and_no_agent_plays_for_people_then(client, store, monkeypatch):  # noqa: F811
    table, friend = with_a_friend(client, takeover=1)
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        begin(mine, theirs)
        view = views(mine, lambda now: "moves" in now)
    monkeypatch.setattr(tables, "MINUTE", 0.2)
    time.sleep(0.4)
    monkeypatch.setattr(tables, "MINUTE", 60.0)
    assert [say(browser, table, "leave").status_code for browser in (client, friend)] == [200, 200]
    time.sleep(0.1)
    assert marks(store, table) == []
    assert say(client, table, "back").status_code == 200
    with open_at(client, table) as mine:
        assert views(mine, lambda now: True)["ply"] == view["ply"], "the game has waited"


def test_all_may_leave_and_who_still_looks_sees_the_end(client, store):  # noqa: F811
    table, friend = with_a_friend(client)
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        begin(mine, theirs)
        views(mine, lambda now: "moves" in now)
        assert say(client, table, "leave").status_code == 200
        assert say(friend, table, "leave").status_code == 200
        views(mine, lambda now: now["over"])
    assert {agent for _, agent in marks(store, table)} == {"low"}
    for what in ("leave", "back"):
        assert say(client, table, what).status_code == (400 if what == "leave" else 200)


def test_nobody_gains_time_by_leaving_and_coming_back(store):  # noqa: F811
    table = table_of(store, "me", "friend", game=LOW_HAND)
    before = table.waits
    time.sleep(0.01)
    table.come_back(0)
    assert table.waits == before
    table.leave(0, LEFT)
    table.come_back(0)
    assert table.waits == before


def test_who_gives_up_sees_the_end_and_does_not_come_back(client, store):  # noqa: F811
    table = sit(client)
    with open_at(client, table) as mine:
        assert say(client, table, "leave", resign=True).json()["error"] == "the game has not begun"
        begin(mine)
        views(mine, lambda now: "moves" in now)
        assert say(client, table, "leave", resign=True).status_code == 200
        assert "given up" in say(client, table, "back").json()["error"]
        assert say(client, table, "leave").json().get("error") in (None, "the game is over")
        last = views(mine, lambda now: now["over"])
        assert last["seats"][0]["gone"] == RESIGNED
        assert last["fair"]["nonces"] == [NONCE]


def test_where_nobody_waits_nobody_is_replaced(client):  # noqa: F811
    study = client.post("/tables", json={"game": "low_hand", "seats": ["me", "low"], "name": "Ann", "study": True})
    deal = client.post("/tables", json={"game": "low_hand", "seats": ["me", "low"], "name": "Ann", "challenge": 2})
    for answer in (study, deal):
        table = answer.json()["table"]
        assert "waits for you" in say(client, table, "leave").json()["error"]
        with open_at(client, table) as socket:
            view = views(socket, lambda now: True)
            assert (view["stand_in"], view["takeover"]) == (None, 0)
    for more in ({"study": True}, {"challenge": 2}):
        wishes = {"game": "low_hand", "seats": ["me", "low"], "name": "Ann", "takeover": 5, **more}
        assert client.post("/tables", json=wishes).status_code == 400
    table, eyes = sit(client), another(client)
    join(eyes, table, link(client, table, watch=True))
    for browser in (eyes, another(client)):
        for what in ("leave", "back"):
            assert say(browser, table, what).status_code == 400


@pytest.mark.parametrize("minutes", [2, -1, 0.5, True, "5", None, [5]])
def test_the_time_is_one_of_a_few(client, store, minutes):  # noqa: F811
    wishes = {"game": "low_hand", "seats": ["me", "friend"], "name": "Ann", "takeover": minutes}
    answer = client.post("/tables", json=wishes)
    assert answer.status_code == 400
    assert "minutes" in answer.json()["error"]


def test_several_people_have_five_minutes_and_one_alone_has_all_the_time(client, store):  # noqa: F811
    alone, together = sit(client), sit(client, seats=("me", "friend"))
    assert [store.table(table).takeover for table in (alone, together)] == [0, 5]


def helped_table(store, *seats, **wishes):  # noqa: F811
    """A table of Low Hand, dealt, with a friend who has left."""
    table = table_of(store, *seats, game=LOW_HAND, **wishes)
    table.leave(1, LEFT)
    return table


@pytest.fixture(autouse=True)
def with_low_hand(monkeypatch):
    import test_web_together

    monkeypatch.setitem(test_web_together.OFFERS, "low_hand", offer_of(LOW_HAND))


def played_to_the_end(table, seat=0):
    while not table.is_over:
        table.run()
        view = table.view(seat, False)
        if "moves" in view:
            assert table.play(seat, view["ply"], view["moves"][0][0]) == ""


def test_who_is_gone_is_gone_after_a_restart_and_the_game_is_the_same(store):  # noqa: F811
    table = helped_table(store, "me", "friend", "low")
    for _ in range(2):
        table.run()
        view = table.view(0, False)
        assert table.play(0, view["ply"], view["moves"][0][0]) == ""
    table.run()
    again = WebTable(store.table(table.row.id), table.offer, store)
    assert (again.row.seats[1].gone, again.row.seats[1].helpers) == (LEFT, ("low",))
    assert again._game._state.tobytes() == table._game._state.tobytes()
    played_to_the_end(again)
    assert again.is_over


def test_a_game_in_which_an_agent_moved_is_unfinished_for_that_person_only(store, tmp_path):  # noqa: F811
    helped = helped_table(store, "me", "friend", "random")
    played_to_the_end(helped)
    whole = table_of(store, "me", "friend", "random", game=LOW_HAND, seed=9)
    while not whole.is_over:
        whole.run()
        for seat in (0, 1):
            view = whole.view(seat, False)
            if "moves" in view:
                whole.play(seat, view["ply"], view["moves"][0][0])
    rows = {row.opponents: row for row in measure_people(store, LOW_HAND).rows}
    assert {against: (row.games, row.unfinished) for against, row in rows.items()} == {
        ("low", "random"): (1, 0),  # Ann, whose friend was an agent for some time
        ("random",): (2, 1),  # both in the game that people played, and the friend who left
    }
    wins = win_shares(np.array(whole.row.scores))
    assert rows["random",].share.point == pytest.approx((wins[0] + wins[1]) / 2)  # each person once
    assert rows["random",].share_with_all.point == pytest.approx((wins[0] + wins[1] / 2) / 2)
    files, left_out = export(store, helped.offer, tmp_path)
    assert (len(files), left_out) == (1, 0)
    assert set(Reader(files[0]).header.agents) == {"human", "human?helped", "random"}
    assert verify(files[0], rules=small_game.__file__).games == 2


def test_who_gives_up_has_not_finished_even_if_nothing_was_left_to_play(store):  # noqa: F811
    table = table_of(store, "me", "friend", game=LOW_HAND)
    table.leave(1, RESIGNED)
    table.row.seats[1].helpers = ()
    store.finish(table.row.id, [1.0, 0.0])
    (row,) = measure_people(store, LOW_HAND).rows
    assert (row.games, row.unfinished) == (1, 1)


def test_the_agent_is_shown_what_the_person_may_know(store, monkeypatch):  # noqa: F811
    """It decides in worlds of the seat, dealt by a number of the server's: never in the true state."""
    asked, real = [], tables.moves_in

    def spy(game, agent, worlds):
        asked.append((table._game.turn, worlds[0].tobytes(), table._game._state))
        assert worlds[0].tobytes() == table._game.seen(int(worlds[0]["turn"]), table._luck).tobytes()
        return real(game, agent, worlds)

    monkeypatch.setattr(tables, "moves_in", spy)
    true, total = 0, 0
    for seed in range(20):
        table = helped_table(store, "me", "friend", "random", seed=10 * seed)
        played_to_the_end(table)
    for seat, world, truth in asked:
        hands = np.frombuffer(world, LOW_HAND.state)[0]["hands"]
        unseen = [other for other in range(3) if other != seat and truth["hands"][other] & ~truth["known"][other]]
        total += len(unseen)
        true += sum(int(hands[other]) == int(truth["hands"][other]) for other in unseen)
    assert total >= 20
    assert true < total / 4


def test_an_agent_that_peeks_or_remembers_plays_for_nobody(store):  # noqa: F811
    offer = offer_of(LOW_HAND, ["low?randomised", "random"])
    assert offer.stand_in(offer.variants[0], 3) == "random"
    only = offer_of(LOW_HAND, ["low?randomised"])
    assert only.stand_in(offer.variants[0], 3) is None


def test_a_choice_that_an_agent_makes_early_stays_secret(store):  # noqa: F811
    table = table_of(store, "me", "friend", "friend")
    table.leave(2, LEFT)
    table.run()
    before = table.view(0, False)
    assert (before["choosing"], before["chosen"], before["log"]) == ([0, 1], [2], [])
    choose(table, 0, "bid 4")
    choose(table, 1, "bid 5")
    assert "all show: p0 bids 4, p1 bids 5, p2 bids" in table.view(0, False)["log"][-1][1]
    assert [agent is not None for _, agent in sorted(marks(store, table.row.id), key=lambda mark: mark[0])][:3] == [
        False,
        False,
        True,
    ]


def test_what_a_failing_agent_says_is_not_passed_on(store, monkeypatch):  # noqa: F811
    table = helped_table(store, "me", "friend")

    def fail(game, agent, worlds):
        raise BadArgument("the hand 2S 3S is strange")

    monkeypatch.setattr(tables, "moves_in", fail)
    table.run()
    view = table.view(0, False)
    if "moves" in view:
        table.play(0, view["ply"], view["moves"][0][0])
        table.run()
    assert table.view(0, False)["trouble"] == "the agent that plays for seat 1 has failed"
