"""An MLP or a CNN? Both train on the same states in the same order: at equal size, at their own size, in equal time.

Each game has one set of recorded games. The MLP and the CNN with the same seed train on the same states in the same
order, for as many steps, and are tested on the same test states and the same deals. A third network is the CNN with the
cells of its planes shuffled, so that cells that are neighbours there are not neighbours in the game. It has the same
layers, so its loss of strength shows what neighbourhood contributes.

Equal seconds: the MLP trains for more steps, by the ratio of the states that both train on in a second (medians over
the networks of the first condition). So the number of steps depends on the machine; the table gives it.

Source: Vahteristo 2023, sections 1.3, 2.4 and 3.1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from flax import nnx

from cardai.evaluators.bodies.build import construct
from cardai.evaluators.bodies.options import MlpOptions, options_of
from cardai.evaluators.model import Model
from cardai.evaluators.model import load as load_model
from cardai.evaluators.training.compare import (
    BodyComparison,
    BodyEvaluator,
    cells_shuffled,
    comparison_of,
    parameters,
    rows_per_second,
)
from cardai.evaluators.training.config import TrainConfig
from cardai.experiments import durak_learners, hearts_best, literature, moska_networks
from cardai.experiments.machinery.duplicate import COUNTED, LOWER_IS_BETTER, outcomes_of
from cardai.experiments.machinery.findings import (
    Claim,
    Finding,
    Findings,
    Measurement,
    direction,
    of_estimate,
    over_seeds,
)
from cardai.experiments.machinery.lab import Lab, command
from cardai.game import Segment
from cardai.guests.exact.grade import grade
from cardai.guests.exact.solution import solve
from cardai.playing.agents.spec import Agent
from cardai.playing.stats import interval
from cardai.registry import load

SEED = 20261122
"""The seed of the benchmarks' deals."""
ROUND = {"smoke": 0.005, "small": 0.2}
"""{scale: seconds of a round in which rows are scored to measure a network's speed}."""


@dataclass(frozen=True)
class ComparedGame:
    """A game, how networks are trained for it and how their strength is measured.

    `pool`: {spec: weight} of the agents that play the games to learn from. `learning`: fields of `TrainConfig`.
    `strength`: the measure of its play, one of `COUNTED`. `opponents`: the agents in the other seats meanwhile, or in
    those of the other team; empty where play is graded exactly. `seats`: the number of seats at the table. `claim`: on
    the CNN's share less the MLP's.
    """

    title: str
    pool: Mapping[str, float]
    learning: Mapping[str, Any]
    strength: str
    about: str
    seats: int
    opponents: tuple[str, ...] = ()
    variant: str | None = None
    claim: Claim | None = None

    @property
    def counted(self) -> str:
        """What tables call the measure of its play."""
        return COUNTED[self.strength]

    @property
    def sign(self) -> int:
        """1 where a higher share is better, -1 where a lower one is."""
        return -1 if self.strength in LOWER_IS_BETTER else 1


_CARDS = {"encoder": "relative", "optimiser": "adamw", "weight_decay": 0.01}

GAMES = {
    "tictactoe": ComparedGame(
        "Tic-Tac-Toe",
        pool={"random": 1.0, "greedy:open_lines?epsilon=0.2": 1.0},
        learning={},
        strength="win",
        about="against evenly random moves, both seats taken together, exactly",
        seats=2,
        claim=direction("higher", "CNN better"),
    ),
    "moska": ComparedGame(
        "Moska",
        pool=moska_networks.HAND_WRITTEN,
        learning=_CARDS | {"balance": "loser", "per_game": 40},
        strength="loss",
        about="against three Bot3, asked before it draws",
        seats=4,
        opponents=("bot3",) * 3,
        variant="thesis",
        claim=direction("higher", "MLP better"),
    ),
    "durak": ComparedGame(
        "Durak",
        pool=durak_learners.HAND_WRITTEN,
        learning=_CARDS | {"per_game": 30},
        strength="not_lost",
        about="against one defensive player, by the rules of the report",
        seats=2,
        opponents=("defensive",),
        variant="report",
    ),
    "hearts": ComparedGame(
        "Hearts",
        pool=hearts_best.TEACHERS | {"careful": 1.0},
        learning=_CARDS | {"per_game": 26},
        strength="share",
        about="against three that duck, one round with passing",
        seats=4,
        opponents=("duck",) * 3,
        variant="standard",
    ),
    "literature": ComparedGame(
        "Literature",
        pool=literature.HAND_WRITTEN,
        learning={**_CARDS, "encoder": "facts", "per_game": 40},
        strength="score",
        about="two alike against two plausible ones",
        seats=4,
        opponents=("plausible",) * 2,
        variant="article",
    ),
}
"""The thesis says that a CNN highly outperformed an MLP in Tic-Tac-Toe (2.4), and that networks without convolutions
consistently outperformed others in Moska (3.1). It says nothing of the other games."""


