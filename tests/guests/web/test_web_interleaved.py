"""People come, go, move, leave, give up, use two devices and open each other's links in any order, and the server is
stopped in between: nobody loses a seat, and every game comes to its end."""

import random
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import small_game

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx2", reason="starlette's TestClient needs httpx2")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from test_web import HOME, LOW_HAND, TICTACTOE, views
from test_web_company import open_at as opened_at
from test_web_together import GOOFSPIEL

from cardai.guests.web import server, tables
from cardai.guests.web.guards import Hosts
from cardai.guests.web.offers import offer_of
from cardai.guests.web.store import Store
from cardai.records.record import verify

EXAMPLES = Path(__file__).parents[3] / "examples"
OFFERS = {game.name: offer_of(game, ["random"]) for game in (LOW_HAND, TICTACTOE, GOOFSPIEL)}
RULES = {"low_hand": small_game.__file__, "tictactoe": None, "goofspiel": str(EXAMPLES / "goofspiel")}
TABLES = [
    ("low_hand", ["me", "friend", "friend", "random"]),
    ("tictactoe", ["me", "friend"]),
    ("tictactoe", ["friend", "me"]),
    ("goofspiel", ["random", "me", "friend"]),
]
ACTIONS = 30
MOST_ROUNDS = 300  # of moves until every game must be over


@contextmanager
def open_at(browser, table: str):
    """A tab. To close it, the test client may cancel what the server is just doing for it, and says so."""
    context = opened_at(browser, table)
    socket = context.__enter__()
    try:
        yield socket
    finally:
        with suppress(CancelledError):
            context.__exit__(None, None, None)


