"""People come, go, move, leave, give up, use two devices and open each other's links in any order, and the server is
stopped in between: nobody loses a seat, and every game comes to its end."""

import random
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import small_game
from starlette.websockets import WebSocketDisconnect
from test_web_together import GOOFSPIEL
from web_people import LOW_HAND, TICTACTOE, another, browser_at, join, link, post, sit, views
from web_people import open_at as opened_at

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
ACTIONS = {
    "play": 12, "open": 4, "close": 4, "leave": 2, "back": 3, "resign": 0.3, "own_link": 1, "old_link": 1, "watch": 1,
    "device": 1, "stop": 1,
}  # fmt: skip
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
        self.browsers, self.open = {}, []  # the contexts of open sockets
        self.start()
        self.game, self.seats = self.luck.choice(TABLES)
        host = another(self.client)
        self.table = sit(host, self.game, self.seats, takeover=self.luck.choice([0, 1]))
        self.browsers[self.seats.index("me")] = [host]
        for seat in [place for place, who in enumerate(self.seats) if who == "friend"]:
            self.link = link(host, self.table, seat=seat)
            self.browsers[seat] = [another(self.client)]
            join(self.browsers[seat][0], self.table, self.link, f"Friend {seat}")

    def start(self) -> None:
        self.store = Store(self.file)
        self.running = browser_at(server.Server(OFFERS, self.store, Hosts("127.0.0.1")))
        self.client = self.running.__enter__()
        for browsers in self.browsers.values():
            for place, old in enumerate(browsers):
                browsers[place] = another(self.client)
                browsers[place].cookies = old.cookies

    def end(self) -> None:
        for context in self.open:
            with suppress(WebSocketDisconnect, RuntimeError):
                context.__exit__(None, None, None)
        self.open.clear()
        self.running.__exit__(None, None, None)
        self.store.close()

    # What people do.

    def act(self) -> None:
        """Let somebody do anything."""
        seat = self.luck.choice(list(self.browsers))
        (what,) = self.luck.choices(list(ACTIONS), list(ACTIONS.values()))
        getattr(self, f"do_{what}")(seat, self.luck.choice(self.browsers[seat]))

    def ask(self, browser, what: str, message: dict) -> None:
        answer = browser.post(f"/t/{self.table}/{what}", json=message)
        assert (answer.status_code in (200, 400), "internal" in answer.text) == (True, False)

    def do_open(self, seat, browser) -> None:
        self.open.append(open_at(browser, self.table))
        self.open[-1].__enter__().send_json({"pause": 0})

    def do_close(self, seat, browser) -> None:
        if self.open:
            self.open.pop(self.luck.randrange(len(self.open))).__exit__(None, None, None)

    def do_leave(self, seat, browser) -> None:
        self.ask(browser, "leave", {})

    def do_back(self, seat, browser) -> None:
        self.ask(browser, "back", {})

    def do_resign(self, seat, browser) -> None:
        self.ask(browser, "leave", {"resign": True})

    def do_own_link(self, seat, browser) -> None:
        join(
            browser, self.table, link(browser, self.table, **{self.luck.choice(["watch", "device"]): True}), status=400
        )

    def do_old_link(self, seat, browser) -> None:
        join(browser, self.table, self.link, status=400)

    def do_watch(self, seat, browser) -> None:
        eyes = another(self.client)
        join(eyes, self.table, link(browser, self.table, watch=True))
        assert post(eyes, f"/t/{self.table}/leave", {}, 400)["error"] == "you only watch"

    def do_device(self, seat, browser) -> None:
        self.browsers[seat].append(another(self.client))
        join(self.browsers[seat][-1], self.table, link(browser, self.table, device=True))

    def do_stop(self, seat, browser) -> None:
        self.end()
        self.start()

    def do_play(self, seat: int, browser) -> dict:
        """Move in a fresh tab, if it is this person's turn. Returns what they see then."""
        with open_at(browser, self.table) as socket:
            socket.send_json({"pause": 0})
            socket.send_json({"nonce": f"{seat:02x}" * 32})
            view = views(socket)
            if "ply" not in view:
                return view
            assert (view["seat"], view["watches"]) == (seat, False)
            if "moves" in view:
                ply = view.get("choice", view["ply"])
                socket.send_json({"ply": ply, "move": self.luck.choice(view["moves"])[0]})
                view = views(socket, lambda now: "moves" not in now or now.get("choice", now["ply"]) != ply)
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
            self.ask(browsers[0], "back", {})
        for _ in range(MOST_ROUNDS):
            seen = [self.do_play(seat, browsers[-1]) for seat, browsers in self.browsers.items()]
            if all(view.get("over") for view in seen):
                return
        raise AssertionError("the game is stuck")


def interleaved(folder, seed: int) -> str:
    """Let a crowd do what it likes. Returns which game was played."""
    crowd = Crowd(folder, seed)
    try:
        for _ in range(30):
            crowd.act()
            crowd.look()
        crowd.finish()
        crowd.look()
        file = folder / f"{seed}.jsonl"
        file.write_bytes(crowd.browsers[crowd.seats.index("me")][0].get(f"/t/{crowd.table}/record").content)
        assert verify(file, rules=RULES[crowd.game]).games == 1
        return crowd.game
    finally:
        crowd.end()


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
