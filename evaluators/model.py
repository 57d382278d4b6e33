"""Models: networks that score positions. A model is one safetensors file, and its metadata say how to use it.

    model = load("runs/nn1/model.safetensors")
    model.check_fits(game, variant="thesis", seats=4)
    scores = np.asarray(model.score(rows))

The core finds models by name through `find` and `known` (the entry-point group `cardai.evaluators`). Nothing here
imports jax before a model is read.
"""

import dataclasses
import functools
import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cardai.errors import BadArgument, CardaiError, short
from cardai.evaluators.bodies import options
from cardai.evaluators.bodies.arrays import hidden_of, layers_of
from cardai.evaluators.jax_start import check_devices
from cardai.evaluators.model_metadata import MODEL_FILE, ModelMetadata, is_weight
from cardai.evaluators.network_file import SUFFIX, set_tensors, shipped_files, tensors_of
from cardai.evaluators.network_metadata import layout_of
from cardai.evaluators.scorer import chosen
from cardai.evaluators.scorer import set_device as set_device
from cardai.files.named import note, place_of
from cardai.game import Game, check_table, is_game
from cardai.game.compiled.doors import check_flag, check_kind, check_path, check_text
from cardai.playing.agents.adjusted import HeldEvaluator
from cardai.playing.agents.evaluator import MOMENTS, Evaluator, Known
from cardai.playing.compiled.dense import DenseNetwork, network
from cardai.records.own_games import constant_columns, natural_shift
from cardai.records.recipe import Recipe
from cardai.rules import JIT

if TYPE_CHECKING:
    from flax import nnx

    from cardai.evaluators.scorer import Scores

FILE = "model.safetensors"
"""The name of the model's file in the folder of a training run."""
SHIPPED = Path(__file__).parent / "models"
"""The folder of the models that come with this package: <game>/<name>.safetensors."""

MOST_WEIGHTS = 1 << 19
"""The most weights after the first layer with which compiled code scores a model by itself. JAX, which multiplies whole
batches, is faster with more."""
NATIVE_BATCH = 1024
"""How many rows at once a model is best asked to score by compiled code, which takes as long for each row."""


