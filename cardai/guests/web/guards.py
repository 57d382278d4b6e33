"""What is refused before anything else looks at it: pages of other sites, large or frequent messages, bad names."""

import hashlib
import ipaddress
import json
import re
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from cardai.errors import BadArgument, is_printable

LARGEST = 4096  # bytes of a frame or of a request's body
LONGEST_NAME = 24

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Sent with every answer."""


class Hosts:
    """The names under which this server may be asked for. Others are refused, since they may point here (rebinding).

    `bound`: the address it listens at. `names`: further names. A server for a whole network takes any address in
    figures, which no foreign page can be at.
    """

    def __init__(self, bound: str, names: Iterable[str] = ()) -> None:
        self._names = {"localhost", "127.0.0.1", "::1", bound.lower(), *(name.lower() for name in names)}
        self._any_address = bound in ("0.0.0.0", "::")

    def allows(self, host: str | None) -> bool:
        """Whether a Host header names this server."""
        name = _name_of(host or "")
        return name in self._names or (self._any_address and _is_address(name))

    def allows_origin(self, origin: str | None, host: str | None) -> bool:
        """Whether an Origin header names a page of the server that the request goes to."""
        scheme, _, place = (origin or "").partition("://")
        return scheme in ("http", "https") and self.allows(host) and place.lower() == (host or "").lower()

    def why_not(self, host: str | None, origin: str | None) -> str:
        """Why a request is refused, in a sentence for whoever runs the server or a proxy before it."""
        if not self.allows(host):
            return "this server is not asked under this name; cardai serve --name NAME adds one"
        if origin is not None:
            return "this server is not asked by pages of other names; a proxy must pass Host on (docs/hosting.md)"
        return "this server is not asked in this way"


def _name_of(host: str) -> str:
    """The name in a Host header, without its port."""
    match = re.fullmatch(r"\[([0-9a-fA-F:.]+)\](?::\d{1,5})?|([\w.-]+)(?::\d{1,5})?", host)
    return (match[1] or match[2]).lower() if match else ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def neighbourhood(address: str) -> str:
    """What counts as one address: an IPv4 address, or the /64 network of an IPv6 one, since each household has that."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found), 64), strict=False))


class Rate:
    """At most `most` events of each key in `seconds`."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.seconds, self._clock = most, seconds, clock
        self._times: dict[str, deque[float]] = {}
        self._swept = clock()

    def allows(self, key: str = "") -> bool:
        """Count an event. Returns False if it is one too many."""
        now = self._clock()
        if now - self._swept >= self.seconds:
            self._times = {name: times for name, times in self._times.items() if times[-1] > now - self.seconds}
            self._swept = now
        times = self._times.setdefault(key, deque())
        while times and times[0] <= now - self.seconds:
            times.popleft()
        if len(times) >= self.most:
            return False
        times.append(now)
        return True


def read_message(text: str | bytes) -> dict[str, Any]:
    """A message of a browser: one JSON object, whose texts and keys can all be printed, at any depth.

    Raises BadArgument for anything else. No other check of what comes in asks for halves of characters or controls.
    """
    if len(text if isinstance(text, bytes) else text.encode("utf-8", "replace")) > LARGEST:
        raise BadArgument(f"a message may have {LARGEST} bytes")
    try:
        message = json.loads(text, parse_constant=_no_number)
        is_clean = _is_clean(message)
    except (ValueError, RecursionError):
        message, is_clean = None, False
    if not isinstance(message, dict):
        raise BadArgument("a message must be a JSON object")
    if not is_clean:
        raise BadArgument("a text in a message has control characters, or half of a character")
    return message


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _is_clean(value: object) -> bool:
    """Whether all texts of a message can be printed."""
    if isinstance(value, str):
        return is_printable(value)
    if isinstance(value, dict):
        return all(_is_clean(key) and _is_clean(part) for key, part in value.items())
    return not isinstance(value, list) or all(map(_is_clean, value))


def clean_name(name: object) -> str:
    """A person's name as others may see it. Raises BadArgument for one that is empty or too long."""
    text = " ".join(name.split()) if isinstance(name, str) else ""
    if not 1 <= len(text) <= LONGEST_NAME:
        raise BadArgument(f"a name has 1 to {LONGEST_NAME} letters")
    return text


def read_hex(text: object, size: int) -> bytes:
    """So many bytes in hexadecimal digits. Raises BadArgument for anything else."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9a-f]*", text) or len(text) != 2 * size:
        raise BadArgument(f"this must be {2 * size} hexadecimal digits")
    return bytes.fromhex(text)


def is_among(number: object, count: int) -> TypeGuard[int]:
    """Whether something in a message is a whole number from 0 to `count` - 1."""
    return not isinstance(number, bool) and isinstance(number, int) and 0 <= number < count


def flag_in(message: Mapping[str, Any], key: str) -> bool:
    """What a message says of something that is so or not; False if nothing. Raises BadArgument for another answer."""
    flag = message.get(key, False)
    if not isinstance(flag, bool):
        raise BadArgument(f"{key} must be true or false")
    return flag


def number_in(message: Mapping[str, Any], key: str) -> int:
    """A whole number in a message. Raises BadArgument if it is missing or something else."""
    number = message.get(key)
    if isinstance(number, bool) or not isinstance(number, int):
        raise BadArgument(f"{key} must be a number")
    return number


def is_secret(text: str, secret: str) -> bool:
    """Whether a text is a secret; how long that takes tells nothing of it."""
    return secrets.compare_digest(digest(text), digest(secret))


def text_of(message: Mapping[str, Any], key: str, longest: int = 400) -> str:
    """A text in a message. Raises BadArgument if it is missing or too long."""
    text = message.get(key)
    if not isinstance(text, str) or len(text) > longest:
        raise BadArgument(f"{key} must be a text of at most {longest} letters")
    return text


def texts_of(message: Mapping[str, Any], key: str, longest: int = 2000) -> list[str]:
    """A text in a message, or a list of at most 64 of them. Raises BadArgument for anything else."""
    texts = message[key] if isinstance(message[key], list) else [message[key]]
    if len(texts) > 64:
        raise BadArgument(f"{key} must be at most 64 texts")
    return [text_of({key: text}, key, longest) for text in texts]


def new_token() -> str:
    """A token that nobody can guess, for a cookie or a link."""
    return secrets.token_urlsafe(24)


def is_token(text: str) -> bool:
    """Whether a text may be a token of `new_token`, of this server or of another one."""
    return re.fullmatch(r"[\w-]{32}", text, re.ASCII) is not None


def digest(token: str) -> bytes:
    """What is kept of a token: whoever reads the store cannot sit down with it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
