"""People at the tables of a server in this process, without a page: they set up tables, come by links, and play."""

import json
from contextlib import contextmanager

import anyio
import small_game
from starlette.testclient import TestClient
from web_clients import NONCE

import cardai
from cardai.guests.web import room, server
from cardai.guests.web.guards import Hosts, digest, new_token
from cardai.guests.web.offers import offer_of

HOME, SOCKETS = "http://127.0.0.1:8000", "ws://127.0.0.1:8000"
TICTACTOE, LOW_HAND = cardai.load("tictactoe"), small_game.GAME
WISHES = {"game": "low_hand", "seats": ["me", "low"], "name": "Ann"}
THREE = ("me", "low", "random")
PATIENCE = 20.0  # seconds without a frame after which a test fails


def served(store, *games, names=(), **options):
    """A server of games, with their usual opponents. `names`: further ones under which it may be asked for."""
    return server.Server({game.name: offer_of(game) for game in games}, store, Hosts("127.0.0.1", names), **options)


@contextmanager
def browser_at(serving, **options):
    """A browser at a server, which runs in the loop of events of this browser."""
    with TestClient(serving.app, base_url=HOME, headers={"origin": HOME}, **options) as browser:
        yield browser


def another(client):
    """Another browser at the same server."""
    browser = TestClient(client.app, base_url=HOME, headers={"origin": HOME})
    browser.portal = client.portal
    return browser


def post(browser, path: str, message: object = None, status: int = 200) -> dict:
    """What the server answers to a message, with this status. No answer tells of the inside."""
    answer = browser.post(path, json=message or {})
    assert answer.status_code == status, answer.text
    assert "internal" not in answer.text
    return answer.json()


def sit(browser, game="low_hand", seats=("me", "low"), name="Ann", **wishes) -> str:
    """Set up a table."""
    return post(browser, "/tables", {"game": game, "seats": list(seats), "name": name} | wishes)["table"]


def link(browser, table: str, **wish) -> str:
    return post(browser, f"/t/{table}/invite", wish)["invitation"]


def join(browser, table: str, invitation: str, name: str = "Ben", status: int = 200) -> dict:
    return post(browser, f"/t/{table}/join", {"invitation": invitation, "name": name}, status)


def watch(client, table: str):
    """The browser of a spectator."""
    eyes = another(client)
    join(eyes, table, link(client, table, watch=True))
    return eyes


def with_a_friend(client, game="low_hand", seats=("me", "friend", "low"), **wishes):
    """A table with two people: its id and the friend's browser."""
    table, friend = sit(client, game, seats, **wishes), another(client)
    join(friend, table, link(client, table, seat=seats.index("friend")))
    return table, friend


def open_at(browser, table: str, **options):
    """A socket of a tab."""
    return browser.websocket_connect(f"{SOCKETS}/t/{table}/socket", **options)


async def _arriving(socket) -> dict:
    with anyio.fail_after(PATIENCE):  # instead of waiting for ever, as `receive_json` does
        message = await socket._send_rx.receive()
    socket._raise_on_close(message)
    return json.loads(message["text"])


def frames(socket, until):
    """Take frames until one is as wanted."""
    for _ in range(200):
        frame = socket.portal.call(_arriving, socket)
        if until(frame):
            return frame
    raise AssertionError("this frame never came")


def views(socket, until=lambda view: True):
    """Take views and answers until one is as wanted."""
    return frames(socket, lambda frame: "company" not in frame and until(frame))


def companies(socket, until):
    """Take frames until the company is as wanted."""
    return frames(socket, lambda frame: "company" in frame and until(frame["company"]))["company"]


def error(socket, message: dict) -> str:
    """What the server says is wrong with a message."""
    socket.send_json(message)
    return views(socket, lambda view: "error" in view)["error"]


def take_part(*sockets) -> None:
    """Take part in the deal, without a pause before the agents' moves."""
    for socket in sockets:
        socket.send_json({"pause": 0})
        socket.send_json({"nonce": NONCE})


def begin(socket) -> dict:
    """Take part alone. Returns the first view in which to move."""
    take_part(socket)
    return views(socket, lambda view: "moves" in view)


def move(socket, view: dict, place: int = 0) -> None:
    """Send a move of a view."""
    socket.send_json({"ply": view["ply"], "move": view["moves"][place][0]})


def play_on(socket, view: dict) -> dict:
    """Play the first move each time, to the end of the game."""
    while not view["over"]:
        move(socket, view)
        ply = view["ply"]
        view = views(socket, lambda now: now["over"] or (now["ply"] > ply and "moves" in now))  # noqa: B023
    return view


def finish(browser, table: str) -> dict:
    """Play a game to its end."""
    with open_at(browser, table) as socket:
        take_part(socket)
        return play_on(socket, views(socket, lambda view: "moves" in view or view.get("over")))


def table_of(store, game, *seats, seed=1, opponents=(), **wishes):
    """A dealt table without a server: seats of people ("me", "friend") and keys of agents."""
    rooms = room.Room({game.name: offer_of(game, opponents)}, store)
    table_id, _ = rooms.create({"game": game.name, "seats": list(seats), "name": "Ann", **wishes}, b"ann")
    table = rooms.table(table_id)
    for seat, who in enumerate(seats):
        if who == "friend":
            table.sit(table.invite(seat), f"p{seat}", b"friend%d" % seat, digest(new_token()))
    for seat in table.people:
        table.add_nonce(seat, bytes([seed + seat]) * 32)
    return table


def choose(table, seat: int, place: int = -1) -> None:
    """Let a person at a table play one of their moves."""
    view = table.view(seat, False)
    assert table.play(seat, view.get("choice", view["ply"]), view["moves"][place][0]) == ""


def run_on(table, seats=(0,), place: int = -1):
    """Let the people in some seats play a table to its end."""
    while not table.is_over:
        table.run()
        for seat in seats:
            if "moves" in table.view(seat, False):
                choose(table, seat, place)
    return table


def count_rows(store, *tables: str) -> list[int]:
    """How many rows these tables of the store's file have."""
    return [store.read(f'SELECT count(*) FROM "{table}"')[0][0] for table in tables]
