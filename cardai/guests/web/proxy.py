"""A server behind a proxy: who is believed about who asks, under which name, and below which path."""

import ipaddress
import re
from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from cardai.errors import CardaiError, short


class Proxied:
    """Believes the proxies at some addresses what they say in X-Forwarded-For, -Proto and -Host, and nobody else.

    `networks`: of `networks_of`. `path`: where the proxy shows the server, "" for the top or like "/cards"; requests
    are answered whether the proxy leaves it in their path or not.
    """

    def __init__(self, app: ASGIApp, networks: Sequence[str], path: str = "") -> None:
        self._networks, self._path = [ipaddress.ip_network(one) for one in networks], path
        self._app, self._believing = app, ProxyHeadersMiddleware(app, list(networks))  # pyright: ignore[reportArgumentType]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on as the browser made it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope = {**scope, "root_path": self._path, "headers": list(scope["headers"])}
        if not self._believes(scope["client"]):
            await self._app(scope, receive, send)
            return
        headers = MutableHeaders(scope=scope)
        if said := headers.get("x-forwarded-host"):
            headers["host"] = said.split(",")[-1].strip()  # the last one is of the proxy that is believed
        await self._believing(scope, receive, send)  # pyright: ignore[reportArgumentType]

    def _believes(self, client: tuple[str, int] | None) -> bool:
        try:
            address = ipaddress.ip_address(client[0] if client else "")
        except ValueError:
            return False
        return any(address in network for network in self._networks)


def networks_of(proxies: Sequence[str]) -> list[str]:
    """The networks of addresses such as 127.0.0.1 and 10.0.0.0/8. Raises CardaiError for anything else."""
    found = []
    for proxy in proxies:
        try:
            found.append(str(ipaddress.ip_network(proxy.strip())))
        except ValueError:
            what = "an address or a network, like 127.0.0.1 or 10.0.0.0/8"
            raise CardaiError(f"--behind-proxy is {what}, not {short(proxy)}") from None
    return found


def path_of(text: str) -> str:
    """A path below which a server is shown, without a slash at its end. Raises CardaiError for what is no path."""
    path = text.rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", path):
        raise CardaiError(f"--path is like /cards, of letters, digits, hyphens, dots and the like, not {short(text)}")
    return path
