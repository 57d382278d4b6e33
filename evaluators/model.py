"""Models: a network in one safetensors file whose metadata says all that is needed to use it, and how it came about.

    model = load("runs/nn1/model.safetensors")
    model.check_fits(game, variant="thesis", seats=4)
    scores = np.asarray(model.score(rows))

The file's metadata has one entry, `cardai`, a JSON object with the fields of `ModelMetadata`. `find` and `known` are
what the core asks for evaluators (`cardai.evaluators`). Nothing here imports jax before a model is read.
"""

import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np

from cardai.agents.evaluator import MOMENTS
from cardai.data.files import write_whole
from cardai.errors import CardaiError
from cardai.game import Game, Segment
from cardai.stats.machine import commit
from evaluators.bodies import options
from evaluators.scorer import set_device as set_device

if TYPE_CHECKING:
    from flax import nnx

    from evaluators.scorer import Scores

FORMAT = "cardai model 1"
FILE = "model.safetensors"
"""The model in the folder of a training run."""
SHIPPED = Path(__file__).parent / "models"
"""Where the models lie that come with this package: <game>/<name>.safetensors."""

_SUFFIX = ".safetensors"
_NAME = re.compile(r"[\w-][\w.-]*")
_LONGEST_HEADER = 1 << 24  # bytes; ours are a few thousand


