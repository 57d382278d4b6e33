"""Learning at the web table: hints, explanations, undo, reviews, challenges, and how people do."""

import io
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import small_game
from rich.console import Console
from test_web import (  # noqa: F401 - fixtures
    HOME,
    LOW_HAND,
    NONCE,
    SOCKETS,
    TICTACTOE,
    another,
    arriving,
    begin,
    client,
    offers_of,
    play_on,
    rows_in,
    sit,
    store,
    views,
)

import cardai
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.guests.web import challenge, commitment, server, tutor
from cardai.guests.web.commitment import fingerprint, seed_of
from cardai.guests.web.export import export
from cardai.guests.web.people import measure_people
from cardai.guests.web.room import Room
from cardai.guests.web.show_people import table as people_table
from cardai.guests.web.store import Store
from cardai.guests.web.tables import WebTable
from cardai.guests.web.tutor import STEPS, Tutor
from cardai.measure.coaching.advice import Adviser
from cardai.playing.agents.spec import evenly_random
from cardai.records.record import read, verify

RULES = str(Path(small_game.__file__))


@pytest.fixture(autouse=True)
def same_secret(monkeypatch):
    """The same deals each time: games of some length."""
    monkeypatch.setattr(commitment, "new_secret", lambda: b"length" + bytes(26))


@pytest.fixture(autouse=True, scope="module")
def compiled():
    """All that hints need is compiled before a test waits for one, as `cardai serve` does before it listens."""
    Adviser(LOW_HAND, None, 3, worlds=1).explain(LOW_HAND.new(3, 1), 1)


def set_up(browser, game="low_hand", seats=("me", "low", "random"), name="Ann", **wishes) -> str:
    answer = browser.post("/tables", json={"game": game, "seats": list(seats), "name": name} | wishes)
    assert answer.status_code == 200, answer.text
    return answer.json()["table"]


def socket_of(browser, table):
    return browser.websocket_connect(f"{SOCKETS}/t/{table}/socket")


def answers(socket, key):
    """The next answer of a kind, past the views that come before it."""
    return views(socket, lambda message: key in message or "error" in message)


def web_table(store, study=True, seats=("me", "low", "random"), nonce=b"\1" * 32, game=LOW_HAND):  # noqa: F811
    rooms = Room({game.name: offers_of(game)[game.name]}, store)
    wishes = {"game": game.name, "seats": list(seats), "name": "Ann", "study": study}
    table_id, _ = rooms.create(wishes, b"ann")
    table = rooms.table(table_id)
    table.add_nonce(0, nonce)
    table.run()
    return table


# Hints.


def test_a_hint_comes_in_three_steps_and_names_a_legal_move(client):  # noqa: F811
    table = set_up(client, study=True)
    with socket_of(client, table) as socket:
        view = begin(socket)
        assert view["study"] is True
        given = {}
        for step in ("pieces", "move", "why"):
            socket.send_json({"advice": step, "ply": view["ply"]})
            given[step] = answers(socket, "advice")["advice"]
            assert (given[step]["step"], given[step]["ply"]) == (step, view["ply"])
    words = [words for words, _ in view["moves"]]
    best = given["why"]["rows"][0][0]
    assert best in words
    assert given["move"]["moves"] == [best]
    assert "moves" not in given["pieces"]
    assert given["pieces"]["pieces"] == dict(view["moves"])[best]
    assert sorted(row[0] for row in given["why"]["rows"]) == sorted(words)
    assert all(len(row) == len(given["why"]["heads"]) for row in given["why"]["rows"])


def test_a_table_that_was_set_up_without_study_gives_no_hint_and_takes_nothing_back(client):  # noqa: F811
    table = set_up(client)
    with socket_of(client, table) as socket:
        view = begin(socket)
        assert view["study"] is False
        for message in ({"advice": "pieces"}, {"advice": "move"}, {"advice": "why"}, {"undo": 0}):
            socket.send_json(message | {"ply": view["ply"]})
            refused = views(socket, lambda now: "error" in now or "advice" in now)
            assert "study tables only" in refused["error"]
        socket.send_json({"ply": view["ply"], "move": view["moves"][-1][0]})
        view = views(socket, lambda now: "moves" in now and now["ply"] > view["ply"])
        socket.send_json({"undo": 0})
        refused = views(socket, lambda now: "error" in now)
        assert (refused["ply"], "study tables only" in refused["error"]) == (view["ply"], True)


