"""The web table: what may come in, what goes out, and what is still there after the server was killed."""

import json
import re
import socket as sockets
import sqlite3
import sys
from contextlib import closing

import numpy as np
import pytest
import small_game
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from web_clients import NONCE, Process
from web_people import (
    HOME,
    LOW_HAND,
    SOCKETS,
    WISHES,
    another,
    begin,
    browser_at,
    count_rows,
    error,
    finish,
    join,
    link,
    open_at,
    post,
    run_on,
    served,
    sit,
    table_of,
    take_part,
    views,
    watch,
    with_a_friend,
)
from websockets.exceptions import ConnectionClosed

import cardai
import cardai.guests.web
from cardai.cli.main import run
from cardai.errors import CardaiError
from cardai.guests.web import room, server
from cardai.guests.web.commitment import fingerprint, seed_of
from cardai.guests.web.guards import HEADERS, Hosts, Rate, digest
from cardai.guests.web.store import Store
from cardai.guests.web.tables import WebTable
from cardai.guests.web.views import position_view
from cardai.playing.table.one import OneGame
from cardai.records.record import Reader, verify

# Playing.


@pytest.mark.parametrize(("game", "seats"), [("low_hand", ("me", "low", "random")), ("tictactoe", ("random", "me"))])
def test_a_person_plays_a_game_to_its_end_and_saves_it_as_a_record_that_verifies(client, tmp_path, game, seats):
    table = sit(client, game, seats)
    assert finish(client, table)["end"]["scores"]
    file = tmp_path / "game.jsonl"
    file.write_bytes(client.get(f"/t/{table}/record").content)
    assert Reader(file).header.agents == tuple(dict.fromkeys("human" if seat == "me" else seat for seat in seats))
    assert verify(file, rules=small_game.__file__ if game == "low_hand" else None).games == 1


def test_the_deal_follows_from_a_secret_fixed_before_and_nothing_of_it_is_sent_before_the_end(client, store):
    table = sit(client)
    with open_at(client, table) as socket:
        waiting = socket.receive_json()
        assert "zones" not in waiting
        assert store.table(table).seed is None
        view = begin(socket)
    kept = store.table(table)
    for secret in (kept.secret.hex(), str(kept.seed), f"{kept.seed:x}", kept.seats[0].token.hex(), "fair"):
        assert secret not in json.dumps(view)
    fair = finish(client, table)["fair"]
    secret, nonces = bytes.fromhex(fair["secret"]), [bytes.fromhex(text) for text in fair["nonces"]]
    assert waiting["commitment"] == fingerprint(secret)
    assert fair["nonces"] == [NONCE]
    assert fair["seed"] == str(seed_of(secret, nonces)) == str(kept.seed)
    with open_at(client, table) as socket:
        socket.send_json({"nonce": "cd" * 32})
        assert views(socket)["fair"]["nonces"] == [NONCE], "a number that comes late changes nothing"


@pytest.mark.parametrize("words", ["b9", "", "x" * 1500, "b2 and c3"])
def test_what_is_no_move_is_answered_with_a_sentence_and_a_move_for_another_ply_with_the_view(client, words):
    table = sit(client, "tictactoe", ("me", "random"))
    with open_at(client, table) as socket:
        view = begin(socket)
        assert "internal" not in error(socket, {"ply": view["ply"], "move": words})
        socket.send_json({"ply": 7, "move": "b2"})
        assert views(socket)["ply"] == view["ply"]


def test_all_tabs_of_a_seat_are_live_and_a_refreshed_one_goes_on(client):
    table = sit(client, "tictactoe", ("me", "random"))
    with open_at(client, table) as one:
        view = begin(one)
        with open_at(client, table) as other:
            assert other.receive_json()["ply"] == view["ply"]
            other.send_json({"ply": 0, "move": "b2"})
            assert views(one, lambda now: now["ply"] == 2)["turn"] == 0
    with open_at(client, table) as again:
        view = again.receive_json()
        assert (view["ply"], len(view["moves"])) == (2, 7)


