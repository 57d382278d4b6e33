"""Starts the server: all is compiled first, then it listens."""

import asyncio
import socket
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from cardai.errors import CardaiError, whole
from cardai.game import Game
from cardai.guests.web.guards import LARGEST, Hosts
from cardai.guests.web.offers import Offer, offer_of
from cardai.guests.web.protocol import Protocol
from cardai.guests.web.proxy import networks_of, path_of
from cardai.guests.web.server import Server
from cardai.guests.web.store import Store
from cardai.guests.web.study import offers_for
from cardai.measure.coaching.advice import Adviser
from cardai.measure.coaching.standing import standing
from cardai.playing.agents.by_game import named_by_game
from cardai.playing.agents.spec import agent

if TYPE_CHECKING:
    from cardai.guests.web.listening import Listening

_THREADS, _SWITCH = 32, 0.0005  # seconds after which a thread gives way, as answering takes about as long
_WAITING_MESSAGES = 32  # of a socket, before it is read more slowly


def ready(
    games: Sequence[Game],
    opponents: Sequence[str],
    variant: str | None,
    seats: int | None,
    isolate: bool,
    judge: str | None = None,
) -> dict[str, Offer]:
    """What is offered of these games, compiled. `judge`: the spec of who gives hints, None for the usual one.

    Raises CardaiError for specs and options that do not fit all games.
    """
    named = named_by_game(opponents, games)
    offers = {game.name: offer_of(game, named[game.name], variant, seats, isolate) for game in games}
    if len(offers) < len(games):
        raise CardaiError("two of the games to serve have the same name")
    for offer in offers.values():
        offer.warm_up()
        adviser = Adviser(offer.game, judge, offer.seats, offer.variants[0], worlds=1)
        state = offer.game.new(offer.seats, 1, offer.variants[0])
        adviser.explain(state, seed=1)  # compiles what hints need
        standing(offer.game, agent(offer.game, adviser.by), state, max(int(state["turn"]), 0), 1, worlds=1)
    return offers


def ready_for(protocol: Protocol) -> dict[str, Offer]:
    """What a study plays, compiled. Raises CardaiError for agents that do not fit."""
    offers = offers_for(protocol)
    for offer in offers.values():
        offer.warm_up()
    return offers


def run(
    offers: dict[str, Offer], data: Path, listening: "Listening", announce: Callable[[str], None], *,
    judge: str | None = None, new_tables: int | None = None, protocol: Protocol | None = None,
) -> int:  # fmt: skip
    """Serve until Ctrl-C. `announce` is told the address. Returns the exit code. The others are those of `Server`.

    Raises CardaiError if the address is taken, the file of games cannot be used, or a proxy or the path is none.
    """
    proxies, path = networks_of(listening.proxies or ()), path_of(listening.path)
    if new_tables is not None:
        whole("--new-tables", new_tables, 1)
    with closing(_listen(listening.host, listening.port)) as bound, closing(Store(data)) as store:
        place, port = bound.getsockname()[:2]
        shown = f"[{place}]" if ":" in place else "localhost" if place == "0.0.0.0" else place
        hosts = Hosts(listening.host, listening.names or ())
        server = Server(offers, store, hosts, judge, proxies, path, new_tables, protocol)
        home = f"http://{shown}:{port}{path}"
        announce(f"Serving {', '.join(offers)} at {home}/ (games are kept in {data}; Ctrl-C ends)")
        if server.study is not None:
            announce(f"The organiser's page, for nobody else: {home}/organiser#{server.study.key}")
        config = uvicorn.Config(
            server.app, log_level="warning", access_log=False, proxy_headers=False, server_header=False, lifespan="off",
            ws_max_size=LARGEST, ws_max_queue=_WAITING_MESSAGES, timeout_graceful_shutdown=2,
        )  # fmt: skip
        with suppress(KeyboardInterrupt):  # how a server is meant to end
            asyncio.run(_serve(uvicorn.Server(config), bound))
    return 0


async def _serve(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve with enough threads that some may wait for the disk, and that soon give way to each other."""
    sys.setswitchinterval(_SWITCH)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
    await server.serve(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address. Raises CardaiError if there is none to have."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return _bound(family, address)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise CardaiError(f"cannot listen at {host}, port {port}: {why}") from None


def _bound(family: int, address: tuple) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)  # before the address is announced
    except BaseException:
        listening.close()
        raise
    return listening