@dataclass(frozen=True)
class ModelMetadata:
    """What a model is and how it came about; the file's metadata.

    `options`: those of the variant. `layout`: the encoder's segments for these seats, as (name, shape). `moment`: which
    states it judges, one of `MOMENTS`. `training`: the config; `data`: what it was trained on; `metrics`: figures;
    `seconds` it took; `command`: what makes it again. `stored`: the type of the weights in the file.
    """

    game: str
    game_version: int
    variant: str
    options: Mapping[str, int]
    seats: int
    encoder: str
    layout: tuple[tuple[str, tuple[int, ...]], ...]
    moment: str
    body: str
    body_options: Mapping[str, Any]
    about: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    command: str = ""
    commit: str = ""
    cardai: str = ""
    stored: str = "float32"

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The layout the network was built for."""
        return tuple(Segment(name, shape) for name, shape in self.layout)

    @property
    def fingerprint(self) -> str:
        """A hash of the layout."""
        return fingerprint(self.segments)


def fingerprint(layout: Sequence[Segment]) -> str:
    """A hash of the names and shapes of a layout's segments, in order."""
    text = json.dumps([[segment.name, list(segment.shape)] for segment in layout])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class Model:
    """A network with its facts; what `cardai.agents.evaluator.Evaluator` asks for, too.

    `module`: in evaluation mode; whoever changes its weights must make a new Model. `name`: what messages call it.
    """

    def __init__(self, facts: ModelMetadata, module: "nnx.Module", name: str = "") -> None:
        self.metadata, self.module, self.name = facts, module, name or f"{facts.body} of {facts.game}"
        module.eval()
        self.encoder, self.moment, self.seats = facts.encoder, facts.moment, facts.seats
        self.width = sum(segment.size for segment in facts.segments)

    @classmethod
    def of(
        cls,
        game: Game,
        module: "nnx.Module",
        *,
        body: str,
        body_options: Mapping[str, Any],
        moment: str,
        seats: int | None = None,
        variant: str | None = None,
        encoder: str | None = None,
        **more: Any,
    ) -> Self:
        """Return a model for the current version of a game. `more`: further fields of `ModelMetadata`.

        Raises CardaiError for a name that the game does not have.
        """
        variant = game.default_variant if variant is None else variant
        seats = game.default_seats if seats is None else seats
        game.options(seats, variant)
        layout = game.encoder(encoder).layout(seats)
        made: dict[str, Any] = {"commit": commit() or "", "cardai": importlib.metadata.version("cardai")}
        facts = ModelMetadata(
            game=game.name,
            game_version=game.version,
            variant=variant,
            options=dict(game.variants[variant]),
            seats=seats,
            encoder=next(iter(game.encoders)) if encoder is None else encoder,
            layout=tuple((segment.name, tuple(segment.shape)) for segment in layout),
            moment=moment,
            body=body,
            body_options=options.as_plain(options.options_of(body, body_options)),
            **made | more,
        )
        if moment not in MOMENTS:
            raise CardaiError(f"moment {moment!r} is none of {', '.join(MOMENTS)}")
        return cls(facts, module)

    def save(self, path: str | Path, half: bool = False) -> None:
        """Write the model to a file, whole or not at all. `half`: weights as float16, for small files.

        CardaiError when it cannot be written, or holds weights that are no numbers (or too large for float16).
        """
        from safetensors.numpy import save

        place = Path(path)
        tensors = tensors_of(self.module)
        if half:
            with np.errstate(over="ignore"):
                tensors |= {name: value.astype(np.float16) for name, value in tensors.items() if _is_weight(name)}
        for name, value in tensors.items():
            if not np.isfinite(value).all():
                raise CardaiError(f"cannot write {place}: {name} holds numbers that are not finite")
        facts = dataclasses.asdict(self.metadata) | {"format": FORMAT, "fingerprint": self.metadata.fingerprint}
        facts["stored"] = "float16" if half else "float32"
        for name, (fits, what) in _KINDS.items():
            if name != "layout" and not fits(facts[name]):
                raise CardaiError(f"cannot write {place}: {name} must be {what}, not {_short(facts[name])}")
        try:
            content = save(tensors, {"cardai": json.dumps(facts, allow_nan=False)})
        except ValueError:
            raise CardaiError(f"cannot write {place}: its metrics hold a number that is not finite") from None
        try:
            write_whole(place, content)
        except OSError as error:
            raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None

    @functools.cached_property
    def _scorer(self) -> Any:
        from evaluators.scorer import Scorer

        return Scorer(self.module)

    @property
    def batch(self) -> int:
        """How many rows it is best asked at once."""
        return self._scorer.batch

    def score(self, rows: np.ndarray) -> "Scores":
        """How good each position is for the seat whose view it is: u8[n, width] -> f4[n] in [0, 1], on its way.

        `rows` must stay as they are until the answer has been waited for (`np.asarray`). CardaiError for other rows.
        """
        if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != self.width:
            raise CardaiError(f"{self.name} judges rows u8[n, {self.width}], not {rows.dtype}{list(rows.shape)}")
        return self._scorer.score(rows)

    def check_fits(self, game: Game, variant: str | None = None, seats: int | None = None) -> None:
        """Raise CardaiError, which says what differs, unless the model judges this game.

        A variant of None is not looked at: that is how a model is played under another variant than its own.
        """
        facts = self.metadata
        if game.name != facts.game:
            raise CardaiError(f"{self.name} is a model of {facts.game}, not of {game.name}")
        if game.version != facts.game_version:
            raise CardaiError(
                f"{self.name} is a model of {game.name} version {facts.game_version}; here it is version {game.version}"
            )
        if seats is not None and seats != facts.seats:
            raise CardaiError(f"{self.name} is a model for {facts.seats} seats, not for {seats}")
        if facts.encoder not in game.encoders:
            raise CardaiError(
                f"{self.name} needs the encoder {facts.encoder!r}; {game.name} has {', '.join(game.encoders) or 'none'}"
            )
        if fingerprint(game.encoder(facts.encoder).layout(facts.seats)) != facts.fingerprint:
            raise CardaiError(
                f"{self.name} was made for another encoder {facts.encoder!r}: the layout of {game.name}'s has changed"
            )
        if variant is None:
            return
        if variant != facts.variant:
            raise CardaiError(f"{self.name} is a model of {game.name}'s variant {facts.variant!r}, not {variant!r}")
        if dict(game.variants[variant]) != dict(facts.options):
            raise CardaiError(
                f"{self.name} was made when the variant {variant!r} was {_listed(facts.options)}; now it is"
                f" {_listed(game.variants[variant])}"
            )


def tensors_of(module: "nnx.Module") -> dict[str, np.ndarray]:
    """What a network has learned, by its path in the network: weights and running statistics."""
    return {name: np.asarray(value[...]) for name, value in _learned(module).items()}


def with_tensors(module: "nnx.Module", tensors: Mapping[str, np.ndarray]) -> None:
    """Give a network what another of its kind has learned; names and shapes must be its own."""
    import jax

    learned = _learned(module)
    assert learned.keys() == tensors.keys()
    for name, variable in learned.items():
        assert variable.shape == tensors[name].shape
        variable.set_value(jax.device_put(np.array(tensors[name], np.float32)))


def load(path: str | Path) -> Model:
    """The model in a file. CardaiError, which names file and reason, when it is none or is damaged."""
    place = Path(path)
    facts, tensors = _read(place)
    from evaluators.bodies.build import build

    module = build(facts.body, facts.body_options, facts.segments, seed=0)
    with_tensors(module, tensors)
    return Model(facts, module, str(path))


