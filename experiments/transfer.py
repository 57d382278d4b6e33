"""One recipe in five games: how far the thesis' method comes everywhere from the same few games, with nothing tuned.

The recipe: simple players play games; a network learns from them how games end, from the positions after each seat's
own moves; then the network plays further games, with some moves drawn at random and with the simple players, and the
next network learns from all games so far; and so a third time. All games have the same numbers of games and steps, the
same layers and the same rates. What is a game's own: its encoder, its simple players and whom it is measured against.
In Literature the networks choose among questions that are not known to fail, as in `cardai.experiments.literature`.

Beside it stand the sources' figures of their own networks, each made for one game with far more games or tuning.

Source: Vahteristo 2023, sections 2 and 4.2: the method is said to suit other games.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cardai.agents.spec import agent
from cardai.evaluators.model import load as load_model
from cardai.evaluators.training.compare import parameters
from cardai.experiments import durak_learners, hearts_best, literature, moska_networks
from cardai.experiments.machinery.duplicate import COUNTED, outcomes_of
from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement, of_estimate
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import NetworkStore, generation_names
from cardai.stats import interval
from cardai.stats.jsonable import plain

SEED = 20261125
RANDOM, SIMPLE = "random", "simple player"
PRICE, GAMES_PLAYED, MINUTES, PARAMETERS = "Price", "games played", "minutes in all", "parameters"


@dataclass(frozen=True)
class TransferGame:
    """A game of the comparison: who plays the games to learn from, and how strength is measured.

    `pool`: {spec: weight}. `simple`: the strongest player without a network among them. `opponents`: in the other
    seats, or in those of the other team, `against` in words. `measure`: one of `COUNTED`. `source`: what stands behind
    the claim.
    """

    title: str
    pool: Mapping[str, float]
    simple: str
    opponents: tuple[str, ...]
    against: str
    measure: str
    seats: int
    variant: str
    encoder: str | None
    claim: Claim
    source: str

    @property
    def line(self) -> str:
        """Its line in the table."""
        return f"{self.title}: {COUNTED[self.measure]} against {self.against}"


GAMES = {
    "tictactoe": TransferGame(
        "Tic-Tac-Toe",
        {"random": 1.0},
        "greedy:open_lines",
        ("random",),
        "one random player",
        "win",
        2,
        "standard",
        None,
        Claim(65.0, better="higher", words="MLP 65"),
        "the thesis' MLP, 50,000 games",
    ),
    "moska": TransferGame(
        "Moska",
        moska_networks.HAND_WRITTEN,
        "bot3",
        ("bot3",) * 3,
        "three Bot3",
        "loss",
        4,
        "thesis",
        "relative",
        Claim(14.25, games=2000),
        "the thesis' second network, 2 million games",
    ),
    "durak": TransferGame(
        "Durak",
        durak_learners.HAND_WRITTEN,
        "thrifty",
        ("random",),
        "one random player",
        "not_lost",
        2,
        "report",
        "relative",
        Claim(92.0, better="higher", words="83-92"),
        "the report's PPO, 140,000 games",
    ),
    "hearts": TransferGame(
        "Hearts",
        hearts_best.TEACHERS | {"careful": 1.0},
        "careful",
        ("rollout:100?by=random",) * 3,
        "three stand-ins for the paper's Monte Carlo tree search",
        "share",
        4,
        "paper",
        "relative",
        Claim(32.0, games=1000, better="higher"),
        "the paper's seven networks",
    ),
    "literature": TransferGame(
        "Literature",
        literature.HAND_WRITTEN,
        "logic",
        ("plausible",) * 2,
        "two stand-ins for the article's untrained network",
        "score",
        4,
        "article",
        "facts",
        Claim(66.0, games=1500, better="higher", words="66.0: 55.1 won, 21.8 tied"),
        "the article's network, 10,000 games",
    ),
}


@dataclass(frozen=True)
class Scale:
    """`games`: of each of the `generations` and of the simple players before them. `benchmark`: games behind a figure;
    `dear`: the same in Hearts, whose opponents search. `learning`: fields of every `TrainConfig`.
    """

    games: int
    generations: int
    benchmark: int
    dear: int
    learning: Mapping[str, Any]


_LEARNING = {
    "moment": "before_draw",
    "epochs": 0,
    "learning_rate": 1e-3,
    "optimiser": "adamw",
    "weight_decay": 0.01,
    "per_game": 40,
}
_MEDIUM = _LEARNING | {
    "options": {"hidden": [128, 64], "dropout": [0.0, 0.0]}, "batch": 2048, "steps": 2000, "warm_up": 100
}  # fmt: skip
SCALES = {
    "smoke": Scale(60, 1, 16, 4, _LEARNING | {"options": {"hidden": [16], "dropout": [0.0]}, "batch": 64, "steps": 20}),
    "small": Scale(30_000, 2, 8000, 2000, _MEDIUM),
    "full": Scale(300_000, 4, 20_000, 20_000, _MEDIUM | {"steps": 20_000}),
}
REACHED = "What one recipe reaches, %"


def run(lab: Lab) -> Findings:
    """Train the networks of every game by the recipe, and measure them beside players without a network."""
    prices = {name: _price(lab, name) for name in GAMES}
    rows = [row for name in GAMES for row in _reached(lab, name)]
    return Findings([*rows, *(row for name, price in prices.items() for row in _paid(name, price))])


def networks(lab: Lab, name: str) -> dict[str, Any]:
    """Train a game's networks, or resume; the games played, and the number of a network's parameters."""
    setup, size = GAMES[name], lab.size
    learning = {**size.learning, "encoder": setup.encoder}
    store = NetworkStore(
        literature.game_of(name), lab.folder / name, learning, lab.progress, lab.device, setup.variant, setup.seats
    )
    first = store.games("games", setup.pool, size.games, seed=1)
    last = store.generations((first,), size.generations, games=size.games, opponents=setup.pool, seed=10)
    return {
        "games": size.games * (1 + size.generations),
        "parameters": parameters(load_model(last).module),
    }


def _price(lab: Lab, name: str) -> dict[str, float]:
    """What a game's networks cost: games, minutes of playing and learning, and parameters."""
    key = f"networks-{name}"
    made = lab.piece(key, lambda: networks(lab, name), repeats=False)
    return {GAMES_PLAYED: made["games"], MINUTES: lab.made[key]["seconds"] / 60, PARAMETERS: made["parameters"]}