def test_a_friend_comes_by_a_link_that_works_once(client):
    table = sit(client, seats=("me", "friend", "low"))
    invitation, friend = link(client, table, seat=1), another(client)
    join(friend, table, invitation)
    assert "used before" in join(another(client), table, invitation, "Eve", 400)["error"]
    with open_at(client, table) as ann, open_at(friend, table) as ben:
        take_part(ann)
        assert "zones" not in views(ann), "the deal waits for everybody's number"
        ben.send_json({"nonce": "cd" * 32})
        one, other = (views(socket, lambda now: "zones" in now) for socket in (ann, ben))
        assert [who["name"] for who in one["seats"]] == ["Ann", "Ben", "low"]
        assert (one["seat"], other["seat"]) == (0, 1)
        own = {piece for zone in one["zones"] if zone.get("seat") == 0 for piece in zone["pieces"]}
        assert own.isdisjoint(piece for zone in other["zones"] for piece in zone["pieces"])


def test_who_is_not_to_move_cannot_move_for_another_seat(client):
    table, friend = with_a_friend(client, "tictactoe", ("me", "friend"))
    with open_at(client, table) as ann, open_at(friend, table) as ben:
        take_part(ann, ben)
        views(ben, lambda now: "zones" in now)
        ben.send_json({"ply": 0, "move": "b2"})
        ben.send_json({"ply": "x", "move": ""})
        assert views(ben, lambda now: "error" in now)["ply"] == 0


def test_agents_fill_up_seats_that_nobody_takes(client):
    table = sit(client, seats=("me", "friend"))
    earlier = link(client, table, seat=1)
    with open_at(client, table) as socket:
        socket.send_json({"nonce": NONCE})
        post(client, f"/t/{table}/fill", {"seat": 1, "agent": "low"})
        assert views(socket, lambda now: "zones" in now)["seats"][1] == {"name": "low", "kind": "agent"}
    join(another(client), table, earlier, status=400)
    post(client, f"/t/{table}/fill", {"seat": 0, "agent": "low"}, 400)


def test_a_spectator_sees_what_the_seat_that_agreed_sees_and_cannot_do_anything(client):
    table, stranger = sit(client), another(client)
    with open_at(stranger, table) as socket:
        assert "no seat" in socket.receive_json()["closed"]
    post(stranger, f"/t/{table}/invite", {"watch": True}, 400)
    eyes = watch(client, table)
    with open_at(client, table) as own, open_at(eyes, table) as watching:
        view = begin(own)
        seen = views(watching, lambda now: "zones" in now and now["ply"] == view["ply"])
        assert seen["zones"] == view["zones"]
        assert "moves" not in seen
        assert "only watch" in error(watching, {"ply": view["ply"], "move": view["moves"][0][0]})
    for what in ("invite", "fill", "leave", "back", "branch", "rematch"):
        assert post(eyes, f"/t/{table}/{what}", {"watch": True}, 400) == {"error": "you only watch"}


def test_agents_among_themselves_can_be_watched(client):
    with open_at(client, sit(client, "tictactoe", ("random", "greedy:open_lines"))) as socket:
        assert views(socket, lambda now: now["over"])["watches"] is True


# What is refused.


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "192.168.1.7", "[::ffff", "a\tb"])
def test_a_foreign_host_is_refused(client, host):
    assert {client.get(path, headers={"host": host}).status_code for path in ("/", "/games")} == {403}


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9000", "file://", "", "127.0.0.1:8000"]
)
def test_a_foreign_origin_is_refused(client, origin):
    table, headers = sit(client), {"origin": origin}
    assert client.post("/tables", json=WISHES, headers=headers).status_code == 403
    with pytest.raises(WebSocketDisconnect), open_at(client, table, headers=headers):
        pass


def test_a_change_without_an_origin_is_refused(serving):
    with TestClient(serving.app, base_url=HOME) as bare:
        assert bare.get("/games").status_code == 200
        assert bare.post("/tables", json={}).status_code == 403
        with pytest.raises(WebSocketDisconnect), bare.websocket_connect(f"{SOCKETS}/t/x/socket"):
            pass


def test_an_open_server_takes_addresses_and_named_hosts_but_no_foreign_names():
    hosts = Hosts("0.0.0.0", ["cards.example"])
    assert all(map(hosts.allows, ("192.168.1.7:8000", "[fe80::1]:8000", "Cards.Example")))
    assert not hosts.allows("rebound.example:8000")
    assert hosts.allows_origin("https://cards.example", "cards.example")
    assert not hosts.allows_origin("https://cards.example.evil", "cards.example")
    assert not hosts.allows_origin("http://rebound.example", "rebound.example")