def read_metadata(path: str | Path) -> ModelMetadata:
    """What the model in a file says about itself, without its weights. CardaiError when the file is no model."""
    place = Path(path)
    try:
        with place.open("rb") as file:
            return _facts(place, _header(place, file))
    except OSError as error:
        raise CardaiError(f"cannot read {place}: {error.strerror or error}") from None


def find(game: Game, name: str) -> Model | None:
    """The model that goes by a name: one that is shipped for the game, a file, or the folder of a training run.

    None when it is none of these and does not look like a path; CardaiError when it is broken, or looks like a path
    where nothing is. The same file is loaded once in a process.
    """
    try:
        place = _place(game, name)
        return None if place is None else _loaded(place, name)
    except OSError as error:
        raise CardaiError(f"cannot read the model {name}: {error.strerror or error}") from None


def known(game: Game) -> dict[str, str]:
    """The models shipped for a game, with a line about each."""
    return {place.stem: _about(read_metadata(place)) for place in sorted((SHIPPED / game.name).glob(f"*{_SUFFIX}"))}


def _about(facts: ModelMetadata) -> str:
    line = f"{facts.body}, {facts.moment}, {facts.seats} seats, variant {facts.variant}"
    return f"{facts.about} ({line})" if facts.about else line


def _place(game: Game, name: str) -> Path | None:
    """Where the model of that name should be; OSError when that cannot be looked at."""
    shipped = SHIPPED / game.name / f"{name}{_SUFFIX}"
    if _NAME.fullmatch(name) and len(name) < 100 and shipped.is_file():
        return shipped
    if "/" not in name and os.sep not in name and not name.endswith(_SUFFIX) and not Path(name).exists():
        return None
    place = Path(name)
    if not place.is_dir():
        return place
    if not (place / FILE).is_file():
        raise CardaiError(f"the folder {place} holds no {FILE}: it is not a training run, or has not got that far")
    return place / FILE


def _loaded(place: Path, name: str) -> Model:
    found = place.stat()
    if not place.is_file():
        raise CardaiError(f"{place} is not a file")
    key = (place.resolve(), found.st_mtime_ns, found.st_size)
    if key not in _LOADED:
        model = load(place)
        model.name = name
        _LOADED[key] = model
    return _LOADED[key]


def _learned(module: "nnx.Module") -> dict[str, Any]:
    """A network's weights and running statistics, as flax variables, by their paths."""
    from flax import nnx

    found = [(path, node) for path, node in nnx.iter_graph(module) if isinstance(node, nnx.Param | nnx.BatchStat)]
    return {".".join(str(part) for part in path): node for path, node in found}


