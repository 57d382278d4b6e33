"""The web table: what may come in, what goes out, and what is still there after the server was killed."""

import json
import re
import socket as sockets
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
import small_game

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

import anyio
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from truths import truth_of
from web_clients import NONCE, Process

import cardai
import cardai.guests.web
from cardai.cli.main import run
from cardai.errors import BadArgument, CardaiError
from cardai.game import Game
from cardai.guests.web import room, server
from cardai.guests.web.commitment import fingerprint, seed_of
from cardai.guests.web.guards import HEADERS, Hosts, Rate, clean_name, digest, read_message
from cardai.guests.web.offers import Offer, offer_of
from cardai.guests.web.store import Store
from cardai.guests.web.tables import WebTable
from cardai.guests.web.views import position_view
from cardai.playing.table.one import OneGame
from cardai.records.record import Reader, verify

HOME, SOCKETS = "http://127.0.0.1:8000", "ws://127.0.0.1:8000"
TICTACTOE = cardai.load("tictactoe")
LOW_HAND = small_game.GAME
PATIENCE = 20.0  # seconds without a view after which a test fails


@pytest.fixture
def store(tmp_path):
    with_tables = Store(tmp_path / "tables.sqlite")
    yield with_tables
    with_tables.close()


def offers_of(*games: Game) -> dict[str, Offer]:
    return {game.name: offer_of(game) for game in games}


@pytest.fixture
def client(store):
    app = server.Server(offers_of(TICTACTOE, LOW_HAND), store, Hosts("127.0.0.1")).app
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as browser:
        yield browser


def another(client: TestClient) -> TestClient:
    """Another browser at the same server, which runs in the same event loop."""
    browser = TestClient(client.app, base_url=HOME, headers={"origin": HOME})
    browser.portal = client.portal
    return browser


def sit(client: TestClient, game: str = "low_hand", seats: tuple[str, ...] = ("me", "low"), name: str = "Ann") -> str:
    answer = client.post("/tables", json={"game": game, "seats": list(seats), "name": name})
    assert answer.status_code == 200, answer.text
    return answer.json()["table"]


def views(socket, until):
    """Take views until one is as wanted."""
    for _ in range(200):
        view = socket.portal.call(arriving, socket)
        if until(view):
            return view
    raise AssertionError("this view never came")


async def arriving(socket) -> dict:
    """The next view. Fails if none comes, instead of waiting for ever as `receive_json` does."""
    while True:
        with anyio.fail_after(PATIENCE):
            message = await socket._send_rx.receive()
        socket._raise_on_close(message)
        view = json.loads(message["text"])
        if "company" not in view:
            return view


def begin(socket) -> dict:
    """Take part in the deal, without a pause before the agents' moves. Returns the first view in which to move."""
    socket.send_json({"pause": 0})
    socket.send_json({"nonce": NONCE})
    return views(socket, lambda view: "moves" in view)


def rows_in(store: Store, table: str) -> int:
    """How many rows a table of the store's file has."""
    return sqlite3.connect(store.path).execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]


def play_on(socket, view: dict, seat: int = 0) -> dict:
    """Play the first move each time, to the end of the game."""
    while not view["over"]:
        socket.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
        ply = view["ply"]
        view = views(socket, lambda now: now["over"] or (now["ply"] > ply and now["turn"] == seat))  # noqa: B023
    return view


# Playing.


@pytest.mark.parametrize(("game", "seats"), [("low_hand", ("me", "low", "random")), ("tictactoe", ("random", "me"))])
def test_a_person_plays_a_game_to_its_end_and_saves_it_as_a_record_that_verifies(client, tmp_path, game, seats):
    table, seat = sit(client, game, seats), seats.index("me")
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        last = play_on(socket, begin(socket), seat)
    assert last["end"]["scores"]
    saved = client.get(f"/t/{table}/record")
    assert saved.status_code == 200
    file = tmp_path / "game.jsonl"
    file.write_bytes(saved.content)
    assert Reader(file).header.agents == tuple(dict.fromkeys("human" if seat == "me" else seat for seat in seats))
    verdict = verify(file, rules=small_game.__file__ if game == "low_hand" else None)
    assert verdict.games == 1


