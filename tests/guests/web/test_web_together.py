"""At the web table, everybody chooses at the same time, and nobody is shown a choice before all have made theirs."""

import json
from pathlib import Path

import pytest
import signals

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

from starlette.testclient import TestClient
from test_web import HOME, NONCE, SOCKETS, another, sit, store, views  # noqa: F401

import cardai
from cardai.errors import BadArgument, IllegalMove
from cardai.guests.web import room, server
from cardai.guests.web.guards import Hosts, digest, new_token
from cardai.guests.web.offers import offer_of
from cardai.guests.web.tables import WebTable

GOOFSPIEL = cardai.load(str(Path(__file__).parents[3] / "examples/goofspiel"))
OFFERS = {game.name: offer_of(game) for game in (GOOFSPIEL, signals.GAME)}


def table_of(store, *seats, game=GOOFSPIEL, seed=1, **wishes):  # noqa: F811
    """A dealt table: seats of people ("me", "friend") and keys of agents."""
    rooms = room.Room(OFFERS, store)
    table_id, _ = rooms.create({"game": game.name, "seats": list(seats), "name": "Ann", **wishes}, b"ann")
    table = rooms.table(table_id)
    for seat, who in enumerate(seats):
        if who == "friend":
            table.sit(table.invite(seat), f"p{seat}", b"friend%d" % seat, digest(new_token()))
    for seat in table.people:
        table.add_nonce(seat, bytes([seed + seat]) * 32)
    table._luck = 5
    return table


def ply_of(table, seat):
    return table.view(seat, False)["choice"]


def choose(table, seat, words):
    assert table.play(seat, ply_of(table, seat), words) == ""


def test_all_may_choose_at_once_in_any_order(store):  # noqa: F811
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        table = table_of(store, "me", "friend", "friend")
        waiting = [0, 1, 2]
        for seat in order:
            for other in range(3):
                view = table.view(other, False)
                assert view["choosing"] == waiting
                assert view["chosen"] == [one for one in range(3) if one not in waiting]
                assert ("moves" in view) == (other in waiting)
            choose(table, seat, f"bid {seat + 1}")
            waiting.remove(seat)
        for seat in range(3):
            view = table.view(seat, False)
            assert view["log"][-1] == [2, "has chosen; all show: p0 bids 1, p1 bids 2, p2 bids 3"]
            assert (view["ply"], view["choosing"], view["chosen"]) == (3, [0, 1, 2], [])
            assert len(view["moves"]) == 12


def test_a_choice_made_early_is_shown_to_nobody(store):  # noqa: F811
    """The views of all others, and of those who watch the seat, are the same whatever was chosen."""
    for early in ([1], [2, 1], [0, 2]):
        seen = []
        for bid in (1, 7, 13):
            table = table_of(store, "me", "friend", "friend", variant="descending")
            for seat in early:
                choose(table, seat, f"bid {bid}")
            table.row.secret, table.row.id = b"", ""
            others = [seat for seat in range(3) if seat not in early]
            shown = [table._view(seat, watches) for seat in others for watches in (False, True)]
            seen.append(json.dumps(shown))
            own = table.view(early[0], False)
            assert "moves" not in own
            assert "choice" not in own
        assert len(set(seen)) == 1


def test_a_choice_is_made_once_for_its_ply_and_must_be_legal(store):  # noqa: F811
    table = table_of(store, "me", "friend")
    choice = ply_of(table, 1)
    assert choice == 1
    assert "'bid 14' is no move" in table.play(1, choice, "bid 14")
    assert table.play(1, 0, "bid 3") == ""
    assert table.view(1, False)["choosing"] == [0, 1], "it was for another ply"
    choose(table, 1, "bid 3")
    assert table.play(1, choice, "bid 5") == ""
    choose(table, 0, "bid 1")
    assert table.view(0, False)["log"][-1][1] == "has chosen; all show: p0 bids 1, p1 bids 3"
    assert table.play(1, choice, "bid 5") == ""
    assert table.view(0, False)["ply"] == 2


