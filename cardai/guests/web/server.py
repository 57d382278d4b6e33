"""Routes and sockets. A browser sends its move and the ply it is for; the answer is always the whole view.

Every tab has a socket of its own. All tabs of a seat show the same, and a tab that comes back is sent the view again.
"""

import asyncio
import gzip
import hashlib
import json
import math
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from cardai.errors import BadArgument, CardaiError, place_of
from cardai.guests.web.commitment import NONCE_BYTES, fingerprint
from cardai.guests.web.export import record_of
from cardai.guests.web.guards import (
    HEADERS,
    Hosts,
    Rate,
    digest,
    flag_in,
    is_secret,
    number_in,
    read_hex,
    read_message,
    text_of,
    texts_of,
)
from cardai.guests.web.offers import Offer
from cardai.guests.web.protocol import Protocol
from cardai.guests.web.proxy import Proxied
from cardai.guests.web.requests import PERSON, SEAT, Endpoint, address_of, body, cookie, person_of, set_cookie
from cardai.guests.web.review import Reviews, key_of
from cardai.guests.web.room import Full, Presence, Right, Room, presence_at
from cardai.guests.web.store import Store
from cardai.guests.web.study import Study
from cardai.guests.web.study_routes import StudyRoutes
from cardai.guests.web.tables import WebTable
from cardai.guests.web.tutor import Tutor
from cardai.registry import rules_of, words_of

Thought = TypeVar("Thought")
STATIC = Path(__file__).parent / "static"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
MESSAGES, IN_SECONDS = 20, 10.0  # of one socket
NEW_TABLES, REQUESTS, PER_MINUTE = 10, 600, 60.0  # of one address; a club may share it
AT_ONCE = 0.02  # seconds of agents' moves that are shown together if nobody wants a pause between them
MOST_SOCKETS = 64  # at one table
TOO_OFTEN = "too many requests from this address; wait a minute"
DELETED = "this game was deleted"
ONLY_WATCHES = "you only watch"
NO_SEAT = "you have no seat at this table; whoever plays here can send you a link to one"
MOST_WAITING = 8  # answers that are waited for, of which one at a time is made
MOST_ASKED = 3  # hints that a tab waits for: how each seat stands, a hint, and one that was asked for before
TOO_MANY, NO_PLACE, BROKEN = 4008, 4003, 4011  # why a socket is closed