def test_spectators_get_no_hint(client):  # noqa: F811
    table, eyes = set_up(client, study=True), another(client)
    invitation = client.post(f"/t/{table}/invite", json={"watch": True}).json()["invitation"]
    assert eyes.post(f"/t/{table}/join", json={"invitation": invitation}).status_code == 200
    with socket_of(client, table) as own, socket_of(eyes, table) as socket:
        view = begin(own)
        for message in ({"advice": "why"}, {"undo": 0}):
            socket.send_json(message | {"ply": view["ply"]})
            assert "only watch" in views(socket, lambda now: "error" in now)["error"]
    assert eyes.post(f"/t/{table}/branch", json={"ply": 0}).status_code == 400


def test_an_answer_goes_to_the_tab_that_asked_and_to_no_other(client):  # noqa: F811
    table = set_up(client, study=True)
    with socket_of(client, table) as one, socket_of(client, table) as other:
        view = begin(one)
        views(other, lambda now: "moves" in now)
        one.send_json({"advice": "move", "ply": view["ply"]})
        assert answers(one, "advice")["advice"]["by"]
        one.send_json({"ply": view["ply"], "move": view["moves"][-1][0]})
        for _ in range(20):
            now = other.portal.call(arriving, other)
            assert "advice" not in now
            if now["ply"] > view["ply"]:
                break


def test_a_hint_never_depends_on_hidden_cards(store):  # noqa: F811
    """The truth is replaced by worlds of the seat: what is advised stays the same."""
    tutor, differing = Tutor("rollout:10"), 0
    for seed in range(3):
        table = web_table(store, nonce=bytes([seed]) * 32)
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
            table.play(0, game.ply, table.view(0, False)["moves"][-1][0])
            table.run()
            if game.is_over:
                break
    assert differing > 5


def test_how_each_seat_stands_comes_with_bars_for_all(store):  # noqa: F811
    table, moves = web_table(store, seats=("me", "low")), 0
    while not table.is_over:
        given = Tutor("low").ask(table, 0, table._game.ply, "standing")()
        assert len(given["scores"]) == len(given["texts"]) == 2
        assert sum(given["scores"]) == pytest.approx(1)
        assert given["texts"][1] == f"{100 * given['scores'][1]:.0f} %"
        moves += 1
        table.play(0, table._game.ply, table.view(0, False)["moves"][-1][0])
        table.run()
    assert moves > 1


def test_how_each_seat_stands_is_left_out_where_it_takes_too_long(store, monkeypatch):  # noqa: F811
    table = web_table(store, seats=("me", "low"))
    monkeypatch.setattr(tutor, "LONGEST", 0.0)
    given = Tutor("low").ask(table, 0, table._game.ply, "standing")()
    assert (given["step"], given["scores"]) == ("standing", [])


def test_advice_takes_nothing_from_the_games_streams(store):  # noqa: F811
    # the secrets differ from table to table, so the same seed is set by hand
    games = []
    for asks in (False, True):
        table = web_table(store, nonce=b"\7" * 32)
        table._game = table._new_game(77)
        table.run()
        tutor = Tutor("low")
        while not table.is_over:
            ply = table._game.ply
            if asks:
                tutor.ask(table, 0, ply, "why")()
            assert table.play(0, ply, table.view(0, False)["moves"][-1][0]) == ""
            table.run()
        games.append(table._game.moves.tobytes())
    assert games[0] == games[1]


def test_one_explanation_at_a_time_is_made_and_a_crowd_is_asked_to_wait(client, monkeypatch):  # noqa: F811
    monkeypatch.setattr(server, "MOST_WAITING", 0)
    table = set_up(client, study=True)
    with socket_of(client, table) as socket:
        view = begin(socket)
        socket.send_json({"advice": "why", "ply": view["ply"]})
        assert "in a moment" in views(socket, lambda now: "error" in now)["error"]


