"""At the web table, everybody chooses at the same time, and nobody is shown a choice before all have made theirs."""

import json
from functools import partial
from pathlib import Path

import pytest
import signals
import web_people
from web_people import browser_at, open_at, served, take_part, views, with_a_friend

import cardai
from cardai.errors import BadArgument, IllegalMove
from cardai.guests.web.tables import WebTable

GOOFSPIEL = cardai.load(str(Path(__file__).parents[3] / "examples/goofspiel"))


@pytest.fixture
def table_of(store):
    return partial(web_people.table_of, store, GOOFSPIEL)


def choose(table, seat, words):
    assert table.play(seat, table.view(seat, False)["choice"], words) == ""


def test_all_may_choose_at_once_in_any_order(table_of):
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        table, waiting = table_of("me", "friend", "friend"), [0, 1, 2]
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


def test_a_choice_made_early_is_shown_to_nobody(table_of):
    """The views of all others, and of those who watch the seat, are the same whatever was chosen."""
    for early in ([1], [2, 1], [0, 2]):
        seen = set()
        for bid in (1, 7, 13):
            table = table_of("me", "friend", "friend", variant="descending")
            table._luck = 5
            for seat in early:
                choose(table, seat, f"bid {bid}")
            table.row.secret, table.row.id = b"", ""
            others = [seat for seat in range(3) if seat not in early]
            seen.add(json.dumps([table._view(seat, watches) for seat in others for watches in (False, True)]))
            assert not {"moves", "choice"} & table.view(early[0], False).keys()
        assert len(seen) == 1


def test_a_choice_is_made_once_for_its_ply_and_must_be_legal(table_of):
    table = table_of("me", "friend")
    choice = table.view(1, False)["choice"]
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
def test_choices_that_wait_are_there_after_a_restart(table_of, store, seats):
    table, agent = table_of(*seats), seats.index("random")
    first, last = [seat for seat in range(3) if seat != agent]
    choose(table, last, "bid 4")
    again = WebTable(store.table(table.row.id), table.offer, store)
    view = again.view(first, False)
    assert (first in view["choosing"], last in view["chosen"]) == (True, True)
    choose(again, first, "bid 1")
    again.run()
    view = again.view(last, False)
    assert view["ply"] == (4 if agent == 0 else 3), "an agent in the first seat has chosen again"
    shown = view["log"][2][1]
    assert shown.startswith("has chosen; all show: ")
    assert f"p{first} bids 1" in shown
    assert f"p{last} bids 4" in shown
    taken_up = WebTable(store.table(table.row.id), table.offer, store)
    taken_up.run()
    assert taken_up._game._state.tobytes() == again._game._state.tobytes()


def test_a_person_may_choose_while_an_agent_before_them_thinks(table_of):
    table = table_of("random", "me", "random")
    assert table.agent_moves_next
    choose(table, 1, "bid 5")
    table.run()
    view = table.view(1, False)
    assert view["ply"] == 4, "the round is over, and the first agent has chosen in the next one"
    assert "p1 bids 5" in view["log"][2][1]
    assert view["choosing"] == [1, 2]


def test_where_one_seat_chooses_alone_nobody_else_does(store):
    table = web_people.table_of(store, signals.GAME, "me", "friend", "friend")
    views_of = [table.view(seat, False) for seat in range(3)]
    assert ["moves" in view for view in views_of] == [True, False, False]
    assert not any("choosing" in view for view in views_of)
    assert table.play(0, 0, "calls 1") == ""
    assert table.view(1, False)["choosing"] == [2, 1]
    choose(table, 1, "2 doubled")
    choose(table, 2, "1")
    assert table.view(0, False)["log"][-1] == [1, "has chosen; all show: p1 2 doubled, p2 1"]


def test_hints_and_taking_back_at_a_study_table(table_of, store):
    table = table_of("random", "me", study=True)
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


def test_a_choice_that_cannot_be_played_is_not_named(table_of, monkeypatch):
    table = table_of("me", "friend")
    choose(table, 1, "bid 9")
    game, play = table._game, table._game.play

    def refuse(move):
        if game.turn == 1:
            raise IllegalMove("bid 9 is not legal")
        play(move)

    monkeypatch.setattr(game, "play", refuse)
    choose(table, 0, "bid 1")
    assert table.view(0, False)["trouble"] == "the choice of seat 1 cannot be played now"


def test_two_browsers_choose_at_the_same_time(store, capfd):
    with browser_at(served(store, GOOFSPIEL)) as one:
        table, two = with_a_friend(one, "goofspiel", ("me", "friend"))
        with open_at(one, table) as first, open_at(two, table) as second:
            take_part(first, second)
            other = views(second, lambda view: "moves" in view)
            views(first, lambda view: "moves" in view)
            second.send_json({"ply": other["choice"], "move": "bid 11"})
            waits = views(first, lambda view: view.get("chosen") == [1])
            assert (waits["ply"], waits["log"], "moves" in waits) == (0, [], True)
            first.send_json({"ply": waits["choice"], "move": "bid 4"})
            shown = [1, "has chosen; all show: p0 bids 4, p1 bids 11"]
            for socket in (first, second):
                assert views(socket, lambda view: view["ply"] == 2)["log"][-1] == shown
    assert "bid 11" not in capfd.readouterr().err