class Guard:
    """Lets in what comes from the server's own pages under its own name, and adds the headers that protect them."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = HTTPConnection(scope).headers
        host, origin = headers.get("host"), headers.get("origin")
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        foreign = origin is not None or changes
        if self._hosts.allows(host) and (not foreign or self._hosts.allows_origin(origin, host)):
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            why = self._hosts.why_not(host, origin)
            await JSONResponse({"error": why}, 403)(scope, receive, _with_headers(send))


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending


class Listener:
    """One tab. Views are sent as fast as it takes them: of several that wait only the last one is sent."""

    def __init__(self, place: Right) -> None:
        self.place, self.error, self._news, self._wants_view = place, "", asyncio.Event(), True
        self._is_dropped = self.is_gone = False
        self.asks_about: object = None  # the ply that it asked about last
        self._answers: list[dict[str, Any]] = []
        self._asked: set[asyncio.Task[None]] = set()
        here = () if place.watches else (place.seat,)
        self._present = Presence(here, int(place.watches), ())  # what the tab knows: that it is here itself
        self._news.set()

    def answer(self, answer: dict[str, Any]) -> None:
        """Let this tab alone have an answer, before the next view."""
        self._answers.append(answer)
        self._news.set()

    def wait_for(self, making: Coroutine[Any, Any, dict[str, Any] | None]) -> None:
        """Let this tab have an answer, if there is one, when it is made; what it sends meanwhile is done meanwhile."""
        task = asyncio.create_task(self._wait_for(making))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)

    async def _wait_for(self, making: Coroutine[Any, Any, dict[str, Any] | None]) -> None:
        try:
            if (answer := await making) is not None:
                self.answer(answer)
        except CardaiError as refused:
            self.notify(str(refused))
        except Exception as failure:  # as in `send_views`
            _report(failure)
            self.notify("internal error")

    @property
    def asked(self) -> int:
        """How many answers the tab waits for."""
        return len(self._asked)

    def notify(self, error: str = "") -> None:
        """Let the tab have the view, and a sentence about what it sent."""
        self.error, self._wants_view = error or self.error, True
        self._news.set()

    def drop(self) -> None:
        """Close the tab's socket: its table is there no more."""
        self._is_dropped = True
        self._news.set()

    def look_round(self) -> None:
        """Let the tab know who is at the table, if that is news."""
        self._news.set()

    async def send_views(self, socket: WebSocket, table: WebTable, presence: Callable[[], Presence]) -> None:
        """Send the view, and who is there, whenever there is a new one.

        A game that fails to give a view closes the tab's socket.
        """
        while True:
            await self._news.wait()
            self._news.clear()
            if self._is_dropped:
                await _close(socket, NO_PLACE, DELETED)
                return
            while self._answers:
                await socket.send_text(json.dumps(self._answers.pop(0), separators=(",", ":")))
            if self._wants_view and not await self._send_view(socket, table):
                return
            if (now := presence()) != self._present:
                self._present = now
                await socket.send_text(json.dumps({"company": now.as_json()}, separators=(",", ":")))

    async def _send_view(self, socket: WebSocket, table: WebTable) -> bool:
        self._wants_view = False
        seat, watches = self.place.seat, self.place.watches
        try:
            text = table.ready_text(seat, watches) or await asyncio.to_thread(table.text, seat, watches)
        except Exception as failure:  # a game may raise anything, and what it says may be hidden
            _report(failure)
            await _close(socket, BROKEN, "internal error")
            return False
        error, self.error = self.error, ""
        await socket.send_text(f'{text[:-1]},"error":{json.dumps(error)}}}' if error else text)
        return True


