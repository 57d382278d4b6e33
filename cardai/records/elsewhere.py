"""Other machines that play games in the place of this one, if an installed package brings them (`cardai.clusters`)."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cardai.errors import CardaiError
from cardai.files.entries import brought
from cardai.game import Game
from cardai.game.compiled.doors import check_kind
from cardai.playing.agents.spec import Agent
from cardai.playing.progress import Progress
from cardai.playing.table.many import Results
from cardai.records.mixture import FileResults, Mix

ENTRY_POINTS = "cardai.clusters"


@runtime_checkable
class Machines(Protocol):
    """Machines that play what this one would play, with the same results. Joined by `join`; for a `with` block.

    All raise CardaiError for agents that play here only, and if the machines fail; what was done until then is kept.
    """

    @property
    def slots(self) -> int:
        """How many games or files are played at once."""
        ...

    def play(
        self, game: Game, agents: Sequence[Agent], lineups: np.ndarray, seeds: np.ndarray, **options: Any
    ) -> Results:
        """What `table.many.play` does, with its options but for `live`, `checked`, `tally` and `max_plies`."""
        ...

    def play_files(
        self, mix: Mix, unplayed: Mapping[int, tuple[Path, int, int]], progress: Progress | None
    ) -> tuple[dict[int, FileResults], bool]:
        """Play and write files of a simulation: number -> (path, first game, end).

        Returns the results of each file, and whether Ctrl-C came. Files that cannot be played are named by an error
        after all others are written.
        """
        ...

    def device_of(self, agents: Iterable[Agent]) -> str | None:
        """What networks of these agents compute on, as `simulation.json` says it. None if no agent has a network."""
        ...


def join(address: str, **options: Any) -> Any:
    """The machines at an address, to be used in a `with` block. Raises CardaiError if no package brings any.

    `options`: `mixed`, whether networks may compute on machines of several kinds, and `device` and `scorer`, as in
    `set_device`.
    """
    entry = next(iter(brought(ENTRY_POINTS).values()), None)
    if entry is None:
        raise CardaiError(
            f"--cluster needs a package that brings clusters (an entry point {ENTRY_POINTS!r}); there is none"
        )
    return entry.load()(address, **options)


def check_machines(machines: Machines | None) -> None:
    """Raise CardaiError for anything but machines that were joined, or None."""
    if machines is not None:
        check_kind("cluster", machines, Machines, "machines that were joined")
