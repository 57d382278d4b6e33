"""Evaluators: what scores positions for a seat from outside the core, usually a network.

A package that brings evaluators names a module in the entry-point group `cardai.evaluators`. The module has three
functions: `find(game, name) -> Evaluator | None` (None if it has none of that name),
`known(game) -> dict[name, Known]`, and `set_device(device, scorer)`, which says where evaluators compute from then on,
one of `DEVICES`, and what computes, one of `SCORERS`.
"""

import functools
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from cardai.errors import BadArgument, CardaiError, short, unknown
from cardai.files.entries import brought
from cardai.game import Game, is_game
from cardai.game.compiled.doors import check_text
from cardai.playing.compiled.dense import DenseNetwork
from cardai.rules import JIT

ENTRY_POINTS = "cardai.evaluators"
MOMENTS = ("before_draw", "drawn")
"""Which states are judged: "before_draw" after-states, "drawn" settled states."""
DEVICES = ("auto", "cpu", "gpu")
SCORERS = ("auto", "native", "jax")
"""What computes the scores of networks: "native" compiled code in the threads that play, "jax" JAX."""


class Known(NamedTuple):
    """An evaluator that comes with a package: a line about it, and the states it was made for, one of `MOMENTS`."""

    about: str
    moment: str


class Evaluator(Protocol):
    """Judges positions from the rows of one encoder of a game.

    `moment`: the states it was made for, one of `MOMENTS`. `seats`: the size of the tables it judges, None for any.
    `batch`: how many rows it is best asked at once.

    An evaluator may also have `network`, made by `cardai.playing.compiled.dense.network`, or None: compiled code scores
    positions by that network, instead of asking the evaluator.

    An evaluator that was trained may have `at_table(game, states)` and `natural_shift(game)`, see
    `cardai.playing.agents.adjusted`.
    """

    @property
    def name(self) -> str: ...

    @property
    def encoder(self) -> str: ...

    @property
    def moment(self) -> str: ...

    @property
    def seats(self) -> int | None: ...

    @property
    def batch(self) -> int: ...

    def score(self, rows: np.ndarray) -> Any:
        """How good each position is for the seat whose view it is: u8[n, width] -> f[n] in [0, 1].

        The result may still be being computed: `np.asarray` waits for it. Until then the caller does not change `rows`.
        """
        ...

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it judges this game at a table of `seats`. A variant of None is not checked."""
        ...


@functools.cache
def _sources() -> tuple[ModuleType, ...]:
    return tuple(entry.load() for entry in brought(ENTRY_POINTS).values())


def find_evaluator(game: Game, name: str) -> Evaluator | None:
    """The evaluator of a name or at a path. Returns None if there is none, raises CardaiError if it is damaged."""
    is_game(game)
    check_text("name", name)
    for source in _sources():
        found = source.find(game, name)
        if found is not None:
            return found
    return None


def known_evaluators(game: Game) -> dict[str, Known]:
    """The evaluators that come with installed packages, by name."""
    return {name: known for source in _sources() for name, known in source.known(is_game(game)).items()}


def network_of(evaluator: Any) -> DenseNetwork | None:
    """The network that compiled code scores instead of asking an evaluator. Returns None if the evaluator is asked."""
    network = getattr(evaluator, "network", None) if JIT else None
    if network is not None and not isinstance(network, DenseNetwork):
        raise CardaiError(
            f"evaluator {evaluator.name}: its network must be made by dense.network(), not {short(network)}"
        )
    return network


def is_evaluator(thing: Any) -> bool:
    """Whether an object has all that `Evaluator` asks for."""
    return all(hasattr(thing, name) for name in ("name", "encoder", "moment", "seats", "batch", "score", "check_fits"))


def set_device(device: str = "auto", scorer: str = "auto") -> None:
    """Choose where evaluators compute from now on, one of `DEVICES`, and what computes, one of `SCORERS`.

    Raises CardaiError for other names, for a device that is not there, and for a scorer that cannot compute on it.
    """
    if check_text("device", device) not in DEVICES:
        raise BadArgument(unknown("device", device, DEVICES))
    if check_text("scorer", scorer) not in SCORERS:
        raise BadArgument(unknown("scorer", scorer, SCORERS))
    if (device, scorer) != ("auto", "auto") or _sources.cache_info().currsize:
        for source in _sources():
            source.set_device(device, scorer)
