"""Small networks with fixed weights, in the place of those that an experiment trains itself.

    with_stand_ins("greedy:{network moska thesis 4 relative before_draw mlp}?epsilon=0.1", folder)

`cardai.experiments.machinery.observing` writes such specs.
"""

import json
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np

from cardai.files.writing import write_text
from cardai.registry import load

SEED = 20261125


def with_stand_ins(spec: str, folder: Path) -> str:
    """The spec with files in the folder for what stands in braces."""

    def written(match: re.Match[str]) -> str:
        place = folder / f"{_name(match[0])}.toml"
        write_text(place, with_stand_ins(json.loads(match[1]), folder))
        return str(place)

    def trained(match: re.Match[str]) -> str:
        place = folder / f"{_name(match[0])}.safetensors"
        if not place.exists():
            (_save_network if match[1] == "network" else _save_policy)(place, *match[2].split())
        return str(place)

    spec = re.sub(r'\{file ("(?:[^"\\]|\\.)*")\}', written, spec)
    return re.sub(r"\{(network|policy) ([^{}]*)\}", trained, spec)


def _save_network(place: Path, name: str, variant: str, seats: str, encoder: str, moment: str, body: str) -> None:
    from cardai.evaluators.bodies.build import build
    from cardai.evaluators.model import Model

    game = load(name)
    module = build(body, SMALL[body], list(game.encoder(encoder).layout(int(seats))), seed=0)
    fix_weights(module)
    Model.of(
        game, module, body=body, body_options=SMALL[body], moment=moment, seats=int(seats), variant=variant,
        encoder=encoder,
    ).save(place)  # fmt: skip


def _save_policy(place: Path, name: str, variant: str, seats: str, encoder: str) -> None:
    from cardai.evaluators.policies.decisions import DecisionEncoder
    from cardai.evaluators.policies.network import Network, initialised
    from cardai.evaluators.policies.policy import Policy

    table = DecisionEncoder(load(name), int(seats), encoder)
    network = cast(Network, initialised(lambda: Network(table.width, (16,), table.actions), seed=0))
    fix_weights(network)
    Policy.of(table, network, variant).save(place)


SMALL: Mapping[str, Mapping[str, Any]] = {
    "mlp": {"hidden": [16, 8], "dropout": [0.0, 0.0]},
    "cnn": {"channels": [4], "kernel": [3, 3], "dense": [8]},
}


def fix_weights(module: Any) -> None:
    """Give a network weights that are the same on all machines, in place."""
    from cardai.evaluators.network_file import set_tensors, tensors_of

    stream = np.random.default_rng(SEED)
    tensors = tensors_of(module)
    for name in sorted(tensors):
        old = tensors[name]
        if old.ndim and old.dtype == np.float32:  # not a count of batches or the state of a stream
            scale = np.float32(old[..., 0].size) ** np.float32(-0.5)
            least = 0.5 if name.startswith("statistics") else -1.0  # a variance is positive
            tensors[name] = scale * stream.uniform(least, 1, old.shape).astype(np.float32)
    set_tensors(module, tensors)


def _name(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
