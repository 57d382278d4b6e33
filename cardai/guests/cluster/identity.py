"""What a machine says it is before it plays, and whether its games are those that the driver would play."""

import importlib.metadata
import platform
from collections.abc import Mapping
from pathlib import Path

from cardai.game import Game
from cardai.playing.machine import code_digest, files_digest, processor
from cardai.rules import JIT

_ALWAYS = ("cardai", "code", "game", "rules")
_NUMBERS = ("numba", "numpy", "jax", "device")


def identity(game: Game, device: str | None = None) -> dict[str, str]:
    """What this machine is: versions, digests of the code of cardai and of the game, and the device of networks.

    `device`: where networks compute, as in `set_device`. None: there are none, so no device is named.
    """
    module = Path(getattr(game.rules.deal, "py_func", game.rules.deal).__code__.co_filename)
    versions = {name: importlib.metadata.version(name) for name in ("cardai", "numpy", "jax")}
    return versions | {
        "code": code_digest("evaluators"),
        "game": f"{game.name} {game.version}",
        "rules": files_digest({"": module.parent}) if module.name != "<string>" else "",
        "numba": importlib.metadata.version("numba") if JIT else "none",
        "device": "" if device is None else device_kind(device),
    }


def refusal(driver: Mapping[str, str], own: Mapping[str, str], mixed: bool = False) -> str | None:
    """Why this machine, which is `own`, may not play the games of the driver's. None if it may.

    Games without networks are the same for the same code. Networks round differently with other libraries and on other
    kinds of device, and then a choice between moves that are all but equal may be another one; `mixed` allows that.
    """
    for name in (*_ALWAYS, *(_NUMBERS if driver["device"] and not mixed else ())):
        if own[name] != driver[name]:
            both = f"machine {platform.node()} has {name} {own[name]}, the driver has {driver[name]}"
            if name in _ALWAYS:
                return f"{both}; install the same version on all machines"
            return f"{both}: networks may round differently there, which --mixed allows"
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