def test_moves_go_on_while_a_hint_is_made(client, monkeypatch):  # noqa: F811
    """With a judge that takes two seconds for a hint, a move that is sent meanwhile is answered at once."""
    given = Adviser.hints

    def slow(self, world, luck):
        time.sleep(2.0)
        return given(self, world, luck)

    monkeypatch.setattr(Adviser, "hints", slow)
    table = set_up(client, study=True)
    with socket_of(client, table) as socket:
        view = begin(socket)
        asked = time.perf_counter()
        for _ in range(server.MOST_ASKED):
            socket.send_json({"advice": "pieces", "ply": view["ply"]})
        socket.send_json({"advice": "move", "ply": view["ply"]})
        assert "one after the other" in views(socket, lambda now: "error" in now)["error"]
        socket.send_json({"advice": "standing", "ply": view["ply"]})  # as the page does: nobody is told of it
        socket.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
        answer = views(socket, lambda now: now.get("ply", -1) > view["ply"] and "log" in now)
        assert time.perf_counter() - asked < 1.5  # not after the hints
        assert answer["log"]
        assert "error" not in answer
        late = answers(socket, "advice")
        assert late["advice"]["ply"] == view["ply"]
        assert time.perf_counter() - asked >= 2.0


# Undo.


def test_undo_restores_the_bytes_and_the_store_and_agents_answer_as_before(store):  # noqa: F811
    table = web_table(store)
    game, seen = table._game, []
    while not table.is_over:
        seen.append((game.ply, game._state.tobytes(), game._slots.streams.tobytes()))
        table.play(0, game.ply, table.view(0, False)["moves"][-1][0])
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
    while not table.is_over:
        table.play(0, game.ply, table.view(0, False)["moves"][-1][0])
        table.run()
    assert (game._state.tobytes(), game.moves.tobytes()) == (end, moves)


def test_undo_reaches_own_decisions_only(client):  # noqa: F811
    table = set_up(client, study=True)
    with socket_of(client, table) as socket:
        view = begin(socket)
        first = view["ply"]
        socket.send_json({"ply": first, "move": view["moves"][-1][0]})
        view = views(socket, lambda now: "moves" in now and now["ply"] > first)
        socket.send_json({"undo": first + 1})
        assert "no move there" in views(socket, lambda now: "error" in now)["error"]
        socket.send_json({"undo": first})
        back = views(socket, lambda now: now["ply"] == first)
        assert len(back["log"]) == first
        assert "moves" in back


@pytest.mark.parametrize("wishes", [{"study": 1}, {"study": "yes"}, {"study": None},
                                    {"study": True, "seats": ["me", "friend"]}, {"challenge": 1}, {"challenge": 99},
                                    {"challenge": True}, {"challenge": "2"}, {"challenge": [2]},
                                    {"challenge": 2, "study": True}, {"challenge": 2, "seats": ["me", "friend"]},
                                    {"challenge": 2, "seats": ["low", "low"]},
                                    {"study": True, "seats": ["low", "low"]}])  # fmt: skip
def test_wishes_that_do_not_fit_are_refused(client, store, wishes):  # noqa: F811
    answer = client.post("/tables", json={"game": "low_hand", "seats": ["me", "low"], "name": "Ann"} | wishes)
    assert answer.status_code == 400
    assert "internal" not in answer.text
    assert rows_in(store, "table") == rows_in(store, "challenge") == 0


# Looking again.


def test_a_finished_game_is_looked_at_again_and_played_on_from_the_middle(client, store):  # noqa: F811
    table = set_up(client)
    with socket_of(client, table) as socket:
        last = play_on(socket, begin(socket))
    overview = client.post(f"/t/{table}/review", json={}).json()
    review = client.post(f"/t/{table}/review", json={"analysis": True, "seat": 0}).json()
    own = [row[0] for row in review["rows"]]
    assert len(own) == len(store.table(table).moves)
    assert review["score"] == last["end"]["scores"][0]
    for _, _, _, parts, better, cost, pieces in review["rows"]:
        assert len(pieces) == (better is not None)
        assert (better is None) == (cost == "")
        assert better is None or cost.endswith("percentage points of the score")
        if parts is not None:
            assert parts[0] == pytest.approx(sum(parts[1:]))
    assert overview["own"] == own
    assert client.post(f"/t/{table}/branch", json={"ply": own[0] + 1}).status_code == 400
    for ply in (-1, 10**6, "0", None, True):
        assert client.post(f"/t/{table}/branch", json={"ply": ply}).status_code == 400
    stranger = another(client)
    assert stranger.post(f"/t/{table}/branch", json={"ply": own[1]}).status_code == 400
    made = client.post(f"/t/{table}/branch", json={"ply": own[1]}).json()["table"]
    with socket_of(client, made) as socket:
        view = views(socket, lambda now: "moves" in now)
        assert (view["ply"], view["study"]) == (own[1], True)
        assert view["log"] == last["log"][: own[1]] or len(last["log"]) == 40
    assert store.table(table).scores is not None, "the game that was finished stays as it is"


