"""Learning at the web table: hints, explanations, undo, playing on, and challenges."""

import json
import time

import pytest
from web_people import (
    LOW_HAND,
    THREE,
    another,
    begin,
    choose,
    error,
    finish,
    move,
    open_at,
    post,
    run_on,
    sit,
    table_of,
    views,
    watch,
)

from cardai.guests.web import challenge, commitment, server, tutor
from cardai.guests.web.commitment import fingerprint, seed_of
from cardai.guests.web.tables import WebTable
from cardai.guests.web.tutor import STEPS, Tutor
from cardai.measure.coaching.advice import Adviser


@pytest.fixture(autouse=True)
def same_secret(monkeypatch):
    """The same deals each time: games of some length."""
    monkeypatch.setattr(commitment, "new_secret", lambda: b"length" + bytes(26))


@pytest.fixture(autouse=True, scope="module")
def compiled():
    """All that hints need is compiled before a test waits for one, as `cardai serve` does before it listens."""
    Adviser(LOW_HAND, None, 3, worlds=1).explain(LOW_HAND.new(3, 1), 1)


def study_table(store, *seats, seed=1):
    table = table_of(store, LOW_HAND, *(seats or THREE), seed=seed, study=True)
    table.run()
    return table


def advice(socket, step: str, ply: int) -> dict:
    """The answer to a question for advice."""
    socket.send_json({"advice": step, "ply": ply})
    return views(socket, lambda now: "advice" in now or "error" in now)


# Hints.


def test_a_hint_comes_in_three_steps_and_names_a_legal_move(client):
    with open_at(client, sit(client, seats=THREE, study=True)) as socket:
        view = begin(socket)
        assert view["study"] is True
        given = {step: advice(socket, step, view["ply"])["advice"] for step in ("pieces", "move", "why")}
    assert [(one["step"], one["ply"]) for one in given.values()] == [(step, view["ply"]) for step in given]
    words = [words for words, _ in view["moves"]]
    best = given["why"]["rows"][0][0]
    assert best in words
    assert given["move"]["moves"] == [best]
    assert "moves" not in given["pieces"]
    assert given["pieces"]["pieces"] == dict(view["moves"])[best]
    assert sorted(row[0] for row in given["why"]["rows"]) == sorted(words)
    assert all(len(row) == len(given["why"]["heads"]) for row in given["why"]["rows"])


def test_a_table_that_was_set_up_without_study_gives_no_hint_and_takes_nothing_back(client):
    with open_at(client, sit(client, seats=THREE)) as socket:
        view = begin(socket)
        assert view["study"] is False
        for step in STEPS:
            assert "study tables only" in advice(socket, step, view["ply"])["error"]
        move(socket, view, -1)
        views(socket, lambda now: "moves" in now and now["ply"] > view["ply"])
        assert "study tables only" in error(socket, {"undo": view["ply"]})


def test_hints_and_undo_of_what_is_not_there_are_answered_with_a_sentence_and_change_nothing(client, store):
    table = sit(client, seats=THREE, study=True)
    with open_at(client, table) as socket:
        view = begin(socket)
        for message in ({"advice": "all"}, {"advice": "why", "ply": 99}, {"advice": "why", "ply": "0"}, {"undo": 99},
                        {"undo": -1}, {"undo": 2**70}):  # fmt: skip
            socket.send_json({"ply": view["ply"]} | message)
            refused = views(socket, lambda now: "error" in now or "advice" in now)
            assert "internal" not in refused["error"]
            assert (refused["ply"], refused["zones"]) == (view["ply"], view["zones"])
    assert store.table(table).moves == []


def test_a_hint_goes_to_the_tab_that_asked_and_spectators_get_none(client):
    table = sit(client, seats=THREE, study=True)
    with open_at(client, table) as one, open_at(client, table) as other, open_at(watch(client, table), table) as eyes:
        view = begin(one)
        views(other, lambda now: "moves" in now)
        assert advice(one, "move", view["ply"])["advice"]["by"]
        move(one, view, -1)
        seen = views(other, lambda now: "advice" in now or now["ply"] > view["ply"])
        assert "advice" not in seen
        for message in ({"advice": "why", "ply": view["ply"]}, {"undo": 0}):
            assert "only watch" in error(eyes, message)


def test_a_hint_never_depends_on_hidden_cards(store):
    """The truth is replaced by worlds of the seat: what is advised stays the same."""
    tutor, differing = Tutor("rollout:10"), 0
    for seed in range(3):
        table = study_table(store, seed=seed)
        game = table._game
        for _ in range(3):
            truth, said = game._state, set()
            for luck in (None, 1, 2, 3):
                world = truth if luck is None else LOW_HAND.world(truth, 0, luck)
                differing += luck is not None and world.tobytes()[48:] != truth.tobytes()[48:]
                game._slots.states[0] = world
                said.add(json.dumps([tutor.ask(table, 0, game.ply, step)() for step in STEPS]))
            game._slots.states[0] = truth
            assert len(said) == 1
            choose(table, 0)
            table.run()
            if game.is_over:
                break
    assert differing > 5