@dataclass(frozen=True)
class Scale:
    """How much is played and trained, by game.

    `seeds`: networks of each kind. `games`: games recorded to learn from. `steps`: training steps of a network. `own`:
    the options of each body at its own size; the CNN of this size is also compared with an MLP of as many parameters.
    `benchmark`: games that each network plays to be measured. `learning`: fields of every `TrainConfig`.
    """

    seeds: Mapping[str, int]
    games: Mapping[str, int]
    steps: Mapping[str, int]
    own: Mapping[str, Mapping[str, Mapping[str, Any]]]
    benchmark: Mapping[str, int]
    learning: Mapping[str, Any]


_TINY = {"mlp": {"hidden": [32, 16]}, "cnn": {"channels": [4, 4], "kernel": [3, 3], "dense": [32]}}
_CNN = {"channels": [16, 16], "kernel": [3, 3], "dense": [64]}

SCALES = {
    "smoke": Scale(
        seeds=dict.fromkeys(GAMES, 1) | {"moska": 2},
        games={"tictactoe": 400, "moska": 200, "durak": 200, "hearts": 200, "literature": 100},
        steps=dict.fromkeys(GAMES, 20),
        own={
            "tictactoe": {"mlp": {"hidden": [24, 24, 12]}, "cnn": {"channels": [4, 4], "kernel": [3, 3], "dense": [8]}},
            "moska": _TINY,
            "durak": _TINY,
            "hearts": _TINY,
            "literature": _TINY,
        },
        benchmark=dict.fromkeys(GAMES, 40) | {"literature": 4},
        learning={"batch": 64, "learning_rate": 2e-3},
    ),
    "small": Scale(
        seeds={"tictactoe": 8, "moska": 5, "durak": 5, "hearts": 5, "literature": 5},
        games={"tictactoe": 20_000, "moska": 60_000, "durak": 60_000, "hearts": 60_000, "literature": 30_000},
        steps={"tictactoe": 1200, "moska": 1000, "durak": 1000, "hearts": 1000, "literature": 1000},
        own={
            "tictactoe": {"mlp": {"hidden": [128, 128, 64]}, "cnn": _CNN},
            "moska": {"mlp": {"hidden": [256, 256, 128]}, "cnn": _CNN},
            "durak": {"mlp": {"hidden": [192, 128, 64]}, "cnn": _CNN},
            "hearts": {"mlp": {"hidden": [256, 256, 128]}, "cnn": _CNN},
            "literature": {"mlp": {"hidden": [256, 128]}, "cnn": _CNN},
        },
        benchmark={"tictactoe": 0, "moska": 4000, "durak": 4000, "hearts": 4000, "literature": 1000},
        learning={"batch": 1024, "learning_rate": 2e-3, "warm_up": 50},
    ),
}  # fmt: skip
"""Own sizes in `small`: those of the MLPs that other experiments train for these games."""

FEW = 10
"""In the conditions with little data, training has this many times fewer steps."""

KINDS = {
    "cnn": "CNN",
    "mlp": "MLP, as many parameters",
    "shuffled": "CNN, cells shuffled",
    "own": "MLP, its own size",
    "long": "MLP, as many seconds",
    "cnn-few": "CNN, a tenth of the steps",
    "mlp-few": "MLP, a tenth of the steps",
}
"""{kind of network: its name in tables}, in the order of training.

All but "long" and the two "few" kinds train on the same states in the same order.
"""

