"""What came of the generations of a run: a line of history each, a table, a figure of their strength."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardai.measure.duel import Duel
from cardai.show.grid import Fitting, gutter, stacked, with_notes
from cardai.stats.interval import FEWEST_DEALS
from cardai.stats.jsonable import plain
from cardai.stats.machine import machine
from evaluators.training.metrics import save_figure


@dataclass(frozen=True)
class Generation:
    """What came of one generation: a line of the history.

    `games` and `states` of its own, `endless` ones given up; `learned`: states that were trained on, in `steps`; `bce`:
    on validation and test states. `champion`: who was, before. `duel`: its model against that; `strength`: against the
    run's reference, on the same deals in all generations. `seconds`: by step.
    """

    number: int
    games: int
    states: int
    endless: int
    learned: int
    steps: int
    bce: Mapping[str, float | None]
    champion: str
    duel: Duel
    strength: Duel
    seconds: Mapping[str, float]

    @property
    def is_promoted(self) -> bool:
        """Whether its model became the champion."""
        return self.duel.verdict == "better"

    def as_json(self) -> dict[str, Any]:
        """All of it as plain JSON types."""
        duels = {"duel": self.duel.as_json(), "strength": self.strength.as_json()}
        return plain(vars(self) | {"promoted": self.is_promoted} | duels)


@dataclass(frozen=True)
class IterateReport:
    """The generations that have ended, and why no more were made: "generations", "minutes" or "interrupted".

    `champion`: the generation whose model is the champion, 0 while the reference is. `model`: the champion's spec.
    """

    title: str
    config: Mapping[str, Any]
    reference: str
    champion: int
    model: str
    stopped: str
    generations: tuple[Generation, ...]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.stopped == "interrupted"

    def as_json(self) -> dict[str, Any]:
        """All of it, and what it was made on, as plain JSON types."""
        made = {"generations": [one.as_json() for one in self.generations], "machine": machine()}
        return plain(vars(self) | made)

    def table(self) -> Any:
        """For a terminal: a rich renderable."""
        return with_notes(self._notes(), Fitting(*(self._grid(is_narrow) for is_narrow in (False, True))))

    def _grid(self, is_narrow: bool) -> Any:
        from rich import box
        from rich.table import Table

        table = Table(title=self.title, title_justify="left", box=box.HORIZONTALS, padding=gutter(is_narrow))
        table.add_column("", justify="right")
        for heading in ("games", "states", "BCE", "score %", "ahead", "min"):
            table.add_column(heading, justify="right", no_wrap=True)
            if heading == "score %":
                table.add_column("champion", overflow="fold", max_width=16 if is_narrow else None)
            elif heading == "ahead":
                table.add_column("verdict", no_wrap=True)
        for one in self.generations:
            bce = one.bce["validation"]
            table.add_row(
                str(one.number),
                f"{one.games:,}",
                f"{one.states:,}",
                "-" if bce is None else f"{bce:.4f}",
                stacked(one.strength.score, is_narrow),
                one.champion,
                stacked(one.duel.difference, is_narrow),
                "[green]promoted[/]" if one.is_promoted else one.duel.verdict,
                f"{sum(one.seconds.values()) / 60:.1f}",
            )
        return table

    def _notes(self) -> list[str]:
        notes = []
        if self.generations:
            level = 100 * self.generations[-1].duel.level
            notes += [
                f"score %: of the model among players {self.reference}, 95 % interval, the same deals for all",
                f"ahead: its mean score less the champion's at the same tables, in points, {level:.1f} % interval;"
                " promoted if all of it is above 0",
            ]
        notes += [
            f"generation {one.number}: only {one.duel.different} deals were played in different ways, too few for a"
            " verdict: a game without chance needs benchmark_epsilon"
            for one in self.generations
            if one.duel.different < FEWEST_DEALS
        ]
        if self.champion:
            notes.append(f"the champion is the model of generation {self.champion}: {self.model}")
        elif self.generations:
            notes.append(f"no model has beaten {self.reference} yet")
        if self.stopped != "generations":
            why = "time was up" if self.stopped == "minutes" else "interrupted"
            notes.append(f"stopped before the end ({why}): the same command goes on")
        return notes


def draw_strength(
    generations: Sequence[Generation], title: str, reference: str, alike: float | None, path: str | Path
) -> None:
    """Draw each generation's score among players of the reference into a file (.png, .svg or .pdf).

    Promoted ones are filled. `alike`: what players score that are alike, in percent, drawn as a line. Raises
    CardaiError if the file cannot be written.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    if alike is not None:
        axes.axhline(alike, color="0.6", linestyle="--", linewidth=1, label=f"{reference} itself")
    for is_promoted, filling, name in ((True, "C0", "promoted"), (False, "white", "not promoted")):
        chosen = [one for one in generations if one.is_promoted == is_promoted]
        if not chosen:
            continue
        scores = [one.strength.score for one in chosen]
        reach = [[one.point - one.low for one in scores], [one.high - one.point for one in scores]]
        axes.errorbar(
            [one.number for one in chosen],
            [one.point for one in scores],
            yerr=np.nan_to_num(np.maximum(reach, 0.0)),
            fmt="o",
            color="C0",
            markerfacecolor=filling,
            capsize=3,
            label=name,
        )
    axes.set(title=f"{title}, among players {reference}", xlabel="generation", ylabel="mean score %")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend()
    save_figure(figure, path)
