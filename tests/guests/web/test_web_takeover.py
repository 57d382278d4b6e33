"""Whoever leaves, gives up or does not answer holds nobody up: an agent plays for them, and the figures say so."""

import time

import numpy as np
import pytest
import small_game
from test_web_together import GOOFSPIEL
from web_clients import NONCE
from web_people import (
    LOW_HAND,
    TICTACTOE,
    another,
    choose,
    move,
    open_at,
    post,
    run_on,
    sit,
    table_of,
    take_part,
    views,
    with_a_friend,
)

from cardai.errors import BadArgument
from cardai.guests.web import tables
from cardai.guests.web.export import export
from cardai.guests.web.offers import offer_of
from cardai.guests.web.people import measure_people
from cardai.guests.web.store import LEFT, RESIGNED
from cardai.guests.web.tables import WebTable
from cardai.playing.stats.measure import win_shares
from cardai.records.record import Reader, verify

HELPER = offer_of(TICTACTOE).stand_in("standard", 2)


def marks(store, table: str) -> list[tuple[int, str | None]]:
    """The seat of each move in the file, and the agent that made it for the person."""
    return store.read("SELECT seat, agent FROM move WHERE table_id = ? ORDER BY ply", table)


def test_an_agent_plays_for_whoever_leaves_and_gives_the_seat_back(client, store):
    table, friend = with_a_friend(client, "tictactoe", ("me", "friend"))
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        take_part(mine, theirs)
        views(mine, lambda now: "moves" in now)
        post(friend, f"/t/{table}/leave")
        first = views(mine, lambda now: now["seats"][1].get("gone") == LEFT)
        move(mine, first)
        view = views(mine, lambda now: now["ply"] > first["ply"] and now["turn"] == 0)
        absent = views(theirs, lambda now: now.get("ply") == view["ply"])
        assert (absent["seats"][1]["kind"], "moves" in absent) == ("you", False)
        assert marks(store, table) == [(0, None), (1, HELPER)]
        post(friend, f"/t/{table}/back")
        views(mine, lambda now: "gone" not in now["seats"][1])
        move(mine, view)
        again = views(theirs, lambda now: "moves" in now)
        move(theirs, again)
        views(theirs, lambda now: now["ply"] > again["ply"])
    assert marks(store, table)[3] == (1, None)


def test_whoever_does_not_answer_in_time_is_late_and_may_come_back(client, store, monkeypatch):
    monkeypatch.setattr(tables, "MINUTE", 0.4)
    table, friend = with_a_friend(client, "tictactoe", ("me", "friend"), takeover=1)
    with open_at(client, table) as mine:
        with open_at(friend, table) as theirs:
            take_part(mine, theirs)
            move(mine, views(mine, lambda now: "moves" in now))
            views(theirs, lambda now: "moves" in now)
            view = views(mine, lambda now: now["seats"][1].get("gone") == "late" and "moves" in now)
        monkeypatch.setattr(tables, "MINUTE", 2.0)
        move(mine, view)
        view = views(mine, lambda now: now["ply"] > view["ply"] and "moves" in now)
        with open_at(friend, table) as theirs:
            assert "moves" not in views(theirs), "who looks in has not said that they are back"
            post(friend, f"/t/{table}/back")
            move(mine, view)
            again = views(theirs, lambda now: "moves" in now)
            move(theirs, again)
            assert "gone" not in views(theirs, lambda now: now["ply"] > again["ply"])["seats"][1]
    assert [agent for seat, agent in marks(store, table) if seat == 1] == [HELPER] * 2 + [None]


def test_nobody_is_late_while_nobody_looks_and_no_agent_plays_for_people_then(client, store, monkeypatch):
    table, friend = with_a_friend(client, takeover=1)
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        take_part(mine, theirs)
        view = views(mine, lambda now: "moves" in now)
    monkeypatch.setattr(tables, "MINUTE", 0.2)
    time.sleep(0.4)
    monkeypatch.setattr(tables, "MINUTE", 60.0)
    for browser in (client, friend):
        post(browser, f"/t/{table}/leave")
    time.sleep(0.1)
    assert marks(store, table) == []
    post(client, f"/t/{table}/back")
    with open_at(client, table) as mine:
        assert views(mine)["ply"] == view["ply"], "the game has waited"


def test_all_may_leave_and_who_still_looks_sees_the_end(client, store):
    table, friend = with_a_friend(client)
    with open_at(client, table) as mine, open_at(friend, table) as theirs:
        take_part(mine, theirs)
        views(mine, lambda now: "moves" in now)
        for browser in (client, friend):
            post(browser, f"/t/{table}/leave")
        views(mine, lambda now: now["over"])
    assert {agent for _, agent in marks(store, table)} == {"low"}
    post(client, f"/t/{table}/leave", {}, 400)


def test_nobody_gains_time_by_leaving_and_coming_back(store):
    table = table_of(store, LOW_HAND, "me", "friend")
    before = table.waits
    time.sleep(0.01)
    for change in (lambda: table.come_back(0), lambda: table.leave(0, LEFT), lambda: table.come_back(0)):
        change()
    assert table.waits == before


