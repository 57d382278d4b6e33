"""The network `winner` of Hearts, which plays for the win of a round more than for few points.

    python -m cardai.experiments.hearts_winner runs/hearts-winner     # the same command resumes a run that was stopped

The network `best` learned the score of a round, in which a win with 3 points and a third place with 4 are almost the
same. The share of the win alone is noisy: it says nothing of how far a seat was from it. `winner` learns the mean of
both, with twice the weight for the share. It begins as `best` and goes on in generations. Each plays games in several
ways, with hand-written players, and learns from the seats that it played in the newest two sets of games.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from cardai.evaluators.model import SHIPPED
from cardai.experiments.machinery.networks import NetworkStore, ship_network, watched
from cardai.playing.progress import Progress
from cardai.registry import load

COMMAND = "python -m cardai.experiments.hearts_winner runs/hearts-winner"
VARIANT, SEED = "standard", 501
OTHERS = {"duck": 2.0, "careful": 1.0}
WAYS = {"?temperature=0.01": 3.0, "": 1.5, "?epsilon=0.05": 1.0}
"""{options of a network's spec: weight}: the ways in which a generation plays the games that the next learns from."""
LEARNING = {
    "variant": VARIANT, "encoder": "relative", "moment": "before_draw", "per_game": 26, "label": "score+2*share",
    "options": {"hidden": [256, 256, 128], "dropout": [0.0, 0.0, 0.0]}, "parts": (0.96, 0.03, 0.01), "batch": 4096,
    "learning_rate": 4e-4, "warm_up": 200, "schedule": "cosine", "optimiser": "adamw", "weight_decay": 0.02,
    "check_steps": 500, "epochs": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """Games and steps of each generation, and how many generations."""

    generations: int = 8
    games: int = 200_000
    steps: int = 2500


SIZES = Sizes()


def train(folder: Path, sizes: Sizes = SIZES, progress: Progress | None = None, **learning: object) -> str:
    """Train the generations in a folder, or resume; returns the last model file.

    `learning`: other fields of `TrainConfig`.
    """
    store = NetworkStore(load("hearts"), folder, LEARNING | learning, progress, "cpu", VARIANT)
    newest, data = str(SHIPPED / "hearts" / "best.safetensors"), ()
    for number in range(1, 1 + sizes.generations):
        own = {f"greedy:{newest}{way}": weight for way, weight in WAYS.items()}
        data = (*data, store.games(f"games{number}", OTHERS | own, sizes.games, SEED + number))[-2:]
        newest = store.network(
            f"winner{number}", data, seed=SEED + number, steps=sizes.steps, start_from=newest, agents=("greedy",)
        )
    return newest


def main() -> None:
    """Train in a folder, or resume; `--ship` puts the network among those that come with cardai."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where games and networks are kept")
    parser.add_argument("--ship", action="store_true", help="put the last network among those that come with cardai")
    options = parser.parse_args()
    newest = watched("winner", lambda progress: train(options.folder, progress=progress))
    if options.ship:
        about = "plays for the win of a round more than for few points"
        place = SHIPPED / "hearts" / "winner.safetensors"
        newest = str(ship_network(options.folder, Path(newest).parent.name, place, about, COMMAND, half=True))
    print(newest)


if __name__ == "__main__":
    main()
