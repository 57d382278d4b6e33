"""Policies as players and as files: `policy:FILE`, one safetensors file whose metadata says all that is needed.

    policy = load("mine.safetensors")
    agent = policy.agent()          # draws its moves; policy.agent(greedy=True) plays the likeliest

The file's metadata has one entry, `cardai`, a JSON object with the fields of `PolicyMetadata`.
"""

import dataclasses
import hashlib
import importlib.metadata
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from flax import nnx

from cardai.agents.spec import Agent
from cardai.data.files import write_whole
from cardai.errors import CardaiError
from cardai.game import Game, Segment
from cardai.kernel import driver
from cardai.stats.machine import commit
from evaluators.bodies.options import DEEPEST, WIDEST
from evaluators.network_file import layout_fingerprint, set_tensors, tensors_of
from evaluators.policies.decisions import DecisionEncoder
from evaluators.policies.network import Network, best, drawn, forward, on_device, parts, probabilities

FORMAT = "cardai policy 1"

Judge = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""(rows u8[n, width], masks bool[n, A], luck f8[n] in [0, 1)) -> actions i64[n]."""


@dataclass(frozen=True)
class PolicyMetadata:
    """What a policy is and how it came about; the file's metadata.

    `options`: those of the variant. `layout`: a hash of the encoder's segments, `width` values in all. `numbering`: a
    hash of the moves with their numbers, `actions` in all. `hidden`: units of the hidden layers. `training`: the
    recipe; `metrics`: figures; `seconds` it took.
    """

    game: str
    game_version: int
    variant: str
    options: Mapping[str, int]
    seats: int
    encoder: str
    layout: str
    width: int
    numbering: str
    actions: int
    hidden: tuple[int, ...]
    about: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    commit: str = ""
    cardai: str = ""


class Policy:
    """A network that says how likely to play each move, with its facts. `name`: what messages call it."""

    def __init__(self, facts: PolicyMetadata, network: Network, name: str = "") -> None:
        self.metadata, self.network, self.name = facts, network, name or f"policy of {facts.game}"
        self._forward = forward(facts.width, facts.hidden, facts.actions)
        self._weights = parts(network)[1]

    @classmethod
    def of(cls, sight: DecisionEncoder, network: Network, variant: str, **more: Any) -> "Policy":
        """A policy of a game as it is here and now. `more`: further fields of `PolicyMetadata`."""
        game = sight.game
        facts = PolicyMetadata(
            game=game.name,
            game_version=game.version,
            variant=variant,
            options=dict(game.variants[variant]),
            seats=sight.seats,
            encoder=sight.encoder,
            layout=layout_fingerprint(_layout(game, sight.encoder, sight.seats)),
            width=sight.width,
            numbering=numbering(game),
            actions=sight.actions,
            hidden=tuple(layer.kernel.shape[-1] for layer in network.layers),
            commit=commit() or "",
            cardai=importlib.metadata.version("cardai"),
            **more,
        )
        return cls(facts, network)

    def probabilities(self, rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """How likely it plays each action: u8[n, width], bool[n, A] -> f8[n, A], 0 for illegal ones."""
        return probabilities(self._forward(self._weights, rows), masks)

    def act(self, rows: np.ndarray, masks: np.ndarray, luck: np.ndarray) -> np.ndarray:
        """An action drawn for each row, i64[n]."""
        return drawn(self.probabilities(rows, masks), luck)

    def agent(self, greedy: bool = False, spec: str = "", any_variant: bool = False) -> Agent:
        """The player that draws its moves from this policy, or plays the likeliest."""

        def likeliest(rows: np.ndarray, masks: np.ndarray, luck: np.ndarray) -> np.ndarray:
            return best(self._forward(self._weights, rows), masks)

        judge = likeliest if greedy else self.act
        how = "plays what it finds likeliest" if greedy else "draws its moves"
        return PolicyAgent(
            spec or self.name, driver.OUTSIDE, about=f"a policy that {how}", any_variant=any_variant, policy=self,
            choose=chooser(judge, self.metadata.encoder),
        )  # fmt: skip

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError, which says what differs, unless it can play this game; a variant of None is not looked at.

        It plays at tables of any size where its encoder writes the same row.
        """
        facts = self.metadata
        if game.name != facts.game:
            raise CardaiError(f"{self.name} is a policy for {facts.game}, not for {game.name}")
        if game.version != facts.game_version:
            raise CardaiError(
                f"{self.name} is a policy for {game.name} version {facts.game_version}; here it is version"
                f" {game.version}"
            )
        if facts.encoder not in game.encoders:
            raise CardaiError(
                f"{self.name} needs the encoder {facts.encoder!r}; {game.name} has {', '.join(game.encoders) or 'none'}"
            )
        if facts.layout != layout_fingerprint(_layout(game, facts.encoder, seats)):
            same_table = seats == facts.seats
            why = "another layout" if same_table else f"tables of {facts.seats} seats, not of {seats}"
            raise CardaiError(f"{self.name} was made for {why}: its encoder {facts.encoder!r} writes other rows here")
        if facts.numbering != numbering(game):
            raise CardaiError(f"{self.name} was made when the moves of {game.name} had other numbers")
        if variant is not None and (variant, dict(game.variants[variant])) != (facts.variant, dict(facts.options)):
            options = ", ".join(f"{key}={value}" for key, value in facts.options.items()) or "without options"
            raise CardaiError(f"{self.name} is a policy for the variant {facts.variant!r} ({options}), not {variant!r}")

    def save(self, path: str | Path) -> None:
        """Write the policy to a file, whole or not at all. CardaiError when it cannot be written."""
        from safetensors.numpy import save

        place, tensors = Path(path), tensors_of(self.network)
        if not all(np.isfinite(value).all() for value in tensors.values()):
            raise CardaiError(f"cannot write {place}: the policy holds weights that are not finite")
        facts = dataclasses.asdict(self.metadata) | {"format": FORMAT}
        try:
            write_whole(place, save(tensors, {"cardai": json.dumps(facts, allow_nan=False)}))
        except ValueError:
            raise CardaiError(f"cannot write {place}: its metrics hold a number that is not finite") from None
        except OSError as error:
            raise CardaiError(f"cannot write {place}: {error.strerror or error}") from None