PAIRS = {
    "equal data and size": ("cnn", "mlp"),
    "equal data, own sizes": ("cnn", "own"),
    "equal seconds": ("cnn", "long"),
    "a tenth of the data": ("cnn-few", "mlp-few"),
    "its cells shuffled": ("cnn", "shuffled"),
}
"""{condition: the two kinds compared, seed by seed}: the CNN with an MLP, but in the last one with the shuffled CNN."""
CLAIMED = tuple(PAIRS)[:3]
"""The conditions in which the thesis' claim is tested; it does not give its networks' sizes, data and times."""


def run(lab: Lab) -> Findings:
    studies = {name: GameStudy(lab, name) for name in GAMES}
    rows = [row for study in studies.values() for row in (*study.networks_rows(), *study.differences_rows())]
    return Findings(rows, {name: study.drawn() for name, study in studies.items()})


def networks_table(setup: ComparedGame) -> str:
    """The title of the table of a game's networks."""
    return f"{setup.title}: networks; {setup.counted} {setup.about}"


def differences_table(setup: ComparedGame) -> str:
    """The title of the table of their differences."""
    return f"{setup.title}: the CNN's figure less the other's, seed by seed"


class GameStudy:
    """The networks of one game, all in one folder, trained on the same states and measured in play.

    `trained` and `played` hold the figures of each kind, seed by seed; `speeds` the rows that some kinds' network with
    seed 0 scores in a second, a value for each round.
    """

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name, self.setup, size = lab, name, GAMES[name], lab.size
        self.game, self.folder = literature.game_of(name), lab.folder / name
        self.seeds, self.own, self.steps = range(size.seeds[name]), size.own[name], size.steps[name]
        kinds = [kind for kind in KINDS if kind != "long"]
        by_seed = [{kind: self._trained(kind, seed) for kind in kinds} for seed in self.seeds]
        self.trained = {kind: [figures[kind] for figures in by_seed] for kind in kinds}
        self.trained["long"] = [self._trained("long", seed) for seed in self.seeds]
        self.played = {kind: [self._played(kind, seed) for seed in self.seeds] for kind in KINDS}
        self.speeds = {kind: self._speed(kind) for kind in ("cnn", "mlp", "own")}

    @cached_property
    def comparison(self) -> BodyComparison:
        """The states that all networks train on; plays the games first if they are not there yet."""
        lab, setup, size = self.lab, self.setup, self.lab.size
        store = lab.store(self.game, self.name, setup.variant, setup.seats)
        data = store.games("games", setup.pool, size.games[self.name], seed=1)
        fields: dict[str, Any] = {"parts": (0.95, 0.0, 0.05), "epochs": 0, "device": lab.device, "steps": self.steps}
        fields |= {**size.learning, **setup.learning}
        return comparison_of(TrainConfig(game=self.name, data=(data,), out=str(self.folder), **fields))

    def _trained(self, kind: str, seed: int) -> dict[str, Any]:
        def train() -> dict[str, Any]:
            comparison, steps, about = self.comparison, self._steps(kind), f"{self.setup.title}, {kind}, seed {seed}"
            order = cells_shuffled(comparison.layout, seed) if kind == "shuffled" else None
            body, options = body_of(kind, self.own, comparison.layout)
            trained = comparison.train(
                comparison.body(body, options, seed), seed, steps, order,
                lambda done, total, what: self.lab.tell(done, total, f"{about}: {what}"),
            )  # fmt: skip
            metrics = {
                "test": trained.test.as_json(),
                "training": trained.training.as_json(),
                "parameters": parameters(trained.module),
                "options": dict(options),
                "steps": steps,
                "states": trained.states,
                "states_per_second": round(trained.states_per_second),
                "seconds": trained.states / trained.states_per_second,
            }
            dataset = comparison.dataset
            Model.of(
                comparison.game, trained.module, body=body, body_options=options, moment=comparison.config.moment,
                seats=dataset.seats, variant=dataset.variant, encoder=dataset.recipe.encoder, data=dataset.about(),
                about=f"{kind}, its cells in another order: of no use without it" if order is not None else kind,
                metrics=metrics, command=command(self.lab.name, {"scale": self.lab.scale, "games": self.lab.games}),
            ).save(self._file(kind, seed))  # fmt: skip
            return metrics

        return self.lab.piece(f"trained-{self.name}-{kind}-{seed}", train, repeats=False)

    def _file(self, kind: str, seed: int) -> Path:
        return self.folder / f"{kind}-{seed}.safetensors"

    def _player(self, kind: str, seed: int) -> Agent:
        model = load_model(self._file(kind, seed))
        facts = model.metadata
        place = facts.game, facts.variant, facts.seats, facts.encoder, facts.moment
        order = cells_shuffled(facts.segments, seed) if kind == "shuffled" else None
        player = BodyEvaluator(f"{kind}-{seed}", *place, model.module, order).player()
        player.check_fits(self.game, self.setup.variant, facts.seats)
        return player

    def _speed(self, kind: str) -> list[float]:
        def measure() -> dict[str, Any]:
            module, dataset = load_model(self._file(kind, 0)).module, self.comparison.dataset
            rows = dataset.take(np.arange(4096) % len(dataset))  # about as many as play needs at once
            return {"rows_per_second": rows_per_second(module, rows, seconds=ROUND[self.lab.scale])}

        return self.lab.piece(f"speed-{self.name}-{kind}", measure, repeats=False)["rows_per_second"]

    def _steps(self, kind: str) -> int:
        if kind == "long":
            mlp, cnn = (
                median(figures["states_per_second"] for figures in self.trained[kind]) for kind in ("mlp", "cnn")
            )
            return round(self.steps * (mlp / cnn))
        return self.steps // FEW if kind.endswith("few") else self.steps

    def _played(self, kind: str, seed: int) -> dict[str, Any]:
        """What the network reaches by the measure of its play, in percent.

        In a game that is solved it is exact, and the number of losing lines comes with it.
        """

        def measure() -> dict[str, Any]:
            setup, player = self.setup, self._player(kind, seed)
            if not setup.opponents:
                graded = grade(solve(load(self.name)), player)
                return {"share": 100 * float(graded.averaged[0]), "games": 0, "losing_lines": graded.losing_lines}
            games = self.lab.games or self.lab.size.benchmark[self.name]
            found = outcomes_of(self.game, player, setup.opponents, games, SEED, setup.variant, setup.strength)
            share = of_estimate(interval.estimate(found), 100)
            return {"share": share.point, "low": share.low, "high": share.high, "games": share.n}

        return self.lab.piece(f"strength-{self.name}-{kind}-{seed}", measure)

    def figure(self, kind: str, what: str) -> Measurement:
        """The mean of a figure over the networks of a kind."""
        return over_seeds(self._values(kind, what))

    def difference(self, pair: str, what: str) -> Measurement:
        """The mean over seeds of a figure of the pair's first kind less that of its second kind."""
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
            ("share", f"{self.setup.counted}, %", 2),
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
        """The CNN's share of games and test loss less those of the other network, for each pair."""
        table, rows = differences_table(self.setup), []
        for pair, kinds in PAIRS.items():
            for what, column, places in (("share", f"{self.setup.counted}, points", 2), ("test", "test BCE", 4)):
                claim = self.setup.claim if what == "share" and pair in CLAIMED else None
                pieces, figure = self._pieces(what, *kinds), self.difference(pair, what)
                rows.append(Finding(table, pair, column, figure, claim, pieces, SEED, places=places))
        return rows

    def drawn(self) -> dict[str, Any]:
        """The figures of each kind that the charts show."""
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


def hidden_for(wanted: int, shape: Sequence[int], width: int) -> list[int]:
    """The hidden layers of the MLP whose number of parameters is nearest to `wanted`.

    Their widths have the proportions of `shape`. `width`: values in a row.
    """
    choices = ([max(1, round(units * first / shape[0])) for units in shape] for first in range(1, 4096))
    return min(choices, key=lambda hidden: abs(dense_parameters(width, hidden) - wanted))


def dense_parameters(width: int, hidden: Sequence[int]) -> int:
    """The number of parameters of an MLP with one output."""
    return sum((before + 1) * after for before, after in pairwise([width, *hidden, 1]))
