"""One recipe in five games: how far the thesis' method comes everywhere from the same few games, with nothing tuned.

The recipe: simple players play games; a network learns from them how games end, from the positions after each seat's
own moves; then the network plays nine times as many games, with some moves drawn at random and with the simple players,
and the next network learns from all games so far; and so on. So there is a network after 1,000 games, after 10,000, and
after each further tenfold. All of this is done several times, from other games and other weights. All games have the
same steps, layers and rates. What is a game's own: its encoder, its simple players, whom it is measured against, and
where it stops, as Literature takes the longest to play. There the networks choose among questions that are not known to
fail, as in `cardai.experiments.literature`.

Beside it stand the sources' figures of their own networks, each made for one game with far more games or tuning.

Source: Vahteristo 2023, sections 2 and 4.2: the method is said to suit other games.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cardai.evaluators.model import load as load_model
from cardai.evaluators.training.compare import parameters
from cardai.experiments import durak_learners, hearts_best, literature, moska_networks
from cardai.experiments.machinery.duplicate import COUNTED, outcomes_of
from cardai.experiments.machinery.findings import Claim, Finding, Findings, Measurement, over_seeds
from cardai.experiments.machinery.lab import Lab
from cardai.experiments.machinery.networks import generation_names
from cardai.playing.agents.spec import agent
from cardai.playing.stats import interval
from cardai.playing.stats.interval import wilson

SEED = 20261125
RANDOM, SIMPLE = "random", "simple player"
PRICE, GAMES_PLAYED, MINUTES, PARAMETERS = "Price of a training", "games played", "minutes", "parameters"


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
    """`sizes`: after how many games there is a network. `capped`: {game: its last size}, where that is another one.
    `trainings`: how often all of it is done. `benchmark`: games that an agent plays in each; `dear`: in Hearts, whose
    opponents search. `learning`: fields of every `TrainConfig`.
    """

    sizes: tuple[int, ...]
    capped: Mapping[str, int]
    trainings: int
    benchmark: int
    dear: int
    learning: Mapping[str, Any]

    def sizes_of(self, name: str) -> tuple[int, ...]:
        """After how many games a game has networks."""
        return tuple(size for size in self.sizes if size <= self.capped.get(name, size))

    def games_of(self, name: str) -> int:
        """How many games an agent plays in each training."""
        return self.dear if name == "hearts" else self.benchmark


_LEARNING = {
    "moment": "before_draw",
    "epochs": 0,
    "learning_rate": 1e-3,
    "optimiser": "adamw",
    "weight_decay": 0.01,
    "per_game": 40,
    "parts": (0.88, 0.1, 0.02),
}
_SMALL = _LEARNING | {
    "options": {"hidden": [128, 64], "dropout": [0.0, 0.0]}, "limit": 1_000_000, "batch": 1024, "steps": 1000,
    "warm_up": 100, "check_steps": 100, "patience": 3,
}  # fmt: skip
SCALES = {
    "smoke": Scale(
        (60, 120), {"literature": 60}, 2, 8, 4,
        _LEARNING | {"options": {"hidden": [16], "dropout": [0.0]}, "batch": 64, "steps": 20, "check_steps": 10}
        | {"parts": (0.5, 0.25, 0.25)},
    ),
    "small": Scale((1000, 10_000, 100_000), {"literature": 10_000}, 5, 1000, 300, _SMALL),
}  # fmt: skip
REACHED = "What one recipe reaches, %"
LESS = "Less the simple player on the same deals, percentage points"


def after(games: int) -> str:
    """The column of the network after a number of games."""
    return f"{games:,} games"


def run(lab: Lab) -> Findings:
    trainings = [{name: _training(lab, name, training) for name in GAMES} for training in range(lab.size.trainings)]
    rows = [row for name in GAMES for row in _rows(lab, name, [training[name] for training in trainings])]
    return Findings([*rows, *(row for name in GAMES for row in _paid(lab, name, len(trainings)))])


def _training(lab: Lab, name: str, training: int) -> dict[str, float]:
    lab.piece(_networks(name, training), lambda: networks(lab, name, training), repeats=False)
    columns = (RANDOM, SIMPLE, *map(after, lab.size.sizes_of(name)))
    return {column: _reached(lab, name, training, column) for column in columns}


def _networks(name: str, training: int) -> str:
    return f"networks-{name}-{training}"


def _key(name: str, training: int, column: str) -> str:
    return f"reached-{name}-{column.replace(' ', '-').replace(',', '')}-{training}"


def networks(lab: Lab, name: str, training: int) -> dict[str, Any]:
    """Train a game's networks once, or resume; the number of a network's parameters.

    As `NetworkStore.generations`, with more games for each network than for the one before.
    """
    setup, sizes = GAMES[name], lab.size.sizes_of(name)
    place, seed = (f"{name}-{training}", setup.variant, setup.seats), 100 * training
    store = lab.store(literature.game_of(name), *place, encoder=setup.encoder)
    first = store.games("games", setup.pool, sizes[0], seed=seed + 1)
    later = [size - before for before, size in pairwise(sizes)]
    last = store.generations((first,), games=later, opponents=setup.pool, seed=seed + 10)
    return {"parameters": parameters(load_model(last).module)}


def _reached(lab: Lab, name: str, training: int, column: str) -> float:
    """What an agent reaches by the game's measure, in percent; all agents of a training play the same deals."""
    setup, sizes = GAMES[name], lab.size.sizes_of(name)
    games = lab.games or lab.size.games_of(name)
    made = zip(map(after, sizes), generation_names(len(sizes) - 1), strict=True)
    agents = {RANDOM: "random", SIMPLE: setup.simple}
    agents |= {title: f"greedy:{lab.folder / f'{name}-{training}' / network}" for title, network in made}

    def measure() -> float:
        tell = lab.telling(f"{setup.title}, {column}, training {1 + training}")
        game, seed = literature.game_of(name), SEED + training
        player = agent(game, agents[column])
        found = outcomes_of(game, player, setup.opponents, games, seed, setup.variant, setup.measure, tell)
        return 100 * interval.estimate(found).point

    return lab.piece(_key(name, training, column), measure)


