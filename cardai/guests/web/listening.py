"""Where a server of pages listens, and how it is found."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True)
class Listening:
    """Options of a verb that serves pages."""

    host: Annotated[str, Parameter(help="The address to listen at; 0.0.0.0 lets other machines in.")] = "127.0.0.1"
    port: Annotated[int, Parameter(help="The port to listen at; 0 for any free one.")] = 8000
    names: Annotated[
        list[str] | None,
        Parameter("--name", negative="", help="A host name under which browsers find this server; may be repeated."),
    ] = None
    proxies: Annotated[
        list[str] | None,
        Parameter("--behind-proxy", negative="", help="A proxy's address, believed about who asks; may be repeated."),
    ] = None
    path: Annotated[str, Parameter(help="Where the proxy shows this server, like /cards.")] = ""


LOCALLY = Listening()
