"""A study that is served in this process, and its participants without a page."""

import gzip
import random
from pathlib import Path

from starlette.testclient import TestClient
from web_clients import NONCE
from web_people import HOME, another, open_at, post, views

from cardai.guests.web.guards import Hosts
from cardai.guests.web.participants import Participants
from cardai.guests.web.protocol import Protocol
from cardai.guests.web.server import Server
from cardai.guests.web.store import Store
from cardai.guests.web.study import offers_for
from cardai.guests.web.study_report import measure_study

SECRET = "greedy:open_lines"  # an opponent of whom no participant may learn
FILE = f"""
title = "Noughts and crosses"
contact = "Ada, ada@example"
consent = "We keep your moves."
games_each = 4
pause = 0
seed = 5
measure = "share"
level = "level"
references = ["{SECRET}", "random"]

[stop]
games = 40

[[table]]
code = "A"
game = "tictactoe"
opponents = ["{SECRET}"]

[[table]]
code = "B"
game = "tictactoe"
opponents = ["random"]

[[question]]
key = "level"
text = "How well do you play?"
choices = ["badly", "well"]

[[question]]
key = "remarks"
text = "What did you think?"
when = "after"
"""


class Served:
    """A study that is served, and the codes of its participants. Use it in a `with` block."""

    def __init__(self, data: Path, protocol: Protocol, people: int = 3, names=(), **options) -> None:
        self.store, self.protocol = Store(data), protocol
        self.codes = [code for _, code in Participants(self.store, protocol.digest).add(people)]
        hosts = Hosts("127.0.0.1", names)
        self.server = Server(offers_for(protocol), self.store, hosts, protocol=protocol, **options)
        self.people = self.server.study.study.people
        self.client = TestClient(self.server.app, base_url=HOME, headers={"origin": HOME})

    def __enter__(self):
        self.client.__enter__()
        return self

    def __exit__(self, *_):
        self.client.__exit__(None, None, None)
        self.store.close()

    def report(self):
        return measure_study(self.protocol, self.people)


def ask(browser, name: str, message: dict | None = None, status: int = 200) -> dict:
    return post(browser, f"/study/{name}", message, status)


def come(served: Served, number: int, level: str = "well"):
    """The browser of a participant who has agreed."""
    browser = another(served.client)
    if ask(browser, "enter", {"code": served.codes[number]})["place"] == "agree":
        ask(browser, "agree", {"agrees": True, "answers": {"level": level}})
    return browser


def play(browser, seed: int, most: int = 100) -> list[dict]:
    """Play a game of a participant to its end, or `most` moves of it. Returns all views."""
    table, luck, seen, ply = ask(browser, "next")["table"], random.Random(seed), [], -1
    with open_at(browser, table) as socket:
        socket.send_json({"nonce": NONCE})
        for _ in range(most):
            view = views(socket, lambda now, ply=ply: now.get("over") or (now.get("moves") and now["ply"] > ply))
            seen.append(view)
            if view["over"]:
                break
            ply = view["ply"]
            socket.send_json({"ply": ply, "move": luck.choice(view["moves"])[0]})
    return seen


def names(text: str) -> set[str]:
    """The names of the secret opponent in a text."""
    return {word for word in (SECRET, "open_lines", "greedy") if word in text}


def traces_of(people: Participants, number: int) -> list[bytes]:
    """What is kept of a participant and of nobody else: ids, secrets, seeds, the digest of their code."""
    tables = people.of_number(number).tables
    rows = [row for row in map(people.store.table, tables) if row is not None]
    ((code,),) = people.store.read("SELECT code FROM participant WHERE number = ?", number)
    seeds = [str(row.seed).encode() for row in rows if row.seed is not None]
    return [code, *(table.encode() for table in tables), *(row.secret for row in rows), *seeds]


def kept_in(folder: Path, traces: list[bytes]) -> set[bytes]:
    """Which traces are in the bytes of files, packed ones too."""
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    contents += [gzip.decompress(content) for content in contents if content.startswith(b"\x1f\x8b")]
    return {trace for trace in traces if any(trace in content for content in contents)}