def test_how_each_seat_stands_comes_with_bars_for_all_unless_it_takes_too_long(store, monkeypatch):
    table, moves = study_table(store, "me", "low"), 0
    while not table.is_over:
        given = Tutor("low").ask(table, 0, table._game.ply, "standing")()
        assert len(given["scores"]) == len(given["texts"]) == 2
        assert sum(given["scores"]) == pytest.approx(1)
        assert given["texts"][1] == f"{100 * given['scores'][1]:.0f} %"
        moves += 1
        choose(table, 0)
        table.run()
    assert moves > 1
    monkeypatch.setattr(tutor, "LONGEST", 0.0)
    table = study_table(store, "me", "low")
    assert Tutor("low").ask(table, 0, table._game.ply, "standing")()["scores"] == []


def test_advice_takes_nothing_from_the_games_streams(store):
    games = []
    for asks in (False, True):
        table, tutor = study_table(store), Tutor("low")
        while not table.is_over:
            if asks:
                tutor.ask(table, 0, table._game.ply, "why")()
            choose(table, 0)
            table.run()
        games.append(table._game.moves.tobytes())
    assert games[0] == games[1]


def test_one_explanation_at_a_time_is_made_and_a_crowd_is_asked_to_wait(client, monkeypatch):
    monkeypatch.setattr(server, "MOST_WAITING", 0)
    with open_at(client, sit(client, seats=THREE, study=True)) as socket:
        assert "in a moment" in advice(socket, "why", begin(socket)["ply"])["error"]


def test_moves_go_on_while_a_hint_is_made(client, monkeypatch):
    """With a judge that takes two seconds for a hint, a move that is sent meanwhile is answered at once."""
    given = Adviser.hints

    def slow(self, world, luck):
        time.sleep(2.0)
        return given(self, world, luck)

    monkeypatch.setattr(Adviser, "hints", slow)
    with open_at(client, sit(client, seats=THREE, study=True)) as socket:
        view = begin(socket)
        asked = time.perf_counter()
        for _ in range(server.MOST_ASKED):
            socket.send_json({"advice": "pieces", "ply": view["ply"]})
        assert "one after the other" in advice(socket, "move", view["ply"])["error"]
        socket.send_json({"advice": "standing", "ply": view["ply"]})  # as the page does: nobody is told of it
        move(socket, view)
        answer = views(socket, lambda now: now.get("ply", -1) > view["ply"] and "log" in now)
        assert time.perf_counter() - asked < 1.5  # not after the hints
        assert answer["log"]
        assert "error" not in answer
        assert views(socket, lambda now: "advice" in now or "error" in now)["advice"]["ply"] == view["ply"]
        assert time.perf_counter() - asked >= 2.0


# Undo.


def test_undo_restores_the_bytes_and_the_store_and_agents_answer_as_before(store):
    table = study_table(store)
    game, seen = table._game, []
    while not table.is_over:
        seen.append((game.ply, game._state.tobytes(), game._slots.streams.tobytes()))
        choose(table, 0)
        table.run()
    end, moves = game._state.tobytes(), game.moves.tobytes()
    assert len(seen) > 2
    assert store.table(table.row.id).scores is not None
    for ply, state, streams in reversed(seen):
        words = table.view(0, False)["log"]
        table.undo(0, ply)
        assert (game._state.tobytes(), game._slots.streams.tobytes()) == (state, streams)
        kept = store.table(table.row.id)
        assert kept.scores is None
        assert all(place < ply for place, _ in kept.moves)
        assert table.view(0, False)["log"] == words[:ply]
        again = WebTable(kept, table.offer, store)
        again.run()
        assert again._game._state.tobytes() == state
    run_on(table)
    assert (game._state.tobytes(), game.moves.tobytes()) == (end, moves)


def test_undo_reaches_own_decisions_only(client):
    with open_at(client, sit(client, seats=THREE, study=True)) as socket:
        view = begin(socket)
        first = view["ply"]
        move(socket, view, -1)
        views(socket, lambda now: "moves" in now and now["ply"] > first)
        assert "no move there" in error(socket, {"undo": first + 1})
        socket.send_json({"undo": first})
        back = views(socket, lambda now: now["ply"] == first)
        assert len(back["log"]) == first
        assert "moves" in back


# Looking again.