class Server:
    """The application: `app` answers requests with the tables of a room.

    `judge`: see `Tutor`. `proxies`, `path`: see `Proxied`. `new_tables`: how many an address may set up in a minute.
    `protocol`: of the study that is run here; then nobody sets up tables, and nobody is told which agents play.
    """

    def __init__(
        self, offers: dict[str, Offer], store: Store, hosts: Hosts, judge: str | None = None,
        proxies: Sequence[str] = (), path: str = "", new_tables: int | None = None, protocol: Protocol | None = None,
    ) -> None:  # fmt: skip
        self.room = Room(offers, store, protocol and protocol.aids, protocol and protocol.time)
        self._new_tables, self._requests = Rate(new_tables or NEW_TABLES, PER_MINUTE), Rate(REQUESTS, PER_MINUTE)
        self._files = _Files(path)
        self.tutor, self.reviews, self._thinking, self._waiting = Tutor(judge), Reviews(), asyncio.Lock(), 0
        self._listeners: dict[str, set[Listener]] = {}
        self._drivers: dict[str, asyncio.Task[None]] = {}
        self._clocks: dict[str, asyncio.TimerHandle] = {}  # by table: when the next person is late
        self._taking_over: set[asyncio.Task[None]] = set()
        self.study = protocol and StudyRoutes(Study(protocol, self.room), self.page, self.answered, self.drop)
        routes = [*self._tables(), *(self._free() if self.study is None else self.study.routes())]
        if protocol is None or protocol.aids.review:
            routes.append(Route("/t/{table}/review", self.answered(self.review), methods=["POST"]))
        self.app = Proxied(Guard(Starlette(routes=routes), hosts), proxies, path)

    def _tables(self) -> list[BaseRoute]:
        """The routes of whoever has a table."""
        return [
            Route("/t/{table}", self.page),
            Route("/r/{table}", self.page),
            Route("/static/{name}", self.static),
            Route("/rules/{game}", self.answered(self.rules)),
            Route("/words/{game}/{language}", self.answered(self.words)),
            Route("/t/{table}/arrive", self.answered(self.arrive), methods=["POST"]),
            Route("/t/{table}/company", self.answered(self.company)),
            WebSocketRoute("/t/{table}/socket", self.socket),
        ]

    def _free(self) -> list[BaseRoute]:
        """The routes by which people set up tables, choose who plays, and take games away."""
        acts = {"invite": self.room.invite, "fill": self.room.fill, "leave": self.room.leave, "back": self.room.back}
        return [
            Route("/", self.page),
            Route("/games", self.answered(self.games)),
            Route("/tables", self.answered(self.create), methods=["POST"]),
            Route("/challenge", self.answered(self.accept), methods=["POST"]),
            Route("/t/{table}/branch", self.answered(self.branch), methods=["POST"]),
            Route("/t/{table}/rematch", self.answered(self.rematch), methods=["POST"]),
            Route("/t/{table}/join", self.answered(self.join), methods=["POST"]),
            Route("/t/{table}/record", self.answered(self.record)),
            *(Route(f"/t/{{table}}/{name}", self._acting(act), methods=["POST"]) for name, act in acts.items()),
        ]

    # Pages.

    async def page(self, request: Request) -> Response:
        """The page, which is the same for all tables."""
        return self._files.answer("page.html", request)

    async def static(self, request: Request) -> Response:
        """A module or the style sheet."""
        name = request.path_params["name"]
        file = sent_files().get(name)
        if file is None or file.suffix == ".html":
            return JSONResponse({"error": "no such file"}, 404)
        return self._files.answer(name, request)

    def answered(self, answer: Endpoint) -> Endpoint:
        """An endpoint that says what is wrong in a sentence, and nothing about the inside."""

        async def endpoint(request: Request) -> Response:
            try:
                if self._requests.allows(address_of(request)):
                    response = await answer(request)
                else:
                    response = JSONResponse({"error": TOO_OFTEN}, 429)
            except Full as error:
                response = JSONResponse({"error": str(error)}, 503)
            except CardaiError as error:
                response = JSONResponse({"error": str(error)}, 400)
            except ClientDisconnect:
                response = Response()  # which nobody reads
            except Exception as error:  # what went wrong inside is nobody's business outside
                _report(error)
                response = JSONResponse({"error": "internal error"}, 500)
            response.headers["cache-control"] = "no-store"
            return response

        return endpoint

    # Setting up.

    async def games(self, request: Request) -> Response:
        """What can be played."""
        return JSONResponse([offer.as_json() for offer in self.room.offers.values()])

    async def rules(self, request: Request) -> Response:
        """The rules of a game, as Markdown."""
        return JSONResponse({"text": await asyncio.to_thread(rules_of, self.room.offer(request.path_params).game)})

    async def words(self, request: Request) -> Response:
        """What a game's words mean, and how they are said in another language if the game brings that."""
        offer = self.room.offer(request.path_params)
        said = await asyncio.to_thread(words_of, offer.game, request.path_params["language"])
        return JSONResponse(
            said or {"terms": {term: ["", sentence] for term, sentence in offer.game.text.terms.items()}}
        )

    async def create(self, request: Request) -> Response:
        """Set up a table."""
        return await self._set_up(request, self.room.create)

    async def accept(self, request: Request) -> Response:
        """Sit down at a table of one's own in a challenge."""
        return await self._set_up(request, self.room.accept)

    async def branch(self, request: Request) -> Response:
        """Go on with a finished game from the middle, at a new table."""
        table, place = await self._here(request, plays=True)
        return await self._set_up(request, lambda message, _: self.room.branch(table, place.seat, message))

    async def rematch(self, request: Request) -> Response:
        """Sit down at the next table of the people of a finished game."""
        table, place = await self._here(request, plays=True)
        response = await self._set_up(request, lambda _, __: self.room.rematch(table, place.seat))
        self._tell(table)
        return response

    async def _set_up(
        self, request: Request, make: Callable[[dict[str, Any], bytes], tuple[str, str | None]]
    ) -> Response:
        """Answer with a new table, which `make` makes of the message and the person: its id and the seat's token."""
        wishes = await body(request)
        if not self._new_tables.allows(address_of(request)):
            return JSONResponse({"error": "too many new tables; wait a minute"}, 429)
        token = person_of(request)
        table_id, seat_token = await asyncio.to_thread(make, wishes, digest(token))
        self._drive(await self._table(table_id))
        return _seated(request, {"table": table_id}, table_id, seat_token, token)

    async def arrive(self, request: Request) -> Response:
        """Say what the link is for that somebody has opened, and whether they have a place here already."""
        message, (table, place) = await body(request), await self._found(request)
        answer = await asyncio.to_thread(self.room.arrive, table, message, place)
        if answer["link"]:
            known = {"title": table.offer.game.title, "commitment": fingerprint(table.row.secret)}
            answer["company"] = known | self._as_known(table)
        return JSONResponse(answer)

    async def join(self, request: Request) -> Response:
        """Take the seat that an invitation is for. Whoever has a seat at this table keeps that one."""
        message, (table, place) = await body(request), await self._found(request)
        token = person_of(request)
        seat_token = await asyncio.to_thread(self.room.join, table, message, digest(token), place)
        self._tell(table)
        self._drive(table)
        return _seated(request, {}, table.row.id, seat_token, token)

    def _acting(self, act: Callable[[WebTable, int, dict[str, Any]], object]) -> Endpoint:
        """An endpoint by which somebody acts from their seat. All tabs are told of it, unless it has an answer."""

        async def endpoint(request: Request) -> Response:
            message, (table, place) = await body(request), await self._here(request, plays=True)
            answer = await asyncio.to_thread(act, table, place.seat, message)
            if answer is None:
                self._tell(table)
                self._drive(table)
            return JSONResponse(answer or {})

        return self.answered(endpoint)

    async def record(self, request: Request) -> Response:
        """The finished game as a record file."""
        table, _ = await self._here(request)
        content = await asyncio.to_thread(record_of, table)
        name = f"{table.row.game}-{table.row.id[:8]}.jsonl"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/x-ndjson", headers=headers)

    async def company(self, request: Request) -> Response:
        """Who is at a table and who is waited for, for whoever has a place there."""
        table, place = await self._here(request)
        return JSONResponse({"over": table.is_over, "seat": place.seat} | self._as_known(table))

    async def review(self, request: Request) -> Response:
        """A finished game, looked at again: what it was, its positions, or what its moves cost."""
        message, (table, place) = await body(request), await self._found(request)
        if place is None and not is_secret(text_of(message, "key"), key_of(table.row)):
            raise BadArgument(NO_SEAT)
        if flag_in(message, "analysis"):
            review = await asyncio.to_thread(self.reviews.of, table)
            seat = review.seat_in(message) or 0
            return JSONResponse(await self._think(lambda: asyncio.to_thread(review.analysis, seat)))
        own = None if place is None or place.watches else place.seat
        return JSONResponse(await asyncio.to_thread(self.reviews.answer, table, message, own))

    def drop(self, table_id: str) -> None:
        """Let nobody look at a table any more, and forget all that is known of it."""
        if (driver := self._drivers.get(table_id)) is not None:
            driver.cancel()
        self.room.forget(table_id)
        self.reviews.forget(table_id)
        for listener in self._listeners.get(table_id, ()):
            listener.drop()

    async def _table(self, table_id: str) -> WebTable:
        table = await asyncio.to_thread(self.room.table, table_id)
        if table is None:
            raise BadArgument("there is no such table")
        return table

    async def _here(self, request: Request, plays: bool = False) -> tuple[WebTable, Right]:
        """The table of a request and the place of whoever asks. Raises BadArgument if they have none.

        `plays`: it must be a place to play in.
        """
        table, place = await self._found(request)
        if place is None:
            raise BadArgument(NO_SEAT)
        if plays and place.watches:
            raise BadArgument(ONLY_WATCHES)
        return table, place

    async def _found(self, request: Request) -> tuple[WebTable, Right | None]:
        """The table of a request, and the place of whoever asks, None if they have none."""
        table = await self._table(request.path_params["table"])
        return table, await asyncio.to_thread(self.room.place, table, cookie(request, SEAT))

    # Sockets.

    async def socket(self, socket: WebSocket) -> None:
        """One tab at a table."""
        table_id = socket.path_params["table"]
        await socket.accept()
        if not self._requests.allows(address_of(socket)):
            await _close(socket, TOO_MANY, TOO_OFTEN)
            return
        try:
            table = await self._table(table_id)
            place = await asyncio.to_thread(self.room.place, table, cookie(socket, SEAT))
        except CardaiError as error:
            await _close(socket, BROKEN, str(error))
            return
        if place is None:
            await _close(socket, NO_PLACE, NO_SEAT)
        elif self.room.look(table_id, 1) > MOST_SOCKETS:
            self.room.look(table_id, -1)
            await _close(socket, TOO_MANY, "too many tabs show this table")
        else:
            await self._serve(socket, table, Listener(place))

    async def _serve(self, socket: WebSocket, table: WebTable, listener: Listener) -> None:
        """Send views and take moves until the tab is closed."""
        is_first = table.row.id not in self._listeners
        self._listeners.setdefault(table.row.id, set()).add(listener)
        sender = asyncio.create_task(listener.send_views(socket, table, lambda: self._presence(table)))
        self._look_round(table)
        try:
            if is_first:
                await asyncio.to_thread(table.wait_anew)
            self._drive(table)
            await self._listen(socket, table, listener)
        except (WebSocketDisconnect, RuntimeError):  # RuntimeError: the tab has gone while it was answered
            pass
        finally:
            sender.cancel()
            listener.is_gone = True
            self._listeners[table.row.id].discard(listener)
            if not self.room.look(table.row.id, -1):
                self._listeners.pop(table.row.id, None)
            self._look_round(table)
            await asyncio.gather(sender, return_exceptions=True)

    async def _listen(self, socket: WebSocket, table: WebTable, listener: Listener) -> None:
        rate = Rate(MESSAGES, IN_SECONDS)
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not rate.allows():
                await _close(socket, TOO_MANY, f"more than {MESSAGES} messages in {IN_SECONDS:g} seconds")
                return
            error = ""
            try:
                sent = read_message(message.get("text") or message.get("bytes") or "")
                if "advice" in sent:
                    await self._advise(table, listener, sent)
                    continue  # its answer comes later
                error = await asyncio.to_thread(_obey, table, listener.place, sent, self._places(table))
                self._tell(table)
                self._drive(table)
            except CardaiError as refused:
                error = str(refused)
            except Exception as failure:  # as in `answered`
                _report(failure)
                error = "internal error"
            listener.notify(error)

    async def _advise(self, table: WebTable, listener: Listener, sent: dict[str, Any]) -> None:
        """See to it that a tab gets a hint or an explanation."""
        place = listener.place
        if place.watches:
            raise BadArgument(ONLY_WATCHES)
        ply, step = sent.get("ply"), sent["advice"]
        is_busy = listener.asked >= MOST_ASKED or self._waiting >= MOST_WAITING
        if is_busy and step == "standing":
            return  # which nobody has asked for: the page does by itself
        if listener.asked >= MOST_ASKED:
            raise BadArgument("hints are made one after the other; ask again in a moment")
        make = await asyncio.to_thread(self.tutor.ask, table, place.seat, ply, step)
        listener.asks_about = ply

        async def making() -> dict[str, Any] | None:
            is_late = listener.is_gone or (step == "standing" and listener.asks_about != ply)
            return None if is_late else {"advice": await asyncio.to_thread(make)}

        listener.wait_for(self._think(making))

    async def _think(self, making: Callable[[], Awaitable[Thought]]) -> Thought:
        """What takes long is made one at a time on the whole server, so that games go on."""
        if self._waiting >= MOST_WAITING:
            raise BadArgument("others are being advised; ask again in a moment")
        self._waiting += 1
        try:
            async with self._thinking:
                return await making()
        finally:
            self._waiting -= 1

    def _tabs(self, table: WebTable) -> Collection[Listener]:
        """The tabs that show a table."""
        return self._listeners.get(table.row.id, ())

    def _tell(self, table: WebTable) -> None:
        for listener in self._tabs(table):
            listener.notify()

    def _look_round(self, table: WebTable) -> None:
        for listener in self._tabs(table):
            listener.look_round()

    def _presence(self, table: WebTable) -> Presence:
        """Who is at a table. One person alone has no need to know who is waited for."""
        found = presence_at(table, self._places(table))
        return found if table.is_shared or table.limits else replace(found, waits=())

    def _as_known(self, table: WebTable) -> dict[str, Any]:
        """Who is at a table, with the names of people by seat, None for others, for pages that show no table."""
        found = presence_at(table, self._places(table))
        return found.as_json() | {"names": [row.name or None for row in table.row.seats]}

    def _places(self, table: WebTable) -> list[Right]:
        """What the tabs at a table look at."""
        return [listener.place for listener in self._tabs(table)]

    # Agents.

    def _drive(self, table: WebTable) -> None:
        """See to it that agents move when it is their turn, and when somebody is late."""
        running = self._drivers.get(table.row.id)
        if self._agent_moves_next(table) and (running is None or running.done()):
            self._drivers[table.row.id] = asyncio.create_task(self._play_agents(table))
        self._set_clock(table)

    def _agent_moves_next(self, table: WebTable) -> bool:
        """Whether an agent is to move. For people who are gone they move only as long as somebody looks on."""
        return table.agent_moves_next or (table.stand_in_moves_next and bool(self._tabs(table)))

    def _set_clock(self, table: WebTable) -> None:
        if (earlier := self._clocks.pop(table.row.id, None)) is not None:
            earlier.cancel()
        if not self._tabs(table):
            return
        table.start_clocks()
        if (deadline := table.deadline) < math.inf:
            wait = max(0.0, deadline - time.monotonic())
            self._clocks[table.row.id] = asyncio.get_running_loop().call_later(wait, self._ring, table)

    def _ring(self, table: WebTable) -> None:
        task = asyncio.create_task(self._take_over(table))
        self._taking_over.add(task)
        task.add_done_callback(self._taking_over.discard)

    async def _take_over(self, table: WebTable) -> None:
        """Let an agent play for whoever is late, if anybody is there to play on with."""
        try:
            if self._tabs(table):
                await asyncio.to_thread(table.take_over)
        except Exception as error:  # the table stays as it is
            _report(error)
            return
        self._tell(table)
        self._drive(table)

    async def _play_agents(self, table: WebTable) -> None:
        try:
            while self._agent_moves_next(table):
                if table.row.pause:
                    await asyncio.sleep(await asyncio.to_thread(table.pause))
                await asyncio.to_thread(_step, table, self._places(table))
                self._tell(table)
        except Exception as error:  # the table stays as it is, the server goes on
            _report(error)
            table.trouble = "internal error"
            self._tell(table)
        finally:
            self._drivers.pop(table.row.id, None)
            self._set_clock(table)


