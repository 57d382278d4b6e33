"""The config of a training run: a frozen dataclass, made from a TOML file, from flags or in Python.

    config = settings.read(TrainConfig, "nn1.toml", {"learning_rate": "3e-4", "options": {"hidden": "[256, 128]"}})

A run writes its config as TOML into its folder. Relative paths in `data` and `out` start at the current folder.
"""

import dataclasses
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cardai.errors import CardaiError, short
from cardai.evaluators.bodies import options
from cardai.files import settings
from cardai.files.settings import literal, setting
from cardai.playing.agents.evaluator import DEVICES, MOMENTS
from cardai.records.recipe import BALANCES, STATES

AUTO = "auto"
_MOST_DEVICES = 4096


@dataclass(frozen=True)
class TrainConfig:
    """The config of a training run: which data, which network, and how to train it.

    Options of the body that are not given get their defaults. Raises CardaiError if a value is impossible, or if two
    fields contradict each other.
    """

    called: ClassVar[str] = "training config"

    game: str = setting("The game that the network is trained for.")
    data: tuple[str, ...] = setting(
        """Record files, or folders of record files. A path with a comma: '["a,b"]'.""", is_run=False
    )
    out: str = setting("The run's folder: checkpoints, metrics, figures and the model.", is_run=False)
    variant: str | None = setting(
        "The game variant that the records must have; if not given, the variant they have.", default=None
    )
    encoder: str | None = setting(
        "The encoder that turns states into the network's input; if not given, the game's first encoder.", default=None
    )
    moment: str = setting(
        "The states to train on: before_draw (after-states: the player has moved, chance has not) or drawn "
        "(settled states: both have).",
        choices=MOMENTS,
        default="before_draw",
    )
    states: str = setting(
        "all, or choices: only the states after decisions with more than one legal move.", choices=STATES, default="all"
    )
    per_game: int = setting(
        "The largest number of states taken from one game, drawn at random; 0 takes all.", span=(0, 10**6), default=0
    )
    limit: int = setting("The largest number of states in the dataset; 0 takes all.", span=(0, 10**12), default=0)
    balance: str = setting(
        "natural: as they occur; loser: all states of a game's losers, and at most as many of the other seats, "
        "drawn at random.",
        choices=BALANCES,
        default="natural",
    )
    label: str = setting(
        "What the network predicts: score, the seat's score at the end of the game; win, 1 if that score is 1, "
        "else 0; not_lost, 0 if it is 0, else 1; share, 1/k for each of the k seats with the best score, else 0; "
        "the name of an outcome or of a reward of the game; or a weighted mean of these, such as 5*score+answer.",
        default="score",
    )
    loss: str = setting(
        "bce: cross-entropy, as for chances; regression: the squared error of labels that are brought to mean 0 and "
        "deviation 1, for payoffs that are close together in their range; auto: regression for the score of a game "
        "whose payoff has a unit, else bce.",
        choices=("auto", "bce", "regression"),
        default="auto",
    )
    agents: tuple[str, ...] = setting(
        "Take only states of seats whose agent's spec begins with one of these texts; if empty, of all seats.",
        default=(),
    )
    steady: bool = setting(
        "For seats that explore until some ply, take only the states from their last exploring move on.", default=False
    )
    teacher: str = setting(
        "An agent that searches over worlds, such as ahead:best?worlds=2. It searches the decisions of the games, at "
        "most per_game of each; the network learns its means for the moves that it tries. If empty, the network "
        "learns how the games ended.",
        default="",
    )
    split_by: str = setting(
        "Divide the states into training, validation and test by game, or by state. By state makes the test "
        "metrics too good: states of one game are then in several parts.",
        choices=("game", "state"),
        default="game",
    )
    parts: tuple[float, float, float] = setting(
        "The shares of the training, validation and test states.", default=(0.92, 0.06, 0.02)
    )
    body: str = setting("The network's architecture: mlp, cnn, cnn_flat or linear.", default="mlp")
    options: Mapping[str, Any] = setting(
        "The body's options, such as hidden = [256, 128]. If hidden is not given, the number of training states "
        "decides the layers of an mlp, or the model in start_from.",
        default_factory=dict,
    )
    batch: int = setting(
        "The number of states in one step; 0: the number of training states decides.", span=(0, 2**24), default=0
    )
    epochs: int | None = setting(
        "Stop after this number of passes over the training states; 0 sets no limit. If not given, the number of "
        "training states decides, and there is no limit if steps are given.",
        span=(0, 10**9),
        default=None,
    )
    steps: int = setting("Stop after this number of steps; 0 sets no limit.", span=(0, 10**12), default=0)
    minutes: float = setting(
        "Stop after this many minutes, including those before the run was continued; 0 sets no limit. If epochs "
        "and steps are 0, the cosine schedule estimates how many steps fit into this time.",
        span=(0, 10**7),
        is_run=False,
        default=0.0,
    )
    learning_rate: float = setting("The highest learning rate.", span=(1e-12, 10), default=1e-3)
    schedule: str = setting(
        "The learning rate after the warm-up: constant, or cosine, which falls to final_rate times "
        "learning_rate at the end of the run.",
        choices=("constant", "cosine"),
        default="cosine",
    )
    warm_up: int = setting("The number of steps in which the learning rate rises from 0.", span=(0, 10**12), default=0)
    final_rate: float = setting(
        "The learning rate at the end of the cosine schedule, as a share of learning_rate.", span=(0, 1), default=0.0
    )
    optimiser: str = setting("adam or adamw.", choices=("adam", "adamw"), default="adam")
    weight_decay: float = setting(
        "The weight decay of adamw; it applies to weight matrices only.", span=(0, 10), default=0.0
    )
    clip: float = setting(
        "The largest norm of a step's gradient; larger gradients are scaled down. 0 sets no limit.",
        span=(0, 10**9),
        default=0.0,
    )
    ema: float = setting(
        "Validate and save an exponential moving average of the weights with this factor per step, such as 0.999; "
        "0 turns it off.",
        span=(0, 0.99999),
        default=0.0,
    )
    patience: int = setting(
        "Stop after this number of validations in a row without improvement; 0 never stops.", span=(0, 10**6), default=0
    )
    check_steps: int = setting(
        "The number of steps between validations, in addition to the one at the end of each epoch; 0 turns this off.",
        span=(0, 10**12),
        default=0,
    )
    start_from: str | None = setting(
        "A model whose weights the network starts with; if not given, random weights.", default=None
    )
    seed: int = setting(
        "Decides the initial weights, the dropout, the split and the order of the data.", span=(0, 2**63 - 1), default=0
    )
    device: str = setting(
        "Where the network is trained: auto, cpu or gpu.", choices=DEVICES, is_run=False, default="auto"
    )
    devices: int | str = setting(
        "How many devices of this machine share each batch; auto measures, and takes one unless all of them are "
        "faster.",
        is_run=False,
        default=1,
    )
    checkpoint_minutes: float = setting(
        "Minutes between checkpoints; 0 saves one after every validation.", span=(0, 10**6), is_run=False, default=5.0
    )
    threads: int | None = setting(
        "Threads that replay records; if not given, one per processor.", span=(1, 1024), is_run=False, default=None
    )

    def __post_init__(self) -> None:
        settings.check(self)
        object.__setattr__(self, "devices", number_of_devices(self.devices))
        whole = options.as_plain(options.options_of(self.body, self.options))
        is_open = self.body == "mlp" and "hidden" not in self.options
        object.__setattr__(self, "options", dict(self.options) if is_open else whole)
        if self.epochs is None and self.steps:
            object.__setattr__(self, "epochs", 0)
        self._refuse_contradictions()

    def _refuse_contradictions(self) -> None:
        if not self.data:
            raise CardaiError("data names no record file")
        if any(part < 0 for part in self.parts) or not math.isclose(sum(self.parts), 1.0, abs_tol=1e-6):
            raise CardaiError(f"parts must be three shares that sum to 1, not {list(self.parts)}")
        if self.parts[0] == 0:
            raise CardaiError(f"parts must leave something to train on, not {list(self.parts)}")
        if self.epochs == 0 and not (self.steps or self.minutes):
            raise CardaiError("epochs, steps and minutes are all 0, so training would never end; give one of them")
        if self.optimiser == "adam" and self.weight_decay:
            raise CardaiError(f"weight_decay {self.weight_decay} needs the optimiser adamw, not adam")
        if self.patience and not self.parts[1]:
            raise CardaiError(f"patience {self.patience} needs states to validate on, but their share in parts is 0")


def number_of_devices(value: int | str) -> int | str:
    """Return what the setting `devices` says: a number from 1 on, or `AUTO`. Raises CardaiError for anything else."""
    if value == AUTO:
        return AUTO
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if not isinstance(number, int) or not 1 <= number <= _MOST_DEVICES:
        raise CardaiError(f"devices must be 1 to {_MOST_DEVICES}, or auto, not {short(value)}")
    return number


def command(config: TrainConfig) -> str:
    """Return the command line of this run: a flag for each field that differs from its default, and for each option.

    Of the paths in `data` and `out` it has only the last part.
    """
    defaults = {field.name: field.default for field in dataclasses.fields(config)}
    words = ["cardai", "train"]
    for name, value in dataclasses.asdict(config).items():
        flag = f"--{name.replace('_', '-')}"
        if name == "data":
            paths = [Path(path).name for path in value]
            words += [flag, literal(paths) if any("," in path for path in paths) else ",".join(paths)]
        elif name == "out":
            words += [flag, Path(value).name]
        elif name == "options":
            words += [word for key in value for word in (f"{flag}.{key}", literal(value[key]))]
        elif value != defaults[name]:
            words += [flag, value if isinstance(value, str) else literal(value)]
    return shlex.join(words)
