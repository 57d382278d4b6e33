"""Servers in processes of their own, and people who play any legal moves at their tables without a browser."""

import asyncio
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

NONCE = "ab" * 32


PROGRAM = """
from cardai.cli.main import main
from cardai.guests.web import server

server.NEW_TABLES = server.REQUESTS = 10**6
server.MESSAGES = {}
main()
"""
DEALT_ALIKE = """
from cardai.guests.web import commitment

commitment.new_secret = lambda: bytes(commitment.SECRET_BYTES)
"""


class Process:
    """A server in a process of its own, at which one address may set up any number of tables; `with` ends it.

    `served`: games and options of `cardai serve`, Tic-Tac-Toe if there are none. `messages`: how many a tab may send
    in ten seconds. `dealt_alike`: every table of a game is dealt the same cards, if people take the same part in it.
    """

    def __init__(
        self, data: Path, *served: str, messages: int = 10**6, port: int = 0, dealt_alike: bool = False
    ) -> None:
        options = served or ("tictactoe",)
        program = (DEALT_ALIKE if dealt_alike else "") + PROGRAM.format(messages)
        command = [sys.executable, "-c", program, "serve", *options, "--port", str(port), "--data", str(data)]
        # As most users start it: without PYTHONUNBUFFERED.
        env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        assert self.process.stdout is not None
        found = re.search(r"at (http://\S+)/ ", self.process.stdout.readline())
        assert found, "the server did not start"
        self.home = found[1]

    def ask(self, path: str, message: object = None, cookie: str = "") -> tuple[Any, str]:
        """Ask the server. Returns its answer and the cookies that it sets."""
        headers = {"origin": self.home, "content-type": "application/json", "cookie": cookie}
        body = None if message is None else json.dumps(message).encode()
        with urllib.request.urlopen(urllib.request.Request(self.home + path, body, headers), timeout=30) as answer:
            cookies = "; ".join(text.partition(";")[0] for text in answer.headers.get_all("set-cookie") or ())
            return json.loads(answer.read()), cookies

    def connect(self, table: str, cookie: str):
        """A socket of a tab, for code without asyncio."""
        from websockets.sync.client import connect

        address = f"{self.home.replace('http', 'ws')}/t/{table}/socket"
        return connect(address, origin=Origin(self.home), additional_headers={"cookie": cookie})

    def processor_seconds(self) -> float:
        """The processor time that the server has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End the server as kill -9 does, unless it has ended."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@dataclass
class Guest:
    """A person at a table, who plays any legal moves, after a hint in a share `hints` of their turns.

    `views`: the last view of each ply, if they are kept. `waits`: how long each sent move waited for its view, in
    seconds; `hint_waits`: the same of hints. `acknowledged`: the last own ply that was answered by a later view.
    """

    table: str
    cookie: str
    luck: random.Random
    keeps_views: bool = False
    acknowledged: int = -1
    views: dict[int, dict[str, Any]] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    hints: float = 0.0
    hint_waits: list[float] = field(default_factory=list)

    async def play(self, home: str, think: float, pause: float = 0.0, until: float = math.inf) -> bool:
        """Play to the end, or until the time `until`. Returns whether the game is over; False if the server is gone.

        `think`: the mean time before a move in seconds, which lasts half to one and a half times as long. `pause`: how
        long agents wait.
        """
        address, cookie = f"{home.replace('http', 'ws')}/t/{self.table}/socket", {"cookie": self.cookie}
        try:
            async with connect(address, origin=Origin(home), additional_headers=cookie, proxy=None) as socket:
                await socket.send(json.dumps({"pause": pause}))
                await socket.send(json.dumps({"nonce": NONCE}))
                return await self._answer(socket, think, until)
        except (ConnectionClosed, OSError):
            return False

    async def _answer(self, socket: ClientConnection, think: float, until: float) -> bool:
        sent_ply, sent_at, asked_ply, asked_at = -1, 0.0, -1, 0.0
        view: dict[str, Any] = {}
        async for text in socket:
            came_at = time.perf_counter()
            message = json.loads(text)
            assert not {"closed", "error"} & message.keys(), message
            if "advice" in message and asked_ply >= 0:
                self.hint_waits.append(came_at - asked_at)
            elif "ply" not in message:
                continue  # nothing is dealt yet
            else:
                view = message
            if self.keeps_views:
                self.views[view["ply"]] = view
            if sent_ply >= 0 and view["ply"] > sent_ply:
                self.waits.append(came_at - sent_at)
                self.acknowledged, sent_ply = sent_ply, -1
            if view["over"] or came_at > until:
                return view["over"]
            if view.get("moves") and view["ply"] > self.acknowledged and sent_ply < 0:
                if asked_ply < view["ply"]:
                    await asyncio.sleep(think * self.luck.uniform(0.5, 1.5))
                    if self.luck.random() < self.hints:
                        asked_ply, asked_at = view["ply"], time.perf_counter()
                        await socket.send(json.dumps({"advice": "move", "ply": asked_ply}))
                        continue
                elif "advice" not in message:
                    continue  # the hint has not come
                words, _ = self.luck.choice(view["moves"])
                sent_ply, sent_at = view["ply"], time.perf_counter()
                await socket.send(json.dumps({"ply": sent_ply, "move": words}))
        return False


def sit_down(process: Process, game: str, seats: list[str], seed: int, hints: float = 0.0) -> Guest:
    """A guest at a new table, a study table if they want hints."""
    made, cookie = process.ask("/tables", {"game": game, "seats": seats, "name": "Ann", "study": hints > 0})
    return Guest(made["table"], cookie, random.Random(seed), hints=hints)


def sit_together(process: Process, game: str, seats: list[str], seed: int, hints: float = 0.0) -> list[Guest]:
    """Guests at a new table: whoever set it up, and a friend in each seat for one. Only who plays alone gets hints."""
    guests = [sit_down(process, game, seats, seed, 0.0 if "friend" in seats else hints)]
    at = f"/t/{guests[0].table}"
    for seat in [place for place, who in enumerate(seats) if who == "friend"]:
        link, _ = process.ask(f"{at}/invite", {"seat": seat}, guests[0].cookie)
        _, cookie = process.ask(f"{at}/join", {"invitation": link["invitation"], "name": "Ben"})
        guests.append(Guest(guests[0].table, cookie, random.Random(seed + 1)))
    return guests
