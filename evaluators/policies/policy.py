"""Policies: networks that give move probabilities, as agents (`policy:FILE`) and as files.

    policy = load("mine.safetensors")
    agent = policy.agent()  # draws its moves; policy.agent(greedy=True) plays the most probable move

A policy is one safetensors file. The file's metadata has one entry, `cardai`, a JSON object with the fields of
`PolicyMetadata`.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flax import nnx

from cardai.errors import CardaiError
from cardai.evaluators.bodies.options import WIDEST, check_widths
from cardai.evaluators.jax_start import refuse_fork
from cardai.evaluators.network_file import NetworkFile, layout_fingerprint, set_tensors, tensor_specs, tensors_of
from cardai.evaluators.network_metadata import NetworkMetadata, layout_of
from cardai.evaluators.policies.decisions import DecisionEncoder, constant_inputs
from cardai.evaluators.policies.network import (
    Network,
    best_actions,
    compiled_network,
    on_device,
    probabilities,
    split,
)
from cardai.files.settings import setting
from cardai.game import Game
from cardai.playing.agents.actions import chances_by, choose_by, draw_actions
from cardai.playing.agents.spec import Agent
from cardai.playing.agents.strategy import OfFunction


@dataclass(frozen=True, kw_only=True)
class PolicyMetadata(NetworkMetadata):
    """What a policy was made for and how it was trained: the metadata of its file.

    - `layout`: a hash of the encoder's segments.
    - `width`: the number of values in a row.
    - `numbering`: a hash of the moves with their numbers.
    - `actions`: how many numbers of moves there are, which is the number of outputs.
    - `hidden`: the number of units in each hidden layer.
    """

    noun, any_seats = "policy", True

    layout: str
    width: int = setting(span=(1, WIDEST))
    numbering: str
    actions: int = setting(span=(1, WIDEST))
    hidden: tuple[int, ...]

    def __post_init__(self) -> None:
        check_widths("hidden", self.hidden)

    @property
    def fingerprint(self) -> str:
        """A hash of the encoder's layout."""
        return self.layout


class Policy:
    """A network that gives the probability of each action, with its metadata. `name`: its name in messages."""

    def __init__(self, metadata: PolicyMetadata, network: Network, name: str = "") -> None:
        self.metadata, self.network, self.name = metadata, network, name or f"policy of {metadata.game}"
        self._logits = compiled_network(metadata.width, metadata.hidden, metadata.actions)
        self._weights = split(network)[1]

    @classmethod
    def of(cls, encoder: DecisionEncoder, network: Network, variant: str, **more: Any) -> "Policy":
        """Returns a policy for the present version of a game. `more`: further fields of `PolicyMetadata`."""
        game = encoder.game
        metadata = PolicyMetadata.of(
            game,
            variant,
            encoder.seats,
            encoder.encoder,
            layout=layout_fingerprint(layout_of(game, encoder.encoder, encoder.seats)),
            width=encoder.width,
            numbering=numbering(game),
            actions=encoder.actions,
            hidden=tuple(layer.kernel.shape[-1] for layer in network.layers),
            **more,
        )
        return cls(metadata, network)

    def probabilities(self, rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Returns the probability of each action, f8[n, A], 0 for illegal actions.

        `rows`: u8[n, width]. `masks`: bool[n, A], which actions are legal.
        """
        refuse_fork()
        return probabilities(self._logits(self._weights, rows), masks)

    def act(self, rows: np.ndarray, masks: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Returns an action drawn for each row, i64[n]. The arguments are those of `SelectActions`."""
        return draw_actions(self.probabilities(rows, masks), uniforms)

    def agent(self, greedy: bool = False, spec: str = "", any_variant: bool = False) -> Agent:
        """Returns the agent that draws its moves from this policy or, if `greedy`, plays the most probable move.

        `any_variant`: it also plays variants that the policy was not trained on. There the inputs are held that never
        vary in the policy's own variant, as `Model.at_table` does.
        """

        def held(game: Game, worlds: np.ndarray, rows: np.ndarray) -> np.ndarray:
            own = self.metadata
            if any_variant and not own.is_own_variant(game, worlds, self.name):
                columns, values = constant_inputs(game, own.variant, own.seats, own.encoder)
                rows[:, columns] = values
            return rows

        def most_probable(rows: np.ndarray, masks: np.ndarray, uniforms: Any = None) -> np.ndarray:
            return best_actions(self._logits(self._weights, rows), masks)

        select = most_probable if greedy else self.act
        how = "plays its most probable move" if greedy else "draws its moves by their probabilities"

        def fits(game: Game, variant: str | None, seats: int) -> None:
            self.check_fits(game, None if any_variant else game.canonical(variant), seats)

        def certain(rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
            return (np.arange(masks.shape[1]) == most_probable(rows, masks)[:, None]).astype(np.float64)

        chances = chances_by(certain if greedy else self.probabilities, self.metadata.encoder, held)
        choose = choose_by(select, self.metadata.encoder, held)
        strategy = OfFunction(choose, fits, is_foreign=False, chances=chances)
        return Agent(spec or self.name, strategy, f"a policy that {how}")

    def check_fits(self, game: Game, variant: str | None, seats: int) -> None:
        """Raises CardaiError, which says what differs, if the policy cannot play this game.

        `variant`: None is not checked. Tables of any size are allowed if the encoder's layout is the same there.
        """
        self.metadata.check_fits(game, variant, seats, self.name)
        if self.metadata.numbering != numbering(game):
            raise CardaiError(f"{self.name} was made for other numbers of the moves of {game.name}")

    def save(self, path: str | Path) -> None:
        """Writes the policy to a file, whole or not at all. Raises CardaiError if it cannot be written."""
        POLICY_FILE.write(path, dataclasses.asdict(self.metadata), tensors_of(self.network))


def numbering(game: Game) -> str:
    """Returns a hash of the moves of a game with their numbers."""
    text = json.dumps([[list(fields), int(number)] for fields, number in sorted(game.learning.actions.items())])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def load(path: str | Path) -> Policy:
    """Returns the policy in a file. Raises CardaiError with file and reason if it holds no policy or is damaged."""
    metadata, tensors = POLICY_FILE.read(path)
    network = _abstract_network(metadata)
    with on_device():
        set_tensors(network, tensors)
    return Policy(metadata, network, str(path))


def _abstract_network(metadata: PolicyMetadata) -> Network:
    """Returns a network of the shapes that the metadata describe, without values."""
    return nnx.eval_shape(lambda: Network(metadata.width, metadata.hidden, metadata.actions))


POLICY_FILE = NetworkFile(
    "policy",
    "cardai policy 1",
    PolicyMetadata.from_json,
    lambda metadata: tensor_specs(_abstract_network(metadata)),
)