class Model:
    """A network with its metadata. It is a `cardai.playing.agents.evaluator.Evaluator`.

    `network`: the network, or its tensors by name, f4, as `tensors` returns them. Its weights may not be changed; make
    a new Model for other weights. `name`: what messages call the model.
    """

    is_foreign = False

    def __init__(
        self, metadata: ModelMetadata, network: "nnx.Module | Mapping[str, np.ndarray]", name: str = ""
    ) -> None:
        check_kind("metadata", metadata, ModelMetadata, "ModelMetadata")
        if isinstance(network, Mapping):
            shapes = {name: spec.shape for name, spec in MODEL_FILE.expected_tensors(metadata).items()}
            if {name: np.shape(value) for name, value in network.items()} != shapes:
                raise BadArgument(
                    f"network must be a network or the tensors of a {metadata.body}, not {short(network)}"
                )
        else:
            _check_module(network)
        own_name = check_text("name", name) or f"{metadata.body} of {metadata.game}"
        self.metadata, self._given, self.name = metadata, network, own_name
        self.encoder, self.moment, self.seats = metadata.encoder, metadata.moment, metadata.seats
        self.width = sum(segment.size for segment in metadata.segments)
        self._held: dict[Game, HeldEvaluator] = {}

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
        """Return a model for the present version of a game. `more`: further fields of `ModelMetadata`.

        Raises CardaiError for a name that does not exist.
        """
        is_game(game).options(seats, variant)
        variant = game.canonical(variant)
        seats = game.default_seats if seats is None else int(seats)
        if check_text("moment", moment) not in MOMENTS:
            raise BadArgument(f"moment must be one of {', '.join(MOMENTS)}, not {short(moment)}")
        check_kind("body_options", body_options, Mapping, "options by name")
        _check_module(module)
        checked = options.options_of(check_text("body", body), body_options)
        encoder = next(iter(game.learning.encoders)) if encoder is None else encoder
        metadata = ModelMetadata.of(
            game,
            variant,
            seats,
            encoder,
            layout=tuple((segment.name, tuple(segment.shape)) for segment in layout_of(game, encoder, seats)),
            moment=moment,
            body=body,
            body_options=options.as_plain(checked),
            **more,
        )
        return cls(metadata, module)

    def save(self, path: str | Path, half: bool = False) -> None:
        """Write the model to a file, whole or not at all. `half`: store the weights as float16, for a small file.

        Raises CardaiError if the file cannot be written, or if a weight is not finite (or too large for float16).
        """
        path, tensors = check_path("path", path), dict(self.tensors)
        if check_flag("half", half):
            with np.errstate(over="ignore"):
                tensors |= {name: value.astype(np.float16) for name, value in tensors.items() if is_weight(name)}
        entries = dataclasses.asdict(self.metadata) | {"stored": "float16" if half else "float32"}
        entries |= {"format": MODEL_FILE.format, "fingerprint": self.metadata.fingerprint}
        MODEL_FILE.write(path, entries, tensors)

    def as_onnx(self) -> bytes:
        """Return the model as the content of an ONNX file, see `onnx_file`. Raises CardaiError if onnx is missing."""
        from cardai.evaluators.onnx_file import onnx_of

        return onnx_of(self.metadata, self.tensors)

    @functools.cached_property
    def module(self) -> "nnx.Module":
        """The network as a flax module, in evaluation mode. A model that was read from a file builds it here."""
        if isinstance(self._given, Mapping):
            check_devices()
            from cardai.evaluators.bodies.build import build

            module = build(self.metadata.body, self.metadata.body_options, self.metadata.segments, seed=0)
            set_tensors(module, self._given)
        else:
            module = self._given
        module.eval()
        return module

    @property
    def tensors(self) -> Mapping[str, np.ndarray]:
        """The weights and running statistics by name, f4."""
        return self._given if isinstance(self._given, Mapping) else tensors_of(self._given)

    @property
    def network(self) -> DenseNetwork | None:
        """The network that compiled code scores; None if JAX does (see `set_device`).

        Raises CardaiError if native scoring was chosen and the body is not dense.
        """
        device, scorer = chosen()
        if scorer == "jax" or not JIT or (scorer == "auto" and (device == "gpu" or self._later_weights > MOST_WEIGHTS)):
            return None
        if self._later_weights == np.inf:
            body = self.metadata.body
            raise CardaiError(f"{self.name} is a {body}; scorer 'native' scores only the bodies mlp and linear")
        return self._network

    @functools.cached_property
    def _later_weights(self) -> float:
        """How many weights the layers after the first one have; infinitely many if the body is not dense."""
        hidden = hidden_of(options.options_of(self.metadata.body, self.metadata.body_options))
        return np.inf if hidden is None else sum(one * other for one, other in itertools.pairwise([*hidden, 1]))

    @functools.cached_property
    def _network(self) -> DenseNetwork:
        return network(layers_of(self.tensors))

    @functools.cached_property
    def _scorer(self) -> Any:
        from cardai.evaluators.scorer import Scorer

        return Scorer(self.module)

    @property
    def batch(self) -> int:
        """The number of rows that is best scored at once."""
        return NATIVE_BATCH if self.network is not None else self._scorer.batch

    def score(self, rows: np.ndarray) -> "Scores | np.ndarray":
        """Score positions for the seats that see them: rows u8[n, width] -> f4[n] in [0, 1].

        JAX returns before the work is done; `np.asarray` waits for the scores, and `rows` may not be changed before
        that. Raises CardaiError for rows of another type or width.
        """
        if not isinstance(rows, np.ndarray):
            raise BadArgument(f"{self.name} scores rows u8[n, {self.width}], not {short(rows)}")
        if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != self.width:
            raise BadArgument(f"{self.name} scores rows u8[n, {self.width}], not {rows.dtype}{list(rows.shape)}")
        network = self.network
        return self._scorer.score(rows) if network is None else network.score(rows)

    def check_fits(self, game: Game, variant: str | None = None, seats: int | None = None) -> None:
        """Raise CardaiError, which says what differs, unless the model can score positions of this game.

        `variant`, `seats`: those of the table. None is not checked: a model may play a variant that is not its own.
        """
        self.metadata.check_fits(game, variant, seats, self.name)

    def at_table(self, game: Game, states: np.ndarray) -> Evaluator:
        """Return the evaluator of a table, whose options stand in STATE[n] `states`: the model itself if they are its
        own variant's, otherwise the model with the inputs held that never vary in its own variant.

        The weights of such an input are arbitrary, since training could not change them. Raises CardaiError if the
        game does not have the model's own variant any more.
        """
        own, states = self.metadata, check_table(game, states)
        if own.is_own_variant(game, states, self.name):
            return self
        if game not in self._held:
            held = constant_columns(game, own.variant, own.seats, own.encoder, own.moment)
            self._held[game] = HeldEvaluator(self, *held)
        return self._held[game]

    def natural_shift(self, game: Game) -> float:
        """Return what to add to the log odds of the scores so that they say how often the label comes in play.

        It is 0 if the model was trained on states as they come, or does not say on which. Labels of a teacher whose
        scale is not recorded are as far from natural play as their mean was in training.
        """
        is_game(game)
        own = self.metadata
        recipe = dict(own.data.get("recipe") or {})
        mean = dict(own.metrics.get("validation") or {}).get("prior")
        is_taught = bool(recipe.get("teacher")) and own.data.get("labels") != "natural" and mean is not None
        if not is_taught and recipe.get("balance", "natural") == "natural":
            return 0.0
        asked = Recipe(own.encoder, own.moment, recipe.get("states", "all"), 0, recipe.get("balance", "natural"),
                       recipe.get("label", "score"))  # fmt: skip
        return natural_shift(game, own.variant, own.seats, asked, mean if is_taught else None)


