"""What a training run is: one frozen value, from a TOML file, from flags or from Python.

    config = read_config("nn1.toml", {"learning_rate": "3e-4", "options": {"hidden": "[256, 128]"}})

It is kept as TOML in the run's folder.
"""

import dataclasses
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cardai.agents.evaluator import MOMENTS
from cardai.data.recipe import BALANCES, LABELS, STATES
from cardai.errors import CardaiError
from evaluators import settings
from evaluators.bodies import options
from evaluators.scorer import DEVICES
from evaluators.settings import literal, setting


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides what comes out of a training run. Raises CardaiError for an impossible value.

    `options` are completed with the body's defaults.
    """

    called: ClassVar[str] = "training config"

    game: str = setting("The game that is learned.")
    data: tuple[str, ...] = setting("Record files, or folders of them.", is_run=False)
    out: str = setting("The run's folder: checkpoints, metrics, figures and the model.", is_run=False)
    variant: str | None = setting(
        "The variant the records must be of; whatever they are of if not given.", default=None
    )
    encoder: str | None = setting("The encoder of the states; the game's first if not given.", default=None)
    moment: str = setting(
        "Which states are learned: before_draw (the decision made, chance not yet) or drawn (after both).",
        choices=MOMENTS,
        default="before_draw",
    )
    states: str = setting(
        "all, or choices: only states after decisions with more than one legal move.", choices=STATES, default="all"
    )
    per_game: int = setting("At most so many states of a game, drawn at random; 0 is all.", span=(0, 10**6), default=0)
    limit: int = setting("At most so many states in all; 0 is all.", span=(0, 10**12), default=0)
    balance: str = setting(
        "natural, or loser: all states of a game's losers and as many drawn from the other seats.",
        choices=BALANCES,
        default="natural",
    )
    label: str = setting(
        "What is learned: score, the seat's at the end of the game; win, 1 if that is 1; not_lost, 1 unless it is 0.",
        choices=tuple(LABELS),
        default="score",
    )
    agents: tuple[str, ...] = setting(
        "Only states of seats whose agent's spec begins with one of these; none is all.", default=()
    )
    steady: bool = setting(
        "Of seats that explore up to some ply, only the states from their last exploring move on.", default=False
    )
    split_by: str = setting(
        "game, or state, which flatters the test figures: states of a game are then on both sides.",
        choices=("game", "state"),
        default="game",
    )
    parts: tuple[float, float, float] = setting(
        "The shares of training, validation and test.", default=(0.92, 0.06, 0.02)
    )
    body: str = setting("The kind of network: mlp, cnn, cnn_flat or linear.", default="mlp")
    options: Mapping[str, Any] = setting("The body's options, such as hidden = [256, 128].", default_factory=dict)
    batch: int = setting("States in a step.", span=(1, 2**24), default=16384)
    epochs: int = setting(
        "Stop after so many passes over the training states; 0 is no limit.", span=(0, 10**9), default=10
    )
    steps: int = setting("Stop after so many steps; 0 is no limit.", span=(0, 10**12), default=0)
    minutes: float = setting(
        "Stop after so many minutes, those of a stopped run counted in; 0 is no limit. Without epochs and steps, cosine"
        " plans as many steps as they allow.",
        span=(0, 10**7),
        is_run=False,
        default=0.0,
    )
    learning_rate: float = setting("The highest learning rate.", span=(1e-12, 10), default=1e-3)
    schedule: str = setting(
        "constant, or cosine: falls to final_rate over the whole run.", choices=("constant", "cosine"), default="cosine"
    )
    warm_up: int = setting("Steps over which the learning rate rises from nothing.", span=(0, 10**12), default=0)
    final_rate: float = setting("The share of the learning rate that cosine ends with.", span=(0, 1), default=0.0)
    optimiser: str = setting("adam or adamw.", choices=("adam", "adamw"), default="adam")
    weight_decay: float = setting("Weight decay of adamw, on matrices alone.", span=(0, 10), default=0.0)
    clip: float = setting("The greatest norm of a step's gradient; 0 is no limit.", span=(0, 10**9), default=0.0)
    ema: float = setting(
        "Validate and keep a moving average of the weights with this factor a step, such as 0.999; 0 is off.",
        span=(0, 0.99999),
        default=0.0,
    )
    patience: int = setting(
        "Stop after so many validations in a row without a better one; 0 is never.", span=(0, 10**6), default=0
    )
    check_steps: int = setting(
        "Validate every so many steps besides the end of an epoch; 0 is not.", span=(0, 10**12), default=0
    )
    start_from: str | None = setting(
        "A model whose weights the network begins with; fresh ones if not given.", default=None
    )
    seed: int = setting(
        "Decides initial weights, dropout, split and order of the data.", span=(0, 2**63 - 1), default=0
    )
    device: str = setting("auto, cpu or gpu.", choices=DEVICES, is_run=False, default="auto")
    checkpoint_minutes: float = setting(
        "Minutes between checkpoints; 0 is one after every validation.", span=(0, 10**6), is_run=False, default=5.0
    )
    threads: int | None = setting(
        "Threads that replay records; as many as processors if not given.", span=(1, 1024), is_run=False, default=None
    )

    def __post_init__(self) -> None:
        settings.check(self)
        object.__setattr__(self, "options", options.as_plain(options.options_of(self.body, self.options)))
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        if not self.data:
            raise CardaiError("data names no record file")
        if any(part < 0 for part in self.parts) or not math.isclose(sum(self.parts), 1.0, abs_tol=1e-6):
            raise CardaiError(f"parts must be three shares that sum to 1, not {list(self.parts)}")
        if self.parts[0] == 0:
            raise CardaiError(f"parts must leave something to train on, not {list(self.parts)}")
        if not (self.epochs or self.steps or self.minutes):
            raise CardaiError("epochs, steps and minutes are all 0, so training would never end; give one of them")
        if self.optimiser == "adam" and self.weight_decay:
            raise CardaiError(f"weight_decay {self.weight_decay} needs the optimiser adamw, not adam")
        if self.patience and not self.parts[1]:
            raise CardaiError(f"patience {self.patience} needs states to validate on, but their share in parts is 0")

    def identity(self) -> dict[str, Any]:
        """The fields that a run must keep from its start to its end, as plain JSON types."""
        return settings.identity(self)

    def fingerprint(self) -> str:
        """A hash of `identity`."""
        return settings.fingerprint(self)


as_plain, as_toml, difference, write_config = settings.as_plain, settings.as_toml, settings.difference, settings.write


def about(name: str) -> str:
    """The one line of help of a field."""
    return settings.about(TrainConfig, name).line


def read_config(path: str | Path | None = None, overrides: Mapping[str, Any] | None = None) -> TrainConfig:
    """A config from a TOML file, its fields replaced by those of `overrides` that are not None, see `settings.read`.

    A relative path in the file's `data` and `out` is taken from the folder one is in.
    """
    return settings.read(TrainConfig, path, overrides)


def command(config: TrainConfig) -> str:
    """The command line that makes this run: flags for all that is not usual, data and folder by their last names."""
    usual = {one.name: one.default for one in dataclasses.fields(config)}
    words = ["cardai", "train"]
    for name, value in dataclasses.asdict(config).items():
        flag = f"--{name.replace('_', '-')}"
        if name == "data":
            words += [flag, ",".join(Path(one).name for one in value)]
        elif name == "out":
            words += [flag, Path(value).name]
        elif name == "options":
            words += [word for key in _chosen(config) for word in (f"{flag}.{key}", literal(value[key]))]
        elif value != usual[name]:
            words += [flag, value if isinstance(value, str) else literal(value)]
    return shlex.join(words)


def _chosen(config: TrainConfig) -> list[str]:
    """The options that would be different if they were not given."""
    chosen = dict(config.options)
    for name in reversed(list(config.options)):
        others = {key: value for key, value in chosen.items() if key != name}
        try:
            if options.as_plain(options.options_of(config.body, others)) == config.options:
                chosen = others
        except CardaiError:  # it is needed beside the others
            continue
    return list(chosen)