def _paid(name: str, price: Mapping[str, float]) -> list[Finding]:
    return [
        Finding(
            PRICE, GAMES[name].title, what, Measurement(value, n=1, counted="runs"), piece=f"networks-{name}",
            places=1 if what == MINUTES else 0,
        )
        for what, value in price.items()
    ]  # fmt: skip


def _reached(lab: Lab, name: str) -> list[Finding]:
    """What players without a network and each generation reach by the game's measure, all on the same deals."""
    setup, game = GAMES[name], literature.game_of(name)
    games = lab.games or (lab.size.dear if name == "hearts" else lab.size.benchmark)
    generations = generation_names(lab.size.generations)
    agents = {RANDOM: "random", SIMPLE: setup.simple}
    agents |= {f"network {1 + i}": f"greedy:{lab.folder / name / one}" for i, one in enumerate(generations)}
    rows = []
    for title, spec in agents.items():
        key = f"reached-{name}-{title.replace(' ', '-')}"

        def measure(spec: str = spec, title: str = title) -> dict[str, Any]:
            def tell(done: int, total: int) -> None:
                lab.tell(done, total, f"{setup.title}, {title}")

            player = agent(game, spec)
            found = outcomes_of(game, player, setup.opponents, games, SEED, setup.variant, setup.measure, tell)
            return plain(asdict(interval.estimate(found).scaled(100)))

        figure = of_estimate(lab.piece(key, measure))
        claim = setup.claim if title == f"network {len(generations)}" else None
        rows.append(Finding(REACHED, setup.line, title, figure, claim, key, SEED))
    return rows
