"""The routes of a study: a participant comes by their code, agrees, plays on, stops or deletes; the organiser looks on.

The code is the participant's key on every device. Their browser keeps it as the cookie of their seat at all tables.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cardai.errors import BadArgument
from cardai.guests.web.guards import flag_in, is_secret, new_token, text_of
from cardai.guests.web.participants import Participant
from cardai.guests.web.requests import SEAT, Endpoint, body, cookie, set_cookie
from cardai.guests.web.study import ENTER, Study

NOBODY = "type the code that you were given first"


class StudyRoutes:
    """Where a study answers. `key`: what opens the organiser's page, new each time the server is started.

    `page`, `answered`, `drop`: as the server has them.
    """

    def __init__(
        self, study: Study, page: Endpoint, answered: Callable[[Endpoint], Endpoint], drop: Callable[[str], None]
    ) -> None:
        self.study, self.key, self._page, self._answered, self._drop = study, new_token(), page, answered, drop

    def routes(self) -> list[BaseRoute]:
        """The routes of a study, in the place of those by which people set up tables."""
        posts: dict[str, Endpoint] = {
            "enter": self.enter, "state": self.state, "next": self.next, "delete": self.delete,
            "progress": self.progress, "agree": self._doing(self.study.agree),
            "answer": self._doing(self.study.answer), "stop": self._doing(self.study.stop),
        }  # fmt: skip
        return [
            Route("/", self.home),
            Route("/study", self._page),
            Route("/organiser", self._page),
            *(Route(f"/study/{name}", self._answered(answer), methods=["POST"]) for name, answer in posts.items()),
        ]

    async def home(self, request: Request) -> Response:
        """The page of the study is the front page."""
        return RedirectResponse(f"{request.scope['root_path']}/study")

    async def enter(self, request: Request) -> Response:
        """Come with a code."""
        code = text_of(await body(request), "code", 40).strip().lower()
        person = await asyncio.to_thread(self.study.enter, code)
        response = await self._state(person)
        set_cookie(response, request, SEAT, code, "/")
        return response

    async def state(self, request: Request) -> Response:
        """Say where a participant is."""
        code = cookie(request, SEAT)
        person = await asyncio.to_thread(self.study.people.of_code, code) if code else None
        return JSONResponse({"place": ENTER}) if person is None else await self._state(person)

    async def next(self, request: Request) -> Response:
        """Go to the game that is running, or to the next one."""
        person, code = await self._here(request)
        table = await asyncio.to_thread(self.study.next, person.number, code)
        return JSONResponse({"table": table})

    async def delete(self, request: Request) -> Response:
        """Delete all that there is of a participant."""
        if not flag_in(await body(request), "delete"):
            raise BadArgument("nothing was deleted: say delete")
        person, _ = await self._here(request)
        for table in person.tables:
            self._drop(table)
        for table in await asyncio.to_thread(self.study.delete, person):
            self._drop(table)
        response = JSONResponse({"place": ENTER, "deleted": True})
        set_cookie(response, request, SEAT, "", "/")
        return response

    async def progress(self, request: Request) -> Response:
        """Say how far everybody is, to whoever has the key."""
        if not is_secret(text_of(await body(request), "key"), self.key):
            raise BadArgument("this link is not that of the organiser; cardai study serve prints it when it starts")
        return JSONResponse(await asyncio.to_thread(self.study.progress))

    def _doing(self, act: Callable[[Participant, dict[str, Any]], None]) -> Endpoint:
        """An endpoint by which a participant does something. It answers where they are then."""

        async def endpoint(request: Request) -> Response:
            message, (person, _) = await body(request), await self._here(request)
            await asyncio.to_thread(act, person, message)
            return await self._state(await asyncio.to_thread(self.study.people.of_number, person.number))

        return endpoint

    async def _state(self, person: Participant) -> Response:
        return JSONResponse(await asyncio.to_thread(self.study.state, person))

    async def _here(self, request: Request) -> tuple[Participant, str]:
        """The participant who asks, and their code."""
        code = cookie(request, SEAT)
        person = await asyncio.to_thread(self.study.people.of_code, code) if code else None
        if person is None or not code:
            raise BadArgument(NOBODY)
        await asyncio.to_thread(self.study.people.note, person.number, "seen")
        return person, code
