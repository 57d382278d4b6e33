"""One network for Hearts, which passes and plays, in place of the paper's seven.

The first generation learns from games of `duck` and random players. Each later one plays games against itself and
`duck`, and learns from the newest two sets of games, from the positions of seats that a network played. The last
network, `best`, learns longer, from more positions of the newest three sets. A network judges the position after its
own card, passed or played, on the encoder `relative`; its label is the score of the round. So it weighs points against
moons without being told about them.

The network `best` that comes with cardai was made by these stages one by one, not by one run of this module. The first
two generations had 60,000 games each and a higher rate of learning. The last network started from weights that had in
between learned from a search over worlds (`--teacher "ahead:MODEL?worlds=1&moves=13"`), which had not made them
stronger.

Source: Demirdöver, Baykal, Alpaslan 2022.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardai.evaluators.model import SHIPPED
from cardai.experiments.machinery.findings import Claim, Finding, Findings, margin, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import ship_network
from cardai.registry import load

COMMAND = "cardai reproduce hearts-best"
SHARES, POINTS = "Share of the win, %", "Points a round"
LAST = "best"
COLUMNS = {
    ("standard", "duck"): "duck",
    ("standard", "careful"): "careful",
    ("standard", "pimc"): "pimc",
    ("paper", "mcts"): "mcts",
    ("paper", "pimc"): "pimc, paper",
}
"""{(suite, row): the column that it is in}."""
CLAIMS = {
    (SHARES, "mcts"): Claim(32.0, games=1000, better="higher"),
    (POINTS, "mcts"): Claim(6.27, games=1000, better="lower", within=margin("points of Hearts"), is_mean=True),
}
"""Table 4, row 2: the paper's agents together, against three players by Monte Carlo tree search, who are not ours."""
SEED = 20261123
TEACHERS = {"random": 1.0, "duck": 3.0}
"""{spec: weight} of the players from whose games the first generation learns."""
OPPONENTS = {"duck": 1.0}
WAYS = {"": 2.0, "?temperature=0.01": 3.0, "?epsilon=0.05": 1.0}
"""{options of a network's spec: weight}: the ways in which a generation plays the games of the next one."""
SEARCHES = {"search": "ahead:{}?halving"}
"""{name: spec of an agent that searches over worlds by the last network}."""


@dataclass(frozen=True)
class Scale:
    """How much is played and trained.

    `first`, `games`: games of the first and of each later generation. `benchmark`: games behind a figure. `learning`:
    fields of every `TrainConfig`; `last`: other values of them for the last network.
    """

    generations: int
    first: int
    games: int
    benchmark: int
    learning: Mapping[str, Any]
    last: Mapping[str, Any]


_LEARNING = {
    "variant": "standard",
    "encoder": "relative",
    "moment": "before_draw",
    "epochs": 0,
    "schedule": "cosine",
    "optimiser": "adamw",
    "weight_decay": 0.02,
    "options": {"hidden": [256, 256, 128], "dropout": [0.1, 0.1, 0.1]},
    "parts": (0.96, 0.03, 0.01),
}
_MEDIUM = _LEARNING | {
    "batch": 4096, "steps": 3000, "learning_rate": 8e-4, "warm_up": 200, "check_steps": 500, "per_game": 26
}  # fmt: skip
_LONGER = {"steps": 6000, "learning_rate": 6e-4, "per_game": 52}
SCALES = {
    "smoke": Scale(
        generations=1,
        first=60,
        games=60,
        benchmark=4,
        learning=_LEARNING
        | {"parts": (0.8, 0.1, 0.1), "batch": 64, "steps": 20, "check_steps": 10, "warm_up": 0, "per_game": 8},
        last={"per_game": 12},
    ),
    "small": Scale(4, 60_000, 160_000, 1000, _MEDIUM, _LONGER),
}


def networks(lab: Lab) -> dict[str, Any]:
    """Train all generations, each in a folder of its own, or resume; {name: states, seconds and validation loss}."""
    size, store = lab.size, lab.store(load("hearts"), "", "standard")
    first, *later, last = names(size.generations)
    newest = store.network(first, (store.games("games0", TEACHERS, size.first, seed=1),), seed=1)
    data: tuple[str, ...] = ()
    for number, name in enumerate(later, 1):
        pool = OPPONENTS | {f"greedy:{newest}{way}": weight for way, weight in WAYS.items()}
        data = (*data, store.games(f"games{number}", pool, size.games, seed=20 + number))
        newest = store.network(name, data[-2:], seed=20 + number, start_from=newest, agents=("greedy",))
    pool = OPPONENTS | {f"greedy:{newest}{way}": weight for way, weight in WAYS.items()}
    data = (*data, store.games("games-last", pool, size.games, seed=20))
    store.network(last, data[-3:], seed=20, start_from=newest, agents=("greedy",), **size.last)
    return {name: store.test_figures(name) for name in names(size.generations)}


def names(generations: int) -> list[str]:
    """The networks in order: after0 learned from hand-written players, the others from games of the one before."""
    return [*(f"after{number}" for number in range(1 + generations)), LAST]


def run(lab: Lab) -> Findings:
    training = lab.piece("networks", lambda: networks(lab), repeats=False)
    agents = {"duck": "duck", "careful": "careful", "pimc": "pimc"}
    agents |= {name: f"greedy:{lab.folder / name}" for name in names(lab.size.generations)}
    last = lab.folder / names(lab.size.generations)[-1]
    agents |= {name: spec.format(last) for name, spec in SEARCHES.items()}
    rows: list[Finding] = []
    for name, spec in agents.items():
        for suite in ("standard", "paper"):
            rows += _rows(lab, name, spec, suite)
    return Findings(rows, {"training": training})


def _rows(lab: Lab, name: str, spec: str, suite: str) -> list[Finding]:
    key = f"{name}-{suite}"
    if suite == "paper" and ":" in spec:  # the networks were trained on the variant standard
        spec += "&any_variant" if "?" in spec else "?any_variant"
    report = lab.bench(key, load("hearts"), suite, spec, seed=SEED)
    found = []
    for row in report["rows"]:
        column, figures = COLUMNS[suite, row["row"]], {row["measure"]: row["figure"], **row["beside"]}
        for table, measure, places in ((SHARES, "share", 1), (POINTS, "points", 2)):
            figure = of_estimate(figures[measure])
            found.append(Finding(table, name, column, figure, CLAIMS.get((table, column)), key, places=places))
    return found


def ship(folder: Path) -> list[Path]:
    """Copy the last network in a folder to the models that come with cardai; its new path."""
    about = "passes and plays; learned from games against itself"
    return [ship_network(folder, LAST, SHIPPED / "hearts" / "best.safetensors", about, COMMAND)]
