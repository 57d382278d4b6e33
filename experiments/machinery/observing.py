"""See what an experiment uses, in a run at the scale "smoke", and write it down.

    python -m cardai.experiments.machinery.observing            # writes uses.jsonl for all experiments
    python -m cardai.experiments.machinery.observing strength   # for one

A test compares `uses.jsonl` with what each experiment is seen to use.
"""

import contextlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from cardai.errors import CardaiError
from cardai.evaluators.model import FILE, read_metadata
from cardai.evaluators.policies.nfsp import Nfsp
from cardai.evaluators.policies.policy import POLICY_FILE
from cardai.evaluators.policies.ppo import Ppo
from cardai.evaluators.policies.training import TrainingTable
from cardai.evaluators.training.config import TrainConfig
from cardai.evaluators.training.trainer import Trainer
from cardai.experiments.machinery import lab
from cardai.experiments.machinery.behaviour import USES
from cardai.experiments.machinery.catalogue import EXPERIMENTS
from cardai.files.reading import read_text
from cardai.game import Game
from cardai.playing.agents.spec import Agent, agent
from cardai.records import own_games
from cardai.records.dataset import Dataset

STEP_FIELDS = ("schedule", "final_rate", "optimiser", "weight_decay", "clip", "ema")
"""The fields of `TrainConfig` that decide what a training step does, beside the network."""


@contextlib.contextmanager
def observed(folder: Path) -> Iterator[list[Any]]:
    """Collect what is used until the context ends, as `uses_of` has it. `folder`: where networks are trained meanwhile.

    States of a model's own games are played once in a process and belong to the model, so they are passed over.
    """
    found: set[str] = set()
    uses: list[Any] = []
    passed_over = False

    def note(*what: Any) -> None:
        if not passed_over:
            found.add(json.dumps(what, sort_keys=True))

    def unobserved(*args: Any) -> Dataset:
        nonlocal passed_over
        before, passed_over = passed_over, True
        try:
            return collected(*args)
        finally:
            passed_over = before

    collected = own_games._collected

    def watched(owner: type, method: str, see: Any) -> Any:
        original = getattr(owner, method)

        def called(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            see(self, *args, **kwargs)
            return result

        return patch.object(owner, method, called)

    def sits_down(player: Agent, game: Game, variant: str | None, seats: int) -> None:
        spec = _spec(player, game, variant, seats, folder)
        if spec:
            note("plays", game.name, variant or game.default_variant, int(seats), spec)

    def is_made(dataset: Dataset, *_: Any, **__: Any) -> None:
        recipe = asdict(replace(dataset.recipe, per_game=min(dataset.recipe.per_game, 8), agents=()))
        if recipe["teacher"]:
            recipe["teacher"] = _without_paths(recipe["teacher"], folder)
        note("data", dataset.game, dataset.variant, dataset.seats, recipe)

    def trains(_: Trainer, __: Any, config: TrainConfig, *___: Any, **____: Any) -> None:
        note("step", config.body, {field: getattr(config, field) for field in STEP_FIELDS})

    def learns(algorithm: Any, table: TrainingTable, *_: Any, **__: Any) -> None:
        encoder, game = table.encoder, table.encoder.game
        note("policy", type(algorithm).__name__.lower(), game.name, table.variant, encoder.seats, encoder.encoder)

    with (
        patch.object(own_games, "_collected", unobserved),
        watched(Agent, "check_fits", sits_down),
        watched(Dataset, "__init__", is_made),
        watched(Trainer, "__init__", trains),
        watched(Ppo, "__init__", learns),
        watched(Nfsp, "__init__", learns),
    ):
        yield uses
    uses += map(json.loads, sorted(found))


def _spec(player: Agent, game: Game, variant: str | None, seats: int, folder: Path) -> str:
    """An agent's spec with stand-ins for what was trained in the folder; "" for a policy while it is trained."""
    spec = _without_paths(player.spec, folder)
    if spec == player.spec:
        try:
            agent(game, spec)
        except CardaiError:  # made in Python, not by its spec
            if player.evaluator is None:
                return ""
            judge = cast(Any, player.evaluator)
            place = game.name, variant or game.default_variant, seats, judge.encoder, judge.moment
            return f"greedy:{{network {' '.join(map(str, place))} mlp}}"
    return spec


def _without_paths(spec: str, folder: Path) -> str:
    return re.sub(re.escape(str(folder)) + r"[^?&(),;\"]*", lambda match: _stand_in(Path(match[0]), folder), spec)


def _stand_in(place: Path, folder: Path) -> str:
    place = place / FILE if place.is_dir() else place
    if place.suffix == ".toml":
        text = re.sub(r"above = [-\d.e]+", "above = 0.5", _without_paths(read_text(place), folder))
        return f"{{file {json.dumps(text)}}}"
    try:
        facts = read_metadata(place)
    except CardaiError:
        facts = POLICY_FILE.read_metadata(place)
        return f"{{policy {facts.game} {facts.variant} {facts.seats} {facts.encoder}}}"
    body = f"{facts.game} {facts.variant} {facts.seats} {facts.encoder} {facts.moment} {facts.body}"
    return f"{{network {body}}}"


def observe(name: str) -> list[Any]:
    """Run an experiment at the scale "smoke" and return what it uses."""
    unchecked = patch.object(lab, "behaviour", lambda *_: {})  # which is computed of what is being found out
    with tempfile.TemporaryDirectory() as folder, unchecked, observed(Path(folder)) as uses:
        lab.run(name, Path(folder) / name, "smoke")
    return uses


def main(names: list[str]) -> None:
    """Write `uses.jsonl` anew for these experiments, for all that can run here if none is named."""
    lines = read_text(USES).splitlines()
    for name in names or [name for name, entry in EXPERIMENTS.items() if not entry.missing()]:
        own = [json.dumps([name, *use]) for use in observe(name)]
        lines = sorted([line for line in lines if json.loads(line)[0] != name] + own)
        print(name, len(own), flush=True)
        USES.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
