"""What a request brings: a message, the address it comes from, cookies; and how a browser keeps a cookie."""

import asyncio
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from cardai.errors import BadArgument
from cardai.guests.web.guards import LARGEST, is_token, neighbourhood, new_token, read_message

SEAT, PERSON = "seat", "person"  # cookies
BODY_SECONDS = 10.0  # after which a request has come whole
A_YEAR = 365 * 24 * 3600
Endpoint = Callable[[Request], Awaitable[Response]]


async def body(request: Request) -> dict[str, Any]:
    """The JSON object of a request. Raises BadArgument for anything else, before much of it is read."""
    content = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                content += chunk
                if len(content) > LARGEST:
                    break
    except TimeoutError:
        raise BadArgument(f"the message did not come within {BODY_SECONDS:g} seconds") from None
    return read_message(content)


def address_of(connection: HTTPConnection) -> str:
    """What a limit of requests is kept by."""
    return neighbourhood(connection.client.host if connection.client else "")


def person_of(request: Request) -> str:
    """The token of the person who asks, a new one if they bring none.

    Cookies do not tell ports apart: the token may be that of another server on this machine. It stays as it is, so that
    the person is not lost there.
    """
    token = cookie(request, PERSON) or ""
    return token if is_token(token) else new_token()


def cookie(connection: HTTPConnection, name: str) -> str | None:
    """The first cookie with a name: a browser sends the one with the longest path first."""
    for part in connection.headers.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            try:
                morsel = SimpleCookie(f"{name}={value}").get(name)
            except CookieError:
                return None
            return morsel.value if morsel else None
    return None


def set_cookie(response: Response, request: Request, name: str, token: str, path: str) -> None:
    secure = request.url.scheme == "https" or (request.headers.get("origin") or "").startswith("https:")
    path = request.scope["root_path"] + path
    response.set_cookie(name, token, max_age=A_YEAR, path=path, secure=secure, httponly=True, samesite="strict")
