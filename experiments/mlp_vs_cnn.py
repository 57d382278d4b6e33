"""An MLP or a CNN? Both taught the same states in the same order, at equal size, at their own size, in equal time.

Each game has one set of recorded games. A network of either body learns from the same states in the same order, as
often as the other with its seed, and is judged by the same test states and on the same deals. A third body is the CNN
again, but the cells of its planes have changed places: what is next to each other there is not so in the game. It
has the same layers, so what it does worse is what neighbourhood is worth.

Equal seconds: the MLP gets as many steps more as it learns from more states a second, in the median over the networks
of the first condition. So a run on another machine gives it another number of steps, which the table tells.

Source: Vahteristo 2023, sections 1.3, 2.4 and 3.1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

from flax import nnx

from cardai.game import Segment
from cardai.measure.grade import grade
from cardai.measure.solution import solve
from cardai.registry import load
from evaluators.bodies.build import construct
from evaluators.bodies.options import MlpOptions, options_of
from evaluators.training.compare import parameters
from experiments import durak_learners, moska_networks
from experiments.machinery.compared import ComparedNetworks, hidden_for
from experiments.machinery.findings import Claim, Finding, Findings, Measurement, direction, over_seeds
from experiments.machinery.lab import Lab

SEED = 20261122
"""Of the deals of benchmarks."""


@dataclass(frozen=True)
class ComparedGame:
    """A game as it is learned and measured here.

    `pool`: who plays the games that are learned from. `learning`: fields of `TrainConfig`. `opponents`: who sits with
    the network when it is measured; nobody where play is graded exactly. `strength`: what is counted then, the share
    of games "won", "lost" or "not lost"; `claim` on how much more of it a CNN has than an MLP.
    """

    title: str
    pool: Mapping[str, float]
    learning: Mapping[str, Any]
    strength: str
    about: str
    opponents: tuple[str, ...] = ()
    variant: str | None = None
    claim: Claim | None = None

    @property
    def seats(self) -> int:
        """At the table."""
        return 1 + len(self.opponents) if self.opponents else 2

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return -1 if self.strength == "lost" else 1


_CARDS = {"encoder": "relative", "optimiser": "adamw", "weight_decay": 0.01}

GAMES = {
    "tictactoe": ComparedGame(
        "Tic-Tac-Toe",
        pool={"random": 1.0, "greedy:open_lines?epsilon=0.2": 1.0},
        learning={},
        strength="won",
        about="against evenly random moves, both seats taken together, exactly",
        claim=direction("higher", "CNN better"),
    ),
    "moska": ComparedGame(
        "Moska",
        pool=moska_networks.HAND_WRITTEN,
        learning=_CARDS | {"balance": "loser", "per_game": 40},
        strength="lost",
        about="against three Bot3, asked before it draws",
        opponents=("bot3",) * 3,
        variant="thesis",
        claim=direction("higher", "MLP better"),
    ),
    "durak": ComparedGame(
        "Durak",
        pool=durak_learners.HAND_WRITTEN,
        learning=_CARDS | {"per_game": 30},
        strength="not lost",
        about="against one defensive player, by the rules of the report",
        opponents=("defensive",),
        variant="report",
    ),
}
"""The thesis says that a CNN highly outperformed an MLP in Tic-Tac-Toe (2.4), and that networks without convolutions
consistently outperformed others in Moska (3.1). It says nothing of Durak."""


@dataclass(frozen=True)
class Scale:
    """How much is done, by game. `games`: recorded to learn from; `steps`: of a network; `seeds`: networks of a kind.

    `own`: the options of each body at its own size; the CNN is compared at that size, too, with an MLP of as many
    parameters. `benchmark`: games of a network at the table; `learning`: fields of every `TrainConfig`.
    """

    seeds: Mapping[str, int]
    games: Mapping[str, int]
    steps: Mapping[str, int]
    own: Mapping[str, Mapping[str, Mapping[str, Any]]]
    benchmark: int
    learning: Mapping[str, Any]


_CNN = {"channels": [16, 16], "kernel": [3, 3], "dense": [64]}

SCALES = {
    "smoke": Scale(
        seeds={"tictactoe": 2, "moska": 2, "durak": 2},
        games={"tictactoe": 400, "moska": 200, "durak": 200},
        steps={"tictactoe": 20, "moska": 20, "durak": 20},
        own={
            "tictactoe": {"mlp": {"hidden": [24, 24, 12]}, "cnn": {"channels": [4, 4], "kernel": [3, 3], "dense": [8]}},
            "moska": {"mlp": {"hidden": [32, 16]}, "cnn": {"channels": [4, 4], "kernel": [3, 3], "dense": [32]}},
            "durak": {"mlp": {"hidden": [32, 16]}, "cnn": {"channels": [4, 4], "kernel": [3, 3], "dense": [32]}},
        },
        benchmark=40,
        learning={"batch": 64, "learning_rate": 2e-3},
    ),
    "small": Scale(
        seeds={"tictactoe": 8, "moska": 5, "durak": 5},
        games={"tictactoe": 20_000, "moska": 60_000, "durak": 60_000},
        steps={"tictactoe": 1200, "moska": 1000, "durak": 1000},
        own={
            "tictactoe": {"mlp": {"hidden": [128, 128, 64]}, "cnn": _CNN},
            "moska": {"mlp": {"hidden": [256, 256, 128]}, "cnn": _CNN},
            "durak": {"mlp": {"hidden": [192, 128, 64]}, "cnn": _CNN},
        },
        benchmark=4000,
        learning={"batch": 1024, "learning_rate": 2e-3, "warm_up": 50},
    ),
    "full": Scale(
        seeds={"tictactoe": 10, "moska": 5, "durak": 5},
        games={"tictactoe": 200_000, "moska": 1_000_000, "durak": 1_000_000},
        steps={"tictactoe": 10_000, "moska": 20_000, "durak": 20_000},
        own={"tictactoe": {"mlp": {}, "cnn": {}}, "moska": {"mlp": {}, "cnn": {}}, "durak": {"mlp": {}, "cnn": {}}},
        benchmark=20_000,
        learning={"batch": 4096, "learning_rate": 1e-3, "warm_up": 200},
    ),
}  # fmt: skip
"""Own sizes: `small` has the MLPs that other experiments teach these games, `full` the bodies' own defaults."""

