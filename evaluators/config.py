"""What a training run is: one frozen value, from a TOML file, from flags or from Python.

    config = read_config("nn1.toml", {"learning_rate": "3e-4", "options": {"hidden": "[256, 128]"}})

It is kept as TOML in the run's folder.
"""

import dataclasses
import hashlib
import json
import math
import os
import shlex
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cardai.evaluator import MOMENTS
from cardai.features import BALANCES, LABELS, STATES
from cardai.game import CardaiError
from cardai.registry import unknown
from evaluators import bodies
from evaluators.scorer import DEVICES

_CHOICES: dict[str, tuple[str, ...]] = {
    "moment": MOMENTS,
    "states": STATES,
    "balance": BALANCES,
    "label": tuple(LABELS),
    "split_by": ("game", "state"),
    "schedule": ("constant", "cosine"),
    "optimiser": ("adam", "adamw"),
    "device": DEVICES,
}

_RANGES: dict[str, tuple[float, float]] = {
    "per_game": (0, 10**6),
    "limit": (0, 10**12),
    "batch": (1, 2**24),
    "epochs": (0, 10**9),
    "steps": (0, 10**12),
    "minutes": (0, 10**7),
    "learning_rate": (1e-12, 10),
    "warm_up": (0, 10**12),
    "final_rate": (0, 1),
    "weight_decay": (0, 10),
    "clip": (0, 10**9),
    "ema": (0, 0.99999),
    "patience": (0, 10**6),
    "check_steps": (0, 10**12),
    "seed": (0, 2**63 - 1),
    "checkpoint_minutes": (0, 10**6),
    "threads": (1, 1024),
}

_NOT_THE_RUN = ("data", "out", "minutes", "device", "threads", "checkpoint_minutes")
"""Fields that may change when a run goes on: where things lie, how long and on what it is computed."""