# Challenges.


def finish(browser, table) -> dict:
    with socket_of(browser, table) as socket:
        socket.send_json({"pause": 0})
        view = views(socket, lambda view: "moves" in view or view.get("over"))
        return play_on(socket, view)


def test_a_challenge_is_the_same_deal_for_all_and_opens_when_all_have_finished(client, store):  # noqa: F811
    first = set_up(client, challenge=2)
    with socket_of(client, first) as socket:
        view = views(socket, lambda now: "challenge" in now)
        code = view["challenge"]["code"]
        assert (view["challenge"]["for"], view["challenge"]["finished"]) == (2, 0)
    done = finish(client, first)
    assert "fair" not in done
    assert done["challenge"]["results"] is None
    kept = store.table(first)
    for text in (kept.secret.hex(), str(kept.seed)):
        assert text not in json.dumps(done)
    assert client.get(f"/t/{first}/record").json() == {"error": "others still play this deal"}
    for message in ({}, {"from": 0}, {"analysis": True, "seat": 0}):
        assert client.post(f"/t/{first}/review", json=message).json() == {"error": "others still play this deal"}
    assert client.post(f"/t/{first}/branch", json={"ply": 0}).status_code == 400
    assert client.post(f"/t/{first}/invite", json={"watch": True}).status_code == 400

    ben, late = another(client), another(client)
    second = ben.post("/challenge", json={"code": code.upper(), "name": "Ben"}).json()["table"]
    assert ben.post("/challenge", json={"code": code, "name": "Ben"}).json()["table"] == second, "once for each person"
    assert "taken" in late.post("/challenge", json={"code": code, "name": "Eve"}).text
    with socket_of(ben, second) as socket:
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
    with socket_of(client, first) as socket:
        assert views(socket, lambda now: True)["challenge"]["results"] == results
    assert client.get(f"/t/{first}/record").status_code == 200


def test_who_has_finished_may_end_a_challenge_that_others_have_left(client, store, monkeypatch):  # noqa: F811
    first = set_up(client, challenge=3)
    code = store.table(first).challenge

    def asked_to_end(browser, table):
        with socket_of(browser, table) as socket:
            views(socket, lambda now: "challenge" in now)
            socket.send_json({"end": True})
            return views(socket, lambda now: "error" in now or now["challenge"]["ended"])

    assert "only those who have finished" in asked_to_end(client, first)["error"]
    done = finish(client, first)
    ben = another(client)
    second = ben.post("/challenge", json={"code": code, "name": "Ben"}).json()["table"]
    assert "in the last 10 minutes; wait for them" in asked_to_end(client, first)["error"]
    assert not store.challenge(code).ended
    monkeypatch.setattr(challenge, "IDLE", 0.0)
    assert "only those who have finished" in asked_to_end(ben, second)["error"]
    ended = asked_to_end(client, first)
    assert (ended["challenge"]["finished"], ended["challenge"]["for"]) == (1, 3)
    assert ended["challenge"]["results"]["people"] == [["Ann", done["end"]["scores"][0]]]
    assert "fair" in ended
    assert "has been ended" in another(client).post("/challenge", json={"code": code, "name": "Eve"}).text
    late = finish(ben, second)
    assert late["challenge"]["results"] == ended["challenge"]["results"], "a game that ends later does not count"


# How people do.


def played(store, person, score, game=LOW_HAND, seats=2, study=False, version=None, level=""):  # noqa: F811
    from cardai.guests.web.guards import new_token
    from cardai.guests.web.store import SeatRow, TableRow

    rows = [SeatRow(name="x", person=person, level=level), *[SeatRow(agent="low") for _ in range(seats - 1)]]
    row = TableRow(new_token(), game.name, version or game.version, "three", b"s" * 32, rows, seed=1, study=study)
    store.add_table(row)
    if score is not None:
        store.finish(row.id, [score] + [0.5] * (seats - 1))


def tables_of_equals(store, game, variant, seats, count=12):  # noqa: F811
    """Tables at which people sit in all seats, who play at random: they are equally good. Returns their scores."""
    from cardai.guests.web.guards import new_token
    from cardai.guests.web.store import SeatRow, TableRow

    results = cardai.play(
        game, [evenly_random(game)], np.zeros((count, seats), np.int64), np.arange(count), variant=variant
    )
    everybody = [store.add_person(bytes([seat + 1]) * 32) for seat in range(seats)]
    for scores in results.scores:
        rows = [SeatRow(name="x", person=person) for person in everybody]
        row = TableRow(new_token(), game.name, game.version, variant, b"s" * 32, rows, seed=1)
        store.add_table(row)
        store.finish(row.id, scores.tolist())
    return results.scores