def test_every_answer_has_the_headers_that_protect_the_page(client):
    refused = client.get("/", headers={"host": "evil.example"})
    answers = client.get("/"), client.get("/nothing"), client.post("/tables", json=1), client.get("/static/x"), refused
    assert all({name: answer.headers[name] for name in HEADERS} == HEADERS for answer in answers)


def test_cookies_are_for_this_server_and_this_table_only(client):
    answer = client.post("/tables", json=WISHES)
    seat, person = answer.headers.get_list("set-cookie")
    for cookie in (seat, person):
        assert re.search("httponly", cookie, re.I)
        assert re.search("samesite=strict", cookie, re.I)
    assert f"Path=/t/{answer.json()['table']};" in seat


def test_a_seat_of_one_table_is_none_at_another(client):
    mine, other = sit(client), sit(another(client))
    token = next(cookie.value for cookie in client.cookies.jar if cookie.name == "seat")
    with open_at(another(client), mine, headers={"cookie": f"seat={token}"}) as socket:
        assert socket.receive_json()["seat"] == 0
    for wrong in (token, "", "'; DROP TABLE seat; --", "é", '"', "a" * 5000):
        headers = {"cookie": f"seat={wrong}".encode()}
        with open_at(another(client), other, headers=headers) as socket:
            assert "no seat" in socket.receive_json()["closed"]
        assert another(client).get(f"/t/{other}/record", headers=headers).status_code == 400


@pytest.mark.parametrize(
    "change",
    [
        {"game": "moska"}, {"game": "/etc/passwd"}, {"variant": "nothing"}, {"seats": ["me", "greedy:/etc/passwd"]},
        {"seats": ["me", "python:os:system"]}, {"seats": ["me", ["low"]]}, {"seats": ["me", "me"]},
        {"seats": ["friend", "low"]}, {"seats": ["me"]}, {"seats": ["me"] + ["low"] * 90}, {"name": "x" * 25},
        {"name": "a\u202eb"}, {"name": "a\x1b[2Jb"}, {"name": "\u200b"}, {"takeover": 2}, {"challenge": 1},
        {"challenge": 99}, {"study": True, "seats": ["me", "friend"]}, {"study": True, "seats": ["low", "low"]},
        {"challenge": 2, "study": True}, {"challenge": 2, "seats": ["me", "friend"]},
        {"challenge": 2, "seats": ["low", "low"]}, {"study": True, "takeover": 5}, {"challenge": 2, "takeover": 5},
    ],
)  # fmt: skip
def test_a_table_is_not_set_up_by_wishes_that_are_not_offered(client, store, change):
    post(client, "/tables", WISHES | change, 400)
    assert count_rows(store, "table", "challenge") == [0, 0]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 4000, b'{"a":"' + b"x" * 5000 + b'"}'])
def test_what_is_no_small_json_object_is_refused(client, body):
    assert client.post("/tables", content=body).status_code == 400


def test_a_tab_that_sends_too_much_is_closed(client):
    with open_at(client, sit(client)) as socket:
        for _ in range(server.MESSAGES + 1):
            socket.send_json({})
        with pytest.raises(WebSocketDisconnect) as closed:
            views(socket, lambda now: False)
        assert closed.value.code == server.TOO_MANY


def test_an_address_gets_few_new_tables_in_a_minute(client):
    for _ in range(server.NEW_TABLES):
        sit(client)
    post(client, "/tables", WISHES, 429)


def test_rates_are_kept_by_key_and_forgotten_after_a_while():
    now = [0.0]
    rate = Rate(2, 10.0, clock=lambda: now[0])
    assert [rate.allows("a"), rate.allows("a"), rate.allows("a"), rate.allows("b")] == [True, True, False, True]
    now[0] = 10.5
    assert rate.allows("a")


def test_there_is_a_most_of_tables_and_idle_ones_make_room(client, monkeypatch):
    monkeypatch.setattr(room, "MOST_TABLES", 2)
    first = sit(client)
    sit(client)
    post(client, "/tables", WISHES, 503)
    monkeypatch.setattr(room, "IDLE", 0.0)
    sit(client)
    with open_at(client, first) as socket:
        assert begin(socket)["moves"], "a table that left memory comes back from the store"