def test_the_deal_follows_from_a_secret_fixed_before_and_from_the_browsers_number(client, store):
    table = sit(client)
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        waiting = socket.receive_json()
        assert "zones" not in waiting
        assert store.table(table).seed is None
        last = play_on(socket, begin(socket))
    secret, nonces = (bytes.fromhex(last["fair"]["secret"]), [bytes.fromhex(text) for text in last["fair"]["nonces"]])
    assert waiting["commitment"] == fingerprint(secret)
    assert [nonce.hex() for nonce in nonces] == [NONCE]
    assert last["fair"]["seed"] == str(seed_of(secret, nonces)) == str(store.table(table).seed)
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        socket.receive_json()
        socket.send_json({"nonce": "cd" * 32})
        assert socket.receive_json()["fair"]["nonces"] == [NONCE], "a number that comes late changes nothing"


def test_nothing_of_the_seed_is_sent_while_the_game_is_on(client, store):
    table = sit(client)
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        text = json.dumps(begin(socket))
    kept = store.table(table)
    for secret in (kept.secret.hex(), str(kept.seed), f"{kept.seed:x}", kept.seats[0].token.hex()):
        assert secret not in text
    assert "fair" not in text


def test_a_move_for_another_ply_is_answered_with_the_view_and_not_played(client):
    table = sit(client, "tictactoe", ("me", "random"))
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        view = begin(socket)
        socket.send_json({"ply": 7, "move": "b2"})
        assert views(socket, lambda now: True)["ply"] == view["ply"]


def test_all_tabs_of_a_seat_are_live_and_a_refreshed_one_goes_on(client):
    table = sit(client, "tictactoe", ("me", "random"))
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as one:
        view = begin(one)
        with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as other:
            assert other.receive_json()["ply"] == view["ply"]
            other.send_json({"ply": 0, "move": "b2"})
            assert views(one, lambda now: now["ply"] == 2)["turn"] == 0
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as again:
        view = again.receive_json()
        assert view["ply"] == 2
        assert len(view["moves"]) == 7


def test_a_friend_comes_by_a_link_that_works_once(client):
    table = sit(client, seats=("me", "friend", "low"))
    invitation = client.post(f"/t/{table}/invite", json={"seat": 1}).json()["invitation"]
    friend, late = another(client), another(client)
    assert friend.post(f"/t/{table}/join", json={"invitation": invitation, "name": "Ben"}).status_code == 200
    refused = late.post(f"/t/{table}/join", json={"invitation": invitation, "name": "Eve"})
    assert (refused.status_code, "used before" in refused.text) == (400, True)
    with (
        client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as ann,
        friend.websocket_connect(f"{SOCKETS}/t/{table}/socket") as ben,
    ):
        ann.send_json({"pause": 0})
        ann.send_json({"nonce": NONCE})
        assert "zones" not in views(ann, lambda now: True), "the deal waits for everybody's number"
        ben.send_json({"nonce": "cd" * 32})
        one, other = (views(socket, lambda now: "zones" in now) for socket in (ann, ben))
        assert [who["name"] for who in one["seats"]] == ["Ann", "Ben", "low"]
        assert (one["seat"], other["seat"]) == (0, 1)
        own = {piece for zone in one["zones"] if zone.get("seat") == 0 for piece in zone["pieces"]}
        assert own.isdisjoint(piece for zone in other["zones"] for piece in zone["pieces"])


def test_who_is_not_to_move_cannot_move_for_another_seat(client):
    table = sit(client, "tictactoe", ("me", "friend"))
    invitation = client.post(f"/t/{table}/invite", json={"seat": 1}).json()["invitation"]
    friend, path = another(client), f"{SOCKETS}/t/{table}/socket"
    friend.post(f"/t/{table}/join", json={"invitation": invitation, "name": "Ben"})
    with client.websocket_connect(path) as ann, friend.websocket_connect(path) as ben:
        ann.send_json({"nonce": NONCE})
        ben.send_json({"nonce": NONCE})
        views(ben, lambda now: "zones" in now)
        ben.send_json({"ply": 0, "move": "b2"})
        ben.send_json({"ply": "x", "move": ""})
        assert views(ben, lambda now: "error" in now)["ply"] == 0


