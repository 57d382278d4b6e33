"""What an experiment uses: agents, recipes of data, ways of training, as written in `uses.json`.

`cardai.experiments.machinery.observing` writes the file, from what runs at the scale "smoke" are seen to use. Networks
that an experiment trains itself are written as stand-ins in braces:
`greedy:{network moska thesis 4 relative before_draw mlp}`.
`cardai.experiments.machinery.behaviour` computes how all of this behaves.
"""

from pathlib import Path
from typing import Any

from cardai.files.reading import read_json

USES = Path(__file__).with_name("uses.json")

Uses = dict[str, list[Any]]
"""{"plays": [game, variant, seats, spec], "data": [game, variant, seats, recipe], "steps": [body, fields],
"policies": [algorithm, game, variant, seats, encoder]}: lists of such lists, sorted."""


def uses_of(name: str) -> Uses:
    """Return what an experiment uses; nothing for an experiment that the file does not list."""
    return read_json(USES).get(name, {})