def _rows(lab: Lab, name: str, trainings: Sequence[Mapping[str, float]]) -> list[Finding]:
    """A game's figures over all trainings, and how far its networks are from the simple player."""
    setup, sizes = GAMES[name], [after(size) for size in lab.size.sizes_of(name)]
    seeds, games = f"{SEED}-{SEED + len(trainings) - 1}", lab.games or lab.size.games_of(name)

    def finding(table: str, column: str, beside: str = "") -> Finding:
        figures = [one[column] - (one[beside] if beside else 0.0) for one in trainings]
        keys = [_key(name, number, each) for number in range(len(trainings)) for each in (column, beside) if each]
        figure = over_seeds(figures, "networks") if column in sizes else _of_games(figures, games)
        claim = setup.claim if column == sizes[-1] and not beside else None
        return Finding(table, setup.line, column, figure, claim, " ".join(keys), seeds)

    return [
        *(finding(REACHED, column) for column in (RANDOM, SIMPLE, *sizes)),
        *(finding(LESS, column, SIMPLE) for column in sizes),
    ]


def _of_games(figures: Sequence[float], games: int) -> Measurement:
    """The mean of figures in percent, each from as many games: Wilson's interval, which a share of a win makes wide."""
    point, n = sum(figures) / len(figures), len(figures) * games
    low, high = wilson(point / 100 * n, n)
    return Measurement(point, 100 * low, 100 * high, n)


def _paid(lab: Lab, name: str, trainings: int) -> list[Finding]:
    keys = [_networks(name, training) for training in range(trainings)]
    minutes = over_seeds([lab.made[key]["seconds"] / 60 for key in keys], "trainings")
    exact = {GAMES_PLAYED: lab.size.sizes_of(name)[-1], PARAMETERS: lab.made[keys[0]]["value"]["parameters"]}
    figures = {what: Measurement(value, n=1, counted="trainings") for what, value in exact.items()} | {MINUTES: minutes}
    return [
        Finding(PRICE, GAMES[name].title, what, figure, piece=" ".join(keys), places=1 if what == MINUTES else 0)
        for what, figure in figures.items()
    ]
