"""A rehearsal of a study: agents of mixed strength act as its participants, in a Chromium and by the page's messages.

    python tests/guests/web/study_rehearsal.py experiments/studies/moska-thesis.toml --games 260 --page 14

Everything goes through the server as for people. An agent decides in a world of its seat, and its move is clicked, or
sent as the page sends it. Games that are not played in the browser are played over the same sockets, without the page.
"""

import argparse
import asyncio
import json
import tempfile
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from web_clients import NONCE
from web_pages import CHROMIUM, LARGE, Screen, chromium
from web_study import Served
from websockets.sync.client import connect

from cardai.guests.web import server as web_server
from cardai.guests.web.guards import digest
from cardai.guests.web.protocol import BEFORE, Protocol, Stop, read_protocol
from cardai.guests.web.serving import _listen
from cardai.guests.web.study_report import measure_study
from cardai.guests.web.tables import WebTable
from cardai.playing.agents.spec import Agent, agent
from cardai.playing.table.asking import moves_in

PERSONS = ("greedy:best", "greedy:expert", "sampled:nn2", "sampled:nn2", "bot3", "bot3", "bot2")
"""Agents that act as seven people at Moska, from the strongest to the weakest."""
READY = """(ply) => document.querySelector(".result h2")
    || document.querySelector(`.board[data-waits]:not([data-ply="${ply}"])`)"""