def test_agents_fill_up_seats_that_nobody_takes(client):
    table = sit(client, seats=("me", "friend"))
    earlier = client.post(f"/t/{table}/invite", json={"seat": 1}).json()["invitation"]
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        socket.send_json({"nonce": NONCE})
        assert client.post(f"/t/{table}/fill", json={"seat": 1, "agent": "low"}).status_code == 200
        assert views(socket, lambda now: "zones" in now)["seats"][1] == {"name": "low", "kind": "agent"}
    assert another(client).post(f"/t/{table}/join", json={"invitation": earlier, "name": "E"}).status_code == 400
    assert client.post(f"/t/{table}/fill", json={"seat": 0, "agent": "low"}).status_code == 400


def test_a_spectator_sees_what_the_seat_that_agreed_sees_and_cannot_move(client):
    table = sit(client)
    stranger = another(client)
    with stranger.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        assert "no seat" in socket.receive_json()["closed"]
    assert stranger.post(f"/t/{table}/invite", json={"watch": True}).status_code == 400
    invitation = client.post(f"/t/{table}/invite", json={"watch": True}).json()["invitation"]
    assert stranger.post(f"/t/{table}/join", json={"invitation": invitation}).status_code == 200
    with (
        client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as own,
        stranger.websocket_connect(f"{SOCKETS}/t/{table}/socket") as eyes,
    ):
        view = begin(own)
        seen = views(eyes, lambda now: "zones" in now and now["ply"] == view["ply"])
        assert seen["zones"] == view["zones"]
        assert "moves" not in seen
        eyes.send_json({"ply": view["ply"], "move": view["moves"][0][0]})
        assert "only watch" in views(eyes, lambda now: "error" in now)["error"]
    assert stranger.post(f"/t/{table}/invite", json={"watch": True}).status_code == 400


# What is refused.


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "192.168.1.7", "[::ffff", "a\tb"])
def test_a_foreign_host_is_refused(client, host):
    assert client.get("/", headers={"host": host}).status_code == 403
    assert client.get("/games", headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9000", "file://", "", "127.0.0.1:8000"]
)
def test_a_foreign_origin_is_refused(client, origin):
    table = sit(client)
    wishes = {"game": "low_hand", "seats": ["me", "low"], "name": "Ann"}
    assert client.post("/tables", json=wishes, headers={"origin": origin}).status_code == 403
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(f"{SOCKETS}/t/{table}/socket", headers={"origin": origin}),
    ):
        pass


def test_a_change_without_an_origin_is_refused(store):
    app = server.Server(offers_of(TICTACTOE), store, Hosts("127.0.0.1")).app
    with TestClient(app, base_url=HOME) as bare:
        assert bare.get("/games").status_code == 200
        assert bare.post("/tables", json={}).status_code == 403
        with pytest.raises(WebSocketDisconnect), bare.websocket_connect(f"{SOCKETS}/t/x/socket"):
            pass


def test_an_open_server_takes_addresses_and_named_hosts_but_no_foreign_names():
    hosts = Hosts("0.0.0.0", ["cards.example"])
    assert hosts.allows("192.168.1.7:8000")
    assert hosts.allows("[fe80::1]:8000")
    assert hosts.allows("Cards.Example")
    assert not hosts.allows("rebound.example:8000")
    assert hosts.allows_origin("https://cards.example", "cards.example")
    assert not hosts.allows_origin("https://cards.example.evil", "cards.example")
    assert not hosts.allows_origin("http://rebound.example", "rebound.example")


def test_every_answer_has_the_headers_that_protect_the_page(client):
    for answer in (client.get("/"), client.get("/nothing"), client.post("/tables", json=1), client.get("/static/x")):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    refused = client.get("/", headers={"host": "evil.example"})
    assert "default-src 'none'" in refused.headers["content-security-policy"]


def test_cookies_are_for_this_server_and_this_table_only(client):
    answer = client.post("/tables", json={"game": "low_hand", "seats": ["me", "low"], "name": "Ann"})
    seat, person = answer.headers.get_list("set-cookie")
    for cookie in (seat, person):
        assert re.search("httponly", cookie, re.I)
        assert re.search("samesite=strict", cookie, re.I)
    assert f"Path=/t/{answer.json()['table']};" in seat


def test_a_seat_of_one_table_is_none_at_another(client):
    mine = sit(client)
    token = next(cookie.value for cookie in client.cookies.jar if cookie.name == "seat")
    stranger = another(client)
    other = sit(stranger)
    thief = another(client)
    with thief.websocket_connect(f"{SOCKETS}/t/{other}/socket", headers={"cookie": f"seat={token}"}) as socket:
        assert "no seat" in socket.receive_json()["closed"]
    with thief.websocket_connect(f"{SOCKETS}/t/{mine}/socket", headers={"cookie": f"seat={token}"}) as socket:
        assert socket.receive_json()["seat"] == 0


