"""The network for Hearts to 100 points, the game that people play.

    python -m cardai.experiments.hearts_match runs/hearts-match     # the same command resumes a run that was stopped

A match is too long to learn from how it ended: some 600 decisions share one win. So the network learns from single
rounds of the variant `match_round`, out of the middle of matches: the totals are drawn, and the label is what the round
changes in the share of the win that they promise (rule 7.5). Inputs are the same as in a `match`.

It begins as `best`, which knows single rounds. The inputs that never varied for `best`, such as totals, get weights of
0 instead of the arbitrary ones that they have, and its answer is brought to the scale of the label. Without this the
first steps destroy what `best` knows. Nor did the share itself as label do: nearly all that a network learns then
is what the totals of the start say.
"""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cardai.data.dataset import collect_games
from cardai.data.recipe import Recipe
from cardai.data.selfplay import simulate_here
from cardai.evaluators.model import SHIPPED, Model
from cardai.evaluators.model import load as load_model
from cardai.experiments.machinery.networks import NetworkStore
from cardai.registry import load
from cardai.stats.progress import Progress

VARIANT, NETWORK, START = "match_round", "match1", "start.safetensors"
BEST = "greedy:best?any_variant"
POOL = {
    "careful": 2.0, "duck": 1.0, BEST: 2.0, "greedy:best?temperature=0.01&any_variant": 3.0,
    "greedy:best?epsilon=0.05&any_variant": 1.5,
}  # fmt: skip
"""{spec: weight}: who plays the games. The network learns from the seats of `best`."""
LEARNING = {
    "variant": VARIANT, "encoder": "relative", "moment": "before_draw", "per_game": 26, "agents": ("greedy",),
    "options": {"hidden": [256, 256, 128], "dropout": [0.0, 0.0, 0.0]}, "parts": (0.96, 0.03, 0.01), "batch": 4096,
    "loss": "regression", "learning_rate": 2e-4, "warm_up": 100, "schedule": "cosine", "optimiser": "adamw",
    "weight_decay": 0.02, "check_steps": 300, "epochs": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """How many games are played, for the start and for learning, and how many steps are trained."""

    start_games: int = 3000
    games: int = 150_000
    steps: int = 1200


SIZES = Sizes()


def train(folder: Path, sizes: Sizes = SIZES, progress: Progress | None = None, **learning: object) -> str:
    """Train the network in a folder, or resume; returns its model file. `learning`: other fields of `TrainConfig`."""
    store = NetworkStore(load("hearts"), folder, LEARNING | learning, progress, variant=VARIANT)
    games = store.games("games1", POOL, sizes.games, seed=41)
    start = folder / START
    if not start.exists():
        prepared(sizes.start_games).save(start)
    return store.network(NETWORK, (games,), seed=41, steps=sizes.steps, start_from=str(start))


def prepared(games: int) -> Model:
    """Return `best` as the start: without weights for inputs that never varied for it, on the scale of the label."""
    game, best = load("hearts"), load_model(SHIPPED / "hearts" / "best.safetensors")
    played = simulate_here(game, {BEST: 3.0, "careful": 1.0}, games, seed=77, variant=VARIANT)
    data = collect_games(game, played, Recipe(encoder="relative", moment="before_draw", per_game=26))
    rows, labels = data.take(np.arange(len(data))), data.labels.astype(np.float64)
    tensors = {name: np.array(value) for name, value in best.tensors.items()}
    never = tensors["statistics.variance"] < 1e-6
    tensors["dense.layers.0.kernel"][never] = 0
    tensors["statistics.mean"][never] = rows[:, never].mean(axis=0)
    tensors["statistics.variance"][never] = rows[:, never].var(axis=0)
    scores = np.clip(np.asarray(Model(best.metadata, tensors).score(rows), np.float64), 1e-6, 1 - 1e-6)
    slope, offset = np.polyfit(np.log(scores / (1 - scores)), 4 * (labels - 0.5), 1)  # log odds near 1/2
    tensors["dense.logit.kernel"] *= slope
    tensors["dense.logit.bias"] = tensors["dense.logit.bias"] * slope + offset
    start = replace(best.metadata, variant=VARIANT, options=game.variant_options(VARIANT))
    return Model(start, {name: value.astype(np.float32) for name, value in tensors.items()})


def main() -> None:
    """Train in a folder, or resume."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where games and the network are kept")
    print(train(parser.parse_args().folder))


if __name__ == "__main__":
    main()
