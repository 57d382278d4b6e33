"""Where experiments make their networks: a folder in which each stage has its own and is kept once it is done.

    store = NetworkStore(load("moska"), Path("runs/mine"), {"batch": 4096, "steps": 8000})
    first = store.games("games1", {"bot3": 1.0, "random": 0.2}, 100_000, seed=1)
    best = store.generations((first,), 3, games=50_000, opponents={"bot3": 1.0}, seed=2, moment="before_draw")

Ctrl-C leaves all stages that are done, and the others can be gone on with.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cardai.data.selfplay import simulate_shards
from cardai.errors import CardaiError
from cardai.game import Game
from cardai.progress import Progress
from evaluators.model import FILE, Model
from evaluators.model import load as load_model
from evaluators.training.config import TrainConfig, difference, read_config
from evaluators.training.run_folder import CONFIG, REPORT
from evaluators.training.train import train

WAYS = {"": 1.5, "?epsilon=0.1": 2.0, "?temperature=0.02": 2.0}
"""How a network plays when its next generation is to learn from it, with the weight of each."""


@dataclass(frozen=True)
class NetworkStore:
    """A game, a folder and what all its networks are trained with: fields of `TrainConfig`.

    Raises CardaiError when a stage's folder holds another simulation or training run.
    """

    game: Game
    folder: Path
    learning: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None
    device: str = "auto"
    variant: str | None = None
    seats: int | None = None

    def games(self, name: str, pool: Mapping[str, float], count: int, seed: int) -> str:
        """Play games between agents of a pool, or go on playing; the folder they are in. Ctrl-C is raised."""
        place = self.folder / name
        done = simulate_shards(
            self.game, pool, count, folder=place, seed=seed, variant=self.variant, seats=self.seats,
            progress=self.progress,
        )  # fmt: skip
        if done.interrupted:
            raise KeyboardInterrupt
        return str(place)

    def network(self, name: str, data: tuple[str, ...], **fields: Any) -> str:
        """Train a network on games, or go on training; its model file. `fields` are of `TrainConfig`."""
        place = self.folder / name
        learning = {**self.learning, **fields}
        config = TrainConfig(game=self.game.name, data=data, out=str(place), device=self.device, **learning)
        if not is_finished(config):
            train(config, self.progress)
        return str(place / FILE)

    def test_figures(self, name: str) -> dict[str, Any]:
        """A trained network's cross-entropy on balanced test states, their number, and the seconds of its training."""
        report = json.loads((self.folder / name / REPORT).read_text("utf-8"))
        balanced = report["test"]["balanced"]
        return {"bce": balanced["bce"], "states": report["states"]["test"], "seconds": report["seconds"]}

    def generations(
        self,
        data: tuple[str, ...],
        last: int,
        *,
        games: int,
        opponents: Mapping[str, float],
        seed: int,
        way: str = "greedy",
        **fields: Any,
    ) -> str:
        """A network from some games, and its generations 1 to `last`; the model file of the last one.

        They are called after0, after1 and so on, the last one best. Each plays `games` games with others, in several
        `WAYS`, and the next one begins with its weights and learns from all games so far. A network that learned from
        the games of good players alone plays badly, since it never saw what bad moves lead to.
        """
        names = generation_names(last)
        newest = self.network(names[0], data, seed=seed, **fields)
        for number, name in enumerate(names[1:], 1):
            pool = {**opponents, **{f"{way}:{newest}{how}": weight for how, weight in WAYS.items()}}
            data = (*data, self.games(f"later{number}", pool, games, seed + number))
            newest = self.network(name, data, seed=seed + number, start_from=newest, **fields)
        return newest


def generation_names(last: int) -> list[str]:
    """What `NetworkStore.generations` calls its networks: after0, after1 and so on, the last one best."""
    return [*(f"after{number}" for number in range(last)), "best"]


def ship_network(folder: Path, network: str, place: Path, about: str, command: str) -> Path:
    """Put a network of an experiment's folder among the models that come with cardai.

    Where its metadata name the folder, they then say "runs" and the experiment's name, the last word of `command`.
    """
    model = load_model(folder / network / FILE)
    told = str(folder), f"runs/{command.split()[-1]}"
    training, data = (_renamed(one, *told) for one in (model.metadata.training, model.metadata.data))
    place.parent.mkdir(exist_ok=True)
    Model(replace(model.metadata, about=about, command=command, training=training, data=data), model.module).save(place)
    return place


def _renamed(value: Any, old: str, new: str) -> Any:
    """The same with one text for another in all texts in it."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Mapping):
        return {_renamed(key, old, new): _renamed(one, old, new) for key, one in value.items()}
    return [_renamed(one, old, new) for one in value] if isinstance(value, (list, tuple)) else value


def is_finished(config: TrainConfig) -> bool:
    """Whether this very run has ended in its folder; CardaiError when the folder holds another."""
    place = Path(config.out) / CONFIG
    if not place.exists():
        return False
    changed = difference(read_config(place), config)
    if changed:
        raise CardaiError(f"{config.out} holds another run, with {changed}; choose another folder with --out")
    return (Path(config.out) / REPORT).exists()