def load(path: str | Path) -> Model:
    """Read the model in a file. Raises CardaiError, which names file and reason, if it holds no model or is damaged."""
    metadata, tensors = MODEL_FILE.read(check_path("path", path))
    for name, value in tensors.items():
        if name.endswith("variance") and value.size and value.min() < 0:
            raise MODEL_FILE.refusal(Path(path), f"{name} holds negative numbers")
    return Model(metadata, {name: value.astype(np.float32) for name, value in tensors.items()}, str(path))


def read_metadata(path: str | Path) -> ModelMetadata:
    """Read a model's metadata without its weights. Raises CardaiError if the file holds no model."""
    return MODEL_FILE.read_metadata(check_path("path", path))


def find(game: Game, name: str) -> Model | None:
    """Return the model of this name: a model shipped for the game, a file, or the folder of a training run.

    Returns None if there is none and the name does not look like a path. Raises CardaiError if the model is broken, or
    if the name looks like a path and nothing is there. A file is loaded once by each of its names.
    """
    is_game(game)
    check_text("name", name)
    try:
        place = place_of(name) or _place(game, name)
        if place is None:
            return None
        note(name, place)
        status = place.stat()
        if not place.is_file():
            raise CardaiError(f"{place} is not a file")
        return _loaded(place, name, place.resolve(), status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise CardaiError(f"cannot read the model {name}: {error.strerror or error}") from None


def known(game: Game) -> dict[str, Known]:
    """Return the models shipped for a game, by name."""
    shipped = {name: read_metadata(place) for name, place in shipped_files(SHIPPED, is_game(game).name).items()}
    return {name: Known(_about(metadata), metadata.moment) for name, metadata in shipped.items()}


def _check_module(module: Any) -> None:
    if not callable(module) or not hasattr(module, "eval"):
        raise BadArgument(f"module must be a network (a flax nnx.Module), not {short(module)}")


def _about(metadata: ModelMetadata) -> str:
    line = f"{metadata.body}, {metadata.moment}, {metadata.seats} seats, variant {metadata.variant}"
    return f"{metadata.about} ({line})" if metadata.about else line


def _place(game: Game, name: str) -> Path | None:
    """Return where the model of that name should be. Raises OSError if the place cannot be looked at."""
    if shipped := shipped_files(SHIPPED, game.name).get(name):
        return shipped
    if "/" not in name and os.sep not in name and not name.endswith(SUFFIX) and not Path(name).exists():
        return None
    place = Path(name)
    if not place.is_dir():
        return place
    if not (place / FILE).is_file():
        raise CardaiError(
            f"the folder {place} holds no {FILE}: it is not a training run, or the run has made no model yet"
        )
    return place / FILE


@functools.cache
def _loaded(place: Path, name: str, *_: Any) -> Model:
    """The model in a file, which is read once for its name, its absolute path, its size and when it was changed."""
    model = load(place)
    model.name = name
    return model
