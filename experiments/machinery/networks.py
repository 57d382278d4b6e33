"""Where experiments train their networks: a folder with a subfolder for each stage; a finished stage is not repeated.

    store = NetworkStore(load("moska"), Path("runs/mine"), {"batch": 4096, "steps": 8000})
    first = store.games("games1", {"bot3": 1.0, "random": 0.2}, 100_000, seed=1)
    best = store.generations((first,), games=[50_000] * 3, opponents={"bot3": 1.0}, seed=2, moment="before_draw")

After Ctrl-C, the finished stages stay, and the same calls resume the others.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cardai.cli.show.progress import Line
from cardai.errors import CardaiError
from cardai.evaluators.model import FILE, Model
from cardai.evaluators.model import load as load_model
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.run_folder import CONFIG, REPORT
from cardai.evaluators.training.train import train
from cardai.files import settings
from cardai.files.reading import read_json
from cardai.game import Game
from cardai.playing.progress import Progress
from cardai.records.selfplay import simulate_shards

WAYS = {"": 1.5, "?epsilon=0.1": 2.0, "?temperature=0.02": 2.0}
"""{options of a network's spec: weight}: the ways it plays the games from which its next generation learns."""


@dataclass(frozen=True)
class NetworkStore:
    """The networks of one game in one folder. `learning`: fields of `TrainConfig` for all of them.

    `seed`: added to the seeds of all games and trainings.

    Raises CardaiError when a stage's folder holds another simulation or training run.
    """

    game: Game
    folder: Path
    learning: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None
    device: str = "auto"
    variant: str | None = None
    seats: int | None = None
    seed: int = 0

    def games(self, name: str, pool: Mapping[str, float], count: int, seed: int) -> str:
        """Play `count` games between agents of a pool ({spec: weight}), or resume; returns the folder of the games.

        Raises KeyboardInterrupt on Ctrl-C.
        """
        place = self.folder / name
        done = simulate_shards(
            self.game, pool, count, folder=place, seed=self.seed + seed, variant=self.variant, seats=self.seats,
            progress=self.progress,
        )  # fmt: skip
        if done.interrupted:
            raise KeyboardInterrupt
        return str(place)

    def network(self, name: str, data: tuple[str, ...], **fields: Any) -> str:
        """Train a network on folders of games, or resume its training; returns its model file.

        `fields`: fields of `TrainConfig` that replace those of `learning`.
        """
        place = self.folder / name
        learning = {**self.learning, **fields}
        learning["seed"] = self.seed + learning.get("seed", 0)
        config = TrainConfig(game=self.game.name, data=data, out=str(place), device=self.device, **learning)
        if not is_finished(config):
            train(config, self.progress)
        return str(place / FILE)

    def test_figures(self, name: str) -> dict[str, Any]:
        """A trained network's cross-entropy on balanced test states, their number, and the seconds of its training."""
        report = read_json(self.folder / name / REPORT)
        balanced = report["test"]["balanced"]
        return {"bce": balanced["bce"], "states": report["states"]["test"], "seconds": report["seconds"]}

    def generations(
        self,
        data: tuple[str, ...],
        *,
        games: Sequence[int],
        opponents: Mapping[str, float],
        seed: int,
        **fields: Any,
    ) -> str:
        """Train a network on `data`, then a generation for each of `games`; returns the model file of the last one.

        Their names are after0, after1 and so on; the last one is called best. A generation plays that many games with
        `opponents`, in all `WAYS`. The next one starts from its weights and trains on all games so far. The ways
        include bad moves, since a network that learned only from good players plays badly.
        """
        names = generation_names(len(games))
        newest = self.network(names[0], data, seed=seed, **fields)
        for number, name in enumerate(names[1:], 1):
            pool = {**opponents, **{f"greedy:{newest}{how}": weight for how, weight in WAYS.items()}}
            data = (*data, self.games(f"later{number}", pool, games[number - 1], seed + number))
            newest = self.network(name, data, seed=seed + number, start_from=newest, **fields)
        return newest


def generation_names(last: int) -> list[str]:
    """The names of the networks of `NetworkStore.generations`: after0, after1 and so on, the last one best."""
    return [*(f"after{number}" for number in range(last)), "best"]


def watched(about: str, work: Callable[[Progress], Any]) -> Any:
    """What `work(progress)` returns, with a progress line, for programs that train alone.

    Ctrl-C and errors of cardai end the program with one sentence and the exit codes of `cardai`. After Ctrl-C the same
    command goes on.
    """
    from cardai.cli.verbs.shared import INTERRUPTED, REFUSED

    try:
        with Line(about) as line:
            return work(line)
    except KeyboardInterrupt:
        code, told = INTERRUPTED, "stopped; the same command goes on from here"
    except CardaiError as error:
        code, told = getattr(error, "exit_code", REFUSED), str(error)
    print(told, file=sys.stderr)
    raise SystemExit(code)


def ship_network(folder: Path, network: str, place: Path, about: str, command: str, *, half: bool = False) -> Path:
    """Save a network of an experiment's folder at `place`, among the models that come with cardai; returns `place`.

    In its metadata, the path of `folder` is replaced by "runs/" and the last word of `command`, the experiment's name.
    `half`: store the weights as float16.
    """
    model = load_model(folder / network / FILE)
    renaming = str(folder), f"runs/{command.split()[-1].removeprefix('runs/')}"
    training, data = (_renamed(part, *renaming) for part in (model.metadata.training, model.metadata.data))
    place.parent.mkdir(exist_ok=True)
    metadata = replace(model.metadata, about=about, command=command, training=training, data=data)
    Model(metadata, model.module).save(place, half=half)
    return place


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, Mapping):
        return {_renamed(key, old, new): _renamed(part, old, new) for key, part in value.items()}
    return [_renamed(part, old, new) for part in value] if isinstance(value, (list, tuple)) else value


def is_finished(config: TrainConfig) -> bool:
    """Whether the training run of this config has finished. Raises CardaiError if its folder holds another run."""
    place = Path(config.out) / CONFIG
    if not place.exists():
        return False
    changed = settings.difference(settings.read(TrainConfig, place), config)
    if changed:
        raise CardaiError(f"{config.out} holds another run, with {changed}; choose another folder with --out")
    return (Path(config.out) / REPORT).exists()