def _obey(table: WebTable, place: Right, sent: dict[str, Any], places: Sequence[Right]) -> str:
    """Do what a tab asks for, and make the views that follow. Returns a sentence if it cannot be done."""
    try:
        return _done(table, place, sent)
    finally:
        _make_views(table, places)


def _step(table: WebTable, places: Sequence[Right]) -> None:
    """Let an agent move, and make the views that follow. Quick agents that do not wait move one after the other."""
    until = time.monotonic() + AT_ONCE
    while table.step() and not table.row.pause and time.monotonic() < until:
        pass
    _make_views(table, places)


def _make_views(table: WebTable, places: Sequence[Right]) -> None:
    """Make views in a thread that runs already: going to another one takes longer than a view."""
    with suppress(Exception):  # whoever sends the view meets the failure again, and reports it
        for place in dict.fromkeys(places):
            table.text(place.seat, place.watches)


def _done(table: WebTable, place: Right, sent: dict[str, Any]) -> str:
    if place.watches:
        return ONLY_WATCHES if sent else ""
    if "move" in sent:
        return table.play(place.seat, number_in(sent, "ply"), texts_of(sent, "move"))
    if "undo" in sent:
        table.undo(place.seat, number_in(sent, "undo"))
    if flag_in(sent, "end"):
        table.end_challenge()
    if "nonce" in sent:
        table.add_nonce(place.seat, read_hex(sent["nonce"], NONCE_BYTES))
    if "pause" in sent:
        table.set_pause(sent["pause"])
    return ""


