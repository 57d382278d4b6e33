"""Networks to compare: trained on the same states in the same order, saved as model files, and measured in play.

networks = ComparedNetworks(lab, load("moska"), "Moska", pool={"bot3": 1.0}, games=1000, fields={"steps": 200})
networks.train("wide", seed=0, body="mlp", options={"hidden": [256]})
networks.share_of("wide", seed=0, opponents=("bot3",) * 3, measure="loss", games=4000, deals_seed=1)
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from cardai.agents.spec import Agent
from cardai.evaluators.model import Model
from cardai.evaluators.model import load as load_model
from cardai.evaluators.training.compare import (
    BodyComparison,
    BodyEvaluator,
    cells_shuffled,
    comparison_of,
    parameters,
    rows_per_second,
)
from cardai.evaluators.training.config import TrainConfig
from cardai.experiments.machinery.duplicate import outcomes_of
from cardai.experiments.machinery.lab import Lab, command
from cardai.experiments.machinery.networks import NetworkStore
from cardai.game import Game
from cardai.stats import interval

ASKED = 4096
"""Rows in a batch when a network's speed is measured: about as many as play needs at once."""
ROUND = {"smoke": 0.005, "small": 0.2, "full": 0.2}
"""{scale: seconds of a round in which rows are scored to measure a network's speed}."""


@dataclass(frozen=True)
class ComparedNetworks:
    """The networks of one game, all in one folder; a kind and a seed name a network.

    `pool`: {spec: weight} of the agents that play the `games` to learn from. `fields`: fields of every `TrainConfig`.
    `shuffled`: the kinds whose network gets the cells of its planes in another order, see
    `cardai.evaluators.training.compare.cells_shuffled`.
    """

    lab: Lab
    game: Game
    title: str
    pool: Mapping[str, float]
    games: int
    fields: Mapping[str, Any]
    variant: str | None = None
    seats: int = 2
    shuffled: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The name of the game."""
        return self.game.name

    @cached_property
    def comparison(self) -> BodyComparison:
        """The states that all networks train on; plays the games first if they are not there yet."""
        lab, folder = self.lab, self.lab.folder / self.name
        store = NetworkStore(self.game, folder, {}, lab.progress, lab.device, self.variant, self.seats)
        data = store.games("games", self.pool, self.games, seed=1)
        common: dict[str, Any] = {"parts": (0.95, 0.0, 0.05), "epochs": 0, "device": lab.device, **self.fields}
        return comparison_of(TrainConfig(game=self.name, data=(data,), out=str(folder), **common))

    def train(self, kind: str, seed: int, network: Callable[[], tuple[str, Mapping[str, Any]]], steps: int) -> Any:
        """Train a network and save it; returns its metrics. `network`: gives its body and options, called if needed."""
        return self.lab.piece(f"trained-{self.name}-{kind}-{seed}", lambda: self._train(kind, seed, *network(), steps),
                              repeats=False)  # fmt: skip

    def _train(self, kind: str, seed: int, body: str, options: Mapping[str, Any], steps: int) -> dict[str, Any]:
        comparison = self.comparison

        def tell(done: int, total: int, what: str) -> None:
            self.lab.tell(done, total, f"{self.title}, {kind}, seed {seed}: {what}")

        order = self._order(kind, seed, comparison.layout)
        trained = comparison.train(comparison.body(body, options, seed), seed, steps, order, tell)
        metrics = {
            "test": trained.test.as_json(),
            "training": trained.training.as_json(),
            "parameters": parameters(trained.module),
            "options": dict(options),
            "steps": steps,
            "states": trained.states,
            "states_per_second": round(trained.states_per_second),
            "seconds": trained.states / trained.states_per_second,
        }
        dataset = comparison.dataset
        Model.of(
            comparison.game, trained.module, body=body, body_options=options, moment=comparison.config.moment,
            seats=dataset.seats, variant=dataset.variant, encoder=dataset.recipe.encoder, data=dataset.about(),
            about=f"{kind}, its cells in another order: of no use without it" if order is not None else kind,
            metrics=metrics, command=command(self.lab.name, {"scale": self.lab.scale, "games": self.lab.games}),
        ).save(self._file(kind, seed))  # fmt: skip
        return metrics

    def player(self, kind: str, seed: int) -> Agent:
        """The agent of a trained network, read from its file."""
        model = load_model(self._file(kind, seed))
        metadata = model.metadata
        place = metadata.game, metadata.variant, metadata.seats, metadata.encoder, metadata.moment
        order = self._order(kind, seed, metadata.segments)
        player = BodyEvaluator(f"{kind}-{seed}", *place, model.module, order).player()
        player.check_fits(self.game, self.variant, metadata.seats)
        return player

    def share_of(
        self, kind: str, seed: int, opponents: Sequence[str], measure: str, games: int, deals_seed: int
    ) -> dict[str, Any]:
        """A network's figure by a measure in percent, its interval and the number of games."""
        player = self.player(kind, seed)
        found = outcomes_of(self.game, player, opponents, games, deals_seed, self.variant, measure)
        share = interval.estimate(found)
        return {"share": 100 * share.point, "low": 100 * share.low, "high": 100 * share.high, "games": share.n}

    def speed(self, kind: str) -> list[float]:
        """Rows that the network of a kind with seed 0 scores in a second, a value for each round."""

        def measure() -> dict[str, Any]:
            module, dataset = load_model(self._file(kind, 0)).module, self.comparison.dataset
            rows = dataset.take(np.arange(ASKED) % len(dataset))
            return {"rows_per_second": rows_per_second(module, rows, seconds=ROUND[self.lab.scale])}

        return self.lab.piece(f"speed-{self.name}-{kind}", measure, repeats=False)["rows_per_second"]

    def _order(self, kind: str, seed: int, layout: Any) -> np.ndarray | None:
        return cells_shuffled(layout, seed) if kind in self.shuffled else None

    def _file(self, kind: str, seed: int) -> Path:
        return self.lab.folder / self.name / f"{kind}-{seed}.safetensors"


def hidden_for(wanted: int, shape: Sequence[int], width: int) -> list[int]:
    """The hidden layers of the MLP whose number of parameters is nearest to `wanted`.

    Their widths have the proportions of `shape`. `width`: values in a row.
    """
    choices = ([max(1, round(units * first / shape[0])) for units in shape] for first in range(1, 4096))
    return min(choices, key=lambda hidden: abs(dense_parameters(width, hidden) - wanted))


def dense_parameters(width: int, hidden: Sequence[int]) -> int:
    """The number of parameters of an MLP with one output."""
    layers = [width, *hidden, 1]
    return sum((before + 1) * after for before, after in itertools.pairwise(layers))