def test_too_many_tabs_of_a_table_are_refused(client, monkeypatch):
    monkeypatch.setattr(server, "MOST_SOCKETS", 1)
    table = sit(client)
    with open_at(client, table) as one:
        one.receive_json()
        with open_at(client, table) as two:
            assert "too many" in two.receive_json()["closed"]
        one.send_json({})
        assert views(one)["seat"] == 0


@pytest.mark.parametrize("path", ["/", "/static/style.css"])
def test_a_file_that_a_browser_has_is_not_sent_again(client, path, tmp_path, monkeypatch):
    first = client.get(path)
    assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
    tag = first.headers["etag"]
    for known in (tag, f'"x", {tag}'):
        again = client.get(path, headers={"if-none-match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["content-security-policy"] == HEADERS["content-security-policy"]
    assert client.get(path, headers={"if-none-match": '"x"'}).status_code == 200
    plain = client.get(path, headers={"accept-encoding": "identity"})
    assert (plain.content, plain.headers["etag"]) == (first.content, tag)
    (tmp_path / (path.rpartition("/")[2] or "page.html")).write_bytes(first.content + b"\n")
    monkeypatch.setattr(server, "STATIC", tmp_path)
    changed = client.get(path, headers={"if-none-match": tag})
    assert (changed.status_code, changed.content) == (200, first.content + b"\n")
    assert changed.headers["etag"] != tag


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/..%2fserver.py", "/static/page.html", "/static/"])
def test_only_files_of_the_page_are_served(client, path):
    assert client.get(path).status_code in (404, 403)


def test_the_page_is_sent_packed_and_is_small(client):
    sent = 0
    for path in ("/", *(f"/static/{name}" for name in server.sent_files() if name != "page.html")):
        with client.stream("GET", path, headers={"accept-encoding": "gzip"}) as answer:
            assert answer.headers["content-encoding"] == "gzip"
            sent += len(b"".join(answer.iter_raw()))
        bare = client.get(path, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in bare.headers
        assert client.get(path).content == bare.content
    assert 10_000 < sent <= 150_000, "bytes of the whole page"


def test_the_page_asks_no_other_host():
    foreign = r"https?://|//[a-z]+\.|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\("
    for file in server.sent_files().values():
        text = file.read_text("utf-8")
        assert not re.search(foreign, text), file
        assert file.suffix != ".html" or not re.search(r"style=|\son\w+=|<script>|<style", text), file


def test_a_fault_inside_is_reported_without_what_it_was_about(store, capsys, monkeypatch):
    def broken(*given):
        raise RuntimeError("hand 2C 3D")

    with browser_at(served(store, LOW_HAND.changed(zones=broken))) as browser:
        table = sit(browser)
        with open_at(browser, table) as socket:
            socket.send_json({"nonce": NONCE})
            assert views(socket, lambda now: "closed" in now)["closed"] == "internal error"
            assert browser.get(f"/t/{table}/record").json() == {"error": "the game is not over"}
        monkeypatch.setattr(store, "table", broken)
        answer = browser.get("/t/unknown/record")
        assert (answer.status_code, answer.json()) == (500, {"error": "internal error"})
    assert "hand " not in capsys.readouterr().err


# What is shown. That views hold nothing hidden: test_web_views.py.


def looked_at(look) -> np.ndarray:
    """The moves of a game by agents that draw, looked at before each of them."""
    agents = [cardai.agent(LOW_HAND, spec) for spec in ("random", "sampled:low_points?worlds=2")]
    table = OneGame(LOW_HAND, [*agents, None], seed=8)
    while not table.is_over:
        look(table)
        if table.is_waiting:
            table.play(LOW_HAND.moves(table.seen(2, 1))[0])
        else:
            table.step()
    return table.moves


def test_looking_takes_nothing_from_the_games_streams():
    def draw(table):  # a planted fault, which is found
        table._slots.streams["rng"] += np.uint64(1)

    untouched = looked_at(lambda table: None)
    assert np.array_equal(
        untouched, looked_at(lambda table: [position_view(table, seat, 3, True) for seat in range(3)])
    )
    assert not np.array_equal(untouched, looked_at(draw))


def test_a_game_without_zones_shows_its_text_and_lists_moves():
    game = LOW_HAND.changed(zones=None, pieces=(), picks=None)
    view = position_view(OneGame(game, [cardai.agent(game, "random")] * 2, 1), 0, 1, True)
    assert view["text"].startswith("hand ")
    assert all(pieces == [] for _, pieces in view["moves"])


# What is kept.


def test_a_table_taken_up_from_the_store_is_the_same_byte_for_byte(store):
    for seed in range(5):
        table = table_of(store, LOW_HAND, "me", "low", "random", seed=seed)
        while not table.is_over:
            again = WebTable(store.table(table.row.id), table.offer, store)
            for one in (again, table):
                one.run()
            assert again._game.moves.tobytes() == table._game.moves.tobytes()
            if not table.is_over:
                view = table.view(0, False)
                assert table.play(0, view["ply"], view["moves"][-1][0]) == ""


def test_a_table_of_other_rules_is_not_taken_up(store):
    table = table_of(store, LOW_HAND, "me", "low")
    for games, words in (([LOW_HAND.changed(version=2)], "other rules"), ([], "does not offer")):
        with pytest.raises(CardaiError, match=words):
            served(store, *games).room.table(table.row.id)


def test_the_store_keeps_no_token_in_clear(client, store):
    table = sit(client)
    tokens = [*(cookie.value for cookie in client.cookies.jar), link(client, table, watch=True)]
    content = b"".join(file.read_bytes() for file in store.path.parent.iterdir())
    for token in tokens:
        assert token.encode() not in content
        assert digest(token) in content


def test_a_file_that_is_no_store_of_this_version_or_damaged_is_refused(tmp_path):
    """Two damaged files were read once: one with an empty page, one whose rows belonged to a table that was gone."""
    place = tmp_path / "tables.sqlite"
    place.write_bytes(b"not a database" * 100)
    with pytest.raises(CardaiError, match="cannot keep games"):
        Store(place)
    place.unlink()
    with closing(sqlite3.connect(place)) as database:
        database.execute('CREATE TABLE "table" (id TEXT)')
    with pytest.raises(CardaiError, match="was not written by this version"):
        Store(place)
    place.unlink()
    with closing(Store(place)) as kept:
        run_on(table_of(kept, LOW_HAND, "me", "low"))
    sound = place.read_bytes()
    for page in range(1, len(sound) // 4096):
        place.write_bytes(sound[: 4096 * page] + bytes(4096) + sound[4096 * (page + 1) :])
        with pytest.raises(CardaiError, match=r"tables\.sqlite is damaged: |cannot keep games in"):
            Store(place)
    place.write_bytes(sound)
    with closing(sqlite3.connect(place, isolation_level=None)) as database:
        database.execute('DELETE FROM "table"')
    with pytest.raises(CardaiError, match="is damaged: entries belong to a table that is not there"):
        Store(place)


def test_moves_are_on_disk_when_add_move_returns(store):
    assert store.read("PRAGMA journal_mode") == [("wal",)]
    assert store.read("PRAGMA synchronous") == [(2,)]


def test_a_large_frame_ends_the_connection_of_a_real_server(tmp_path):
    """What is still there after `kill -9`: test_web_crowd.py."""
    with Process(tmp_path / "tables.sqlite") as process:
        made, cookie = process.ask("/tables", {"game": "tictactoe", "seats": ["me", "random"], "name": "Ann"})
        with process.connect(made["table"], cookie) as socket:
            socket.recv(timeout=30)
            socket.send("x" * 5000)
            with pytest.raises(ConnectionClosed):
                list(socket)


# The command.


def test_a_taken_port_and_wrong_options_are_refused_in_a_sentence(tmp_path, capsys):
    with sockets.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for options, words in (
            (["--port", port], "cannot listen"),
            (["--seats", "9"], "2 seats"),
            (["--opponents", "nobody"], "nobody"),
            (["--data", str(tmp_path / "no" / "x"), "--port", "0"], "cannot keep games"),
        ):
            data = [] if "--data" in options else ["--data", str(tmp_path / "tables.sqlite")]
            assert run(["serve", "tictactoe", *data, *options]) == 2
            assert words in capsys.readouterr().err


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "cardai.guests.web.serving", raising=False)
    monkeypatch.delattr(cardai.guests.web, "serving", raising=False)
    assert run(["serve", "tictactoe"]) == 2
    assert "[web]' brings it" in capsys.readouterr().err
