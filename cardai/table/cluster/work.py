"""What a worker does with a task. It takes whole numbers and bytes, returns bytes, and writes nothing but its cache.

An *order* is what the tasks of a run have in common: the game, what the machine must be, the files that specs name, and
a request. A task is an order and a number. The answer is a line of JSON and, if the task was done, bytes after it.
"""

import importlib
import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError, place_of, short
from cardai.files.named import digest_of, use_copies
from cardai.files.writing import write_whole
from cardai.registry import load
from cardai.rule.keeping import cache_root
from cardai.table.cluster.identity import identity, refusal

GREET, WARM = -2, -1
"""Numbers of tasks in which a worker says what it is, and in which it compiles the rules."""
DONE, FAILED, REFUSED = "done", "failed", "refused"
"""What came of a task. A refused one may not be played on this machine, a failed one may be tried again elsewhere."""

Work = Callable[[int], bytes]
"""Does the task of a number. The number `WARM` compiles what the others need."""


@dataclass(frozen=True)
class WorkOrder:
    """What the tasks of a run have in common.

    - `task`: "module:function". function(game, request, data) returns a `Work`; `data` is bytes that go with the order.
    - `game`: what `cardai.registry.load` is given.
    - `identity`: what the machine must be (`cardai.table.cluster.identity`); `mixed`: networks may round differently.
    - `device`, `scorer`: as in `set_device`.
    - `files`: the files that specs name, (name in the spec, digest) each.
    - `request`: whatever the task needs to know, as plain JSON types. `data`: the digest of the data.
    """

    task: str
    game: str
    identity: Mapping[str, str]
    mixed: bool
    device: str
    scorer: str
    files: Sequence[Sequence[str]]
    request: Mapping[str, Any]
    data: str

    def as_bytes(self) -> bytes:
        """This order as JSON."""
        return json.dumps(asdict(self), sort_keys=True).encode()


@dataclass(frozen=True)
class Answer:
    """What came of a task: `kind` is `DONE`, `FAILED` or `REFUSED`, `text` says why it was not done, `host` where."""

    kind: str
    host: str
    text: str
    seconds: float
    content: bytes

    @classmethod
    def of(cls, answer: bytes) -> "Answer":
        """The answer in these bytes."""
        head, _, content = answer.partition(b"\n")
        said = json.loads(head)
        return cls(said["kind"], said["host"], said["text"], said["seconds"], content)


def perform(order: bytes, number: int, *contents: bytes) -> bytes:
    """Do a task and return its answer. `contents`: the data of the order, then its files."""
    began = time.perf_counter()
    try:
        kind, text, content = _performed(order, number, contents)
    except CardaiError as error:
        kind, text, content = FAILED, str(error), b""
    except Exception as error:  # whatever a task raises goes to the driver as a sentence
        kind, text, content = FAILED, f"{type(error).__name__}: {short(error, 300)}{place_of(error, ours=True)}", b""
    seconds = time.perf_counter() - began
    head = {"kind": kind, "host": platform.node(), "text": text, "seconds": seconds, "process": os.getpid()}
    return json.dumps(head).encode() + b"\n" + content


_ready: dict[str, Work] = {}  # by digest of the order; the last one only, since copies of files hold for one order


def _performed(order: bytes, number: int, contents: Sequence[bytes]) -> tuple[str, str, bytes]:
    key = digest_of(order)
    if number == GREET or key not in _ready:
        wanted = WorkOrder(**json.loads(order))
        try:
            game = load(wanted.game)
        except CardaiError as error:
            return REFUSED, f"machine {platform.node()}: {error}", b""
        own = identity(game, wanted.device if wanted.identity["device"] else None)
        if number == GREET:
            return DONE, "", json.dumps(own).encode()
        why_not = refusal(platform.node(), wanted.identity, own, wanted.mixed)
        if why_not:
            return REFUSED, why_not, b""
        _ready.clear()
        _prepare_evaluators(wanted, contents[1:])
        module, _, function = wanted.task.partition(":")
        _ready[key] = getattr(importlib.import_module(module), function)(game, wanted.request, contents[0])
    return DONE, "", _ready[key](number)


def _prepare_evaluators(order: WorkOrder, contents: Sequence[bytes]) -> None:
    """Keep the files of an order in this machine's cache, and have specs find them there."""
    copies = {}
    for (name, digest), content in zip(order.files, contents, strict=True):
        if digest_of(content) != digest:
            raise CardaiError(f"{name} was damaged on its way")
        place = cache_root() / f"copy-{digest}" / Path(name).name
        if not (place.is_file() and place.read_bytes() == content):
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, content)
        copies[name] = place
    use_copies(copies)
    if (order.device, order.scorer) != ("auto", "auto"):
        from cardai.agents.evaluator import set_device

        set_device(order.device, order.scorer)