def test_who_gives_up_sees_the_end_and_does_not_come_back(client):
    table = sit(client)
    with open_at(client, table) as mine:
        assert post(client, f"/t/{table}/leave", {"resign": True}, 400)["error"] == "the game has not begun"
        take_part(mine)
        views(mine, lambda now: "moves" in now)
        post(client, f"/t/{table}/leave", {"resign": True})
        assert "given up" in post(client, f"/t/{table}/back", {}, 400)["error"]
        last = views(mine, lambda now: now["over"])
        assert last["seats"][0]["gone"] == RESIGNED
        assert last["fair"]["nonces"] == [NONCE]


def test_where_nobody_waits_nobody_is_replaced_and_several_people_have_five_minutes(client, store):
    for wishes in ({"study": True}, {"challenge": 2}):
        table = sit(client, **wishes)
        assert "waits for you" in post(client, f"/t/{table}/leave", {}, 400)["error"]
        with open_at(client, table) as socket:
            view = views(socket)
            assert (view["stand_in"], view["takeover"]) == (None, 0)
    alone, together = sit(client), sit(client, seats=("me", "friend"))
    assert [store.table(table).takeover for table in (alone, together)] == [0, 5]
    post(another(client), f"/t/{alone}/leave", {}, 400)


def helped_table(store, *seats, **wishes):
    """A table of Low Hand, dealt, with a friend who has left."""
    table = table_of(store, LOW_HAND, *seats, **wishes)
    table.leave(1, LEFT)
    return table


def test_who_is_gone_is_gone_after_a_restart_and_the_game_is_the_same(store):
    table = helped_table(store, "me", "friend", "low")
    for _ in range(2):
        table.run()
        choose(table, 0)
    table.run()
    again = WebTable(store.table(table.row.id), table.offer, store)
    again.run()
    assert (again.row.seats[1].gone, again.row.seats[1].helpers) == (LEFT, ("low",))
    assert again._game._state.tobytes() == table._game._state.tobytes()
    run_on(again)


def test_a_game_in_which_an_agent_moved_is_unfinished_for_that_person_only(store, tmp_path):
    helped = run_on(helped_table(store, "me", "friend", "random"))
    whole = run_on(table_of(store, LOW_HAND, "me", "friend", "random", seed=9), (0, 1))
    rows = {row.opponents: row for row in measure_people(store, LOW_HAND).rows}
    assert {against: (row.games, row.unfinished) for against, row in rows.items()} == {
        ("low", "random"): (1, 0),  # Ann, whose friend was an agent for some time
        ("random",): (2, 1),  # both in the game that people played, and the friend who left
    }
    wins = win_shares(np.array(whole.row.scores))
    assert rows["random",].share.point == pytest.approx((wins[0] + wins[1]) / 2)  # each person once
    assert rows["random",].with_all.share.point == pytest.approx((wins[0] + wins[1] / 2) / 2)
    files, left_out = export(store, helped.offer, tmp_path)
    assert (len(files), left_out) == (1, 0)
    assert set(Reader(files[0]).header.agents) == {"human", "human?helped", "random"}
    assert verify(files[0], rules=small_game.__file__).games == 2


def test_who_gives_up_has_not_finished_even_if_nothing_was_left_to_play(store):
    table = table_of(store, LOW_HAND, "me", "friend")
    table.leave(1, RESIGNED)
    table.row.seats[1].helpers = ()
    store.finish(table.row.id, [1.0, 0.0])
    (row,) = measure_people(store, LOW_HAND).rows
    assert (row.games, row.unfinished) == (1, 1)


def test_the_agent_is_shown_what_the_person_may_know(store, monkeypatch):
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
        run_on(table)
    for seat, world, truth in asked:
        hands = np.frombuffer(world, LOW_HAND.state)[0]["hands"]
        unseen = [other for other in range(3) if other != seat and truth["hands"][other] & ~truth["known"][other]]
        total += len(unseen)
        true += sum(int(hands[other]) == int(truth["hands"][other]) for other in unseen)
    assert total >= 20
    assert true < total / 4


def test_an_agent_that_peeks_or_remembers_plays_for_nobody():
    offer = offer_of(LOW_HAND, ["low?randomised", "random"])
    assert offer.stand_in(offer.variants[0], 3) == "random"
    assert offer_of(LOW_HAND, ["low?randomised"]).stand_in(offer.variants[0], 3) is None


def test_a_choice_that_an_agent_makes_early_stays_secret(store):
    table = table_of(store, GOOFSPIEL, "me", "friend", "friend")
    table.leave(2, LEFT)
    table.run()
    before = table.view(0, False)
    assert (before["choosing"], before["chosen"], before["log"]) == ([0, 1], [2], [])
    choose(table, 0, 3)
    choose(table, 1, 4)
    assert "all show: p0 bids 4, p1 bids 5, p2 bids" in table.view(0, False)["log"][-1][1]
    assert [agent is not None for _, agent in sorted(marks(store, table.row.id)[:3])] == [False, False, True]


def test_what_a_failing_agent_says_is_not_passed_on(store, monkeypatch):
    table = helped_table(store, "me", "friend")

    def fail(game, agent, worlds):
        raise BadArgument("the hand 2S 3S is strange")

    monkeypatch.setattr(tables, "moves_in", fail)
    table.run()
    if "moves" in table.view(0, False):
        choose(table, 0)
        table.run()
    assert table.view(0, False)["trouble"] == "the agent that plays for seat 1 has failed"