SIZES = [("moska", "thesis", seats) for seats in range(2, 9)]
SIZES += [("durak", variant, seats) for variant in ("podkidnoy", "report") for seats in (2, 3, 6)]
SIZES += [("hearts", "standard", 4), ("hearts", "match", 4), ("literature", "table", 4), ("literature", "table", 6)]
SIZES += [("tictactoe", "standard", 2)]


@pytest.mark.parametrize(("name", "variant", "seats"), SIZES)
def test_equal_players_have_their_fair_share_in_every_game(store, name, variant, seats):  # noqa: F811
    """A fair share is what equal players get: 1/seats of the win, or 1/teams, and of losses what the game deals out."""
    game = cardai.load(name)
    scores = tables_of_equals(store, game, variant, seats)
    (row,) = measure_people(store, game).rows
    assert row.share.point == pytest.approx(row.fair_share)
    assert row.fair_share == pytest.approx(0.5 if name == "literature" else 1 / seats)
    if game.learning.measures:
        assert (row.loss, row.fair_loss) == (None, None), "nobody is said to have lost where the game counts no losses"
    else:
        assert row.loss.point == pytest.approx(row.fair_loss) == (scores == 0.0).mean()
    console = Console(file=io.StringIO(), width=160)
    console.print(people_table(measure_people(store, game)))
    text = console.file.getvalue()
    assert ("lost" in text) == (not game.learning.measures)
    assert f"{100 * row.fair_share:.1f}" in text
    assert "share of win %" in text
    assert ("team" in text) == (name == "literature")


def people(store, count):  # noqa: F811
    """Tables at which people's own games are alike: half of the people always lose, the others always win."""
    for _ in range(count):
        person = store.add_person(bytes([_ + 1]) * 32)
        for _game in range(8):
            played(store, person, float(person % 2))


def test_people_are_clusters_and_few_of_them_get_no_interval(store):  # noqa: F811
    people(store, 4)
    (row,) = measure_people(store, LOW_HAND).rows
    assert (row.games, row.people, row.unfinished) == (32, 4, 0)
    assert np.isnan(row.loss.low)
    people_of_one = store.add_person(b"z" * 32)
    played(store, people_of_one, 0.0)
    (row,) = measure_people(store, LOW_HAND).rows
    width = row.loss.high - row.loss.low
    assert (row.games, row.people) == (33, 5)
    assert row.loss.point == 0.6, "each person counts once"
    assert width > 0.5, "five people who each do the same every time say as much as five games"
    assert 0.0 <= row.score.low < row.score.point < row.score.high <= 1.0
    assert (row.fair_share, row.fair_loss) == (0.5, pytest.approx(17 / 66))


def test_people_may_say_how_well_they_play_and_are_shown_by_level(client, store):  # noqa: F811
    table = set_up(client, challenge=2, level="advanced")
    code = store.table(table).challenge
    second = another(client).post("/challenge", json={"code": code, "name": "Ben", "level": "beginner"}).json()["table"]
    assert [store.table(one).seats[0].level for one in (table, second)] == ["advanced", "beginner"]
    assert client.post(
        "/tables", json={"game": "low_hand", "seats": ["me", "low"], "name": "A", "level": "x"}
    ).text == ('{"error":"level must be beginner, regular or advanced"}')
    for level, score in (("beginner", 0.0), ("beginner", 1.0), ("advanced", 1.0), ("", 0.5), ("", None)):
        played(store, store.add_person(f"{level} {score}".encode()), score, seats=3, level=level)
    row = next(row for row in measure_people(store, LOW_HAND).rows if row.games)
    assert [(one.level, one.games, one.score.point) for one in row.levels] == [
        ("beginner", 2, 0.5), ("advanced", 1, 1.0), ("", 1, 0.5)
    ]  # fmt: skip
    assert sum(one.games for one in row.levels) == row.games
    console = Console(file=io.StringIO(), width=120)
    console.print(people_table(measure_people(store, LOW_HAND)))
    assert "beginners" in console.file.getvalue()
    assert "what people said of themselves" in console.file.getvalue()


