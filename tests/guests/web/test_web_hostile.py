"""Whatever a stranger puts into a field, path, cookie, query or socket of any route is answered with a sentence."""

import json
import re
from urllib.parse import quote

import pytest
from starlette.routing import Route, WebSocketRoute
from web_clients import NONCE
from web_people import SOCKETS, begin, finish, sit, views
from web_study import Served

from cardai.guests.web import requests, server

TOO_MUCH = 1 << 40
HOSTILE = [
    "\ud800", "a\x00b", "\x1b[2J", "é", "x" * 3000, "", [], ["me", ["me"]], [[[[[[[[]]]]]]]], {},
    {"a": {"a": "\udfff"}}, {"\x00": 1}, None, True, "true", -1, TOO_MUCH, 10**300, 1.5,
    float("nan"), float("inf"),
]  # fmt: skip
BASE = {
    "game": "low_hand", "variant": "standard", "seats": ["me", "friend"], "name": "Ann",
    "study": False, "takeover": 0, "code": "no such code", "invitation": "x" * 32, "nonce": NONCE, "watch": False,
    "device": False, "seat": 1, "agent": "low", "resign": False, "key": "0" * 32, "analysis": False, "from": 0,
    "ply": 0, "delete": False, "agrees": False, "answers": {"level": "well", "remarks": "none"}, "challenge": 2,
}  # fmt: skip
OF_SOCKETS = ("move", "undo", "end", "nonce", "pause", "advice")
ALLOWED = {"name": ["é", "true"], "seat": [None], "answers": [], "invitation": ["é", "", "true"]}
"""What is good in a field: any name, open hands instead of a seat in a review, and an old link."""
PATHS = ("\ud800".encode("utf-8", "surrogatepass"), b"\x00", b"\xff", "é".encode(), b"x" * 5000, b"%", b"' OR 1 --")
COOKIES = (b"seat=\xff\xfe", b"seat=\x01; person=\x02", b"seat=" + b"x" * 8000, b"seat", b"; =;seat==", b'seat="\\400"')


class Asked(dict):
    """A message that notes which of its fields are asked for."""

    fields: set[str] = set()  # noqa: RUF012 (of all messages)

    def __getitem__(self, key):
        self.fields.add(key)
        return super().__getitem__(key)

    def get(self, key, default=None):
        self.fields.add(key)
        return super().get(key, default)

    def __contains__(self, key):
        self.fields.add(key)
        return super().__contains__(key)


@pytest.fixture
def asked(monkeypatch):
    """The fields that any route has asked for."""
    read = server.read_message
    for module in (server, requests):
        monkeypatch.setattr(module, "read_message", lambda text: Asked(read(text)))
    for limit in ("REQUESTS", "NEW_TABLES", "MESSAGES"):
        monkeypatch.setattr(server, limit, 10**6)
    Asked.fields = set()
    return Asked.fields


def routes_of(app, kind) -> list:
    """The routes of a server's application, in its layers."""
    while not hasattr(app, "routes"):
        app = app._app
    return [route for route in app.routes if isinstance(route, kind)]


def is_refused(answer) -> str:
    """What is wrong with an answer to something hostile, "" if it is a refusal in a sentence."""
    if not 400 <= answer.status_code < 500:
        return f"status {answer.status_code}"
    error = answer.json().get("error", "") if answer.headers["content-type"] == "application/json" else answer.text
    return "" if " " in error and "internal" not in error and error.isprintable() else f"the sentence {error!r}"


def not_refused(app, asked: set[str], tables: list[str], send) -> list[str]:
    """Send every hostile value in every field that a route asks for, by `send(path, message)`.

    A field that is asked for after another one shows when that one is good. Returns what was not refused.
    """
    wrong = []
    for path in dict.fromkeys(route.path.format(table=table) for route in posts(app) for table in tables):
        asked.clear()
        done: set[str] = set()
        send(path, BASE | {"name": ""})
        while fields := sorted(asked & BASE.keys() - done):
            assert asked <= BASE.keys(), "a field that this test knows nothing of"
            for field, value in [(field, value) for field in fields for value in HOSTILE]:
                if isinstance(BASE[field], bool) and value is True:
                    continue
                answer = send(path, BASE | {field: value})
                is_good = any(value is good or value == good != [] for good in ALLOWED.get(field, ()))
                if (problem := is_refused(answer)) and not (is_good and answer.status_code == 200):
                    wrong.append(f"{path} {field} {value!r:.40}: {problem}")
            done |= {*fields}
    return wrong


def posts(app) -> list[Route]:
    return [route for route in routes_of(app, Route) if "POST" in (route.methods or ())]


@pytest.fixture
def tables(asked, client):
    """A table that waits for a friend, and one whose person has played to the end."""
    ended = sit(client, "tictactoe", ("random", "me"))
    finish(client, ended)
    return [sit(client, "low_hand", ("me", "friend")), ended]


def sends(browser):
    return lambda path, message: browser.post(path, content=json.dumps(message))


def test_every_field_of_every_request_refuses_what_it_cannot_be(serving, client, tables, asked):
    assert not not_refused(serving.app, asked, tables, sends(client))


def test_every_field_of_a_study_refuses_what_it_cannot_be(tmp_path, protocol, asked):
    with Served(tmp_path / "study.sqlite", protocol) as served:
        send = sends(served.client)
        send("/study/enter", {"code": served.codes[0]})
        assert not not_refused(served.server.app, asked, [""], send)
        for given in [*({"level": value} for value in HOSTILE), {"level": "well", "\ud800": "well"}]:
            refused = send("/study/agree", {"agrees": True, "answers": given})
            assert not is_refused(refused), (given, refused.text)


def test_every_path_query_and_cookie_is_answered(serving, client, tables):
    for route in routes_of(serving.app, Route):
        ask = client.post if "POST" in (route.methods or ()) else client.get
        for part in PATHS:
            path = re.sub(r"\{\w+\}", quote(part), route.path)
            answer = ask(path, params={"x": part})
            if "{" in route.path and route.endpoint != serving.page:
                assert not is_refused(answer), (path, answer.text)
        path = route.path.format(table=tables[0], name="main.js", game="low_hand", language="fi")
        for cookie in COOKIES:
            assert ask(path, headers={b"cookie": cookie}).status_code < 500, (path, cookie)


def test_every_field_of_a_socket_is_answered_with_a_sentence(serving, client, asked):
    good = [("end", True), ("pause", 1.5)]
    messages = [{"ply": 0, field: value} for field in OF_SOCKETS for value in HOSTILE if (field, value) not in good]
    messages += [{"ply": value, "move": "takes"} for value in HOSTILE if type(value) is not int]
    frames = [b"\xff\xfe", b"\x00", b"[" * 4000, b"{" * 5000, b'{"a":' * 600, b'"\\ud800"']
    for route in routes_of(serving.app, WebSocketRoute):
        with client.websocket_connect(SOCKETS + route.path.format(table=sit(client))) as socket:
            begin(socket)
            for frame in [*frames, *(json.dumps(message).encode() for message in messages)]:
                socket.send_bytes(frame)
                said = views(socket, lambda view: "error" in view)["error"]
                assert " " in said, frame
                assert "internal" not in said, frame