def test_a_finished_game_is_looked_at_again_and_played_on_from_the_middle(client, store):
    table = sit(client, seats=THREE)
    last = finish(client, table)
    overview = post(client, f"/t/{table}/review")
    review = post(client, f"/t/{table}/review", {"analysis": True, "seat": 0})
    own = [row[0] for row in review["rows"]]
    assert len(own) == len(store.table(table).moves)
    assert review["score"] == last["end"]["scores"][0]
    for _, _, _, parts, better, cost, pieces in review["rows"]:
        assert len(pieces) == (better is not None)
        assert cost.endswith("percentage points of the score") == (better is not None)
        assert better is not None or cost == ""
        assert parts is None or parts[0] == pytest.approx(sum(parts[1:]))
    assert overview["own"] == own
    for ply in (own[0] + 1, -1, 10**6):
        post(client, f"/t/{table}/branch", {"ply": ply}, 400)
    post(another(client), f"/t/{table}/branch", {"ply": own[1]}, 400)
    with open_at(client, post(client, f"/t/{table}/branch", {"ply": own[1]})["table"]) as socket:
        view = views(socket, lambda now: "moves" in now)
        assert (view["ply"], view["study"]) == (own[1], True)
        assert view["log"] == last["log"][: own[1]] or len(last["log"]) == 40
    assert store.table(table).scores is not None, "the game that was finished stays as it is"


# Challenges.


def test_a_challenge_is_the_same_deal_for_all_and_opens_when_all_have_finished(client, store):
    first = sit(client, seats=THREE, challenge=2)
    with open_at(client, first) as socket:
        stands = views(socket, lambda now: "challenge" in now)["challenge"]
        assert (stands["for"], stands["finished"]) == (2, 0)
    done, kept, code = finish(client, first), store.table(first), stands["code"]
    assert done["challenge"]["results"] is None
    for text in ("fair", kept.secret.hex(), str(kept.seed)):
        assert text not in json.dumps({**done, "challenge": None})
    assert client.get(f"/t/{first}/record").json() == {"error": "others still play this deal"}
    for message in ({}, {"from": 0}, {"analysis": True, "seat": 0}):
        assert post(client, f"/t/{first}/review", message, 400) == {"error": "others still play this deal"}
    post(client, f"/t/{first}/branch", {"ply": 0}, 400)
    post(client, f"/t/{first}/invite", {"watch": True}, 400)
    assert post(client, f"/t/{first}/rematch", {}, 400) == {"error": "this deal is played once"}

    ben = another(client)
    second = post(ben, "/challenge", {"code": code.upper(), "name": "Ben"})["table"]
    assert post(ben, "/challenge", {"code": code, "name": "Ben"})["table"] == second, "once for each person"
    assert "taken" in post(another(client), "/challenge", {"code": code, "name": "Eve"}, 400)["error"]
    with open_at(ben, second) as socket:
        dealt = views(socket, lambda now: "moves" in now)
    assert dealt["commitment"] == done["commitment"]
    assert dealt["seats"][0]["name"] == "Ben"
    other = finish(ben, second)
    assert store.table(second).seed == kept.seed
    assert store.table(second).moves == kept.moves, "same deal, same choices, same game"
    results = other["challenge"]["results"]
    assert results["people"] == [["Ann", done["end"]["scores"][0]], ["Ben", other["end"]["scores"][0]]]
    assert [name for name, _ in results["agents"]] == ["low", "random"]
    secret = bytes.fromhex(other["fair"]["secret"])
    assert fingerprint(secret) == done["commitment"]
    assert other["fair"]["seed"] == str(seed_of(secret, [])) == str(kept.seed)
    with open_at(client, first) as socket:
        assert views(socket)["challenge"]["results"] == results
    assert client.get(f"/t/{first}/record").status_code == 200


def test_who_has_finished_may_end_a_challenge_that_others_have_left(client, store, monkeypatch):
    first = sit(client, seats=THREE, challenge=3)
    code = store.table(first).challenge

    def asked_to_end(browser, table):
        with open_at(browser, table) as socket:
            views(socket, lambda now: "challenge" in now)
            socket.send_json({"end": True})
            return views(socket, lambda now: "error" in now or now["challenge"]["ended"])

    assert "only those who have finished" in asked_to_end(client, first)["error"]
    done = finish(client, first)
    ben = another(client)
    second = post(ben, "/challenge", {"code": code, "name": "Ben"})["table"]
    assert "in the last 10 minutes; wait for them" in asked_to_end(client, first)["error"]
    assert not store.challenge(code).ended
    monkeypatch.setattr(challenge, "IDLE", 0.0)
    assert "only those who have finished" in asked_to_end(ben, second)["error"]
    ended = asked_to_end(client, first)
    assert (ended["challenge"]["finished"], ended["challenge"]["for"]) == (1, 3)
    assert ended["challenge"]["results"]["people"] == [["Ann", done["end"]["scores"][0]]]
    assert "fair" in ended
    assert "has been ended" in post(another(client), "/challenge", {"code": code, "name": "Eve"}, 400)["error"]
    late = finish(ben, second)
    assert late["challenge"]["results"] == ended["challenge"]["results"], "a game that ends later does not count"