@dataclass(frozen=True)
class PolicyAgent(Agent):
    """An agent that plays by a policy."""

    policy: Policy | None = field(default=None, compare=False)

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raise CardaiError unless it can sit down at this table."""
        assert self.policy is not None
        self.policy.check_fits(game, None if self.any_variant else variant or game.default_variant, seats)


def find_agent(game: Game, spec: str, argument: str, options: dict[str, str]) -> Agent:
    """The agent `policy:FILE`, for the entry-point group `cardai.agents`; takes what it knows out of `options`.

    `?greedy` plays the likeliest move, `?any_variant` lets it play a variant that it was not trained on. CardaiError
    when the file holds no policy.
    """
    flags = {}
    for name in ("greedy", "any_variant"):
        value = options.pop(name, None)
        if value not in (None, ""):
            raise CardaiError(f"agent {spec!r}: {name!r} takes no value")
        flags[name] = value is not None
    return load(argument).agent(spec=spec, **flags)


def chooser(judge: Judge, encoder: str | None) -> Callable[[Game, np.ndarray], np.ndarray]:
    """What an outside player is asked: its moves, MOVE[n], in worlds, STATE[n]. Its luck is that of each world."""
    sights: dict[tuple[Game, int], DecisionEncoder] = {}

    def choose(game: Game, worlds: np.ndarray) -> np.ndarray:
        key = game, int(worlds["seats"][0])
        if key not in sights:
            sights[key] = DecisionEncoder(game, key[1], encoder)
        rows, places = sights[key].look(worlds)
        taken = judge(rows, places > 0, luck_of(worlds))
        return sights[key].moves[places[np.arange(len(worlds)), taken] - 1]

    return choose


def luck_of(worlds: np.ndarray) -> np.ndarray:
    """A number for each world, even in [0, 1): f8[n]. A world's stream is seeded by its seat's own."""
    return (worlds["rng"] >> np.uint64(11)) * 2.0**-53


def numbering(game: Game) -> str:
    """A hash of the moves of a game with their numbers."""
    text = json.dumps([[list(fields), int(number)] for fields, number in sorted(game.actions.items())])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def load(path: str | Path) -> Policy:
    """The policy in a file. CardaiError, which names file and reason, when it is none or is damaged."""
    from safetensors import SafetensorError, safe_open

    place = Path(path)
    try:
        with safe_open(place, "numpy") as file:
            facts = _facts(place, file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise CardaiError(f"cannot read {place}: {error.strerror or error}") from None
    except SafetensorError as error:
        raise _refusal(place, str(error)) from None
    network = nnx.eval_shape(lambda: Network(facts.width, facts.hidden, facts.actions))
    _check_tensors(place, network, tensors)
    with on_device():
        set_tensors(network, tensors)
    return Policy(facts, network, str(path))


def _check_tensors(place: Path, network: Network, tensors: Mapping[str, np.ndarray]) -> None:
    wanted = {
        ".".join(map(str, path)): node.shape for path, node in nnx.iter_graph(network) if isinstance(node, nnx.Param)
    }
    if found := sorted(wanted.keys() ^ tensors.keys()):
        raise _refusal(place, f"it {'lacks' if found[0] in wanted else 'should not have'} the tensor {found[0]}")
    for name, shape in wanted.items():
        tensor = tensors[name]
        if tensor.shape != shape or tensor.dtype != np.float32:
            raise _refusal(place, f"{name} is {tensor.dtype}{list(tensor.shape)}, it should be float32{list(shape)}")
        if not np.isfinite(tensor).all():
            raise _refusal(place, f"{name} holds numbers that are not finite")


def _facts(place: Path, metadata: Mapping[str, str]) -> PolicyMetadata:
    try:
        said = json.loads(metadata.get("cardai", ""))
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise _refusal(place, "its metadata has no entry 'cardai' that is a JSON object")
    if said.get("format") != FORMAT:
        raise _refusal(place, f"its format is {said.get('format')!r}, not {FORMAT!r}")
    kept: dict[str, Any] = {}
    for one in dataclasses.fields(PolicyMetadata):
        fits, what = _KINDS[str(one.type)] if one.name != "hidden" else _HIDDEN
        if one.name not in said or not fits(said[one.name]):
            raise _refusal(place, f"{one.name} must be {what}, not {said.get(one.name)!r:.60}")
        kept[one.name] = said[one.name]
    if not all(1 <= kept[name] <= WIDEST for name in ("width", "actions")):
        raise _refusal(place, f"width {kept['width']} or actions {kept['actions']} is not 1 to {WIDEST}")
    kept["hidden"] = tuple(kept["hidden"])
    return PolicyMetadata(**kept)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_hidden(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= DEEPEST and all(_is_count(n) and 1 <= n <= WIDEST for n in value)


_TABLE = (lambda value: isinstance(value, dict), "a table")
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    str(str): (lambda value: isinstance(value, str) and value.isprintable(), "a printable text"),
    str(int): (_is_count, "a whole number"),
    str(float): (lambda value: type(value) in (int, float) and math.isfinite(value), "a number"),
    str(Mapping[str, int]): _TABLE,
    str(Mapping[str, Any]): _TABLE,
}
"""What each entry of the metadata must be, by the type of its field."""
_HIDDEN = (_is_hidden, f"a list of whole numbers from 1 to {WIDEST}")


def _layout(game: Game, encoder: str, seats: int) -> list[Segment]:
    return list(game.encoder(encoder).layout(seats))


def _refusal(place: Path, why: str) -> CardaiError:
    return CardaiError(f"{place} is not a sound cardai policy: {why}")