@pytest.mark.parametrize("token", ["", "x", "'; DROP TABLE seat; --", "é", '"', "a" * 5000])
def test_a_made_up_token_has_no_seat(client, token):
    table = sit(client)
    stranger = another(client)
    headers = {"cookie": f"seat={token}".encode()}
    with stranger.websocket_connect(f"{SOCKETS}/t/{table}/socket", headers=headers) as socket:
        assert "no seat" in socket.receive_json()["closed"]
    assert stranger.get(f"/t/{table}/record", headers=headers).status_code == 400


@pytest.mark.parametrize(
    "change",
    [
        {"game": "moska"}, {"game": "/etc/passwd"}, {"game": ["low_hand"]}, {"game": None}, {"variant": "nothing"},
        {"seats": ["me", "greedy:/etc/passwd"]}, {"seats": ["me", "python:os:system"]}, {"seats": ["me", ["low"]]},
        {"seats": ["me", "me"]}, {"seats": ["friend", "low"]}, {"seats": ["me"]}, {"seats": ["me"] + ["low"] * 90},
        {"seats": "me"}, {"seats": None}, {"name": ""}, {"name": "x" * 25}, {"name": "a\u202eb"}, {"name": "a\x1b[2Jb"},
        {"name": 5}, {"name": "\u200b"}, {"name": "x" * 5000},
    ],
)  # fmt: skip
def test_a_table_is_not_set_up_by_wishes_that_are_not_offered(client, store, change):
    wishes = {"game": "low_hand", "seats": ["me", "low"], "name": "Ann"} | change
    answer = client.post("/tables", json=wishes)
    assert answer.status_code == 400
    assert "internal" not in answer.json()["error"]
    assert rows_in(store, "table") == 0


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 4000, b'{"a":"' + b"x" * 5000 + b'"}'])
def test_what_is_no_small_json_object_is_refused(client, body):
    assert client.post("/tables", content=body).status_code == 400
    table = sit(client)
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        socket.send_bytes(body)
        assert "message" in views(socket, lambda now: "error" in now)["error"]


def test_a_tab_that_sends_too_much_is_closed(client):
    table = sit(client)
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
        for _ in range(server.MESSAGES + 1):
            socket.send_json({})
        with pytest.raises(WebSocketDisconnect) as closed:
            views(socket, lambda now: False)
        assert closed.value.code == server.TOO_MANY


def test_an_address_gets_few_new_tables_in_a_minute(client):
    for _ in range(server.NEW_TABLES):
        sit(client, "tictactoe", ("me", "random"))
    answer = client.post("/tables", json={"game": "tictactoe", "seats": ["me", "random"], "name": "Ann"})
    assert answer.status_code == 429


def test_rates_are_kept_by_key_and_forgotten_after_a_while():
    now = [0.0]
    rate = Rate(2, 10.0, clock=lambda: now[0])
    assert [rate.allows("a"), rate.allows("a"), rate.allows("a"), rate.allows("b")] == [True, True, False, True]
    now[0] = 10.5
    assert rate.allows("a")


def test_there_is_a_most_of_tables_and_idle_ones_make_room(client, monkeypatch):
    monkeypatch.setattr(room, "MOST_TABLES", 2)
    first = sit(client, "tictactoe", ("me", "random"))
    sit(client, "tictactoe", ("me", "random"))
    wishes = {"game": "tictactoe", "seats": ["me", "random"], "name": "Ann"}
    assert client.post("/tables", json=wishes).status_code == 503
    monkeypatch.setattr(room, "IDLE", 0.0)
    assert client.post("/tables", json=wishes).status_code == 200
    with client.websocket_connect(f"{SOCKETS}/t/{first}/socket") as socket:
        assert begin(socket)["ply"] == 0, "a table that left memory comes back from the store"


def test_too_many_tabs_of_a_table_are_refused(client, monkeypatch):
    monkeypatch.setattr(server, "MOST_SOCKETS", 1)
    table = sit(client)
    with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as one:
        one.receive_json()
        with client.websocket_connect(f"{SOCKETS}/t/{table}/socket") as two:
            assert "too many" in two.receive_json()["closed"]
        one.send_json({})
        assert views(one, lambda now: True)["seat"] == 0


