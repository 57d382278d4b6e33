"""What a worker does with a task: it sees that its machine is like the driver's, plays, and returns bytes.

A task is an *order*, which the tasks of a run have in common, an *item*, what this one is to play, and the contents of
the files that specs name, which a worker keeps in its cache. All of them are bytes. An order is JSON:

- `kind`: "files" or "blocks"; `request`: what tasks of this kind have to know.
- `game`: what `cardai.registry.load` is given.
- `identity`: what the driver's machine is; `mixed`: networks may round differently on others.
- `device`, `scorer`: as in `set_device`.
- `files`: the files that specs name, (name in the spec, digest) each.
"""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cardai.errors import CardaiError, place_of, short
from cardai.files.named import use_copies
from cardai.files.writing import write_whole
from cardai.guests.cluster.blocks import block_player
from cardai.guests.cluster.files import file_player
from cardai.guests.cluster.identity import identity, refusal
from cardai.guests.cluster.joining import ClusterFailed
from cardai.registry import load
from cardai.rules.keeping import cache_root

_PLAYERS = {"blocks": block_player, "files": file_player}


class TaskFailed(CardaiError):
    """A task that was not done, which another machine may do."""


class MachineRefused(ClusterFailed):
    """A machine that may not play these games."""


def perform(order: bytes, item: bytes, *contents: bytes) -> bytes:
    """Do a task, and return its answer.

    Raises MachineRefused if this machine is not like the driver's, and TaskFailed, in a sentence, for all else.
    """
    try:
        if order not in _works:
            _works.clear()  # since copies of files hold for one order
            _works[order] = _work(json.loads(order), contents)
        return _works[order](item)
    except MachineRefused:
        raise
    except CardaiError as error:
        raise TaskFailed(str(error)) from None
    except Exception as error:
        raise TaskFailed(f"{type(error).__name__}: {short(error, 300)}{place_of(error, ours=True)}") from None


_works: dict[bytes, Callable[[bytes], bytes]] = {}


def _work(order: Mapping[str, Any], contents: Sequence[bytes]) -> Callable[[bytes], bytes]:
    """What does the tasks of an order: it takes an item and returns the answer."""
    try:
        game = load(order["game"])
    except CardaiError as error:
        raise MachineRefused(f"machine {platform.node()}: {error}") from None
    own = identity(game, order["device"] if order["identity"]["device"] else None)
    if why := refusal(order["identity"], own, order["mixed"]):
        raise MachineRefused(why)
    use_copies({name: _copy(name, digest, one) for (name, digest), one in zip(order["files"], contents, strict=True)})
    if (order["device"], order["scorer"]) != ("auto", "auto"):
        from cardai.playing.agents.evaluator import set_device

        set_device(order["device"], order["scorer"])
    return _PLAYERS[order["kind"]](game, order["request"])


def _copy(name: str, digest: str, content: bytes) -> Path:
    """Where this machine's cache has a file that a spec names."""
    place = cache_root() / f"copy-{digest}" / Path(name).name
    if not (place.is_file() and place.read_bytes() == content):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, content)
    return place