@pytest.mark.parametrize("seats", [("random", "me", "friend"), ("me", "random", "friend")])
def test_choices_that_wait_are_there_after_a_restart(store, seats):  # noqa: F811
    table, agent = table_of(store, *seats), seats.index("random")
    first, last = [seat for seat in range(3) if seat != agent]
    choose(table, last, "bid 4")
    again = WebTable(store.table(table.row.id), table.offer, store)
    assert first in again.view(first, False)["choosing"]
    assert last in again.view(first, False)["chosen"]
    choose(again, first, "bid 1")
    again.run()
    view = again.view(last, False)
    assert view["ply"] == (4 if agent == 0 else 3), "an agent in the first seat has chosen again"
    assert view["log"][2][1].startswith("has chosen; all show: ")
    assert f"p{first} bids 1" in view["log"][2][1]
    assert f"p{last} bids 4" in view["log"][2][1]
    taken_up = WebTable(store.table(table.row.id), table.offer, store)
    taken_up.run()
    assert taken_up._game._state.tobytes() == again._game._state.tobytes()


def test_a_person_may_choose_while_an_agent_before_them_thinks(store):  # noqa: F811
    table = table_of(store, "random", "me", "random")
    assert table.agent_moves_next
    choose(table, 1, "bid 5")
    table.run()
    view = table.view(1, False)
    assert view["ply"] == 4, "the round is over, and the first agent has chosen in the next one"
    assert "p1 bids 5" in view["log"][2][1]
    assert view["choosing"] == [1, 2]


def test_where_one_seat_chooses_alone_nobody_else_does(store):  # noqa: F811
    table = table_of(store, "me", "friend", "friend", game=signals.GAME)
    views_of = [table.view(seat, False) for seat in range(3)]
    assert ["moves" in view for view in views_of] == [True, False, False]
    assert not any("choosing" in view for view in views_of)
    assert table.play(0, 0, "calls 1") == ""
    assert table.view(1, False)["choosing"] == [2, 1]
    choose(table, 1, "2 doubled")
    choose(table, 2, "1")
    assert table.view(0, False)["log"][-1] == [1, "has chosen; all show: p1 2 doubled, p2 1"]


def test_hints_and_taking_back_at_a_study_table(store):  # noqa: F811
    table = table_of(store, "random", "me", study=True)
    world, _ = table.world_to_advise(1, 1)
    assert world["turn"] == 1
    choose(table, 1, "bid 5")
    with pytest.raises(BadArgument, match="it is not your turn"):
        table.world_to_advise(1, 1)
    table.run()
    choose(table, 1, "bid 6")
    table.undo(1, 1)
    table.run()
    assert table.view(1, False)["choosing"] == [1]
    assert len(table.view(1, False)["moves"]) == 13
    assert store.table(table.row.id).moves == []


def test_a_choice_that_cannot_be_played_is_not_named(store, monkeypatch):  # noqa: F811
    table = table_of(store, "me", "friend")
    choose(table, 1, "bid 9")
    game, play = table._game, table._game.play

    def refuse(move):
        if game.turn == 1:
            raise IllegalMove("bid 9 is not legal")
        play(move)

    monkeypatch.setattr(game, "play", refuse)
    choose(table, 0, "bid 1")
    assert table.view(0, False)["trouble"] == "the choice of seat 1 cannot be played now"


def test_two_browsers_choose_at_the_same_time(store, capfd):  # noqa: F811
    app = server.Server(OFFERS, store, Hosts("127.0.0.1")).app
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as one:
        table, two = sit(one, "goofspiel", ("me", "friend")), another(one)
        link = one.post(f"/t/{table}/invite", json={"seat": 1}).json()["invitation"]
        assert two.post(f"/t/{table}/join", json={"invitation": link, "name": "Ben"}).status_code == 200
        with (
            one.websocket_connect(f"{SOCKETS}/t/{table}/socket") as first,
            two.websocket_connect(f"{SOCKETS}/t/{table}/socket") as second,
        ):
            for socket in (first, second):
                socket.send_json({"nonce": NONCE})
            other = views(second, lambda view: "moves" in view)
            views(first, lambda view: "moves" in view)
            second.send_json({"ply": other["choice"], "move": "bid 11"})
            waits = views(first, lambda view: view.get("chosen") == [1])
            assert (waits["ply"], waits["log"]) == (0, [])
            assert "moves" in waits
            first.send_json({"ply": waits["choice"], "move": "bid 4"})
            shown = "has chosen; all show: p0 bids 4, p1 bids 11"
            assert views(first, lambda view: view["ply"] == 2)["log"][-1] == [1, shown]
            assert views(second, lambda view: view["ply"] == 2)["log"][-1] == [1, shown]
    assert "bid 11" not in capfd.readouterr().err
