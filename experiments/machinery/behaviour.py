"""How what an experiment uses behaves, as digests and numbers: a result is valid as long as all of it behaves the same.

    now = behaviour("strength", "small")
    differences(result["behaviour"], now)      # the names of what behaves differently

| what | taken from |
|---|---|
| `settings` | the frozen sizes of the scale and the numbers among the experiment's constants |
| `plays GAME VARIANT SEATS AGENT` | moves and scores of seeded games with the agent, and the game's version |
| `outcome GAME NAME` | an outcome of seeded games; one that the game has got since voids nothing |
| `network GAME NAME` | the content of a network's file that comes with cardai; one that came since voids nothing |
| `data GAME VARIANT SEATS ...` | rows and labels made of seeded games by a recipe |
| `step BODY ...` | losses and weights of a seeded short training |
| `policy ALGORITHM GAME ...` | losses and weights of a seeded short training of a policy |
| `measure ...` | what a function that measures finds in seeded games; `suite GAME`: a row of a benchmark |
| `estimators` | estimates and intervals of a fixed sample |

The text of the code does not matter: it may be renamed, moved and formatted. Numbers are compared with a tolerance,
since processors round differently. What an experiment uses is in `USES`, which
`cardai.experiments.machinery.observing` writes from what is seen to be used at the scale "smoke". Networks that an
experiment trains itself are replaced by small ones with fixed weights. Not covered: what an experiment itself computes
from its measurements, and speed.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from cardai.experiments.machinery import probes
from cardai.experiments.machinery.catalogue import EXPERIMENTS, module
from cardai.experiments.machinery.probes import Value
from cardai.files.reading import read_text
from cardai.files.tensors import undigested
from cardai.playing.stats.jsonable import plain
from cardai.registry import load

Behaviour = dict[str, Value]
USES = Path(__file__).with_name("uses.jsonl")
"""A line for each use: [experiment, "plays", game, variant, seats, spec], [..., "data", game, variant, seats, recipe],
[..., "step", body, fields] or [..., "policy", algorithm, game, variant, seats, encoder]; sorted. A network that an
experiment trains itself is written as a stand-in: `greedy:{network moska thesis 4 relative before_draw mlp}`."""

TRAINED, COMPUTED = 2e-3, 1e-9
"""The largest relative difference that is taken for rounding: of numbers after training steps, and of all others."""


def behaviour(name: str, scale: str) -> Behaviour:
    """Return how everything that an experiment uses behaves now: {what: its digest, or numbers}."""
    experiment, entry = module(name), EXPERIMENTS[name]
    values = {"settings": _settings(experiment, scale), "estimators": probes.estimators()}
    values |= {
        f"network {game} {file.stem}": probes.digest(undigested(file.read_bytes()))
        for game in entry.models
        for file in shipped(game)
    }
    values |= {f"measure suite {game}": probes.suite(game) for game in entry.games}
    values |= {
        f"outcome {game} {what}": probes.outcome(game, what)
        for game in entry.games
        for what in load(game).learning.outcomes
    }
    values |= {
        f"measure {what}": probe() for what, (function, probe) in probes.MEASURES.items() if _has(experiment, function)
    }
    return values | dict(_of_use(*use) for use in uses_of(name))


def differences(then: Mapping[str, Value], now: Mapping[str, Value]) -> list[str]:
    """Return the names of what behaves differently, or is there on one side only; sorted."""
    names = then.keys() | {what for what in now if not what.startswith(("outcome ", "network "))}
    return sorted(what for what in names if not _alike(what, then.get(what), now.get(what)))


def _alike(what: str, one: Value | None, other: Value | None) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        largest = TRAINED if what.startswith(("step ", "policy ")) else COMPUTED
        return len(one) == len(other) and bool(np.allclose(one, other, rtol=largest, atol=COMPUTED))
    return one == other


def shipped(game: str) -> list[Path]:
    """The files of the networks and policies of a game that come with cardai."""
    from cardai.evaluators.model import SHIPPED
    from cardai.evaluators.network_file import shipped_files
    from cardai.evaluators.policies.named import SHIPPED as POLICIES

    return [path for folder in (SHIPPED, POLICIES) for path in shipped_files(folder, game).values()]


def uses_of(name: str) -> list[list[Any]]:
    """The uses of an experiment in `USES`, without its name."""
    return [use for experiment, *use in map(json.loads, read_text(USES).splitlines()) if experiment == name]


def _of_use(kind: str, *place: Any) -> tuple[str, Value]:
    words = [_words(part) if isinstance(part, dict) else str(part) for part in place]
    plain_place = [json.dumps(part) if isinstance(part, dict) else part for part in place]
    return " ".join([kind, *words]), getattr(probes, kind)(*plain_place)


def _words(fields: Mapping[str, Any]) -> str:
    """The values of fields, without their names, which may change."""
    return " ".join(str(value) for value in fields.values() if value not in (None, False, "", [], ()))


def _settings(experiment: ModuleType, scale: str) -> str:
    """Of the numbers among a module's constants and of the sizes of the scale, without their names."""
    constants = [value for name, value in vars(experiment).items() if name.isupper() and _is_number(value)]
    sizes = list(_leaves(plain(asdict(experiment.SCALES[scale]))))
    return probes.digest(sorted(map(repr, constants)), sizes)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, tuple) and all(map(_is_number, value)))


def _leaves(value: Any) -> Iterable[Any]:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else None
    if parts is None:
        yield value
    else:
        for part in parts:
            yield from _leaves(part)


def _has(experiment: ModuleType, what: Any) -> bool:
    return any(value is what for value in vars(experiment).values())