FEW = 10
"""With little data, one step in so many is made."""

KINDS = {
    "cnn": "CNN",
    "mlp": "MLP, as many parameters",
    "shuffled": "CNN, cells shuffled",
    "own": "MLP, its own size",
    "long": "MLP, as many seconds",
    "cnn-few": "CNN, a tenth of the steps",
    "mlp-few": "MLP, a tenth of the steps",
}
"""The networks of a seed, in the order they are taught: all but three with the same states in the same order."""

PAIRS = {
    "equal data and size": ("cnn", "mlp"),
    "equal data, own sizes": ("cnn", "own"),
    "equal seconds": ("cnn", "long"),
    "a tenth of the data": ("cnn-few", "mlp-few"),
    "its cells shuffled": ("cnn", "shuffled"),
}
"""Who is compared with whom, seed by seed; the last one is no MLP."""
CLAIMED = tuple(PAIRS)[:3]
"""Where what the thesis says is tested: it does not say how its networks compare in size, data and time."""


def run(lab: Lab) -> Findings:
    """Train and measure all networks of all games."""
    studies = {name: GameStudy(lab, name) for name in GAMES}
    rows = [row for study in studies.values() for row in (*study.networks_rows(), *study.differences_rows())]
    return Findings(rows, {name: study.drawn() for name, study in studies.items()})


def networks_table(setup: ComparedGame) -> str:
    """The title of the table of a game's networks."""
    return f"{setup.title}: networks; games {setup.strength} {setup.about}"


def differences_table(setup: ComparedGame) -> str:
    """The title of the table of their differences."""
    return f"{setup.title}: the CNN's figure less the other's, seed by seed"