def test_study_games_are_left_out_and_unfinished_ones_counted_both_ways(store):  # noqa: F811
    person = store.add_person(b"a" * 32)
    for score in (1.0, 1.0, 0.0, None):
        played(store, person, score)
    played(store, person, 1.0, study=True)
    played(store, person, 1.0, version=99)
    report = measure_people(store, LOW_HAND)
    (row,) = report.rows
    assert (report.study, row.games, row.unfinished) == (1, 3, 1)
    assert row.loss.point == pytest.approx(1 / 3)
    assert row.loss_with_all.point == pytest.approx(2 / 4)
    assert row.share_with_all.point == pytest.approx(2 / 4)
    assert row.score.point == pytest.approx(2 / 3)
    assert row.score_with_all.point == pytest.approx(2 / 4)
    assert json.loads(json.dumps(report.as_json(), allow_nan=False))["study"] == 1


def test_the_command_reports_on_people_and_writes_their_games(tmp_path, capsys):
    data, folder = tmp_path / "tables.sqlite", tmp_path / "games"
    folder.mkdir()
    tables = Store(data)
    for study in (False, False, True):
        table = web_table(tables, study=study, seats=("me", "low"))
        while not table.is_over:
            table.play(0, table._game.ply, table.view(0, False)["moves"][-1][0])
            table.run()
    tables.close()
    assert run(["study", "results", RULES, "--store", str(data)]) == 0
    text = capsys.readouterr().out
    assert "these people only" in text
    assert "1 study games are left out" in text
    assert run(["study", "results", RULES, "--store", str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["games"] == 2
    assert run(["study", "results", RULES, "--store", str(data), "--export", str(folder)]) == 0
    (file,) = folder.iterdir()
    assert str(file) in capsys.readouterr().out
    assert verify(file, rules=RULES).games == 2
    assert read(file).header.agents == ("human", "low")
    assert run(["study", "results", RULES, "--store", str(data), "--export", str(folder)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (
        run(
            [
                "study",
                "results",
                RULES,
                "--store",
                str(data),
                "--export",
                str(folder),
                "--overwrite",
                "--opponents",
                "random",
            ]
        )
        == 0
    )
    assert "2 games were left out" in capsys.readouterr().out
    assert run(["study", "results", RULES, "--store", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()
    assert run(["study", "results", RULES, "--store", str(data), "--export", str(tmp_path / "no")]) == 2


def test_games_of_people_are_exported_by_variant_and_size_and_lost_agents_are_counted(store, tmp_path):  # noqa: F811
    for seats in (("me", "low"), ("me", "low"), ("me", "random", "low")):
        table = web_table(store, study=False, seats=seats)
        while not table.is_over:
            table.play(0, table._game.ply, table.view(0, False)["moves"][-1][0])
            table.run()
    offer = offers_of(LOW_HAND)["low_hand"]
    files, left_out = export(store, offer, tmp_path)
    assert (sorted(file.name for file in files), left_out) == (
        ["low_hand-three-2.jsonl.gz", "low_hand-three-3.jsonl.gz"], 0
    )  # fmt: skip
    assert [verify(file, rules=RULES).games for file in sorted(files)] == [2, 1]
    fewer = replace(offer, agents={"random": offer.agents["random"]})
    assert export(store, fewer, tmp_path, overwrite=True) == ([], 3)


def test_a_store_of_another_layout_is_refused(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "old.sqlite") as database:
        database.execute('CREATE TABLE "table" (id TEXT)')
    database.close()
    with pytest.raises(CardaiError, match="was not written by this version"):
        Store(tmp_path / "old.sqlite")


def test_a_damaged_store_is_refused(tmp_path):
    """Two such files were read: one with an empty page, one whose rows belonged to a table that was gone."""
    import sqlite3

    place = tmp_path / "tables.sqlite"
    kept = Store(place)
    web_table(kept, study=False, seats=("me", "low"))
    kept.close()
    sound = place.read_bytes()
    for page in range(1, len(sound) // 4096):
        place.write_bytes(sound[: 4096 * page] + bytes(4096) + sound[4096 * (page + 1) :])
        with pytest.raises(CardaiError, match=r"tables\.sqlite is damaged: |cannot keep games in"):
            Store(place)
    place.write_bytes(sound)
    with sqlite3.connect(place) as database:
        database.execute('DELETE FROM "table"')
    database.close()
    with pytest.raises(CardaiError, match="is damaged: entries belong to a table that is not there"):
        Store(place)