def _seated(request: Request, answer: object, table_id: str, seat: str | None, person: str) -> Response:
    """An answer with which a browser keeps a seat at a table, if it is a new one, and who its person is."""
    response = JSONResponse(answer)
    if seat is not None:
        set_cookie(response, request, SEAT, seat, f"/t/{table_id}")
    set_cookie(response, request, PERSON, person, "/")
    return response


async def _close(socket: WebSocket, code: int, why: str) -> None:
    await socket.send_text(json.dumps({"closed": why}))
    await socket.close(code)


def sent_files() -> dict[str, Path]:
    """The files that browsers are sent, by name."""
    return {file.name: file for file in STATIC.iterdir() if file.suffix in KINDS}


class _Files:
    """The files of the page as sent: each compressed once, with a tag by which a browser asks if it is new."""

    def __init__(self, path: str) -> None:
        self._path = path  # before the addresses in the page
        self._known: dict[str, tuple[int, str, bytes, bytes]] = {}  # by name: when changed, tag, content, compressed

    def answer(self, name: str, request: Request) -> Response:
        """The answer to a request for a file, 304 if the browser has it as it is."""
        path = sent_files()[name]
        _, tag, content, compressed = self._read(path)
        headers = {"cache-control": "no-cache", "etag": tag, "vary": "accept-encoding"}
        if tag in [known.strip() for known in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        headers["content-type"] = f"{KINDS[path.suffix]}; charset=utf-8"
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(compressed, headers=headers | {"content-encoding": "gzip"})
        return Response(content, headers=headers)

    def _read(self, path: Path) -> tuple[int, str, bytes, bytes]:
        changed, known = path.stat().st_mtime_ns, self._known.get(path.name)
        if known is None or known[0] != changed:
            content = path.read_bytes()
            if path.suffix == ".html":
                content = content.replace(b'="/', f'="{self._path}/'.encode())
            tag = f'W/"{hashlib.sha256(content).hexdigest()[:16]}"'  # weak: the same file, compressed or not
            known = self._known[path.name] = changed, tag, content, gzip.compress(content, mtime=0)
        return known


def _report(error: Exception) -> None:
    """Say on stderr that something failed, without what it was about: that might be a seed or a hand."""
    print(f"cardai serve: {type(error).__name__}{place_of(error, ours=True)}", file=sys.stderr)