def _read(place: Path) -> tuple[ModelMetadata, dict[str, np.ndarray]]:
    """A file's facts and tensors, checked against each other; nothing large is read or built before that."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as tensors_in

    try:
        with place.open("rb") as file:
            header = _header(place, file)
            facts = _facts(place, header)
            _check_tensors(place, facts, header, os.fstat(file.fileno()).st_size - file.tell())
            file.seek(0)
            tensors = tensors_in(file.read())
    except OSError as error:
        raise CardaiError(f"cannot read {place}: {error.strerror or error}") from None
    except SafetensorError as error:
        raise _refusal(place, str(error)) from None
    for name, value in tensors.items():
        if not np.isfinite(value).all():
            raise _refusal(place, f"{name} holds numbers that are not finite")
        if name.endswith("variance") and value.size and value.min() < 0:
            raise _refusal(place, f"{name} holds negative numbers")
    return facts, tensors


def _header(place: Path, file: BinaryIO) -> dict[str, Any]:
    """The header of an open file; afterwards the file stands at its end."""
    size, start = os.fstat(file.fileno()).st_size, file.read(8)
    if len(start) < 8:
        raise _refusal(place, f"it has only {size} bytes")
    length = int.from_bytes(start, "little")
    if length > size - 8:
        raise _refusal(place, f"its header says it is {length} bytes long, the whole file has {size}")
    if length > _LONGEST_HEADER:
        raise _refusal(place, f"its header has {length} bytes, more than {_LONGEST_HEADER}")
    return _object(place, "its header", file.read(length))


def _facts(place: Path, header: Mapping[str, Any]) -> ModelMetadata:
    metadata = header.get("__metadata__")
    text = metadata.get("cardai") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise _refusal(place, "its metadata has no entry 'cardai'")
    said = _object(place, "the entry 'cardai' of its metadata", text)
    if said.get("format") != FORMAT:
        raise _refusal(place, f"its format is {said.get('format')!r}, not {FORMAT!r}")
    for name, (fits, what) in _KINDS.items():
        if name not in said:
            raise _refusal(place, f"its metadata lacks {name!r}")
        if not fits(said[name]):
            raise _refusal(place, f"{name} must be {what}, not {_short(said[name])}")
    kept: dict[str, Any] = {one.name: said[one.name] for one in dataclasses.fields(ModelMetadata)}
    kept["layout"] = tuple((name, tuple(shape)) for name, shape in said["layout"])
    facts = ModelMetadata(**kept)
    if said.get("fingerprint") != facts.fingerprint:
        raise _refusal(place, f"its fingerprint {_short(said.get('fingerprint'))} is not that of its layout")
    return facts


def _check_tensors(place: Path, facts: ModelMetadata, header: Mapping[str, Any], room: int) -> None:
    """Refuse tensors that are not those of the network the facts speak of; `room`: bytes after the header."""
    from flax import nnx

    from evaluators.bodies.build import construct

    try:
        module = nnx.eval_shape(lambda: construct(facts.body, facts.body_options, facts.segments))
    except CardaiError as error:
        raise _refusal(place, str(error)) from None
    wanted = {name: (_stored(facts, name), list(variable.shape)) for name, variable in _learned(module).items()}
    there = {name: entry for name, entry in header.items() if name != "__metadata__"}
    for name in sorted(wanted.keys() ^ there.keys()):
        raise _refusal(place, f"it {'lacks' if name in wanted else 'should not have'} the tensor {name}")
    total = 0
    for name, (kind, shape) in wanted.items():
        entry = there[name]
        found = (entry.get("dtype"), entry.get("shape")) if isinstance(entry, dict) else (None, None)
        if found != (kind, shape):
            raise _refusal(place, f"{name} is {found[0]} {_short(found[1])}, it should be {kind} {shape}")
        total += math.prod(shape) * (2 if kind == "F16" else 4)
    if room != total:
        raise _refusal(place, f"{room} bytes follow its header, its tensors are {total}: it is truncated or damaged")


def _stored(facts: ModelMetadata, name: str) -> str:
    """How a tensor is stored in the file; running statistics always as they are."""
    return "F16" if facts.stored == "float16" and _is_weight(name) else "F32"


def _is_weight(name: str) -> bool:
    return name.endswith(("kernel", "bias"))


def _object(place: Path, what: str, text: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise _refusal(place, f"{what} is not JSON") from None
    if not isinstance(found, dict):
        raise _refusal(place, f"{what} is not a JSON object")
    return found


def _refusal(place: Path, why: str) -> CardaiError:
    return CardaiError(f"{place} is not a sound cardai model: {why}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _listed(options: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "without options"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_layout(value: Any) -> bool:
    """A list of [name, shape], of a row that is not absurdly long."""
    if not isinstance(value, list) or not 1 <= len(value) <= options.WIDEST:
        return False
    for entry in value:
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            return False
        shape = entry[1]
        if not isinstance(shape, list) or len(shape) > 4 or not all(_is_count(n) for n in shape):
            return False
    return sum(math.prod(shape) for _, shape in value) <= options.WIDEST


_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "game": (_is_text, "a printable text"),
    "game_version": (_is_count, "a whole number"),
    "variant": (_is_text, "a printable text"),
    "options": (lambda said: _is_table(said) and all(type(n) is int for n in said.values()), "whole numbers by name"),
    "seats": (lambda value: _is_count(value) and 1 <= value <= 62, "a whole number from 1 to 62"),
    "encoder": (_is_text, "a printable text"),
    "layout": (_is_layout, "a list of segments, each a name and a shape"),
    "moment": (lambda value: value in MOMENTS, f"one of {', '.join(MOMENTS)}"),
    "body": (_is_text, "a printable text"),
    "body_options": (_is_table, "a table"),
    "about": (_is_text, "a printable text"),
    "training": (_is_table, "a table"),
    "data": (_is_table, "a table"),
    "metrics": (_is_table, "a table"),
    "seconds": (lambda value: type(value) in (int, float) and math.isfinite(value), "a number"),
    "command": (_is_text, "a printable text"),
    "commit": (_is_text, "a printable text"),
    "cardai": (_is_text, "a printable text"),
    "stored": (lambda value: value in ("float32", "float16"), "float32 or float16"),
}
"""What each entry of the metadata must be; none may be missing."""

_LOADED: dict[tuple[Path, int, int], Model] = {}