class Stage(Served):
    """A server of a study in this process, so that agents may be shown the worlds of people's seats."""

    def __init__(self, data: Path, protocol: Protocol) -> None:
        super().__init__(data, protocol, 0)
        self.listening = _listen("127.0.0.1", 0)
        self.home = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        config = uvicorn.Config(self.server.app, log_level="warning", lifespan="off", proxy_headers=False)
        self.web = uvicorn.Server(config)

    def ask(self, name: str, message: object, cookie: str = "") -> dict[str, Any]:
        """Send a message as the page of the study does."""
        headers = {"origin": self.home, "content-type": "application/json", "cookie": cookie}
        asked = urllib.request.Request(f"{self.home}/study/{name}", json.dumps(message).encode(), headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.loads(answer.read())

    def table(self, table: str) -> WebTable:
        """A table of the server."""
        found = self.server.room.table(table)
        assert found is not None
        return found


@contextmanager
def stage(data: Path, protocol: Protocol) -> Iterator[Stage]:
    """A study that is served, without the limits on how much one address may ask."""
    made = Stage(data, protocol)
    made.server._requests = web_server.Rate(10**9, 60.0)
    web_server.MESSAGES, messages = 10**9, web_server.MESSAGES
    thread = threading.Thread(target=lambda: asyncio.run(made.web.serve(sockets=[made.listening])))
    thread.start()
    try:
        yield made
    finally:
        web_server.MESSAGES = messages
        made.web.should_exit = True
        thread.join()
        made.listening.close()
        made.store.close()


@dataclass
class Actor:
    """An agent that acts as a participant. `level`: the place of its answer among the choices of a question."""

    stage: Stage
    code: str
    player: Agent
    level: int

    @property
    def cookie(self) -> str:
        """What the browser of a participant sends."""
        return f"seat={self.code}"

    def answers(self, when: str) -> dict[str, str]:
        """Answers to the questions of the protocol."""
        asked = [one for one in self.stage.protocol.questions if one.when == when]
        return {one.key: one.choices[min(self.level, len(one.choices) - 1)] if one.choices else "fine" for one in asked}

    def words(self, table: str) -> tuple[int, str]:
        """The ply and the words of the move that the agent chooses, in a world of its seat."""
        at = self.stage.table(table)
        with at._lock:
            seat, game = at.seat_of(digest(self.code)), at._game
            assert seat is not None
            assert game is not None
            ply, world = at._ply_of(game, seat), at._deciding(game, seat)
            assert ply is not None
        rules = at.offer.game
        (move,) = moves_in(rules, self.player, np.array([world], rules.state))
        return ply, rules.text.spell(world, move)

    # By messages.

    def come(self) -> None:
        """Come with the code and agree, unless that is done."""
        if self.stage.ask("enter", {"code": self.code})["place"] == "agree":
            self.stage.ask("agree", {"agrees": True, "answers": self.answers(BEFORE)}, self.cookie)

    def play(self, most: int = 10**6) -> None:
        """Play one game, or `most` decisions of it."""
        table = self.stage.ask("next", {}, self.cookie)["table"]
        address = f"{self.stage.home.replace('http', 'ws')}/t/{table}/socket"
        with connect(address, origin=self.stage.home, additional_headers={"cookie": self.cookie}) as socket:
            socket.send(json.dumps({"nonce": NONCE}))
            done, decided = -1, 0
            for text in socket:
                view = json.loads(text)
                assert not {"closed", "error"} & view.keys(), view
                if view.get("over") or decided >= most:
                    return
                if view.get("moves") and view["ply"] > done:
                    done, words = self.words(table)
                    decided += 1
                    socket.send(json.dumps({"ply": done, "move": words}))

    def finish(self) -> None:
        """Stop, and answer the last questions."""
        if self.stage.ask("stop", {}, self.cookie)["place"] == "asked":
            self.stage.ask("answer", {"answers": self.answers("after")}, self.cookie)

    # In the browser.

    def sit_down(self, screen: Screen) -> None:
        """Open the link, agree and answer on the page."""
        page = screen.page
        page.goto(f"{self.stage.home}/study#{self.code}")
        page.wait_for_selector("#agrees, [data-key=next]")
        if page.query_selector("#agrees"):
            for key, answer in self.answers(BEFORE).items():
                page.select_option(f"#question-{key}", answer)
            page.check("#agrees")
            page.click("button[type=submit]")
            page.wait_for_selector("[data-key=next]")

    def play_on_page(self, screen: Screen) -> None:
        """Play one game by clicks, from the page between the games and back to it."""
        page = screen.page
        page.click("[data-key=next]")
        page.wait_for_url("**/t/*")
        table = page.url.rpartition("/")[2]
        ply = "-1"
        while True:
            page.wait_for_function(READY, arg=ply)
            if page.query_selector(".result h2"):
                break
            ply = page.get_attribute(".board", "data-ply") or ""
            self._click(page, table)
        page.click("[data-key=again]")
        page.wait_for_url("**/study")
        page.wait_for_selector("section.study h2")

    def _click(self, page: Any, table: str) -> None:
        """Click the cards of the move, and its button."""
        at = self.stage.table(table)
        seat = at.seat_of(digest(self.code))
        assert seat is not None
        _, words = self.words(table)
        pieces = next((picked for spelled, picked in at.view(seat, False)["moves"] if spelled == words), None)
        if pieces is None:  # one of more moves than are listed
            page.evaluate("document.querySelector('.typed').open = true")
            page.fill("#typed", words)
            page.press("#typed", "Enter")
            return
        for piece in pieces:
            page.dispatch_event(f'[data-key="piece-{piece}"]', "click")
        key = json.dumps(f"move-{words}")
        if not pieces and not page.query_selector(f"[data-key={key}]"):
            page.fill("[data-key=search]", words)
        page.dispatch_event(f"[data-key={key}]", "click")


def rehearse(
    here: Stage, persons: Sequence[str], games: Sequence[int], page: int = 0, codes: Sequence[str] = ()
) -> list[Actor]:
    """Let agents act as participants who play so many games each, `page` of all in a browser. Returns them."""
    game = next(iter(here.protocol.games.values()))
    codes = codes or [code for _, code in here.people.add(len(persons))]
    ranks = {spec: rank for rank, spec in enumerate(dict.fromkeys(reversed(persons)))}
    actors = [
        Actor(here, code, agent(game, spec), round(2 * ranks[spec] / max(1, len(ranks) - 1)))
        for code, spec in zip(codes, persons, strict=True)
    ]
    left = list(games)
    if page:
        with chromium() as browser:
            for number, actor in enumerate(actors):
                screen = Screen(browser, here.home, LARGE, "light", settings='{"tap": false, "forced": false}')
                actor.sit_down(screen)
                for _ in range(min(left[number], page // len(actors) + (number < page % len(actors)))):
                    actor.play_on_page(screen)
                    left[number] -= 1
                screen.close()
    for number, actor in enumerate(actors):
        actor.come()
        for _ in range(left[number]):
            actor.play()
        actor.finish()
    return actors


def shares(games: int, people: int) -> list[int]:
    """So many games for people, as equally as it goes."""
    return [games // people + (number < games % people) for number in range(people)]


def main() -> None:
    """Rehearse a study, and print its report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=260, help="of all together")
    parser.add_argument("--page", type=int, default=14, help="how many of them are played in a Chromium")
    parser.add_argument("--one-plays", type=int, default=0, help="how many of them the first person plays")
    given = parser.parse_args()
    protocol = read_protocol(given.file)
    games = shares(given.games, len(PERSONS))
    if given.one_plays:
        games = [given.one_plays, *shares(given.games - given.one_plays, len(PERSONS) - 1)]
    rehearsed = replace(protocol, pause=0.0, games_each=max(games), stop=Stop(games=given.games))
    page = given.page if CHROMIUM else 0
    with tempfile.TemporaryDirectory() as folder, stage(Path(folder) / "study.sqlite", rehearsed) as here:
        rehearse(here, PERSONS, games, page)
        print(measure_study(rehearsed, here.people))
    print(f"rehearsed by {', '.join(PERSONS)}; {page} of {given.games} games by clicks in a browser, no pause")


if __name__ == "__main__":
    main()
