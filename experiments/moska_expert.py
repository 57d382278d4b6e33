"""Expert iteration at Moska: each generation of a network learns from a search over worlds by the one before it.

The first teacher is `best`, which learned from how games ended. A generation plays games, alone and with others. At
some decisions of these games its predecessor searches: it plays its best moves on to the seat's next choice in one
world each. The value there is the label of the position after the move. One world is noisy, but the network averages
over millions of positions, and for the same time more positions teach more than more worlds. All moves that the search
tried are labelled, so that the network learns to rank moves of one decision, whose outcomes are hardly ever seen apart.

The network `expert` that comes with cardai was made by these stages at the scale "small", one by one, with a
difference: its second and third generation also learned from the labels of the generation before, and the third used
the games of the second.

Generations are measured greedy, the last one also as the judge of a search. Its number was chosen by games against
`best` on other deals than those of the figures.

Source: Anthony, Tian and Barber 2017 (expert iteration).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardai.evaluators.model import SHIPPED
from cardai.experiments.machinery.findings import Claim, Finding, Findings, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import ship_network
from cardai.registry import load

COMMAND = "cardai reproduce moska-expert"
LOST = "Games lost, %"
SEED = 20261122
CLAIMS = {"B1": Claim(14.25, games=2000)}
"""The thesis' NN2-HIF against three Bot3. Nobody has published figures against three of our `best`."""
OTHERS = {"bot3": 1.0, "bot3?randomised": 1.0, "greedy:best": 2.0, "greedy:nn2": 0.5}
"""{spec: weight} of the players that a generation plays its games with."""
WAYS = {"": 8.0, "?epsilon=0.1": 4.0, "?temperature=0.02": 4.0}
"""{options of a network's spec: weight}: the ways in which it plays these games itself."""
SEARCHES = {"search": "?halving", "search, others Bot3": "?halving&others=bot3"}
"""{name: options of the searches that the last generation judges}."""


@dataclass(frozen=True)
class Scale:
    """How much is played and trained.

    `games`: of each generation. `benchmark`: games behind a figure; `dear`: the same if a search plays them.
    `learning`: fields of every `TrainConfig`; `teacher`: options of the search that labels positions.
    """

    generations: int
    games: int
    benchmark: int
    dear: int
    teacher: str
    learning: Mapping[str, Any]


_LEARNING = {
    "encoder": "relative",
    "moment": "before_draw",
    "epochs": 0,
    "schedule": "cosine",
    "optimiser": "adamw",
    "weight_decay": 0.01,
    "options": {"hidden": [256, 256, 128], "dropout": [0.0, 0.0, 0.0]},
    "parts": (0.96, 0.03, 0.01),
}
_MEDIUM = _LEARNING | {
    "batch": 4096, "steps": 8000, "learning_rate": 4e-4, "warm_up": 200, "check_steps": 1000, "per_game": 12
}  # fmt: skip
SCALES = {
    "smoke": Scale(
        generations=2,
        games=60,
        benchmark=8,
        dear=4,
        teacher="moves=2&worlds=1",
        learning=_LEARNING
        | {"parts": (0.8, 0.1, 0.1), "batch": 64, "steps": 20, "check_steps": 10, "warm_up": 0, "per_game": 4},
    ),
    "small": Scale(3, 150_000, 8000, 4000, "moves=4&worlds=1", _MEDIUM),
}


def networks(lab: Lab) -> dict[str, Any]:
    """Train all generations, each in a folder of its own, or resume; {name: states, seconds and validation loss}."""
    size, place = lab.size, lab.store(load("moska"))
    judge, start = "best", str(SHIPPED / "moska" / "best.safetensors")
    for number, name in enumerate(names(size.generations), 1):
        pool = OTHERS | {
            f"greedy:{judge}{way}": weight + OTHERS.get(f"greedy:{judge}{way}", 0) for way, weight in WAYS.items()
        }
        games = place.games(f"games{number}", pool, size.games, seed=1400 + number)
        teacher = f"ahead:{judge}?{size.teacher}"
        judge = start = place.network(name, (games,), seed=number, start_from=start, teacher=teacher)
    return {name: place.test_figures(name) for name in names(size.generations)}


def names(generations: int) -> list[str]:
    """The networks in order: expert1, expert2 and so on."""
    return [f"expert{number}" for number in range(1, 1 + generations)]


def run(lab: Lab) -> Findings:
    training = lab.piece("networks", lambda: networks(lab), repeats=False)
    rows = _rows(lab, "best", "best", "greedy:best")
    for name in names(lab.size.generations):
        rows += _rows(lab, name, name, f"greedy:{lab.folder / name}")
    last = names(lab.size.generations)[-1]
    for way, options in SEARCHES.items():
        for name, model in (("best", "best"), (last, str(lab.folder / last))):
            rows += _rows(
                lab, f"{name}, {way}", f"{name}-{way.replace(', ', '-').replace(' ', '-')}", f"ahead:{model}{options}"
            )
    return Findings(rows, {"training": training})


def _rows(lab: Lab, name: str, key: str, spec: str) -> list[Finding]:
    games = lab.games or (lab.size.dear if spec.startswith("ahead:") else lab.size.benchmark)
    report = lab.bench(key, load("moska"), "search", spec, games=games, seed=SEED)
    return [
        Finding(LOST, name, row["row"], of_estimate(row["figure"]), CLAIMS.get(row["row"]), key)
        for row in report["rows"]
    ]


def ship(folder: Path) -> list[Path]:
    """Copy the last generation in a folder to the models that come with cardai; its new path."""
    last = max(folder.glob("expert*"), key=lambda place: int(place.name.removeprefix("expert"))).name
    about = "learned from a search over worlds: expert iteration that began with best"
    return [ship_network(folder, last, SHIPPED / "moska" / "expert.safetensors", about, COMMAND)]
