"""Any game of cardai as an environment of PettingZoo, Gymnasium or OpenSpiel, to bring an algorithm that expects one.

    from cardai.guests.adapters import aec, parallel, register, single

    env = aec("durak", seats=3)                                     # PettingZoo, extra `zoo`
    env = parallel("examples/goofspiel")                            # where seats choose at the same time
    env = single("durak", opponents=["aggressive", "random"])       # Gymnasium, extra `gym`
    game = pyspiel.load_game(register("durak", seats=3))            # OpenSpiel, extra `openspiel`

Each module imports its package, and cardai imports none of these modules. An adapter is hundreds of times slower than
`cardai.play`: it is for bringing an algorithm, not for simulating. `docs/adapters.md` says what each one promises.
"""

import importlib
from typing import TYPE_CHECKING, Any

from cardai.errors import lacking

if TYPE_CHECKING:
    from cardai.guests.adapters.gym import single
    from cardai.guests.adapters.spiel import register
    from cardai.guests.adapters.zoo import aec, parallel

__all__ = ["aec", "parallel", "register", "single"]
_HOMES = {"aec": "zoo", "parallel": "zoo", "single": "gym", "register": "spiel"}
_EXTRAS = {"zoo": "zoo", "gym": "gym", "spiel": "openspiel"}


def __getattr__(name: str) -> Any:
    """The adapters load on first use. Raises CardaiError if the package that one needs is not installed."""
    if name not in _HOMES:
        raise AttributeError(f"module 'cardai.guests.adapters' has no attribute {name!r}")
    home = _HOMES[name]
    try:
        return getattr(importlib.import_module(f"cardai.guests.adapters.{home}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("cardai"):
            raise
        raise lacking(f"cardai.guests.adapters.{name}", error.name, _EXTRAS[home]) from None
