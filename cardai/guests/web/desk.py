"""The routes of a study: a participant comes by their code, agrees, plays on, stops or deletes; the organiser looks on.

The code is the participant's key on every device. Their browser keeps it as the cookie of their seat at all tables.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cardai.errors import BadArgument
from cardai.guests.web.guards import flag_in, is_secret, new_token, text_of
from cardai.guests.web.participants import Participant
from cardai.guests.web.study import ENTER, Study

NOBODY = "type the code that you were given first"


Endpoint = Callable[[Request], Awaitable[Response]]


class Host(Protocol):
    """What a study needs of the server: its messages, the token of a seat, answers, and tables that may go."""

    async def page(self, request: Request) -> Response: ...
    def answered(self, answer: Endpoint) -> Endpoint: ...
    async def body(self, request: Request) -> dict[str, Any]: ...
    def seat_in(self, request: Request) -> str | None: ...
    def keep_seat(self, response: Response, request: Request, token: str) -> None: ...
    def drop(self, table_id: str) -> None: ...


class Desk:
    """Where a study answers. `key`: what opens the organiser's page, new each time the server is started."""

    def __init__(self, server: Host, study: Study) -> None:
        self._server, self.study, self.key = server, study, new_token()

    def routes(self) -> list[BaseRoute]:
        """The routes of a study, in the place of those by which people set up tables."""
        posts: dict[str, Endpoint] = {
            "enter": self.enter, "state": self.state, "agree": self.agree, "next": self.next, "answer": self.answer,
            "stop": self.stop, "delete": self.delete, "progress": self.progress,
        }  # fmt: skip
        answered = self._server.answered
        return [
            Route("/", self.home),
            Route("/study", self._server.page),
            Route("/organiser", self._server.page),
            *(Route(f"/study/{name}", answered(answer), methods=["POST"]) for name, answer in posts.items()),
        ]

    async def home(self, request: Request) -> Response:
        """The page of the study is the front page."""
        return RedirectResponse(f"{request.scope['root_path']}/study")

    async def enter(self, request: Request) -> Response:
        """Come with a code."""
        code = text_of(await self._server.body(request), "code", 40).strip().lower()
        person = await asyncio.to_thread(self.study.enter, code)
        response = await self._state(person)
        self._server.keep_seat(response, request, code)
        return response

    async def state(self, request: Request) -> Response:
        """Say where a participant is."""
        code = self._server.seat_in(request)
        person = await asyncio.to_thread(self.study.people.of_code, code) if code else None
        return JSONResponse({"place": ENTER}) if person is None else await self._state(person)

    async def agree(self, request: Request) -> Response:
        """Agree, and answer the questions before."""
        return await self._do(request, self.study.agree)

    async def answer(self, request: Request) -> Response:
        """Answer the questions after."""
        return await self._do(request, self.study.answer)

    async def stop(self, request: Request) -> Response:
        """Play no further game."""
        return await self._do(request, lambda person, _: self.study.stop(person))

    async def next(self, request: Request) -> Response:
        """Go to the game that is running, or to the next one."""
        person, code = await self._here(request)
        table = await asyncio.to_thread(self.study.next, person.number, code)
        return JSONResponse({"table": table})

    async def delete(self, request: Request) -> Response:
        """Delete all that there is of a participant."""
        if not flag_in(await self._server.body(request), "delete"):
            raise BadArgument("nothing was deleted: say delete")
        person, _ = await self._here(request)
        for table in person.tables:
            self._server.drop(table)
        for table in await asyncio.to_thread(self.study.delete, person):
            self._server.drop(table)
        response = JSONResponse({"place": ENTER, "deleted": True})
        self._server.keep_seat(response, request, "")
        return response

    async def progress(self, request: Request) -> Response:
        """Say how far everybody is, to whoever has the key."""
        if not is_secret(text_of(await self._server.body(request), "key"), self.key):
            raise BadArgument("this link is not that of the organiser; cardai study serve prints it when it starts")
        return JSONResponse(await asyncio.to_thread(self.study.progress))

    async def _do(self, request: Request, act: Callable[[Participant, dict[str, Any]], None]) -> Response:
        message = await self._server.body(request)
        person, _ = await self._here(request)
        await asyncio.to_thread(act, person, message)
        return await self._state(await asyncio.to_thread(self.study.people.of_number, person.number))

    async def _state(self, person: Participant) -> Response:
        return JSONResponse(await asyncio.to_thread(self.study.state, person))

    async def _here(self, request: Request) -> tuple[Participant, str]:
        """The participant who asks, and their code."""
        code = self._server.seat_in(request)
        person = await asyncio.to_thread(self.study.people.of_code, code) if code else None
        if person is None or not code:
            raise BadArgument(NOBODY)
        await asyncio.to_thread(self.study.people.note, person.number, "seen")
        return person, code
