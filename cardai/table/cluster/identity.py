"""What a machine says it is before it plays, and whether its games are those that this machine would play."""

import functools
import importlib.metadata
import platform
from collections.abc import Mapping
from pathlib import Path

from cardai.game import Game
from cardai.rule import JIT
from cardai.stats.machine import code_digest, files_digest, processor

_ALWAYS = ("cardai", "code", "game", "rules")
_NUMBERS = ("numba", "numpy", "jax", "device")
MIXED = "mixed"
"""Stands for the device of a simulation that machines of several kinds may have played."""


def identity(game: Game, device: str | None = None) -> dict[str, str]:
    """What this machine is: versions, digests of the code of cardai and of the game, and the device of networks.

    `device`: where networks compute, as in `set_device`. None: there are none, so no device is named.
    """
    module = Path(getattr(game.rules.deal, "py_func", game.rules.deal).__code__.co_filename)
    return {
        "cardai": importlib.metadata.version("cardai"),
        "code": code_digest("evaluators"),
        "game": f"{game.name} {game.version}",
        "rules": _rules_digest(module.parent) if module.name != "<string>" else "",
        "python": platform.python_version(),
        "numba": importlib.metadata.version("numba") if JIT else "none",
        "numpy": importlib.metadata.version("numpy"),
        "jax": importlib.metadata.version("jax"),
        "device": "" if device is None else device_kind(device),
    }


def refusal(host: str, own: Mapping[str, str], other: Mapping[str, str], mixed: bool = False) -> str | None:
    """Why the machine `host`, which says that it is `other`, may not play the games of this one. None if it may.

    Games without networks are the same for the same code. Networks round differently with other libraries and on other
    kinds of device, and then a choice between moves that are all but equal may be another one; `mixed` allows that.
    """
    for name in _ALWAYS:
        if own[name] != other.get(name):
            return (
                f"machine {host} has {_words(name, other.get(name))}, here is {_words(name, own[name])}; install the"
                " same version on all machines"
            )
    if own["device"] and not mixed:
        for name in _NUMBERS:
            if own[name] != other.get(name):
                return (
                    f"machine {host} has {_words(name, other.get(name))}, here is {_words(name, own[name])}: networks"
                    " may round differently there, which --mixed allows"
                )
    return None


def device_kind(device: str) -> str:
    """What networks compute on: the GPU's name if `device` is "gpu", else the processor's.

    Tasks without a GPU of their own compute on the processor, so "auto" is the processor here.
    """
    if device != "gpu":
        return processor()
    for place in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in place.read_text().splitlines():
            if line.startswith("Model:"):
                return line.partition(":")[2].strip()
    return "gpu"


def _words(name: str, value: str | None) -> str:
    if value is None:
        return f"no {name}"
    return {"game": value, "code": f"cardai's code {value}", "rules": f"rules with the digest {value}"}.get(
        name, f"{name} {value}"
    )


@functools.cache
def _rules_digest(folder: Path) -> str:
    return files_digest({"": folder})