class GameStudy:
    """The networks of one game: `trained` and `played` hold the figures of each kind, seed by seed."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name, self.setup, size = lab, name, GAMES[name], lab.size
        self.seeds, self.own, self.steps = range(size.seeds[name]), size.own[name], size.steps[name]
        fields = {"steps": self.steps, **size.learning, **self.setup.learning}
        self.networks = ComparedNetworks(
            lab, name, self.setup.title, self.setup.pool, size.games[name], fields, self.setup.variant,
            self.setup.seats, shuffled=("shuffled",),
        )  # fmt: skip
        kinds = [kind for kind in KINDS if kind != "long"]
        by_seed = [{kind: self._trained(kind, seed) for kind in kinds} for seed in self.seeds]
        self.trained = {kind: [figures[kind] for figures in by_seed] for kind in kinds}
        self.trained["long"] = [self._trained("long", seed) for seed in self.seeds]
        self.played = {kind: [self._played(kind, seed) for seed in self.seeds] for kind in KINDS}
        self.speeds = {kind: self.networks.speed(kind) for kind in ("cnn", "mlp", "own")}

    def _trained(self, kind: str, seed: int) -> dict[str, Any]:
        return self.networks.train(kind, seed, partial(self._network, kind), self._steps(kind))

    def _network(self, kind: str) -> tuple[str, Mapping[str, Any]]:
        return body_of(kind, self.own, self.networks.comparison.layout)

    def _steps(self, kind: str) -> int:
        """The number of steps of a network's training."""
        if kind == "long":
            mlp, cnn = (median(one["states_per_second"] for one in self.trained[kind]) for kind in ("mlp", "cnn"))
            return round(self.steps * (mlp / cnn))
        return self.steps // FEW if kind.endswith("few") else self.steps

    def _played(self, kind: str, seed: int) -> dict[str, Any]:
        """The share of games that count, in percent; exact, and with the losing lines, in a game that is solved."""

        def measure() -> dict[str, Any]:
            if self.setup.opponents:
                games, place = self.lab.games or self.lab.size.benchmark, (self.setup.opponents, self.setup.strength)
                return self.networks.share_of(kind, seed, *place, games, SEED)
            graded = grade(solve(load(self.name)), self.networks.player(kind, seed))
            return {"share": 100 * float(graded.averaged[0]), "games": 0, "losing_lines": graded.losing_lines}

        return self.lab.piece(f"strength-{self.name}-{kind}-{seed}", measure)

    def figure(self, kind: str, what: str) -> Measurement:
        """The mean of a figure over the networks of a kind."""
        return over_seeds(self._values(kind, what))

    def difference(self, pair: str, what: str) -> Measurement:
        """A figure of one kind less that of the other, seed by seed."""
        first, second = (self._values(kind, what) for kind in PAIRS[pair])
        return over_seeds([a - b for a, b in zip(first, second, strict=True)], "pairs of networks")

    def _values(self, kind: str, what: str) -> list[float]:
        if what in ("share", "losing_lines"):
            return [figures[what] for figures in self.played[kind]]
        if what in ("test", "training"):
            return [figures[what]["bce"] for figures in self.trained[kind]]
        return [float(figures[what]) for figures in self.trained[kind]]

    def _pieces(self, what: str, *kinds: str) -> str:
        first = "strength" if what in ("share", "losing_lines") else "trained"
        return " ".join(f"{first}-{self.name}-{kind}-{seed}" for kind in kinds for seed in self.seeds)

    def networks_rows(self) -> list[Finding]:
        """What each kind of network reaches, how it was trained, and how fast it scores rows."""
        table, rows = networks_table(self.setup), []
        columns = [
            ("share", f"games {self.setup.strength}, %", 2),
            ("test", "test BCE", 4),
            ("training", "BCE of states learned", 4),
            ("seconds", "s of learning", 1),
        ]
        if not self.setup.opponents:
            columns.insert(1, ("losing_lines", "losing lines", 1))
        for kind, words in KINDS.items():
            for what, column, places in columns:
                pieces = self._pieces(what, kind)
                rows.append(Finding(table, words, column, self.figure(kind, what), None, pieces, SEED, places=places))
            for what, column, factor, places in (("parameters", "parameters", 1, 0), ("states", "M states", 1e-6, 2)):
                exact = Measurement(factor * self.trained[kind][0][what], n=len(self.seeds), counted="networks")
                rows.append(Finding(table, words, column, exact, None, self._pieces(what, kind), places=places))
            if kind in self.speeds:
                rounds = sorted(self.speeds[kind])
                speed = Measurement(median(rounds), rounds[0], rounds[-1], len(rounds), "rounds")
                piece = f"speed-{self.name}-{kind}"
                rows.append(Finding(table, words, "rows/s scored", speed, None, piece, places=0))
        return rows

    def differences_rows(self) -> list[Finding]:
        """How much more the CNN has of each figure than the other network of a pair."""
        table, rows = differences_table(self.setup), []
        for pair, kinds in PAIRS.items():
            for what, column, places in (("share", f"games {self.setup.strength}, points", 2), ("test", "test BCE", 4)):
                claim = self.setup.claim if what == "share" and pair in CLAIMED else None
                pieces, figure = self._pieces(what, *kinds), self.difference(pair, what)
                rows.append(Finding(table, pair, column, figure, claim, pieces, SEED, places=places))
        return rows

    def drawn(self) -> dict[str, Any]:
        """What the figures show."""
        return {
            kind: {
                "share": asdict(self.figure(kind, "share")),
                "test": asdict(self.figure(kind, "test")),
                "seconds": self.figure(kind, "seconds").point,
            }
            for kind in KINDS
        }


def body_of(
    kind: str, own: Mapping[str, Mapping[str, Any]], layout: Sequence[Segment]
) -> tuple[str, Mapping[str, Any]]:
    """The body of a kind of network and its options; most MLPs have as many parameters as the CNN."""
    if kind in ("cnn", "cnn-few", "shuffled"):
        return "cnn", own["cnn"]
    if kind == "own":
        return "mlp", own["mlp"]
    wanted = parameters(nnx.eval_shape(lambda: construct("cnn", own["cnn"], layout)))
    shape = options_of("mlp", own["mlp"])
    assert isinstance(shape, MlpOptions)
    return "mlp", {"hidden": hidden_for(wanted, shape.hidden, sum(segment.size for segment in layout))}