@pytest.mark.parametrize("path", ["/", "/static/table.js", "/static/style.css"])
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
    name = path.rpartition("/")[2] or "page.html"
    (tmp_path / name).write_bytes(first.content + b"\n")
    monkeypatch.setattr(server, "STATIC", tmp_path)
    changed = client.get(path, headers={"if-none-match": tag})
    assert (changed.status_code, changed.content) == (200, first.content + b"\n")
    assert changed.headers["etag"] != tag


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/..%2fserver.py", "/static/page.html", "/static/"])
def test_only_files_of_the_page_are_served(client, path):
    assert client.get(path).status_code in (404, 403)


def test_the_page_is_sent_packed_and_is_small(client):
    names = [name for name in server.sent_files() if name != "page.html"]
    sent = 0
    for path in ("/", *(f"/static/{name}" for name in names)):
        with client.stream("GET", path, headers={"accept-encoding": "gzip"}) as answer:
            assert answer.headers["content-encoding"] == "gzip"
            sent += len(b"".join(answer.iter_raw()))
        bare = client.get(path, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in bare.headers
        assert client.get(path).content == bare.content
    assert 10_000 < sent <= 150_000, "bytes of the whole page"


def test_the_page_asks_no_other_host():
    files = list(server.sent_files().values())
    for file in files:
        text = file.read_text("utf-8")
        assert not re.search(
            r"https?://|//[a-z]+\.|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text
        ), file
        assert file.suffix != ".html" or not re.search(r"style=|\son\w+=|<script>|<style", text), file


def test_a_fault_inside_is_reported_without_what_it_was_about(store, capsys, monkeypatch):
    def broken(*given):
        raise RuntimeError("hand 2C 3D")

    app = server.Server({"low_hand": replace_game(zones=broken)}, store, Hosts("127.0.0.1")).app
    with TestClient(app, base_url=HOME, headers={"origin": HOME}) as browser:
        table = sit(browser)
        with browser.websocket_connect(f"{SOCKETS}/t/{table}/socket") as socket:
            socket.send_json({"nonce": NONCE})
            assert views(socket, lambda now: "closed" in now)["closed"] == "internal error"
            assert browser.get(f"/t/{table}/record").json() == {"error": "the game is not over"}
        monkeypatch.setattr(store, "table", broken)
        answer = browser.get("/t/unknown/record")
        assert (answer.status_code, answer.json()) == (500, {"error": "internal error"})
    assert "hand " not in capsys.readouterr().err


def test_names_are_short_and_printable():
    assert clean_name("  Ann  Lee ") == "Ann Lee"
    for name in ("", "a" * 25, None):
        with pytest.raises(BadArgument):
            clean_name(name)
    with pytest.raises(BadArgument):
        read_message("7")
    with pytest.raises(BadArgument, match="control characters"):
        read_message('{"name": "a\\u2066b"}')


# What is shown.


def replace_game(**changes) -> Offer:
    return offer_of(LOW_HAND.changed(**changes))


def opened(game: Game, seats: int, seed: int, plies: int) -> OneGame:
    table = OneGame(game, [cardai.agent(game, "random")] * seats, seed)
    for _ in range(plies):
        table.step()
    return table


def test_views_are_made_from_worlds_of_the_seat_and_never_from_the_state(monkeypatch):
    table = opened(LOW_HAND, 3, 5, 2)
    given = []
    game = LOW_HAND.changed(zones=lambda state, seat: given.append((state.tobytes(), seat)) or [])
    monkeypatch.setattr(table, "game", game)
    truth = truth_of(table).tobytes()
    for luck in range(8):
        position_view(table, 1, luck, True)
    assert {seat for _, seat in given} == {1}
    assert truth not in {state for state, _ in given}
    assert len({state for state, _ in given}) == 8


def looked_at(looks: bool, how=None) -> np.ndarray:
    """The moves of a game by agents that draw, with and without views between them."""
    agents = [cardai.agent(LOW_HAND, spec) for spec in ("random", "sampled:low_points?worlds=2", "low?randomised")]
    table = OneGame(LOW_HAND, [*agents[:2], None], seed=8)
    while not table.is_over:
        if looks:
            (how or (lambda one: [position_view(one, seat, 3, True) for seat in range(3)]))(table)
        if table.is_waiting:
            table.play(LOW_HAND.moves(table.seen(2, 1))[0])
        else:
            table.step()
    return table.moves


def test_looking_takes_nothing_from_the_games_streams():
    assert np.array_equal(looked_at(False), looked_at(True))


def test_a_view_that_draws_from_the_streams_would_be_found():
    def draw(table):
        table._slots.streams["rng"] += np.uint64(1)

    assert not np.array_equal(looked_at(False), looked_at(True, draw))


def test_a_game_without_zones_shows_its_text_and_lists_moves():
    table = opened(LOW_HAND.changed(zones=None, pieces=(), picks=None), 2, 1, 0)
    view = position_view(table, 0, 1, True)
    assert view["text"].startswith("hand ")
    assert all(pieces == [] for _, pieces in view["moves"])


# What is kept.


def test_a_table_taken_up_from_the_store_is_the_same_byte_for_byte(store):
    offer = offers_of(LOW_HAND)["low_hand"]
    for seed in range(5):
        rooms = room.Room({"low_hand": offer}, store)
        table_id, _ = rooms.create({"game": "low_hand", "seats": ["me", "low", "random"], "name": "Ann"}, b"ann")
        table = rooms.table(table_id)
        assert table is not None
        table.add_nonce(0, bytes([seed]) * 32)
        while not table.is_over:
            table.run()
            if not table.is_over:
                view = table.view(0, False)
                assert table.play(0, view["ply"], view["moves"][-1][0]) == ""
            kept = store.table(table_id)
            assert kept is not None
            again = WebTable(kept, offer, store)
            again.run()
            table.run()
            assert again._game.moves.tobytes() == table._game.moves.tobytes()


def test_a_table_of_other_rules_is_not_taken_up(store):
    offer = offers_of(LOW_HAND)["low_hand"]
    rooms = room.Room({"low_hand": offer}, store)
    table_id, _ = rooms.create({"game": "low_hand", "seats": ["me", "low"], "name": "Ann"}, b"ann")
    rooms.table(table_id).add_nonce(0, bytes(32))
    later = replace_game(version=2)
    with pytest.raises(CardaiError, match="other rules"):
        room.Room({"low_hand": later}, store).table(table_id)
    with pytest.raises(CardaiError, match="does not offer"):
        room.Room({}, store).table(table_id)


def test_the_store_keeps_no_token_in_clear(client, store):
    table = sit(client)
    tokens = [cookie.value for cookie in client.cookies.jar]
    invitation = client.post(f"/t/{table}/invite", json={"watch": True}).json()["invitation"]
    content = b"".join(file.read_bytes() for file in store.path.parent.iterdir())
    for token in (*tokens, invitation):
        assert token.encode() not in content
        assert digest(token) in content


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"not a database" * 100)
    with pytest.raises(CardaiError, match="cannot keep games"):
        Store(tmp_path / "x")