class Crowd:
    """A server, a table at it, and the people with their browsers: `browsers[seat]`, the first device first."""

    def __init__(self, folder, seed: int) -> None:
        self.file, self.luck = folder / f"{seed}.sqlite", random.Random(seed)
        self.browsers: dict[int, list[TestClient]] = {}
        self.eyes: list[TestClient] = []
        self.open: list = []  # (browser, its socket's context)
        self.client: TestClient | None = None
        self.start()
        self.game, self.seats = self.luck.choice(TABLES)
        wishes = {"game": self.game, "seats": self.seats, "name": "Ann", "takeover": self.luck.choice([0, 1])}
        host = self.browser()
        self.table = self.post(host, "/tables", wishes)["table"]
        self.browsers[self.seats.index("me")] = [host]
        for seat in [place for place, who in enumerate(self.seats) if who == "friend"]:
            invitation = self.post(host, f"/t/{self.table}/invite", {"seat": seat})["invitation"]
            self.browsers[seat] = [self.browser()]
            message = {"invitation": invitation, "name": f"Friend {seat}"}
            self.post(self.browsers[seat][0], f"/t/{self.table}/join", message)
            self.old_link = invitation

    def start(self) -> None:
        self.store = Store(self.file)
        app = server.Server(OFFERS, self.store, Hosts("127.0.0.1")).app
        self.client = TestClient(app, base_url=HOME, headers={"origin": HOME})
        self.client.__enter__()
        for browsers in [*self.browsers.values(), self.eyes]:
            browsers[:] = [self.browser(old.cookies) for old in browsers]

    def stop(self) -> None:
        for _, context in self.open:
            with suppress(WebSocketDisconnect, RuntimeError):
                context.__exit__(None, None, None)
        self.open.clear()
        self.client.__exit__(None, None, None)
        self.store.close()

    def browser(self, cookies=None) -> TestClient:
        made = TestClient(self.client.app, base_url=HOME, headers={"origin": HOME})
        made.portal = self.client.portal
        if cookies is not None:
            made.cookies = cookies
        return made

    def post(self, browser, path: str, message: dict, may_fail: bool = False) -> dict:
        answer = browser.post(path, json=message)
        assert answer.status_code in ((200, 400) if may_fail else (200,)), answer.text
        assert "internal" not in answer.text
        return answer.json()

    def invitation(self, seat: int, kind: str) -> str:
        return self.post(self.browsers[seat][0], f"/t/{self.table}/invite", {kind: True})["invitation"]

    # What people do.

    def act(self) -> None:
        """Let somebody do anything."""
        seat = self.luck.choice(list(self.browsers))
        browser, at = self.luck.choice(self.browsers[seat]), f"/t/{self.table}"
        what = self.luck.choices(
            [
                "play",
                "open",
                "close",
                "leave",
                "back",
                "resign",
                "own link",
                "old link",
                "watch",
                "device",
                "say",
                "stop",
            ],
            [12, 4, 4, 2, 3, 0.3, 1, 1, 1, 1, 1, 1],
        )[0]
        if what == "play":
            self.play(seat, browser)
        elif what == "open":
            context = open_at(browser, self.table)
            context.__enter__().send_json({"pause": 0})
            self.open.append((browser, context))
        elif what == "close" and self.open:
            _, context = self.open.pop(self.luck.randrange(len(self.open)))
            context.__exit__(None, None, None)
        elif what in ("leave", "back"):
            self.post(browser, f"{at}/{what}", {}, may_fail=True)
        elif what == "resign":
            self.post(browser, f"{at}/leave", {"resign": True}, may_fail=True)
        elif what == "own link":
            kind = self.luck.choice(["watch", "device"])
            answer = browser.post(f"{at}/join", json={"invitation": self.invitation(seat, kind), "name": "x"})
            assert answer.status_code == 400
        elif what == "old link":
            assert browser.post(f"{at}/join", json={"invitation": self.old_link, "name": "x"}).status_code == 400
        elif what == "watch":
            self.eyes.append(self.browser())
            self.post(self.eyes[-1], f"{at}/join", {"invitation": self.invitation(seat, "watch")})
            assert self.post(self.eyes[-1], f"{at}/leave", {}, may_fail=True)["error"] == "you only watch"
        elif what == "device":
            self.browsers[seat].append(self.browser())
            self.post(self.browsers[seat][-1], f"{at}/join", {"invitation": self.invitation(seat, "device")})
        elif what == "say":
            with open_at(browser, self.table) as socket:
                socket.send_json({"say": "hello"})
        elif what == "stop":
            self.stop()
            self.start()

    def play(self, seat: int, browser) -> dict:
        """Move in a fresh tab, if it is this person's turn. Returns what they see then."""
        with open_at(browser, self.table) as socket:
            socket.send_json({"pause": 0})
            socket.send_json({"nonce": f"{seat:02x}" * 32})
            view = views(socket, lambda now: True)
            if "ply" not in view:
                return view
            assert (view["seat"], view["watches"]) == (seat, False)
            if "moves" in view:
                ply = view.get("choice", view["ply"])
                socket.send_json({"ply": ply, "move": self.luck.choice(view["moves"])[0]})
                view = views(socket, lambda now: "moves" not in now or now.get("choice", now["ply"]) != ply)
                assert view.get("error", "").startswith(("", "an agent plays for you"))
            assert view["trouble"] == ""
            return view

    # What must hold.

    def look(self) -> None:
        """Everybody is where they were, on every device."""
        for seat, browsers in self.browsers.items():
            for browser in browsers:
                assert browser.get(f"/t/{self.table}/company").json()["seat"] == seat
        assert all(row.token is not None or row.agent for row in self.store.table(self.table).seats)

    def finish(self) -> None:
        """All come back and play on."""
        for browsers in self.browsers.values():
            self.post(browsers[0], f"/t/{self.table}/back", {}, may_fail=True)
        for _ in range(MOST_ROUNDS):
            seen = [self.play(seat, browsers[-1]) for seat, browsers in self.browsers.items()]
            if all(view.get("over") for view in seen):
                return
        raise AssertionError("the game is stuck")


def interleaved(folder, seed: int) -> str:
    """Let a crowd do what it likes. Returns which game was played."""
    crowd = Crowd(folder, seed)
    try:
        for _ in range(ACTIONS):
            crowd.act()
            crowd.look()
        crowd.finish()
        crowd.look()
        file = folder / f"{seed}.jsonl"
        file.write_bytes(crowd.browsers[crowd.seats.index("me")][0].get(f"/t/{crowd.table}/record").content)
        assert verify(file, rules=RULES[crowd.game]).games == 1
        return crowd.game
    finally:
        crowd.stop()


@pytest.fixture(autouse=True)
def unlimited(monkeypatch):
    monkeypatch.setattr(server, "REQUESTS", 10**6)
    monkeypatch.setattr(server, "NEW_TABLES", 10**6)
    monkeypatch.setattr(tables, "MINUTE", 0.15)  # so that people are late now and then


@pytest.mark.parametrize("seed", range(8))
def test_no_seat_is_lost_and_no_game_is_stuck(tmp_path, seed):
    interleaved(tmp_path, seed)


@pytest.mark.slow
def test_no_seat_is_lost_and_no_game_is_stuck_in_a_hundred_interleavings(tmp_path):
    played = [interleaved(tmp_path, seed) for seed in range(100, 200)]
    assert set(played) == set(OFFERS)