def _field(about: str, **default: Any) -> Any:
    """A field whose one line of help `--help`, the TOML file and the documentation show."""
    return field(metadata={"about": about}, **default)


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides what comes out of a training run. Raises CardaiError for an impossible value.

    `options` are completed with the body's defaults.
    """

    game: str = _field("The game that is learned.")
    data: tuple[str, ...] = _field("Record files, or folders of them.")
    out: str = _field("The run's folder: checkpoints, metrics, figures and the model.")
    variant: str | None = _field("The variant the records must be of; whatever they are of if not given.", default=None)
    encoder: str | None = _field("The encoder of the states; the game's first if not given.", default=None)
    moment: str = _field(
        "Which states are learned: before_draw (the decision made, chance not yet) or drawn (after both).",
        default="before_draw",
    )
    states: str = _field("all, or choices: only states after decisions with more than one legal move.", default="all")
    per_game: int = _field("At most so many states of a game, drawn at random; 0 is all.", default=0)
    limit: int = _field("At most so many states in all; 0 is all.", default=0)
    balance: str = _field(
        "natural, or loser: all states of a game's losers and as many drawn from the other seats.", default="natural"
    )
    agents: tuple[str, ...] = _field(
        "Only states of seats whose agent's spec begins with one of these; none is all.", default=()
    )
    label: str = _field(
        "What is learned: score, the seat's at the end of the game; win, 1 if that is 1; not_lost, 1 unless it is 0.",
        default="score",
    )
    split_by: str = _field(
        "game, or state, which flatters the test figures: states of a game are then on both sides.", default="game"
    )
    parts: tuple[float, float, float] = _field(
        "The shares of training, validation and test.", default=(0.92, 0.06, 0.02)
    )
    body: str = _field("The kind of network: mlp, cnn, cnn_flat or linear.", default="mlp")
    options: Mapping[str, Any] = _field("The body's options, such as hidden = [256, 128].", default_factory=dict)
    batch: int = _field("States in a step.", default=16384)
    epochs: int = _field("Stop after so many passes over the training states; 0 is no limit.", default=10)
    steps: int = _field("Stop after so many steps; 0 is no limit.", default=0)
    minutes: float = _field(
        "Stop after so many minutes, those of a stopped run counted in; 0 is no limit. Without epochs and steps, cosine"
        " plans as many steps as they allow.",
        default=0.0,
    )
    learning_rate: float = _field("The highest learning rate.", default=1e-3)
    schedule: str = _field("constant, or cosine: falls to final_rate over the whole run.", default="cosine")
    warm_up: int = _field("Steps over which the learning rate rises from nothing.", default=0)
    final_rate: float = _field("The share of the learning rate that cosine ends with.", default=0.0)
    optimiser: str = _field("adam or adamw.", default="adam")
    weight_decay: float = _field("Weight decay of adamw, on matrices alone.", default=0.0)
    clip: float = _field("The greatest norm of a step's gradient; 0 is no limit.", default=0.0)
    ema: float = _field(
        "Validate and keep a moving average of the weights with this factor a step, such as 0.999; 0 is off.",
        default=0.0,
    )
    patience: int = _field("Stop after so many validations in a row without a better one; 0 is never.", default=0)
    check_steps: int = _field("Validate every so many steps besides the end of an epoch; 0 is not.", default=0)
    start_from: str | None = _field(
        "A model whose weights the network begins with; fresh ones if not given.", default=None
    )
    seed: int = _field("Decides initial weights, dropout, split and order of the data.", default=0)
    device: str = _field("auto, cpu or gpu.", default="auto")
    checkpoint_minutes: float = _field("Minutes between checkpoints; 0 is one after every validation.", default=5.0)
    threads: int | None = _field("Threads that replay records; as many as processors if not given.", default=None)

    def __post_init__(self) -> None:
        for one in dataclasses.fields(self):
            kept = _typed(one.name, getattr(self, one.name))
            object.__setattr__(self, one.name, kept)
            _refuse_outside(one.name, kept)
        object.__setattr__(self, "options", bodies.as_plain(bodies.options_of(self.body, self.options)))
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
        return {name: value for name, value in as_plain(self).items() if name not in _NOT_THE_RUN}

    def fingerprint(self) -> str:
        """A hash of `identity`."""
        text = json.dumps(self.identity(), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def about(name: str) -> str:
    """The one line of help of a field."""
    return next(one.metadata["about"] for one in dataclasses.fields(TrainConfig) if one.name == name)


def read_config(path: str | Path | None = None, overrides: Mapping[str, Any] | None = None) -> TrainConfig:
    """A config from a TOML file, its fields replaced by those of `overrides` that are not None.

    Overrides may be text as a command line has it ("3e-4", "[256, 128]"); `options` are merged key by key. A relative
    path in the file's `data` and `out` is taken from the folder one is in. Raises CardaiError for what does not fit.
    """
    values = _read_toml(Path(path)) if path is not None else {}
    for name, value in (overrides or {}).items():
        if value is None:
            continue
        _refuse_unknown(name)
        if name == "options":
            given = {key: _literal(text) for key, text in _typed(name, value).items()}
            values[name] = {**values.get(name, {}), **given}
        else:
            values[name] = _from_text(name, value) if isinstance(value, str) else value
    missing = [
        one.name
        for one in dataclasses.fields(TrainConfig)
        if one.name not in values and one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    ]
    if missing:
        where = f"{path} " if path is not None else "a training config "
        raise CardaiError(f"{where}must say {' and '.join(missing)}: {about(missing[0])}")
    return TrainConfig(**values)


def write_config(config: TrainConfig, path: str | Path) -> None:
    """Keep a config as TOML, each field with its line of help. Raises CardaiError when it cannot be written."""
    place = Path(path)
    unfinished = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        unfinished.write_text(as_toml(config), "utf-8")
        unfinished.replace(place)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None


def as_toml(config: TrainConfig) -> str:
    """A config as TOML text that `read_config` reads back; fields that are None are left out."""
    lines = []
    for one in dataclasses.fields(config):
        value = getattr(config, one.name)
        if one.name == "options":
            continue
        said = f"{one.name} = {_toml(value)}" if value is not None else f"# {one.name} ="
        lines.append(f"{said}  # {one.metadata['about']}")
    lines += ["", f"[options]  # {about('options')}"]
    lines += [f"{_toml_key(key)} = {_toml(value)}" for key, value in config.options.items()]
    return "\n".join(lines) + "\n"


def as_plain(config: TrainConfig) -> dict[str, Any]:
    """A config as plain JSON types."""
    return json.loads(json.dumps(dataclasses.asdict(config), default=dict))


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
            words += [word for key in _chosen(config) for word in (f"{flag}.{key}", _toml(value[key]))]
        elif value != usual[name]:
            words += [flag, value if isinstance(value, str) else _toml(value)]
    return shlex.join(words)


def _chosen(config: TrainConfig) -> list[str]:
    """The options that would be different if they were not given."""
    chosen = dict(config.options)
    for name in reversed(list(config.options)):
        others = {key: value for key, value in chosen.items() if key != name}
        try:
            if bodies.as_plain(bodies.options_of(config.body, others)) == config.options:
                chosen = others
        except CardaiError:  # it is needed beside the others
            continue
    return list(chosen)


def difference(one: TrainConfig, other: TrainConfig) -> str:
    """The fields in which two configs are different runs, in words; empty when there is none."""
    first, second = one.identity(), other.identity()
    return " and ".join(
        f"{name} {first[name]!r}, not {second[name]!r}" for name in first if first[name] != second[name]
    )


def _read_toml(place: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(place.read_text("utf-8"))
    except OSError as error:
        raise CardaiError(f"cannot read {place}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CardaiError(f"{place} is not TOML: {error}") from None
    for name in values:
        try:
            _refuse_unknown(name)
        except CardaiError as error:
            raise CardaiError(f"{place}: {error}") from None
    return values


def _refuse_unknown(name: str) -> None:
    names = [one.name for one in dataclasses.fields(TrainConfig)]
    if name not in names:
        raise CardaiError(f"training config: {unknown('field', name, names)}")


def _refuse_outside(name: str, value: Any) -> None:
    if name in _CHOICES and value not in _CHOICES[name]:
        raise CardaiError(f"{name}: {unknown('choice', value, _CHOICES[name])}")
    if name in _RANGES and value is not None:
        low, high = _RANGES[name]
        if not low <= value <= high:
            raise CardaiError(f"{name} must be {low:g} to {high:g}, not {value}")


def _typed(name: str, value: Any) -> Any:
    """A value as its field holds it: lists become tuples, whole numbers floats where those are meant. CardaiError."""
    wanted = _TYPES[name]
    alternatives = typing.get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    for kind in alternatives:
        found = _as_kind(kind, value)
        if found is not _NOT:
            return found
    raise CardaiError(f"{name} must be {_words(alternatives[0])}, not {value!r}")


_NOT = object()


def _as_kind(kind: Any, value: Any) -> Any:
    if kind is types.NoneType:
        return None if value is None else _NOT
    if typing.get_origin(kind) is tuple:
        return _as_tuple(typing.get_args(kind), value)
    if typing.get_origin(kind) is Mapping:
        return dict(value) if isinstance(value, Mapping) and all(isinstance(key, str) for key in value) else _NOT
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind or (kind is float and not math.isfinite(value)):
        return _NOT
    return value


def _as_tuple(kinds: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return _NOT
    each = (kinds[0],) * len(value) if kinds[-1] is Ellipsis else kinds
    found = tuple(_as_kind(kind, item) for kind, item in zip(each, value, strict=False))
    return found if len(found) == len(value) == len(each) and _NOT not in found else _NOT


def _words(kind: Any) -> str:
    if typing.get_origin(kind) is tuple:
        kinds = typing.get_args(kind)
        return "a list of texts" if kinds[-1] is Ellipsis else f"{len(kinds)} numbers"
    if typing.get_origin(kind) is Mapping:
        return "a table of names and values"
    return {int: "a whole number", float: "a number", str: "a text"}[kind]


def _from_text(name: str, text: str) -> Any:
    """A field's value from a command line: plain text for fields that hold text, otherwise as TOML has it."""
    wanted = _TYPES[name]
    if str in (wanted, *typing.get_args(wanted)) and typing.get_origin(wanted) is not tuple:
        return text
    if name in ("data", "agents"):
        return tuple(text.split(","))
    return _literal(text)


def _literal(text: Any) -> Any:
    """A text as TOML reads a value: 3, 0.5, true, [1, 2]; whatever is none of these stays text."""
    if not isinstance(text, str):
        return text
    try:
        read = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return read["value"] if list(read) == ["value"] else text


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_toml_key(key)} = {_toml(item)}' for key, item in value.items())}}}"
    raise CardaiError(f"options: {value!r} is neither a number, a text, true or false, nor a list of them")


def _toml_key(key: str) -> str:
    return (
        key
        if key and key.replace("_", "").replace("-", "").isascii() and key.replace("_", "a").replace("-", "a").isalnum()
        else json.dumps(key, ensure_ascii=False)
    )


_TYPES: dict[str, Any] = {one.name: one.type for one in dataclasses.fields(TrainConfig)}