def next_view(socket, until) -> dict:
    for _ in range(100):
        view = json.loads(socket.recv(timeout=30))
        if until(view):
            return view
    raise AssertionError("this view never came")


def test_a_large_frame_ends_the_connection_of_a_real_server(tmp_path):
    from websockets.exceptions import ConnectionClosed

    process = Process(tmp_path / "tables.sqlite")
    try:
        made, cookie = process.ask("/tables", {"game": "tictactoe", "seats": ["me", "random"], "name": "Ann"})
        with process.connect(made["table"], cookie) as socket:
            socket.recv(timeout=30)
            socket.send("x" * 5000)
            with pytest.raises(ConnectionClosed):
                next_view(socket, lambda view: False)
    finally:
        process.kill()


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


def test_help_and_the_other_verbs_import_nothing_of_the_web():
    foreign = "('starlette', 'uvicorn', 'websockets', 'sqlite3')"
    code = "import sys; from cardai.cli.main import run; run(['--help'])\n"
    code += f"print([m for m in sys.modules if m.split('.')[0] in {foreign} or m.startswith('cardai.guests.web.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
    assert "serve" in done.stdout


def test_moves_are_on_disk_when_add_move_returns(store):
    assert store.read("PRAGMA journal_mode") == [("wal",)]
    assert store.read("PRAGMA synchronous") == [(2,)]
    for sql in ("INSERT INTO move VALUES ('x', 0, 0, '[]', 0)", "INSERT INTO move VALUES ('x', 'y', 0, '[]', 0)"):
        with pytest.raises(sqlite3.Error):
            store._database.execute(sql)
